/* functions_amdgcn.c - what AMD's hardware does. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <string.h>

#include "parts.h"

/* As LLVM's AMDGPU documentation has them, on the host's arithmetic. */

#define PLACE __builtin_return_address(0)

/* ---- ids ---- */

#define SREG(name, value) \
    static uint32_t name(void) \
    { \
        return (value); \
    }

SREG(workitem_x, this_item()->local[0])
SREG(workitem_y, this_item()->local[1])
SREG(workitem_z, this_item()->local[2])
SREG(workgroup_x, this_item()->group[0])
SREG(workgroup_y, this_item()->group[1])
SREG(workgroup_z, this_item()->group[2])
SREG(wavefrontsize, lanes_of_sub_group())

/* Set bits of the mask below the lane, and a number. */
static uint32_t mbcnt_lo(uint32_t mask, uint32_t sum)
{
    const uint32_t lane = this_item()->lane;
    const uint32_t below = lane >= 32 ? UINT32_MAX : (1u << lane) - 1;

    return sum + (uint32_t)__builtin_popcount(mask & below);
}

static uint32_t mbcnt_hi(uint32_t mask, uint32_t sum)
{
    const uint32_t lane = this_item()->lane;
    const uint32_t below = lane > 32 ? (1u << (lane - 32)) - 1 : 0;

    return sum + (uint32_t)__builtin_popcount(mask & below);
}

/* ---- what the host says of a launch ---- */

/* The packet that starts a kernel (HSA): sizes of group and grid. */
typedef struct packet {
    uint16_t header, setup;
    uint16_t group[3], reserved;
    uint32_t grid[3];
    uint32_t rest[10];
} packet;

_Static_assert(sizeof(packet) == 64, "as HSA has it");

static const void *dispatch_ptr(void)
{
    static packet made;
    const irexec_launch *launch = this_launch();

    for (int i = 0; i < 3; i++) {
        made.group[i] = (uint16_t)launch->items[i];
        made.grid[i] = launch->items[i] * launch->groups[i];
    }
    return &made;
}

/* Behind the arguments, from code object v5 on: counts of groups, their sizes,
   what is left of the grid. */
typedef struct implicit {
    uint32_t groups[3];
    uint16_t sizes[3];
    uint16_t rest[3];
    char more[256 - 24];
} implicit;

_Static_assert(sizeof(implicit) == 256, "as code object v5 has it");

static const void *implicitarg_ptr(void)
{
    static implicit made;
    const irexec_launch *launch = this_launch();

    for (int i = 0; i < 3; i++) {
        made.groups[i] = launch->groups[i];
        made.sizes[i] = (uint16_t)launch->items[i];
    }
    return &made;
}

/* ---- together ---- */

static void barrier(void)
{
    wait_for_group(PLACE);
}

static void nothing(void)
{
}

/* `address` is four times a lane. */
static uint32_t bpermute(uint32_t address, uint32_t word)
{
    const uint32_t lane = address / 4 % lanes_of_sub_group();
    uint64_t present;
    const uint64_t *words = wait_for_lanes(PLACE, word, &present);

    return (present >> lane & 1) != 0 ? (uint32_t)words[lane] : 0;
}

/* The other half's, of lanes that may have ended. */
static uint32_t permlane64(uint32_t word)
{
    uint64_t present;
    const uint64_t *words = wait_for_lanes(PLACE, word, &present);

    return (uint32_t)words[this_item()->lane ^ 32];
}

/* Of a value of any kind: its bits, and back. */
static uint64_t read_lane(const void *place, uint64_t bits, uint32_t lane)
{
    uint64_t present;
    const uint64_t *words = wait_for_lanes(place, bits, &present);

    return words[lane % lanes_of_sub_group()];
}

static uint64_t read_first(const void *place, uint64_t bits)
{
    uint64_t present;
    const uint64_t *words = wait_for_lanes(place, bits, &present);

    return words[__builtin_ctzll(present)];
}

#define LANE_READERS(type) \
    static type readlane_##type(type value, uint32_t lane) \
    { \
        uint64_t bits = 0; \
\
        memcpy(&bits, &value, sizeof value); \
        bits = read_lane(PLACE, bits, lane); \
        memcpy(&value, &bits, sizeof value); \
        return value; \
    } \
    static type readfirstlane_##type(type value) \
    { \
        uint64_t bits = 0; \
\
        memcpy(&bits, &value, sizeof value); \
        bits = read_first(PLACE, bits); \
        memcpy(&value, &bits, sizeof value); \
        return value; \
    }

LANE_READERS(int8_t)
LANE_READERS(int16_t)
LANE_READERS(int32_t)
LANE_READERS(int64_t)
LANE_READERS(float)
LANE_READERS(double)

static uint64_t ballot(uint8_t bit)
{
    uint64_t present, set = 0;
    const uint64_t *words = wait_for_lanes(PLACE, bit & 1u, &present);

    for (int i = 0; i < 64; i++)
        if ((present >> i & 1) != 0)
            set |= words[i] << i;
    return set;
}

/* Asks items that happen to be in the same place whether the comparison holds
   for any, as in a loop that each of them leaves when it likes. Which items
   these are is open: here an item is always alone. `how` is LLVM's number. */
static uint64_t asked(uint64_t a, uint64_t b, int64_t signed_a,
                      int64_t signed_b, uint32_t how)
{
    const int holds[] = {a == b,
                         a != b,
                         a > b,
                         a >= b,
                         a<b, a <= b, signed_a>
                             signed_b,
                         signed_a >= signed_b,
                         signed_a < signed_b,
                         signed_a <= signed_b};
    const uint32_t first = 32;

    return (uint64_t)holds[how - first] << this_item()->lane;
}

#define ASKED(bits) \
    static uint64_t asked_##bits(uint##bits##_t a, uint##bits##_t b, \
                                 uint32_t how) \
    { \
        return asked(a, b, (int##bits##_t)a, (int##bits##_t)b, how); \
    }
ASKED(16)
ASKED(32)
ASKED(64)

/* ---- arithmetic ---- */

/* Within one unit in the last place, says the ISA: so far off, times the share
   that KILN_TEST_APPROXIMATE says. */
static float near(double x)
{
    return off_by_units(x, 1);
}

static float exp2_f32(float x)
{
    return near(exp2((double)x));
}

static float log_f32(float x)
{
    return near(log2((double)x));
}

static float rcp_f32(float x)
{
    return near(1 / (double)x);
}

/* What is good for 2^29 units in the last place only: 23 bits of fraction. */
static double coarse(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    if (isfinite(x))
        bits &= ~(((uint64_t)1 << 29) - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double rcp_f64(double x)
{
    return coarse(1 / x);
}

static float rsq_f32(float x)
{
    return near(1 / sqrt((double)x));
}

static double rsq_f64(double x)
{
    return coarse(1 / sqrt(x));
}

static float sqrt_f32(float x)
{
    return near(sqrt((double)x));
}

static double sqrt_f64(double x)
{
    return coarse(sqrt(x));
}

static float fract_f32(float x)
{
    return fminf(x - floorf(x), 0x1.fffffep-1f);
}

static double fract_f64(double x)
{
    return fmin(x - floor(x), 0x1.fffffffffffffp-1);
}

/* The first 1280 bits of 2 / pi, behind the point. */
static const uint64_t two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab, 0xf0cfbc209af4361d};

/* 53 of them: the segment, later ones for a large number. */
static double trig_preop(double x, int32_t segment)
{
    uint64_t bits, result = 0;
    int shift = (segment & 31) * 53, scale, exponent;

    memcpy(&bits, &x, sizeof bits);
    exponent = (int)(bits >> 52 & 2047);
    if (exponent > 1077)
        shift += exponent - 1077;
    for (int i = shift; i < shift + 53; i++)
        result = result << 1 |
                 (i < 1201 ? two_over_pi[i / 64] >> (63 - i % 64) & 1 : 0);
    scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
    return ldexp((double)result, scale);
}

static float frexp_mant_f32(float x)
{
    int exponent;

    return isfinite(x) ? frexpf(x, &exponent) : x;
}

static double frexp_mant_f64(double x)
{
    int exponent;

    return isfinite(x) ? frexp(x, &exponent) : x;
}

static int32_t frexp_exp_f32(float x)
{
    int exponent = 0;

    if (isfinite(x))
        (void)frexpf(x, &exponent);
    return exponent;
}

static int32_t frexp_exp_f64(double x)
{
    int exponent = 0;

    if (isfinite(x))
        (void)frexp(x, &exponent);
    return exponent;
}

static float fmed3_f32(float a, float b, float c)
{
    if (isnan(a) || isnan(b) || isnan(c))
        return fminf(fminf(a, b), c);
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

#define ENTRY(text, function, together) \
    { \
        "amdgcn." text, (any_function)(function), (together) \
    }

const named_function amdgcn_functions[] = {
    ENTRY("workitem.id.x", workitem_x, 0),
    ENTRY("workitem.id.y", workitem_y, 0),
    ENTRY("workitem.id.z", workitem_z, 0),
    ENTRY("workgroup.id.x", workgroup_x, 0),
    ENTRY("workgroup.id.y", workgroup_y, 0),
    ENTRY("workgroup.id.z", workgroup_z, 0),
    ENTRY("wavefrontsize", wavefrontsize, 0),
    ENTRY("mbcnt.lo", mbcnt_lo, 0),
    ENTRY("mbcnt.hi", mbcnt_hi, 0),
    ENTRY("dispatch.ptr", dispatch_ptr, 0),
    ENTRY("implicitarg.ptr", implicitarg_ptr, 0),
    ENTRY("s.barrier", barrier, 1),
    ENTRY("wave.barrier", nothing, 0),
    ENTRY("ds.bpermute", bpermute, 1),
    ENTRY("permlane64.i32", permlane64, 1),
    ENTRY("readlane.i1", readlane_int8_t, 1),
    ENTRY("readlane.i8", readlane_int8_t, 1),
    ENTRY("readlane.i16", readlane_int16_t, 1),
    ENTRY("readlane.i32", readlane_int32_t, 1),
    ENTRY("readlane.i64", readlane_int64_t, 1),
    ENTRY("readlane.f16", readlane_float, 1), /* passed like f32: half.c */
    ENTRY("readlane.f32", readlane_float, 1),
    ENTRY("readlane.f64", readlane_double, 1),
    ENTRY("readfirstlane.i1", readfirstlane_int8_t, 1),
    ENTRY("readfirstlane.i8", readfirstlane_int8_t, 1),
    ENTRY("readfirstlane.i16", readfirstlane_int16_t, 1),
    ENTRY("readfirstlane.i32", readfirstlane_int32_t, 1),
    ENTRY("readfirstlane.i64", readfirstlane_int64_t, 1),
    ENTRY("readfirstlane.f16", readfirstlane_float, 1),
    ENTRY("readfirstlane.f32", readfirstlane_float, 1),
    ENTRY("readfirstlane.f64", readfirstlane_double, 1),
    ENTRY("ballot.i64", ballot, 1),
    ENTRY("ballot.i32", ballot, 1),
    ENTRY("icmp.i64.i16", asked_16, 0),
    ENTRY("icmp.i64.i32", asked_32, 0),
    ENTRY("icmp.i64.i64", asked_64, 0),
    ENTRY("exp2.f32", exp2_f32, 0),
    ENTRY("log.f32", log_f32, 0),
    ENTRY("rcp.f32", rcp_f32, 0),
    ENTRY("rcp.f64", rcp_f64, 0),
    ENTRY("rsq.f32", rsq_f32, 0),
    ENTRY("rsq.f64", rsq_f64, 0),
    ENTRY("sqrt.f32", sqrt_f32, 0),
    ENTRY("sqrt.f64", sqrt_f64, 0),
    ENTRY("fract.f32", fract_f32, 0),
    ENTRY("fract.f64", fract_f64, 0),
    ENTRY("frexp.mant.f32", frexp_mant_f32, 0),
    ENTRY("frexp.mant.f64", frexp_mant_f64, 0),
    ENTRY("frexp.exp.i32.f32", frexp_exp_f32, 0),
    ENTRY("frexp.exp.i32.f64", frexp_exp_f64, 0),
    ENTRY("trig.preop.f64", trig_preop, 0),
    ENTRY("fmed3.f32", fmed3_f32, 0),
    {NULL, NULL, 0},
};
