/* rocm_codegen.c - the codegen half of ROCm: code for AMD's GPUs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/device/codegen/device_codegen.h"
#include "backends/rocm/codegen/rocm_codegen.h"
#include "codegen/elf/elf.h"
#include "codegen/module/codegen_values.h"
#include "ir/ir.h"

/*
 * The intrinsics, attributes and implicit arguments of a kernel are those in
 * LLVM's documentation of AMDGPU. The runtime adds the implicit arguments after
 * ours. The launch's shape is read from them, by the loads that also read the
 * arguments. The launch's packet has it, too, but is farther away, and counts
 * items where the group count is needed.
 */

#define KERNEL_CONVENTION 91u /* amdgpu_kernel */

#define CONSTANT_SPACE 4u
#define ITEM_SPACE 5u

/* ---- the launch's shape ---- */

/* Offsets of the implicit arguments, along dimension 0. */
#define GROUP_COUNTS 0u /* u32 each */
#define GROUP_SIZES 12u /* u16 each */

/* The most items of a grid along a dimension: their number has 32 bits. */
#define GRID_MAX 0xffffffffu

static LLVMValueRef read_implicit(kiln__codegen_job *job,
                                  LLVMBuilderRef builder, uint32_t offset,
                                  uint32_t width, uint32_t end)
{
    const LLVMValueRef base = kiln__device_intrinsic(
        job, builder, "llvm.amdgcn.implicitarg.ptr", NULL, 0);
    LLVMValueRef at = kiln__job_number64(job, offset);
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

/* ---- barriers, atomics ---- */

static void barrier(kiln__codegen_job *job, LLVMBuilderRef builder,
                    LLVMValueRef item)
{
    (void)item;
    kiln__rocm_fence(job, builder, "workgroup", LLVMAtomicOrderingRelease);
    (void)kiln__device_intrinsic(job, builder, "llvm.amdgcn.s.barrier", NULL,
                                 0);
    kiln__rocm_fence(job, builder, "workgroup", LLVMAtomicOrderingAcquire);
}

/* Functions of a math library are linked; there is nothing else to import. */
static int may_import(const char *name)
{
    (void)name;
    return 0;
}

/* v_cvt_pk_bf16_f32. */
static int rounds_bf16(const kiln__codegen_job *job)
{
    static const char *const names[] = {"gfx950", "gfx1250", "gfx1251"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(job->settings->processor, names[i]) == 0)
            return 1;
    return 0;
}

static const kiln__device_hardware hardware = {
    .device =
        {
            .has_facts = 1,
            .array_space = 0,
            .bytes_space = CONSTANT_SPACE,
            .item_space = ITEM_SPACE,
            .scope = "agent",
            .barrier = barrier,
            .members = kiln__device_members,
            .group_most = kiln__device_group_most,
            .sub_group_barrier = kiln__rocm_wait_for_lanes,
            .ballot = kiln__rocm_ballot,
            .collective = kiln__device_collective,
            .rounds_bf16 = rounds_bf16,
        },
    .kernel_convention = KERNEL_CONVENTION,
    .aggregate = "byref",
    .group_max = 1024,
    .takes_arguments = kiln__rocm_takes_arguments,
    .local_id = local_id,
    .group_id = group_id,
    .group_size = group_size,
    .group_count = group_count,
    .lanes = kiln__rocm_lane_count,
    .lane = kiln__rocm_lane,
    .shuffle = kiln__rocm_shuffle,
    .describe = kiln__rocm_describe_kernel,
};

static const char *const scopes[] = {"",
                                     "singlethread",
                                     "wavefront",
                                     "workgroup",
                                     "cluster",
                                     "agent",
                                     "one-as",
                                     "singlethread-one-as",
                                     "wavefront-one-as",
                                     "workgroup-one-as",
                                     "cluster-one-as",
                                     "agent-one-as",
                                     NULL};

static const kiln__neutral_scopes neutral_scopes = {"wavefront", "workgroup",
                                                    "agent"};

static const kiln__foreign_rules foreign = {
    .intrinsics = "amdgcn.",
    .spaces = KILN__CONSTANT_SPACES | KILN__SPACE_BIT(3) |
              KILN__SPACE_BIT(ITEM_SPACE),
    .constant_spaces = KILN__CONSTANT_SPACES,
    .neutral_spaces = KILN__NEUTRAL_SPACES,
    .neutral_constants = CONSTANT_SPACE,
    .neutral_scopes = &neutral_scopes,
    .scopes = scopes,
    .has_bfloats = 1,
    .has_address_numbers = 1,
    .has_wide_conversions = 1,
    .has_exact_remainders = 1,
    .has_libraries = 1,
    .named_spaces = {ITEM_SPACE, 1, 4, 3, 0},
    .limits = kiln__rocm_limits,
    /* gfx11 counts cycles with 20 bits only. */
    .clock = "llvm.readsteadycounter",
    .refuse_own = kiln__rocm_refuse_own,
};

static const kiln__codegen_approximate approximate = {
    .power = "llvm.amdgcn.exp2",
    .full_power = "llvm.exp2",
    .reciprocal = "llvm.amdgcn.rcp",
    .rsqrt = "llvm.amdgcn.rsq",
    .median = "llvm.amdgcn.fmed3",
    .log = "llvm.log",
    .log2 = "llvm.log2",
    .log10 = "llvm.log10",
    .reciprocal_f64 = "llvm.amdgcn.rcp",
    .rsqrt_f64 = "llvm.amdgcn.rsq",
    .has_ldexp = 1,
};

const kiln__codegen_backend kiln__rocm_codegen = {
    .name = "rocm",
    .format = "elf",
    .device = &hardware.device,
    .approximate = &approximate,
    .foreign = &foreign,
    .process =
        &(const kiln__codegen_process){.abandon = kiln__elf_link_abandon,
                                       .guard_forks = kiln__elf_link_guard},
    .symbols = {.may_import = may_import, .constant = kiln__rocm_constant},
    .payload = {.wrap = kiln__device_wrap,
                .finish = kiln__rocm_finish,
                .reports = kiln__device_reports},
    .item = &kiln__device_items,
    .fast = kiln__rocm_fast,
    .adapt = kiln__rocm_widen_divisions,
    .crowding_max = 500000,
    .is_scheduled = 1,
};
