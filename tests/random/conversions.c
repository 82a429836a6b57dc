/* conversions.c - literals, conversions and truth values of random kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "generator.h"

/* ---- literals ---- */

static void put_integer(generator *g, int32_t kind)
{
    const char *name = kind_name(kind);
    const int most = kind_bits(kind) == 8 ? 100 : 1000;

    switch (random_below(g, 8)) {
    case 0:
        put(g, "typemax(%s)", name);
        break;
    case 1:
        put(g, "typemin(%s)", name);
        break;
    case 2:
        put(g, "%s(%d)", name, random_below(g, most));
        break;
    case 3:
        if (kind_is_signed(kind)) {
            put(g, "%s(-%d)", name, 1 + random_below(g, most));
            break;
        } /* fall through */
    default:
        put(g, "%s(%d)", name, random_below(g, 9));
        break;
    }
}

static void put_float(generator *g, int32_t kind)
{
    const char *name = kind_name(kind);

    switch (random_below(g, 8)) {
    case 0:
        put(g, "typemax(%s)", name);
        break;
    case 1:
        put(g, "eps(%s)", name);
        break;
    case 2:
        put(g, "%s(-%d.%d)", name, random_below(g, 50), random_below(g, 100));
        break;
    case 3:
        put(g, "%s(%d)", name, random_below(g, 9));
        break;
    default:
        put(g, "%s(%d.%d)", name, random_below(g, 50), random_below(g, 1000));
        break;
    }
}

void put_literal(generator *g, int32_t kind)
{
    if (kind == KILN_TYPE_BOOL)
        put(g, random_chance(g, 50) ? "true" : "false");
    else if (kind_is_float(kind))
        put_float(g, kind);
    else
        put_integer(g, kind);
}

/* ---- conversions ---- */

static void put_converted(generator *g, const char *function, int32_t to,
                          int32_t from, int depth)
{
    if (function == NULL)
        put(g, "%s(", kind_name(to));
    else
        put(g, "%s(%s, ", function, kind_name(to));
    put_scalar(g, from, depth);
    put(g, ")");
}

/* The bits of a NaN are not defined, so they are not compared. */
static void put_bits(generator *g, int32_t to, int depth)
{
    const int bits = kind_bits(to);
    const int32_t of_float =
        bits == 16   ? random_chance(g, 50) ? KILN_TYPE_F16 : KILN_TYPE_BF16
        : bits == 32 ? KILN_TYPE_F32
                     : KILN_TYPE_F64;

    if (kind_is_float(to)) {
        put(g, "bitcast(%s, ", kind_name(to));
        put_scalar(g,
                   bits == 16   ? KILN_TYPE_U16
                   : bits == 32 ? KILN_TYPE_U32
                                : KILN_TYPE_U64,
                   depth);
        put(g, " & 0x3b%s)",
            bits == 16   ? "ff"
            : bits == 32 ? "ffffff"
                         : "ffffffffffffff");
    } else if (bits > 8 && random_chance(g, 50)) {
        put(g, "bitcast(%s, plain(", kind_name(to));
        put_scalar(g, of_float, depth);
        put(g, "))");
    } else {
        put_converted(g, "bitcast", to, kind_is_signed(to) ? to + 4 : to - 4,
                      depth);
    }
}

void put_conversion(generator *g, int32_t kind, int depth)
{
    const int32_t from = random_scalar(g);

    if (random_chance(g, 15)) {
        put_bits(g, kind, depth);
        return;
    }
    if (kind_is_float(kind)) {
        put_converted(g, NULL, kind,
                      from == KILN_TYPE_BOOL ? random_float(g) : from, depth);
        return;
    }
    if (from == KILN_TYPE_BOOL || (g->out->may_fail && random_chance(g, 30)))
        put_converted(g, NULL, kind, from, depth);
    else if (kind_is_float(from) || random_chance(g, 40))
        put_converted(g, "trunc", kind, from, depth);
    else
        put_converted(g, "wrap", kind, from, depth);
}

/* ---- truth values ---- */

static void put_comparison(generator *g, int depth)
{
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    const int32_t kind = random_scalar(g);

    put(g, "(");
    put_scalar(g, kind, depth);
    put(g, " %s ", signs[random_below(g, kind == KILN_TYPE_BOOL ? 2 : 6)]);
    put_scalar(g, kind, depth);
    put(g, ")");
}

int put_uniform(generator *g, int wanted)
{
    if (!wanted || g->is_lazy || g->control != CONTROL_GROUP ||
        g->is_uniform == 2 || random_chance(g, 50))
        return 0;
    g->is_uniform = 1;
    return 1;
}

static void put_short_circuit(generator *g, int depth)
{
    const int lazy = g->is_lazy, uniform = g->is_uniform;
    const int together = put_uniform(g, g->out->is_collective);

    put(g, "(");
    put_bool(g, depth);
    put(g, random_chance(g, 50) ? " && " : " || ");
    g->is_uniform = uniform;
    g->is_lazy = lazy || !together;
    put_bool(g, depth);
    g->is_lazy = lazy;
    put(g, ")");
}

void put_bool(generator *g, int depth)
{
    static const char *const tests[] = {"isnan", "isinf", "isfinite"};

    switch (random_below(g, 8)) {
    case 0:
        put_short_circuit(g, depth);
        break;
    case 1:
        put(g, "!");
        put_scalar(g, KILN_TYPE_BOOL, depth);
        break;
    case 2:
        put(g, "(");
        put_scalar(g, KILN_TYPE_BOOL, depth);
        put(g, " %c ", "&|^"[random_below(g, 3)]);
        put_scalar(g, KILN_TYPE_BOOL, depth);
        put(g, ")");
        break;
    case 3:
        put(g, "%s(", tests[random_below(g, 3)]);
        put_scalar(g, random_float(g), depth);
        put(g, ")");
        break;
    default:
        put_comparison(g, depth);
        break;
    }
}
