/* expressions.c - expressions of random programs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "program.h"

void edit_put(edit_writer *w, const char *format, ...)
{
    va_list arguments;
    int size;

    if (w->used >= w->size)
        return;
    va_start(arguments, format);
    size = vsnprintf(w->out + w->used, w->size - w->used, format, arguments);
    va_end(arguments);
    w->used += size > 0 ? (size_t)size : 0;
}

static int below(edit_writer *w, int n)
{
    return edit_below(w->random, n);
}

static const edit_item *find_struct(const edit_writer *w, int index)
{
    for (int i = 0; i < w->program->count; i++)
        if (w->program->items[i].kind == ITEM_STRUCT &&
            w->program->items[i].index == index)
            return &w->program->items[i];
    return NULL;
}

/* A struct that the package may name; -1: none. */
static int choose_struct(edit_writer *w)
{
    for (int tries = 0; tries < 8; tries++) {
        const int index = below(w, STRUCTS);
        const edit_item *item = find_struct(w, index);

        if (item != NULL && edit_sees(w->package, item->package))
            return index;
    }
    return -1;
}

static int may_name(const edit_writer *w, int kind, const char *name)
{
    for (int i = 0; i < w->program->count; i++)
        if (w->program->items[i].kind == kind &&
            strcmp(w->program->items[i].name, name) == 0 &&
            edit_sees(w->package, w->program->items[i].package))
            return 1;
    return 0;
}

/* ---- numbers ---- */

static void literal(edit_writer *w)
{
    edit_put(w, "%d.%d", below(w, 9), below(w, 2) ? 5 : 25);
}

static void constant(edit_writer *w)
{
    char name[8];

    (void)snprintf(name, sizeof name, "K%d", below(w, CONSTS));
    if (may_name(w, ITEM_CONST, name))
        edit_put(w, "f64(%s)", name);
    else
        literal(w);
}

static int is_number(const edit_item *item, int index)
{
    const char *type = item->fields[index].type;

    return strcmp(type, "f64") == 0 || strcmp(type, "f32") == 0 ||
           strcmp(type, "i64") == 0 ||
           (strcmp(type, "T") == 0 && item->bound[0] != 'A');
}

/* A struct's field that is a number, or has one. */
static void field(edit_writer *w, int depth)
{
    const int index = choose_struct(w);
    const edit_item *item = index < 0 ? NULL : find_struct(w, index), *inner;
    const edit_field *f;

    if (item == NULL || item->field_count == 0) {
        literal(w);
        return;
    }
    f = &item->fields[below(w, item->field_count)];
    inner = f->type[0] == 'S' ? find_struct(w, f->type[1] - '0') : NULL;
    if (f->type[0] == 'V') {
        edit_put(w, "f64(length(");
        edit_struct(w, index, depth - 1);
        edit_put(w, ".%s))", f->name);
    } else if (is_number(item, (int)(f - item->fields))) {
        edit_put(w, "f64(");
        edit_struct(w, index, depth - 1);
        edit_put(w, ".%s)", f->name);
    } else if (inner != NULL && inner->field_count > 0 && is_number(inner, 0)) {
        edit_put(w, "f64(");
        edit_struct(w, index, depth - 1);
        edit_put(w, ".%s.%s)", f->name, inner->fields[0].name);
    } else {
        literal(w);
    }
}

static void binary(edit_writer *w, int depth)
{
    static const char *const operators[] = {"+", "-", "*", "/", "%"};

    edit_put(w, "(");
    edit_number(w, depth - 1);
    edit_put(w, " %s ", operators[below(w, 5)]);
    edit_number(w, depth - 1);
    edit_put(w, ")");
}

static void choice(edit_writer *w, int depth)
{
    static const char *const operators[] = {"<", ">=", "==", "!=", ">", "<="};
    const int negates = below(w, 4) == 0;

    edit_put(w, negates ? "(!(" : "((");
    edit_number(w, depth - 1);
    edit_put(w, " %s ", operators[below(w, 6)]);
    edit_number(w, 0);
    edit_put(w, ") ? ");
    edit_number(w, depth - 1);
    edit_put(w, " : ");
    edit_number(w, 0);
    edit_put(w, ")");
}

/* A call of one argument or two. */
static void call(edit_writer *w, int depth)
{
    static const char *const one[] = {"sqrt(abs(", "down(2, ", "call(same, ",
                                      "same(",     "up(3, ",   "over(2, "};
    static const char *const twice[] = {"both(+, ", "both(max, ", "both(*, ",
                                        "both(hypot, "};
    static const char *const two[] = {"max(", "min(", "hypot(", "copysign("};
    static const char *const numbers[][2] = {
        {"", "("}, {"", "("}, {"call(", ", "}, {"call(pair(", ")[0], "}};
    const int form = below(w, 4), single = below(w, 6);
    const int direct = below(w, 4);

    if (w->below > 0 && below(w, 2)) {
        edit_put(w, "%sf%d%s", numbers[direct][0], below(w, w->below),
                 numbers[direct][1]);
        edit_number(w, depth - 1);
        edit_put(w, ")");
    } else if (below(w, 2)) {
        edit_put(w, "%s", one[single]);
        edit_number(w, depth - 1);
        edit_put(w, single == 0 ? "))" : ")");
    } else {
        edit_put(w, "%s", below(w, 4) ? two[form] : twice[form]);
        edit_number(w, depth - 1);
        edit_put(w, ", ");
        edit_number(w, 0);
        edit_put(w, ")");
    }
}

static void dispatched(edit_writer *w, int depth)
{
    if (below(w, 2)) {
        edit_put(w, "kind(");
        edit_value(w, depth - 1);
    } else {
        edit_put(w, "pick(");
        edit_value(w, depth - 1);
        edit_put(w, ", ");
        edit_value(w, 0);
    }
    edit_put(w, ")");
}

static void part(edit_writer *w, int depth)
{
    static const char *const forms[][2] = {{"pair(", ")[0]"},
                                           {"(1.5, ", ")[1]"},
                                           {"(-", ")"},
                                           {"", " ** 2"},
                                           {"f64(f32(", "))"}};
    const int form = below(w, 5);

    edit_put(w, "%s", forms[form][0]);
    edit_number(w, form == 3 ? 0 : depth - 1);
    edit_put(w, "%s", forms[form][1]);
}

/* Of core's there are some in some programs. */
static void core_call(edit_writer *w, int depth)
{
    if (!may_name(w, ITEM_FUNCTION, "c0")) {
        edit_put(w, "sign_of(");
    } else if (below(w, 3) == 0) {
        edit_put(w, "f64(C0)");
        return;
    } else {
        edit_put(w, below(w, 2) ? "c0(" : "c1(");
    }
    edit_number(w, depth - 1);
    edit_put(w, ")");
}

static void vector(edit_writer *w)
{
    if (may_name(w, ITEM_CONST, "K0"))
        edit_put(w, below(w, 2) ? "f64(length(Vec{f64, K0}(2.5)))"
                                : "steps(static(K0))");
    else
        literal(w);
}

void edit_number(edit_writer *w, int depth)
{
    const int kind = below(w, depth <= 0 ? 3 : 15);

    if (kind == 0)
        literal(w);
    else if (kind == 1)
        constant(w);
    else if (kind == 2)
        edit_put(w, "%s", w->number == NULL ? "1.75" : w->number);
    else if (kind < 6)
        field(w, depth);
    else if (kind < 8)
        binary(w, depth);
    else if (kind < 9)
        choice(w, depth);
    else if (kind < 11)
        call(w, depth);
    else if (kind < 12)
        dispatched(w, depth);
    else if (kind < 13)
        part(w, depth);
    else if (kind < 14)
        core_call(w, depth);
    else
        vector(w);
}

/* ---- structs ---- */

static int has_sum(const edit_writer *w, int index)
{
    char takes[20];

    (void)snprintf(takes, sizeof takes, "a: S%d, b: S%d", index, index);
    for (int i = 0; i < w->program->count; i++)
        if (strcmp(w->program->items[i].name, "+") == 0 &&
            strcmp(w->program->items[i].takes, takes) == 0 &&
            edit_sees(w->package, w->program->items[i].package))
            return 1;
    return 0;
}

void edit_struct(edit_writer *w, int index, int depth)
{
    char name[8];

    (void)snprintf(name, sizeof name, "m%d", index);
    if (w->argument == index && below(w, 2)) {
        edit_put(w, "s");
        return;
    }
    switch (below(w, depth <= 0 ? 2 : 8)) {
    case 0:
        edit_put(w, "$%d:%d;", index, below(w, 9));
        return;
    case 2:
        edit_put(w, "same(");
        edit_struct(w, index, depth - 1);
        edit_put(w, ")");
        return;
    case 3:
        edit_put(w, "pair(");
        edit_struct(w, index, depth - 1);
        edit_put(w, ")[0]");
        return;
    case 4:
        edit_put(w, "run(%s)", may_name(w, ITEM_FUNCTION, name) ? name : "m0");
        return;
    case 5:
        edit_put(w, "down(1, ");
        edit_struct(w, index, depth - 1);
        edit_put(w, ")");
        return;
    case 6:
        if (has_sum(w, index)) {
            edit_put(w, "(");
            edit_struct(w, index, depth - 1);
            edit_put(w, " + ");
            edit_struct(w, index, 0);
            edit_put(w, ")");
            return;
        }
        break;
    default:
        break;
    }
    if (may_name(w, ITEM_FUNCTION, name))
        edit_put(w, "%s()", name);
    else
        edit_put(w, "$%d:%d;", index, below(w, 9));
}

void edit_value(edit_writer *w, int depth)
{
    const int index = below(w, 3) ? choose_struct(w) : -1;

    if (index >= 0) {
        edit_struct(w, index, depth);
        return;
    }
    switch (below(w, 8)) {
    case 0:
        edit_put(w, "%d", below(w, 5));
        break;
    case 3:
        edit_put(w, "static(3)");
        break;
    case 4:
        edit_put(w, "f64");
        break;
    case 5:
        edit_put(w, "Vec(1.5, 2.5)");
        break;
    case 6:
        edit_put(w, "typeof(");
        edit_value(w, 0);
        edit_put(w, ")");
        break;
    case 1:
        edit_put(w, "(1, 2.5)");
        break;
    case 2:
        edit_put(w, "sqrt");
        break;
    default:
        edit_number(w, depth);
        break;
    }
}
