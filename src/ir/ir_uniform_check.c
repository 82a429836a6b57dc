/* ir_uniform_check.c - finds collective operations in the wrong place. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/system/stack.h"
#include "ir/ir_tables.h"
#include "ir/ir_uniform.h"

typedef struct checker {
    kiln__uniform *u;
    kiln__uniform_error *out;
} checker;

/* Returns which items must reach an operation of that kind together. */
static uint8_t level_for(uint8_t collective)
{
    return collective == KILN__COLLECTIVE_GROUP ? KILN__UNIFORM_GROUP
                                                : KILN__UNIFORM_SUB_GROUP;
}

static int fails(checker *c, const kiln__uniform_view *view,
                 kiln__uniform_problem problem, uint32_t node, uint32_t cause,
                 uint8_t level)
{
    c->out->problem = problem;
    c->out->at = (kiln__uniform_place){view->function, node};
    c->out->cause = cause;
    c->out->level = level;
    return 0;
}

/* ---- why control differs ---- */

/* Returns, for each node, the node that has it as an operand; NULL: out of
   memory. */
static uint32_t *find_users(checker *c, const kiln__ir *ir)
{
    uint32_t *users = kiln__arena_allocate_array(&c->u->arena, ir->nodes.count,
                                                 sizeof *users);

    for (uint32_t i = 1; users != NULL && i < ir->nodes.count; i++) {
        const kiln__ir_node *node = kiln__ir_node_at(ir, i);

        for (size_t j = 0; j < node->count; j++)
            users[kiln__ir_operand(ir, node, j)] = i;
    }
    return users;
}

/* True when the node decides which items evaluate its other operands, and items
   within the level differ. */
static int divides(const kiln__uniform_view *view, uint32_t index,
                   uint8_t level)
{
    const kiln__ir *ir = view->function->ir;
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);
    size_t conditions = 0;

    switch ((uint32_t)node->op) {
    case KILN__IR_FOR:
        conditions = 3;
        break;
    case KILN__IR_IF:
    case KILN__IR_WHILE:
    case KILN__IR_ANDALSO:
    case KILN__IR_ORELSE:
    case KILN__IR_CHOOSE:
        conditions = 1;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < conditions; i++)
        if (view->values[kiln__ir_operand(ir, node, i)] > level)
            return 1;
    return 0;
}

/* Finds a jump that only some items take. Nodes are in the order of the
   text. */
static uint32_t find_jump(const kiln__uniform_view *view, uint8_t level)
{
    const kiln__ir *ir = view->function->ir;

    for (uint32_t i = 1; i < ir->nodes.count; i++) {
        const uint32_t op = ir->nodes.items[i].op;

        if ((op == KILN__IR_RETURN || op == KILN__IR_BREAK ||
             op == KILN__IR_CONTINUE) &&
            view->controls[i] > level)
            return i;
    }
    return 0;
}

static int misplaced(checker *c, const kiln__uniform_view *view, uint32_t node,
                     uint8_t level)
{
    const kiln__ir *ir = view->function->ir;
    const uint32_t *users = find_users(c, ir);

    if (users == NULL)
        return fails(c, view, KILN__PROBLEM_MEMORY, node, 0, level);
    for (uint32_t at = node; at != ir->body; at = users[at])
        if (divides(view, users[at], level))
            return fails(c, view, KILN__PROBLEM_CONDITION, node, users[at],
                         level);
    return fails(c, view, KILN__PROBLEM_JUMP, node, find_jump(view, level),
                 level);
}

/* ---- the check ---- */

static int check_view(checker *c, kiln__uniform_view *view);

static kiln__uniform_view *view_of_call(checker *c,
                                        const kiln__uniform_view *view,
                                        uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(view->function->ir, index);
    uint8_t *levels =
        kiln__arena_allocate(&c->u->arena, (size_t)node->count + 1);
    const kiln__uniform_view *found;

    if (levels == NULL)
        return NULL;
    for (size_t i = 0; i < node->count; i++)
        levels[i] = view->values[kiln__ir_operand(view->function->ir, node, i)];
    found = kiln__uniform_view_of(c->u, view->function->callees[node->imm],
                                  levels, view->controls[index]);
    for (kiln__uniform_view *v = c->u->views; v != NULL; v = v->next)
        if (v == found)
            return v;
    return NULL;
}

/* Checks the call of a collective function, and then the function as it is
   called here. */
static int check_call(checker *c, const kiln__uniform_view *view,
                      uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(view->function->ir, index);
    const kiln__uniform_function *callee =
        &c->u->functions[view->function->callees[node->imm]];
    kiln__uniform_error *out = c->out;
    kiln__uniform_view *inner;
    uint8_t level;

    if (callee->collective == KILN__COLLECTIVE_NONE)
        return 1;
    level = level_for(callee->collective);
    if (callee->recursive)
        return fails(c, view, KILN__PROBLEM_RECURSION, index, 0, level);
    if (view->controls[index] > level)
        return misplaced(c, view, index, level);
    inner = view_of_call(c, view, index);
    if (inner == NULL)
        return fails(c, view, KILN__PROBLEM_MEMORY, index, 0, level);
    if (out->call_count < KILN__PLACES_MAX)
        out->calls[out->call_count] =
            (kiln__uniform_place){view->function, index};
    out->call_count++;
    if (!check_view(c, inner))
        return 0;
    out->call_count--;
    return 1;
}

static int check_node(checker *c, const kiln__uniform_view *view,
                      uint32_t index)
{
    const kiln__ir *ir = view->function->ir;
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);
    const uint8_t collective = kiln__ir_collective(node);
    const uint8_t level = level_for(collective);

    if (node->op == KILN__IR_CALL)
        return check_call(c, view, index);
    if (collective == KILN__COLLECTIVE_NONE)
        return 1;
    if (view->controls[index] > level)
        return misplaced(c, view, index, level);
    if ((node->imm == KILN__GROUP_GROUP_BROADCAST ||
         node->imm == KILN__GROUP_SUB_BROADCAST) &&
        node->op == KILN__IR_GROUP &&
        view->values[kiln__ir_operand(ir, node, 1)] > level)
        return fails(c, view, KILN__PROBLEM_LANE, index, 0, level);
    return 1;
}

static int check_view(checker *c, kiln__uniform_view *view)
{
    if (kiln__stack_is_low()) {
        c->u->no_stack = 1;
        return fails(c, view, KILN__PROBLEM_MEMORY, 0, 0, KILN__UNIFORM_GROUP);
    }
    if (view->is_checked)
        return 1;
    view->is_checked = 1;
    for (uint32_t i = 1; i < view->function->ir->nodes.count; i++)
        if (!check_node(c, view, i))
            return 0;
    return 1;
}

int kiln__uniform_check(kiln__uniform *u, kiln__uniform_error *out)
{
    checker c = {u, out};

    *out = (kiln__uniform_error){.problem = KILN__PROBLEM_NONE};
    if (u->functions[0].collective == KILN__COLLECTIVE_NONE)
        return 1;
    out->at.function = &u->functions[0];
    if (u->functions[0].recursive) {
        out->problem = KILN__PROBLEM_RECURSION;
        return 0;
    }
    if (kiln__uniform_entry(u) == NULL) {
        out->problem = KILN__PROBLEM_MEMORY;
        return 0;
    }
    for (kiln__uniform_view *v = u->views; v != NULL; v = v->next)
        if (v->function == &u->functions[0])
            return check_view(&c, v);
    return 1;
}
