/* lower_plan.c - reads a request's functions and decides how they are made. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/lower/lower.h"

/*
 * Everything that can go wrong in lowering goes wrong here: functions that do
 * not decode, calls that do not fit, constructs that the backend lacks. Then
 * the file finds out what must be known of a function before code that calls it
 * is made: whether it can fail, whether it can reach itself, and whether it is
 * inlined.
 */

/* Functions with one caller are inlined, and so are those below this many
   nodes, counted with all that they inline themselves. A device cannot keep an
   item's ids in registers across a call. */
#define INLINED_MAX 2000

/* ---- what nodes can do ---- */

/* True when the indices of the node are checked. */
static int is_checked(const kiln__lowering *l, const kiln__ir_node *node)
{
    if (node->flags & KILN__IR_BOUNDS_ON)
        return 1;
    return (node->flags & KILN__IR_BOUNDS_OFF)
               ? 0
               : l->job->settings->bounds_checks;
}

int kiln__lower_is_fast(const kiln__lowering *l, const kiln__ir_node *node)
{
    if (node->flags & KILN__IR_FAST_ON)
        return 1;
    return (node->flags & KILN__IR_FAST_OFF) ? 0 : l->job->settings->fast_math;
}

int kiln__lower_divisor(const kiln__ir *ir, const kiln__ir_node *node,
                        int64_t *out)
{
    const kiln__ir_node *divisor = kiln__ir_operand_at(ir, node, 1);

    if (divisor->op == KILN__IR_SPLAT)
        divisor = kiln__ir_operand_at(ir, divisor, 0);
    if (divisor->op != KILN__IR_CONST || divisor->imm == 0)
        return 0;
    *out = divisor->imm;
    return 1;
}

/* True when the index into a vector is a constant within its length. */
static int is_inside(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_node *index = kiln__ir_operand_at(ir, node, 1);
    const uint32_t vector = kiln__ir_operand_at(ir, node, 0)->type;

    return index->op == KILN__IR_CONST && index->imm >= 0 &&
           index->imm < (int64_t)kiln__ir_type_at(ir, vector)->length;
}

int kiln__lower_raises(const kiln__lowering *l, const kiln__lower_function *f,
                       const kiln__ir_node *node)
{
    const kiln__ir *ir = &f->ir;
    int64_t divisor;

    if (f->proved != NULL && node->op != KILN__IR_CALL &&
        f->proved[node - ir->nodes.items])
        return 0;
    switch ((uint32_t)node->op) {
    case KILN__IR_LOAD:
    case KILN__IR_STORE:
    case KILN__IR_ATOMIC:
        return is_checked(l, node);
    case KILN__IR_ELEMENT:
    case KILN__IR_WITH_ELEMENT:
        return is_checked(l, node) && !is_inside(ir, node);
    case KILN__IR_IDIV:
    case KILN__IR_IREM:
        return !kiln__lower_divisor(ir, node, &divisor);
    case KILN__IR_CHECKED:
        return kiln__lower_conversion_raises(
            kiln__ir_kind(ir, kiln__ir_operand_at(ir, node, 0)->type),
            kiln__ir_kind(ir, node->type));
    case KILN__IR_ASSERT:
    case KILN__IR_HEAP_ARRAY:
        return 1;
    case KILN__IR_CALL:
        return l->functions[f->source->callees[node->imm]].can_fail;
    case KILN__IR_EXTERNAL:
        return kiln__lower_external_raises(l, f);
    default:
        return 0;
    }
}

/* ---- decoding ---- */

static kiln_status decode(kiln__lowering *l, kiln__lower_function *f)
{
    kiln_error *error = NULL;
    kiln_status status = kiln__ir_decode(
        &f->ir, l->job->arena.alloc, f->source->ir, f->source->ir_size, &error);

    if (status == KILN_OK) {
        f->decoded = 1;
        return KILN_OK;
    }
    status = kiln__job_fail(l->job, status, "%s: %s", f->source->symbol,
                            kiln_error_message(error));
    kiln_error_free(error);
    return status;
}

static const char *unsupported(const kiln__ir_node *node)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_LOCAL_ARRAY:
    case KILN__IR_BARRIER:
        return kiln__ir_ops[node->op].text;
    case KILN__IR_GROUP:
        return kiln__ir_group[node->imm].text;
    case KILN__IR_QUERY:
        return node->imm / 4 >= KILN__QUERY_SUB_GROUP_SIZE
                   ? kiln__ir_query[node->imm / 4].text
                   : NULL;
    default:
        return NULL;
    }
}

static kiln_status check_supported(kiln__lowering *l, const kiln__ir *ir)
{
    if (l->job->backend->groups != NULL || l->job->backend->device != NULL)
        return KILN_OK;
    for (size_t i = 1; i < ir->nodes.count; i++) {
        const char *what = unsupported(&ir->nodes.items[i]);

        if (what != NULL)
            return kiln__job_fail(
                l->job, KILN_EUNSUPPORTED,
                "%s is not supported by the %s backend yet, but %s uses it",
                what, l->job->settings->backend, ir->name);
    }
    return KILN_OK;
}

/* ---- calls ---- */

/* Compares types of two functions by their structure. */
static int same_type(const kiln__ir *a, uint32_t a_type, const kiln__ir *b,
                     uint32_t b_type)
{
    const kiln__ir_type *x = kiln__ir_type_at(a, a_type);
    const kiln__ir_type *y = kiln__ir_type_at(b, b_type);

    if (x->kind != y->kind || x->strided != y->strided ||
        x->length != y->length || x->value != y->value ||
        (x->name != NULL && strcmp(x->name, y->name) != 0))
        return 0;
    if (x->kind == KILN_TYPE_ARRAY || x->kind == KILN_TYPE_VECTOR)
        return same_type(a, x->element, b, y->element);
    for (size_t i = 0; kiln__kind_has_fields(x->kind) && i < x->length; i++)
        if (!same_type(a, kiln__ir_field(a, x, i), b, kiln__ir_field(b, y, i)))
            return 0;
    return 1;
}

static int call_fits(const kiln__ir *ir, const kiln__ir_node *call,
                     const kiln__ir *callee)
{
    if (call->count != callee->parameter_count ||
        !same_type(ir, call->type, callee, callee->result))
        return 0;
    for (size_t i = 0; i < call->count; i++)
        if (!same_type(ir, kiln__ir_operand_at(ir, call, i)->type, callee,
                       callee->locals.items[i].type))
            return 0;
    return 1;
}

static kiln_status check_calls(kiln__lowering *l, kiln__lower_function *f)
{
    const kiln__ir *ir = &f->ir;

    if (f->source->callee_count != ir->callees.count)
        return kiln__job_fail(l->job, KILN_ECORRUPT,
                              "%s has %zu callees and was given %zu", ir->name,
                              ir->callees.count, f->source->callee_count);
    for (size_t i = 0; i < f->source->callee_count; i++)
        if (f->source->callees[i] >= l->count)
            return kiln__job_fail(l->job, KILN_ECORRUPT,
                                  "%s: the callee %s is missing", ir->name,
                                  ir->callees.items[i].name);
    for (size_t i = 1; i < ir->nodes.count; i++) {
        const kiln__ir_node *node = &ir->nodes.items[i];
        kiln__lower_function *callee;

        if (node->op != KILN__IR_CALL)
            continue;
        callee = &l->functions[f->source->callees[node->imm]];
        callee->callers++;
        if (!call_fits(ir, node, &callee->ir))
            return kiln__job_fail(l->job, KILN_ECORRUPT,
                                  "%s: a call does not fit %s", ir->name,
                                  callee->ir.name);
    }
    return KILN_OK;
}

/* ---- which functions can fail ---- */

static int finds_failure(const kiln__lowering *l, const kiln__lower_function *f)
{
    for (size_t i = 1; i < f->ir.nodes.count; i++)
        if (kiln__lower_raises(l, f, &f->ir.nodes.items[i]))
            return 1;
    return kiln__lower_guards(l, f);
}

static int calls_any(const kiln__lowering *l, const kiln__lower_function *f,
                     int (*is)(const kiln__lower_function *callee))
{
    for (size_t i = 0; i < f->source->callee_count; i++)
        if (is(&l->functions[f->source->callees[i]]))
            return 1;
    return 0;
}

static int can_fail(const kiln__lower_function *f)
{
    return f->can_fail;
}

static int is_recursive(const kiln__lower_function *f)
{
    return f->recursive;
}

/* True when the function's own code will be in the kernel, or raises nothing
   but what a flag says. */
static int is_in_kernel(const kiln__lower_function *f)
{
    return f->source->runtime != NULL || (f->inlined && f->converges == NULL);
}

/* Items end where they raise if no exception has to pass through a function,
   and no item waits for those that failed. */
static int items_end(const kiln__lowering *l)
{
    const kiln__codegen_job *job = l->job;

    if (job->backend->item->end == NULL || job->request->module != NULL ||
        job->externals != NULL || job->request->form == KILN__EMIT_FUNCTION ||
        job->settings->debug_level >= KILN_DEBUG_FULL ||
        l->functions[0].size > KILN__LOWER_LOOPED_MAX)
        return 0;
    for (size_t i = 0; i < l->count; i++)
        if (!is_in_kernel(&l->functions[i]))
            return 0;
    return 1;
}

void kiln__lower_find_flags(kiln__lowering *l)
{
    l->job->items_end = items_end(l);
    for (size_t i = 0; i < l->count; i++) {
        kiln__lower_function *f = &l->functions[i];

        f->has_flag =
            f->can_fail && (!l->job->items_end || f->source->runtime != NULL);
    }
}

/* Finds the least fixpoint: failing spreads from callees to callers. */
void kiln__lower_find_failures(kiln__lowering *l)
{
    int changed = 1;

    for (size_t i = 0; i < l->count; i++)
        l->functions[i].can_fail = 0;
    for (size_t i = 0; i < l->count; i++)
        l->functions[i].can_fail = finds_failure(l, &l->functions[i]);
    while (changed) {
        changed = 0;
        for (size_t i = 0; i < l->count; i++) {
            kiln__lower_function *f = &l->functions[i];

            if (!f->can_fail && calls_any(l, f, can_fail))
                changed = f->can_fail = 1;
        }
    }
    kiln__lower_find_flags(l);
}

/* ---- recursion and inlining ---- */

/* Computes the size with inlined callees, and decides whether `f` is inlined.
   The decisions for its callees are made. */
static void decide_inlining(const kiln__lowering *l, kiln__lower_function *f)
{
    const kiln__ir *ir = &f->ir;

    f->size = ir->nodes.count;
    for (size_t i = 1; i < ir->nodes.count; i++) {
        const kiln__ir_node *node = &ir->nodes.items[i];
        const kiln__lower_function *callee;

        if (node->op != KILN__IR_CALL)
            continue;
        callee = &l->functions[f->source->callees[node->imm]];
        if (callee->inlined)
            f->size += callee->size;
    }
    f->inlined = !f->recursive && (f->callers <= 1 || f->size <= INLINED_MAX);
}

/* Repeatedly unmarks functions that call no marked function. What stays marked
   recurses or calls what does. */
static void unmark_leaves(kiln__lowering *l)
{
    int changed = 1;

    for (size_t i = 0; i < l->count; i++)
        l->functions[i].recursive = 1;
    while (changed) {
        changed = 0;
        for (size_t i = l->count; i-- > 0;) {
            kiln__lower_function *f = &l->functions[i];

            if (!f->recursive || calls_any(l, f, is_recursive))
                continue;
            f->recursive = 0;
            decide_inlining(l, f);
            changed = 1;
        }
    }
}

static int is_called_by_any(const kiln__lowering *l, size_t index)
{
    for (size_t i = 0; i < l->count; i++) {
        const kiln__lower_function *f = &l->functions[i];

        for (size_t j = 0; f->recursive && j < f->source->callee_count; j++)
            if (f->source->callees[j] == index)
                return 1;
    }
    return 0;
}

/* Repeatedly unmarks functions that no marked function calls. Functions between
   two cycles stay marked, which costs them only their inlining. */
static void unmark_roots(kiln__lowering *l)
{
    int changed = 1;

    while (changed) {
        changed = 0;
        for (size_t i = 0; i < l->count; i++) {
            kiln__lower_function *f = &l->functions[i];

            if (!f->recursive || is_called_by_any(l, i))
                continue;
            f->recursive = 0;
            decide_inlining(l, f);
            changed = 1;
        }
    }
}

static int has_recursive(const kiln__lowering *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->functions[i].recursive)
            return 1;
    return 0;
}

kiln_status kiln__lower_plan(kiln__lowering *l)
{
    for (size_t i = 0; i < l->count; i++) {
        kiln_status status = decode(l, &l->functions[i]);

        if (status == KILN_OK)
            status = check_supported(l, &l->functions[i].ir);
        if (status != KILN_OK)
            return status;
    }
    for (size_t i = 0; i < l->count; i++) {
        kiln_status status = check_calls(l, &l->functions[i]);

        if (status != KILN_OK)
            return status;
    }
    l->functions[0].callers++;
    unmark_leaves(l);
    l->job->recurs = has_recursive(l);
    if (l->job->recurs)
        unmark_roots(l);
    kiln__lower_find_effects(l);
    kiln__lower_find_failures(l);
    return KILN_OK;
}
