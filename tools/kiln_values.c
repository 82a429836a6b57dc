/* kiln_values.c - converts scalars between text and bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_values.h"

#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/scalars.h"

/* ---- bytes ---- */

static void store_float(void *out, int32_t kind, double value)
{
    const uint64_t bits = kiln__float_bits(kind, value);

    memcpy(out, &bits, kiln__kind_bytes(kind));
}

/* The low bytes are the first ones, since Kiln's hosts are little-endian. */
void value_from_integer(void *out, int32_t kind, uint64_t number)
{
    if (kind == KILN_TYPE_BOOL)
        number = number != 0;
    if (kiln__kind_is_float(kind))
        store_float(out, kind, (double)number);
    else
        memcpy(out, &number, kiln__kind_bytes(kind));
}

/* Advances a 64-bit counter by one step, and mixes its bits. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t bits = *state += 0x9e3779b97f4a7c15u;

    bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
    bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
    return bits ^ bits >> 32;
}

void value_random(void *out, int32_t kind, uint64_t *state)
{
    const uint64_t bits = next_random(state);
    const int digits = kiln__scalar_of(kind)->significand;

    if (kind == KILN_TYPE_BOOL)
        value_from_integer(out, kind, bits & 1);
    else if (kiln__kind_is_float(kind))
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

static double read_towards(int mode, const char *text, char **end)
{
    double value;

    (void)fesetround(mode);
    value = strtod(text, end);
    (void)fesetround(FE_TONEAREST);
    return value;
}

/* The nearest value of the kind, rounded once: if no f64 holds the number, that
   one of its two neighbours stands for it which has an odd last bit. */
static double read_float(const char *text, char **end, int32_t kind)
{
    double below, above;

    if (kind == KILN_TYPE_F64)
        return strtod(text, end);
    above = read_towards(FE_UPWARD, text, end);
    below = read_towards(FE_DOWNWARD, text, end);
    return kiln__float_round(kind,
                             (kiln__f64_bits(below) & 1) != 0 ? below : above);
}

static const char *parse_float(void *out, int32_t kind, const char *text)
{
    char *end;
    double value;

    errno = 0;
    value = read_float(text, &end, kind);
    if (end == text || *end != '\0')
        return "not a number";
    if (isinf(value) && (errno == ERANGE || isfinite(strtod(text, NULL))))
        return "out of range";
    store_float(out, kind, value);
    return NULL;
}

static const char *parse_signed(void *out, int32_t kind, const char *text)
{
    const unsigned shift = 64 - 8 * kiln__kind_bytes(kind);
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
    const unsigned shift = 64 - 8 * kiln__kind_bytes(kind);
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
    if (kiln__kind_is_float(kind))
        return parse_float(out, kind, text);
    return kiln__kind_is_signed(kind) ? parse_signed(out, kind, text)
                                      : parse_unsigned(out, kind, text);
}

/* ---- writing ---- */

static void print_signed(FILE *file, int32_t kind, uint64_t bits)
{
    const unsigned shift = 64 - kiln__kind_width(kind);

    (void)fprintf(file, "%" PRId64, (int64_t)(bits << shift) >> shift);
}

void value_print(FILE *file, int32_t kind, const void *value)
{
    char text[KILN__FLOAT_TEXT];
    uint64_t bits = 0;

    memcpy(&bits, value, kiln__kind_bytes(kind));
    if (kind == KILN_TYPE_BOOL)
        (void)fputs(bits != 0 ? "true" : "false", file);
    else if (kiln__kind_is_float(kind))
        (void)fputs(
            kiln__float_print(text, kind, kiln__float_value(kind, bits)), file);
    else if (kiln__kind_is_signed(kind))
        print_signed(file, kind, bits);
    else
        (void)fprintf(file, "%" PRIu64, bits);
}
