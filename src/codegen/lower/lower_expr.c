/* lower_expr.c - lowers expressions to values. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/float_bits.h"
#include "codegen/lower/lower.h"

#include <llvm-c/DebugInfo.h>

/*
 * Operands are evaluated from left to right. Lowering a value may begin new
 * basic blocks. So code that needs the current block asks the builder for it
 * after the value was lowered.
 */

static LLVMValueRef operand(kiln__lowering *l, const kiln__ir_node *node,
                            size_t i)
{
    return kiln__lower_value(l, kiln__ir_operand(l->ir, node, i));
}

static LLVMValueRef constant(kiln__lowering *l, const kiln__ir_node *node)
{
    const int32_t kind = kiln__ir_kind(l->ir, node->type);

    if (!kiln__kind_is_float(kind))
        return kiln__lower_integer(l, kind, (uint64_t)node->imm);
    return kiln__float_constant(l->job, kind,
                                kiln__f64_from_bits((uint64_t)node->imm));
}

static LLVMValueRef local(kiln__lowering *l, const kiln__ir_node *node)
{
    const LLVMTypeRef type = kiln__lower_type_of(l, node->type);

    if (l->locals[node->imm] == NULL)
        return LLVMConstNull(type);
    if (l->fixed[node->imm])
        return l->locals[node->imm];
    if (l->group != NULL && l->as_group->is_slot(l, (uint32_t)node->imm))
        return l->as_group->read(l, (uint32_t)node->imm);
    return LLVMBuildLoad2(l->builder, type, l->locals[node->imm], "");
}

/* ---- choices ---- */

/* Joins the value `a` from block `from_a` and `b` from `from_b` in the current
   block. */
static LLVMValueRef join(kiln__lowering *l, LLVMValueRef a,
                         LLVMBasicBlockRef from_a, LLVMValueRef b,
                         LLVMBasicBlockRef from_b)
{
    LLVMValueRef values[2] = {a, b}, phi;
    LLVMBasicBlockRef blocks[2] = {from_a, from_b};

    if (LLVMTypeOf(a) == l->empty)
        return LLVMConstNull(l->empty);
    phi = LLVMBuildPhi(l->builder, LLVMTypeOf(a), "");
    LLVMAddIncoming(phi, values, blocks, 2);
    return phi;
}

/* Joins the waiting items after a path that only some items took and where
   others may have waited. */
static void join_waiting(kiln__lowering *l)
{
    const kiln__lower_waiting waiting = l->waiting;

    l->waiting = (kiln__lower_waiting){NULL, NULL};
    kiln__lower_part(l);
    kiln__lower_join(l, waiting);
}

/* Lowers && and ||: the right operand is evaluated only if it decides. */
static LLVMValueRef logic(kiln__lowering *l, const kiln__ir_node *node)
{
    const int is_and = node->op == KILN__IR_ANDALSO;
    const LLVMBasicBlockRef right = kiln__lower_block(l);
    const LLVMBasicBlockRef done = kiln__lower_block(l);
    const int converges = kiln__lower_converges(l, node);
    LLVMValueRef a = operand(l, node, 0), b;
    LLVMBasicBlockRef from_a, from_b;

    if (converges)
        a = kiln__lower_decide(l, a, !is_and);
    from_a = LLVMGetInsertBlock(l->builder);
    LLVMBuildCondBr(l->builder, a, is_and ? right : done,
                    is_and ? done : right);
    LLVMPositionBuilderAtEnd(l->builder, right);
    b = operand(l, node, 1);
    from_b = LLVMGetInsertBlock(l->builder);
    LLVMBuildBr(l->builder, done);
    LLVMPositionBuilderAtEnd(l->builder, done);
    b = join(l, LLVMConstInt(LLVMTypeOf(b), !is_and, 0), from_a, b, from_b);
    if (converges)
        join_waiting(l);
    return b;
}

static LLVMValueRef choose(kiln__lowering *l, const kiln__ir_node *node)
{
    const LLVMBasicBlockRef ways[2] = {kiln__lower_block(l),
                                       kiln__lower_block(l)};
    const LLVMBasicBlockRef done = kiln__lower_block(l);
    const int converges = kiln__lower_converges(l, node);
    LLVMValueRef condition = operand(l, node, 0), values[2];
    LLVMBasicBlockRef ends[2];

    if (converges)
        condition = kiln__lower_decide(l, condition, 0);
    LLVMBuildCondBr(l->builder, condition, ways[0], ways[1]);
    for (size_t i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(l->builder, ways[i]);
        if (converges && i == 1)
            join_waiting(l);
        values[i] = operand(l, node, 1 + i);
        ends[i] = LLVMGetInsertBlock(l->builder);
        LLVMBuildBr(l->builder, done);
    }
    LLVMPositionBuilderAtEnd(l->builder, done);
    return join(l, values[0], ends[0], values[1], ends[1]);
}

static LLVMValueRef choice(kiln__lowering *l, const kiln__ir_node *node)
{
    LLVMValueRef condition, a, b;

    if (node->op == KILN__IR_CHOOSE)
        return choose(l, node);
    if (node->op != KILN__IR_SELECT)
        return logic(l, node);
    condition = operand(l, node, 0);
    a = operand(l, node, 1);
    b = operand(l, node, 2);
    return LLVMBuildSelect(l->builder, condition, a, b, "");
}

/* ---- aggregates ---- */

static int is_vector(const kiln__lowering *l, uint32_t type)
{
    return kiln__ir_kind(l->ir, type) == KILN_TYPE_VECTOR;
}

static LLVMValueRef with(kiln__lowering *l, uint32_t type, LLVMValueRef all,
                         LLVMValueRef one, unsigned index)
{
    if (!is_vector(l, type))
        return LLVMBuildInsertValue(l->builder, all, one, index, "");
    return LLVMBuildInsertElement(l->builder, all, one,
                                  LLVMConstInt(l->i64, index, 0), "");
}

static LLVMValueRef tuple(kiln__lowering *l, const kiln__ir_node *node)
{
    LLVMValueRef all = LLVMGetPoison(kiln__lower_type_of(l, node->type));

    for (unsigned i = 0; i < node->count; i++)
        all = with(l, node->type, all, operand(l, node, i), i);
    return all;
}

static LLVMValueRef aggregate(kiln__lowering *l, const kiln__ir_node *node)
{
    const unsigned index = (unsigned)node->imm;
    LLVMValueRef all, one;

    if (node->op == KILN__IR_TUPLE)
        return tuple(l, node);
    all = operand(l, node, 0);
    if (node->op == KILN__IR_SPLAT)
        return kiln__lower_spread(l, kiln__lower_type_of(l, node->type), all);
    if (node->op == KILN__IR_WITH_FIELD) {
        one = operand(l, node, 1);
        return with(l, node->type, all, one, index);
    }
    if (!is_vector(l, kiln__ir_operand_at(l->ir, node, 0)->type))
        return LLVMBuildExtractValue(l->builder, all, index, "");
    return LLVMBuildExtractElement(l->builder, all,
                                   LLVMConstInt(l->i64, index, 0), "");
}

/* ---- calls ---- */

static LLVMValueRef call(kiln__lowering *l, const kiln__ir_node *node)
{
    const kiln__lower_function *callee =
        &l->functions[l->f->source->callees[node->imm]];
    const int is_empty = kiln__ir_type_is_empty(&callee->ir, callee->ir.result);
    const size_t count = (size_t)node->count + 1;
    LLVMValueRef *arguments =
        kiln__allocate_array(l->job->arena.alloc, count, sizeof(LLVMValueRef));
    LLVMValueRef value;

    if (arguments == NULL) {
        l->no_memory = 1;
        return LLVMConstNull(kiln__lower_type_of(l, node->type));
    }
    arguments[0] = l->item;
    for (size_t i = 0; i < node->count; i++)
        arguments[1 + i] = operand(l, node, i);
    if (callee->converges != NULL)
        kiln__lower_assemble(l);
    value = LLVMBuildCall2(l->builder, callee->signature, callee->value,
                           arguments, (unsigned)count, "");
    if (callee->converges != NULL)
        kiln__lower_part(l);
    kiln__deallocate(l->job->arena.alloc, arguments,
                     count * sizeof(LLVMValueRef));
    if (callee->has_flag)
        kiln__lower_pass_on(
            l, node,
            is_empty ? value : LLVMBuildExtractValue(l->builder, value, 1, ""));
    if (is_empty)
        return LLVMConstNull(kiln__lower_type_of(l, node->type));
    return callee->has_flag ? LLVMBuildExtractValue(l->builder, value, 0, "")
                            : value;
}

static LLVMValueRef query(kiln__lowering *l, const kiln__ir_node *node)
{
    return l->job->backend->item->query(l->job, l->builder, l->item,
                                        (uint32_t)(node->imm / 4),
                                        (uint32_t)(node->imm % 4));
}

LLVMMetadataRef kiln__lower_enter(const kiln__lowering *l,
                                  const kiln__ir_node *node)
{
    const LLVMMetadataRef before = LLVMGetCurrentDebugLocation2(l->builder);
    const LLVMMetadataRef place =
        node->ordinal == 0 ? NULL
                           : kiln__debug_place(l->job, l->f->subprogram,
                                               l->f->source, node->ordinal);

    if (place != NULL)
        LLVMSetCurrentDebugLocation2(l->builder, place);
    return before;
}

LLVMValueRef kiln__lower_unknown(kiln__lowering *l, const kiln__ir_node *node,
                                 const char *name)
{
    (void)kiln__job_fail(l->job, KILN_ECODEGEN,
                         "there is no code for `%s` on %s", name,
                         l->job->backend->name);
    return LLVMConstNull(kiln__lower_type_of(l, node->type));
}

/* Lowers a value in the file that knows the operation. The numbers of
   operations follow the order of the table in ir_ops.h. */
static LLVMValueRef value_of(kiln__lowering *l, const kiln__ir_node *node)
{
    const uint32_t op = node->op;

    if (op >= KILN__IR_NEG && op <= KILN__IR_INVERT)
        return kiln__lower_arithmetic(l, node);
    if (op >= KILN__IR_EQ && op <= KILN__IR_GE)
        return kiln__lower_compare(l, node);
    if (op >= KILN__IR_ANDALSO && op <= KILN__IR_SELECT)
        return choice(l, node);
    if (op >= KILN__IR_CONVERT && op <= KILN__IR_BITCAST)
        return kiln__lower_convert(l, node);
    if (op >= KILN__IR_TUPLE && op <= KILN__IR_WITH_FIELD)
        return aggregate(l, node);
    switch (op) {
    case KILN__IR_CONST:
        return constant(l, node);
    case KILN__IR_LOCAL:
        return local(l, node);
    case KILN__IR_MATH:
        return kiln__lower_math(l, node);
    case KILN__IR_ELEMENT:
    case KILN__IR_WITH_ELEMENT:
        return kiln__lower_element(l, node);
    case KILN__IR_LENGTH:
    case KILN__IR_SIZE:
    case KILN__IR_LOAD:
    case KILN__IR_ATOMIC:
        return kiln__lower_memory(l, node);
    case KILN__IR_CALL:
        return call(l, node);
    case KILN__IR_QUERY:
        return query(l, node);
    case KILN__IR_LOCAL_ARRAY:
        return l->job->backend->device != NULL
                   ? kiln__lower_shared_array(l, node)
                   : kiln__lower_local_array(l, node);
    case KILN__IR_GROUP:
        return kiln__lower_collective(l, node);
    case KILN__IR_HEAP:
    case KILN__IR_HEAP_OFFSET:
    case KILN__IR_HEAP_ARRAY:
        return kiln__lower_heap(l, node);
    case KILN__IR_EXTERNAL:
        return kiln__lower_external(l, node);
    case KILN__IR_UNIT:
        return LLVMConstNull(kiln__lower_type_of(l, node->type));
    default:
        return kiln__lower_unknown(l, node, kiln__ir_ops[op].text);
    }
}

LLVMValueRef kiln__lower_value(kiln__lowering *l, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(l->ir, index);
    LLVMMetadataRef before;
    LLVMValueRef value;

    if (kiln__lower_is_too_deep(l))
        return LLVMGetUndef(kiln__lower_type_of(l, node->type));
    if (l->f->subprogram == NULL)
        return value_of(l, node);
    before = kiln__lower_enter(l, node);
    value = value_of(l, node);
    LLVMSetCurrentDebugLocation2(l->builder, before);
    return value;
}
