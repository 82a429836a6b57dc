/* case_arguments.c - reads the arguments of a case. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

/* ---- types ---- */

static const struct type {
    const char *name;
    size_t size;
    int is_float;
} types[] = {{"i8", 1, 0},  {"i16", 2, 0}, {"i32", 4, 0}, {"i64", 8, 0},
             {"u8", 1, 0},  {"u16", 2, 0}, {"u32", 4, 0}, {"u64", 8, 0},
             {"f32", 4, 1}, {"f64", 8, 1}};

static const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static void write_value(void *out, const struct type *type, double value)
{
    const float single = (float)value;
    const int64_t whole = (int64_t)value;

    if (!type->is_float)
        memcpy(out, &whole, type->size);
    else if (type->size == sizeof single)
        memcpy(out, &single, sizeof single);
    else
        memcpy(out, &value, sizeof value);
}

/* ---- initial contents ---- */

/* The same numbers in each run. */
static double next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1u << 24);
}

/* What a buffer begins with, read from its text. */
typedef struct content {
    double number; /* if it is neither of the following */
    int is_iota, is_random;
    double times, below, plus;
    uint64_t state;
} content;

static content read_content(const char *text, uint64_t seed)
{
    content out = {.times = 1, .state = seed};
    char *at;

    out.is_iota = strncmp(text, "iota", 4) == 0;
    out.is_random = strncmp(text, "rand", 4) == 0;
    if (!out.is_iota && !out.is_random) {
        out.number = strtod(text, NULL);
        return out;
    }
    at = (char *)(uintptr_t)text + 4;
    if (*at == '*')
        out.times = strtod(at + 1, &at);
    if (*at == '%')
        out.below = strtod(at + 1, &at);
    if (*at == '+' || *at == '-')
        out.plus = strtod(at, &at);
    return out;
}

static double next_value(content *c, size_t i)
{
    double value = (double)i * c->times;

    if (c->is_random)
        value = next_random(&c->state) * (c->below > 0 ? c->below : c->times);
    else if (!c->is_iota)
        return c->number;
    if (c->below > 0)
        value = fmod(value, c->below);
    return value + c->plus;
}

/* Returns the content, from malloc, or NULL. */
static void *make_content(const struct type *type, size_t count,
                          const char *text)
{
    content c = read_content(text, count);
    char *bytes = malloc(count * type->size + 1);

    for (size_t i = 0; bytes != NULL && i < count; i++)
        write_value(bytes + i * type->size, type, next_value(&c, i));
    return bytes;
}

/* ---- arguments ---- */

int case_complain(const char *what, const char *text)
{
    (void)fprintf(stderr, "%s: %s\n", text, what);
    return 0;
}

/* Reads what is after the `?` of a buffer's content: a list of values for the
   first elements, or one content for all. */
static int read_expectation(case_argument *out, const struct type *type,
                            char *init)
{
    char *at = strchr(init, '?');

    if (at == NULL)
        return 1;
    *at++ = '\0';
    if (strchr(at, ',') == NULL) {
        out->expected_size = out->size;
        out->expected = make_content(type, out->size / type->size, at);
        return out->expected != NULL;
    }
    out->expected = malloc(out->size + 1);
    while (out->expected != NULL && *at != '\0' &&
           out->expected_size < out->size) {
        write_value((char *)out->expected + out->expected_size, type,
                    strtod(at, &at));
        out->expected_size += type->size;
        at += *at == ',';
    }
    return out->expected != NULL;
}

/* Reads TYPE*COUNT=INIT; the mark is at the star. The type of structs is S, the
   bytes of one, and f or i. */
static int read_buffer(case_argument *out, const char *text, char *star)
{
    char *init = strchr(star, '=');
    const int is_struct = text[0] == 'S';
    const struct type *type;
    size_t each;

    if (init == NULL)
        return case_complain("a buffer lacks its content", text);
    *star = '\0';
    type = find_type(!is_struct ? text : star[-1] == 'i' ? "i32" : "f32");
    if (type == NULL)
        return case_complain("no such type", text);
    each = is_struct ? strtoul(text + 1, NULL, 10) : type->size;
    (void)snprintf(out->type, sizeof out->type, "%s", is_struct ? "u8" : text);
    out->kind = CASE_BUFFER;
    out->size = each * strtoul(star + 1, NULL, 10);
    out->is_float = type->is_float;
    out->item_size = type->size;
    if (!read_expectation(out, type, init + 1))
        return 0;
    out->bytes = make_content(type, out->size / type->size, init + 1);
    return out->bytes != NULL;
}

/* Reads (TYPE,TYPE):VALUE,VALUE, a struct; the mark is at the colon. */
static int read_struct(case_argument *out, char *text, char *colon)
{
    char *value = colon + 1, *rest = NULL, list[sizeof out->type];

    if ((size_t)(colon - text) >= sizeof out->type)
        return case_complain("too long a struct", text);
    (void)snprintf(out->type, sizeof out->type, "%.*s", (int)(colon - text),
                   text);
    (void)snprintf(list, sizeof list, "%s", out->type);
    out->kind = CASE_SCALAR;
    for (char *word = strtok_r(list, "(),", &rest); word != NULL;
         word = strtok_r(NULL, "(),", &rest)) {
        const struct type *type = find_type(word);
        size_t at;

        if (type == NULL)
            return case_complain("no such type", word);
        at = (out->size + type->size - 1) / type->size * type->size;
        if (at + 2 * type->size > sizeof out->scalar)
            return case_complain("too large a struct", text);
        write_value(out->scalar + at, type, strtod(value, &value));
        value += *value == ',';
        out->size = at + type->size;
        if (out->alignment < type->size)
            out->alignment = type->size;
    }
    if (out->alignment == 0)
        return case_complain("a struct without fields", text);
    out->size =
        (out->size + out->alignment - 1) / out->alignment * out->alignment;
    return 1;
}

int case_argument_read(case_argument *out, char *text)
{
    char *star = strchr(text, '*');
    char *colon = strchr(text, ':');
    const struct type *type;

    if (star != NULL && (colon == NULL || star < colon))
        return read_buffer(out, text, star);
    if (colon == NULL)
        return case_complain("no argument", text);
    if (text[0] == '(')
        return read_struct(out, text, colon);
    *colon = '\0';
    if (strcmp(text, "L") == 0) {
        out->kind = CASE_LOCAL;
        out->size = strtoul(colon + 1, NULL, 10);
        return 1;
    }
    type = find_type(text);
    if (type == NULL)
        return case_complain("no such type", text);
    (void)snprintf(out->type, sizeof out->type, "%s", text);
    out->kind = CASE_SCALAR;
    out->size = type->size;
    write_value(out->scalar, type, strtod(colon + 1, NULL));
    return 1;
}
