/* functions_nvvm_math.c - CUDA's arithmetic, as the PTX ISA defines it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

/*
 * Names end in a direction of rounding (rn nearest, rz towards zero, rm down,
 * rp up), in ftz where subnormal numbers become zeros, and in a type. What is
 * called approximate is not defined to the bit: here it is the exact result,
 * rounded, of as many bits as the hardware promises at least.
 */

/* ---- flushing to zero, and rounding in a direction ---- */

static float flush(float x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static double flush_double(double x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysign(0, x) : x;
}

/* Runs in a direction, which the compiler must see nothing of. */
#define DIRECTED(type, name, parameters, direction, expression) \
    __attribute__((noinline)) static type name parameters \
    { \
        const int before = fegetround(); \
        volatile type result; \
\
        fesetround(direction); \
        result = (expression); \
        fesetround(before); \
        return result; \
    }

#define FOUR(X, ...) \
    X(rn, FE_TONEAREST, __VA_ARGS__) \
    X(rz, FE_TOWARDZERO, __VA_ARGS__) \
    X(rm, FE_DOWNWARD, __VA_ARGS__) \
    X(rp, FE_UPWARD, __VA_ARGS__)

/* volatile keeps the operation between the two changes of direction */
static float add_floats(float a, float b)
{
    volatile float x = a, y = b;

    return x + y;
}

static float subtract_floats(float a, float b)
{
    volatile float x = a, y = b;

    return x - y;
}

static float multiply_floats(float a, float b)
{
    volatile float x = a, y = b;

    return x * y;
}

static float divide_floats(float a, float b)
{
    volatile float x = a, y = b;

    return x / y;
}

static double add_doubles(double a, double b)
{
    volatile double x = a, y = b;

    return x + y;
}

static double subtract_doubles(double a, double b)
{
    volatile double x = a, y = b;

    return x - y;
}

static double multiply_doubles(double a, double b)
{
    volatile double x = a, y = b;

    return x * y;
}

static double divide_doubles(double a, double b)
{
    volatile double x = a, y = b;

    return x / y;
}

static float narrow(double a)
{
    volatile double x = a;

    return (float)x;
}

#define OPERATIONS(suffix, direction, unused) \
    DIRECTED(float, add_##suffix##_f, (float a, float b), direction, \
             add_floats(a, b)) \
    DIRECTED(float, sub_##suffix##_f, (float a, float b), direction, \
             subtract_floats(a, b)) \
    DIRECTED(float, mul_##suffix##_f, (float a, float b), direction, \
             multiply_floats(a, b)) \
    DIRECTED(float, div_##suffix##_f, (float a, float b), direction, \
             divide_floats(a, b)) \
    DIRECTED(float, rcp_##suffix##_f, (float a), direction, \
             divide_floats(1, a)) \
    DIRECTED(float, sqrt_##suffix##_f, (float a), direction, sqrtf(a)) \
    DIRECTED(float, fma_##suffix##_f, (float a, float b, float c), direction, \
             fmaf(a, b, c)) \
    DIRECTED(double, add_##suffix##_d, (double a, double b), direction, \
             add_doubles(a, b)) \
    DIRECTED(double, sub_##suffix##_d, (double a, double b), direction, \
             subtract_doubles(a, b)) \
    DIRECTED(double, mul_##suffix##_d, (double a, double b), direction, \
             multiply_doubles(a, b)) \
    DIRECTED(double, div_##suffix##_d, (double a, double b), direction, \
             divide_doubles(a, b)) \
    DIRECTED(double, rcp_##suffix##_d, (double a), direction, \
             divide_doubles(1, a)) \
    DIRECTED(double, sqrt_##suffix##_d, (double a), direction, sqrt(a)) \
    DIRECTED(double, fma_##suffix##_d, (double a, double b, double c), \
             direction, fma(a, b, c)) \
    DIRECTED(float, d2f_##suffix, (double a), direction, narrow(a)) \
    static float add_##suffix##_ftz_f(float a, float b) \
    { \
        return flush(add_##suffix##_f(flush(a), flush(b))); \
    } \
    static float sub_##suffix##_ftz_f(float a, float b) \
    { \
        return flush(sub_##suffix##_f(flush(a), flush(b))); \
    } \
    static float mul_##suffix##_ftz_f(float a, float b) \
    { \
        return flush(mul_##suffix##_f(flush(a), flush(b))); \
    } \
    static float div_##suffix##_ftz_f(float a, float b) \
    { \
        return flush(div_##suffix##_f(flush(a), flush(b))); \
    } \
    static float rcp_##suffix##_ftz_f(float a) \
    { \
        return flush(rcp_##suffix##_f(flush(a))); \
    } \
    static float sqrt_##suffix##_ftz_f(float a) \
    { \
        return flush(sqrt_##suffix##_f(flush(a))); \
    } \
    static float fma_##suffix##_ftz_f(float a, float b, float c) \
    { \
        return flush(fma_##suffix##_f(flush(a), flush(b), flush(c))); \
    } \
    static float d2f_##suffix##_ftz(double a) \
    { \
        return flush(d2f_##suffix(a)); \
    }

FOUR(OPERATIONS, 0)

/* ---- to and from integers ---- */

/* Out of range is the nearest that there is, no number is 0 (of 64 bits
   INT64_MIN, but no function of ours relies on that). */
#define TO_INTEGER(name, from, type, least, most, round) \
    static type name(from x) \
    { \
        const from whole = round(x); \
\
        if (isnan(x)) \
            return 0; \
        if (whole <= (from)(least)) \
            return (least); \
        if (whole >= (from)(most)) \
            return (most); \
        return (type)whole; \
    }

#define CONVERSIONS(suffix, of_float, of_double) \
    TO_INTEGER(f2i_##suffix, float, int32_t, INT32_MIN, INT32_MAX, of_float) \
    TO_INTEGER(f2ui_##suffix, float, uint32_t, 0, UINT32_MAX, of_float) \
    TO_INTEGER(f2ll_##suffix, float, int64_t, INT64_MIN, INT64_MAX, of_float) \
    TO_INTEGER(f2ull_##suffix, float, uint64_t, 0, UINT64_MAX, of_float) \
    TO_INTEGER(d2i_##suffix, double, int32_t, INT32_MIN, INT32_MAX, of_double) \
    TO_INTEGER(d2ui_##suffix, double, uint32_t, 0, UINT32_MAX, of_double) \
    TO_INTEGER(d2ll_##suffix, double, int64_t, INT64_MIN, INT64_MAX, \
               of_double) \
    TO_INTEGER(d2ull_##suffix, double, uint64_t, 0, UINT64_MAX, of_double)

CONVERSIONS(rn, rintf, rint)
CONVERSIONS(rz, truncf, trunc)
CONVERSIONS(rm, floorf, floor)
CONVERSIONS(rp, ceilf, ceil)

#define FLUSHED_CONVERSION(name, type) \
    static type name##_ftz(float x) \
    { \
        return name(flush(x)); \
    }

#define FLUSHED_CONVERSIONS(suffix, direction, unused) \
    FLUSHED_CONVERSION(f2i_##suffix, int32_t) \
    FLUSHED_CONVERSION(f2ui_##suffix, uint32_t) \
    FLUSHED_CONVERSION(f2ll_##suffix, int64_t) \
    FLUSHED_CONVERSION(f2ull_##suffix, uint64_t)

FOUR(FLUSHED_CONVERSIONS, 0)

#define FROM_INTEGER(name, type, to, direction) \
    __attribute__((noinline)) static to name(type value) \
    { \
        const int before = fegetround(); \
        volatile type x = value; \
        volatile to result; \
\
        fesetround(direction); \
        result = (to)x; \
        fesetround(before); \
        return result; \
    }

#define FROM_INTEGERS(suffix, direction, unused) \
    FROM_INTEGER(i2f_##suffix, int32_t, float, direction) \
    FROM_INTEGER(ui2f_##suffix, uint32_t, float, direction) \
    FROM_INTEGER(ll2f_##suffix, int64_t, float, direction) \
    FROM_INTEGER(ull2f_##suffix, uint64_t, float, direction) \
    FROM_INTEGER(i2d_##suffix, int32_t, double, direction) \
    FROM_INTEGER(ui2d_##suffix, uint32_t, double, direction) \
    FROM_INTEGER(ll2d_##suffix, int64_t, double, direction) \
    FROM_INTEGER(ull2d_##suffix, uint64_t, double, direction)

FOUR(FROM_INTEGERS, 0)

/* ---- bits and integers ---- */

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double lohi_i2d(uint32_t low, uint32_t high)
{
    const uint64_t bits = (uint64_t)high << 32 | low;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t d2i_lo(double x)
{
    return (uint32_t)bits_of(x);
}

static uint32_t d2i_hi(double x)
{
    return (uint32_t)(bits_of(x) >> 32);
}

static int32_t mulhi_i(int32_t a, int32_t b)
{
    return (int32_t)((int64_t)a * b >> 32);
}

static uint32_t mulhi_ui(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static int64_t mulhi_ll(int64_t a, int64_t b)
{
    return (int64_t)((wide)a * b >> 64);
}

static uint64_t mulhi_ull(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned_wide)a * b >> 64);
}

/* Bytes of two words, picked by the low three bits of each digit; its high bit
   asks for the byte's sign instead. */
static uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;

    for (int i = 0; i < 4; i++) {
        const uint32_t digit = selector >> 4 * i & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (digit & 7)) & 0xff;

        if ((digit & 8) != 0)
            byte = (byte & 0x80) != 0 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

static uint32_t sad_ui(uint32_t a, uint32_t b, uint32_t c)
{
    return c + (a > b ? a - b : b - a);
}

static uint32_t sad_i(int32_t a, int32_t b, uint32_t c)
{
    return c + (a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a);
}

static uint32_t bfind_shiftamt(uint32_t x)
{
    return x == 0 ? UINT32_MAX : (uint32_t)__builtin_clz(x);
}

/* ---- least, greatest, whole ---- */

#define OF_ONE(name, expression) \
    static float name##_f(float x) \
    { \
        return (expression); \
    } \
    static float name##_ftz_f(float x) \
    { \
        return flush(name##_f(flush(x))); \
    }

/* 0 for NaN */
static float fma_sat_f(float a, float b, float c)
{
    const float value = fmaf(a, b, c);

    return isnan(value) ? 0 : fminf(fmaxf(value, 0), 1);
}

OF_ONE(floor, floorf(x))
OF_ONE(ceil, ceilf(x))
OF_ONE(trunc, truncf(x))
OF_ONE(round, rintf(x)) /* cvt.rni: ties go to even */
OF_ONE(fabs, fabsf(x))
OF_ONE(saturate, isnan(x) ? 0 : fminf(fmaxf(x, 0), 1))

static double round_d(double x)
{
    return rint(x);
}

static float fmin_ftz_f(float a, float b)
{
    return fminf(flush(a), flush(b));
}

static float fmax_ftz_f(float a, float b)
{
    return fmaxf(flush(a), flush(b));
}

/* ---- approximations ---- */

/* Results are as far off as the PTX ISA allows, times the share that
   KILN_TEST_APPROXIMATE says. */

double error_share(void)
{
    static double share;
    static int is_known;

    if (!is_known) {
        const char *text = getenv("KILN_TEST_APPROXIMATE");

        share = text != NULL ? strtod(text, NULL) : 0;
        is_known = 1;
    }
    return share;
}

float off_by_units(double exact, double units)
{
    int exponent;

    if (!isfinite(exact) || exact == 0)
        return (float)exact;
    (void)frexp(exact, &exponent);
    /* the result is rounded, too */
    return (float)(exact +
                   error_share() * (units - 0.5) * ldexp(1, exponent - 24));
}

OF_ONE(rsqrt_approx, off_by_units(1 / sqrt((double)x), 2))
OF_ONE(rcp_approx, off_by_units(1 / (double)x, 1))
OF_ONE(sqrt_approx, off_by_units(sqrt((double)x), 1))
OF_ONE(ex2_approx, off_by_units(exp2((double)x), 2))

/* The errors of these are absolute near their zeros. */
OF_ONE(sin_approx, (float)(sin((double)x) + error_share() * 0x1p-20 * 0.71))
OF_ONE(cos_approx, (float)(cos((double)x) + error_share() * 0x1p-20 * 0.71))
OF_ONE(lg2_approx, (float)(log2((double)x) + error_share() * 0x1p-22))

static float tanh_approx_f(float x)
{
    return (float)(tanh((double)x) * (1 + error_share() * 0x1p-11));
}

static float div_approx_f(float a, float b)
{
    return off_by_units((double)a / (double)b, 2);
}

static float div_approx_ftz_f(float a, float b)
{
    return flush(div_approx_f(flush(a), flush(b)));
}

/* Of a double the upper word alone is looked at and made. */
static double upper(double x)
{
    return lohi_i2d(0, d2i_hi(x));
}

static double rcp_approx_ftz_d(double x)
{
    return flush_double(upper(1 / flush_double(upper(x))));
}

static double rsqrt_approx_ftz_d(double x)
{
    return flush_double(upper(1 / sqrt(flush_double(upper(x)))));
}

static double rsqrt_approx_d(double x)
{
    return (double)(float)1 / sqrt(x);
}

/* setp.equ is true where one is no number. */
static double select_equal(double a, double b, double c, double d)
{
    return a == b || isnan(a) || isnan(b) ? c : d;
}

/* ---- of 64 bits by halves, and of 128 ---- */

/* LLVM takes each part of a result from a register of its own. */
typedef struct parts {
    uint64_t low, high;
} parts;

static parts parts_of(unsigned_wide value)
{
    return (parts){(uint64_t)value, (uint64_t)(value >> 64)};
}

static unsigned_wide whole_of(uint64_t low, uint64_t high)
{
    return (unsigned_wide)high << 64 | low;
}

static parts mad_64(uint32_t a, uint32_t b, uint32_t c)
{
    const uint64_t value = (uint64_t)a * b + c;

    return (parts){(uint32_t)value, value >> 32};
}

static parts add_128(uint64_t a, uint64_t a_high, uint64_t b, uint64_t b_high)
{
    return parts_of(whole_of(a, a_high) + whole_of(b, b_high));
}

static parts sub_128(uint64_t a, uint64_t a_high, uint64_t b, uint64_t b_high)
{
    return parts_of(whole_of(a, a_high) - whole_of(b, b_high));
}

static parts mul_128(uint64_t a, uint64_t b)
{
    return parts_of((unsigned_wide)a * b);
}

static parts mad_128(uint64_t a, uint64_t b, uint64_t c)
{
    return parts_of((unsigned_wide)a * b + c);
}

/* ---- tables ---- */

#define ENTRY(text, function) \
    { \
        "nvvm." text, (any_function)(function), 0 \
    }
#define ASSEMBLY(text, function) \
    { \
        text, (any_function)(function), 0 \
    }
#define BOTH(text, name) \
    ENTRY(text ".f", name##_f), ENTRY(text ".ftz.f", name##_ftz_f)

#define WITH_FTZ(name, direction) \
    ENTRY(#name "." #direction ".f", name##_##direction##_f), \
        ENTRY(#name "." #direction ".ftz.f", name##_##direction##_ftz_f), \
        ENTRY(#name "." #direction ".d", name##_##direction##_d)
#define PLAIN(name, direction) ENTRY(#name "." #direction, name##_##direction)
#define FTZ_CONVERSION(name, direction) \
    PLAIN(name, direction), \
        ENTRY(#name "." #direction ".ftz", name##_##direction##_ftz)

#define ROWS(suffix, direction, unused) \
    WITH_FTZ(add, suffix), WITH_FTZ(mul, suffix), WITH_FTZ(div, suffix), \
        WITH_FTZ(rcp, suffix), WITH_FTZ(sqrt, suffix), WITH_FTZ(fma, suffix), \
        FTZ_CONVERSION(d2f, suffix), FTZ_CONVERSION(f2i, suffix), \
        FTZ_CONVERSION(f2ui, suffix), FTZ_CONVERSION(f2ll, suffix), \
        FTZ_CONVERSION(f2ull, suffix), PLAIN(d2i, suffix), \
        PLAIN(d2ui, suffix), PLAIN(d2ll, suffix), PLAIN(d2ull, suffix), \
        PLAIN(i2f, suffix), PLAIN(ui2f, suffix), PLAIN(ll2f, suffix), \
        PLAIN(ull2f, suffix), PLAIN(i2d, suffix), PLAIN(ui2d, suffix), \
        PLAIN(ll2d, suffix), PLAIN(ull2d, suffix),

const named_function nvvm_math_functions[] = {
    FOUR(ROWS, 0) /* each row ends with a comma */
    BOTH("floor", floor),
    BOTH("ceil", ceil),
    BOTH("trunc", trunc),
    BOTH("round", round),
    BOTH("saturate", saturate),
    BOTH("rsqrt.approx", rsqrt_approx),
    BOTH("sqrt.approx", sqrt_approx),
    BOTH("sin.approx", sin_approx),
    BOTH("cos.approx", cos_approx),
    BOTH("lg2.approx", lg2_approx),
    BOTH("div.approx", div_approx),
    ENTRY("div.full", div_approx_f),
    ENTRY("div.full.ftz", div_approx_ftz_f),
    ENTRY("floor.d", floor),
    ENTRY("ceil.d", ceil),
    ENTRY("trunc.d", trunc),
    ENTRY("round.d", round_d),
    ENTRY("fabs.f32", fabs_f),
    ENTRY("fabs.ftz.f32", fabs_ftz_f),
    ENTRY("fabs.f64", fabs),
    ENTRY("fma.rn.sat.f", fma_sat_f),
    ENTRY("ex2.approx.f32", ex2_approx_f),
    ENTRY("ex2.approx.ftz.f32", ex2_approx_ftz_f),
    ENTRY("fmin.f", fminf),
    ENTRY("fmin.ftz.f", fmin_ftz_f),
    ENTRY("fmax.f", fmaxf),
    ENTRY("fmax.ftz.f", fmax_ftz_f),
    ENTRY("fmin.d", fmin),
    ENTRY("fmax.d", fmax),
    ENTRY("rcp.approx.ftz.d", rcp_approx_ftz_d),
    ENTRY("rcp.approx.ftz.f", rcp_approx_ftz_f),
    ENTRY("rsqrt.approx.d", rsqrt_approx_d),
    ENTRY("rsqrt.approx.ftz.d", rsqrt_approx_ftz_d),
    ENTRY("lohi.i2d", lohi_i2d),
    ENTRY("d2i.lo", d2i_lo),
    ENTRY("d2i.hi", d2i_hi),
    ENTRY("mulhi.i", mulhi_i),
    ENTRY("mulhi.ui", mulhi_ui),
    ENTRY("mulhi.ll", mulhi_ll),
    ENTRY("mulhi.ull", mulhi_ull),
    ENTRY("prmt", prmt),
    ENTRY("sad.i", sad_i),
    ENTRY("sad.ui", sad_ui),
    {NULL, NULL, 0},
};

static uint64_t add_for_all(uint64_t *to, uint64_t value)
{
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

#define SUBTRACTIONS(suffix, direction, unused) \
    ASSEMBLY("sub." #suffix ".f32 $0, $1, $2;", sub_##suffix##_f), \
        ASSEMBLY("sub." #suffix ".ftz.f32 $0, $1, $2;", sub_##suffix##_ftz_f), \
        ASSEMBLY("sub." #suffix ".f64 $0, $1, $2;", sub_##suffix##_d),

const named_function assembly_functions[] = {
    FOUR(SUBTRACTIONS, 0) /* these end with a comma, too */
    ASSEMBLY("atom.relaxed.sys.add.u64 $0, [$1], $2;", add_for_all),
    ASSEMBLY("rcp.approx.ftz.f32 $0,$1;", rcp_approx_ftz_f),
    ASSEMBLY("rsqrt.approx.ftz.f64 $0, $1;", rsqrt_approx_ftz_d),
    ASSEMBLY("tanh.approx.f32 $0, $1;", tanh_approx_f),
    ASSEMBLY("bfind.shiftamt.u32 $0, $1;", bfind_shiftamt),
    ASSEMBLY("setp.equ.f64 __$$temp3, $1, $2;", select_equal),
    ASSEMBLY("mad.lo.cc.u32   $0, $2, $3, $4;", mad_64),
    ASSEMBLY("add.cc.u32      r0, a0, b0;", add_128),
    ASSEMBLY("sub.cc.u32      r0, a0, b0;", sub_128),
    ASSEMBLY("mul.lo.u32      r0, alo, blo;", mul_128),
    ASSEMBLY("mad.lo.cc.u32   r0, alo, blo, clo;", mad_128),
    {NULL, NULL, 0},
};
