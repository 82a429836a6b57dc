/* together.c - collective operations of random kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "generator.h"

/* The order of -0 and +0 is not defined, so floats are not compared here. */
static int put_group_operation(generator *g, int32_t kind, int depth)
{
    static const char *const names[] = {"group_add", "group_min", "group_max"};
    const int compares = kind_is_float(kind) ? 0 : random_below(g, 4);
    const int uniform = g->is_uniform;

    g->is_uniform = 0;
    if (compares == 3) {
        put(g, "group_broadcast(");
        put_scalar(g, kind, depth);
        put(g, ", 0)");
    } else {
        put(g, "%s(", names[compares]);
        put_scalar(g, kind, depth);
        put(g, ")");
    }
    g->is_uniform = uniform;
    return 1;
}

static void put_reduction(generator *g, int32_t kind, int depth)
{
    static const char *const names[] = {"add", "min", "max"};
    const int compares = kind_is_float(kind) ? 0 : random_below(g, 4);

    if (kind == KILN_TYPE_BOOL) {
        put(g, "sub_group_%s(", random_chance(g, 50) ? "any" : "all");
        put_scalar(g, kind, depth);
        put(g, ")");
    } else if (compares == 3) {
        put(g, "sub_group_broadcast(");
        put_scalar(g, kind, depth);
        put(g, ", 0)");
    } else {
        put(g, "sub_group_%s(", names[compares]);
        put_scalar(g, kind, depth);
        put(g, ")");
    }
}

static int put_sub_group_operation(generator *g, int32_t kind, int depth)
{
    static const char *const shuffles[] = {"shuffle", "shuffle_xor",
                                           "shuffle_up", "shuffle_down"};
    const int uniform = g->is_uniform;

    g->is_uniform = 0;
    if (uniform || kind == KILN_TYPE_BOOL || random_chance(g, 50)) {
        put_reduction(g, kind, depth);
    } else {
        put(g, "%s(", shuffles[random_below(g, 4)]);
        put_scalar(g, kind, depth);
        put(g, ", ");
        if (random_chance(g, 50))
            put(g, "%d", random_below(g, 17));
        else
            put_scalar(g, KILN_TYPE_I64, depth);
        put(g, ")");
    }
    g->is_uniform = uniform;
    return 1;
}

int put_together(generator *g, int32_t kind, int depth)
{
    if (g->is_lazy || g->control == CONTROL_NOT || g->iterations > 20 ||
        g->budget < 2)
        return 0;
    if (g->control == CONTROL_GROUP && random_chance(g, 50) &&
        g->is_uniform != 2 && kind != KILN_TYPE_BOOL)
        return put_group_operation(g, kind, depth);
    return g->is_uniform == 1 ? 0 : put_sub_group_operation(g, kind, depth);
}

/* Each item writes its own element of a local array, and reads another's after
   the barrier. The next barrier separates these reads from later writes. */
void put_exchange(generator *g)
{
    const int array = random_below(g, g->shared);
    const int32_t kind = array == 0 ? KILN_TYPE_I64 : KILN_TYPE_F32;
    random_variable *v;

    put_line(g);
    put(g, "t%d[l] = ", array);
    g->budget = 10;
    put_scalar(g, kind, 2);
    put_line(g);
    put(g, "barrier()");
    put_line(g);
    v = new_variable(g, "v", scalar_type(kind));
    g->variable_count--; /* it cannot be read before it is assigned */
    put(g, "%s = t%d[", v->name, array);
    g->budget = 8;
    put(g, "into("); /* elements that are not written are undefined */
    put_scalar(g, KILN_TYPE_I64, 2);
    put(g, ", m)]");
    g->variable_count++;
    if (random_chance(g, 30)) {
        put_line(g);
        put(g, "%s = %s + t%d[m - 1 - l]", v->name, v->name, array);
    }
    put_line(g);
    put(g, "barrier()");
}
