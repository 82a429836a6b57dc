/* rocm_lanes.c - lanes of a sub-group, and reading words of other lanes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/rocm/codegen/rocm_codegen.h"
#include "codegen/module/codegen_values.h"

/*
 * Processors permute all lanes of a sub-group at once. The exception is a
 * sub-group of 64 lanes on generations 10 and 11, where it consists of two
 * halves. Generation 11 can swap the halves, so a word of the other half is
 * taken from the swapped ones. On generation 10 words go through the memory of
 * the group, where each item has a place.
 */

#define NEAR 32u /* lanes of a half */

LLVMValueRef kiln__rocm_lane_count(kiln__codegen_job *job,
                                   LLVMBuilderRef builder)
{
    (void)builder;
    return kiln__job_number64(job, kiln__rocm_lanes(job));
}

/* Returns how many lanes there are before this one. */
static LLVMValueRef lane32(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    LLVMValueRef arguments[2] = {kiln__job_number32(job, 0xffffffffu),
                                 kiln__job_number32(job, 0)};

    arguments[1] = kiln__device_intrinsic(job, builder, "llvm.amdgcn.mbcnt.lo",
                                          arguments, 2);
    if (kiln__rocm_lanes(job) == NEAR)
        return arguments[1];
    return kiln__device_intrinsic(job, builder, "llvm.amdgcn.mbcnt.hi",
                                  arguments, 2);
}

LLVMValueRef kiln__rocm_lane(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    return kiln__device_range(job, builder, lane32(job, builder), 0,
                              kiln__rocm_lanes(job));
}

/* ---- permuting ---- */

/* Returns the word of a lane. The instruction takes the number of a byte: four
   times the lane's. */
static LLVMValueRef permute(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef word, LLVMValueRef from)
{
    LLVMValueRef arguments[2] = {
        LLVMBuildShl(builder, from, kiln__job_number32(job, 2), ""), word};

    return kiln__device_intrinsic(job, builder, "llvm.amdgcn.ds.bpermute",
                                  arguments, 2);
}

static LLVMValueRef swap_halves(LLVMBuilderRef builder, LLVMValueRef word)
{
    return kiln__call_intrinsic(builder, "llvm.amdgcn.permlane64",
                                LLVMTypeOf(word), &word, 1);
}

static LLVMValueRef permute_halves(kiln__codegen_job *job,
                                   LLVMBuilderRef builder, LLVMValueRef word,
                                   LLVMValueRef from)
{
    const LLVMValueRef other =
        permute(job, builder, swap_halves(builder, word), from);
    const LLVMValueRef own = permute(job, builder, word, from);
    const LLVMValueRef is_near =
        LLVMBuildICmp(builder, LLVMIntULT,
                      LLVMBuildXor(builder, from, lane32(job, builder), ""),
                      kiln__job_number32(job, NEAR), "");

    return LLVMBuildSelect(builder, is_near, own, other, "");
}

/* ---- through memory ---- */

static LLVMValueRef places_of_items(kiln__codegen_job *job)
{
    static const char name[] = "kiln.lanes";
    LLVMValueRef places = LLVMGetNamedGlobal(job->module, name);
    const uint32_t lanes = kiln__rocm_lanes(job);
    const uint32_t count =
        (kiln__device_group_most(job) + lanes - 1) / lanes * lanes;
    LLVMTypeRef type;

    if (places != NULL)
        return places;
    type = LLVMArrayType2(kiln__job_i32(job), count);
    places = LLVMAddGlobalInAddressSpace(job->module, type, name,
                                         KILN__SHARED_SPACE);
    LLVMSetLinkage(places, LLVMInternalLinkage);
    LLVMSetInitializer(places, LLVMGetUndef(type));
    LLVMSetAlignment(places, 4);
    job->static_local_bytes += 4 * count;
    return places;
}

static LLVMValueRef place_of(kiln__codegen_job *job, LLVMBuilderRef builder,
                             LLVMValueRef item)
{
    return LLVMBuildInBoundsGEP2(builder, kiln__job_i32(job),
                                 places_of_items(job), &item, 1, "");
}

void kiln__rocm_wait_for_lanes(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    kiln__rocm_fence(job, builder, "wavefront", LLVMAtomicOrderingRelease);
    (void)kiln__device_intrinsic(job, builder, "llvm.amdgcn.wave.barrier", NULL,
                                 0);
    kiln__rocm_fence(job, builder, "wavefront", LLVMAtomicOrderingAcquire);
}

static LLVMValueRef through_memory(kiln__codegen_job *job,
                                   LLVMBuilderRef builder, LLVMValueRef word,
                                   LLVMValueRef from)
{
    const LLVMValueRef item =
        LLVMBuildTrunc(builder, kiln__device_item_number(job, builder),
                       kiln__job_i32(job), "");
    const LLVMValueRef first =
        LLVMBuildSub(builder, item, lane32(job, builder), "");
    LLVMValueRef result;

    kiln__rocm_wait_for_lanes(job, builder);
    LLVMBuildStore(builder, word, place_of(job, builder, item));
    kiln__rocm_wait_for_lanes(job, builder);
    result = LLVMBuildLoad2(
        builder, kiln__job_i32(job),
        place_of(job, builder, LLVMBuildAdd(builder, first, from, "")), "");
    kiln__rocm_wait_for_lanes(job, builder);
    return result;
}

LLVMValueRef kiln__rocm_shuffle(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef word, LLVMValueRef from)
{
    const unsigned generation = kiln__rocm_generation(job);

    if (kiln__rocm_lanes(job) == NEAR || generation < 10 || generation > 11)
        return permute(job, builder, word, from);
    return generation == 11 ? permute_halves(job, builder, word, from)
                            : through_memory(job, builder, word, from);
}

/* ---- fences ---- */

void kiln__rocm_fence(kiln__codegen_job *job, LLVMBuilderRef builder,
                      const char *scope, LLVMAtomicOrdering ordering)
{
    LLVMSetAtomicSyncScopeID(
        LLVMBuildFence(builder, ordering, 0, ""),
        LLVMGetSyncScopeID(job->context, scope, strlen(scope)));
}

/* ---- votes ---- */

/* The intrinsic for 64 lanes also serves sub-groups of 32. */
LLVMValueRef kiln__rocm_ballot(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef condition)
{
    return kiln__call_intrinsic(builder, "llvm.amdgcn.ballot",
                                kiln__job_i64(job), &condition, 1);
}
