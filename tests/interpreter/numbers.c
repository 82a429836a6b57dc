/* numbers.c - arithmetic of the language's scalars, on cells. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <string.h>

#include "machine.h"

/* ---- cells ---- */

cell number_extend(int32_t kind, uint64_t bits)
{
    const uint32_t width = kiln__kind_width(kind);
    uint64_t low;

    if (width == 64)
        return bits;
    low = bits & (((uint64_t)1 << width) - 1);
    if (kiln__kind_is_signed(kind) && (low >> (width - 1)) != 0)
        low |= ~(uint64_t)0 << width;
    return low;
}

/* Returns the value of the 16 bits of an f16. */
static double half_to_double(uint64_t bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (double)(bits & 1023);
    double value;

    if (exponent == 31)
        value = (bits & 1023) != 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(fraction + 1024, exponent - 25);
    return (bits >> 15 & 1) != 0 ? -value : value;
}

/* Rounds to nearest, ties to even, which is the processor's mode. */
static uint64_t half_from_double(double value)
{
    const uint64_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    int exponent;
    double scaled;

    if (isnan(value))
        return 0x7e00;
    if (size < 0x1p-14)
        return sign | (uint64_t)rint(ldexp(size, 24));
    if (size >= 65520)
        return sign | 0x7c00;
    (void)frexp(size, &exponent);              /* size is below 2^exponent */
    scaled = rint(ldexp(size, 11 - exponent)); /* 1024 to 2048 */
    return sign | ((uint64_t)(exponent + 13) * 1024 + (uint64_t)scaled);
}

/* Rounds to 8 significant bits, down to 2^-133; ties to even. */
static uint64_t bf16_from_double(double value)
{
    const uint64_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    int exponent;

    if (isnan(value))
        return 0x7fc0;
    if (size < 0x1p-126)
        return sign | (uint64_t)rint(ldexp(size, 133));
    if (size >= 0x1.ffp127)
        return sign | 0x7f80;
    (void)frexp(size, &exponent);
    return sign | ((uint64_t)(exponent + 125) * 128 +
                   (uint64_t)rint(ldexp(size, 8 - exponent)));
}

double number_to_double(int32_t kind, cell a)
{
    const uint32_t low =
        kind == KILN_TYPE_BF16 ? (uint32_t)a << 16 : (uint32_t)a;
    float narrow;
    double wide;

    if (kind == KILN_TYPE_F16)
        return half_to_double(a);
    if (kind == KILN_TYPE_F32 || kind == KILN_TYPE_BF16) {
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    }
    if (kind == KILN_TYPE_F64) {
        memcpy(&wide, &a, sizeof wide);
        return wide;
    }
    return kiln__kind_is_signed(kind) ? (double)(int64_t)a : (double)a;
}

cell number_from_double(int32_t kind, double value)
{
    const float narrow = (float)value;
    uint32_t low;
    cell bits;

    if (kind == KILN_TYPE_F16)
        return half_from_double(value);
    if (kind == KILN_TYPE_BF16)
        return bf16_from_double(value);
    memcpy(&low, &narrow, sizeof low);
    memcpy(&bits, &value, sizeof bits);
    return kind == KILN_TYPE_F32 ? low : bits;
}

cell number_constant(int32_t kind, int64_t bits)
{
    double value;

    if (!kiln__kind_is_float(kind))
        return (cell)bits;
    memcpy(&value, &bits, sizeof value);
    return number_from_double(kind, value);
}

/* ---- floats ---- */

/* An operation in f64 that is rounded again equals the operation in a narrower
   type: its 53 bits are more than twice the narrower type's bits plus two. */
static cell float_binary(uint32_t op, int32_t kind, cell a, cell b)
{
    const double x = number_to_double(kind, a), y = number_to_double(kind, b);

    switch (op) {
    case KILN__IR_ADD:
        return number_from_double(kind, x + y);
    case KILN__IR_SUB:
        return number_from_double(kind, x - y);
    case KILN__IR_MUL:
        return number_from_double(kind, x * y);
    case KILN__IR_DIV:
        return number_from_double(kind, x / y);
    default: /* IREM: exact in any format that holds both */
        return number_from_double(kind, fmod(x, y));
    }
}

/* ---- integers ---- */

static cell divide(uint32_t op, int32_t kind, cell a, cell b, int *fault)
{
    if (b == 0) {
        *fault = NUMBER_DIVISION;
        return 0;
    }
    if (!kiln__kind_is_signed(kind))
        return op == KILN__IR_IDIV ? a / b : a % b;
    if ((int64_t)b == -1) /* MIN has no opposite: it wraps */
        return op == KILN__IR_IDIV ? number_extend(kind, (cell)0 - a) : 0;
    return (cell)(op == KILN__IR_IDIV ? (int64_t)a / (int64_t)b
                                      : (int64_t)a % (int64_t)b);
}

static cell shift(uint32_t op, int32_t kind, cell a, cell b)
{
    const unsigned count = (unsigned)(b & (kiln__kind_width(kind) - 1));

    if (op == KILN__IR_SHL)
        return number_extend(kind, a << count);
    if (kiln__kind_is_signed(kind) && (int64_t)a < 0)
        return ~(~a >> count);
    return a >> count;
}

cell number_binary(uint32_t op, int32_t kind, cell a, cell b, int *fault)
{
    if (kiln__kind_is_float(kind))
        return float_binary(op, kind, a, b);
    switch (op) {
    case KILN__IR_ADD:
        return number_extend(kind, a + b);
    case KILN__IR_SUB:
        return number_extend(kind, a - b);
    case KILN__IR_MUL:
        return number_extend(kind, a * b);
    case KILN__IR_AND:
        return a & b;
    case KILN__IR_OR:
        return a | b;
    case KILN__IR_XOR:
        return a ^ b;
    case KILN__IR_SHL:
    case KILN__IR_SHR:
        return shift(op, kind, a, b);
    default:
        return divide(op, kind, a, b, fault);
    }
}

cell number_unary(uint32_t op, int32_t kind, cell a)
{
    const uint32_t width = kiln__kind_width(kind);

    if (op == KILN__IR_INVERT)
        return kind == KILN_TYPE_BOOL ? a ^ 1 : number_extend(kind, ~a);
    if (kiln__kind_is_float(kind))
        return a ^ (cell)1 << (width - 1);
    return number_extend(kind, (cell)0 - a);
}

/* ---- comparisons ---- */

/* Returns -1, 0, 1, or 2 when one of them is a NaN. */
static int order_of(int32_t kind, cell a, cell b)
{
    if (kiln__kind_is_float(kind)) {
        const double x = number_to_double(kind, a);
        const double y = number_to_double(kind, b);

        if (isnan(x) || isnan(y))
            return 2;
        return x < y ? -1 : x > y;
    }
    if (kiln__kind_is_signed(kind))
        return (int64_t)a < (int64_t)b ? -1 : (int64_t)a > (int64_t)b;
    return a < b ? -1 : a > b;
}

cell number_compare(uint32_t op, int32_t kind, cell a, cell b)
{
    const int order = order_of(kind, a, b);

    switch (op) {
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
    default:
        return order == 1 || order == 0;
    }
}

/* ---- conversions ---- */

static double lowest(int32_t kind)
{
    return kiln__kind_is_signed(kind)
               ? -ldexp(1, (int)kiln__kind_width(kind) - 1)
               : 0;
}

/* Returns the first number above all numbers of the type. */
static double beyond(int32_t kind)
{
    const int width = (int)kiln__kind_width(kind);

    return ldexp(1, kiln__kind_is_signed(kind) ? width - 1 : width);
}

static cell cut(int32_t to, double value)
{
    return kiln__kind_is_signed(to) ? (cell)(int64_t)value : (cell)value;
}

static cell float_to_integer(uint32_t op, int32_t to, double value, int *fault)
{
    const double whole = trunc(value);

    if (op == KILN__IR_CHECKED) {
        if (isnan(value) || whole < value || whole > value ||
            whole < lowest(to) || whole >= beyond(to)) {
            *fault = NUMBER_INEXACT;
            return 0;
        }
        return cut(to, whole);
    }
    if (isnan(value))
        return 0;
    if (whole < lowest(to))
        return cut(to, lowest(to));
    if (whole >= beyond(to)) /* all bits except a sign */
        return ~(uint64_t)0 >>
               (64 - kiln__kind_width(to) + (kiln__kind_is_signed(to) != 0));
    return cut(to, whole);
}

/* Compares across signedness. */
static int is_above(int from_signed, cell a, uint64_t limit)
{
    return !(from_signed && (int64_t)a < 0) && a > limit;
}

static cell integer_to_integer(uint32_t op, int32_t from, int32_t to, cell a,
                               int *fault)
{
    const int from_signed = kiln__kind_is_signed(from);
    const int to_signed = kiln__kind_is_signed(to);
    const uint64_t most =
        ~(uint64_t)0 >> (64 - kiln__kind_width(to) + (to_signed != 0));
    const int64_t least = to_signed ? -(int64_t)most - 1 : 0;
    const int high = is_above(from_signed, a, most);
    const int low = from_signed && (int64_t)a < least;

    if (op == KILN__IR_SATURATE)
        return high ? most : low ? (cell)least : a;
    if (op == KILN__IR_CHECKED && (high || low)) {
        *fault = NUMBER_INEXACT;
        return 0;
    }
    return number_extend(to, a);
}

static cell integer_to_float(int32_t from, int32_t to, cell a)
{
    const int is_signed = kiln__kind_is_signed(from);
    float narrow;
    uint32_t low;

    if (to == KILN_TYPE_F32) { /* rounded once */
        narrow = is_signed ? (float)(int64_t)a : (float)a;
        memcpy(&low, &narrow, sizeof low);
        return low;
    }
    /* A bf16 may be as large as any integer, and f64 loses its last bits: one
       bit stands for those. */
    if (to == KILN_TYPE_BF16) {
        const int is_negative = is_signed && (int64_t)a < 0;
        cell size = is_negative ? 0 - a : a;

        if (size >> 53 != 0)
            size = (size & ~(cell)0xfff) | (size & 0xfff ? 0x800 : 0);
        return number_from_double(to,
                                  is_negative ? -(double)size : (double)size);
    }
    /* Rounding to f64 first moves no number across the middle between two f16:
       numbers that an f16 can hold are small. */
    return number_from_double(to, number_to_double(from, a));
}

cell number_convert(uint32_t op, int32_t from, int32_t to, cell a, int *fault)
{
    if (op == KILN__IR_BITCAST)
        return number_extend(to, a);
    if (op == KILN__IR_WRAP)
        return number_extend(to, a);
    if (kiln__kind_is_float(to))
        return kiln__kind_is_float(from)
                   ? number_from_double(to, number_to_double(from, a))
                   : integer_to_float(from, to, a);
    if (to == KILN_TYPE_BOOL) {
        const double value = number_to_double(from, a);

        if (!(value <= 0 && value >= 0) && !(value <= 1 && value >= 1))
            *fault = NUMBER_INEXACT;
        return value >= 1;
    }
    if (kiln__kind_is_float(from))
        return float_to_integer(op, to, number_to_double(from, a), fault);
    return integer_to_integer(op, from, to, a, fault);
}
