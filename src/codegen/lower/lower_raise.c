/* lower_raise.c - leaves a function by an exception or a return. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

/*
 * A function that can fail returns {value, i1} or, without a value, i1. When
 * the flag is set, the value beside it is poison, and no caller uses it. Where
 * the backend can end an item that raises, functions that are inlined have no
 * such flag.
 */

LLVMTypeRef kiln__lower_result(const kiln__lowering *l,
                               const kiln__lower_function *f)
{
    const LLVMTypeRef flag = LLVMInt1TypeInContext(l->context);
    LLVMTypeRef members[2] = {f->types[f->ir.result].registers, flag};

    if (kiln__ir_type_is_empty(&f->ir, f->ir.result))
        return f->has_flag ? flag : LLVMVoidTypeInContext(l->context);
    return f->has_flag ? LLVMStructTypeInContext(l->context, members, 2, 0)
                       : members[0];
}

static int wants_frames(const kiln__lowering *l)
{
    return l->job->settings->debug_level >= KILN_DEBUG_FULL &&
           l->job->backend->item->frame != NULL;
}

void kiln__lower_frame(kiln__lowering *l, uint32_t ordinal, const char *method)
{
    if (wants_frames(l))
        l->job->backend->item->frame(l->job, l->builder, l->item, ordinal,
                                     method);
}

void kiln__lower_leave(kiln__lowering *l, int failed)
{
    const LLVMTypeRef result = kiln__lower_result(l, l->f);
    const LLVMValueRef flag = LLVMConstInt(LLVMInt1TypeInContext(l->context),
                                           (unsigned long long)failed, 0);

    if (!l->f->has_flag && LLVMGetTypeKind(result) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(l->builder);
    else if (!l->f->has_flag)
        LLVMBuildRet(l->builder, LLVMGetPoison(result));
    else if (LLVMGetTypeKind(result) != LLVMStructTypeKind)
        LLVMBuildRet(l->builder, flag);
    else
        LLVMBuildRet(l->builder,
                     LLVMBuildInsertValue(l->builder, LLVMGetPoison(result),
                                          flag, 1, ""));
}

static int ends_item(const kiln__lowering *l)
{
    return l->job->items_end && !l->f->has_flag;
}

static void return_failure(kiln__lowering *l)
{
    if (l->group != NULL) {
        l->as_group->fail(l);
    } else if (l->f->converges != NULL) {
        kiln__lower_fail(l);
    } else {
        kiln__lower_leave(l, 1);
    }
}

void kiln__lower_return(kiln__lowering *l, LLVMValueRef value)
{
    const LLVMTypeRef result = kiln__lower_result(l, l->f);
    const int has_value = !kiln__ir_type_is_empty(l->ir, l->ir->result);
    const LLVMValueRef fine =
        LLVMConstInt(LLVMInt1TypeInContext(l->context), 0, 0);

    if (l->group != NULL) {
        l->as_group->leave(l, value);
        return;
    }
    if (has_value && l->f->has_flag) {
        LLVMValueRef both = LLVMBuildInsertValue(
            l->builder, LLVMGetPoison(result), value, 0, "");

        LLVMBuildRet(l->builder,
                     LLVMBuildInsertValue(l->builder, both, fine, 1, ""));
    } else if (has_value)
        LLVMBuildRet(l->builder, value);
    else if (l->f->has_flag)
        LLVMBuildRet(l->builder, fine);
    else
        LLVMBuildRetVoid(l->builder);
}

/* Branches to a new block if `bad`, and leaves the builder in that block.
   Returns the block for the other case. */
static LLVMBasicBlockRef branch(kiln__lowering *l, LLVMValueRef bad)
{
    const LLVMBasicBlockRef fail = kiln__lower_block(l);
    const LLVMBasicBlockRef fine = kiln__lower_block(l);
    const LLVMValueRef jump = LLVMBuildCondBr(l->builder, bad, fail, fine);

    LLVMSetMetadata(jump, l->prof_kind, l->cold);
    LLVMPositionBuilderAtEnd(l->builder, fail);
    return fine;
}

void kiln__lower_check(kiln__lowering *l, const kiln__ir_node *node,
                       LLVMValueRef bad, kiln__codegen_exception exception)
{
    const LLVMBasicBlockRef fine = branch(l, bad);

    exception.ordinal = node->ordinal;
    exception.method = l->ir->method;
    if (ends_item(l)) {
        l->job->backend->item->end(l->job, l->builder, l->item, &exception);
    } else {
        l->job->backend->item->raise(l->job, l->builder, l->item, &exception);
        return_failure(l);
    }
    LLVMPositionBuilderAtEnd(l->builder, fine);
}

void kiln__lower_pass_on(kiln__lowering *l, const kiln__ir_node *node,
                         LLVMValueRef failed)
{
    const LLVMBasicBlockRef fine = branch(l, failed);

    if (ends_item(l)) {
        l->job->backend->item->end(l->job, l->builder, l->item, NULL);
    } else {
        kiln__lower_frame(l, node->ordinal, l->ir->method);
        return_failure(l);
    }
    LLVMPositionBuilderAtEnd(l->builder, fine);
}
