/* kiln_record.c - structs, tuples and vectors on the command line. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_record.h"

#include <stdio.h>
#include <string.h>

#include "abi/scalars.h"
#include "kiln_values.h"

/*
 * A value is written as its elements in parentheses, nested as the type is:
 * "(1, 2.5, (3, 4))". An element without bytes, such as a Static, is "()".
 */

typedef struct reader {
    const char *at;
    const char *end;
} reader;

static void skip_blanks(reader *r)
{
    while (r->at < r->end && *r->at == ' ')
        r->at++;
}

static int take(reader *r, char byte)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != byte)
        return 0;
    r->at++;
    return 1;
}

static const char *read_scalar(reader *r, const kiln_type *type, void *out)
{
    char text[64];
    size_t size = 0;

    skip_blanks(r);
    while (r->at + size < r->end && strchr(",() ", r->at[size]) == NULL)
        size++;
    if (size >= sizeof text)
        return "a number is too long";
    memcpy(text, r->at, size);
    text[size] = '\0';
    r->at += size;
    return value_parse(out, kiln_type_kind(type), text);
}

/* A type is nested at most as deep as the language allows. */
static const char *read_element(reader *r, const kiln_type *type,
                                unsigned char *out)
{
    const size_t count = kiln_type_field_count(type);

    if (kiln__kind_is_scalar(kiln_type_kind(type)))
        return read_scalar(r, type, out);
    if (count == 0 && kiln_type_size(type) != 0)
        return "its type has parts that cannot be written here";
    if (!take(r, '('))
        return "the elements of a struct, tuple or vector are in parentheses";
    for (size_t i = 0; i < count; i++) {
        const char *wrong;

        if (i > 0 && !take(r, ','))
            return "it has fewer elements than its type";
        wrong = read_element(r, kiln_type_field(type, i),
                             out + kiln_type_field_offset(type, i));
        if (wrong != NULL)
            return wrong;
    }
    if (count == 1)
        (void)take(r, ','); /* as the language writes one element */
    return take(r, ')') ? NULL : "it has more elements than its type";
}

/* ---- the type of a tuple of literals ---- */

typedef struct writer {
    char *out;
    size_t size;
    size_t used;
} writer;

static int write_text(writer *w, const char *text)
{
    const size_t size = strlen(text);

    if (size >= w->size - w->used)
        return 0;
    memcpy(w->out + w->used, text, size + 1);
    w->used += size;
    return 1;
}

/* A number's type is the one that the language gives to it alone. */
static int write_scalar(reader *r, writer *w)
{
    const char *text = r->at;
    size_t size = 0;
    int is_integer = 1;

    while (r->at + size < r->end && strchr(",() ", text[size]) == NULL) {
        is_integer &= strchr("+-0123456789", text[size]) != NULL;
        size++;
    }
    r->at += size;
    if (size == 0)
        return 0;
    if ((size == 4 && memcmp(text, "true", 4) == 0) ||
        (size == 5 && memcmp(text, "false", 5) == 0))
        return write_text(w, "Bool");
    return write_text(w, is_integer ? "i64" : "f64");
}

/* Writes "(i64, f64)" for "(1, 2.5)". */
static int write_type(reader *r, writer *w)
{
    int commas = 0;

    skip_blanks(r);
    if (r->at == r->end || *r->at != '(')
        return write_scalar(r, w);
    (void)take(r, '(');
    if (!write_text(w, "("))
        return 0;
    while (!take(r, ')')) {
        if (!write_type(r, w))
            return 0;
        if (!take(r, ','))
            return take(r, ')') && commas > 0 && write_text(w, ")");
        commas++;
        if (!write_text(w, ","))
            return 0;
    }
    return write_text(w, ")");
}

int record_type(char *out, size_t out_size, const char *text, size_t size)
{
    reader r = {text, text + size};
    writer w = {out, out_size, 0};

    return write_type(&r, &w);
}

/* ---- values ---- */

const char *record_parse(void *out, const kiln_type *type, const char *text,
                         size_t size)
{
    reader r = {text, text + size};
    const char *wrong = read_element(&r, type, out);

    skip_blanks(&r);
    if (wrong == NULL && r.at != r.end)
        wrong = "something follows the value";
    return wrong;
}

void record_print(FILE *file, const kiln_type *type, const void *value)
{
    const size_t count = kiln_type_field_count(type);

    if (kiln__kind_is_scalar(kiln_type_kind(type))) {
        value_print(file, kiln_type_kind(type), value);
        return;
    }
    (void)fputc('(', file);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i > 0 ? ", " : "", file);
        record_print(file, kiln_type_field(type, i),
                     (const char *)value + kiln_type_field_offset(type, i));
    }
    (void)fputs(count == 1 ? ",)" : ")", file);
}
