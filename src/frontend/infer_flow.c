/* infer_flow.c - which variables are assigned on every path. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "infer.h"

/*
 * The trail lists the variables in the order in which they became assigned on
 * the current path. A branch is walked, cut off the trail as a path of its
 * own, and joined with the other: what both assigned is assigned. The cost is
 * that of the assignments, not of branches times variables.
 */

void kiln__flow_assign(kiln__infer *in, kiln__variable *variable)
{
    if (variable->assigned || !in->reachable)
        return;
    if (!kiln__array_push(in->alloc, &in->trail, variable)) {
        (void)kiln__infer_fail(in, KILN_ENOMEM);
        return;
    }
    variable->assigned = 1;
}

/* The path since `mark`, left as it is. */
static kiln__path path_since(kiln__infer *in, size_t mark)
{
    kiln__path path = {.reachable = in->reachable,
                       .count = in->trail.count - mark};

    if (path.count == 0)
        return path;
    path.variables = kiln__arena_copy(&in->arena, &in->trail.items[mark],
                                      path.count * sizeof *path.variables);
    if (path.variables == NULL) {
        path.count = 0;
        (void)kiln__infer_fail(in, KILN_ENOMEM);
    }
    return path;
}

kiln__path kiln__flow_cut(kiln__infer *in, size_t mark)
{
    const kiln__path path = path_since(in, mark);

    for (size_t i = mark; i < in->trail.count; i++)
        in->trail.items[i]->assigned = 0;
    in->trail.count = mark;
    return path;
}

void kiln__flow_follow(kiln__infer *in, const kiln__path *path)
{
    in->reachable = 1;
    for (size_t i = 0; i < path->count; i++)
        kiln__flow_assign(in, path->variables[i]);
    in->reachable = path->reachable;
}

/* Keeps in `a` what `b` has too. */
static void intersect(kiln__infer *in, kiln__path *a, const kiln__path *b)
{
    size_t kept = 0;

    if (!b->reachable)
        return;
    if (!a->reachable) {
        *a = *b;
        return;
    }
    in->stamp++;
    for (size_t i = 0; i < b->count; i++)
        b->variables[i]->stamp = in->stamp;
    for (size_t i = 0; i < a->count; i++)
        if (a->variables[i]->stamp == in->stamp)
            a->variables[kept++] = a->variables[i];
    a->count = kept;
}

void kiln__flow_join(kiln__infer *in, const kiln__path *a, const kiln__path *b)
{
    kiln__path both = *a;

    intersect(in, &both, b);
    kiln__flow_follow(in, &both);
}

void kiln__flow_break(kiln__infer *in)
{
    kiln__loop *loop = in->loop;
    const kiln__path path = path_since(in, loop->mark);

    if (!in->reachable)
        return;
    if (loop->has_exit)
        intersect(in, &loop->exit, &path);
    else
        loop->exit = path;
    loop->has_exit = 1;
    in->reachable = in->cut = 0;
}

void kiln__flow_continue(kiln__infer *in)
{
    kiln__loop *loop = in->loop;
    const kiln__path path = path_since(in, loop->mark);

    if (!in->reachable)
        return;
    if (loop->has_next)
        intersect(in, &loop->next, &path);
    else
        loop->next = path;
    loop->has_next = 1;
    in->reachable = in->cut = 0;
}
