#!/bin/sh
# opencl_tables.sh - tables, halves and memory of a group in OpenCL C, on the
# host and where there is a device for SPIR-V.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

cat >tables.cl <<'CL'
constant float T[8] = {1, 2, 3, 4, 5, 6, 7, 8};
constant float U[3] = {9, 8, 7};
struct pair { float a; int b; };
constant struct pair P[3] = {{1.5f, 2}, {2.5f, 3}, {3.5f, 4}};
static constant float *pick(int i) { return i & 1 ? T + 1 : U; }

kernel void loads(global float *f)
{
    int i = get_global_id(0);
    f[i] = vload3(i & 1, T).z + vload4(i & 1, T).x;
}
kernel void chosen(global float *f)
{
    int i = get_global_id(0);
    constant float *p = i & 1 ? T : U;
    f[i] = p[i & 1] + pick(i)[1];
}
kernel void given(global float *f, constant float *g)
{
    int i = get_global_id(0);
    constant float *p = i & 1 ? T : g;
    f[i] = p[i];
}
kernel void walked(global float *f)
{
    int i = get_global_id(0);
    constant float *p = T;
    for (int k = 0; k < i; k++)
        p = k & 1 ? p + 1 : U;
    f[i] = p[0] + P[i % 3].b;
}
kernel void structs(global float *f)
{
    int i = get_global_id(0);
    constant struct pair *s = i > 1 ? P : P + 1;
    f[i] = s->a + s->b + T[i];
}
kernel void halves(global float *f, global half *h, local half *t)
{
    int i = get_global_id(0);
    vstore_half4((float4)(i, 1, 2.5f, 3), i, h);
    vstore_half_rtz(1.0001f, 0, t + i);
    barrier(CLK_LOCAL_MEM_FENCE);
    f[i] = vload_half(0, t + i) + vloada_half4(i, h).z;
}
CL

# Some items do more after the barrier, or leave.
cat >after.cl <<'CL'
kernel void chosen(global int *x, local int *part, global int *y)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    part[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        int k = atomic_add(y, 1);
        if (k < 2) {
            y[1] = part[0] + 9;
            y[2] = part[3];
        }
    }
}
kernel void leaving(global int *x, local int *part, global int *y)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    part[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= 6)
        return;
    int v = part[3 - l];
    if (v < 2)
        return;
    y[i] = v;
    if (v == 5)
        return;
    y[0] = 100;
    atomic_inc(&y[7]);
}
CL

check_after()
{
    for kernel in chosen leaving; do
        expect 0 run after.cl $kernel 'i32[8]=iota' local:16 'i32[8]=zeros' \
            --grid 8 --block 4 --print 2 --target $1
        sed -n 1p out
    done >all
    diff - all <<'OUT' || fail "other numbers after a barrier on $1"
1 9 3 0 0 0 0 0
100 2 0 0 7 6 0 4
OUT
}

check()
{
    check_after $1

    for kernel in loads chosen walked structs; do
        expect 0 run tables.cl $kernel 'f32[4]=zeros' --grid 4 --print 0 \
            --target $1
        sed -n 1p out
    done >all
    diff - all <<'OUT' || fail "other numbers on $1"
4 11 4 11
17 5 17 5
3 12 12 11
6.5 7.5 6.5 7.5
OUT
    expect 0 run tables.cl given 'f32[4]=zeros' 'f32[4]=iota' --grid 4 \
        --print 0 --target $1
    line 1 "0 2 2 4"
    expect 0 run tables.cl halves 'f32[2]=zeros' 'f16[8]=zeros' local:8 \
        --grid 2 --block 2 --print 0 --print 1 --target $1
    line 1 "3.5 3.5"
    line 2 "0 1 2.5 3 1 1 2.5 3"
}

check host
expect 0 targets
if grep -q '^spirv  *[^ ]*  *yes  *[1-9]' out; then
    check spirv
    # Arithmetic on halves is an option.
    cat >half.cl <<'CL'
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void doubled(global half *h) { h[0] = h[0] + h[0]; }
CL
    expect 1 run half.cl doubled 'f16[1]=ones' --grid 1 --target spirv:1.4
    says err fp16
else
    echo "no device for SPIR-V here"
fi
exit 0
