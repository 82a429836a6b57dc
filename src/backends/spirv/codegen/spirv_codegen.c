/* spirv_codegen.c - the codegen half of SPIR-V: kernels for OpenCL's
   drivers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/scalars.h"
#include "backends/device/codegen/device_codegen.h"
#include "backends/spirv/codegen/spirv_codegen.h"
#include "base/error.h"
#include "context/targets/spirv_limits.h"
#include "ir/ir.h"

/*
 * For what functions of OpenCL C do, SPIR-V has variables and instructions, and
 * LLVM knows the functions by their mangled names. An array may be in the
 * device's memory or in a group's, so a pointer to its elements is generic.
 * Once functions are inlined, LLVM finds out which memory it is.
 */

/* ---- ids ---- */

/* Calls a function of OpenCL that returns a size_t for a dimension. In small
   grids it is known to be small. */
static LLVMValueRef of_dimension(kiln__codegen_job *job, LLVMBuilderRef builder,
                                 const char *name, uint32_t d)
{
    LLVMTypeRef i32 = kiln__job_i32(job);
    LLVMValueRef dimension = kiln__job_number32(job, d);
    const LLVMValueRef function =
        kiln__spirv_builtin(job, name, kiln__job_i64(job), &i32, 1);
    const LLVMValueRef value = LLVMBuildCall2(
        builder, LLVMGlobalGetValueType(function), function, &dimension, 1, "");

    return job->is_known ? kiln__device_range(job, builder, value, 0,
                                              KILN__SMALL_MOST + 1)
                         : value;
}

/* A group's sizes are bounds that LLVM knows if they are required. */
static LLVMValueRef local_id(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t d)
{
    const LLVMValueRef value =
        of_dimension(job, builder, "_Z12get_local_idj", d);

    return kiln__device_group_is_known(job)
               ? kiln__device_range(job, builder, value, 0,
                                    kiln__device_size_most(job, d))
               : value;
}

static LLVMValueRef group_id(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t d)
{
    return of_dimension(job, builder, "_Z12get_group_idj", d);
}

static LLVMValueRef group_size(kiln__codegen_job *job, LLVMBuilderRef builder,
                               uint32_t d)
{
    return of_dimension(job, builder, "_Z14get_local_sizej", d);
}

static LLVMValueRef group_count(kiln__codegen_job *job, LLVMBuilderRef builder,
                                uint32_t d)
{
    return of_dimension(job, builder, "_Z14get_num_groupsj", d);
}

static LLVMValueRef grid_id(kiln__codegen_job *job, LLVMBuilderRef builder,
                            int is_size, uint32_t d)
{
    return of_dimension(job, builder,
                        is_size ? "_Z15get_global_sizej" : "_Z13get_global_idj",
                        d);
}

/* ---- sub-groups ---- */

static int needs_sub_groups(kiln__codegen_job *job)
{
    if (kiln__spirv_has(job, "subgroups"))
        return 1;
    (void)kiln__job_fail(job, KILN_EUNSUPPORTED,
                         "sub-groups need the target's option subgroups");
    return 0;
}

/* Calls a function of OpenCL that returns a uint; returns it as i64. */
static LLVMValueRef of_sub_group(kiln__codegen_job *job, LLVMBuilderRef builder,
                                 const char *name)
{
    LLVMValueRef function, value;

    if (!needs_sub_groups(job))
        return kiln__job_number64(job, 0);
    function = kiln__spirv_builtin(job, name, kiln__job_i32(job), NULL, 0);
    value = LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                           NULL, 0, "");
    return LLVMBuildZExt(builder, value, kiln__job_i64(job), "");
}

static LLVMValueRef lanes(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    return of_sub_group(job, builder, "_Z22get_max_sub_group_sizev");
}

static LLVMValueRef lane(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    return of_sub_group(job, builder, "_Z22get_sub_group_local_idv");
}

static LLVMValueRef sub_group(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    return of_sub_group(job, builder, "_Z16get_sub_group_idv");
}

static LLVMValueRef members(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    return of_sub_group(job, builder, "_Z18get_sub_group_sizev");
}

/* Calls a function that all items of a group must reach together. It is marked
   convergent, so that passes do not move it under a condition. */
static LLVMValueRef call_together(kiln__codegen_job *job,
                                  LLVMBuilderRef builder, const char *name,
                                  LLVMTypeRef result, LLVMValueRef *arguments,
                                  unsigned count)
{
    LLVMTypeRef types[2] = {kiln__job_i32(job), kiln__job_i32(job)};
    LLVMValueRef function = LLVMGetNamedFunction(job->module, name);

    if (function == NULL) {
        function = LLVMAddFunction(job->module, name,
                                   LLVMFunctionType(result, types, count, 0));
        kiln__device_attribute(job, function, "nounwind");
        kiln__device_attribute(job, function, "convergent");
    }
    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                          arguments, count, "");
}

/* Minor version of the SPIR-V that has it without an extension. */
#define SHUFFLE_MINOR 3u

static LLVMValueRef shuffle(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef word, LLVMValueRef from)
{
    LLVMValueRef arguments[2] = {word, from};

    if (!needs_sub_groups(job))
        return word;
    if (kiln__spirv_minor(job) < SHUFFLE_MINOR) {
        (void)kiln__job_fail(job, KILN_EUNSUPPORTED,
                             "items of a sub-group exchange values from "
                             "SPIR-V 1.%u on",
                             SHUFFLE_MINOR);
        return word;
    }
    return call_together(job, builder, "_Z17sub_group_shufflejj",
                         kiln__job_i32(job), arguments, 2);
}

/* ---- barriers and atomics ---- */

#define FENCE_LOCAL 1u
#define FENCE_GLOBAL 2u

static void barrier(kiln__codegen_job *job, LLVMBuilderRef builder,
                    LLVMValueRef item)
{
    LLVMValueRef both = kiln__job_number32(job, FENCE_LOCAL | FENCE_GLOBAL);

    /* The fence adds no meaning. But Intel's compiler for processors treats
       barriers as functions that know no local array, and moves loads over
       them; a fence stops it. */
    (void)item;
    (void)call_together(job, builder, "_Z7barrierj",
                        LLVMVoidTypeInContext(job->context), &both, 1);
    LLVMSetAtomicSyncScopeID(
        LLVMBuildFence(builder, LLVMAtomicOrderingAcquireRelease, 0, ""),
        LLVMGetSyncScopeID(job->context, "workgroup", 9));
}

static void sub_group_barrier(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    LLVMValueRef both = kiln__job_number32(job, FENCE_LOCAL | FENCE_GLOBAL);

    if (needs_sub_groups(job))
        (void)call_together(job, builder, "_Z17sub_group_barrierj",
                            LLVMVoidTypeInContext(job->context), &both, 1);
}

static int has_atomic(const kiln__codegen_job *job, uint32_t operation,
                      int32_t kind)
{
    if (kind != KILN_TYPE_F32 && kind != KILN_TYPE_F64)
        return !kiln__kind_is_float(kind);
    switch (operation) {
    case KILN__ATOMIC_EXCHANGE:
        return kind == KILN_TYPE_F32;
    case KILN__ATOMIC_ADD:
    case KILN__ATOMIC_SUB:
        return kiln__spirv_has(job, "SPV_EXT_shader_atomic_float_add");
    case KILN__ATOMIC_MIN:
    case KILN__ATOMIC_MAX:
        return kiln__spirv_has(job, "SPV_EXT_shader_atomic_float_min_max");
    default:
        return 0;
    }
}

/* ---- the kernel ---- */

/* Returns the type that a driver sees for an aggregate passed by value: words
   as wide as its alignment, in a struct. Intel's driver takes a bare array for
   the address of a buffer. */
static LLVMTypeRef seen_of(const kiln__codegen_job *job,
                           const kiln__parameter *parameter)
{
    const uint32_t unit = parameter->alignment < 8 ? parameter->alignment : 8;
    LLVMTypeRef words = LLVMArrayType2(
        LLVMIntTypeInContext(job->context, 8 * unit), parameter->size / unit);

    return LLVMStructTypeInContext(job->context, &words, 1, 0);
}

static void set_aggregates(const kiln__codegen_job *job, LLVMValueRef kernel)
{
    const unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    unsigned at = 0;

    for (size_t i = 0; i < job->parameter_count; i++) {
        const kiln__parameter *parameter = &job->parameters[i];

        if (parameter->passing == KILN__PARAMETER_EMPTY)
            continue;
        at++;
        if (parameter->passing == KILN__PARAMETER_ARRAY)
            at += parameter->rank * (1 + parameter->strided);
        if (parameter->passing != KILN__PARAMETER_BYTES)
            continue;
        LLVMRemoveEnumAttributeAtIndex(kernel, at, byval);
        LLVMAddAttributeAtIndex(
            kernel, at,
            LLVMCreateTypeAttribute(job->context, byval,
                                    seen_of(job, parameter)));
    }
}

static int is_large(const kiln__codegen_job *job)
{
    return kiln__spirv_has(job, KILN__SPIRV_LARGE);
}

static unsigned parameters_most(const kiln__codegen_job *job)
{
    return is_large(job) ? KILN__SPIRV_LARGE_PARAMETERS
                         : KILN__SPIRV_PARAMETERS;
}

static unsigned bytes_most(const kiln__codegen_job *job)
{
    return is_large(job) ? KILN__SPIRV_LARGE_BYTES : KILN__SPIRV_ARGUMENT_BYTES;
}

static int takes_arguments(const kiln__codegen_job *job, uint64_t bytes,
                           uint64_t parameters)
{
    return bytes <= bytes_most(job) && parameters <= parameters_most(job);
}

/* Checks all arguments, also the hidden ones, which were not counted before. */
static kiln_status check_arguments(kiln__codegen_job *job, LLVMValueRef kernel)
{
    const unsigned most = parameters_most(job);
    const char *taker = is_large(job) ? "a kernel of SPIR-V"
                                      : "a kernel of SPIR-V without the "
                                        "target's option " KILN__SPIRV_LARGE;

    if (LLVMCountParams(kernel) > most)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "%u parameters, an array's sizes and strides "
                              "among them; %s has at most %u",
                              LLVMCountParams(kernel), taker, most);
    return kiln__device_check_arguments(job, bytes_most(job), taker);
}

static kiln_status describe_kernel(kiln__codegen_job *job, LLVMValueRef kernel)
{
    KILN_TRY(check_arguments(job, kernel));
    kiln__device_require_group(job, kernel);
    set_aggregates(job, kernel);
    return job->status;
}

/* LLVM's generator keeps the numbers that scopes have in the first module that
   it sees, so they must be the same in all modules. */
static void name_scopes(const kiln__codegen_job *job)
{
    (void)LLVMGetSyncScopeID(job->context, "subgroup", 8);
    (void)LLVMGetSyncScopeID(job->context, "workgroup", 9);
    (void)LLVMGetSyncScopeID(job->context, "device", 6);
}

static kiln_status bind(kiln__codegen_job *job)
{
    KILN_TRY(kiln__spirv_bind_calls(job));
    return kiln__spirv_inline_all(job);
}

/* The kernel's entries are in modules of their own still. */
static kiln_status wrap(kiln__codegen_job *job)
{
    KILN_TRY(kiln__device_wrap(job));
    KILN_TRY(bind(job));
    kiln__job_switch(job);
    if (job->is_known)
        (void)bind(job);
    kiln__job_switch(job);
    return job->status;
}

/* ---- the payload ---- */

static kiln_status finish_payload(kiln__codegen_job *job,
                                  const kiln__object *objects, size_t count,
                                  kiln_blob *out)
{
    kiln__object copy; /* the payload's bytes, which are aligned to words */

    (void)count; /* there is one module */
    KILN_TRY(kiln__spirv_copy_module(job, &objects[0], out));
    copy = (kiln__object){out->data, out->size};
    KILN_TRY(kiln__spirv_check_module(job, &copy));
    return kiln__spirv_validate(job, &copy);
}

/*
 * Drivers run passes of their own over the module, and know the device. The
 * passes here make code small and its address spaces known. Passes that make
 * tables of switches, sums of loops in odd widths or copies of memory are left
 * out: SPIR-V has no good way to express their results.
 */
#define SIMPLIFY(more) \
    "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;" \
    "no-switch-to-lookup;speculate-blocks;simplify-cond-branch;" more ">"
#define EARLY SIMPLIFY("keep-loops;no-hoist-common-insts;no-sink-common-insts")
#define LATE SIMPLIFY("no-keep-loops;hoist-common-insts;sink-common-insts")
#define COMBINE "instcombine<max-iterations=1;no-verify-fixpoint>"
#define UNROLL "loop-unroll<O3;no-partial;no-peeling;no-runtime;no-upperbound>,"

#define USUAL(unroll) \
    "always-inline,globaldce,function<eager-inv>(" \
    "sroa<modify-cfg>,early-cse<memssa>,infer-address-spaces," EARLY \
    "," COMBINE "," \
    "loop-mssa(licm<allowspeculation>,simple-loop-unswitch<no-nontrivial;" \
    "trivial>)," EARLY "," COMBINE ",loop(loop-deletion)," unroll \
    "sroa<modify-cfg>,infer-address-spaces,gvn<>," RANGES COMBINE \
    ",adce," LATE ",infer-alignment,expand-reductions),globaldce"
#define RANGES "sccp,correlated-propagation,"

static const char *const passes[4] = {
    "always-inline,globaldce,function<eager-inv>(sroa<modify-cfg>,"
    "early-cse<memssa>,infer-address-spaces,simplifycfg,expand-reductions),"
    "globaldce",

    USUAL(UNROLL),

    "always-inline,globaldce,function(infer-address-spaces,simplifycfg,"
    "expand-reductions),globaldce",

    USUAL("loop(loop-unroll-full),"),
};

/* Where barriers ask for failures, a kernel has more paths than some drivers
   that compile groups into loops can follow. So the passes that reduce paths
   are run at level 0, too. */
static kiln_status adapt(kiln__codegen_job *job)
{
    if (job->settings->opt_level == 0 && kiln__spirv_converges(job))
        KILN_TRY(kiln__spirv_run_passes(job, passes[1]));
    KILN_TRY(kiln__spirv_adapt(job));
    kiln__device_count_local(job);
    return KILN_OK;
}

static const kiln__device_hardware hardware = {
    .device =
        {
            .array_space = KILN__SPACE_GENERIC,
            .bytes_space = KILN__SPACE_PRIVATE,
            .has_facts = 1,
            .item_space = KILN__SPACE_PRIVATE,
            .scope = "device",
            .barrier = barrier,
            .members = kiln__device_members,
            .group_most = kiln__device_group_most,
            .sub_group_barrier = sub_group_barrier,
            .collective = kiln__device_collective,
            .has_atomic = has_atomic,
            .fail = kiln__spirv_fail,
            .converge = kiln__spirv_converge,
            .end = kiln__spirv_end,
            .group_failed = kiln__spirv_group_failed,
        },
    .kernel_convention = KILN__SPIR_KERNEL,
    .aggregate = "byval",
    .local_is_parameter = 1,
    .sets_each_argument = 1,
    .group_max = 1024,
    .takes_arguments = takes_arguments,
    .local_id = local_id,
    .group_id = group_id,
    .group_size = group_size,
    .group_count = group_count,
    .grid_id = grid_id,
    .lanes = lanes,
    .lane = lane,
    .sub_group = sub_group,
    .members = members,
    .shuffle = shuffle,
    .begin = kiln__spirv_begin,
    .describe = describe_kernel,
};

static const char *const scopes[] = {"",          "singlethread", "subgroup",
                                     "workgroup", "device",       NULL};

/* What SPIR-V lacks is checked after the passes, too (spirv_check.c). */
static const kiln__foreign_limit limits[] = {
    {"exp10", KILN__HAS_SINGLE_AND_DOUBLE},
    {"frexp", 0},
    {"ldexp", KILN__HAS_SINGLE_AND_DOUBLE},
    {"llrint", 0},
    {"llround", 0},
    {"lrint", 0},
    {"lround", 0},
    {"modf", 0},
    {"powi", 0},
    {"readcyclecounter", 0},
    {"readsteadycounter", 0},
    {"sincos", 0},
    {"sincospi", 0},
    {NULL, 0},
};

static const kiln__neutral_scopes neutral_scopes = {"subgroup", "workgroup",
                                                    "device"};

static const kiln__foreign_rules foreign = {
    .intrinsics = "spv.",
    .spaces = KILN__CONSTANT_SPACES | KILN__SPACE_BIT(KILN__SPACE_CONSTANT) |
              KILN__SPACE_BIT(3),
    .constant_spaces =
        KILN__CONSTANT_SPACES | KILN__SPACE_BIT(KILN__SPACE_CONSTANT),
    .neutral_spaces = {KILN__SPACE_GENERIC, KILN__SPACE_GLOBAL, 0,
                       KILN__SHARED_SPACE, KILN__SPACE_CONSTANT,
                       KILN__SPACE_PRIVATE},
    .neutral_constants = KILN__SPACE_GLOBAL, /* which can become generic */
    .neutral_scopes = &neutral_scopes,
    .scopes = scopes,
    .has_wide_conversions = 1,
    .has_exact_remainders = 1,
    .named_spaces = {0, 1, 2, 3, 4},
    .limits = limits,
    .clock = KILN__SPIRV_CLOCK,
};

const kiln__codegen_backend kiln__spirv_codegen = {
    .name = "spirv",
    .format = "spirv",
    .device = &hardware.device,
    .foreign = &foreign,
    .machine =
        &(const kiln__codegen_machine){.begin = kiln__spirv_begin_machine,
                                       .end = kiln__spirv_end_machine,
                                       .emit = kiln__spirv_emit},
    .process = &(const kiln__codegen_process){.abandon = kiln__spirv_abandon,
                                              .guard_forks = kiln__spirv_guard},
    .symbols = {.may_import = kiln__spirv_may_import},
    .payload = {.wrap = wrap,
                .finish = finish_payload,
                .reports = kiln__device_reports},
    .item = &kiln__device_items,
    .fast = kiln__spirv_fast,
    .open = name_scopes,
    .passes = passes,
    .adapt = adapt,
    .owns_machine = 1,
    .is_scheduled = 1,
};
