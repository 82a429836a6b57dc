/* device_cut.c - kernels for grids that cut their last groups. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/codegen/device_codegen.h"

#include "abi/device_abi.h"
#include "codegen/module/codegen_values.h"

/*
 * A device launches whole groups. Where the groups do not divide the grid, the
 * last ones have items outside it, which must do nothing. Asking for that takes
 * a comparison for each dimension and each item. Only the entry for any launch
 * asks: known launches have whole groups. Both take the grid's sizes, so that
 * who launches need not know which entry it is.
 *
 * Who launches whole groups may say so instead of giving the sizes: the number
 * that says it is larger than any id. Where code wants to know the grid's size,
 * it is the least of what was given and of what all groups have.
 *
 * Kernels whose items work together have whole groups: a group without some of
 * its items gives other sums, and not every device lets items end for which
 * others wait. Lowering finds them (lower_cut.c).
 */

/* A kernel that needs nearly all arguments that a device takes has no room for
   three sizes. */
int kiln__device_is_cut(const kiln__codegen_job *job)
{
    const uint64_t hidden = job->hidden_arguments + KILN__CUT_SIZES;
    uint64_t end = 0, count = hidden;

    if (!job->any_block)
        return 0;
    for (size_t i = 0; i < job->parameter_count; i++) {
        (void)kiln__parameter_place(&job->parameters[i], &end);
        count += kiln__parameter_words(&job->parameters[i]);
    }
    return kiln__hardware(job)->takes_arguments(
        job, (end + 7) / 8 * 8 + 8 * hidden, count);
}

static LLVMValueRef size_of_groups(kiln__codegen_job *job,
                                   LLVMBuilderRef builder, uint32_t d)
{
    return kiln__device_multiply(
        builder, kiln__hardware(job)->group_count(job, builder, d),
        kiln__device_group_size(job, builder, d));
}

void kiln__device_fill_grid(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef item)
{
    for (uint32_t d = 0; d < 3; d++)
        kiln__device_set_grid(job, builder, item, d,
                              size_of_groups(job, builder, d));
}

/* Sets a size of the grid, which may have been given. */
static void set_size(kiln__codegen_job *job, LLVMBuilderRef builder,
                     LLVMValueRef item, uint32_t d, LLVMValueRef given)
{
    LLVMValueRef sizes[2] = {given, size_of_groups(job, builder, d)};

    kiln__device_set_grid(job, builder, item, d,
                          kiln__call_intrinsic(builder, "llvm.umin",
                                               kiln__job_i64(job), sizes, 2));
}

/* Returns whether the item is in the grid. */
static LLVMValueRef is_inside(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef item, unsigned first)
{
    const LLVMValueRef kernel =
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder));
    LLVMValueRef all = NULL;

    for (uint32_t d = 0; d < 3; d++) {
        const LLVMValueRef size = LLVMGetParam(kernel, first + d);
        const LLVMValueRef inside =
            LLVMBuildICmp(builder, LLVMIntULT,
                          kiln__device_global_id(job, builder, d), size, "");

        if (!job->asks_no_grid)
            set_size(job, builder, item, d, size);
        all = all == NULL ? inside : LLVMBuildAnd(builder, all, inside, "");
    }
    return all;
}

void kiln__device_cut(kiln__codegen_job *job, LLVMBuilderRef builder,
                      LLVMValueRef item, unsigned first)
{
    const LLVMValueRef inside = is_inside(job, builder, item, first);
    const LLVMValueRef kernel =
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder));
    const LLVMBasicBlockRef outside =
        LLVMAppendBasicBlockInContext(job->context, kernel, "outside");
    const LLVMBasicBlockRef next =
        LLVMAppendBasicBlockInContext(job->context, kernel, "inside");

    LLVMBuildCondBr(builder, inside, next, outside);
    LLVMPositionBuilderAtEnd(builder, outside);
    LLVMBuildRetVoid(builder);
    LLVMPositionBuilderAtEnd(builder, next);
}
