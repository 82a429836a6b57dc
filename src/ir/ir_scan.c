/* ir_scan.c - reads words, numbers, texts and types of textual typed IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/ir_scan.h"

#include <string.h>

#include "base/data/float_bits.h"
#include "base/system/stack.h"
#include "ir/ir_text.h"

/*
 * This is the scanner under ir_parse.c: it knows tokens, types and constants of
 * the text form, but no operations. It reads a text that may be anything, so
 * every number is checked against a limit while its digits are read.
 */

int kiln__scan_fail(kiln__scanner *p, const char *what)
{
    if (p->what == NULL)
        p->what = what;
    return 0;
}

int kiln__scan_fail_memory(kiln__scanner *p)
{
    p->shortage = KILN_ENOMEM;
    return kiln__scan_fail(p, "out of memory");
}

int kiln__scan_enter(kiln__scanner *p)
{
    if (kiln__stack_is_low()) {
        p->shortage = KILN_ESTACK;
        return kiln__scan_fail(p, "out of stack");
    }
    if (++p->depth > KILN__SCAN_DEPTH_MAX)
        return kiln__scan_fail(p, "the text is nested too deep");
    return 1;
}

int kiln__scan_made(kiln__scanner *p, kiln_status status)
{
    return status == KILN_OK ? 1 : kiln__scan_fail_memory(p);
}

/* ---- tokens ---- */

void kiln__scan_skip(kiln__scanner *p)
{
    for (; p->next < p->end; p->next++) {
        if (*p->next == ';') {
            while (p->next < p->end && *p->next != '\n')
                p->next++;
            p->next--;
        } else if (*p->next != ' ' && *p->next != '\n' && *p->next != '\t' &&
                   *p->next != '\r')
            return;
    }
}

/* Returns the next character, 0 at the end. */
char kiln__scan_peek(const kiln__scanner *p)
{
    return p->next < p->end ? *p->next : '\0';
}

int kiln__scan_take(kiln__scanner *p, char c)
{
    if (p->next == p->end || *p->next != c)
        return 0;
    p->next++;
    return 1;
}

/* Takes `c` after blanks, if it comes next. */
int kiln__scan_accept(kiln__scanner *p, char c)
{
    kiln__scan_skip(p);
    return kiln__scan_take(p, c);
}

int kiln__scan_expect(kiln__scanner *p, char c, const char *what)
{
    return kiln__scan_accept(p, c) ? 1 : kiln__scan_fail(p, what);
}

/* Reads the word that begins here into scratch; 0 when there is none. */
int kiln__scan_word(kiln__scanner *p)
{
    const char *begin = p->next;

    while (p->next < p->end && kiln__ir_is_word(*p->next))
        p->next++;
    p->scratch.size = 0;
    kiln__text_add_n(&p->scratch, begin, (size_t)(p->next - begin));
    if (p->scratch.failed)
        return kiln__scan_fail_memory(p);
    return p->next > begin;
}

int kiln__scan_is_next(const kiln__scanner *p, const char *text)
{
    const size_t size = strlen(text);

    return (size_t)(p->end - p->next) >= size &&
           memcmp(p->next, text, size) == 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int escape(kiln__scanner *p)
{
    char c = kiln__scan_peek(p);

    p->next += p->next < p->end;
    if (c == 'x' && p->end - p->next >= 2) {
        const int high = hex_digit(p->next[0]), low = hex_digit(p->next[1]);

        if (high < 0 || low < 0 || high + low == 0)
            return kiln__scan_fail(p, "the escape is no \\x01 to \\xff");
        c = (char)(unsigned char)(high * 16 + low);
        p->next += 2;
    } else if (c != '"' && c != '\\') {
        return kiln__scan_fail(p, "the escape is unknown");
    }
    kiln__text_add_n(&p->scratch, &c, 1);
    return 1;
}

/* Reads a quoted text into scratch. */
int kiln__scan_quoted(kiln__scanner *p)
{
    if (!kiln__scan_expect(p, '"', "a quoted text is missing"))
        return 0;
    p->scratch.size = 0;
    kiln__text_add(&p->scratch, "");
    while (p->next < p->end && *p->next != '"') {
        if ((unsigned char)*p->next < 0x20)
            return kiln__scan_fail(p, "the text holds a control character");
        if (kiln__scan_take(p, '\\')) {
            if (!escape(p))
                return 0;
        } else {
            kiln__text_add_n(&p->scratch, p->next++, 1);
        }
    }
    if (p->scratch.failed)
        return kiln__scan_fail_memory(p);
    return kiln__scan_take(p, '"')
               ? 1
               : kiln__scan_fail(p, "the text does not end");
}

int kiln__scan_number(kiln__scanner *p, uint64_t limit, uint64_t *out)
{
    uint64_t value = 0;

    if (kiln__scan_peek(p) < '0' || kiln__scan_peek(p) > '9')
        return kiln__scan_fail(p, "a number is missing");
    while (p->next < p->end && *p->next >= '0' && *p->next <= '9') {
        const uint64_t digit = (uint64_t)(*p->next - '0');

        if (value > (limit - digit) / 10 || digit > limit)
            return kiln__scan_fail(p, "the number is too large");
        value = value * 10 + digit;
        p->next++;
    }
    *out = value;
    return 1;
}

int kiln__scan_u32(kiln__scanner *p, uint32_t *out)
{
    uint64_t value;

    kiln__scan_skip(p);
    if (!kiln__scan_number(p, UINT32_MAX, &value))
        return 0;
    *out = (uint32_t)value;
    return 1;
}

int kiln__scan_i64(kiln__scanner *p, int64_t *out)
{
    const int negative = kiln__scan_accept(p, '-');
    uint64_t value;

    if (!kiln__scan_number(p, (uint64_t)INT64_MAX + (negative ? 1 : 0), &value))
        return 0;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return 1;
}

/* ---- types ---- */

static int add_type(kiln__scanner *p, const kiln__ir_type *description,
                    const uint32_t *fields, uint32_t *out)
{
    if (p->ir->types.count >= KILN__IR_TYPES_MAX)
        return kiln__scan_fail(p, "the function has more than 16384 types");
    return kiln__scan_made(p,
                           kiln__ir_add_type(p->ir, description, fields, out));
}

/* Reads (T, T, ...) onto the operand stack. */
static int fields(kiln__scanner *p, uint32_t *count)
{
    *count = 0;
    if (!kiln__scan_expect(p, '(', "a list of fields is missing"))
        return 0;
    while (!kiln__scan_accept(p, ')')) {
        uint32_t field;

        if (!kiln__scan_type(p, &field))
            return 0;
        if (!kiln__array_push(p->ir->alloc, &p->operands, field))
            return kiln__scan_fail_memory(p);
        ++*count;
        if (!kiln__scan_accept(p, ',') &&
            (kiln__scan_skip(p), kiln__scan_peek(p) != ')'))
            return kiln__scan_fail(p, "a comma is missing");
    }
    return 1;
}

static int type_with_fields(kiln__scanner *p, int32_t kind, uint32_t *out)
{
    kiln__ir_type made_type = {.kind = (uint8_t)kind};
    const size_t base = p->operands.count;
    int fine;

    if (kind == KILN_TYPE_STRUCT) {
        if (!kiln__scan_quoted(p))
            return 0;
        made_type.name = kiln__arena_string(&p->ir->arena, p->scratch.bytes,
                                            p->scratch.size);
        if (made_type.name == NULL)
            return kiln__scan_fail_memory(p);
    }
    if (!fields(p, &made_type.length))
        return 0;
    fine = add_type(p, &made_type,
                    made_type.length ? &p->operands.items[base] : NULL, out);
    p->operands.count = base;
    return fine;
}

static int named_type(kiln__scanner *p, int32_t kind, uint32_t *out)
{
    kiln__ir_type made_type = {.kind = (uint8_t)kind};

    if (!kiln__scan_expect(p, '{', "a brace is missing") ||
        !kiln__scan_quoted(p))
        return 0;
    made_type.name = p->scratch.bytes;
    return add_type(p, &made_type, NULL, out) &&
           kiln__scan_expect(p, '}', "a brace is missing");
}

static int static_type(kiln__scanner *p, uint32_t *out)
{
    kiln__ir_type made_type = {.kind = KILN_TYPE_STATIC};

    return kiln__scan_expect(p, '{', "a brace is missing") &&
           kiln__scan_i64(p, &made_type.value) &&
           kiln__scan_expect(p, '}', "a brace is missing") &&
           add_type(p, &made_type, NULL, out);
}

static int vector_type(kiln__scanner *p, uint32_t *out)
{
    kiln__ir_type made_type = {.kind = KILN_TYPE_VECTOR};

    return kiln__scan_expect(p, '{', "a brace is missing") &&
           kiln__scan_type(p, &made_type.element) &&
           kiln__scan_expect(p, ',', "a comma is missing") &&
           kiln__scan_u32(p, &made_type.length) &&
           kiln__scan_expect(p, '}', "a brace is missing") &&
           add_type(p, &made_type, NULL, out);
}

static int word_type(kiln__scanner *p, uint32_t *out)
{
    const char *text;

    kiln__scan_skip(p);
    if (!kiln__scan_word(p))
        return kiln__scan_fail(p, "a type is missing");
    text = p->scratch.bytes;
    if (strcmp(text, "struct") == 0)
        return type_with_fields(p, KILN_TYPE_STRUCT, out);
    if (strcmp(text, "Function") == 0)
        return named_type(p, KILN_TYPE_FUNCTION, out);
    if (strcmp(text, "Type") == 0)
        return named_type(p, KILN_TYPE_TYPE, out);
    if (strcmp(text, "Static") == 0)
        return static_type(p, out);
    if (strcmp(text, "Vec") == 0)
        return vector_type(p, out);
    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++)
        if (kiln__ir_kind_text(kind) != NULL &&
            strcmp(text, kiln__ir_kind_text(kind)) == 0)
            return kiln__scan_made(p, kiln__ir_scalar(p->ir, kind, out));
    return kiln__scan_fail(p, "the type is unknown");
}

/* Reads what is between the brackets after an element type. */
static int dimensions(kiln__scanner *p, kiln__ir_type *array)
{
    kiln__scan_skip(p);
    if (kiln__scan_is_next(p, "strided")) {
        p->next += strlen("strided");
        array->strided = 1;
    }
    do {
        if (!kiln__scan_expect(p, ':', "a colon is missing"))
            return 0;
        if (++array->length > KILN_RANK_MAX)
            return kiln__scan_fail(p, "the rank is not 1 to 4");
    } while (kiln__scan_accept(p, ','));
    return kiln__scan_expect(p, ']', "a bracket is missing");
}

int kiln__scan_type(kiln__scanner *p, uint32_t *out)
{
    int fine;

    if (!kiln__scan_enter(p))
        return 0;
    kiln__scan_skip(p);
    fine = kiln__scan_peek(p) == '(' ? type_with_fields(p, KILN_TYPE_TUPLE, out)
                                     : word_type(p, out);
    p->depth--;
    while (fine && kiln__scan_take(p, '[')) {
        kiln__ir_type array = {.kind = KILN_TYPE_ARRAY, .element = *out};

        fine = dimensions(p, &array) && add_type(p, &array, NULL, out);
    }
    return fine;
}

/* ---- constants ---- */

/* Digits as they are read. Both parts of the quotient are exact in f64. */
typedef struct decimal {
    double digits, scale;
    int count;       /* of digits, beginning with the first that is not 0 */
    int in_fraction; /* the decimal point was read */
    int zeros; /* zeros after the point; they count when a digit follows */
} decimal;

static int add_digit(kiln__scanner *p, decimal *d, int digit)
{
    d->digits = d->digits * 10 + digit;
    d->scale *= d->in_fraction ? 10 : 1;
    d->count += d->digits > 0;
    if (d->count <= 15 && d->scale <= 1e22)
        return 1;
    return kiln__scan_fail(p, "more than 15 digits: give the bits, 0x...");
}

/* Reads a decimal. Zeros at the end, as in "2.0", are left out. */
static int read_decimal(kiln__scanner *p, double *out)
{
    decimal d = {.scale = 1};

    for (; p->next < p->end; p->next++) {
        if (*p->next == '.' && !d.in_fraction) {
            d.in_fraction = 1;
            continue;
        }
        if (*p->next < '0' || *p->next > '9')
            break;
        if (*p->next == '0' && d.in_fraction) {
            d.zeros++;
            continue;
        }
        for (; d.zeros > 0; d.zeros--)
            if (!add_digit(p, &d, 0))
                return 0;
        if (!add_digit(p, &d, *p->next - '0'))
            return 0;
    }
    *out = d.digits / d.scale;
    return 1;
}

static int float_bits(kiln__scanner *p, int64_t *out)
{
    uint64_t bits = 0;

    p->next += 2;
    for (size_t i = 0; i < 16; i++) {
        const int digit = hex_digit(kiln__scan_peek(p));

        if (digit < 0)
            return kiln__scan_fail(p, "the bits of a float are 16 digits");
        bits = bits << 4 | (uint64_t)digit;
        p->next++;
    }
    *out = (int64_t)bits;
    return 1;
}

static int float_constant(kiln__scanner *p, int32_t kind, int64_t *out)
{
    double value;
    int negative;

    kiln__scan_skip(p);
    if (kiln__scan_is_next(p, "0x"))
        return float_bits(p, out);
    negative = kiln__scan_take(p, '-');
    if (kiln__scan_peek(p) < '0' || kiln__scan_peek(p) > '9')
        return kiln__scan_fail(p, "a number is missing");
    if (!read_decimal(p, &value))
        return 0;
    value = kiln__ir_round(kind, negative ? -value : value);
    *out = (int64_t)kiln__f64_bits(value);
    return 1;
}

int kiln__scan_constant(kiln__scanner *p, int32_t kind, int64_t *out)
{
    uint64_t value;

    kiln__scan_skip(p);
    if (kiln__kind_is_float(kind))
        return float_constant(p, kind, out);
    if (kind == KILN_TYPE_U64) {
        if (!kiln__scan_number(p, UINT64_MAX, &value))
            return 0;
        *out = (int64_t)value;
        return 1;
    }
    if (kind != KILN_TYPE_BOOL)
        return kiln__scan_i64(p, out);
    if (!kiln__scan_word(p))
        return kiln__scan_fail(p, "true or false is missing");
    *out = strcmp(p->scratch.bytes, "true") == 0;
    return *out || strcmp(p->scratch.bytes, "false") == 0
               ? 1
               : kiln__scan_fail(p, "true or false is missing");
}
