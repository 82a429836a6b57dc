/* float_text.c - writes floats with the fewest digits. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/float_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/data/float_bits.h"
#include "base/system/float_mode.h"

/*
 * C's functions use the process's locale, but only the digits of their output
 * are taken. They also round as the host does, so the host's mode is put aside.
 */

#define DIGITS_MAX 17  /* enough for every f64 */
#define POINT_MIN (-3) /* from 0.0001 ... */
#define POINT_MAX 16   /* ... to below 1e16: written without an exponent */

#define F64_SIGNIFICAND 53
#define F32_SIGNIFICAND 24

/* A decimal number: 0.d1d2d3… times ten to the power of `point`. */
typedef struct decimal {
    char digits[DIGITS_MAX + 1];
    int count;
    int point;
} decimal;

/* Reads what C wrote, in the same locale. An f32 is rounded once, since a
   double between could lie on the boundary of two. Texts of smaller formats are
   too short for that. */
static double read_back(const char *text, int significand, int exponent)
{
    if (significand == F64_SIGNIFICAND)
        return strtod(text, NULL);
    if (significand == F32_SIGNIFICAND)
        return (double)strtof(text, NULL);
    return kiln__float_nearest(significand, exponent, strtod(text, NULL));
}

static int is_same(double a, double b)
{
    return !(a < b) && !(a > b);
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
static void find_shortest(decimal *out, double value, int significand,
                          int exponent)
{
    char text[64];

    for (int digits = 1; digits <= DIGITS_MAX; digits++) {
        (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (is_same(read_back(text, significand, exponent), value))
            break;
    }
    take_digits(out, text);
}

static char *add_zeros(char *at, int count)
{
    for (; count > 0; count--)
        *at++ = '0';
    return at;
}

static char *add_digits(char *at, const char *digits, int count)
{
    memcpy(at, digits, (size_t)count);
    return at + count;
}

static void write_fixed(char *at, const decimal *number)
{
    const int whole =
        number->point < number->count ? number->point : number->count;

    if (number->point <= 0) {
        at = add_digits(at, "0.", 2);
        at = add_zeros(at, -number->point);
        at = add_digits(at, number->digits, number->count);
    } else {
        at = add_digits(at, number->digits, whole);
        at = add_zeros(at, number->point - whole);
        if (number->count > whole) {
            *at++ = '.';
            at = add_digits(at, number->digits + whole, number->count - whole);
        }
    }
    *at = '\0';
}

static void write_scientific(char *at, const decimal *number)
{
    int power = number->point - 1;

    at = add_digits(at, number->digits, 1);
    if (number->count > 1) {
        *at++ = '.';
        at = add_digits(at, number->digits + 1, number->count - 1);
    }
    *at++ = 'e';
    *at++ = power < 0 ? '-' : '+';
    power = power < 0 ? -power : power;
    if (power >= 100)
        *at++ = (char)('0' + power / 100);
    *at++ = (char)('0' + power / 10 % 10);
    *at++ = (char)('0' + power % 10);
    *at = '\0';
}

const char *kiln__float_text(char out[KILN__FLOAT_TEXT], double value,
                             int significand, int exponent)
{
    char *at = out;
    decimal number;
    fenv_t mode;

    if (signbit(value) && !isnan(value))
        *at++ = '-';
    if (!isfinite(value)) {
        memcpy(at, isnan(value) ? "nan" : "inf", sizeof "nan");
        return out;
    }
    kiln__float_begin(&mode);
    find_shortest(&number, fabs(value), significand, exponent);
    kiln__float_end(&mode);
    if (number.point >= POINT_MIN && number.point <= POINT_MAX)
        write_fixed(at, &number);
    else
        write_scientific(at, &number);
    return out;
}
