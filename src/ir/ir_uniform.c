/* ir_uniform.c - finds what is the same for all items of a group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/ir_uniform.h"

#include <string.h>

#include "base/system/stack.h"
#include "ir/ir_tables.h"

/*
 * First, facts are found that hold for a function whatever its arguments are.
 * Then views are made on demand: a walk over the function's tree raises levels,
 * and is repeated until a walk changes none. ir_uniform.h says what levels and
 * views mean.
 */

static uint8_t highest(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

/* ---- facts about functions ---- */

uint8_t kiln__ir_collective(const kiln__ir_node *node)
{
    if (node->op == KILN__IR_BARRIER)
        return KILN__COLLECTIVE_GROUP;
    if (node->op != KILN__IR_GROUP)
        return KILN__COLLECTIVE_NONE;
    return node->imm >= KILN__GROUP_GROUP_ADD ? KILN__COLLECTIVE_GROUP
                                              : KILN__COLLECTIVE_SUB_GROUP;
}

static int reads_item(const kiln__ir_node *node)
{
    const int64_t query = node->imm / 4;

    return node->op == KILN__IR_QUERY &&
           (query == KILN__QUERY_GLOBAL_ID || query == KILN__QUERY_LOCAL_ID ||
            query == KILN__QUERY_LANE_ID || query == KILN__QUERY_SUB_GROUP_ID);
}

static void find_own(kiln__uniform_function *f)
{
    f->collective = f->shares = f->varies = 0;
    f->recursive = 1;
    for (size_t i = 1; i < f->ir->nodes.count; i++) {
        const kiln__ir_node *node = &f->ir->nodes.items[i];

        f->collective = highest(f->collective, kiln__ir_collective(node));
        f->shares |= node->op == KILN__IR_LOCAL_ARRAY;
        f->varies |= node->op == KILN__IR_ATOMIC ||
                     node->op == KILN__IR_GROUP ||
                     node->op == KILN__IR_EXTERNAL || reads_item(node);
    }
}

/* Adds the facts of callees to their callers; true when something changed. */
static int find_callees(const kiln__uniform *u, kiln__uniform_function *f)
{
    const uint8_t collective = f->collective, shares = f->shares,
                  varies = f->varies;

    for (size_t i = 0; i < f->callee_count; i++) {
        const kiln__uniform_function *callee = &u->functions[f->callees[i]];

        f->collective = highest(f->collective, callee->collective);
        f->shares |= callee->shares;
        f->varies |= callee->varies;
    }
    return f->collective != collective || f->shares != shares ||
           f->varies != varies;
}

static int calls_recursive(const kiln__uniform *u,
                           const kiln__uniform_function *f)
{
    for (size_t i = 0; i < f->callee_count; i++)
        if (u->functions[f->callees[i]].recursive)
            return 1;
    return 0;
}

/* Unmarks functions that call no marked function. Those that stay marked reach
   a cycle and cannot be emitted in place. */
static int unmark_leaves(const kiln__uniform *u)
{
    int changed = 0;

    for (size_t i = u->count; i-- > 0;)
        if (u->functions[i].recursive && !calls_recursive(u, &u->functions[i]))
            u->functions[i].recursive = 0, changed = 1;
    return changed;
}

static int is_called_by_left(const kiln__uniform *u, size_t index)
{
    for (size_t i = 0; i < u->count; i++) {
        const kiln__uniform_function *f = &u->functions[i];

        for (size_t j = 0; f->recursive && j < f->callee_count; j++)
            if (f->callees[j] == index)
                return 1;
    }
    return 0;
}

/* Unmarks functions that no marked function calls. */
static int unmark_roots(const kiln__uniform *u)
{
    int changed = 0;

    for (size_t i = 0; i < u->count; i++)
        if (u->functions[i].recursive && !is_called_by_left(u, i))
            u->functions[i].recursive = 0, changed = 1;
    return changed;
}

void kiln__uniform_init(kiln__uniform *u, const kiln_alloc *alloc,
                        kiln__uniform_function *functions, size_t count)
{
    int changed = 1;

    *u = (kiln__uniform){.functions = functions, .count = count};
    kiln__arena_init(&u->arena, alloc);
    for (size_t i = 0; i < count; i++)
        find_own(&functions[i]);
    while (changed) {
        changed = 0;
        for (size_t i = count; i-- > 0;)
            changed |= find_callees(u, &functions[i]);
    }
    while (unmark_leaves(u))
        ;
    while (unmark_roots(u))
        ;
}

void kiln__uniform_dispose(kiln__uniform *u)
{
    kiln__arena_dispose(&u->arena);
    u->views = NULL;
}

/* ---- a walk over one function ---- */

typedef struct loop {
    struct loop *outer;
    uint32_t node;
    /* The level at which some items are in their next iteration already. */
    uint8_t skipped;
} loop;

typedef struct walk {
    kiln__uniform *u;
    kiln__uniform_view *view;
    const kiln__ir *ir;
    loop *loop;
    uint8_t returned; /* level for which some items have returned */
    int changed;
    int no_memory;
} walk;

static void raise(walk *w, uint8_t *level, uint8_t to)
{
    if (*level < to) {
        *level = to;
        w->changed = 1;
    }
}

static uint8_t expression(walk *w, uint32_t index, uint8_t control);

static uint8_t operand(walk *w, const kiln__ir_node *node, size_t i,
                       uint8_t control)
{
    return expression(w, kiln__ir_operand(w->ir, node, i), control);
}

static uint8_t operands(walk *w, const kiln__ir_node *node, uint8_t control)
{
    uint8_t level = KILN__UNIFORM_GROUP;

    for (size_t i = 0; i < node->count; i++)
        level = highest(level, operand(w, node, i, control));
    return level;
}

static uint8_t query_level(const kiln__ir_node *node)
{
    if (node->imm / 4 == KILN__QUERY_SUB_GROUP_ID)
        return KILN__UNIFORM_SUB_GROUP;
    return reads_item(node) ? KILN__UNIFORM_NOT : KILN__UNIFORM_GROUP;
}

static uint8_t group_level(const kiln__ir_node *node)
{
    if (node->imm >= KILN__GROUP_GROUP_ADD)
        return KILN__UNIFORM_GROUP;
    return node->imm >= KILN__GROUP_SUB_ADD ? KILN__UNIFORM_SUB_GROUP
                                            : KILN__UNIFORM_NOT;
}

/* Returns the level of a call's result, by a view of the callee for the levels
   of the arguments. */
static uint8_t call_level(walk *w, const kiln__ir_node *node, uint8_t control)
{
    const uint32_t index = w->view->function->callees[node->imm];
    const kiln__uniform_function *callee = &w->u->functions[index];
    uint8_t levels[64], all = KILN__UNIFORM_GROUP;
    const kiln__uniform_view *view;

    for (size_t i = 0; i < node->count; i++) {
        const uint8_t level = operand(w, node, i, control);

        all = highest(all, level);
        if (i < sizeof levels)
            levels[i] = level;
    }
    if (callee->recursive || node->count > sizeof levels)
        return callee->varies ? KILN__UNIFORM_NOT : all;
    view = kiln__uniform_view_of(w->u, index, levels,
                                 callee->collective ? control
                                                    : KILN__UNIFORM_GROUP);
    if (view == NULL)
        w->no_memory = 1;
    return view == NULL ? KILN__UNIFORM_NOT : view->result;
}

static uint8_t choice(walk *w, const kiln__ir_node *node, uint8_t control)
{
    uint8_t level = operand(w, node, 0, control);

    control = highest(control, level);
    for (size_t i = 1; i < node->count; i++)
        level = highest(level, operand(w, node, i, control));
    return level;
}

/* Returns the level of an expression under control of that level. */
static uint8_t level_of(walk *w, const kiln__ir_node *node, uint8_t control)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_LOCAL:
        return w->view->locals[node->imm];
    case KILN__IR_ANDALSO:
    case KILN__IR_ORELSE:
    case KILN__IR_CHOOSE:
        return choice(w, node, control);
    case KILN__IR_QUERY:
        return query_level(node);
    case KILN__IR_ATOMIC:
        (void)operands(w, node, control);
        return KILN__UNIFORM_NOT;
    case KILN__IR_GROUP:
        (void)operands(w, node, control);
        return group_level(node);
    case KILN__IR_CALL:
        return call_level(w, node, control);
    case KILN__IR_EXTERNAL:
        return KILN__UNIFORM_NOT;
    default:
        return operands(w, node, control);
    }
}

/* True when the walk cannot go deeper. Its result is not used then. */
static int is_too_deep(walk *w)
{
    if (kiln__stack_is_low())
        w->u->no_stack = w->no_memory = 1;
    return w->no_memory;
}

static uint8_t expression(walk *w, uint32_t index, uint8_t control)
{
    uint8_t level;

    if (is_too_deep(w))
        return KILN__UNIFORM_NOT;
    level = level_of(w, kiln__ir_node_at(w->ir, index), control);
    raise(w, &w->view->controls[index], control);
    raise(w, &w->view->values[index], level);
    return w->view->values[index];
}

/* ---- statements ---- */

static void statement(walk *w, uint32_t index, uint8_t control);

static void body(walk *w, const kiln__ir_node *node, size_t i, uint8_t control)
{
    statement(w, kiln__ir_operand(w->ir, node, i), control);
}

static void enter_loop(walk *w, loop *l, uint32_t index)
{
    *l = (loop){.outer = w->loop, .node = index};
    w->loop = l;
}

static void repeat(walk *w, uint32_t index, const kiln__ir_node *node,
                   uint8_t control)
{
    const uint32_t condition = kiln__ir_operand(w->ir, node, 0);
    loop l;

    /* Items that evaluate the condition again are still in the loop. */
    control = highest(control, w->view->values[index]);
    control = highest(control, w->view->values[condition]);
    control = highest(control, expression(w, condition, control));
    enter_loop(w, &l, index);
    body(w, node, 1, control);
    w->loop = l.outer;
}

static void walk_for(walk *w, uint32_t index, const kiln__ir_node *node,
                     uint8_t control)
{
    uint8_t inside = highest(control, w->view->values[index]);
    loop l;

    for (size_t i = 0; i < 3; i++)
        inside = highest(inside, operand(w, node, i, control));
    raise(w, &w->view->locals[node->imm], inside);
    enter_loop(w, &l, index);
    body(w, node, 3, inside);
    w->loop = l.outer;
}

static void unroll(walk *w, uint32_t index, const kiln__ir_node *node,
                   uint8_t control)
{
    loop l;

    control = highest(control, w->view->values[index]);
    enter_loop(w, &l, index);
    for (size_t i = 0; i < node->count; i++) {
        l.skipped = KILN__UNIFORM_GROUP;
        body(w, node, i, control);
    }
    w->loop = l.outer;
}

static void walk_jump(walk *w, const kiln__ir_node *node, uint8_t control)
{
    if (node->op == KILN__IR_CONTINUE)
        w->loop->skipped = highest(w->loop->skipped, control);
    else if (node->op == KILN__IR_BREAK)
        raise(w, &w->view->values[w->loop->node], control);
    else {
        raise(w, &w->view->result,
              highest(control, operands(w, node, control)));
        w->returned = highest(w->returned, control);
        for (const loop *l = w->loop; l != NULL; l = l->outer)
            raise(w, &w->view->values[l->node], control);
    }
}

static void branch(walk *w, const kiln__ir_node *node, uint8_t control)
{
    const uint8_t inside = highest(control, operand(w, node, 0, control));

    for (size_t i = 1; i < node->count; i++)
        body(w, node, i, inside);
}

static void set(walk *w, const kiln__ir_node *node, uint8_t control)
{
    raise(w, &w->view->locals[node->imm],
          highest(control, operand(w, node, 0, control)));
}

/* Walks over a statement under control of that level; raises the levels of what
   it sets. */
static void statement(walk *w, uint32_t index, uint8_t control)
{
    const kiln__ir_node *node = kiln__ir_node_at(w->ir, index);

    if (is_too_deep(w))
        return;
    control = highest(control, w->returned);
    if (w->loop != NULL)
        control = highest(control, w->loop->skipped);
    raise(w, &w->view->controls[index], control);
    switch ((uint32_t)node->op) {
    case KILN__IR_BLOCK:
        for (size_t i = 0; i < node->count; i++)
            body(w, node, i, control);
        break;
    case KILN__IR_SET:
        set(w, node, control);
        break;
    case KILN__IR_IF:
        branch(w, node, control);
        break;
    case KILN__IR_WHILE:
        repeat(w, index, node, control);
        break;
    case KILN__IR_FOR:
        walk_for(w, index, node, control);
        break;
    case KILN__IR_UNROLLED:
        unroll(w, index, node, control);
        break;
    case KILN__IR_BREAK:
    case KILN__IR_CONTINUE:
    case KILN__IR_RETURN:
        walk_jump(w, node, control);
        break;
    default:
        (void)operands(w, node, control);
        break;
    }
}

/* ---- views ---- */

static kiln__uniform_view *find_view(const kiln__uniform *u,
                                     const kiln__uniform_function *f,
                                     const uint8_t *parameters, uint8_t control)
{
    for (kiln__uniform_view *v = u->views; v != NULL; v = v->next)
        if (v->function == f && v->control == control &&
            (f->ir->parameter_count == 0 ||
             memcmp(v->parameters, parameters, f->ir->parameter_count) == 0))
            return v;
    return NULL;
}

/* Makes a view in which everything has the lowest level. */
static kiln__uniform_view *make(kiln__uniform *u,
                                const kiln__uniform_function *f,
                                const uint8_t *parameters, uint8_t control)
{
    kiln__arena *arena = &u->arena;
    const size_t given = f->ir->parameter_count, nodes = f->ir->nodes.count;
    kiln__uniform_view *v = kiln__arena_allocate(arena, sizeof *v);
    uint8_t *copy = kiln__arena_allocate(arena, given + 1);

    if (v == NULL || copy == NULL)
        return NULL;
    if (given > 0)
        memcpy(copy, parameters, given);
    *v = (kiln__uniform_view){
        .function = f,
        .parameters = copy,
        .control = control,
        .locals = kiln__arena_allocate(arena, f->ir->locals.count + 1),
        .values = kiln__arena_allocate(arena, nodes + 1),
        .controls = kiln__arena_allocate(arena, nodes + 1),
    };
    if (v->locals == NULL || v->values == NULL || v->controls == NULL)
        return NULL;
    memset(v->locals, 0, f->ir->locals.count);
    memset(v->values, 0, nodes);
    memset(v->controls, 0, nodes);
    if (given > 0)
        memcpy(v->locals, parameters, given);
    return v;
}

const kiln__uniform_view *kiln__uniform_view_of(kiln__uniform *u,
                                                size_t function,
                                                const uint8_t *parameters,
                                                uint8_t control)
{
    const kiln__uniform_function *f = &u->functions[function];
    kiln__uniform_view *view = find_view(u, f, parameters, control);
    walk w = {.u = u, .ir = f->ir};

    if (view != NULL)
        return view;
    view = w.view = make(u, f, parameters, control);
    if (view == NULL)
        return NULL;
    do {
        w.changed = 0;
        w.returned = KILN__UNIFORM_GROUP;
        statement(&w, f->ir->body, control);
    } while (w.changed && !w.no_memory);
    if (w.no_memory)
        return NULL;
    view->next = u->views;
    u->views = view;
    return view;
}

const kiln__uniform_view *kiln__uniform_entry(kiln__uniform *u)
{
    uint8_t *levels = kiln__arena_allocate(
        &u->arena, (size_t)u->functions[0].ir->parameter_count + 1);

    if (levels == NULL)
        return NULL;
    memset(levels, 0, u->functions[0].ir->parameter_count);
    return kiln__uniform_view_of(u, 0, levels, KILN__UNIFORM_GROUP);
}
