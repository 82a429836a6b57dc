/* lower_prove_value.c - turns expressions into symbols, and finds their
   checks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/prove/lower_prove.h"

/*
 * A check is proved when the condition that it tests is true on its path, or
 * when the path is dead. What memory holds is unknown each time it is read.
 */

static kiln__prove_symbol *operand(kiln__prover *p, kiln__frame *frame,
                                   kiln__prove_path *path,
                                   const kiln__ir_node *node, size_t i)
{
    return kiln__prove_value(p, frame, path,
                             kiln__ir_operand(frame->ir, node, i));
}

static kiln__prove_symbol *unknown(kiln__prover *p, const kiln__frame *frame,
                                   const kiln__ir_node *node)
{
    return kiln__prove_symbol_unknown(p, frame->ir, node->type);
}

/* ---- checks ---- */

static void check_index(kiln__prover *p, const kiln__frame *frame,
                        kiln__prove_path *path, uint32_t node,
                        kiln__prove_symbol *index, kiln__prove_symbol *size)
{
    kiln__prove_require(p, frame, path, node,
                        kiln__prove_symbol_apply(p, KILN__SYMBOL_INSIDE,
                                                 KILN_TYPE_BOOL, index, size));
}

/* Nothing is known of an array that was not split into fields. */
static kiln__prove_symbol *size_of(kiln__prover *p,
                                   const kiln__prove_symbol *array,
                                   uint32_t dimension)
{
    if (array != NULL && array->op == KILN__SYMBOL_FIELDS &&
        dimension < array->field_count)
        return array->fields[dimension];
    return kiln__prove_symbol_leaf(p, KILN_TYPE_I64,
                                   kiln__range_full(p, KILN_TYPE_I64));
}

void kiln__prove_access(kiln__prover *p, kiln__frame *frame,
                        kiln__prove_path *path, uint32_t index)
{
    const kiln__ir *ir = frame->ir;
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);
    const uint32_t type = kiln__ir_operand_at(ir, node, 0)->type;
    const uint32_t rank = kiln__ir_type_at(ir, type)->length;
    const kiln__prove_symbol *array = operand(p, frame, path, node, 0);
    kiln__prove_symbol *indices[KILN_RANK_MAX];

    for (uint32_t i = 0; i < rank; i++)
        indices[i] = operand(p, frame, path, node, 1 + i);
    for (uint32_t i = 1 + rank; i < node->count; i++)
        (void)operand(p, frame, path, node, i);
    if (!kiln__lower_raises(p->l, frame->f, node))
        return;
    for (uint32_t i = 0; i < rank; i++)
        check_index(p, frame, path, index, indices[i], size_of(p, array, i));
}

static kiln__prove_symbol *element(kiln__prover *p, kiln__frame *frame,
                                   kiln__prove_path *path, uint32_t index)
{
    const kiln__ir *ir = frame->ir;
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);
    const uint32_t vector = kiln__ir_operand_at(ir, node, 0)->type;
    kiln__prove_symbol *at;

    (void)operand(p, frame, path, node, 0);
    at = operand(p, frame, path, node, 1);
    if (node->op == KILN__IR_WITH_ELEMENT)
        (void)operand(p, frame, path, node, 2);
    if (kiln__lower_raises(p->l, frame->f, node))
        check_index(p, frame, path, index, at,
                    kiln__prove_symbol_constant(
                        p, KILN_TYPE_I64,
                        (int64_t)kiln__ir_type_at(ir, vector)->length));
    return unknown(p, frame, node);
}

/* ---- operations ---- */

static int is_scalar(const kiln__prove_symbol *s)
{
    return s != NULL && kiln__kind_is_scalar(s->kind);
}

static kiln__prove_symbol *arithmetic(kiln__prover *p, kiln__frame *frame,
                                      kiln__prove_path *path, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);
    const int32_t kind = kiln__ir_kind(frame->ir, node->type);
    kiln__prove_symbol *a = operand(p, frame, path, node, 0), *b = NULL;
    const int is_integer = kiln__kind_is_integer(kind);
    uint32_t op = node->op;

    if (node->count == 2)
        b = operand(p, frame, path, node, 1);
    if (kiln__lower_raises(p->l, frame->f, node)) /* the divisor is zero */
        kiln__prove_require(
            p, frame, path, index,
            is_scalar(b) ? kiln__prove_symbol_apply(
                               p, KILN__IR_NE, KILN_TYPE_BOOL, b,
                               kiln__prove_symbol_constant(p, b->kind, 0))
                         : NULL);
    if (!is_scalar(a) || (!is_integer && kind != KILN_TYPE_BOOL))
        return unknown(p, frame, node);
    if (is_integer && node->count == 1) {
        b = a;
        a = kiln__prove_symbol_constant(p, kind,
                                        op == KILN__IR_INVERT ? -1 : 0);
        op = KILN__IR_SUB;
        if (!kiln__kind_is_signed(kind) && kiln__kind_width(kind) < 64)
            return unknown(p, frame, node);
    }
    return kiln__prove_symbol_apply(p, op, kind, a, b);
}

static kiln__prove_symbol *compare(kiln__prover *p, kiln__frame *frame,
                                   kiln__prove_path *path,
                                   const kiln__ir_node *node)
{
    kiln__prove_symbol *a = operand(p, frame, path, node, 0);
    kiln__prove_symbol *b = operand(p, frame, path, node, 1);

    if (!is_scalar(a) || !is_scalar(b))
        return unknown(p, frame, node);
    return kiln__prove_symbol_apply(p, node->op, KILN_TYPE_BOOL, a, b);
}

/* Evaluates each side on its own path; a SELECT evaluates both on this one. */
static kiln__prove_symbol *choice(kiln__prover *p, kiln__frame *frame,
                                  kiln__prove_path *path,
                                  const kiln__ir_node *node)
{
    kiln__prove_symbol *condition = operand(p, frame, path, node, 0), *a, *b;
    kiln__prove_path *yes = path, *no = path;

    if (node->op != KILN__IR_SELECT && node->op != KILN__IR_ORELSE)
        yes = kiln__prove_path_refine(p, path, condition, 1);
    if (node->op != KILN__IR_SELECT && node->op != KILN__IR_ANDALSO)
        no = kiln__prove_path_refine(p, path, condition, 0);
    if (node->op == KILN__IR_ANDALSO || node->op == KILN__IR_ORELSE) {
        b = operand(p, frame, node->op == KILN__IR_ANDALSO ? yes : no, node, 1);
        return kiln__prove_symbol_apply(p, node->op, KILN_TYPE_BOOL, condition,
                                        b);
    }
    a = operand(p, frame, yes, node, 1);
    b = operand(p, frame, no, node, 2);
    if (!is_scalar(condition))
        return unknown(p, frame, node);
    return kiln__prove_symbol_choose(p, condition, a, b);
}

/* True for what fits for one value at most of all that does not come from
   memory: `u8(a[i] + t)` of bytes, where t is 0. Only the items themselves are
   worth to be asked. */
static int is_left_to_data(const kiln__prove_symbol *s, int64_t low,
                           int64_t high)
{
    return !s->has_facts && s->spread > 0 && s->spread >= high - low &&
           (s->least < low || s->greatest > high);
}

static kiln__prove_symbol *convert(kiln__prover *p, kiln__frame *frame,
                                   kiln__prove_path *path, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);
    const int32_t kind = kiln__ir_kind(frame->ir, node->type);
    kiln__prove_symbol *a = operand(p, frame, path, node, 0), *fits = NULL;
    int64_t low, high;

    if (is_scalar(a) && kiln__kind_is_integer(a->kind) &&
        kiln__prove_bounds(kind, &low, &high) && !is_left_to_data(a, low, high))
        fits = kiln__prove_symbol_apply(
            p, KILN__IR_AND, KILN_TYPE_BOOL,
            kiln__prove_symbol_apply(
                p, KILN__IR_GE, KILN_TYPE_BOOL, a,
                kiln__prove_symbol_constant(p, KILN_TYPE_I64, low)),
            kiln__prove_symbol_apply(
                p, KILN__IR_LE, KILN_TYPE_BOOL, a,
                kiln__prove_symbol_constant(p, KILN_TYPE_I64, high)));
    if (kiln__lower_raises(p->l, frame->f, node))
        kiln__prove_require(p, frame, path, index, fits);
    if (!is_scalar(a) || !kiln__kind_is_integer(kind))
        return unknown(p, frame, node);
    return kiln__prove_symbol_apply(p, node->op, kind, a, NULL);
}

static kiln__prove_symbol *math(kiln__prover *p, kiln__frame *frame,
                                kiln__prove_path *path,
                                const kiln__ir_node *node)
{
    const int32_t kind = kiln__ir_kind(frame->ir, node->type);
    const int is_known = node->imm == KILN__MATH_ABS ||
                         node->imm == KILN__MATH_MIN ||
                         node->imm == KILN__MATH_MAX;
    kiln__prove_symbol *operands[3] = {NULL, NULL, NULL};

    for (uint32_t i = 0; i < node->count; i++)
        operands[i] = operand(p, frame, path, node, i);
    if (!is_known || !kiln__kind_is_integer(kind))
        return unknown(p, frame, node);
    return kiln__prove_symbol_make(
        p, &(kiln__prove_form){
               KILN__IR_MATH, kind, node->imm, {operands[0], operands[1]}});
}

/* ---- ids ---- */

/* Returns what is the same for all items of a grid. */
static LLVMValueRef ask_grid(kiln__prover *p, uint32_t which, uint32_t d)
{
    switch (which) {
    case KILN__QUERY_LOCAL_SIZE:
        return p->group_size[d];
    case KILN__QUERY_GROUP_COUNT:
        return p->group_count[d];
    default: /* GLOBAL_SIZE */
        return kiln__prove_plus(p, p->last[d], 1);
    }
}

static kiln__range grid_range(kiln__prover *p, uint32_t which, uint32_t d)
{
    const LLVMValueRef zero = kiln__prove_number(p, 0);

    switch (which) {
    case KILN__QUERY_GLOBAL_ID:
        return (kiln__range){p->first[d], p->last[d]};
    case KILN__QUERY_LOCAL_ID:
        return (kiln__range){zero, kiln__prove_plus(p, p->group_size[d], -1)};
    case KILN__QUERY_GROUP_ID:
        return (kiln__range){zero, kiln__prove_plus(p, p->group_count[d], -1)};
    case KILN__QUERY_GLOBAL_SIZE:
    case KILN__QUERY_LOCAL_SIZE:
    case KILN__QUERY_GROUP_COUNT:
        return kiln__range_point(ask_grid(p, which, d));
    default: /* of sub-groups: those of a group */
        return (kiln__range){zero, kiln__prove_number(p, p->size_most)};
    }
}

static kiln__range local_ids(kiln__prover *p, uint32_t d)
{
    const LLVMBuilderRef builder = p->l->builder;
    const LLVMValueRef group = p->l->job->backend->item->query(
        p->l->job, builder, p->item, KILN__QUERY_GROUP_ID, d);
    const LLVMValueRef size = p->l->job->backend->item->query(
        p->l->job, builder, p->item, KILN__QUERY_LOCAL_SIZE, d);
    const LLVMValueRef start = LLVMBuildMul(builder, group, size, "");

    return (kiln__range){LLVMBuildSub(builder, p->first[d], start, ""),
                         LLVMBuildSub(builder, p->last[d], start, "")};
}

static kiln__prove_symbol *query(kiln__prover *p, const kiln__ir_node *node)
{
    const uint32_t which = (uint32_t)(node->imm / 4);
    const uint32_t d = (uint32_t)(node->imm % 4);
    kiln__prove_symbol *s = kiln__prove_symbol_make(
        p,
        &(kiln__prove_form){KILN__IR_QUERY, KILN_TYPE_I64, node->imm, {NULL}});

    if (s == NULL || s->range.low != NULL)
        return s;
    if (p->is_grid)
        s->range = grid_range(p, which, d);
    else if (which == KILN__QUERY_GLOBAL_ID)
        s->range = (kiln__range){p->first[d], p->last[d]};
    else if (which == KILN__QUERY_LOCAL_ID)
        s->range = local_ids(p, d);
    else if (which < KILN__QUERY_SUB_GROUP_SIZE)
        s->range = kiln__range_point(p->l->job->backend->item->query(
            p->l->job, p->l->builder, p->item, which, d));
    else
        s->range = (kiln__range){kiln__prove_number(p, 0),
                                 kiln__prove_number(p, p->size_most)};
    kiln__prove_size(p, s, s->range.high);
    return s;
}

/* ---- aggregates and arrays ---- */

static kiln__prove_symbol *tuple(kiln__prover *p, kiln__frame *frame,
                                 kiln__prove_path *path,
                                 const kiln__ir_node *node)
{
    kiln__prove_symbol *s = unknown(p, frame, node);

    for (uint32_t i = 0; i < node->count; i++) {
        kiln__prove_symbol *field = operand(p, frame, path, node, i);

        if (s != NULL && i < s->field_count)
            s->fields[i] = field;
    }
    return s;
}

static kiln__prove_symbol *aggregate(kiln__prover *p, kiln__frame *frame,
                                     kiln__prove_path *path,
                                     const kiln__ir_node *node)
{
    const uint32_t index = (uint32_t)node->imm;
    kiln__prove_symbol *all, *one, *s;

    if (node->op == KILN__IR_TUPLE)
        return tuple(p, frame, path, node);
    all = operand(p, frame, path, node, 0);
    one = node->count > 1 ? operand(p, frame, path, node, 1) : NULL;
    if (node->op == KILN__IR_SPLAT || all == NULL || index >= all->field_count)
        return unknown(p, frame, node);
    if (node->op == KILN__IR_FIELD)
        return all->fields[index];
    s = kiln__prove_symbol_fields(p, all->field_count);
    for (uint32_t i = 0; s != NULL && i < all->field_count; i++)
        s->fields[i] = i == index ? one : all->fields[i];
    return s;
}

static kiln__prove_symbol *length(kiln__prover *p, kiln__frame *frame,
                                  kiln__prove_path *path,
                                  const kiln__ir_node *node)
{
    const uint32_t type = kiln__ir_operand_at(frame->ir, node, 0)->type;
    const uint32_t rank = kiln__ir_type_at(frame->ir, type)->length;
    const kiln__prove_symbol *array = operand(p, frame, path, node, 0);
    kiln__prove_symbol *product;

    if (node->op == KILN__IR_SIZE)
        return size_of(p, array, (uint32_t)node->imm);
    product = size_of(p, array, 0);
    for (uint32_t i = 1; i < rank; i++)
        product = kiln__prove_symbol_apply(p, KILN__IR_MUL, KILN_TYPE_I64,
                                           product, size_of(p, array, i));
    return product;
}

static kiln__prove_symbol *local_array(kiln__prover *p, kiln__frame *frame,
                                       kiln__prove_path *path,
                                       const kiln__ir_node *node)
{
    kiln__prove_symbol *s = kiln__prove_symbol_fields(p, node->count);

    for (uint32_t i = 0; s != NULL && i < node->count; i++)
        s->fields[i] = operand(p, frame, path, node, i);
    return s;
}

/* Whether there is room in the heap is known only when it is asked for. */
static kiln__prove_symbol *heap_array(kiln__prover *p, kiln__frame *frame,
                                      kiln__prove_path *path, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);
    const kiln__prove_symbol *place = operand(p, frame, path, node, 0);
    const uint32_t rank = kiln__ir_type_at(frame->ir, node->type)->length;
    kiln__prove_symbol *s;

    if (kiln__lower_raises(p->l, frame->f, node))
        kiln__prove_require(p, frame, path, index, NULL);
    if (place == NULL || place->field_count <= rank)
        return unknown(p, frame, node);
    s = kiln__prove_symbol_fields(p, rank);
    for (uint32_t i = 0; s != NULL && i < rank; i++)
        s->fields[i] = place->fields[i + 1];
    return s;
}

/* ---- other expressions ---- */

static kiln__prove_symbol *call(kiln__prover *p, kiln__frame *frame,
                                kiln__prove_path *path,
                                const kiln__ir_node *node)
{
    const kiln__lower_function *f =
        &p->l->functions[frame->f->source->callees[node->imm]];
    kiln__prove_symbol **arguments =
        kiln__arena_allocate_array(p->arena, node->count, sizeof *arguments);

    if (arguments == NULL) {
        p->failed = 1;
        return NULL;
    }
    for (uint32_t i = 0; i < node->count; i++)
        arguments[i] = operand(p, frame, path, node, i);
    /* Code that allocates from the heap says nothing about a tile. */
    return f->has_heap ? kiln__prove_symbol_unknown(p, frame->ir, node->type)
                       : kiln__prove_call(p, frame, path, f, arguments);
}

static kiln__prove_symbol *constant(kiln__prover *p, const kiln__frame *frame,
                                    const kiln__ir_node *node)
{
    const int32_t kind = kiln__ir_kind(frame->ir, node->type);

    if (kiln__range_full(p, kind).low == NULL)
        return unknown(p, frame, node);
    return kiln__prove_symbol_constant(p, kind, node->imm);
}

static kiln__prove_symbol *other(kiln__prover *p, kiln__frame *frame,
                                 kiln__prove_path *path, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);

    switch ((uint32_t)node->op) {
    case KILN__IR_CONST:
        return constant(p, frame, node);
    case KILN__IR_LOCAL:
        return frame->locals[node->imm];
    case KILN__IR_MATH:
        return math(p, frame, path, node);
    case KILN__IR_ELEMENT:
    case KILN__IR_WITH_ELEMENT:
        return element(p, frame, path, index);
    case KILN__IR_LENGTH:
    case KILN__IR_SIZE:
        return length(p, frame, path, node);
    case KILN__IR_LOCAL_ARRAY:
        return local_array(p, frame, path, node);
    case KILN__IR_LOAD:
    case KILN__IR_ATOMIC:
        kiln__prove_access(p, frame, path, index);
        return unknown(p, frame, node);
    case KILN__IR_HEAP_ARRAY:
        return heap_array(p, frame, path, index);
    case KILN__IR_CALL:
        return call(p, frame, path, node);
    case KILN__IR_QUERY:
        return query(p, node);
    default: /* UNIT, TEXT, GROUP */
        for (uint32_t i = 0; i < node->count; i++)
            (void)operand(p, frame, path, node, i);
        return unknown(p, frame, node);
    }
}

kiln__prove_symbol *kiln__prove_value(kiln__prover *p, kiln__frame *frame,
                                      kiln__prove_path *path, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);
    const uint32_t op = node->op;

    if (p->failed || !kiln__prove_step(p))
        return NULL;
    p->seen[frame->f - p->l->functions][index] = 1;
    if (op >= KILN__IR_NEG && op <= KILN__IR_INVERT)
        return arithmetic(p, frame, path, index);
    if (op >= KILN__IR_EQ && op <= KILN__IR_GE)
        return compare(p, frame, path, node);
    if (op >= KILN__IR_ANDALSO && op <= KILN__IR_SELECT)
        return choice(p, frame, path, node);
    if (op >= KILN__IR_CONVERT && op <= KILN__IR_BITCAST)
        return convert(p, frame, path, index);
    if (op >= KILN__IR_TUPLE && op <= KILN__IR_WITH_FIELD)
        return aggregate(p, frame, path, node);
    return other(p, frame, path, index);
}
