#!/bin/sh
# opencl_half.sh - built-in functions of half, against the same of float.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

export KILN_CACHE=off

cat >half.cl <<'CL'
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define CHECK(condition) wrong |= !(condition)
/* The same bits, or both not numbers. */
#define SAME(a, b) \
    (as_short(a) == as_short((half)(b)) || (isnan(a) && isnan((half)(b))))

/* Bit n is set if an item finds something wrong in part n. */
#define PART(number) \
    if (wrong) \
        atomic_or(found, 1 << number); \
    wrong = 0

kernel void check(global int *found, global half *memory)
{
    const ushort bits = get_global_id(0);
    const half x = as_half(bits), y = as_half((ushort)(bits * 40503u));
    const float f = x, g = y;
    int wrong = 0;

    CHECK(convert_int_sat(x) == convert_int_sat(f));
    CHECK(convert_uchar_sat_rte(x) == convert_uchar_sat_rte(f));
    CHECK(convert_short2_rtp((half2)(x, 1)).x == convert_short_rtp(f) ||
          !(fabs(f) < 32000));
    CHECK(convert_float(x) == f || isnan(f));
    CHECK(convert_double(x) == f || isnan(f));
    CHECK(SAME(convert_half(bits), (float)bits));
    CHECK(SAME(convert_half((short)bits), (float)(short)bits));
    CHECK(SAME(convert_half(f), x));
    CHECK(SAME(convert_half3((float3)(f)).z, x));
    CHECK(SAME(convert_half((double)f), x));
    CHECK(SAME(convert_half(x), x));
    PART(0);
    {
        const int is_finite = (bits & 0x7c00) != 0x7c00;
        const float more = nextafter(f, INFINITY);
        const float less = nextafter(f, -INFINITY);

        if (is_finite && f > 0) {
            CHECK(as_ushort(convert_half_rtz(more)) == bits);
            CHECK(as_ushort(convert_half_rtn(more)) == bits);
            CHECK(as_ushort(convert_half_rtp(more)) == bits + 1);
            CHECK(as_ushort(convert_half_rtz(less)) == bits - 1);
            CHECK(as_ushort(convert_half_rtp(less)) == bits);
            CHECK(as_ushort(convert_half_rte(less)) == bits);
        }
        if (is_finite && f < 0) {
            CHECK(as_ushort(convert_half_rtz(less)) == bits);
            CHECK(as_ushort(convert_half_rtp(less)) == bits);
            CHECK(as_ushort(convert_half2_rtn((float2)(less)).y) == bits + 1);
            CHECK(as_ushort(convert_half_rtn(more)) == bits);
        }
        CHECK(SAME(convert_half_rtz(f), x));
        CHECK(SAME(convert_half_rtp((double)f), x));
    }
    CHECK(as_ushort(convert_half_rtz(65535)) == 0x7bff);
    CHECK(as_ushort(convert_half_rtp(65505)) == 0x7c00);
    CHECK(as_ushort(convert_half_rtn(-4097)) == 0xec01);
    PART(1);
    CHECK(as_ushort(select(x, y, (short)(bits & 1))) ==
          as_ushort(bits & 1 ? y : x));
    CHECK(as_ushort(select((half2)(x, y), (half2)(y, x),
                           (short2)(-1, 1)).x) == as_ushort(y));
    CHECK(as_ushort(select((half2)(x, y), (half2)(y, x),
                           (ushort2)(0x8000, 1)).y) == as_ushort(y));
    CHECK(as_ushort(shuffle((half4)(0, 1, x, y), (ushort2)(2, 3)).x) == bits);
    CHECK(as_ushort(shuffle2((half2)(0, 1), (half2)(x, y),
                             (ushort4)(3)).w) == as_ushort(y));
    CHECK(as_ushort(bitselect(x, y, as_half((ushort)0xff))) ==
          ((bits & 0xff00) | (as_ushort(y) & 0xff)));
    CHECK(signbit(x) == (bits >> 15));
    CHECK(signbit((half2)(x, y)).x == -(bits >> 15));
    CHECK(isnormal(x) == ((bits & 0x7c00) != 0 && (bits & 0x7c00) != 0x7c00));
    CHECK(isnan(nan(bits)));
    PART(2);
    {
        half own[8];

        for (int i = 0; i < 8; i++)
            own[i] = as_half((ushort)(bits + i));
        CHECK(as_ushort(vload4(1, own).z) == (ushort)(bits + 6));
        vstore3((half3)(x, y, x), 1, own);
        CHECK(as_ushort(own[4]) == as_ushort(y));
        CHECK(as_ushort(own[6]) == (ushort)(bits + 6));
        vstore2((half2)(x, y), bits, memory);
        CHECK(as_ushort(vload2(bits, memory).y) == as_ushort(y));
    }
    PART(3);
    CHECK(SAME(mix(x, y, (half)0.5f), mix(f, g, 0.5f)));
    CHECK(SAME(degrees(x), degrees(f)));
    CHECK(SAME(step(x, y), step(f, g)));
    CHECK(SAME(smoothstep((half)0, (half)1, x), smoothstep(0.0f, 1.0f, f)));
    CHECK(SAME(sign(x), sign(f)));
    CHECK(SAME(length((half2)(x, y)), length((float2)(f, g))));
    CHECK(SAME(dot((half3)(x, y, 1), (half3)(1)),
               dot((float3)(f, g, 1), (float3)(1))));
    CHECK(SAME(maxmag(x, y), maxmag(f, g)));
    CHECK(SAME(cross((half4)(x, 1, 2, 0), (half4)(1)).y,
               cross((float4)(f, 1, 2, 0), (float4)(1)).y));
    PART(4);
    {
        half whole;
        float wide;
        int power, same;

        CHECK(SAME(modf(x, &whole), modf(f, &wide)));
        CHECK(SAME(whole, wide));
        CHECK(SAME(frexp(x, &power), frexp(f, &same)));
        CHECK(power == same || !isfinite(f));
        CHECK(SAME(fract(x, &whole), fract(f, &wide)));
        CHECK(SAME(whole, wide));
    }
    PART(5);
}
CL

"$kiln" run half.cl check 'i32[1]=zeros' 'f16[131072]=zeros' --grid 65536 \
    --print 0 >out 2>err || {
    grep -q "no clang" err || fail "the first run"
    . "$(dirname "$0")/../scripts/skip.sh"
    skip package "clang 22's library"
}
line 1 0

for target in cuda:sm_80 rocm:gfx90a spirv:1.4+fp16+fp64; do
    expect 0 compile half.cl check 'i32[:]' 'f16[:]' --target $target \
        --emit llvm-opt -o half.ll
done
