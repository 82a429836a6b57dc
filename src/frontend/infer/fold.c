/* fold.c - arithmetic on constants, which is exact or refused. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/fold.h"

#include <math.h>

#include "base/data/float_bits.h"

#include "abi/scalars.h"

/*
 * Literals are doubles, or integers without a width. Integer arithmetic is
 * exact within 128 bits, and refused beyond; a literal gets a width when it is
 * combined with a type. Shifts of untyped integers are exact, too.
 */

static double wide_to_real(const kiln__constant *c)
{
    return c->is_float ? c->real : (double)c->integer;
}

static void set_integer(kiln__constant *out, kiln__wide value)
{
    *out = (kiln__constant){.integer = value};
}

static void set_real(kiln__constant *out, double value)
{
    *out = (kiln__constant){.is_float = 1, .real = value};
}

static kiln__fold power(kiln__wide *out, kiln__wide base, kiln__wide exponent)
{
    kiln__wide result = 1;

    if (exponent < 0)
        return KILN__FOLD_REFUSED;
    while (exponent > 0) {
        if ((exponent & 1) != 0 &&
            __builtin_mul_overflow(result, base, &result))
            return KILN__FOLD_RANGE;
        exponent >>= 1;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
            return KILN__FOLD_RANGE;
    }
    *out = result;
    return KILN__FOLD_OK;
}

static kiln__fold shift(kiln__wide *out, kiln__ir_op op, kiln__wide a,
                        kiln__wide b)
{
    if (b < 0 || b > 126)
        return KILN__FOLD_RANGE;
    if (op == KILN__IR_SHR) {
        *out = a >> b;
        return KILN__FOLD_OK;
    }
    return __builtin_mul_overflow(a, (kiln__wide)1 << b, out) ? KILN__FOLD_RANGE
                                                              : KILN__FOLD_OK;
}

static kiln__fold divide(kiln__wide *out, kiln__ir_op op, kiln__wide a,
                         kiln__wide b)
{
    if (b == 0)
        return KILN__FOLD_ZERO;
    /* This is the only quotient that does not fit. */
    if (b == -1)
        return op == KILN__IR_IREM
                   ? (*out = 0, KILN__FOLD_OK)
                   : (__builtin_sub_overflow((kiln__wide)0, a, out)
                          ? KILN__FOLD_RANGE
                          : KILN__FOLD_OK);
    *out = op == KILN__IR_IREM ? a % b : a / b;
    return KILN__FOLD_OK;
}

static kiln__fold integers(kiln__wide *out, kiln__ir_op op, kiln__wide a,
                           kiln__wide b)
{
    int overflows = 0;

    switch ((uint32_t)op) {
    case KILN__IR_ADD:
        overflows = __builtin_add_overflow(a, b, out);
        break;
    case KILN__IR_SUB:
        overflows = __builtin_sub_overflow(a, b, out);
        break;
    case KILN__IR_MUL:
        overflows = __builtin_mul_overflow(a, b, out);
        break;
    case KILN__IR_IDIV:
    case KILN__IR_IREM:
        return divide(out, op, a, b);
    case KILN__IR_AND:
        *out = a & b;
        break;
    case KILN__IR_OR:
        *out = a | b;
        break;
    case KILN__IR_XOR:
        *out = a ^ b;
        break;
    case KILN__IR_SHL:
    case KILN__IR_SHR:
        return shift(out, op, a, b);
    default: /* DIV */
        return KILN__FOLD_REFUSED;
    }
    return overflows ? KILN__FOLD_RANGE : KILN__FOLD_OK;
}

static kiln__fold reals(double *out, kiln__ir_op op, double a, double b)
{
    switch ((uint32_t)op) {
    case KILN__IR_ADD:
        *out = a + b;
        return KILN__FOLD_OK;
    case KILN__IR_SUB:
        *out = a - b;
        return KILN__FOLD_OK;
    case KILN__IR_MUL:
        *out = a * b;
        return KILN__FOLD_OK;
    case KILN__IR_DIV:
        *out = a / b;
        return KILN__FOLD_OK;
    case KILN__IR_IREM:
        *out = fmod(a, b);
        return KILN__FOLD_OK;
    default:
        return KILN__FOLD_REFUSED;
    }
}

/* Returns -1, 0 or 1; 2 when one of them is a NaN. */
static int compare(const kiln__constant *a, const kiln__constant *b)
{
    double x, y;

    if (!a->is_float && !b->is_float)
        return (a->integer > b->integer) - (a->integer < b->integer);
    x = wide_to_real(a);
    y = wide_to_real(b);
    if (isnan(x) || isnan(y))
        return 2;
    return (x > y) - (x < y);
}

static int comparison_holds(kiln__ir_op op, int order)
{
    switch ((uint32_t)op) {
    case KILN__IR_EQ:
        return order == 0;
    case KILN__IR_NE:
        return order != 0;
    case KILN__IR_LT:
        return order == -1;
    case KILN__IR_LE:
        return order == -1 || order == 0;
    case KILN__IR_GT:
        return order == 1;
    default: /* GE */
        return order == 1 || order == 0;
    }
}

/* A power of two literal reals is computed by multiplications where the
   exponent is a small integer. So 2.0 ** 3 is exact on every host. */
static double real_power(double a, double b)
{
    double result = 1;

    if (fabs(b) > 64 || b < trunc(b) || b > trunc(b))
        return pow(a, b);
    for (int i = 0; i < (int)fabs(b); i++)
        result *= a;
    return b < 0 ? 1 / result : result;
}

kiln__fold kiln__fold_binary(kiln__constant *out,
                             const kiln__operator *operator,
                             const kiln__constant * a, const kiln__constant *b)
{
    const int is_float = a->is_float || b->is_float;
    kiln__fold fold;
    kiln__wide integer = 0;
    double real = 0;

    if (operator->class == KILN__OPERATOR_EQUALITY || operator->class ==
        KILN__OPERATOR_ORDER) {
        set_integer(out, comparison_holds(operator->op, compare(a, b)));
        return KILN__FOLD_OK;
    }
    if (operator->class == KILN__OPERATOR_POWER) {
        real = is_float ? real_power(wide_to_real(a), wide_to_real(b)) : 0;
        fold =
            is_float ? KILN__FOLD_OK : power(&integer, a->integer, b->integer);
    } else if (is_float) {
        fold = reals(&real, operator->op, wide_to_real(a), wide_to_real(b));
    } else {
        fold = integers(&integer, operator->op, a->integer, b->integer);
    }
    if (is_float)
        set_real(out, real);
    else
        set_integer(out, integer);
    return fold;
}

kiln__fold kiln__fold_unary(kiln__constant *out, char operator,
                            const kiln__constant * a)
{
    kiln__wide value;

    if (a->is_float) {
        set_real(out, -a->real);
        out->rest = -a->rest;
        return operator== '-' ? KILN__FOLD_OK : KILN__FOLD_REFUSED;
    }
    if (operator== '~') {
        set_integer(out, ~a->integer);
        return KILN__FOLD_OK;
    }
    if (__builtin_sub_overflow((kiln__wide)0, a->integer, &value))
        return KILN__FOLD_RANGE;
    set_integer(out, value);
    return KILN__FOLD_OK;
}

/* ---- kinds ---- */

kiln__wide kiln__fold_least(int32_t kind)
{
    if (!kiln__kind_is_signed(kind))
        return 0;
    return -((kiln__wide)1 << (kiln__kind_width(kind) - 1));
}

kiln__wide kiln__fold_most(int32_t kind)
{
    const uint32_t sign = kiln__kind_is_signed(kind) ? 1 : 0;

    return ((kiln__wide)1 << (kiln__kind_width(kind) - sign)) - 1;
}

int kiln__fold_fits(kiln__wide value, int32_t kind)
{
    return value >= kiln__fold_least(kind) && value <= kiln__fold_most(kind);
}

kiln__wide kiln__fold_wrap(kiln__wide value, int32_t kind)
{
    const uint32_t width = kiln__kind_width(kind);
    const kiln__wide low = value & (((kiln__wide)1 << width) - 1);

    if (kiln__kind_is_signed(kind) && (low >> (width - 1)) != 0)
        return low - ((kiln__wide)1 << width);
    return low;
}

int kiln__fold_integral(double value, kiln__wide *out)
{
    if (!(fabs(value) < 0x1p126) || value < trunc(value) ||
        value > trunc(value))
        return 0;
    *out = (kiln__wide)value;
    return 1;
}

__extension__ typedef unsigned __int128 magnitude;

#define F64_SIGNIFICAND 53

/* Rounds to the nearest value of the kind. A double may not hold the integer,
   and to round to a double first would be to round twice. So all bits that do
   not fit are kept as one: the lowest bit is set if any of them is. All floats
   but f64 have at least two bits fewer than a double, so that bit decides the
   ties of the only rounding. */
static double round_integer(int32_t kind, kiln__wide value)
{
    magnitude size = value < 0 ? -(magnitude)value : (magnitude)value;
    double rounded;
    int cut = 0;

    if (kind == KILN_TYPE_F64)
        return (double)value;
    for (; size >> F64_SIGNIFICAND != 0; cut++)
        size = size >> 1 | (size & 1);
    rounded = kiln__float_round(kind, ldexp((double)size, cut));
    return value < 0 ? -rounded : rounded;
}

/* Rounds to the nearest value of the kind. A literal that no f64 holds lies
   between two, one of which has an odd last bit. That one stands for it: a
   narrower float has at least two bits fewer, so it is on the same side of all
   ties. */
static double round_real(int32_t kind, const kiln__constant *from)
{
    double value = from->real;

    if (kind == KILN_TYPE_F64)
        return value;
    if (from->rest != 0 && (kiln__f64_bits(value) & 1) == 0)
        value = nextafter(value, from->rest > 0 ? HUGE_VAL : -HUGE_VAL);
    return kiln__float_round(kind, value);
}

static int convert_to_float(kiln__constant *out, const kiln__constant *from,
                            int32_t kind, int is_explicit)
{
    const double rounded = from->is_float ? round_real(kind, from)
                                          : round_integer(kind, from->integer);
    kiln__wide back;

    set_real(out, rounded);
    if (is_explicit)
        return 1;
    if (from->is_float)
        return isfinite(rounded) || !isfinite(from->real);
    return kiln__fold_integral(rounded, &back) && back == from->integer;
}

int kiln__fold_convert(kiln__constant *out, const kiln__constant *from,
                       int32_t kind, int is_explicit)
{
    kiln__wide value = from->integer;

    if (kiln__kind_is_float(kind))
        return convert_to_float(out, from, kind, is_explicit);
    if (kind != KILN_TYPE_BOOL && !kiln__kind_is_integer(kind))
        return 0;
    if (from->is_float &&
        (!is_explicit || !kiln__fold_integral(from->real, &value)))
        return 0;
    set_integer(out, value);
    return kiln__fold_fits(value, kind);
}

int64_t kiln__fold_bits(const kiln__constant *constant, int32_t kind)
{
    if (kiln__kind_is_float(kind))
        return (int64_t)kiln__f64_bits(constant->real);
    return (int64_t)(uint64_t)constant->integer;
}

const char *kiln__wide_text(char text[KILN__WIDE_TEXT], kiln__wide value)
{
    char *at = text + KILN__WIDE_TEXT;
    int negative = value < 0;

    *--at = '\0';
    do {
        const int digit = (int)(value % 10);

        *--at = (char)('0' + (digit < 0 ? -digit : digit));
        value /= 10;
    } while (value != 0);
    if (negative)
        *--at = '-';
    return at;
}
