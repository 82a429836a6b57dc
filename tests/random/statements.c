/* statements.c - statements of random kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "generator.h"

#include <stdio.h>

#define ITERATIONS_MAX 60

/* ---- variables ---- */

/* Under uniform control, half of the new variables are uniform. */
static void put_declaration(generator *g)
{
    const random_type type = random_any_type(g);
    const int uniform = g->control == CONTROL_GROUP && random_chance(g, 40);
    random_variable *v = new_variable(g, "v", type);

    g->variable_count--;
    put(g, "%s", v->name);
    if (random_chance(g, 30)) {
        put(g, ": ");
        put_type(g, &type);
    }
    put(g, " = ");
    g->is_uniform = uniform;
    put_expression(g, &type, 3);
    g->is_uniform = 0;
    g->variable_count++;
    v->is_uniform = uniform;
}

static random_variable *pick_assignable(generator *g)
{
    for (int tries = 0; tries < 10 && g->variable_count > 0; tries++) {
        random_variable *v =
            &g->variables[random_below(g, (int)g->variable_count)];

        if (!v->is_fixed && (!v->is_uniform || g->control == CONTROL_GROUP))
            return v;
    }
    return NULL;
}

static void put_operator(generator *g, int32_t kind)
{
    static const char *const integer[] = {
        "+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>="};
    static const char *const real[] = {"+=", "-=", "*=", "/="};

    put(g, " %s ",
        kind_is_float(kind) ? real[random_below(g, 4)]
                            : integer[random_below(g, 8)]);
    put_scalar(g, kind, 2);
}

static void put_part_of(generator *g, const random_variable *v)
{
    const random_type *type = &v->type;
    const int part = random_below(g, 2);
    char below[16];

    switch (type->kind) {
    case KILN_TYPE_TUPLE:
        put(g, "%s[%d] = ", v->name, part);
        put_scalar(g, type->parts[part], 2);
        break;
    case KILN_TYPE_VECTOR:
        snprintf(below, sizeof below, "%d", type->length);
        put(g, "%s[", v->name);
        put_index(g, below, 1);
        put(g, "] = ");
        put_scalar(g, type->parts[0], 2);
        break;
    default:
        put(g, "%s.%s = ", v->name,
            type->is_q ? part ? "re" : "im"
            : part     ? "p"
                       : "q");
        put_scalar(g,
                   type->is_q ? type->parts[0]
                   : part     ? KILN_TYPE_I32
                              : KILN_TYPE_F64,
                   2);
        break;
    }
}

static void put_assignment(generator *g)
{
    const random_variable *v = pick_assignable(g);

    if (v == NULL) {
        put_declaration(g);
        return;
    }
    g->is_uniform = v->is_uniform;
    if (kind_bits(v->type.kind) == 0 && random_chance(g, 60)) {
        put_part_of(g, v);
    } else if (kind_bits(v->type.kind) > 1 && random_chance(g, 40)) {
        put(g, "%s", v->name);
        put_operator(g, v->type.kind);
    } else {
        put(g, "%s = ", v->name);
        put_expression(g, &v->type, 3);
    }
    g->is_uniform = 0;
}

static void put_apart(generator *g)
{
    const int32_t first = random_scalar(g), second = random_scalar(g);
    const random_type pair = {.kind = KILN_TYPE_TUPLE,
                              .parts = {first, second}};
    const size_t before = g->variable_count;
    const random_variable *one = new_variable(g, "v", scalar_type(first));
    const random_variable *other = new_variable(g, "v", scalar_type(second));
    const size_t after = g->variable_count;

    put(g, "%s, %s = ", one->name, other->name);
    /* They cannot be read before they are assigned. */
    g->variable_count = before;
    put_expression(g, &pair, 2);
    g->variable_count = after;
}

/* ---- arrays ---- */

static void put_store(generator *g)
{
    const int output = random_below(g, GENERATED_OUTPUTS);
    const random_type type = {.kind = g->output_kinds[output]};

    put(g, "o%d[i]", output);
    if (kind_bits(type.kind) > 1 && random_chance(g, 40)) {
        put_operator(g, type.kind);
        return;
    }
    if (type.kind == KILN_TYPE_STRUCT && random_chance(g, 40)) {
        put(g, ".q = ");
        put_scalar(g, KILN_TYPE_F64, 2);
        return;
    }
    put(g, " = ");
    put_expression(g, &type, 3);
}

/* A program uses one operation, so that the result does not depend on the
   order. */
static void put_atomic(generator *g)
{
    static const char *const names[] = {"add", "min", "max",
                                        "and", "or",  "xor"};

    put(g, "atomic_%s(sums, ", names[g->atomic]);
    put_index(g, "length(sums)", 1);
    put(g, ", ");
    put_scalar(g, KILN_TYPE_I64, 2);
    put(g, ")");
}

/* ---- blocks ---- */

/* Writes statements in a scope of their own, under `control`. */
static void put_block(generator *g, int count, int depth, int control,
                      int is_body)
{
    const size_t variables = g->variable_count;
    const int before = g->control, was_body = g->is_body;

    g->control = control > before ? control : before;
    g->is_body = is_body;
    g->indent++;
    put_statements(g, count, depth - 1);
    g->indent--;
    g->is_body = was_body;
    g->control = before;
    g->variable_count = variables;
}

/* Writes a condition for the items that come here; returns which items go
   on. */
static int put_condition(generator *g)
{
    int control = g->control;

    if (control != CONTROL_NOT && random_chance(g, 35))
        control = CONTROL_NOT;
    if (control == CONTROL_GROUP && g->in_kernel && random_chance(g, 20))
        control = CONTROL_SUB_GROUP;
    g->is_uniform = control == CONTROL_GROUP       ? 1
                    : control == CONTROL_SUB_GROUP ? 2
                                                   : 0;
    g->budget = 8;
    if (control == CONTROL_SUB_GROUP && random_chance(g, 40))
        put(g, "sub_group_id() %% 2 == %d", random_below(g, 2));
    else
        put_scalar(g, KILN_TYPE_BOOL, 2);
    g->is_uniform = 0;
    return control;
}

static void put_if(generator *g, int depth)
{
    int control;

    put(g, "if ");
    control = put_condition(g);
    put_block(g, 1 + random_below(g, 3), depth, control, 0);
    if (random_chance(g, 25)) {
        put_line(g);
        put(g, "elseif ");
        /* Only items for which the first condition was false come here. */
        g->is_uniform = control == CONTROL_GROUP ? 1 : 2;
        if (control == CONTROL_NOT)
            g->is_uniform = 0;
        g->budget = 6;
        g->is_lazy = 1;
        put_scalar(g, KILN_TYPE_BOOL, 2);
        g->is_lazy = 0;
        g->is_uniform = 0;
        put_block(g, 1 + random_below(g, 2), depth, control, 0);
    }
    if (random_chance(g, 50)) {
        put_line(g);
        put(g, "else");
        put_block(g, 1 + random_below(g, 2), depth, control, 0);
    }
    put_line(g);
    put(g, "end");
}

static void put_switch(generator *g, int depth)
{
    static const char *const names[] = {"strict", "checkbounds", "strict"};

    put(g, "%s", names[random_below(g, 3)]);
    put_block(g, 1 + random_below(g, 2), depth, g->control, 0);
    put_line(g);
    put(g, "end");
}

/* ---- loops ---- */

/* Returns which items go through a loop's body together: all, if the bounds are
   uniform and no item leaves early. */
static int loop_control(generator *g, int *can_break)
{
    const int control = g->control == CONTROL_GROUP && random_chance(g, 60)
                            ? CONTROL_GROUP
                            : CONTROL_NOT;

    *can_break = control == CONTROL_NOT ? 2 : 1;
    return control;
}

static void put_body(generator *g, int iterations, int depth, int control,
                     int can_break)
{
    const int before = g->can_break, turns_before = g->iterations;

    g->can_break = can_break;
    g->iterations *= iterations;
    g->loops++;
    put_block(g, 1 + random_below(g, 3), depth, control, 1);
    g->loops--;
    g->iterations = turns_before;
    g->can_break = before;
    put_line(g);
    put(g, "end");
}

static void put_for(generator *g, int depth)
{
    int can_break;
    const int control = loop_control(g, &can_break);
    const int iterations = 1 + random_below(g, 6);
    const int n = random_below(g, 4);
    random_type type = scalar_type(KILN_TYPE_I64);
    char below[16];
    const size_t variables = g->variable_count;
    random_variable *v;

    v = new_variable(g, "k", type);
    g->variable_count--;
    put(g, "for %s in ", v->name);
    g->is_uniform = control == CONTROL_GROUP;
    g->budget = 5;
    g->is_lazy = 1; /* bounds contain nothing collective */
    if (n == 0) {
        put(g, "%d..%d", random_below(g, 5), iterations);
    } else if (n == 1) {
        put(g, "%d..%d by -%d", iterations, -random_below(g, 3),
            1 + random_below(g, 3));
    } else {
        snprintf(below, sizeof below, "%d", iterations);
        put(g, "0..into(");
        put_scalar(g, KILN_TYPE_I64, 1);
        put(g, ", %s)", below);
        if (n == 3)
            put(g, " by %d", 1 + random_below(g, 3));
    }
    g->is_lazy = 0;
    g->is_uniform = 0;
    g->variable_count++;
    v->is_fixed = 1;
    v->is_uniform = control == CONTROL_GROUP;
    put_body(g, iterations + 2, depth, control, can_break);
    g->variable_count = variables;
}

static void put_static_for(generator *g, int depth)
{
    const size_t variables = g->variable_count;
    const int iterations = 1 + random_below(g, 3);

    /* The variable is no i64, but adapts as a literal does. It is not offered
       to expressions, which need typed values. */
    put(g, "for c%d in static(0..%d)", g->names++, iterations);
    put_body(g, iterations, depth, g->control,
             g->control == CONTROL_NOT ? 2 : 1);
    g->variable_count = variables;
}

static void put_while(generator *g, int depth)
{
    int can_break;
    const int control = loop_control(g, &can_break);
    const int iterations = 1 + random_below(g, 5);
    const random_type type = scalar_type(KILN_TYPE_I64);
    const size_t variables = g->variable_count;
    random_variable *v = new_variable(g, "w", type);

    v->is_fixed = 1;
    v->is_uniform = control == CONTROL_GROUP;
    put(g, "%s = 0", v->name);
    put_line(g);
    put(g, "while %s < %d && ", v->name, iterations);
    g->is_uniform = control == CONTROL_GROUP;
    g->budget = 6;
    g->is_lazy = control != CONTROL_GROUP;
    put_scalar(g, KILN_TYPE_BOOL, 2);
    g->is_lazy = 0;
    g->is_uniform = 0;
    g->indent++;
    put_line(g);
    put(g, "%s += 1", v->name);
    g->indent--;
    put_body(g, iterations, depth, control, can_break);
    g->variable_count = variables;
}

static void put_exit(generator *g, const char *word, int uniform)
{
    put(g, "if ");
    g->is_uniform = uniform;
    g->is_lazy = 1;
    put_scalar(g, KILN_TYPE_BOOL, 2);
    g->is_lazy = 0;
    g->is_uniform = 0;
    put_line(g);
    put(g, "    %s", word);
    put_line(g);
    put(g, "end");
}

static void put_leave(generator *g)
{
    put_exit(g, random_chance(g, 50) ? "break" : "continue", g->can_break == 1);
}

/* Lets some items go on to the next iteration, or end. Those that are left do
   nothing collective in this block. */
static int put_parting(generator *g)
{
    if (!g->is_body || g->control != CONTROL_GROUP || !g->in_kernel)
        return 0;
    put_exit(g, g->loops > 0 ? "continue" : "return", 0);
    g->control = CONTROL_NOT;
    return 1;
}

/* ---- any statement ---- */

static void put_compound(generator *g, int depth)
{
    switch (random_below(g, 6)) {
    case 0:
        put_for(g, depth);
        break;
    case 1:
        put_while(g, depth);
        break;
    case 2:
        put_static_for(g, depth);
        break;
    case 3:
        put_switch(g, depth);
        break;
    default:
        put_if(g, depth);
        break;
    }
}

static void put_simple(generator *g)
{
    switch (random_below(g, 10)) {
    case 0:
    case 1:
    case 2:
        put_declaration(g);
        break;
    case 3:
        put_apart(g);
        break;
    case 4:
    case 5:
        if (g->in_kernel) {
            put_store(g);
            break;
        } /* fall through */
    default:
        put_assignment(g);
        break;
    }
}

static int put_rare(generator *g)
{
    /* Under uniform control no break depends on a condition that differs. */
    const int breaks =
        g->loops > 0 && (g->can_break == 2 || g->control == CONTROL_GROUP);

    switch (random_below(g, 12)) {
    case 0:
        if (!g->in_kernel)
            return 0;
        put_atomic(g);
        return 1;
    case 1:
        if (!g->in_kernel)
            return 0;
        put_pattern(g);
        return 1;
    case 2:
        if (!breaks)
            return 0;
        put_leave(g);
        return 1;
    case 3:
        return put_parting(g);
    case 4:
        if (!g->out->may_fail || random_chance(g, 60))
            return 0;
        put(g, "assert(");
        put_scalar(g, KILN_TYPE_BOOL, 2);
        put(g, ")");
        return 1;
    default:
        return 0;
    }
}

void put_statements(generator *g, int count, int depth)
{
    for (int i = 0; i < count; i++) {
        g->budget = 14;
        if (g->in_kernel && g->shared > 0 && g->control == CONTROL_GROUP &&
            g->iterations < 20 && random_chance(g, 20)) {
            put_exchange(g);
            continue;
        }
        put_line(g);
        if (put_rare(g))
            continue;
        if (depth > 0 && g->iterations < ITERATIONS_MAX && random_chance(g, 40))
            put_compound(g, depth);
        else
            put_simple(g);
    }
}
