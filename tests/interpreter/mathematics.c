/* mathematics.c - the language's functions of numbers, by the C library. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

typedef double (*unary_fn)(double);
typedef double (*binary_fn)(double, double);

static double exp10_of(double x)
{
    return pow(10, x);
}

static double rsqrt_of(double x)
{
    return 1 / sqrt(x);
}

static double abs_of(double x)
{
    return fabs(x);
}

/* Results are computed in f64 and rounded. They are exact for functions with an
   exact result, and within a unit in the last place for the others. */
static const unary_fn unary[KILN__MATH_COUNT] = {
    [KILN__MATH_SQRT] = sqrt,     [KILN__MATH_RSQRT] = rsqrt_of,
    [KILN__MATH_CBRT] = cbrt,     [KILN__MATH_EXP] = exp,
    [KILN__MATH_EXP2] = exp2,     [KILN__MATH_EXP10] = exp10_of,
    [KILN__MATH_EXPM1] = expm1,   [KILN__MATH_LOG] = log,
    [KILN__MATH_LOG2] = log2,     [KILN__MATH_LOG10] = log10,
    [KILN__MATH_LOG1P] = log1p,   [KILN__MATH_SIN] = sin,
    [KILN__MATH_COS] = cos,       [KILN__MATH_TAN] = tan,
    [KILN__MATH_ASIN] = asin,     [KILN__MATH_ACOS] = acos,
    [KILN__MATH_ATAN] = atan,     [KILN__MATH_SINH] = sinh,
    [KILN__MATH_COSH] = cosh,     [KILN__MATH_TANH] = tanh,
    [KILN__MATH_ASINH] = asinh,   [KILN__MATH_ACOSH] = acosh,
    [KILN__MATH_ATANH] = atanh,   [KILN__MATH_ERF] = erf,
    [KILN__MATH_ERFC] = erfc,     [KILN__MATH_TGAMMA] = tgamma,
    [KILN__MATH_LGAMMA] = lgamma, [KILN__MATH_FLOOR] = floor,
    [KILN__MATH_CEIL] = ceil,     [KILN__MATH_ROUND] = round,
    [KILN__MATH_RINT] = rint,     [KILN__MATH_TRUNC] = trunc,
    [KILN__MATH_ABS] = abs_of,
};

static const binary_fn binary[KILN__MATH_COUNT] = {
    [KILN__MATH_ATAN2] = atan2,       [KILN__MATH_POW] = pow,
    [KILN__MATH_HYPOT] = hypot,       [KILN__MATH_FMOD] = fmod,
    [KILN__MATH_COPYSIGN] = copysign, [KILN__MATH_MIN] = fmin,
    [KILN__MATH_MAX] = fmax,
};

/* A test that needs a function which is not here says so and ends. */
_Noreturn static void unknown(int64_t math)
{
    fprintf(stderr, "tests/interpreter/mathematics.c has no `%s`\n",
            kiln__ir_math[math].text);
    abort();
}

/* Rounds a narrow float once: the product is exact in f64, and so is what the
   sum lacks. A lost rest leaves the odd one of the two neighbours, which is on
   the same side of all halves. */
static cell narrow_fma(int32_t kind, double x, double y, double z)
{
    const double product = x * y;
    const double sum = product + z;
    const double part = sum - product;
    const double rest = (product - (sum - part)) + (z - part);
    uint64_t bits;

    memcpy(&bits, &sum, sizeof bits);
    if (rest < 0 && (bits & 1) == 0)
        return number_from_double(kind, nextafter(sum, -HUGE_VAL));
    if (rest > 0 && (bits & 1) == 0)
        return number_from_double(kind, nextafter(sum, HUGE_VAL));
    return number_from_double(kind, sum);
}

static cell float_math(int64_t math, int32_t kind, const cell *a)
{
    const double x = number_to_double(kind, a[0]);

    switch (math) {
    case KILN__MATH_ISNAN:
        return (cell)(isnan(x) ? 1 : 0);
    case KILN__MATH_ISINF:
        return (cell)(isinf(x) ? 1 : 0);
    case KILN__MATH_ISFINITE:
        return (cell)(isfinite(x) ? 1 : 0);
    case KILN__MATH_FMA:
        if (kind == KILN_TYPE_F32)
            return number_from_double(
                kind,
                (double)fmaf((float)x, (float)number_to_double(kind, a[1]),
                             (float)number_to_double(kind, a[2])));
        if (kind == KILN_TYPE_F64)
            return number_from_double(kind, fma(x, number_to_double(kind, a[1]),
                                                number_to_double(kind, a[2])));
        return narrow_fma(kind, x, number_to_double(kind, a[1]),
                          number_to_double(kind, a[2]));
    default:
        if (unary[math] != NULL)
            return number_from_double(kind, unary[math](x));
        if (binary[math] == NULL)
            unknown(math);
        return number_from_double(
            kind, binary[math](x, number_to_double(kind, a[1])));
    }
}

static cell count_leading(int32_t kind, cell bits)
{
    cell count = 0;

    for (uint32_t i = kiln__kind_width(kind); i-- > 0 && (bits >> i & 1) == 0;)
        count++;
    return count;
}

static cell count_trailing(int32_t kind, cell bits)
{
    cell count = 0;

    while (count < kiln__kind_width(kind) && (bits >> count & 1) == 0)
        count++;
    return count;
}

static cell count_set(int32_t kind, cell bits)
{
    cell count = 0;

    for (uint32_t i = 0; i < kiln__kind_width(kind); i++)
        count += bits >> i & 1;
    return count;
}

/* Turns the order of parts of `size` bits. */
static cell reverse(int32_t kind, cell bits, uint32_t size)
{
    const uint32_t width = kiln__kind_width(kind);
    const cell mask = ((cell)1 << size) - 1;
    cell out = 0;

    for (uint32_t i = 0; i < width; i += size)
        out |= (bits >> i & mask) << (width - size - i);
    return number_extend(kind, out);
}

static cell integer_math(int64_t math, int32_t kind, const cell *a)
{
    const int negative = kiln__kind_is_signed(kind) && (int64_t)a[0] < 0;

    switch (math) {
    case KILN__MATH_ABS:
        return negative ? number_extend(kind, (cell)0 - a[0]) : a[0];
    case KILN__MATH_MIN:
        return number_compare(KILN__IR_LT, kind, a[0], a[1]) ? a[0] : a[1];
    case KILN__MATH_MAX:
        return number_compare(KILN__IR_GT, kind, a[0], a[1]) ? a[0] : a[1];
    case KILN__MATH_POPCOUNT:
        return number_extend(kind, count_set(kind, a[0]));
    case KILN__MATH_CLZ:
        return number_extend(kind, count_leading(kind, a[0]));
    case KILN__MATH_CTZ:
        return number_extend(kind, count_trailing(kind, a[0]));
    case KILN__MATH_BITREVERSE:
        return reverse(kind, a[0], 1);
    case KILN__MATH_BYTESWAP:
        return reverse(kind, a[0], 8);
    default:
        unknown(math);
    }
}

cell number_math(int64_t math, int32_t kind, const cell *a)
{
    return kiln__kind_is_float(kind) ? float_math(math, kind, a)
                                     : integer_math(math, kind, a);
}
