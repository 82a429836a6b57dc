/* vecmath_wide.c - exponentials and logarithms of f32, computed in f64. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/vecmath/vecmath_wide.h"

#include <math.h>

kiln__vm kiln__wide(const kiln__vm *m)
{
    const LLVMTypeRef f64 =
        LLVMDoubleTypeInContext(LLVMGetModuleContext(m->module));
    kiln__vm wide;

    kiln__vm_init(&wide, m->module, m->builder,
                  LLVMGetTypeKind(m->type) == LLVMVectorTypeKind
                      ? LLVMVectorType(f64, LLVMGetVectorSize(m->type))
                      : f64);
    return wide;
}

LLVMValueRef kiln__widen(const kiln__vm *w, LLVMValueRef x)
{
    return LLVMBuildFPExt(w->builder, x, w->type, "");
}

LLVMValueRef kiln__narrow(const kiln__vm *m, LLVMValueRef x)
{
    return LLVMBuildFPTrunc(m->builder, x, m->type, "");
}

/* ---- exponential functions ---- */

/* e^r - 1, |r| <= ln(2) / 2. */
static LLVMValueRef small_exp(const kiln__vm *w, LLVMValueRef r)
{
    static const double q[] = {0.50000000680188494,   0.16666665864164953,
                               0.041666293663429721,  0.0083334977927025412,
                               0.0013944757594659431, 0.0001979017618421044};

    return vm_fma(w, vm_square(w, r), KILN__VM_SUM(w, r, q), r);
}

/* x = n ln(2) + r; returns e^r - 1 and 2^n. */
static LLVMValueRef split_exp(const kiln__vm *w, LLVMValueRef x,
                              LLVMValueRef *power)
{
    LLVMValueRef k, n = kiln__vm_whole(w, x, KILN__LOG2_E, 0, &k);

    *power = kiln__vm_power(w, k);
    return small_exp(w, vm_scaled(w, n, -KILN__LN_2, x));
}

LLVMValueRef kiln__wide_exp(const kiln__vm *w, LLVMValueRef x)
{
    LLVMValueRef power, value = split_exp(w, x, &power);

    return vm_fma(w, power, value, power);
}

/* 2^n (e^r - 1) + (2^n - 1): for small x, n is 0 and nothing cancels. */
LLVMValueRef kiln__wide_expm1(const kiln__vm *w, LLVMValueRef x)
{
    LLVMValueRef power, value = split_exp(w, x, &power);

    return vm_fma(w, power, value, vm_plus(w, power, -1));
}

/* 200 times ln(2) is far beyond what f32 can hold. */
static LLVMValueRef exp2_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = vm_within(&w, kiln__widen(&w, x[0]), -200, 200);
    LLVMValueRef k, n = kiln__vm_whole(&w, a, 1, 0, &k);
    const LLVMValueRef power = kiln__vm_power(&w, k);
    const LLVMValueRef r = vm_times(&w, vm_sub(&w, a, n), KILN__LN_2);

    return kiln__narrow(m, vm_fma(&w, power, small_exp(&w, r), power));
}

static LLVMValueRef exp10_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = vm_within(&w, kiln__widen(&w, x[0]), -60, 60);

    return kiln__narrow(
        m, kiln__wide_exp(&w, vm_times(&w, a, 2.3025850929940459)));
}

static LLVMValueRef expm1_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = vm_within(&w, kiln__widen(&w, x[0]), -200, 200);

    return vm_signed_as(m, kiln__narrow(m, kiln__wide_expm1(&w, a)), x[0]);
}

/* ---- hyperbolic functions ----
 *
 * With u = e^|x| - 1: sinh(|x|) = (u + u / (u + 1)) / 2. With u = e^2|x| - 1:
 * tanh(|x|) = u / (u + 2).
 */

static LLVMValueRef size_of(const kiln__vm *m, const kiln__vm *w,
                            LLVMValueRef x, double most)
{
    return vm_at_most(w, kiln__widen(w, vm_size(m, x)), most);
}

static LLVMValueRef sinh_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    LLVMValueRef u = kiln__wide_expm1(&w, size_of(m, &w, x[0], 200));

    u = vm_add(&w, u, vm_div(&w, u, vm_plus(&w, u, 1)));
    return vm_signed_as(m, kiln__narrow(m, vm_times(&w, u, 0.5)), x[0]);
}

static LLVMValueRef cosh_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    LLVMValueRef u = kiln__wide_exp(&w, size_of(m, &w, x[0], 200));

    u = vm_add(&w, u, vm_div(&w, vm_number(&w, 1), u));
    return kiln__narrow(m, vm_times(&w, u, 0.5));
}

static LLVMValueRef tanh_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = size_of(m, &w, x[0], 20);
    const LLVMValueRef u = kiln__wide_expm1(&w, vm_add(&w, a, a));

    return vm_signed_as(m, kiln__narrow(m, vm_div(&w, u, vm_plus(&w, u, 2))),
                        x[0]);
}

/* ---- logarithms ---- */

#define TWO_THIRDS UINT64_C(0x3fe5555555555555)

/* x = 2^e (1 + f), |f| <= 1 / 3. The exponent becomes a float by being put
   below the point of 2^52. */
LLVMValueRef kiln__wide_log(const kiln__vm *w, LLVMValueRef x, double scale)
{
    /* (log(1 + f) - f) / f² */
    static const double p[] = {
        -0.50000000003397216, 0.3333333333502862,    -0.24999998862102166,
        0.19999999434708177,  -0.16666776742298808,  0.14285768659516573,
        -0.12495316127571679, 0.11108815205900999,   -0.10101912075548455,
        0.091402991842318093, -0.071546717456368536, 0.071317626997888114,
        -0.13960271597772878, 0.09786199856870649,   0.084247090255000989};
    const LLVMBuilderRef b = w->builder;
    const LLVMValueRef shifted =
        LLVMBuildSub(b, vm_to_bits(w, x), vm_integer(w, TWO_THIRDS), "");
    LLVMValueRef e =
        LLVMBuildAdd(b, shifted, vm_integer(w, UINT64_C(1024) << 52), "");
    LLVMValueRef f =
        LLVMBuildAnd(b, shifted, vm_integer(w, (UINT64_C(1) << 52) - 1), "");

    e = LLVMBuildLShr(b, e, vm_integer(w, 52), "");
    e = LLVMBuildOr(b, e, vm_integer(w, UINT64_C(1075) << 52), "");
    e = vm_plus(w, vm_from_bits(w, e), -4503599627370496.0 - 1024);
    f = LLVMBuildAdd(b, f, vm_integer(w, TWO_THIRDS), "");
    f = vm_plus(w, vm_from_bits(w, f), -1);
    f = vm_fma(w, vm_square(w, f), KILN__VM_SUM(w, f, p), f);
    e = vm_scaled(w, e, KILN__LN_2 * scale,
                  scale == 1 ? f : vm_times(w, f, scale));
    return kiln__vm_log_rest(w, x, e);
}

static LLVMValueRef log2_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);

    return kiln__narrow(
        m, kiln__wide_log(&w, kiln__widen(&w, x[0]), KILN__LOG2_E));
}

static LLVMValueRef log10_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);

    return kiln__narrow(
        m, kiln__wide_log(&w, kiln__widen(&w, x[0]), 0.43429448190325182));
}

/* ---- logarithms of sums ----
 *
 * A sum of f64 loses what a small argument needs; there a series takes its
 * place.
 */

#define SMALL 0.0009765625 /* 2^-10 */

static LLVMValueRef or_series(const kiln__vm *w, LLVMValueRef size,
                              LLVMValueRef value, LLVMValueRef series)
{
    return vm_choose(w, vm_is_less(w, size, SMALL), series, value);
}

/* x + cubic x³ */
static LLVMValueRef series(const kiln__vm *w, LLVMValueRef x, double cubic)
{
    return vm_fma(w, vm_times(w, x, cubic), vm_square(w, x), x);
}

static LLVMValueRef log1p_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, x[0]);
    const LLVMValueRef value = kiln__wide_log(&w, vm_plus(&w, a, 1), 1);
    LLVMValueRef sum =
        vm_scaled(&w, a, 0.33333333333333331, vm_number(&w, -0.5));

    sum = vm_fma(&w, vm_square(&w, a), sum, a);
    return kiln__narrow(m, or_series(&w, vm_size(&w, a), value, sum));
}

static LLVMValueRef asinh_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, vm_size(m, x[0]));
    const LLVMValueRef root = vm_root(&w, vm_fma(&w, a, a, vm_number(&w, 1)));
    LLVMValueRef value = kiln__wide_log(&w, vm_add(&w, a, root), 1);

    value = or_series(&w, a, value, series(&w, a, -0.16666666666666666));
    return vm_signed_as(m, kiln__narrow(m, value), x[0]);
}

static LLVMValueRef acosh_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, x[0]);
    const LLVMValueRef below = vm_plus(&w, a, -1);
    const LLVMValueRef above = vm_plus(&w, a, 1);
    const LLVMValueRef root = vm_root(&w, vm_mul(&w, below, above));
    const LLVMValueRef value = kiln__wide_log(&w, vm_add(&w, a, root), 1);

    return kiln__narrow(m, vm_choose(&w, vm_is_less(&w, a, 1),
                                     vm_number(&w, (double)NAN), value));
}

static LLVMValueRef atanh_wide(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, vm_size(m, x[0]));
    const LLVMValueRef ratio =
        vm_div(&w, vm_plus(&w, a, 1), vm_sub(&w, vm_number(&w, 1), a));
    LLVMValueRef value = kiln__wide_log(&w, ratio, 0.5);

    value = or_series(&w, a, value, series(&w, a, 0.33333333333333331));
    return vm_signed_as(m, kiln__narrow(m, value), x[0]);
}

/* ---- the error functions ---- */

/* 1 - e^(a R(a)) with a = |x|; at 3.95 it is 1 in f32. */
static LLVMValueRef erf_wide(kiln__vm *m, LLVMValueRef const *x)
{
    static const double r[] = {-1.1283791667653886,    -0.63661981791698641,
                               -0.10277159546067635,   0.019119958982646144,
                               0.00024518430275485224, -0.001784149361016552,
                               0.00072338257792533981, -0.00015565287272720964,
                               1.6604001652732996e-05, -1.6459922048679643e-07,
                               -9.2322039778686157e-08};
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = size_of(m, &w, x[0], 3.95);
    const LLVMValueRef value =
        kiln__wide_expm1(&w, vm_mul(&w, a, KILN__VM_SUM(&w, a, r)));

    return vm_signed_as(m, kiln__narrow(m, value), x[0]);
}

/* t P(t) e^(-a²) with a = |x| and t = 3 / (a + 3); beyond 10.3 it is 0 in f32.
   The square of an f32 is exact in f64. */
static LLVMValueRef erfc_wide(kiln__vm *m, LLVMValueRef const *x)
{
    static const double p[] = {
        0.18806718811134707,  0.18795422501640413,  0.17894737376923886,
        0.14707906134789406,  0.17305397184917115,  -0.059212023679049278,
        0.41006532274805479,  -0.55476993715202061, 0.66228946593705806,
        -0.48846020801267204, 0.1821218227246027,   -0.027136262641431774};
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = size_of(m, &w, x[0], 10.3);
    const LLVMValueRef t = vm_div(&w, vm_number(&w, 3), vm_plus(&w, a, 3));
    LLVMValueRef value = kiln__wide_exp(&w, vm_negative(&w, vm_square(&w, a)));

    value = vm_mul(&w, value, vm_mul(&w, t, KILN__VM_SUM(&w, t, p)));
    value = vm_choose(&w, vm_is_less(&w, kiln__widen(&w, x[0]), 0),
                      vm_sub(&w, vm_number(&w, 2), value), value);
    return kiln__narrow(m, value);
}

const kiln__vm_function kiln__vm_wide_singles[] = {
    {"acos", 1, kiln__vm_acos},
    {"acosh", 1, acosh_wide},
    {"asin", 1, kiln__vm_asin},
    {"asinh", 1, asinh_wide},
    {"atan", 1, kiln__vm_atan},
    {"atan2", 2, kiln__vm_atan2},
    {"atanh", 1, atanh_wide},
    {"cbrt", 1, kiln__vm_cbrt},
    {"cos", 1, kiln__vm_cos},
    {"cosh", 1, cosh_wide},
    {"erf", 1, erf_wide},
    {"erfc", 1, erfc_wide},
    {"exp10", 1, exp10_wide},
    {"exp2", 1, exp2_wide},
    {"expm1", 1, expm1_wide},
    {"hypot", 2, kiln__vm_hypot},
    {"log10", 1, log10_wide},
    {"log1p", 1, log1p_wide},
    {"log2", 1, log2_wide},
    {"pow", 2, kiln__vm_pow},
    {"sin", 1, kiln__vm_sin},
    {"sinh", 1, sinh_wide},
    {"tan", 1, kiln__vm_tan},
    {"tanh", 1, tanh_wide},
    {NULL, 0, NULL},
};
