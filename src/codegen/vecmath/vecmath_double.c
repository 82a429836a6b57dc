/* vecmath_double.c - functions of f64. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/vecmath/vecmath_double.h"

/*
 * Constants have a second part where their first 53 bits are too few. The
 * product of a whole number and the first part, taken from the argument, is
 * exact: what is left has no more bits than fit.
 */

#define LN_2 0.6931471805599453
#define LN_2_LOW 2.3190468138462996e-17
#define LOG2_E 1.4426950408889634

/* ---- exponential functions ---- */

/* e^(high + low) - 1 without `high`; |high| <= ln(2) / 2. */
static LLVMValueRef exp_tail(const kiln__vm *m, LLVMValueRef high,
                             LLVMValueRef low)
{
    /* (e^r - 1 - r) / r² */
    static const double q[] = {0.50000000000000111,    0.1666666666666641,
                               0.041666666666529198,   0.0083333333334956964,
                               0.0013888888943919589,  0.00019841269504593132,
                               2.4801492765729715e-05, 2.7557587501730755e-06,
                               2.7630377712753171e-07, 2.4999914476348415e-08};
    const LLVMValueRef r = vm_add(m, high, low);

    return vm_fma(m, vm_square(m, r), KILN__VM_SUM(m, r, q), low);
}

/* e^(high + low) 2^n, where `k` are the bits of n. */
static LLVMValueRef exp_of(const kiln__vm *m, LLVMValueRef high,
                           LLVMValueRef low, LLVMValueRef k)
{
    const LLVMValueRef tail = exp_tail(m, high, low);

    return kiln__vm_scale(m, vm_plus(m, vm_add(m, high, tail), 1), k);
}

LLVMValueRef kiln__double_exp(const kiln__vm *m, LLVMValueRef x,
                              LLVMValueRef low)
{
    const LLVMValueRef a = vm_within(m, x, -746, 710);
    LLVMValueRef k, n = kiln__vm_whole(m, a, LOG2_E, 0, &k);
    LLVMValueRef rest = vm_times(m, n, -LN_2_LOW);

    if (low != NULL)
        rest = vm_add(m, rest, low);
    return exp_of(m, vm_scaled(m, n, -LN_2, a), rest, k);
}

LLVMValueRef kiln__double_join(const kiln__vm *m, LLVMValueRef high,
                               LLVMValueRef *low)
{
    const LLVMValueRef sum = vm_add(m, high, *low);

    *low = vm_add(m, vm_sub(m, high, sum), *low);
    return sum;
}

LLVMValueRef kiln__double_divide(const kiln__vm *m, const kiln__ratio *r,
                                 LLVMValueRef *low)
{
    const LLVMValueRef inverse = vm_div(m, vm_number(m, 1), r->below);
    const LLVMValueRef value = vm_mul(m, r->above, inverse);
    const LLVMValueRef minus = vm_negative(m, value);
    LLVMValueRef rest = vm_fma(m, minus, r->below, r->above);

    rest = vm_add(m, rest, r->above_low);
    rest = vm_fma(m, minus, r->below_low, rest);
    *low = vm_mul(m, rest, inverse);
    return value;
}

/* In quarters, so that 2^(n-2) is a normal number for all of them. For n = 0
   nothing cancels; for others, what sums lose by rounding is put back. */
LLVMValueRef kiln__double_half_expm1(const kiln__vm *m, LLVMValueRef x,
                                     LLVMValueRef *low)
{
    const LLVMValueRef a = vm_within(m, x, -60, 710.7);
    LLVMValueRef k, n = kiln__vm_whole(m, a, LOG2_E, 0, &k), power, sum, one;
    const LLVMValueRef high = vm_scaled(m, n, -LN_2, a);
    LLVMValueRef rest = exp_tail(m, high, vm_times(m, n, -LN_2_LOW)), lost;

    k = LLVMBuildSub(m->builder, k, vm_integer(m, 2), "");
    power = kiln__vm_power(m, k);
    one = vm_plus(m, power, -0.25);
    sum = vm_fma(m, power, high, one);
    lost = vm_plus(m, vm_sub(m, power, one), -0.25);
    lost = vm_add(m, lost, vm_fma(m, power, high, vm_sub(m, one, sum)));
    rest = vm_fma(m, power, rest, lost);
    sum = kiln__double_join(m, sum, &rest);
    *low = vm_add(m, rest, rest);
    return vm_add(m, sum, sum);
}

static LLVMValueRef exp_double(kiln__vm *m, LLVMValueRef const *x)
{
    return kiln__double_exp(m, x[0], NULL);
}

/* The product of r and the constant, in two parts. */
static LLVMValueRef product(const kiln__vm *m, LLVMValueRef r, double high,
                            double low, LLVMValueRef *rest)
{
    const LLVMValueRef value = vm_times(m, r, high);

    *rest = vm_scaled(m, r, high, vm_negative(m, value));
    *rest = vm_scaled(m, r, low, *rest);
    return value;
}

static LLVMValueRef exp2_double(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef a = vm_within(m, x[0], -1076, 1025);
    LLVMValueRef k, n = kiln__vm_whole(m, a, 1, 0, &k), low;
    const LLVMValueRef high = product(m, vm_sub(m, a, n), LN_2, LN_2_LOW, &low);

    return exp_of(m, high, low, k);
}

#define LOG10_2 0.3010299956639812
#define LOG10_2_LOW (-2.8037281277851704e-18)
#define LN_10 2.302585092994046
#define LN_10_LOW (-2.1707562233822494e-16)

static LLVMValueRef exp10_double(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef a = vm_within(m, x[0], -325, 309);
    LLVMValueRef k, n = kiln__vm_whole(m, a, 3.3219280948873623, 0, &k), low;
    const LLVMValueRef r = vm_scaled(m, n, -LOG10_2, a);
    const LLVMValueRef high = product(m, r, LN_10, LN_10_LOW, &low);

    low = vm_scaled(m, n, -LOG10_2_LOW * LN_10, low);
    return exp_of(m, high, low, k);
}

/* ---- logarithms ---- */

#define LEAST_NORMAL 2.2250738585072014e-308
#define TWO_THIRDS UINT64_C(0x3fe5555555555555)

/* A subnormal x is made larger first. The exponent becomes a float by being put
   below the point of 2^52. */
LLVMValueRef kiln__double_split(const kiln__vm *m, LLVMValueRef x,
                                LLVMValueRef *e)
{
    const LLVMBuilderRef b = m->builder;
    const LLVMValueRef is_small = vm_is_less(m, x, LEAST_NORMAL);
    const LLVMValueRef a =
        vm_choose(m, is_small, vm_times(m, x, 18014398509481984.0), x);
    const LLVMValueRef shifted =
        LLVMBuildSub(b, vm_to_bits(m, a), vm_integer(m, TWO_THIRDS), "");
    LLVMValueRef bits =
        LLVMBuildAdd(b, shifted, vm_integer(m, UINT64_C(1024) << 52), "");

    bits = LLVMBuildLShr(b, bits, vm_integer(m, 52), "");
    bits = LLVMBuildOr(b, bits, vm_integer(m, UINT64_C(1075) << 52), "");
    *e = vm_sub(m, vm_from_bits(m, bits),
                vm_choose(m, is_small,
                          vm_number(m, 4503599627370496.0 + 1024 + 54),
                          vm_number(m, 4503599627370496.0 + 1024)));
    bits = LLVMBuildAnd(b, shifted, vm_integer(m, (UINT64_C(1) << 52) - 1), "");
    bits = LLVMBuildAdd(b, bits, vm_integer(m, TWO_THIRDS), "");
    return vm_plus(m, vm_from_bits(m, bits), -1);
}

/* a / b to a unit in the last place, neither being large nor small. */
static LLVMValueRef ratio(const kiln__vm *m, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef inverse, value;

    if (m->inverse == NULL)
        return vm_div(m, a, b);
    inverse = m->inverse(m, b);
    value = vm_mul(m, a, inverse);
    return vm_fma(m, vm_fma(m, vm_negative(m, value), b, a), inverse, value);
}

/* log(1 + f) = f - (f² / 2 - s (f² / 2 + R)) with s = f / (2 + f); returns what
   is taken from f, plus `extra`. */
static LLVMValueRef below(const kiln__vm *m, LLVMValueRef f, LLVMValueRef extra)
{
    /* R / s² */
    static const double p[] = {0.66666666666666596, 0.40000000000056946,
                               0.28571428555768541, 0.2222222430280959,
                               0.18181665513239714, 0.15391123371773677,
                               0.13173412485352159, 0.13844276559904117};
    const LLVMValueRef s = ratio(m, f, vm_plus(m, f, 2));
    const LLVMValueRef z = vm_square(m, s);
    const LLVMValueRef half = vm_mul(m, vm_times(m, f, 0.5), f);
    const LLVMValueRef sum = vm_fma(m, z, KILN__VM_SUM(m, z, p), half);

    return vm_sub(m, half, vm_fma(m, s, sum, extra));
}

LLVMValueRef kiln__double_log_of(const kiln__vm *m, LLVMValueRef e,
                                 LLVMValueRef f, LLVMValueRef low)
{
    const LLVMValueRef value = low == NULL
                                   ? vm_times(m, e, KILN__LN_2_REST)
                                   : vm_scaled(m, e, KILN__LN_2_REST, low);

    return vm_scaled(m, e, KILN__LN_2_SHORT, vm_sub(m, f, below(m, f, value)));
}

LLVMValueRef kiln__double_log(const kiln__vm *m, LLVMValueRef x,
                              LLVMValueRef low)
{
    LLVMValueRef e, f = kiln__double_split(m, x, &e);

    return kiln__vm_log_rest(m, x, kiln__double_log_of(m, e, f, low));
}

static LLVMValueRef log_double(kiln__vm *m, LLVMValueRef const *x)
{
    return kiln__double_log(m, x[0], NULL);
}

/* To a base: the logarithm of e, and that of 2 in two parts, the product of
   whose first one and an exponent is exact. */
typedef struct base {
    double of_e, of_e_low;
    double of_2, of_2_low;
} base;

/* What each step loses by rounding is added at the end, since e = -1 cancels
   most of the rest. So the logarithm of a power of the base is exact. */
static LLVMValueRef log_to(const kiln__vm *m, LLVMValueRef x, const base *b)
{
    LLVMValueRef e, f = kiln__double_split(m, x, &e), low;
    const LLVMValueRef less = below(m, f, vm_number(m, 0));
    const LLVMValueRef natural = vm_sub(m, f, less);
    const LLVMValueRef lost = vm_sub(m, vm_sub(m, f, natural), less);
    const LLVMValueRef high = product(m, natural, b->of_e, b->of_e_low, &low);
    const LLVMValueRef most = vm_times(m, e, b->of_2);
    const LLVMValueRef sum = vm_add(m, most, high);

    low = vm_scaled(m, lost, b->of_e, low);
    low = vm_scaled(m, e, b->of_2_low, low);
    low = vm_add(m, low, vm_add(m, vm_sub(m, most, sum), high));
    return kiln__vm_log_rest(m, x, vm_add(m, sum, low));
}

static LLVMValueRef log2_double(kiln__vm *m, LLVMValueRef const *x)
{
    static const base two = {LOG2_E, 2.0355273740931033e-17, 1, 0};

    return log_to(m, x[0], &two);
}

static LLVMValueRef log10_double(kiln__vm *m, LLVMValueRef const *x)
{
    static const base ten = {0.4342944819032518, 1.098319650216765e-17,
                             0.30102999566361177, 3.694239077158931e-13};

    return log_to(m, x[0], &ten);
}

/* ---- sine and cosine ---- */

#define HALF_PI_LOW 6.123233995736766e-17

kiln__angle kiln__double_reduce(kiln__vm *m, LLVMValueRef x)
{
    LLVMValueRef k, n = kiln__vm_whole(m, x, 0.6366197723675814, 0, &k);
    const LLVMValueRef r = vm_scaled(m, n, -1.5707963267948966, x);
    const LLVMValueRef more = vm_times(m, n, HALF_PI_LOW);
    const LLVMValueRef high = vm_sub(m, r, more);
    LLVMValueRef low = vm_sub(m, vm_sub(m, r, high), more);

    /* What the product and the difference have lost by rounding. */
    low = vm_add(m, low, vm_scaled(m, n, -HALF_PI_LOW, more));
    low = vm_scaled(m, n, 1.4973849048591698e-33, low);
    m->hard = vm_is_greater(m, vm_size(m, x), KILN__LARGE_ANGLE);
    return (kiln__angle){high, low, k};
}

/* sin(high + low) = high + (low (1 - high² / 2) + high³ P) */
LLVMValueRef kiln__double_sine(const kiln__vm *m, const kiln__angle *a,
                               LLVMValueRef *rest)
{
    static const double p[] = {-0.16666666666666632,    0.008333333333322316,
                               -0.00019841269829726257, 2.7557313662382685e-06,
                               -2.5050753309557512e-08, 1.5896507239747713e-10};
    const LLVMValueRef z = vm_square(m, a->high);
    const LLVMValueRef low = vm_fma(m, vm_times(m, z, -0.5), a->low, a->low);
    *rest = vm_fma(m, vm_mul(m, a->high, z), KILN__VM_SUM(m, z, p), low);
    return a->high;
}

/* cos(high + low) = 1 - z / 2 + (z² P - high low), z = high²; what 1 - z / 2
   loses by rounding is put back. */
LLVMValueRef kiln__double_cosine(const kiln__vm *m, const kiln__angle *a,
                                 LLVMValueRef *rest)
{
    static const double p[] = {0.041666666666666602,   -0.0013888888888873988,
                               2.4801587289393984e-05, -2.7557314325775582e-07,
                               2.0875719525651585e-09, -1.13594470342139e-11};
    const LLVMValueRef z = vm_square(m, a->high);
    const LLVMValueRef half = vm_times(m, z, 0.5);
    const LLVMValueRef most = vm_sub(m, vm_number(m, 1), half);
    LLVMValueRef low = vm_sub(m, vm_sub(m, vm_number(m, 1), most), half);

    low = vm_fma(m, vm_negative(m, a->high), a->low, low);
    *rest = vm_fma(m, vm_square(m, z), KILN__VM_SUM(m, z, p), low);
    return most;
}

/* The sine of (n + quarter) pi / 2 + r: quarters take turns with sine and
   cosine, and every other pair is negative. */
static LLVMValueRef wave(kiln__vm *m, LLVMValueRef x, unsigned quarter)
{
    const kiln__angle a = kiln__double_reduce(m, x);
    const LLVMValueRef k =
        LLVMBuildAdd(m->builder, a.k, vm_integer(m, quarter), "");
    const LLVMValueRef is_odd = LLVMBuildTrunc(m->builder, k, m->truth, "");
    LLVMValueRef rests[2];
    const LLVMValueRef s = kiln__double_sine(m, &a, &rests[0]);
    const LLVMValueRef c = kiln__double_cosine(m, &a, &rests[1]);
    const LLVMValueRef value =
        vm_choose(m, is_odd, vm_add(m, c, rests[1]), vm_add(m, s, rests[0]));

    return vm_flip(m, value,
                   LLVMBuildLShr(m->builder, k, vm_integer(m, 1), ""));
}

/* The sign of 0 stays. */
static LLVMValueRef sin_double(kiln__vm *m, LLVMValueRef const *x)
{
    return vm_choose(m, vm_is(m, x[0], 0), x[0], wave(m, x[0], 0));
}

static LLVMValueRef cos_double(kiln__vm *m, LLVMValueRef const *x)
{
    return wave(m, x[0], 1);
}

const kiln__vm_function kiln__vm_doubles[] = {
    {"acos", 1, kiln__double_acos},
    {"acosh", 1, kiln__double_acosh},
    {"asin", 1, kiln__double_asin},
    {"asinh", 1, kiln__double_asinh},
    {"atan", 1, kiln__double_atan},
    {"atan2", 2, kiln__double_atan2},
    {"atanh", 1, kiln__double_atanh},
    {"cbrt", 1, kiln__double_cbrt},
    {"cos", 1, cos_double},
    {"cosh", 1, kiln__double_cosh},
    {"exp", 1, exp_double},
    {"exp10", 1, exp10_double},
    {"exp2", 1, exp2_double},
    {"expm1", 1, kiln__double_expm1},
    {"hypot", 2, kiln__double_hypot},
    {"log", 1, log_double},
    {"log10", 1, log10_double},
    {"log1p", 1, kiln__double_log1p},
    {"log2", 1, log2_double},
    {"pow", 2, kiln__double_pow},
    {"sin", 1, sin_double},
    {"sinh", 1, kiln__double_sinh},
    {"tan", 1, kiln__double_tan},
    {"tanh", 1, kiln__double_tanh},
    {NULL, 0, NULL},
};
