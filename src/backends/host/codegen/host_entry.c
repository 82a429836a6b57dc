/* host_entry.c - the arguments of the host's kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/host/codegen/host_wrap.h"

/*
 * Nearly everything is loaded once, before the first group, and marked as
 * invariant: nothing writes the packed block or the launch while the kernel
 * runs.
 *
 * The sizes of the grid are only needed where a group begins. Loaded once, they
 * would live through all loops, in places of the frame, and choosing registers
 * would take longer. So each group loads them, by loads that no pass moves.
 */

typedef kiln__host_wrapper wrapper;

LLVMValueRef kiln__host_add_kernel(const kiln__codegen_job *job,
                                   const char *name)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(job->context, 0);
    LLVMTypeRef i64 = kiln__job_i64(job);
    LLVMTypeRef parameters[] = {pointer, pointer, i64, i64, pointer};
    LLVMTypeRef type = LLVMFunctionType(kiln__job_i32(job), parameters, 5, 0);
    LLVMValueRef function = LLVMAddFunction(job->module, name, type);

    kiln__host_attribute(job, function, -1, "nounwind");
    for (int i = 1; i <= 2; i++) {
        kiln__host_attribute(job, function, i, "noalias");
        kiln__host_attribute(job, function, i, "nonnull");
        kiln__host_attribute(job, function, i, "noundef");
    }
    kiln__host_attribute(job, function, 2, "readonly");
    for (int i = 3; i <= 4; i++)
        kiln__host_attribute(job, function, i, "noundef");
    return function;
}

static LLVMValueRef load_argument(wrapper *w, LLVMTypeRef type, uint64_t offset)
{
    LLVMValueRef load = LLVMBuildLoad2(
        w->builder, type,
        kiln__host_member(w->job, w->builder, w->block_arguments, offset), "");

    kiln__host_mark_invariant(w->job, load);
    return load;
}

static void load_array(wrapper *w, const kiln__parameter *array,
                       uint64_t offset)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(w->job->context, 0);

    w->values[w->value_count++] = load_argument(w, pointer, offset);
    for (uint32_t i = 0; i < array->rank; i++) {
        offset += 8;
        w->values[w->value_count++] = kiln__host_constant(
            w->job, w->builder, w->block_arguments, offset, 0);
    }
    for (uint32_t i = 0; array->strided != 0 && i < array->rank; i++) {
        offset += 8;
        w->values[w->value_count++] = load_argument(w, w->i64, offset);
    }
}

void kiln__host_load_arguments(wrapper *w)
{
    const kiln__codegen_job *job = w->job;
    LLVMTypeRef i8 = LLVMInt8TypeInContext(job->context);
    uint64_t end = 0;

    w->values[w->value_count++] = w->item;
    for (size_t i = 0; i < job->parameter_count; i++) {
        const kiln__parameter *p = &job->parameters[i];
        const uint64_t offset = kiln__parameter_place(p, &end);

        if (p->passing == KILN__PARAMETER_SCALAR)
            w->values[w->value_count++] = load_argument(
                w,
                p->kind == KILN_TYPE_BOOL ? i8 : kiln__job_scalar(job, p->kind),
                offset);
        else if (p->passing == KILN__PARAMETER_BYTES)
            w->values[w->value_count++] =
                kiln__host_member(job, w->builder, w->block_arguments, offset);
        else if (p->passing == KILN__PARAMETER_ARRAY)
            load_array(w, p, offset);
    }
}

void kiln__host_load_block(wrapper *w)
{
    for (uint32_t d = 0; d < 3; d++)
        w->block[d] = kiln__host_group_size(w->job, w->builder, w->launch, d);
}

/* Returns a member of the launch that is 1 or greater. */
static LLVMValueRef load_again(const wrapper *w, uint64_t offset)
{
    const LLVMValueRef load =
        kiln__host_constant(w->job, w->builder, w->launch, offset, 1);

    LLVMSetVolatile(load, 1);
    return load;
}

void kiln__host_load_grid(wrapper *w)
{
    for (uint32_t d = 0; d < 3; d++)
        w->grid[d] = load_again(w, KILN__OF_LAUNCH(grid, d));
    for (uint32_t d = 0; d < 2; d++)
        w->groups[d] = load_again(w, KILN__OF_LAUNCH(groups, d));
}
