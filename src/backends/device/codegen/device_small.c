/* device_small.c - ids of grids that are known to be small. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/codegen/device_codegen.h"

#include "codegen/module/codegen_values.h"
#include "ir/ir.h"

/*
 * Ids and sizes that are products have no range that LLVM knows. In code for
 * small grids they are calls first, which have one, until it is known what fits
 * into 32 bits (narrow.cc).
 */

#define SMALL "kiln.small."

static int is_product(uint32_t query)
{
    return query == KILN__QUERY_GLOBAL_ID || query == KILN__QUERY_GLOBAL_SIZE;
}

static LLVMValueRef declare_small(kiln__codegen_job *job, uint32_t query,
                                  uint32_t d)
{
    const char *name = kiln__arena_format(&job->arena, SMALL "%u.%u",
                                          (unsigned)query, (unsigned)d);
    LLVMValueRef function;

    if (name == NULL)
        return NULL;
    function = LLVMGetNamedFunction(job->module, name);
    if (function != NULL)
        return function;
    function = LLVMAddFunction(
        job->module, name, LLVMFunctionType(kiln__job_i64(job), NULL, 0, 0));
    LLVMSetVisibility(function, LLVMHiddenVisibility); /* defined nowhere */
    kiln__device_attribute(job, function, "nounwind");
    kiln__device_attribute(job, function, "willreturn");
    kiln__device_attribute(job, function, "speculatable");
    kiln__device_attribute(job, function, "memory"); /* it touches none */
    kiln__llvm_returns_below(function, KILN__SMALL_MOST + 1);
    return function;
}

LLVMValueRef kiln__device_small_query(kiln__codegen_job *job,
                                      LLVMBuilderRef builder, uint32_t query,
                                      uint32_t d)
{
    LLVMValueRef function =
        is_product(query) ? declare_small(job, query, d) : NULL;

    return function == NULL
               ? NULL
               : LLVMBuildCall2(builder, LLVMGlobalGetValueType(function),
                                function, NULL, 0, "");
}

/* Returns the value in 32 bits, extended: that is where it fits. */
static LLVMValueRef small_query(kiln__codegen_job *job, LLVMBuilderRef builder,
                                uint32_t query, uint32_t d)
{
    const kiln__device_hardware *hardware = kiln__hardware(job);
    const int is_id = query == KILN__QUERY_GLOBAL_ID;
    const LLVMTypeRef i32 = kiln__job_i32(job);
    LLVMValueRef value;

    if (hardware->grid_id != NULL)
        return hardware->grid_id(job, builder, !is_id, d);
    value = is_id ? hardware->group_id(job, builder, d)
                  : hardware->group_count(job, builder, d);
    value = kiln__device_multiply(
        builder, LLVMBuildTrunc(builder, value, i32, ""),
        LLVMBuildTrunc(builder, kiln__device_group_size(job, builder, d), i32,
                       ""));
    if (is_id)
        value = kiln__device_add(
            builder, value,
            LLVMBuildTrunc(builder, hardware->local_id(job, builder, d), i32,
                           ""));
    return LLVMBuildZExt(builder, value, kiln__job_i64(job), "");
}

static void place_id(kiln__codegen_job *job, LLVMBuilderRef builder,
                     uint32_t query, uint32_t d)
{
    const char *name = kiln__arena_format(&job->arena, SMALL "%u.%u",
                                          (unsigned)query, (unsigned)d);
    LLVMValueRef function =
        name == NULL ? NULL : LLVMGetNamedFunction(job->module, name);

    if (function == NULL)
        return;
    while (LLVMGetFirstUse(function) != NULL) {
        LLVMValueRef call = LLVMGetUser(LLVMGetFirstUse(function));

        LLVMPositionBuilderBefore(builder, call);
        LLVMReplaceAllUsesWith(call, small_query(job, builder, query, d));
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(function);
}

void kiln__device_place_ids(kiln__codegen_job *job)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);

    for (uint32_t d = 0; d < 3; d++) {
        place_id(job, builder, KILN__QUERY_GLOBAL_ID, d);
        place_id(job, builder, KILN__QUERY_GLOBAL_SIZE, d);
    }
    LLVMDisposeBuilder(builder);
}
