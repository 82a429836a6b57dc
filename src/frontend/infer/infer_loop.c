/* infer_loop.c - while, for, and static loops, which are unrolled. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"

/*
 * A local has one type in the whole method, and a walk only ever adds
 * assignments. So one walk of a loop's body is enough. The body of a static
 * loop is walked once for each iteration, because the compile-time integer
 * differs.
 */

static void begin_loop(kiln__infer *in, kiln__loop *loop)
{
    *loop = (kiln__loop){.outer = in->flow.loop, .mark = in->flow.trail.count};
    in->flow.loop = loop;
}

/* Returns a loop's body as a block, and restores what was assigned before
   it. */
static uint32_t loop_body(kiln__infer *in, kiln__loop *loop,
                          const kiln__ast *block)
{
    uint32_t node;

    node = kiln__infer_block(in, block);
    (void)kiln__flow_cut(in, loop->mark);
    in->flow.loop = loop->outer;
    return node;
}

void kiln__infer_while(kiln__infer *in, const kiln__ast *ast)
{
    const int reachable = in->flow.reachable;
    kiln__value condition;
    kiln__loop loop;
    uint32_t nodes[2];
    int endless;

    in->walk.conditional++;
    condition = kiln__infer_condition(in, ast->children[0]);
    in->walk.conditional--;
    if (condition.kind == KILN__VALUE_TYPED && condition.is_static &&
        condition.constant.integer == 0)
        return; /* a compile-time condition says that there is no loop */
    nodes[0] = kiln__infer_use(in, &condition, ast);
    begin_loop(in, &loop);
    nodes[1] = loop_body(in, &loop, ast->children[1]);
    endless = condition.kind == KILN__VALUE_TYPED && condition.known &&
              condition.constant.integer != 0;
    in->flow.reachable = reachable;
    if (endless && loop.has_exit)
        kiln__flow_follow(in, &loop.exit);
    else if (endless)
        in->flow.reachable = 0;
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_WHILE, NULL, ast, 0,
                                          (kiln__operands){nodes, 2}));
}

/* ---- for ---- */

/* The step is no constant integer. Loops over a grid, whose step is the number
   of items, are common in other languages, so the hint says how to write
   one. */
static void refuse_step(kiln__infer *in, const kiln__value *step,
                        const kiln__ast *ast)
{
    const int is_integer = step->kind == KILN__VALUE_TYPED &&
                           kiln__kind_is_integer(step->type->kind);

    (void)kiln__infer_error(
        in, ast->span, "not-constant",
        is_integer ? "write `i = lo`, `while i < hi`, and `i += s` as the "
                     "last line of the loop"
                   : NULL,
        "the step of a loop is a constant integer");
}

/* Stores the step as a constant of the loop's type; false after an error. */
static int loop_step(kiln__infer *in, const kiln__ast *ast,
                     const kiln_type *type, kiln__value *out)
{
    kiln__constant constant = {.integer = 1};

    if (ast != NULL) {
        const kiln__value value = kiln__infer_operand(in, ast);

        if (kiln__value_is_vague(&value))
            return 0;
        if (!kiln__infer_known_integer(&value, &constant.integer)) {
            refuse_step(in, &value, ast);
            return 0;
        }
        kiln__infer_discard(in, &value, ast);
        if (constant.integer == 0) {
            (void)kiln__infer_error(in, ast->span, "zero-step", NULL,
                                    "the step of a loop is not zero");
            return 0;
        }
    }
    if (!kiln__fold_fits(constant.integer, type->kind)) {
        (void)kiln__infer_error(
            in, ast == NULL ? in->walk.span : ast->span, "literal-range",
            "convert the bounds to a signed type", "the step does not fit %s",
            kiln_type_text(type));
        return 0;
    }
    *out = kiln__infer_constant(type, &constant);
    return 1;
}

/* Stores both bounds as values of one integer type; false: reported, or
   vague. */
static int loop_bounds(kiln__infer *in, const kiln__ast *ast,
                       kiln__value *bounds)
{
    bounds[0] = kiln__infer_operand(in, ast->children[0]);
    bounds[1] = kiln__infer_operand(in, ast->children[1]);
    for (size_t i = 0; i < 2; i++)
        if (bounds[i].kind == KILN__VALUE_LITERAL &&
            bounds[i].constant.is_float) {
            (void)kiln__infer_error(in, ast->children[i]->span, "wrong-type",
                                    NULL, "the bounds of a loop are integers");
            return 0;
        }
    if (!kiln__infer_unify(in, bounds, 2, ast, ".."))
        return 0;
    if (kiln__kind_is_integer(bounds[0].type->kind))
        return 1;
    (void)kiln__infer_error(in, ast->children[0]->span, "wrong-type", NULL,
                            "the bounds of a loop are integers, not %s",
                            kiln_type_text(bounds[0].type));
    return 0;
}

/* Declares the loop's variable. Restoring symbol->variable undoes it. */
static kiln__variable *declare_loop(kiln__infer *in, kiln__symbol *symbol,
                                    kiln__variable_kind kind)
{
    kiln__variable *variable =
        symbol == NULL ? NULL : kiln__infer_declare(in, symbol, kind);

    if (variable != NULL)
        variable->assigned = 1;
    return variable;
}

void kiln__infer_for(kiln__infer *in, const kiln__ast *ast)
{
    kiln__symbol *symbol = kiln__infer_symbol(in, in->at.package, ast->text);
    kiln__value values[3] = {{0}};
    const int good =
        loop_bounds(in, ast, values) &&
        loop_step(in, ast->children[2], values[0].type, &values[2]);
    const int reachable = in->flow.reachable;
    kiln__variable *variable = declare_loop(in, symbol, KILN__VARIABLE_LOOP);
    uint32_t nodes[4] = {0};
    kiln__loop loop;

    if (variable == NULL)
        return;
    variable->place = ast->span;
    variable->poisoned = !good;
    if (good) {
        variable->type = values[0].type;
        variable->local = kiln__infer_local(in, ast->text, variable->type);
        for (size_t i = 0; i < 3; i++)
            nodes[i] = kiln__infer_use(in, &values[i], ast);
    } else {
        in->broken = 1;
    }
    begin_loop(in, &loop);
    nodes[3] = loop_body(in, &loop, ast->children[3]);
    in->flow.reachable = reachable;
    symbol->variable = variable->outer;
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_FOR, NULL, ast,
                                          variable->local,
                                          (kiln__operands){nodes, 4}));
}

/* ---- static loops ---- */

static int static_bound(kiln__infer *in, const kiln__ast *ast, kiln__wide *out)
{
    const kiln__value value = kiln__infer_operand(in, ast);

    if (kiln__value_is_vague(&value))
        return 0;
    if (!kiln__infer_known_integer(&value, out)) {
        (void)kiln__infer_error(in, ast->span, "not-constant", NULL,
                                "a static loop takes compile-time integers, "
                                "but this is %s",
                                kiln__infer_describe(in, &value));
        return 0;
    }
    kiln__infer_discard(in, &value, ast);
    return 1;
}

typedef struct static_range {
    kiln__wide low, step;
    size_t iterations;
} static_range;

/* Stores the range of a static loop and its number of iterations; false after
   an error. */
static int static_bounds(kiln__infer *in, const kiln__ast *ast,
                         static_range *out)
{
    kiln__wide high = 0, span, iterations;

    out->step = 1;
    if (!static_bound(in, ast->children[0], &out->low) ||
        !static_bound(in, ast->children[1], &high) ||
        (ast->children[2] != NULL &&
         !static_bound(in, ast->children[2], &out->step)))
        return 0;
    if (out->step == 0 || !kiln__fold_fits(out->step, KILN_TYPE_I64) ||
        !kiln__fold_fits(out->low, KILN_TYPE_I64) ||
        !kiln__fold_fits(high, KILN_TYPE_I64)) {
        (void)kiln__infer_error(in, ast->span,
                                out->step == 0 ? "zero-step" : "literal-range",
                                NULL, "the range of this loop cannot be");
        return 0;
    }
    span = out->step > 0 ? high - out->low : out->low - high;
    iterations =
        span <= 0 ? 0
                  : (span - 1) / (out->step > 0 ? out->step : -out->step) + 1;
    if (iterations > KILN__INFER_COPIES_MAX) {
        (void)kiln__infer_error(
            in, ast->span, "too-large", "leave `static` out",
            "a static loop of %llu iterations; it has at most %d",
            iterations > UINT64_MAX ? ULLONG_MAX
                                    : (unsigned long long)iterations,
            KILN__INFER_COPIES_MAX);
        return 0;
    }
    out->iterations = (size_t)iterations;
    return 1;
}

/* Infers one iteration. Its `continue`s go on after it. */
static uint32_t infer_iteration(kiln__infer *in, kiln__loop *loop,
                                const kiln__ast *block)
{
    const uint32_t node = kiln__infer_block(in, block);
    kiln__path end;

    if (loop->has_next) {
        end = kiln__flow_cut(in, loop->mark);
        kiln__flow_join(in, &end, &loop->next);
        loop->has_next = 0;
    }
    return node;
}

/* Infers the iterations of a static loop one after the other, as blocks of an
   UNROLLED. */
static void unroll(kiln__infer *in, const kiln__ast *ast,
                   const static_range *range, kiln__variable *variable)
{
    uint32_t *nodes = kiln__arena_allocate_array(
        &in->arena, range->iterations + 1, sizeof *nodes);
    size_t count = 0;
    kiln__loop loop;
    kiln__path end;

    if (nodes == NULL) {
        (void)kiln__infer_fail(in, KILN_ENOMEM);
        return;
    }
    begin_loop(in, &loop);
    while (count < range->iterations && in->flow.reachable &&
           in->status == KILN_OK &&
           in->diagnostics.list.count < in->diagnostics.limit) {
        variable->value = kiln__infer_static(
            in, range->low + (kiln__wide)count * range->step, ast->span);
        nodes[count++] = infer_iteration(in, &loop, ast->children[3]);
    }
    in->flow.loop = loop.outer;
    if (loop.has_exit) {
        end = kiln__flow_cut(in, loop.mark);
        kiln__flow_join(in, &end, &loop.exit);
    }
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_UNROLLED, NULL, ast, 0,
                                          (kiln__operands){nodes, count}));
}

void kiln__infer_static_for(kiln__infer *in, const kiln__ast *ast)
{
    kiln__symbol *symbol = kiln__infer_symbol(in, in->at.package, ast->text);
    static_range range = {0};
    kiln__variable *variable;

    if (!static_bounds(in, ast, &range)) {
        in->broken = 1;
        return;
    }
    variable = declare_loop(in, symbol, KILN__VARIABLE_VALUE);
    if (variable == NULL)
        return;
    unroll(in, ast, &range, variable);
    symbol->variable = variable->outer;
}
