/* kiln_values.c - converts scalars between text and bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kiln/type.h"

/* ---- f16, which C11 lacks ---- */

#define HALF_INFINITY 0x7c00u
#define HALF_OVERFLOW 65520.0 /* from here on, numbers round to infinity */
#define HALF_EXPONENT_MIN (-14)

/* Rounds to nearest, ties to even. Scaling by a power of two is exact. */
static uint16_t half_of(double value)
{
    const unsigned sign = signbit(value) ? 0x8000u : 0;
    const double size = fabs(value);
    int exponent;
    unsigned bits;

    if (isnan(value))
        return 0x7e00u;
    if (size >= HALF_OVERFLOW)
        return (uint16_t)(sign | HALF_INFINITY);
    (void)frexp(size, &exponent);
    exponent -= 1;
    if (exponent < HALF_EXPONENT_MIN || size <= 0)
        exponent = HALF_EXPONENT_MIN;
    /* Counts units of the last place. A carry into the exponent gives the right
       bits. */
    bits = (unsigned)rint(ldexp(size, 10 - exponent));
    bits += (unsigned)(exponent - HALF_EXPONENT_MIN) << 10;
    return (uint16_t)(sign | bits);
}

static double half_value(uint16_t bits)
{
    const unsigned exponent = bits >> 10 & 0x1fu;
    const double fraction = (double)(bits & 0x3ffu);
    double size;

    if (exponent == 31)
        size = fraction > 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        size = ldexp(fraction, HALF_EXPONENT_MIN - 10);
    else
        size = ldexp(fraction + 1024, (int)exponent - 25);
    return (bits & 0x8000u) != 0 ? -size : size;
}

/* ---- bytes ---- */

static void store_float(void *out, int32_t kind, double value)
{
    if (kind == KILN_TYPE_F16) {
        const uint16_t bits = half_of(value);

        memcpy(out, &bits, sizeof bits);
    } else if (kind == KILN_TYPE_F32) {
        const float narrow = (float)value;

        memcpy(out, &narrow, sizeof narrow);
    } else {
        memcpy(out, &value, sizeof value);
    }
}

static int is_float(int32_t kind)
{
    return kind == KILN_TYPE_F16 || kind == KILN_TYPE_F32 ||
           kind == KILN_TYPE_F64;
}

static size_t integer_size(int32_t kind)
{
    switch (kind) {
    case KILN_TYPE_I16:
    case KILN_TYPE_U16:
        return 2;
    case KILN_TYPE_I32:
    case KILN_TYPE_U32:
        return 4;
    case KILN_TYPE_I64:
    case KILN_TYPE_U64:
        return 8;
    default:
        return 1;
    }
}

static int is_signed(int32_t kind)
{
    return kind >= KILN_TYPE_I8 && kind <= KILN_TYPE_I64;
}

/* The low bytes are the first ones, since Kiln's hosts are little-endian. */
void value_from_integer(void *out, int32_t kind, uint64_t number)
{
    if (kind == KILN_TYPE_BOOL)
        number = number != 0;
    if (is_float(kind))
        store_float(out, kind, (double)number);
    else
        memcpy(out, &number, integer_size(kind));
}

/* Advances a 64-bit counter by one step, and mixes its bits. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t bits = *state += 0x9e3779b97f4a7c15u;

    bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
    bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
    return bits ^ bits >> 32;
}

/* Returns how many bits the type holds exactly. */
static int precision(int32_t kind)
{
    switch (kind) {
    case KILN_TYPE_F16:
        return 11;
    case KILN_TYPE_F32:
        return 24;
    default:
        return 53;
    }
}

void value_random(void *out, int32_t kind, uint64_t *state)
{
    const uint64_t bits = next_random(state);
    const int digits = precision(kind);

    if (kind == KILN_TYPE_BOOL)
        value_from_integer(out, kind, bits & 1);
    else if (is_float(kind))
        store_float(out, kind, ldexp((double)(bits >> (64 - digits)), -digits));
    else
        value_from_integer(out, kind, bits % 100);
}

/* ---- reading ---- */

static const char *parse_bool(void *out, const char *text)
{
    const int is_true = strcmp(text, "true") == 0;

    if (!is_true && strcmp(text, "false") != 0)
        return "a bool is true or false";
    value_from_integer(out, KILN_TYPE_BOOL, is_true ? 1 : 0);
    return NULL;
}

static const char *parse_float(void *out, int32_t kind, const char *text)
{
    char *end;
    double value;

    errno = 0;
    value =
        kind == KILN_TYPE_F32 ? (double)strtof(text, &end) : strtod(text, &end);
    if (end == text || *end != '\0')
        return "not a number";
    if (errno == ERANGE && isinf(value))
        return "out of range";
    store_float(out, kind, value);
    return NULL;
}

static const char *parse_signed(void *out, int32_t kind, const char *text)
{
    const unsigned shift = 64 - 8 * (unsigned)integer_size(kind);
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 0);
    if (end == text || *end != '\0')
        return "not an integer";
    if (errno != 0 || value > INT64_MAX >> shift || value < INT64_MIN >> shift)
        return "out of range";
    value_from_integer(out, kind, (uint64_t)value);
    return NULL;
}

static const char *parse_unsigned(void *out, int32_t kind, const char *text)
{
    const unsigned shift = 64 - 8 * (unsigned)integer_size(kind);
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 0);
    if (end == text || *end != '\0' || strchr(text, '-') != NULL)
        return "not an integer from 0 on";
    if (errno != 0 || value > UINT64_MAX >> shift)
        return "out of range";
    value_from_integer(out, kind, value);
    return NULL;
}

const char *value_parse(void *out, int32_t kind, const char *text)
{
    if (*text == '\0' || strchr(" \t\n", *text) != NULL)
        return "not a value";
    if (kind == KILN_TYPE_BOOL)
        return parse_bool(out, text);
    if (is_float(kind))
        return parse_float(out, kind, text);
    return is_signed(kind) ? parse_signed(out, kind, text)
                           : parse_unsigned(out, kind, text);
}

/* ---- writing ---- */

static int same(double value, double other)
{
    return !(value < other) && !(value > other);
}

/* True when `text` reads back as the same value of this type. */
static int reads_back(const char *text, int32_t kind, double value)
{
    if (kind == KILN_TYPE_F64)
        return same(strtod(text, NULL), value);
    if (kind == KILN_TYPE_F32)
        return same((double)strtof(text, NULL), value);
    return same(half_value(half_of(strtod(text, NULL))), value);
}

static void print_float(FILE *file, int32_t kind, double value)
{
    char text[64];

    if (isnan(value)) {
        (void)fputs("nan", file);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (reads_back(text, kind, value))
            break;
    }
    /* "1e+02" is short but hard to read, so such numbers are printed as
       integers. */
    if (fabs(value) < 1e15 && same(value, rint(value)))
        (void)snprintf(text, sizeof text, "%.0f", value);
    (void)fputs(text, file);
}

static void print_signed(FILE *file, int32_t kind, const void *value)
{
    const unsigned shift = 64 - 8 * (unsigned)integer_size(kind);
    uint64_t bits = 0;

    memcpy(&bits, value, integer_size(kind));
    (void)fprintf(file, "%" PRId64, (int64_t)(bits << shift) >> shift);
}

static void print_unsigned(FILE *file, int32_t kind, const void *value)
{
    uint64_t bits = 0;

    memcpy(&bits, value, integer_size(kind));
    (void)fprintf(file, "%" PRIu64, bits);
}

void value_print(FILE *file, int32_t kind, const void *value)
{
    uint16_t half;
    float f32;
    double f64;

    switch (kind) {
    case KILN_TYPE_BOOL:
        (void)fputs(*(const unsigned char *)value != 0 ? "true" : "false",
                    file);
        break;
    case KILN_TYPE_F16:
        memcpy(&half, value, sizeof half);
        print_float(file, kind, half_value(half));
        break;
    case KILN_TYPE_F32:
        memcpy(&f32, value, sizeof f32);
        print_float(file, kind, (double)f32);
        break;
    case KILN_TYPE_F64:
        memcpy(&f64, value, sizeof f64);
        print_float(file, kind, f64);
        break;
    default:
        if (is_signed(kind))
            print_signed(file, kind, value);
        else
            print_unsigned(file, kind, value);
        break;
    }
}
