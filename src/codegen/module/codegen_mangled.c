/* codegen_mangled.c - reads and writes the mangled names of OpenCL's built-in
   functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/codegen_mangled.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Every vector, qualified type and pointer in a name gets a number, in the
 * order in which they end; S_ stands for the first one, S0_ for the second.
 * Both directions keep the same list of them.
 */

#define ATOMIC "U7_Atomic"
#define SEEN_MAX (3 * KILN__MANGLED_PARAMETERS)

typedef struct seen {
    kiln__mangled_type types[SEEN_MAX];
    unsigned count;
} seen;

static int is_same(const kiln__mangled_type *a, const kiln__mangled_type *b)
{
    return strcmp(a->element, b->element) == 0 && a->lanes == b->lanes &&
           a->is_pointer == b->is_pointer && a->space == b->space &&
           strcmp(a->marks, b->marks) == 0;
}

static int note(seen *all, const kiln__mangled_type *type)
{
    if (all->count == SEEN_MAX)
        return 0;
    all->types[all->count++] = *type;
    return 1;
}

/* ---- reading ---- */

typedef struct reading {
    const char *at;
    seen seen;
} reading;

static int take(reading *r, const char *text)
{
    const size_t size = strlen(text);

    if (strncmp(r->at, text, size) != 0)
        return 0;
    r->at += size;
    return 1;
}

static int take_number(reading *r, unsigned *out)
{
    char *end;
    unsigned long value;

    if (!isdigit((unsigned char)*r->at))
        return 0;
    value = strtoul(r->at, &end, 10);
    r->at = end;
    *out = (unsigned)value;
    return value <= 1000;
}

/* Takes a name with its length before it, and stores it with both. */
static int take_source_name(reading *r, char *out, size_t capacity)
{
    const char *start = r->at;
    unsigned size;

    if (!take_number(r, &size) || strlen(r->at) < size)
        return 0;
    r->at += size;
    if ((size_t)(r->at - start) >= capacity)
        return 0;
    memcpy(out, start, (size_t)(r->at - start));
    out[r->at - start] = '\0';
    return 1;
}

static int take_element(reading *r, kiln__mangled_type *out)
{
    if (isdigit((unsigned char)*r->at))
        return take_source_name(r, out->element, sizeof out->element) &&
               note(&r->seen, out);
    if (take(r, "Dh")) {
        memcpy(out->element, "Dh", 3);
        return 1;
    }
    if (*r->at == '\0' || strchr("abcdfhijlmstvxy", *r->at) == NULL)
        return 0;
    out->element[0] = *r->at++;
    out->element[1] = '\0';
    return 1;
}

/* Takes S_ and the like. */
static int take_known(reading *r, kiln__mangled_type *out)
{
    unsigned index = 0;

    if (*r->at != '_') {
        if (!take_number(r, &index))
            return 0;
        index++;
    }
    if (!take(r, "_") || index >= r->seen.count)
        return 0;
    *out = r->seen.types[index];
    return 1;
}

/* Takes an atomic number, which is a type of its own. */
static int take_atomic(reading *r, kiln__mangled_type *out)
{
    kiln__mangled_type number = {.lanes = 0};

    if (!take_element(r, &number))
        return 0;
    return (size_t)snprintf(out->element, sizeof out->element, ATOMIC "%s",
                            number.element) < sizeof out->element &&
           note(&r->seen, out);
}

static int take_plain(reading *r, kiln__mangled_type *out)
{
    *out = (kiln__mangled_type){.lanes = 0};
    if (take(r, "S"))
        return take_known(r, out);
    if (take(r, ATOMIC))
        return take_atomic(r, out);
    if (!take(r, "Dv"))
        return take_element(r, out);
    return take_number(r, &out->lanes) && take(r, "_") &&
           take_element(r, out) && note(&r->seen, out);
}

static int add_mark(kiln__mangled_type *type, const char *mark, size_t size)
{
    const size_t used = strlen(type->marks);

    if (used + size >= sizeof type->marks)
        return 0;
    memcpy(type->marks + used, mark, size);
    type->marks[used + size] = '\0';
    return 1;
}

/* Takes a qualifier of a pointer's target, if there is one. */
static int take_mark(reading *r, kiln__mangled_type *marks, int *is_one)
{
    const char *start = r->at;

    *is_one = 1;
    if (take(r, "U3AS"))
        return take_number(r, &marks->space) &&
               marks->space <= KILN__MANGLED_SPACES;
    if (take(r, "r") || take(r, "V") || take(r, "K"))
        return add_mark(marks, start, 1);
    *is_one = 0;
    return 1;
}

static int take_pointer(reading *r, kiln__mangled_type *out)
{
    kiln__mangled_type marks = {.lanes = 0};
    int is_one, count = 0;

    do {
        if (!take_mark(r, &marks, &is_one))
            return 0;
        count += is_one;
    } while (is_one);
    if (!take_plain(r, out) || out->is_pointer)
        return 0;
    if (count > 0) {
        out->space = marks.space;
        memcpy(out->marks, marks.marks, sizeof marks.marks);
        if (!note(&r->seen, out))
            return 0;
    }
    out->is_pointer = 1;
    return note(&r->seen, out);
}

static int take_parameters(reading *r, kiln__mangled_name *out)
{
    if (strcmp(r->at, "v") == 0)
        return 1;
    while (*r->at != '\0') {
        kiln__mangled_type *type = &out->parameters[out->count];

        if (out->count == KILN__MANGLED_PARAMETERS ||
            !(take(r, "P") ? take_pointer(r, type) : take_plain(r, type)))
            return 0;
        out->count++;
    }
    return out->count > 0;
}

int kiln__mangled_read(kiln__mangled_name *out, const char *symbol)
{
    reading r = {.at = symbol};
    unsigned size;

    *out = (kiln__mangled_name){.count = 0};
    if (!take(&r, "_Z") || !take_number(&r, &size) || size == 0 ||
        size >= sizeof out->base || strlen(r.at) < size)
        return 0;
    memcpy(out->base, r.at, size);
    r.at += size;
    return take_parameters(&r, out);
}

/* ---- writing ---- */

typedef struct writing {
    char *text;
    size_t size;
    size_t capacity;
    int failed;
    seen seen;
} writing;

static void put(writing *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(writing *w, const char *format, ...)
{
    va_list list;
    int size;

    va_start(list, format);
    size = vsnprintf(w->text + w->size, w->capacity - w->size, format, list);
    va_end(list);
    if (size < 0 || (size_t)size >= w->capacity - w->size)
        w->failed = 1;
    else
        w->size += (size_t)size;
}

/* Puts S_ and the like if the type was there before. */
static int put_known(writing *w, const kiln__mangled_type *type)
{
    for (unsigned i = 0; i < w->seen.count; i++)
        if (is_same(&w->seen.types[i], type)) {
            if (i == 0)
                put(w, "S_");
            else
                put(w, "S%u_", i - 1);
            return 1;
        }
    return 0;
}

static void put_plain(writing *w, const kiln__mangled_type *given)
{
    kiln__mangled_type type = *given;

    type.is_pointer = 0;
    type.space = 0;
    type.marks[0] = '\0';
    if (put_known(w, &type))
        return;
    if (type.lanes > 0)
        put(w, "Dv%u_", type.lanes);
    put(w, "%s", type.element);
    if (type.lanes > 0 || strlen(type.element) > 2)
        w->failed |= !note(&w->seen, &type);
}

static void put_type(writing *w, const kiln__mangled_type *type)
{
    kiln__mangled_type target = *type;

    if (!type->is_pointer) {
        put_plain(w, type);
        return;
    }
    if (put_known(w, type))
        return;
    put(w, "P");
    target.is_pointer = 0;
    if (type->space == 0 && type->marks[0] == '\0') {
        put_plain(w, type);
    } else if (!put_known(w, &target)) {
        if (type->space != 0)
            put(w, "U3AS%u", type->space);
        put(w, "%s", type->marks);
        put_plain(w, type);
        w->failed |= !note(&w->seen, &target);
    }
    w->failed |= !note(&w->seen, type);
}

int kiln__mangled_write(char *out, size_t capacity,
                        const kiln__mangled_name *name,
                        const unsigned char spaces[KILN__MANGLED_SPACES])
{
    writing w = {.text = out, .capacity = capacity};

    put(&w, "_Z%zu%s", strlen(name->base), name->base);
    for (unsigned i = 0; i < name->count; i++) {
        kiln__mangled_type type = name->parameters[i];

        if (type.is_pointer && type.space < KILN__MANGLED_SPACES)
            type.space = spaces[type.space];
        put_type(&w, &type);
    }
    if (name->count == 0)
        put(&w, "v");
    return !w.failed;
}

/* ---- for people ---- */

static const char *word_of(const char *element)
{
    static const struct {
        const char *element;
        const char *word;
    } words[] = {
        {"a", "char"},  {"b", "bool"},  {"c", "char"},  {"d", "double"},
        {"f", "float"}, {"h", "uchar"}, {"i", "int"},   {"j", "uint"},
        {"l", "long"},  {"m", "ulong"}, {"s", "short"}, {"t", "ushort"},
        {"v", "void"},  {"x", "long"},  {"y", "ulong"}, {"Dh", "half"},
    };

    if (strncmp(element, ATOMIC, sizeof ATOMIC - 1) == 0)
        element += sizeof ATOMIC - 1;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].element, element) == 0)
            return words[i].word;
    while (isdigit((unsigned char)*element))
        element++;
    return element;
}

static void show_type(writing *w, const kiln__mangled_type *type)
{
    static const char *const spaces[] = {"private ", "global ", "constant ",
                                         "local ",   "",        "private "};

    if (type->is_pointer)
        put(w, "%s", spaces[type->space]);
    if (strchr(type->marks, 'K') != NULL)
        put(w, "const ");
    if (strchr(type->marks, 'V') != NULL)
        put(w, "volatile ");
    put(w, "%s", word_of(type->element));
    if (type->lanes > 0)
        put(w, "%u", type->lanes);
    if (type->is_pointer)
        put(w, " *");
}

void kiln__mangled_show(char *out, size_t capacity,
                        const kiln__mangled_name *name)
{
    writing w = {.text = out, .capacity = capacity};

    put(&w, "%s(", name->base);
    for (unsigned i = 0; i < name->count; i++) {
        if (i > 0)
            put(&w, ", ");
        show_type(&w, &name->parameters[i]);
    }
    put(&w, ")");
}
