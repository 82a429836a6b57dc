/* infer_flow.c - finds which variables are assigned on every path. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"

/*
 * The trail lists variables in the order in which they became assigned on the
 * current path. A branch is walked, taken off the trail as a path of its own,
 * and joined with the other branch: what both have assigned is assigned. The
 * cost is that of the assignments, not of branches times variables.
 */

void kiln__flow_assign(kiln__infer *in, kiln__variable *variable)
{
    if (variable->assigned || !in->flow.reachable)
        return;
    if (!kiln__array_push(in->alloc, &in->flow.trail, variable)) {
        (void)kiln__infer_fail(in, KILN_ENOMEM);
        return;
    }
    variable->assigned = 1;
}

/* Returns the path since `mark`; the trail stays as it is. */
static kiln__path path_since(kiln__infer *in, size_t mark)
{
    kiln__path path = {.reachable = in->flow.reachable,
                       .count = in->flow.trail.count - mark};

    if (path.count == 0)
        return path;
    path.variables = kiln__arena_copy(&in->arena, &in->flow.trail.items[mark],
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

    for (size_t i = mark; i < in->flow.trail.count; i++)
        in->flow.trail.items[i]->assigned = 0;
    in->flow.trail.count = mark;
    return path;
}

void kiln__flow_follow(kiln__infer *in, const kiln__path *path)
{
    in->flow.reachable = 1;
    for (size_t i = 0; i < path->count; i++)
        kiln__flow_assign(in, path->variables[i]);
    in->flow.reachable = path->reachable;
}

/* Keeps in `a` only what `b` has, too. */
static void intersect(kiln__infer_flow *flow, kiln__path *a,
                      const kiln__path *b)
{
    size_t kept = 0;

    if (!b->reachable)
        return;
    if (!a->reachable) {
        *a = *b;
        return;
    }
    flow->stamp++;
    for (size_t i = 0; i < b->count; i++)
        b->variables[i]->stamp = flow->stamp;
    for (size_t i = 0; i < a->count; i++)
        if (a->variables[i]->stamp == flow->stamp)
            a->variables[kept++] = a->variables[i];
    a->count = kept;
}

void kiln__flow_join(kiln__infer *in, const kiln__path *a, const kiln__path *b)
{
    kiln__path both = *a;

    intersect(&in->flow, &both, b);
    kiln__flow_follow(in, &both);
}

/* Keeps only what is also assigned here, which `assigned` says of each
   variable. */
static void narrow(kiln__path *path)
{
    size_t kept = 0;

    for (size_t i = 0; i < path->count; i++)
        if (path->variables[i]->assigned)
            path->variables[kept++] = path->variables[i];
    path->count = kept;
}

static void leave_path(kiln__infer *in, kiln__path *path, int32_t *has_path)
{
    if (!in->flow.reachable)
        return;
    if (*has_path)
        narrow(path);
    else
        *path = path_since(in, in->flow.loop->mark);
    *has_path = 1;
    in->flow.reachable = in->flow.cut = 0;
}

void kiln__flow_break(kiln__infer *in)
{
    leave_path(in, &in->flow.loop->exit, &in->flow.loop->has_exit);
}

void kiln__flow_continue(kiln__infer *in)
{
    leave_path(in, &in->flow.loop->next, &in->flow.loop->has_next);
}
