/* expressions.c - expressions of random kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "generator.h"

#include <stdio.h>
#include <string.h>

/* ---- variables ---- */

static int may_read(const generator *g, const random_variable *v)
{
    return !g->is_uniform || v->is_uniform;
}

/* Writes how a scalar of `kind` is read from the variable; false if it has
   none. */
static int put_part(generator *g, const random_variable *v, int32_t kind)
{
    const random_type *type = &v->type;

    if (type->kind == kind) {
        put(g, "%s", v->name);
        return 1;
    }
    if (type->kind == KILN_TYPE_TUPLE)
        for (int i = 0; i < 2; i++)
            if (type->parts[i] == kind) {
                put(g, "%s[%d]", v->name, i);
                return 1;
            }
    if (type->kind == KILN_TYPE_VECTOR && type->parts[0] == kind) {
        put(g, "%s[%d]", v->name, random_below(g, type->length));
        return 1;
    }
    if (type->kind == KILN_TYPE_STRUCT && type->is_q &&
        type->parts[0] == kind) {
        put(g, "%s.%s", v->name, random_chance(g, 50) ? "re" : "im");
        return 1;
    }
    if (type->kind == KILN_TYPE_STRUCT && !type->is_q &&
        (kind == KILN_TYPE_I32 || kind == KILN_TYPE_F64 ||
         kind == KILN_TYPE_U8)) {
        put(g, "%s.%c", v->name,
            kind == KILN_TYPE_I32   ? 'p'
            : kind == KILN_TYPE_F64 ? 'q'
                                    : 'r');
        return 1;
    }
    return 0;
}

static int put_variable(generator *g, int32_t kind)
{
    for (int tries = 0; tries < 12 && g->variable_count > 0; tries++) {
        const random_variable *v =
            &g->variables[random_below(g, (int)g->variable_count)];

        if (may_read(g, v) && put_part(g, v, kind))
            return 1;
    }
    return 0;
}

static int put_whole_variable(generator *g, const random_type *type)
{
    for (int tries = 0; tries < 12 && g->variable_count > 0; tries++) {
        const random_variable *v =
            &g->variables[random_below(g, (int)g->variable_count)];

        if (may_read(g, v) && same_type(&v->type, type)) {
            put(g, "%s", v->name);
            return 1;
        }
    }
    return 0;
}

/* ---- integers and floats ---- */

static void put_two(generator *g, const char *between, int32_t left,
                    int32_t right, int depth)
{
    put(g, "(");
    put_scalar(g, left, depth);
    put(g, " %s ", between);
    put_scalar(g, right, depth);
    put(g, ")");
}

/* Returns a narrower type that widens to `kind`, or `kind` itself. */
static int32_t narrower(generator *g, int32_t kind)
{
    static const int32_t floats[] = {KILN_TYPE_F16, KILN_TYPE_BF16,
                                     KILN_TYPE_F32};

    if (kind_is_float(kind)) {
        const int below = kind == KILN_TYPE_F64   ? 3
                          : kind == KILN_TYPE_F32 ? 2
                                                  : 0;
        const int n = random_below(g, below + 1);

        return random_chance(g, 50) ? random_integer(g)
               : n < below          ? floats[n]
                                    : kind;
    }
    return kind -
           random_below(
               g,
               kind - (kind_is_signed(kind) ? KILN_TYPE_I8 : KILN_TYPE_U8) + 1);
}

static void put_arithmetic(generator *g, int32_t kind, int depth)
{
    static const char *const signs[] = {"+", "-", "*"};
    const char *sign = signs[random_below(g, 3)];
    const int n = random_below(g, 10);

    if (n < 2) {
        put(g, "(");
        put_scalar(g, kind, depth);
        put(g, " %s %d)", sign, random_below(g, 100));
    } else if (n < 4) {
        put_two(g, sign, narrower(g, kind), kind, depth);
    } else {
        put_two(g, sign, kind, kind, depth);
    }
}

static void put_division(generator *g, int32_t kind, int depth)
{
    const char *sign = random_chance(g, 50) ? "//" : "%";

    if (g->out->may_fail && random_chance(g, 30)) {
        put_two(g, sign, kind, kind, depth);
        return;
    }
    put(g, "(");
    put_scalar(g, kind, depth);
    put(g, " %s (", sign);
    put_scalar(g, kind, depth);
    put(g, " | 1))");
}

static void put_power(generator *g, int32_t kind, int depth)
{
    put(g, "(");
    put_scalar(g, kind, depth);
    if (random_chance(g, 50)) {
        put(g, " ** %d)", random_below(g, 7));
        return;
    }
    put(g, " ** (");
    put_scalar(g, random_integer(g), depth);
    put(g, " & 7))");
}

static void put_integer_call(generator *g, int32_t kind, int depth)
{
    static const char *const one[] = {"abs", "sign",       "popcount", "clz",
                                      "ctz", "bitreverse", "byteswap"};
    const int n = random_below(g, 11);

    if (n == 0) {
        put(g, "clamp(");
        put_scalar(g, kind, depth);
        put(g, ", %d, %d)", random_below(g, 4), 4 + random_below(g, 90));
    } else if (n < 4) {
        put(g, n == 1 ? "min" : "max");
        put_two(g, ",", kind, kind, depth);
    } else {
        put(g, "%s(", one[n - 4]);
        put_scalar(g, kind, depth);
        put(g, ")");
    }
}

static void put_float_call(generator *g, int32_t kind, int depth)
{
    static const char *const one[] = {"sqrt", "floor", "ceil", "round",
                                      "rint", "abs",   "sign", "trunc"};
    const int n = random_below(g, 12);

    if (n < 8) {
        put(g, "%s(", one[n]);
        put_scalar(g, kind, depth);
        put(g, ")");
    } else if (n < 10) {
        /* Of two zeros either may be the minimum. Adding +0 makes the sign
           certain. */
        put(g, n == 8 ? "(min" : "(max");
        put_two(g, ",", kind, kind, depth);
        put(g, " + 0.0)");
    } else if (n == 10 && kind_bits(kind) > 16) {
        put(g, "fma(");
        put_scalar(g, kind, depth);
        put(g, ", ");
        put_scalar(g, kind, depth);
        put(g, ", ");
        put_scalar(g, kind, depth);
        put(g, ")");
    } else {
        put(g, "copysign(");
        put_scalar(g, kind, depth);
        put(g, ", plain(");
        put_scalar(g, kind, depth);
        put(g, "))");
    }
}

static void put_integer(generator *g, int32_t kind, int depth)
{
    static const char *const bits[] = {"&", "|", "^"};

    switch (random_below(g, 8)) {
    case 0:
        put_division(g, kind, depth);
        break;
    case 1:
        put_two(g, bits[random_below(g, 3)], kind, kind, depth);
        break;
    case 2:
        put_two(g, random_chance(g, 50) ? "<<" : ">>", kind, random_integer(g),
                depth);
        break;
    case 3:
        put(g, random_chance(g, 50) ? "~" : "-");
        put_scalar(g, kind, depth);
        break;
    case 4:
        put_integer_call(g, kind, depth);
        break;
    case 5:
        if (random_chance(g, 30)) {
            put_power(g, kind, depth);
            break;
        } /* fall through */
    default:
        put_arithmetic(g, kind, depth);
        break;
    }
}

static void put_float(generator *g, int32_t kind, int depth)
{
    switch (random_below(g, 7)) {
    case 0:
        put_two(g, random_chance(g, 70) ? "/" : "%", kind, kind, depth);
        break;
    case 1:
        put(g, "-");
        put_scalar(g, kind, depth);
        break;
    case 2:
    case 3:
        put_float_call(g, kind, depth);
        break;
    case 4:
        if (random_chance(g, 20)) {
            put_power(g, kind, depth);
            break;
        } /* fall through */
    default:
        put_arithmetic(g, kind, depth);
        break;
    }
}

/* ---- arrays ---- */

void put_index(generator *g, const char *below, int depth)
{
    if (g->out->may_fail && random_chance(g, 8)) {
        put_scalar(g, KILN_TYPE_I64, depth);
        return;
    }
    put(g, "into(");
    put_scalar(g, KILN_TYPE_I64, depth);
    put(g, ", %s)", below);
}

static void put_element(generator *g, int array, int depth)
{
    char below[32];

    put(g, "a%d[", array);
    for (uint32_t d = 0; d < g->array_ranks[array]; d++) {
        snprintf(below, sizeof below, "size(a%d, %u)", array, d);
        put(g, d == 0 ? "" : ", ");
        put_index(g, below, depth);
    }
    put(g, "]");
}

static int put_load(generator *g, int32_t kind, int depth)
{
    const int array = random_below(g, GENERATED_ARRAYS);
    const int output = random_below(g, GENERATED_OUTPUTS);

    if (!g->in_kernel)
        return 0;
    if (!g->is_uniform && g->output_kinds[output] == kind &&
        random_chance(g, 20)) {
        put(g, "o%d[i]", output);
        return 1;
    }
    if (g->array_kinds[array] == kind) {
        put_element(g, array, depth);
        return 1;
    }
    if (!kind_is_integer(kind) || !kind_is_integer(g->array_kinds[array]))
        return 0;
    put(g, "wrap(%s, ", kind_name(kind));
    put_element(g, array, depth);
    put(g, ")");
    return 1;
}

static int put_query(generator *g)
{
    static const char *const uniform[] = {"group_id(0)",    "local_size(0)",
                                          "group_count(0)", "global_size(0)",
                                          "group_id(1)",    "sub_group_size()"};
    static const char *const own[] = {"local_id(0)",  "global_id(0)",
                                      "global_id(1)", "global_id(2)",
                                      "lane_id()",    "local_id(1)"};

    if (!g->in_kernel)
        return 0;
    if (g->is_uniform || random_chance(g, 40))
        put(g, "%s", uniform[random_below(g, 6)]);
    else
        put(g, "%s", own[random_below(g, 6)]);
    return 1;
}

static int put_size(generator *g)
{
    const int array = random_below(g, GENERATED_ARRAYS);

    if (!g->in_kernel)
        return 0;
    if (random_chance(g, 50))
        put(g, "length(a%d)", array);
    else
        put(g, "size(a%d, %d)", array,
            random_below(g, (int)g->array_ranks[array]));
    return 1;
}

/* ---- calls and choices ---- */

static int put_call(generator *g, int32_t kind, int depth)
{
    const random_function *f;

    if (g->function_count == 0)
        return 0;
    f = &g->functions[random_below(g, (int)g->function_count)];
    if (f->result != kind || g->iterations > 30 ||
        (f->is_collective && (g->control != CONTROL_GROUP || g->is_lazy ||
                              g->is_uniform || !g->in_kernel)))
        return 0;
    put(g, "%s(", f->name);
    put_scalar(g, f->parameters[0], depth);
    put(g, ", ");
    put_scalar(g, f->parameters[1], depth);
    put(g, ")");
    return 1;
}

/* Where the condition is uniform, both sides may be collective. */
static void put_choice(generator *g, const random_type *type, int depth)
{
    const int lazy = g->is_lazy, uniform = g->is_uniform;
    const int together = put_uniform(g, g->out->is_collective);

    if (!together && random_chance(g, 30)) {
        put(g, "select(");
        put_bool(g, depth);
        put(g, ", ");
        put_expression(g, type, depth);
        put(g, ", ");
        put_expression(g, type, depth);
        put(g, ")");
        return;
    }
    put(g, "(");
    put_bool(g, depth);
    put(g, " ? ");
    g->is_uniform = uniform;
    g->is_lazy = lazy || !together;
    put_expression(g, type, depth);
    put(g, " : ");
    put_expression(g, type, depth);
    g->is_lazy = lazy;
    put(g, ")");
}

/* ---- any scalar ---- */

static int put_special(generator *g, int32_t kind, int depth)
{
    const random_type type = scalar_type(kind);

    switch (random_below(g, 10)) {
    case 0:
        return put_call(g, kind, depth);
    case 1:
        put_choice(g, &type, depth);
        return 1;
    case 2:
    case 3:
        return put_load(g, kind, depth);
    case 4:
        return kind == KILN_TYPE_I64 &&
               (random_chance(g, 50) ? put_query(g) : put_size(g));
    case 5:
        return g->out->is_collective && put_together(g, kind, depth);
    case 6:
        if (kind == KILN_TYPE_BOOL)
            return 0;
        put_conversion(g, kind, depth);
        return 1;
    default:
        return 0;
    }
}

void put_scalar(generator *g, int32_t kind, int depth)
{
    g->budget--;
    if (depth <= 0 || g->budget <= 0) {
        if (!random_chance(g, 85) || !put_variable(g, kind))
            put_literal(g, kind);
        return;
    }
    if (random_chance(g, 25) && put_variable(g, kind))
        return;
    if (put_special(g, kind, depth - 1))
        return;
    if (kind == KILN_TYPE_BOOL)
        put_bool(g, depth - 1);
    else if (kind_is_float(kind))
        put_float(g, kind, depth - 1);
    else
        put_integer(g, kind, depth - 1);
}

/* ---- aggregates ---- */

static void put_list(generator *g, const int32_t *list, int count, int depth)
{
    for (int i = 0; i < count; i++) {
        put(g, i == 0 ? "(" : ", ");
        put_scalar(g, list[i], depth);
    }
    put(g, ")");
}

static void put_vector_call(generator *g, const random_type *type, int depth)
{
    static const char *const real[] = {"sqrt", "floor", "rint", "abs"};
    static const char *const integer[] = {"abs", "popcount", "clz",
                                          "bitreverse"};

    if (!kind_is_float(type->parts[0]) && random_chance(g, 50)) {
        put(g, random_chance(g, 50) ? "min(" : "max(");
        put_expression(g, type, depth);
        put(g, ", ");
    } else {
        put(g, "%s(",
            kind_is_float(type->parts[0]) ? real[random_below(g, 4)]
                                          : integer[random_below(g, 4)]);
    }
    put_expression(g, type, depth);
    put(g, ")");
}

static void put_vector(generator *g, const random_type *type, int depth)
{
    const int32_t kind = type->parts[0];
    const int32_t list[] = {kind, kind, kind, kind};

    if (depth <= 0 || random_chance(g, 40)) {
        put_type(g, type);
        put_list(g, list, type->length, depth - 1);
        return;
    }
    if (random_chance(g, 30)) {
        put_vector_call(g, type, depth - 1);
        return;
    }
    put(g, "(");
    put_expression(g, type, depth - 1);
    put(g, " %c ", "+-*"[random_below(g, 3)]);
    if (random_chance(g, 40))
        put_scalar(g, kind, depth - 1);
    else
        put_expression(g, type, depth - 1);
    put(g, ")");
}

void put_expression(generator *g, const random_type *type, int depth)
{
    static const int32_t p[] = {KILN_TYPE_I32, KILN_TYPE_F64, KILN_TYPE_U8};
    const int32_t both[] = {type->parts[0], type->parts[0]};

    if (kind_bits(type->kind) > 0) {
        put_scalar(g, type->kind, depth);
        return;
    }
    g->budget--;
    if (random_chance(g, 30) && put_whole_variable(g, type))
        return;
    if (depth > 1 && random_chance(g, 15)) {
        put_choice(g, type, depth - 1);
        return;
    }
    switch (type->kind) {
    case KILN_TYPE_TUPLE:
        put_list(g, type->parts, 2, depth - 1);
        break;
    case KILN_TYPE_VECTOR:
        put_vector(g, type, depth);
        break;
    default:
        if (!type->is_q && !g->is_uniform && g->in_kernel &&
            g->output_kinds[3] == KILN_TYPE_STRUCT && random_chance(g, 30)) {
            put(g, "o3[i]");
            break;
        }
        put_type(g, type);
        put_list(g, type->is_q ? both : p, type->is_q ? 2 : 3, depth - 1);
        break;
    }
}
