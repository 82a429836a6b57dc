/* infer_statement.c - blocks, and statements other than loops and
   assignments. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/infer/infer.h"

/* Checks a statement after a return or break, and discards it. What a
   compile-time condition excludes is not even checked. */
static void dead_statement(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ir_mark mark = kiln__infer_mark(in);

    kiln__infer_statement(in, ast);
    in->flow.reachable = 0;
    if (in->status == KILN_OK)
        kiln__infer_rollback(in, mark);
}

void kiln__infer_statements(kiln__infer *in, const kiln__ast *block)
{
    for (size_t i = 0; i < block->count && in->status == KILN_OK; i++) {
        if (in->flow.reachable)
            kiln__infer_statement(in, block->children[i]);
        else if (!in->flow.cut)
            dead_statement(in, block->children[i]);
    }
}

uint32_t kiln__infer_block(kiln__infer *in, const kiln__ast *block)
{
    const size_t mark = kiln__infer_open_block(in);

    if (block->kind == KILN__AST_BLOCK)
        kiln__infer_statements(in, block);
    else
        kiln__infer_statement(in, block); /* an elseif */
    return kiln__infer_close_block(in, mark);
}

/* ---- if ---- */

/* The condition is known at compile time, so the other branch does not
   exist. */
static void static_if(kiln__infer *in, const kiln__ast *ast, int truth)
{
    const kiln__ast *block = ast->children[truth ? 1 : 2];
    const int reachable = in->flow.reachable;

    if (block == NULL)
        return;
    if (block->kind == KILN__AST_BLOCK)
        kiln__infer_statements(in, block);
    else
        kiln__infer_statement(in, block);
    if (reachable && !in->flow.reachable)
        in->flow.cut = 1;
}

/* Infers an `if` whose condition is known only at run time: both branches
   exist. */
static void dynamic_if(kiln__infer *in, const kiln__ast *ast,
                       const kiln__value *condition)
{
    const size_t mark = in->flow.trail.count;
    const int reachable = in->flow.reachable;
    uint32_t nodes[3] = {kiln__infer_use(in, condition, ast), 0, 0};
    size_t count = 2;
    kiln__path then, otherwise = {.reachable = reachable};
    int cut;

    nodes[1] = kiln__infer_block(in, ast->children[1]);
    then = kiln__flow_cut(in, mark);
    cut = in->flow.cut && !then.reachable;
    in->flow.reachable = reachable;
    if (ast->children[2] != NULL) {
        nodes[2] = kiln__infer_block(in, ast->children[2]);
        otherwise = kiln__flow_cut(in, mark);
        count = 3;
        in->flow.cut |= cut;
    }
    kiln__flow_join(in, &then, &otherwise);
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_IF, NULL, ast, 0,
                                          (kiln__operands){nodes, count}));
}

static void infer_if(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__value condition = kiln__infer_condition(in, ast->children[0]);

    if (condition.kind == KILN__VALUE_TYPED && condition.is_static)
        static_if(in, ast, condition.constant.integer != 0);
    else
        dynamic_if(in, ast, &condition);
}

/* ---- switches, calls ---- */

static void lexical_switch(kiln__infer *in, const kiln__ast *ast)
{
    const uint32_t mask = (ast->flag & KILN__IR_BOUNDS_FLAGS) != 0
                              ? KILN__IR_BOUNDS_FLAGS
                              : KILN__IR_FLOAT_FLAGS;
    const uint16_t before = in->walk.flags;

    in->walk.flags = (uint16_t)((before & ~mask) | ast->flag);
    kiln__infer_statements(in, ast->children[0]);
    in->walk.flags = before;
}

static void evaluate(kiln__infer *in, const kiln__ast *ast)
{
    kiln__value value = kiln__infer_expression(in, ast->children[0]);

    if (value.kind == KILN__VALUE_OPEN)
        value = kiln__infer_settle(in, &value, ast);
    if (value.node != 0 && !kiln__value_is_vague(&value))
        kiln__infer_emit(in,
                         kiln__infer_node(in, KILN__IR_EVAL, NULL, ast, 0,
                                          (kiln__operands){&value.node, 1}));
}

/* ---- assert and print ---- */

static uint32_t add_string(kiln__infer *in, const char *text)
{
    uint32_t index = 0;
    const kiln_status status =
        in->status == KILN_OK ? kiln__ir_add_string(&in->body.ir, text, &index)
                              : in->status;

    if (status != KILN_OK)
        (void)kiln__infer_fail(in, status);
    return index;
}

static void infer_assert(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__value condition = kiln__infer_condition(in, ast->children[0]);
    const uint32_t node = kiln__infer_use(in, &condition, ast);
    const char *text = ast->count > 1 && ast->children[1] != NULL
                           ? ast->children[1]->text
                           : "";

    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_ASSERT, NULL, ast,
                                          add_string(in, text),
                                          (kiln__operands){&node, 1}));
}

enum { FALSE, TRUE, UNKNOWN, REPORTED };

static int truth_of(kiln__infer *in, const kiln__ast *ast);

static int truth_of_both(kiln__infer *in, const kiln__ast *ast)
{
    const int is_and = strcmp(ast->text, "&&") == 0;
    int truth;

    if (!kiln__infer_enter(in, ast))
        return REPORTED;
    truth = truth_of(in, ast->children[0]);
    if (truth == (is_and ? TRUE : FALSE))
        truth = truth_of(in, ast->children[1]);
    kiln__infer_leave(in);
    return truth;
}

/* Returns the value of the condition at compile time. What was built for it is
   discarded. */
static int truth_of(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ir_mark mark = kiln__infer_mark(in);
    kiln__value value;

    if (ast->kind == KILN__AST_LOGIC)
        return truth_of_both(in, ast);
    value = kiln__infer_condition(in, ast);
    if (in->status == KILN_OK)
        kiln__infer_rollback(in, mark);
    if (kiln__value_is_vague(&value))
        return REPORTED;
    if (!value.known)
        return UNKNOWN;
    return value.constant.integer != 0 ? TRUE : FALSE;
}

static void infer_static_assert(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *text = ast->children[1];

    switch (truth_of(in, ast->children[0])) {
    case FALSE:
        (void)kiln__infer_error(in, ast->span, "static-assertion", NULL,
                                "static assertion failed%s%s",
                                text != NULL ? ": " : "",
                                text != NULL ? text->text : "");
        break;
    case UNKNOWN:
        (void)kiln__infer_error(
            in, ast->children[0]->span, "not-constant",
            "`assert` looks at it when the kernel runs",
            "a static assertion needs a condition that is known at compile "
            "time");
        break;
    default:
        break;
    }
}

static uint32_t print_text(kiln__infer *in, const char *text)
{
    return kiln__infer_node(in, KILN__IR_TEXT, NULL, NULL, add_string(in, text),
                            KILN__NO_OPERANDS);
}

static uint32_t print_value(kiln__infer *in, const kiln__ast *ast)
{
    kiln__value value = kiln__infer_operand(in, ast);

    value = kiln__infer_decay(in, &value, ast);
    value = kiln__infer_settle(in, &value, ast);
    if (kiln__value_is_vague(&value))
        return 0;
    if (value.type->kind == KILN_TYPE_TYPE ||
        value.type->kind == KILN_TYPE_FUNCTION) {
        kiln__infer_discard(in, &value, ast);
        return print_text(in, value.type->kind == KILN_TYPE_TYPE
                                  ? kiln_type_text(value.type->element)
                                  : kiln_function_name(value.type->function));
    }
    if (kiln__type_is_scalar(value.type))
        return kiln__infer_use(in, &value, ast);
    (void)kiln__infer_error(in, ast->span, "wrong-type",
                            "print its parts one by one",
                            "print takes texts and scalars, but this is %s",
                            kiln_type_text(value.type));
    return 0;
}

static void infer_print(kiln__infer *in, const kiln__ast *ast)
{
    uint32_t *nodes =
        kiln__arena_allocate_array(&in->arena, ast->count + 1, sizeof *nodes);

    if (nodes == NULL) {
        (void)kiln__infer_fail(in, KILN_ENOMEM);
        return;
    }
    for (size_t i = 0; i < ast->count; i++)
        nodes[i] = ast->children[i]->kind == KILN__AST_STRING
                       ? print_text(in, ast->children[i]->text)
                       : print_value(in, ast->children[i]);
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_PRINT, NULL, ast, 0,
                                          (kiln__operands){nodes, ast->count}));
}

/* ---- any statement ---- */

static void jump(kiln__infer *in, const kiln__ast *ast)
{
    const int is_break = ast->kind == KILN__AST_BREAK;

    kiln__infer_emit(
        in, kiln__infer_node(in, is_break ? KILN__IR_BREAK : KILN__IR_CONTINUE,
                             NULL, ast, 0, KILN__NO_OPERANDS));
    if (is_break)
        kiln__flow_break(in);
    else
        kiln__flow_continue(in);
}

static void by_kind(kiln__infer *in, const kiln__ast *ast)
{
    switch ((uint32_t)ast->kind) {
    case KILN__AST_BLOCK:
        kiln__infer_statements(in, ast);
        break;
    case KILN__AST_ASSIGN:
        kiln__infer_assignment(in, ast);
        break;
    case KILN__AST_UNPACK:
        kiln__infer_unpack(in, ast);
        break;
    case KILN__AST_EXPRESSION:
        evaluate(in, ast);
        break;
    case KILN__AST_IF:
        infer_if(in, ast);
        break;
    case KILN__AST_WHILE:
        kiln__infer_while(in, ast);
        break;
    case KILN__AST_FOR:
        if (ast->flag)
            kiln__infer_static_for(in, ast);
        else
            kiln__infer_for(in, ast);
        break;
    case KILN__AST_BREAK:
    case KILN__AST_CONTINUE:
        jump(in, ast);
        break;
    case KILN__AST_RETURN:
        kiln__infer_return(in, ast);
        break;
    case KILN__AST_LOCAL:
        kiln__infer_local_array(in, ast);
        break;
    case KILN__AST_SWITCH:
        lexical_switch(in, ast);
        break;
    case KILN__AST_ASSERT:
        infer_assert(in, ast);
        break;
    case KILN__AST_PRINT:
        infer_print(in, ast);
        break;
    case KILN__AST_STATIC_ASSERT:
        infer_static_assert(in, ast);
        break;
    default:
        (void)kiln__infer_error(in, ast->span, "not-a-statement", NULL,
                                "this is no statement");
        break;
    }
}

void kiln__infer_statement(kiln__infer *in, const kiln__ast *ast)
{
    if (!kiln__infer_enter(in, ast)) {
        in->broken = 1;
        return;
    }
    by_kind(in, ast);
    kiln__infer_leave(in);
}
