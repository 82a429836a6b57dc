/* lex_literal.c - reads numbers and strings, and checks UTF-8. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/utf8.h"
#include "frontend/syntax/lex.h"

/* The most digits of a float literal, which is more than any f64 needs. */
#define DIGITS_MAX 255u

static unsigned char byte_at(const kiln__source *source, uint32_t at)
{
    return at < source->size ? (unsigned char)source->text[at] : 0;
}

/* ---- UTF-8 ---- */

uint32_t kiln__lex_character_size(const kiln__source *source, uint32_t at)
{
    return at < source->size
               ? (uint32_t)kiln__utf8_size(source->text + at, source->size - at)
               : 1;
}

static void report_byte(kiln__lexer *l, uint32_t at)
{
    const unsigned char byte = byte_at(l->source, at);

    if (byte == 0)
        kiln__diagnose(l->diagnostics, l->source, (kiln__span){at, 1},
                       "invalid-text", NULL, "NUL byte in the text");
    else
        kiln__diagnose(l->diagnostics, l->source, (kiln__span){at, 1},
                       "invalid-text", "save the file as UTF-8",
                       "the byte 0x%02X is not UTF-8", byte);
}

/* A run of bad bytes is reported once. */
void kiln__lex_check_bytes(kiln__lexer *l, uint32_t start, uint32_t end)
{
    int bad = 0;

    for (uint32_t at = start; at < end;) {
        const unsigned char byte = (unsigned char)l->source->text[at];
        const uint32_t size =
            byte == 0 ? 0 : kiln__lex_character_size(l->source, at);

        if (size == 0 && !bad)
            report_byte(l, at);
        bad = size == 0;
        at += size == 0 ? 1 : size;
    }
}

static void finish_token(kiln__lexer *l, kiln__token *out,
                         kiln__token_kind kind, uint32_t end)
{
    out->kind = kind;
    out->line_start = l->line_start;
    out->span = (kiln__span){.start = l->at, .size = end - l->at};
    l->at = end;
    l->last = kind;
    l->line_start = 0;
}

/* ---- numbers ---- */

static int is_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

static int digit_of(unsigned char c, unsigned base)
{
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;

    return digit < (int)base ? digit : -1;
}

static void bad_number(kiln__lexer *l, uint32_t end, const char *hint,
                       const char *what)
{
    kiln__diagnose(l->diagnostics, l->source, (kiln__span){l->at, end - l->at},
                   "invalid-number", hint, "%s", what);
}

/* Returns the end of the digits of `base`, with single underscores between
   them. */
static uint32_t skip_digits(const kiln__lexer *l, uint32_t at, unsigned base)
{
    while (digit_of(byte_at(l->source, at), base) >= 0 ||
           (byte_at(l->source, at) == '_' && at > l->at &&
            digit_of(byte_at(l->source, at - 1), base) >= 0 &&
            digit_of(byte_at(l->source, at + 1), base) >= 0))
        at++;
    return at;
}

/* Returns the end of what directly follows a number, and reports it. */
static uint32_t check_tail(kiln__lexer *l, uint32_t end)
{
    const unsigned char c = byte_at(l->source, end);
    const char *hint = "put an operator between number and name";
    uint32_t tail = end;

    while (is_word(byte_at(l->source, tail)))
        tail++;
    if (tail == end)
        return end;
    if (c == '_')
        hint = "`_` stands between two digits";
    else if (c == 'f' || c == 'F' || c == 'u' || c == 'U' || c == 'l' ||
             c == 'L' || c == 'i')
        hint = "literals have no suffix: write `f32(1.5)` or `u8(1)`";
    bad_number(l, tail, hint, "a number ends in other characters");
    return tail;
}

static void lex_based(kiln__lexer *l, kiln__token *out, unsigned base)
{
    const uint32_t end = skip_digits(l, l->at + 2, base);
    uint32_t tail;
    uint64_t value = 0;
    int overflow = 0;

    for (uint32_t at = l->at + 2; at < end; at++) {
        const int digit = digit_of(byte_at(l->source, at), base);

        if (digit < 0)
            continue;
        overflow |= __builtin_mul_overflow(value, base, &value);
        value += (uint64_t)digit;
    }
    tail = check_tail(l, end);
    if (tail == end && end == l->at + 2)
        bad_number(l, end, NULL, "digits are missing");
    if (overflow)
        bad_number(l, end, NULL, "an integer has at most 64 bits");
    out->integer = value;
    finish_token(l, out, KILN__TOKEN_INTEGER, tail);
}

static uint64_t decimal_value(kiln__lexer *l, uint32_t end)
{
    uint64_t value = 0;
    int overflow = 0;

    for (uint32_t at = l->at; at < end; at++) {
        const int digit = digit_of(byte_at(l->source, at), 10);

        if (digit < 0)
            continue;
        overflow |= __builtin_mul_overflow(value, 10, &value);
        overflow |= __builtin_add_overflow(value, (uint64_t)digit, &value);
    }
    if (overflow)
        bad_number(l, end, "write a float: `1e30`",
                   "an integer has at most 64 bits");
    return value;
}

/* Reads the number that is nearest in a rounding mode. */
static double read_towards(const char *digits, locale_t locale, int mode)
{
    double value;

    (void)fesetround(mode);
    value = strtod_l(digits, NULL, locale);
    (void)fesetround(FE_TONEAREST);
    return value;
}

/* Does what strtod() does in the C locale, whatever locale the host has set.
   The number may become one of a narrower type, and is rounded once then; so
   `rest` says on which side of the f64 it is. */
static double real_value(kiln__lexer *l, uint32_t end, int32_t *rest)
{
    char digits[DIGITS_MAX + 1];
    size_t count = 0;
    locale_t locale;
    double value;

    for (uint32_t at = l->at; at < end; at++) {
        if (byte_at(l->source, at) == '_')
            continue;
        if (count == DIGITS_MAX) {
            bad_number(l, end, NULL, "a number has at most 255 characters");
            return 0;
        }
        digits[count++] = (char)byte_at(l->source, at);
    }
    digits[count] = '\0';
    locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (locale == (locale_t)0) {
        l->diagnostics->arena.failed = 1;
        return 0;
    }
    value = strtod_l(digits, NULL, locale);
    *rest = (read_towards(digits, locale, FE_UPWARD) > value) -
            (read_towards(digits, locale, FE_DOWNWARD) < value);
    freelocale(locale);
    if (!isfinite(value)) {
        bad_number(l, end, NULL, "no f64 is as large as this number");
        value = 0;
    }
    return value;
}

/* Returns the end of `.digits` and `e+digits`, or `at` when neither is there. A
   dot before another dot or a name does not belong to the number. */
static uint32_t skip_fraction(const kiln__lexer *l, uint32_t at)
{
    uint32_t exponent;

    if (byte_at(l->source, at) == '.' &&
        digit_of(byte_at(l->source, at + 1), 10) >= 0)
        at = skip_digits(l, at + 1, 10);
    if ((byte_at(l->source, at) | 0x20) != 'e')
        return at;
    exponent = at + 1;
    if (byte_at(l->source, exponent) == '+' ||
        byte_at(l->source, exponent) == '-')
        exponent++;
    if (digit_of(byte_at(l->source, exponent), 10) < 0)
        return at;
    return skip_digits(l, exponent, 10);
}

static void lex_float(kiln__lexer *l, kiln__token *out, uint32_t end)
{
    const uint32_t tail = check_tail(l, end);

    out->real = tail == end ? real_value(l, end, &out->rest) : 0;
    finish_token(l, out, KILN__TOKEN_FLOAT, tail);
}

/* True for C's `1.`: a dot that is followed by nothing that could use it. */
static int is_bare_dot(const kiln__lexer *l, uint32_t at)
{
    const unsigned char next = byte_at(l->source, at + 1);

    return byte_at(l->source, at) == '.' && next != '.' &&
           (!is_word(next) || next == 'f' || next == 'e');
}

static void lex_decimal(kiln__lexer *l, kiln__token *out)
{
    uint32_t end = skip_digits(l, l->at, 10);
    const uint32_t fraction = skip_fraction(l, end);

    if (fraction > end) {
        lex_float(l, out, fraction);
        return;
    }
    if (is_bare_dot(l, end)) {
        bad_number(l, end + 1, "write `1.0`", "a digit must follow the dot");
        end++;
        while (is_word(byte_at(l->source, end)))
            end++;
        finish_token(l, out, KILN__TOKEN_FLOAT, end);
        return;
    }
    if (byte_at(l->source, l->at) == '0' && end > l->at + 1)
        bad_number(l, end, "octal numbers do not exist; leave the 0 out",
                   "a decimal number begins with 0");
    out->integer = decimal_value(l, end);
    finish_token(l, out, KILN__TOKEN_INTEGER, check_tail(l, end));
}

void kiln__lex_number(kiln__lexer *l, kiln__token *out)
{
    const unsigned char second = byte_at(l->source, l->at + 1);

    *out = (kiln__token){0};
    if (byte_at(l->source, l->at) == '.') {
        const uint32_t end = skip_fraction(l, l->at);

        bad_number(l, end,
                   l->last == KILN__TOKEN_DOT_DOT
                       ? "a range is `lo..hi`; hi itself is not reached"
                       : "write `0.5`; an element of a tuple is `t[0]`",
                   "a number begins with a digit");
        finish_token(l, out, KILN__TOKEN_FLOAT, end);
    } else if (byte_at(l->source, l->at) == '0' && second == 'x') {
        lex_based(l, out, 16);
    } else if (byte_at(l->source, l->at) == '0' && second == 'b') {
        lex_based(l, out, 2);
    } else {
        lex_decimal(l, out);
    }
}

/* ---- strings ---- */

static void check_escape(kiln__lexer *l, uint32_t at)
{
    const unsigned char c = byte_at(l->source, at + 1);
    const uint32_t size = kiln__lex_character_size(l->source, at + 1);

    if (c != 'n' && c != 't' && c != '"' && c != '\\' && c != 0 && size > 0)
        kiln__diagnose(
            l->diagnostics, l->source, (kiln__span){at, 1 + size},
            "invalid-string", "there are `\\n`, `\\t`, `\\\"` and `\\\\`",
            "unknown escape `\\%.*s`", (int)size, l->source->text + at + 1);
}

void kiln__lex_string(kiln__lexer *l, kiln__token *out)
{
    const kiln__source *source = l->source;
    uint32_t at = l->at + 1;

    *out = (kiln__token){0};
    while (at < source->size && source->text[at] != '"' &&
           source->text[at] != '\n') {
        if (source->text[at] == '\\' && at + 1 < source->size &&
            source->text[at + 1] != '\n') {
            check_escape(l, at);
            at++;
        }
        at++;
    }
    kiln__lex_check_bytes(l, l->at, at);
    if (at < source->size && source->text[at] == '"')
        at++;
    else
        kiln__diagnose(l->diagnostics, source, (kiln__span){l->at, 1},
                       "invalid-string", "close it with `\"`",
                       "the string does not end in its line");
    finish_token(l, out, KILN__TOKEN_STRING, at);
}

const char *kiln__string_value(kiln__arena *arena, const kiln__source *source,
                               kiln__span span)
{
    char *value = kiln__arena_allocate(arena, (size_t)span.size + 1);
    const char *text = source->text + span.start + 1;
    size_t size = 0;

    if (value == NULL)
        return NULL;
    for (uint32_t i = 0; i + 2 < span.size; i++) {
        char c = text[i];

        if (c == '\\' && i + 3 < span.size) {
            c = text[++i];
            c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
        }
        value[size++] = c;
    }
    return value;
}
