/* print_text.c - writes what kernels print as text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/report_text.h"
#include "base/data/float_bits.h"
#include "base/system/float_mode.h"

/*
 * A record becomes one piece of text and one call of the host's callback, so
 * records of several threads never mix. Floats are written with the fewest
 * digits that read back as the same value. The result does not depend on the
 * process's locale: C's functions use it, but only the digits of their output
 * are taken. Nor does it depend on the way in which the host rounds, which C's
 * functions also follow.
 */

#define DIGITS_MAX 17 /* enough for every f64; 9 for every f32 */
#define DIGITS_MAX_F32 9
#define POINT_MIN (-3) /* from 0.0001 ... */
#define POINT_MAX 16   /* ... to below 1e16: written without an exponent */

/* A decimal number: 0.d1d2d3… times ten to the power of `point`. */
typedef struct decimal {
    char digits[DIGITS_MAX + 1];
    int count;
    int point;
} decimal;

static int reads_back(const char *text, double value, int is_f32)
{
    if (is_f32)
        return !(strtof(text, NULL) < (float)value) &&
               !(strtof(text, NULL) > (float)value);
    return !(strtod(text, NULL) < value) && !(strtod(text, NULL) > value);
}

/* Takes digits and exponent from "1.234e+05", whatever the locale's decimal
   point is. */
static void take_digits(decimal *out, const char *text)
{
    const char *exponent = strchr(text, 'e');

    out->count = 0;
    for (; *text != '\0' && text != exponent; text++)
        if (*text >= '0' && *text <= '9' && out->count < DIGITS_MAX)
            out->digits[out->count++] = *text;
    while (out->count > 1 && out->digits[out->count - 1] == '0')
        out->count--;
    out->digits[out->count] = '\0';
    out->point = 1;
    if (exponent != NULL)
        out->point += (int)strtol(exponent + 1, NULL, 10);
}

/* Finds the fewest digits that read back as `value`, which is finite and >=
   0. */
static void shortest(decimal *out, double value, int is_f32)
{
    const int most = is_f32 ? DIGITS_MAX_F32 : DIGITS_MAX;
    char text[64];

    for (int digits = 1; digits <= most; digits++) {
        (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (digits == most || reads_back(text, value, is_f32))
            break;
    }
    take_digits(out, text);
}

static void add_fixed(kiln__text *text, const decimal *number)
{
    const int whole =
        number->point < number->count ? number->point : number->count;

    if (number->point <= 0) {
        kiln__text_add(text, "0.");
        for (int i = number->point; i < 0; i++)
            kiln__text_add(text, "0");
        kiln__text_add(text, number->digits);
        return;
    }
    kiln__text_add_n(text, number->digits, (size_t)whole);
    for (int i = number->count; i < number->point; i++)
        kiln__text_add(text, "0");
    if (number->count > number->point) {
        kiln__text_add(text, ".");
        kiln__text_add(text, number->digits + number->point);
    }
}

static void add_scientific(kiln__text *text, const decimal *number)
{
    kiln__text_add_n(text, number->digits, 1);
    if (number->count > 1) {
        kiln__text_add(text, ".");
        kiln__text_add(text, number->digits + 1);
    }
    kiln__text_format(text, "e%+03d", number->point - 1);
}

static void add_float(kiln__text *text, uint64_t bits, int is_f32)
{
    double value = kiln__f64_from_bits(bits);
    decimal number;
    fenv_t mode;

    if (isnan(value)) {
        kiln__text_add(text, "nan");
        return;
    }
    if (signbit(value))
        kiln__text_add(text, "-");
    value = fabs(value);
    if (isinf(value)) {
        kiln__text_add(text, "inf");
        return;
    }
    kiln__float_begin(&mode);
    shortest(&number, value, is_f32);
    kiln__float_end(&mode);
    if (number.point >= POINT_MIN && number.point <= POINT_MAX)
        add_fixed(text, &number);
    else
        add_scientific(text, &number);
}

void kiln__print_part(kiln__text *out, uint64_t kind, const char *text,
                      uint64_t bits)
{
    switch (kind) {
    case KILN__PRINT_TEXT:
        kiln__text_add(out, text);
        break;
    case KILN__PRINT_I64:
        kiln__text_format(out, "%" PRId64, (int64_t)bits);
        break;
    case KILN__PRINT_U64:
        kiln__text_format(out, "%" PRIu64, bits);
        break;
    case KILN__PRINT_F64:
        add_float(out, bits, 0);
        break;
    case KILN__PRINT_F32:
        add_float(out, bits, 1);
        break;
    case KILN__PRINT_BOOL:
        kiln__text_add(out, bits != 0 ? "true" : "false");
        break;
    default:
        kiln__text_add(out, "?");
        break;
    }
}

void kiln__print_send(const kiln_context *context, const kiln__text *text)
{
    /* If there was no memory for the text, only this record is lost. */
    if (context->host.print != NULL && !text->failed && text->size > 0)
        context->host.print(context->host_env, text->bytes, text->size);
}
