/* patterns.c - common ways in which kernels go through arrays. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "generator.h"

/* Writes accesses to neighbours, where the grid says that they exist. */
static void put_neighbours(generator *g)
{
    const int reach = 1 + random_below(g, 4);
    const random_variable *v;

    v = new_variable(g, "v", scalar_type(g->array_kinds[0]));
    put(g, "%s = ", v->name);
    put_literal(g, g->array_kinds[0]);
    put_line(g);
    put(g, "if i >= %d && i + %d < length(a0)", random_chance(g, 50) ? 0 : 1,
        reach);
    put_line(g);
    if (g->array_kinds[0] == KILN_TYPE_BOOL)
        put(g, "    %s = a0[i] | a0[i + %d]", v->name, reach);
    else
        put(g, "    %s = a0[i] - a0[i + %d]", v->name, reach);
    put_line(g);
    put(g, "end");
}

/* Writes a sum along the first dimension of an array, for items with a place in
   the other dimensions; sometimes without checking that they have one. */
static void put_row_sum(generator *g)
{
    const int array = random_below(g, GENERATED_ARRAYS);
    const int32_t kind = g->array_kinds[array];
    const uint32_t rank = g->array_ranks[array];
    const int guarded = !g->out->may_fail || random_chance(g, 70);
    const char *own = rank > 1 && random_chance(g, 70) ? "i" : "n";
    const random_variable *v;

    if (rank == 3 || kind == KILN_TYPE_BOOL)
        return;
    v = new_variable(g, "v", scalar_type(kind));
    put(g, "%s = zero(%s)", v->name, kind_name(kind));
    put_line(g);
    if (guarded && rank == 2)
        put(g, "if %s < size(a%d, 1)", own, array);
    else
        put(g, "if true");
    put_line(g);
    put(g, "    for k in 0..%s(size(a%d, 0)%s", guarded ? "min" : "max", array,
        guarded ? ", n + 5)" : ", n)");
    put_line(g);
    put(g, "        %s %s= a%d[k%s%s]", v->name,
        random_chance(g, 70) ? "+" : "-", array, rank == 2 ? ", " : "",
        rank == 2 ? own : "");
    put_line(g);
    put(g, "    end");
    put_line(g);
    put(g, "end");
}

/* Writes a sum that begins at the item's own element and steps by the size of
   the grid. */
static void put_stride_sum(generator *g)
{
    const int32_t kind = g->array_kinds[0];
    const random_variable *v;

    if (kind == KILN_TYPE_BOOL)
        return;
    v = new_variable(g, "v", scalar_type(kind));
    put(g, "%s = zero(%s)", v->name, kind_name(kind));
    put_line(g);
    put(g, "j%d = i", g->names);
    put_line(g);
    put(g, "while j%d < length(a0)", g->names);
    put_line(g);
    put(g, "    %s += a0[j%d]", v->name, g->names);
    if (random_chance(g, 50))
        put(g, " * %s(j%d & 7)", kind_name(kind), g->names);
    put_line(g);
    put(g, "    j%d += global_size(0)", g->names);
    put_line(g);
    put(g, "end");
    g->names++;
}

/* Writes accesses by the grid's coordinates, in arrays of as many
   dimensions. */
static void put_tile(generator *g)
{
    const int array = random_below(g, GENERATED_ARRAYS);
    const int32_t kind = g->array_kinds[array];
    const int add = random_below(g, 3);
    const random_variable *v;

    if (g->array_ranks[array] != 2)
        return;
    v = new_variable(g, "v", scalar_type(kind));
    put(g, "%s = ", v->name);
    put_literal(g, kind);
    put_line(g);
    if (g->out->may_fail && random_chance(g, 20))
        put(g, "if global_id(0) < 40");
    else
        put(g,
            "if global_id(0) + %d < size(a%d, 0) && global_id(1) < size(a%d, "
            "1)",
            add, array, array);
    put_line(g);
    put(g, "    %s = a%d[global_id(0) + %d, global_id(1)]", v->name, array,
        add);
    put_line(g);
    put(g, "end");
}

/* Writes unchecked accesses with indices that are always valid. */
static void put_inbounds(generator *g)
{
    const random_variable *v =
        new_variable(g, "v", scalar_type(g->array_kinds[0]));

    put(g, "inbounds");
    put_line(g);
    put(g, "    %s = a0[into(n + i, length(a0))]", v->name);
    put_line(g);
    put(g, "end");
}

/* Writes indices into the first array that are valid, or wrong by one. */
static void put_edge_index(generator *g)
{
    const int n = random_below(g, 6), d = random_below(g, 2);

    switch (random_below(g, 11)) {
    case 0:
        put(g, "i - %d", d);
        break;
    case 7:
        put(g, "i64(wrap(i8, i & 127) + %d)", 20 * d + n);
        break;
    case 8:
        put(g, "i + %d < length(a0) ? i : length(a0) - %d", n, d);
        break;
    case 9:
        put(g, "i64(wrap(u8, i) - %d)", d);
        break;
    case 1:
        put(g, "length(a0) - 1 - i - %d", n);
        break;
    case 2:
        put(g, "(i + %d) %% (length(a0) + %d)", n, d);
        break;
    case 3:
        put(g, "min(i, length(a0) - %d)", d);
        break;
    case 4:
        put(g, "max(i - %d, -%d)", n, d);
        break;
    case 5:
        put(g, "2 * i - i + %d", n);
        break;
    case 6:
        put(g, "i > %d ? i - %d : i", n, n + 2 * d);
        break;
    default:
        put(g, "i + %d", 1 + n);
        break;
    }
}

static void put_edge_load(generator *g)
{
    const random_variable *v =
        new_variable(g, "v", scalar_type(g->array_kinds[0]));

    put(g, "%s = a0[", v->name);
    put_edge_index(g);
    put(g, "]");
}

/* Writes a condition or a loop that may go one too far. */
static void put_edge_guard(generator *g)
{
    const int32_t kind = g->array_kinds[0];
    const random_variable *v = new_variable(g, "v", scalar_type(kind));
    const int n = random_below(g, 4), far = random_below(g, 2);

    put(g, "%s = ", v->name);
    put_literal(g, kind);
    put_line(g);
    switch (random_below(g, 4)) {
    case 0:
        put(g, "if i + %d %s length(a0)", n, far ? "<=" : "<");
        break;
    case 1:
        put(g, "if i >= %d && i %s length(a0)", n, far ? "<=" : "!=");
        break;
    case 2:
        put(g, "if !(length(a0) %s i + %d || i < 0)", far ? "<" : "<=", n);
        break;
    default:
        put(g, "for k in i..length(a0) + %d - %d", far, n);
        put_line(g);
        put(g, "    %s = a0[k + %d]", v->name, n);
        put_line(g);
        put(g, "end");
        return;
    }
    put_line(g);
    put(g, "    %s = a0[i + %d]", v->name, n);
    put_line(g);
    put(g, "end");
}

/* Writes a loop along a dimension of any array, with the other indices at the
   ends. */
static void put_edge_loop(generator *g)
{
    const int array = random_below(g, GENERATED_ARRAYS);
    const int32_t kind = g->array_kinds[array];
    const uint32_t rank = g->array_ranks[array];
    const uint32_t along = (uint32_t)random_below(g, (int)rank);
    const int far = random_below(g, 3), by = 1 + random_below(g, 3);
    const random_variable *v;

    v = new_variable(g, "v", scalar_type(kind));
    put(g, "%s = ", v->name);
    put_literal(g, kind);
    put_line(g);
    if (random_chance(g, 60))
        put(g, "for k in 0..size(a%d, %u) + %d by %d", array, along, far / 2,
            by);
    else
        put(g, "for k in size(a%d, %u) - %d..-1 by -%d", array, along,
            far == 0 ? 0 : 1, by);
    put_line(g);
    put(g, "    %s = a%d[", v->name, array);
    for (uint32_t d = 0; d < rank; d++) {
        put(g, d == 0 ? "" : ", ");
        if (d == along)
            put(g, "k");
        else if (random_chance(g, 50))
            put(g, "0");
        else
            put(g, "size(a%d, %u) - 1", array, d);
    }
    put(g, "]");
    put_line(g);
    put(g, "end");
}

void put_edge(generator *g)
{
    switch (random_below(g, 3)) {
    case 0:
        put_edge_load(g);
        break;
    case 1:
        put_edge_guard(g);
        break;
    default:
        put_edge_loop(g);
        break;
    }
}

void put_pattern(generator *g)
{
    switch (random_below(g, 5)) {
    case 0:
        put_row_sum(g);
        break;
    case 1:
        put_stride_sum(g);
        break;
    case 2:
        put_tile(g);
        break;
    case 3:
        put_inbounds(g);
        break;
    default:
        put_neighbours(g);
        break;
    }
}
