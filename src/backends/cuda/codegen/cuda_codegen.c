/* cuda_codegen.c - the codegen half of CUDA: makes PTX of a kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "abi/device_abi.h"
#include "backends/cuda/codegen/cuda_codegen.h"
#include "backends/device/codegen/device_codegen.h"
#include "base/error.h"

/*
 * The intrinsics are those in LLVM's documentation of NVPTX. The numbers of a
 * launch's shape are 32 bits and below 2^31.
 */

#define WARP 32u
#define KERNEL_CONVENTION 71u /* ptx_kernel */

/* ---- the launch's shape ---- */

/* Reads a special register, known to be at least `least` and below `end`. */
static LLVMValueRef read_register(kiln__codegen_job *job,
                                  LLVMBuilderRef builder, const char *name,
                                  uint32_t least, uint32_t end)
{
    return kiln__device_range(
        job, builder, kiln__device_intrinsic(job, builder, name, NULL, 0),
        least, end);
}

/* Limits of a group: 1024 items, 64 along the last dimension. */
static const uint32_t group_limits[3] = {1024, 1024, 64};
static const uint32_t grid_limits[3] = {0x7fffffff, 65535, 65535};

static uint32_t group_limit(const kiln__codegen_job *job, uint32_t d)
{
    const uint32_t required = job->settings->required_group_size[d];

    return required != 0 && required < group_limits[d] ? required
                                                       : group_limits[d];
}

static LLVMValueRef local_id(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t d)
{
    static const char *const names[3] = {"llvm.nvvm.read.ptx.sreg.tid.x",
                                         "llvm.nvvm.read.ptx.sreg.tid.y",
                                         "llvm.nvvm.read.ptx.sreg.tid.z"};

    return read_register(job, builder, names[d], 0, group_limit(job, d));
}

static LLVMValueRef group_id(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t d)
{
    static const char *const names[3] = {"llvm.nvvm.read.ptx.sreg.ctaid.x",
                                         "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                         "llvm.nvvm.read.ptx.sreg.ctaid.z"};

    return read_register(job, builder, names[d], 0, grid_limits[d]);
}

static LLVMValueRef group_size(kiln__codegen_job *job, LLVMBuilderRef builder,
                               uint32_t d)
{
    static const char *const names[3] = {"llvm.nvvm.read.ptx.sreg.ntid.x",
                                         "llvm.nvvm.read.ptx.sreg.ntid.y",
                                         "llvm.nvvm.read.ptx.sreg.ntid.z"};

    return read_register(job, builder, names[d], 1, group_limits[d] + 1);
}

/* An assembly, since LLVM would keep the values that it has read before. */
static LLVMValueRef read_again(kiln__codegen_job *job, LLVMBuilderRef builder,
                               uint32_t which)
{
    static const char *const texts[] = {
        "mov.u32 $0, %tid.x;",   "mov.u32 $0, %tid.y;",
        "mov.u32 $0, %tid.z;",   "mov.u32 $0, %ctaid.x;",
        "mov.u32 $0, %ctaid.y;", "mov.u32 $0, %ctaid.z;",
        "mov.u32 $0, %ntid.x;",  "mov.u32 $0, %ntid.y;",
        "mov.u32 $0, %ntid.z;"};
    const LLVMTypeRef type = LLVMFunctionType(kiln__job_i32(job), NULL, 0, 0);
    const LLVMValueRef assembly =
        LLVMGetInlineAsm(type, texts[which], strlen(texts[which]), "=r", 2, 0,
                         0, LLVMInlineAsmDialectATT, 0);

    return LLVMBuildCall2(builder, type, assembly, NULL, 0, "");
}

static LLVMValueRef group_count(kiln__codegen_job *job, LLVMBuilderRef builder,
                                uint32_t d)
{
    static const char *const names[3] = {"llvm.nvvm.read.ptx.sreg.nctaid.x",
                                         "llvm.nvvm.read.ptx.sreg.nctaid.y",
                                         "llvm.nvvm.read.ptx.sreg.nctaid.z"};

    return read_register(job, builder, names[d], 1, grid_limits[d] + 1u);
}

/* ---- sub-groups ---- */

static LLVMValueRef lanes(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    (void)builder;
    return kiln__job_number64(job, WARP);
}

static LLVMValueRef lane(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    return read_register(job, builder, "llvm.nvvm.read.ptx.sreg.laneid", 0,
                         WARP);
}

/* All existing lanes come here. The mask names all 32: lanes that do not exist
   never began, and a mask may name them. */
static LLVMValueRef shuffle(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef word, LLVMValueRef from)
{
    LLVMValueRef arguments[4] = {kiln__job_number32(job, 0xffffffffu), word,
                                 from, kiln__job_number32(job, WARP - 1)};

    return kiln__device_intrinsic(job, builder, "llvm.nvvm.shfl.sync.idx.i32",
                                  arguments, 4);
}

static void barrier(kiln__codegen_job *job, LLVMBuilderRef builder,
                    LLVMValueRef item)
{
    LLVMValueRef first = kiln__job_number32(job, 0);

    (void)item;
    (void)kiln__device_intrinsic(
        job, builder, "llvm.nvvm.barrier.cta.sync.aligned.all", &first, 1);
}

/* The mask names all lanes, as in shuffle(). */
static void sub_group_barrier(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    LLVMValueRef all = kiln__job_number32(job, 0xffffffffu);

    (void)kiln__device_intrinsic(job, builder, "llvm.nvvm.bar.warp.sync", &all,
                                 1);
}

static LLVMValueRef ballot(kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef condition)
{
    LLVMValueRef arguments[2] = {kiln__job_number32(job, 0xffffffffu),
                                 condition};

    return LLVMBuildZExt(builder,
                         kiln__device_intrinsic(job, builder,
                                                "llvm.nvvm.vote.ballot.sync",
                                                arguments, 2),
                         kiln__job_i64(job), "");
}

/* ---- floats ---- */

/* cvt.rn.bf16.f32. */
static int rounds_bf16(const kiln__codegen_job *job)
{
    const char *model = strstr(job->settings->processor, "sm_");

    return model != NULL && strtoul(model + 3, NULL, 10) >= 80 &&
           kiln__cuda_ptx_version(job) >= 70;
}

/* ---- the kernel ---- */

/* From PTX 8.1 on, kernels for sm_70 and above take more bytes of
   parameters. */
#define PARAMETERS_MAX 4096u
#define PARAMETERS_MAX_81 32764u

static unsigned parameters_most(const kiln__codegen_job *job)
{
    return kiln__cuda_ptx_version(job) >= 81 ? PARAMETERS_MAX_81
                                             : PARAMETERS_MAX;
}

static int takes_arguments(const kiln__codegen_job *job, uint64_t bytes,
                           uint64_t parameters)
{
    (void)parameters;
    return bytes <= parameters_most(job);
}

static kiln_status check_parameters(kiln__codegen_job *job)
{
    const unsigned version = kiln__cuda_ptx_version(job);
    const char *taker = kiln__arena_format(&job->arena, "a kernel of PTX %u.%u",
                                           version / 10, version % 10);

    return kiln__device_check_arguments(job, parameters_most(job),
                                        taker != NULL ? taker : "");
}

static kiln_status check_group(kiln__codegen_job *job)
{
    const uint32_t *required = job->settings->required_group_size;

    if (kiln__device_group_items(job) > 1024 || required[2] > 64)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "a group of %u x %u x %u items; CUDA has groups "
                              "of at most 1024, and 64 along the last "
                              "dimension",
                              required[0], required[1], required[2]);
    return KILN_OK;
}

static kiln_status describe_kernel(kiln__codegen_job *job, LLVMValueRef kernel)
{
    const kiln__codegen_settings *settings = job->settings;
    const uint32_t *required = settings->required_group_size;

    KILN_TRY(check_parameters(job));
    KILN_TRY(check_group(job));
    if (kiln__device_group_is_known(job))
        kiln__device_text_attribute(job, kernel, "nvvm.reqntid", "%u,%u,%u",
                                    required[0], required[1], required[2]);
    else if (settings->maximum_group_size != 0)
        kiln__device_text_attribute(job, kernel, "nvvm.maxntid", "%u",
                                    settings->maximum_group_size);
    if (settings->minimum_groups != 0)
        kiln__device_text_attribute(job, kernel, "nvvm.minctasm", "%u",
                                    settings->minimum_groups);
    if (settings->maximum_registers != 0)
        kiln__device_text_attribute(job, kernel, "nvvm.maxnreg", "%u",
                                    settings->maximum_registers);
    return job->status;
}

/* ---- the payload ---- */

/* PTX declares a group's static memory to its assembler, and a cubin says what
   it takes. Modules that Kiln lowers have only atomics that LLVM gets right. */
static kiln_status adapt(kiln__codegen_job *job)
{
    KILN_TRY(kiln__device_check_local(job, KILN__CUDA_LOCAL));
    return kiln__job_has_foreign(job) ? kiln__cuda_order_atomics(job) : KILN_OK;
}

static kiln_status finish_payload(kiln__codegen_job *job,
                                  const kiln__object *objects, size_t count,
                                  kiln_blob *out)
{
    (void)count; /* there is one module */
    return kiln__cuda_link(job, &objects[0], out);
}

/* Functions of a math library are linked, so they need no import. What
   libdevice asks of the compiler by this function, a pass of LLVM answers. */
static int may_import(const char *name)
{
    return strcmp(name, "__nvvm_reflect") == 0;
}

static const kiln__device_hardware hardware = {
    .device =
        {
            .array_space = 0,
            .bytes_space = 0,
            .has_32_bits = 1,
            .has_facts = 1,
            .walks = 1,
            .has_read_only_loads = 1,
            .aligns_vectors = 1,
            .item_space = 0,
            .scope = "device",
            .barrier = barrier,
            .members = kiln__device_members,
            .group_most = kiln__device_group_most,
            .sub_group_barrier = sub_group_barrier,
            .ballot = ballot,
            .collective = kiln__device_collective,
            .rounds_bf16 = rounds_bf16,
        },
    .kernel_convention = KERNEL_CONVENTION,
    .aggregate = "byval",
    .held = {"=r,0", "=l,0"},
    .read_again = read_again,
    .group_max = 1024,
    .takes_arguments = takes_arguments,
    .local_id = local_id,
    .group_id = group_id,
    .group_size = group_size,
    .group_count = group_count,
    .lanes = lanes,
    .lane = lane,
    .shuffle = shuffle,
    .describe = describe_kernel,
};

static const char *const scopes[] = {"",        "singlethread", "block",
                                     "cluster", "device",       NULL};

static const kiln__neutral_scopes neutral_scopes = {"block", "block", "device"};

static const kiln__foreign_rules foreign = {
    .intrinsics = "nvvm.",
    .spaces = KILN__CONSTANT_SPACES | KILN__SPACE_BIT(3) | KILN__SPACE_BIT(5),
    .constant_spaces = KILN__CONSTANT_SPACES,
    .neutral_spaces = KILN__NEUTRAL_SPACES,
    .neutral_constants = 1, /* .const has little room */
    .neutral_scopes = &neutral_scopes,
    .scopes = scopes,
    .has_bfloats = 1,
    .has_bit_conversions = 1,
    .has_weak_updates = 1,
    .has_libraries = 1,
    .named_spaces = {0, 1, 4, 3, 0},
    .limits = kiln__cuda_limits,
    .refuse_own = kiln__cuda_refuse_own,
    .clock = "llvm.readcyclecounter",
};

static const kiln__codegen_approximate approximate = {
    .power = "llvm.nvvm.ex2.approx.ftz",
    .full_power = "llvm.nvvm.ex2.approx",
    .reciprocal = "llvm.nvvm.rcp.approx.ftz.f",
    .rsqrt = "llvm.nvvm.rsqrt.approx.f",
    .full_rsqrt = 1,
    .clamped_fma = "llvm.nvvm.fma.rn.sat.f",
    .reciprocal_f64 = "llvm.nvvm.rcp.approx.ftz.d",
    .rsqrt_f64 = "llvm.nvvm.rsqrt.approx.ftz.d",
};

/* LLVM's machine numbers the calls that it makes, beginning with its first job,
   and the numbers are in the text. So each job has a machine of its own. */
const kiln__codegen_backend kiln__cuda_codegen = {
    .name = "cuda",
    .format = "ptx",
    .device = &hardware.device,
    .approximate = &approximate,
    .foreign = &foreign,
    .process =
        &(const kiln__codegen_process){.guard_forks = kiln__nvjitlink_guard},
    .symbols = {.may_import = may_import},
    .payload = {.wrap = kiln__device_wrap,
                .finish = finish_payload,
                .reports = kiln__device_reports},
    .item = &kiln__device_items,
    .fast = kiln__cuda_fast,
    .adapt = adapt,
    .open = kiln__nvjitlink_begin,
    .owns_machine = 1,
    .emits_text = 1,
    .is_scheduled = 1,
};
