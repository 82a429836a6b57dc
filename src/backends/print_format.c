/* print_format.c - writes a value as a conversion of printf() says. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "abi/scalars.h"
#include "backends/report_text.h"
#include "base/data/float_bits.h"
#include "base/system/float_mode.h"

/*
 * A conversion comes from an artifact, which may be damaged, so none is ever
 * C's format: it is read here, and what it does not allow is left out. C's
 * functions write the digits of floats only. They use the process's locale and
 * round as the host does, which must not be seen.
 */

#define WIDTH_MAX 4096 /* also of a precision */
#define DIGITS_MAX 320 /* before the point; with a sign or exponent */

typedef struct conversion {
    int left;      /* - */
    int plus;      /* + */
    int space;     /* a space where a plus would be */
    int alternate; /* # */
    int zero;      /* 0 */
    int64_t width;
    int64_t precision; /* below 0: none */
    char letter;
} conversion;

/* What is written: the head before zeros that fill the width, then the body. */
typedef struct written {
    char head[4];
    char body[DIGITS_MAX + WIDTH_MAX];
    size_t size; /* of the body */
    int fills;   /* with zeros, if the conversion says so */
} written;

/* ---- reading ---- */

static int64_t bounded(int64_t number)
{
    return number > WIDTH_MAX ? WIDTH_MAX : number;
}

static int64_t read_number(const char **at)
{
    int64_t number = 0;

    for (; isdigit((unsigned char)**at); ++*at)
        number = bounded(number * 10 + (**at - '0'));
    return number;
}

static void read_flags(conversion *c, const char **at)
{
    for (;; ++*at) {
        switch (**at) {
        case '-':
            c->left = 1;
            break;
        case '+':
            c->plus = 1;
            break;
        case ' ':
            c->space = 1;
            break;
        case '#':
            c->alternate = 1;
            break;
        case '0':
            c->zero = 1;
            break;
        default:
            return;
        }
    }
}

/* A width below 0 is another way to say that the value is on the left. */
static void set_width(conversion *c, int64_t width)
{
    c->left |= width < 0;
    c->width = bounded(width == INT64_MIN ? INT64_MAX
                       : width < 0        ? -width
                                          : width);
}

static conversion read_conversion(const kiln__printer *p)
{
    const char *at = p->format;
    conversion c = {.precision = -1};

    read_flags(&c, &at);
    c.width = read_number(&at);
    if (*at == '.') {
        at++;
        c.precision = read_number(&at);
    }
    if (p->has_width)
        set_width(&c, p->width);
    if (p->has_precision)
        c.precision = p->precision < 0 ? -1 : bounded(p->precision);
    c.letter = *at;
    return c;
}

/* ---- writing ---- */

static void add(kiln__text *out, char byte, size_t count)
{
    for (; count > 0; count--)
        kiln__text_add_n(out, &byte, 1);
}

/* `fills`: zeros may fill the width, between head and body. */
static void put(kiln__text *out, const conversion *c, const char *head,
                const char *body, size_t body_size, int fills)
{
    const size_t head_size = strlen(head), size = head_size + body_size;
    const size_t rest = (uint64_t)c->width > size ? (size_t)c->width - size : 0;
    const int has_zeros = c->zero && fills && !c->left;

    if (!c->left && !has_zeros)
        add(out, ' ', rest);
    kiln__text_add_n(out, head, head_size);
    if (has_zeros)
        add(out, '0', rest);
    kiln__text_add_n(out, body, body_size);
    if (c->left)
        add(out, ' ', rest);
}

static const char *sign_of(const conversion *c, int is_negative)
{
    return is_negative ? "-" : c->plus ? "+" : c->space ? " " : "";
}

/* ---- integers ---- */

static unsigned base_of(char letter)
{
    switch (letter) {
    case 'x':
    case 'X':
    case 'p':
        return 16;
    case 'o':
        return 8;
    default:
        return 10;
    }
}

/* Writes the digits, at least as many as the precision says. */
static void write_digits(written *w, const conversion *c, uint64_t value)
{
    const char *letters =
        c->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    const unsigned base = base_of(c->letter);
    const size_t least = c->precision < 0 ? 1 : (size_t)c->precision;
    char *end = w->body + sizeof w->body, *at = end;

    for (; value != 0; value /= base)
        *--at = letters[value % base];
    while ((size_t)(end - at) < least)
        *--at = '0';
    if (c->letter == 'o' && c->alternate && (at == end || *at != '0'))
        *--at = '0';
    w->size = (size_t)(end - at);
    memmove(w->body, at, w->size);
}

static void write_integer(written *w, const conversion *c, uint64_t bits)
{
    const int is_signed = c->letter == 'd' || c->letter == 'i';
    const int is_negative = is_signed && (int64_t)bits < 0;

    if (is_signed)
        strcpy(w->head, sign_of(c, is_negative));
    else if (c->letter == 'p' || (c->letter == 'x' && c->alternate && bits))
        strcpy(w->head, "0x");
    else if (c->letter == 'X' && c->alternate && bits)
        strcpy(w->head, "0X");
    w->fills = c->precision < 0;
    write_digits(w, c, is_negative ? 0 - bits : bits);
}

/* ---- floats ---- */

#define WRITE(letter) \
    (c->alternate ? snprintf(out, size, "%#.*" letter, precision, value) \
                  : snprintf(out, size, "%.*" letter, precision, value))

static int write_finite(char *out, size_t size, const conversion *c,
                        double value)
{
    const int precision = (int)c->precision;

    switch (c->letter) {
    case 'f':
        return WRITE("f");
    case 'F':
        return WRITE("F");
    case 'e':
        return WRITE("e");
    case 'E':
        return WRITE("E");
    case 'g':
        return WRITE("g");
    case 'G':
        return WRITE("G");
    case 'a':
        return WRITE("a");
    default:
        return WRITE("A");
    }
}

/* Replaces the locale's decimal point, which may have several bytes. */
static void set_point(written *w)
{
    size_t size = 0;
    int inside = 0;

    for (size_t i = 0; i < w->size; i++) {
        const unsigned char byte = (unsigned char)w->body[i];
        const int is_point = !isxdigit(byte) && strchr("xXpP+-", byte) == NULL;

        if (!is_point)
            w->body[size++] = (char)byte;
        else if (!inside)
            w->body[size++] = '.';
        inside = is_point;
    }
    w->size = size;
}

/* Not a number has no sign: it depends on the target. */
static void write_float(written *w, const conversion *c, double value)
{
    const int is_upper = isupper((unsigned char)c->letter);
    const char *sign = sign_of(c, signbit(value) != 0);
    fenv_t mode;
    int size;

    if (!isfinite(value)) {
        strcpy(w->head, isnan(value) ? "" : sign);
        strcpy(w->body, isnan(value) ? is_upper ? "NAN" : "nan"
                        : is_upper   ? "INF"
                                     : "inf");
        w->size = 3;
        return;
    }
    kiln__float_begin(&mode);
    size = write_finite(w->body, sizeof w->body, c, fabs(value));
    kiln__float_end(&mode);
    w->size = size < 0 ? 0 : (size_t)size;
    set_point(w);
    w->fills = 1;
    strcpy(w->head, sign);
    if (tolower((unsigned char)c->letter) == 'a' && w->size > 2) {
        strcat(w->head, c->letter == 'a' ? "0x" : "0X");
        w->size -= 2;
        memmove(w->body, w->body + 2, w->size);
    }
}

/* ---- values ---- */

/* Writes at most as many bytes of the text as the precision says. */
static void put_text(kiln__text *out, const conversion *c, const char *text)
{
    const size_t all = strlen(text);

    put(out, c, "", text,
        c->precision >= 0 && (uint64_t)c->precision < all ? (size_t)c->precision
                                                          : all,
        0);
}

void kiln__print_converted(kiln__printer *p, uint64_t kind, const char *text,
                           uint64_t bits)
{
    const int is_float = kiln__print_float_kind(kind) != KILN_TYPE_NONE;
    const conversion c = read_conversion(p);
    written w = {.size = 0};

    if (kind == KILN__PRINT_TEXT) {
        put_text(&p->text, &c, text);
        return;
    }
    if (c.letter == 'c' && !is_float) {
        w.body[0] = (char)bits;
        w.size = 1;
    } else if (c.letter != '\0' && strchr("diouxXp", c.letter) != NULL &&
               !is_float)
        write_integer(&w, &c, bits);
    else if (c.letter != '\0' && strchr("fFeEgGaA", c.letter) != NULL &&
             is_float)
        write_float(&w, &c, kiln__f64_from_bits(bits));
    else {
        w.body[0] = '?';
        w.size = 1;
    }
    put(&p->text, &c, w.head, w.body, w.size, w.fills);
}
