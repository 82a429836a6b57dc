/* generator.c - random numbers, types and names; the program as a whole. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "generator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "abi/scalars.h"

/* ---- numbers ---- */

uint64_t random_next(generator *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int random_below(generator *g, int n)
{
    return (int)(random_next(g) >> 33) % n;
}

int random_chance(generator *g, int percent)
{
    return random_below(g, 100) < percent;
}

/* ---- text ---- */

void put(generator *g, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    kiln__text_add(&g->out->source, text);
}

void put_line(generator *g)
{
    put(g, "\n%*s", 4 * g->indent, "");
}

/* ---- types ---- */

const char *kind_name(int32_t kind)
{
    return kiln__kind_name(kind);
}

int kind_bits(int32_t kind)
{
    return (int)kiln__kind_width(kind);
}

int kind_is_signed(int32_t kind)
{
    return kiln__kind_is_signed(kind);
}

int kind_is_integer(int32_t kind)
{
    return kiln__kind_is_integer(kind);
}

int kind_is_float(int32_t kind)
{
    return kiln__kind_is_float(kind);
}

int32_t random_integer(generator *g)
{
    if (random_chance(g, 40))
        return random_chance(g, 70) ? KILN_TYPE_I64 : KILN_TYPE_I32;
    return KILN_TYPE_I8 + random_below(g, 8);
}

int32_t random_float(generator *g)
{
    const int n = random_below(g, 10);

    if (n < 2)
        return n == 0 ? KILN_TYPE_F16 : KILN_TYPE_BF16;
    return n < 6 ? KILN_TYPE_F32 : KILN_TYPE_F64;
}

int32_t random_scalar(generator *g)
{
    const int n = random_below(g, 10);

    return n == 0  ? KILN_TYPE_BOOL
           : n < 6 ? random_integer(g)
                   : random_float(g);
}

random_type scalar_type(int32_t kind)
{
    return (random_type){.kind = kind};
}

random_type random_any_type(generator *g)
{
    random_type type = {.kind = random_scalar(g)};
    const int n = random_below(g, 20);

    if (n > 4)
        return type;
    type.parts[0] = n < 2 ? random_scalar(g) : random_integer(g);
    type.parts[1] = random_scalar(g);
    type.kind = n < 2    ? KILN_TYPE_TUPLE
                : n == 2 ? KILN_TYPE_VECTOR
                         : KILN_TYPE_STRUCT;
    if (n == 2) {
        type.parts[0] =
            random_chance(g, 50) ? random_float(g) : random_integer(g);
        type.length = 2 + random_below(g, 3);
    }
    type.is_q = n == 4;
    return type;
}

int same_type(const random_type *a, const random_type *b)
{
    if (a->kind != b->kind)
        return 0;
    switch (a->kind) {
    case KILN_TYPE_TUPLE:
        return a->parts[0] == b->parts[0] && a->parts[1] == b->parts[1];
    case KILN_TYPE_VECTOR:
        return a->parts[0] == b->parts[0] && a->length == b->length;
    case KILN_TYPE_STRUCT:
        return a->is_q == b->is_q && (!a->is_q || a->parts[0] == b->parts[0]);
    default:
        return 1;
    }
}

void put_type(generator *g, const random_type *type)
{
    switch (type->kind) {
    case KILN_TYPE_TUPLE:
        put(g, "(%s, %s)", kind_name(type->parts[0]),
            kind_name(type->parts[1]));
        break;
    case KILN_TYPE_VECTOR:
        put(g, "Vec{%s,%d}", kind_name(type->parts[0]), type->length);
        break;
    case KILN_TYPE_STRUCT:
        if (type->is_q)
            put(g, "Q{%s}", kind_name(type->parts[0]));
        else
            put(g, "P");
        break;
    default:
        put(g, "%s", kind_name(type->kind));
        break;
    }
}

random_variable *new_variable(generator *g, const char *prefix,
                              random_type type)
{
    /* A variable beyond the table is never referred to again. */
    random_variable *v = &g->variables[g->variable_count < VARIABLES_MAX - 1
                                           ? g->variable_count++
                                           : VARIABLES_MAX - 1];

    *v = (random_variable){.type = type};
    snprintf(v->name, sizeof v->name, "%s%d", prefix, g->names++);
    return v;
}

/* ---- functions ---- */

static void add_parameter(generator *g, const char *name, int32_t kind)
{
    random_variable *v = &g->variables[g->variable_count++];

    *v = (random_variable){.type = scalar_type(kind)};
    snprintf(v->name, sizeof v->name, "%s", name);
}

static random_function *begin_function(generator *g, const char *prefix)
{
    random_function *f = &g->functions[g->function_count];

    f->parameters[0] = random_scalar(g);
    f->parameters[1] = random_scalar(g);
    f->result = random_scalar(g);
    f->is_collective = 0;
    snprintf(f->name, sizeof f->name, "%s%d", prefix, g->names++);
    g->variable_count = 0;
    add_parameter(g, "a", f->parameters[0]);
    add_parameter(g, "b", f->parameters[1]);
    g->indent = 1;
    g->iterations = 1;
    return f;
}

static void end_function(generator *g, int32_t result)
{
    put_line(g);
    put(g, "return ");
    g->budget = 12;
    put_scalar(g, result, 2);
    put(g, "\nend\n\n");
    g->indent = 0;
    g->function_count++;
}

static void put_function(generator *g)
{
    const random_function *f = begin_function(g, "h");

    put(g, "fn %s(a: %s, b: %s)", f->name, kind_name(f->parameters[0]),
        kind_name(f->parameters[1]));
    if (random_chance(g, 30))
        put(g, " -> %s", kind_name(f->result));
    put_statements(g, 1 + random_below(g, 3), 1);
    end_function(g, f->result);
}

/* Writes methods of one name, distinguished by their first parameter. */
static void put_methods(generator *g)
{
    const int32_t first = random_scalar(g);
    char name[16];

    snprintf(name, sizeof name, "g%d", g->names++);
    for (int i = 0; i < 2; i++) {
        random_function *f = begin_function(g, "g");

        snprintf(f->name, sizeof f->name, "%s", name);
        f->parameters[0] = i == 0 ? first : first % 12 + 1;
        g->variables[0].type.kind = f->parameters[0];
        put(g, "fn %s(a: %s, b: %s)", f->name, kind_name(f->parameters[0]),
            kind_name(f->parameters[1]));
        put_statements(g, 1, 1);
        end_function(g, f->result);
    }
}

/* Writes a function that calls itself as often as its first argument says,
   limited to 0 to 7. */
static void put_recursion(generator *g)
{
    random_function *f = begin_function(g, "r");

    f->parameters[0] = KILN_TYPE_I64;
    f->result = f->parameters[1];
    g->variables[0].type.kind = KILN_TYPE_I64;
    g->variables[0].is_fixed = 1; /* counts down, so it must not be assigned */
    put(g,
        "fn %s(k: i64, b: %s) -> %s\n    if (k & 7) == 0\n        return b\n"
        "    end\n    a = k & 7",
        f->name, kind_name(f->result), kind_name(f->result));
    put_statements(g, 1, 1);
    put_line(g);
    put(g, "return %s(a - 1, ", f->name);
    g->budget = 8;
    put_scalar(g, f->result, 2);
    put(g, ")\nend\n\n");
    g->indent = 0;
    g->function_count++;
}

/* Writes a function that all items of a group call together. */
static void put_collective_function(generator *g)
{
    random_function *f = begin_function(g, "c");

    f->is_collective = 1;
    put(g, "fn %s(a: %s, b: %s)", f->name, kind_name(f->parameters[0]),
        kind_name(f->parameters[1]));
    g->control = CONTROL_GROUP;
    put_statements(g, 1 + random_below(g, 2), 1);
    put_line(g);
    put(g, "x = ");
    if (!put_together(g, f->result, 1))
        put_literal(g, f->result);
    snprintf(new_variable(g, "x", scalar_type(f->result))->name, 16, "x");
    end_function(g, f->result);
    g->control = CONTROL_NOT;
}

static void put_functions(generator *g)
{
    const int count = random_below(g, 4);

    g->control = CONTROL_NOT;
    for (int i = 0; i < count; i++)
        switch (random_below(g, 4)) {
        case 0:
            put_methods(g);
            break;
        case 1:
            put_recursion(g);
            break;
        default:
            put_function(g);
            break;
        }
    if (g->out->is_collective && random_chance(g, 60))
        put_collective_function(g);
}

/* ---- the kernel ---- */

static void choose_types(generator *g)
{
    generated *out = g->out;

    for (int i = 0; i < GENERATED_OUTPUTS; i++) {
        const int is_struct = i == 3 && random_chance(g, 50);

        g->output_kinds[i] = is_struct ? KILN_TYPE_STRUCT
                             : i == 1 && random_chance(g, 20)
                                 ? g->output_kinds[0]
                                 : random_scalar(g);
        snprintf(out->output_types[i], sizeof out->output_types[i],
                 i == 2 ? "%s[strided :]" : "%s[:]",
                 is_struct ? "P" : kind_name(g->output_kinds[i]));
    }
    for (int i = 0; i < GENERATED_ARRAYS; i++) {
        static const char *const shapes[] = {":", ":", ":,:", ":,:,:"};
        const uint32_t rank = i == 0 ? 1 : 1 + (uint32_t)random_below(g, 3);

        g->array_kinds[i] = random_scalar(g);
        g->array_ranks[i] = rank;
        snprintf(out->array_types[i], sizeof out->array_types[i], "%s[%s%s]",
                 kind_name(g->array_kinds[i]), i % 3 == 2 ? "strided " : "",
                 shapes[rank]);
    }
}

static void put_parameters(generator *g)
{
    static const struct {
        const char *name;
        int32_t kind;
    } scalars[] = {{"n", KILN_TYPE_I64}, {"s", KILN_TYPE_I32},
                   {"u", KILN_TYPE_U16}, {"x", KILN_TYPE_F32},
                   {"y", KILN_TYPE_F64}, {"q", KILN_TYPE_BOOL}};
    random_type pair = {.kind = KILN_TYPE_TUPLE,
                        .parts = {KILN_TYPE_I32, KILN_TYPE_F64}};

    put(g, "kernel k(");
    for (int i = 0; i < GENERATED_OUTPUTS; i++)
        put(g, "o%d: %s, ", i, g->out->output_types[i]);
    put(g, "near: f64[:], sums: i64[:]");
    for (int i = 0; i < GENERATED_ARRAYS; i++)
        put(g, ",\n         a%d: %s", i, g->out->array_types[i]);
    g->variable_count = 0;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        put(g, ", %s: %s", scalars[i].name, kind_name(scalars[i].kind));
        add_parameter(g, scalars[i].name, scalars[i].kind);
        g->variables[i].is_uniform = g->variables[i].is_fixed = 1;
    }
    put(g, ", t: (i32, f64))");
    add_parameter(g, "t", KILN_TYPE_TUPLE);
    g->variables[6].type = pair;
    g->variables[6].is_uniform = g->variables[6].is_fixed = 1;
}

/* i is the number of the item; l is its number in its group of m items. */
static void put_ids(generator *g)
{
    static const char *const ids[] = {
        "", "i = global_id(0)",
        "i = global_id(0) + global_size(0) * global_id(1)",
        "i = global_id(0) + global_size(0) * (global_id(1) + "
        "global_size(1) * global_id(2))"};

    put_line(g);
    put(g, "%s", ids[g->out->grid_rank]);
    if (!g->out->is_collective) {
        add_parameter(g, "i", KILN_TYPE_I64);
        return;
    }
    for (int d = 0; d < 3; d++) {
        put_line(g);
        put(g,
            "m%d = min(local_size(%d), global_size(%d) - group_id(%d) * "
            "local_size(%d))",
            d, d, d, d, d);
    }
    put_line(g);
    put(g, "l = local_id(0) + m0 * (local_id(1) + m1 * local_id(2))");
    put_line(g);
    put(g, "m = m0 * m1 * m2");
    add_parameter(g, "i", KILN_TYPE_I64);
    add_parameter(g, "l", KILN_TYPE_I64);
    add_parameter(g, "m", KILN_TYPE_I64);
    g->variables[g->variable_count - 1].is_uniform = 1;
    for (size_t i = 7; i < g->variable_count; i++)
        g->variables[i].is_fixed = 1;
}

static void put_local_arrays(generator *g)
{
    for (g->shared = 0; g->shared < 2; g->shared++) {
        put_line(g);
        put(g, "local t%d = %s[256]", g->shared,
            g->shared == 0 ? "i64" : "f32");
    }
}

/* The end of the kernel: every output gets a value. */
static void put_results(generator *g)
{
    for (int i = 0; i < GENERATED_OUTPUTS; i++) {
        random_type type = {.kind = g->output_kinds[i]};

        put_line(g);
        put(g, "o%d[i] = ", i);
        g->budget = 14;
        put_expression(g, &type, 2);
    }
    put_line(g);
    put(g, "near[i] = %s(f64(",
        (const char *const[]){"sin", "cos", "exp", "atan", "tanh", "erf",
                              "cbrt", "log1p"}[random_below(g, 8)]);
    g->budget = 4;
    put_scalar(g, random_chance(g, 50) ? KILN_TYPE_I8 : KILN_TYPE_U8, 1);
    put(g, ") * 0.125)");
}

static void put_kernel(generator *g)
{
    const int guards = !g->out->is_collective && random_chance(g, 50);

    put_parameters(g);
    g->indent = 1;
    g->in_kernel = 1;
    g->iterations = 1;
    g->control = g->out->is_collective ? CONTROL_GROUP : CONTROL_NOT;
    put_ids(g);
    if (g->out->is_collective)
        put_local_arrays(g);
    if (guards) {
        put_line(g);
        put(g, "if i >= length(o0)\n        return\n    end");
    }
    for (size_t i = 7; i < g->variable_count; i++)
        g->variables[i].is_fixed = 1;
    g->is_body = 1;
    for (int i = 0; i < 2 && g->out->has_edges; i++) {
        put_line(g);
        put_edge(g);
    }
    put_statements(g, 3 + random_below(g, 8), 3);
    put_results(g);
    put(g, "\nend\n");
}

void generate(generated *out, uint64_t seed)
{
    generator g = {.out = out, .state = seed * 0x2545f4914f6cdd1du + 1};

    memset(out, 0, sizeof *out);
    kiln__text_init(&out->source, &kiln__malloc);
    out->is_collective = random_chance(&g, 45);
    out->may_fail = random_chance(&g, 20);
    out->has_edges = !out->may_fail && random_chance(&g, 35);
    out->grid_rank =
        random_chance(&g, 60) ? 1 : 2 + (uint32_t)random_below(&g, 2);
    g.atomic = random_below(&g, 6);
    choose_types(&g);
    put(&g, "struct P\n    p: i32\n    q: f64\n    r: u8\nend\n\n"
            "struct Q{T: Real}\n    re: T\n    im: T\nend\n\n"
            "fn into(i: i64, n: i64) = ((i %% n) + n) %% n\n"
            "fn plain(x) = isnan(x) ? one(x) : x\n\n");
    put_functions(&g);
    put_kernel(&g);
}
