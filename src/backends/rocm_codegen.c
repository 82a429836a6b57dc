/* rocm_codegen.c - the codegen half of ROCm: code for AMD's GPUs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen_rocm.h"

/*
 * LLVM's documentation of AMDGPU names intrinsics, attributes and the implicit
 * arguments of a kernel, which the runtime adds behind ours. The launch's shape
 * is read there, by the loads that read the arguments; what the packet of the
 * launch has is farther away, and counts items where groups are asked for.
 */

#define KERNEL_CONVENTION 91u /* amdgpu_kernel */

#define CONSTANT_SPACE 4u
#define ITEM_SPACE 5u

static LLVMTypeRef i32_of(const kiln__codegen_job *job)
{
    return LLVMInt32TypeInContext(job->context);
}

static LLVMValueRef number32(const kiln__codegen_job *job, uint32_t value)
{
    return LLVMConstInt(i32_of(job), value, 0);
}

/* ---- the launch's shape ---- */

/* Offsets of the implicit arguments, along dimension 0. */
#define GROUP_COUNTS 0u /* u32 each */
#define GROUP_SIZES 12u /* u16 each */

/* Items of a grid along a dimension have a number of 32 bits. */
#define GRID_MAX 0xffffffffu

static LLVMValueRef read_implicit(kiln__codegen_job *job,
                                  LLVMBuilderRef builder, uint32_t offset,
                                  uint32_t width, uint32_t end)
{
    const LLVMValueRef base = kiln__device_intrinsic(
        job, builder, "llvm.amdgcn.implicitarg.ptr", NULL, 0);
    LLVMValueRef at = kiln__device_number(job, offset);
    LLVMValueRef value;

    at = LLVMBuildInBoundsGEP2(builder, LLVMInt8TypeInContext(job->context),
                               base, &at, 1, "");
    value = LLVMBuildLoad2(builder, LLVMIntTypeInContext(job->context, width),
                           at, "");
    LLVMSetAlignment(value, width / 8);
    LLVMSetMetadata(
        value,
        LLVMGetMDKindIDInContext(job->context, "invariant.load",
                                 sizeof "invariant.load" - 1),
        LLVMMetadataAsValue(job->context,
                            LLVMMDNodeInContext2(job->context, NULL, 0)));
    return kiln__device_range(job, builder, value, 1, end);
}

static LLVMValueRef local_id(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t d)
{
    static const char *const names[3] = {"llvm.amdgcn.workitem.id.x",
                                         "llvm.amdgcn.workitem.id.y",
                                         "llvm.amdgcn.workitem.id.z"};

    return kiln__device_range(
        job, builder, kiln__device_intrinsic(job, builder, names[d], NULL, 0),
        0, kiln__device_size_most(job, d));
}

static LLVMValueRef group_id(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t d)
{
    static const char *const names[3] = {"llvm.amdgcn.workgroup.id.x",
                                         "llvm.amdgcn.workgroup.id.y",
                                         "llvm.amdgcn.workgroup.id.z"};

    return kiln__device_range(
        job, builder, kiln__device_intrinsic(job, builder, names[d], NULL, 0),
        0, GRID_MAX);
}

static LLVMValueRef group_size(kiln__codegen_job *job, LLVMBuilderRef builder,
                               uint32_t d)
{
    return read_implicit(job, builder, GROUP_SIZES + 2 * d, 16,
                         kiln__device_size_most(job, d) + 1);
}

static LLVMValueRef group_count(kiln__codegen_job *job, LLVMBuilderRef builder,
                                uint32_t d)
{
    return read_implicit(job, builder, GROUP_COUNTS + 4 * d, 32, GRID_MAX);
}

/* ---- sub-groups ---- */

static LLVMValueRef lanes(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    (void)builder;
    return kiln__device_number(job, kiln__rocm_lanes(job));
}

/* How many lanes there are before this one. */
static LLVMValueRef lane32(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    LLVMValueRef arguments[2] = {number32(job, 0xffffffffu), number32(job, 0)};

    arguments[1] = kiln__device_intrinsic(job, builder, "llvm.amdgcn.mbcnt.lo",
                                          arguments, 2);
    if (kiln__rocm_lanes(job) == 32)
        return arguments[1];
    return kiln__device_intrinsic(job, builder, "llvm.amdgcn.mbcnt.hi",
                                  arguments, 2);
}

static LLVMValueRef lane(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    return kiln__device_range(job, builder, lane32(job, builder), 0,
                              kiln__rocm_lanes(job));
}

/* The word of a lane whose number is taken from 4 times it. */
static LLVMValueRef permute(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef word, LLVMValueRef from)
{
    LLVMValueRef arguments[2] = {
        LLVMBuildShl(builder, from, number32(job, 2), ""), word};

    return kiln__device_intrinsic(job, builder, "llvm.amdgcn.ds.bpermute",
                                  arguments, 2);
}

/* The words of the two halves of 32 lanes change places. */
static LLVMValueRef swap_halves(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef word)
{
    static const char name[] = "llvm.amdgcn.permlane64";
    LLVMTypeRef type = LLVMTypeOf(word);
    const LLVMValueRef function = LLVMGetIntrinsicDeclaration(
        job->module, LLVMLookupIntrinsicID(name, sizeof name - 1), &type, 1);

    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                          &word, 1, "");
}

/*
 * Generations 10 and 11 permute 64 lanes in two halves, each for itself. The
 * 11th swaps halves, so a word of the other half is found among the swapped
 * ones; the 10th has no way but through memory.
 */
static LLVMValueRef shuffle(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef word, LLVMValueRef from)
{
    const unsigned generation = kiln__rocm_generation(job);
    LLVMValueRef own, other, is_near;

    own = permute(job, builder, word, from);
    if (kiln__rocm_lanes(job) == 32 || generation < 10 || generation > 11)
        return own;
    if (generation == 10) {
        (void)kiln__job_fail(job, KILN_EUNSUPPORTED,
                             "items of a sub-group of 64 cannot tell each "
                             "other values on %s; it has sub-groups of 32",
                             job->settings->processor);
        return own;
    }
    other = permute(job, builder, swap_halves(job, builder, word), from);
    is_near =
        LLVMBuildICmp(builder, LLVMIntULT,
                      LLVMBuildXor(builder, from, lane32(job, builder), ""),
                      number32(job, 32), "");
    return LLVMBuildSelect(builder, is_near, own, other, "");
}

/* ---- barriers, atomics ---- */

static void fence(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMAtomicOrdering ordering)
{
    static const char scope[] = "workgroup";

    LLVMSetAtomicSyncScopeID(
        LLVMBuildFence(builder, ordering, 0, ""),
        LLVMGetSyncScopeID(job->context, scope, sizeof scope - 1));
}

static void barrier(kiln__codegen_job *job, LLVMBuilderRef builder,
                    LLVMValueRef item)
{
    (void)item;
    fence(job, builder, LLVMAtomicOrderingRelease);
    (void)kiln__device_intrinsic(job, builder, "llvm.amdgcn.s.barrier", NULL,
                                 0);
    fence(job, builder, LLVMAtomicOrderingAcquire);
}

/* LLVM makes a loop of what a processor lacks. */
static int has_atomic(const kiln__codegen_job *job, uint32_t operation,
                      int32_t kind)
{
    (void)job;
    (void)operation;
    (void)kind;
    return 1;
}

/* Functions of a math library are linked; nothing else is there. */
static int may_import(const char *name)
{
    (void)name;
    return 0;
}

static const kiln__device_hardware hardware = {
    .device =
        {
            .array_space = 0,
            .bytes_space = CONSTANT_SPACE,
            .item_space = ITEM_SPACE,
            .scope = "agent",
            .barrier = barrier,
            .collective = kiln__device_collective,
            .has_atomic = has_atomic,
        },
    .kernel_convention = KERNEL_CONVENTION,
    .aggregate = "byref",
    .group_max = 1024,
    .local_id = local_id,
    .group_id = group_id,
    .group_size = group_size,
    .group_count = group_count,
    .lanes = lanes,
    .lane = lane,
    .shuffle = shuffle,
    .describe = kiln__rocm_describe,
};

const kiln__codegen_backend kiln__rocm_codegen = {
    .name = "rocm",
    .format = "elf",
    .device = &hardware.device,
    .query = kiln__device_query,
    .raise = kiln__device_raise,
    .print = kiln__device_print,
    .wrap = kiln__device_wrap,
    .finish = kiln__rocm_finish,
    .may_import = may_import,
    .is_scheduled = 1,
};
