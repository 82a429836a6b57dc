/* target_traits.c - the properties of each backend's targets, in one table. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "abi/device_abi.h"
#include "abi/host_abi.h"
#include "base/toolchain/ptxas.h"
#include "base/toolchain/tool_paths.h"
#include "context/keys/settings.h"
#include "context/targets/spirv_limits.h"
#include "context/targets/target_traits.h"
#include "ir/ir_math_names.h"

/*
 * The numbers come from the vendors' programming guides. Limits that depend on
 * the device and not on the target have no bound here: the driver reports them
 * when a kernel is loaded or launched.
 */

/* CUDA: parameters of a kernel in bytes. From PTX 8.1 on, kernels for sm_70 and
   above take more. */
#define CUDA_PARAMETERS 4096
#define CUDA_PARAMETERS_81 32764
#define CUDA_DEPTH 64
#define GROUP_ITEMS 1024
/* HIP: arguments of a kernel in bytes. AMD: local data share of a
   work-group. */
#define ROCM_PARAMETERS 4096
#define ROCM_LOCAL (64u << 10)
#define ROCM_LOCAL_950 (160u << 10)
/* SPIR-V has no bound of its own, but sizes must not wrap. */
#define SPIRV_LOCAL INT32_MAX

/* True if `word` is in `text`, a list separated by commas. */
static uint8_t has_word(const char *text, const char *word)
{
    const size_t size = strlen(word);

    while (*text != '\0') {
        const size_t length = strcspn(text, ",");

        if (length == size && memcmp(text, word, size) == 0)
            return 1;
        text += length + (text[length] == ',');
    }
    return 0;
}

static unsigned long number_after(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    return at != NULL ? strtoul(at + strlen(word), NULL, 10) : 0;
}

static void limit_cuda(kiln__device_limits *out, const kiln_config *config)
{
    const unsigned long model = number_after(config->processor, "sm_");
    const unsigned long ptx = number_after(config->features, "+ptx");

    out->argument_bytes =
        model >= 70 && ptx >= 81 ? CUDA_PARAMETERS_81 : CUDA_PARAMETERS;
    out->local_bytes = KILN__CUDA_LOCAL;
    out->group_items = GROUP_ITEMS;
    out->group_depth = CUDA_DEPTH;
}

static void limit_rocm(kiln__device_limits *out, const kiln_config *config)
{
    out->argument_bytes = ROCM_PARAMETERS;
    out->local_bytes = strncmp(config->processor, "gfx950", 6) == 0
                           ? ROCM_LOCAL_950
                           : ROCM_LOCAL;
    out->group_items = GROUP_ITEMS;
}

static void limit_spirv(kiln__device_limits *out, const kiln_config *config)
{
    static const struct {
        int32_t kind;
        const char *option;
    } kinds[] = {{KILN_TYPE_F16, "fp16"}, {KILN_TYPE_F64, "fp64"}};
    static const char *const words[] = {"int64_atomics", "subgroups"};
    const int is_large = has_word(config->options, KILN__SPIRV_LARGE);

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!has_word(config->options, kinds[i].option))
            out->kinds[kinds[i].kind] = kinds[i].option;
    out->has_wide_atomics = has_word(config->options, words[0]);
    out->has_sub_groups = has_word(config->options, words[1]);
    memcpy(out->options, words, sizeof words);
    out->has_small_atomics = 0;
    out->has_recursion = 0;
    out->argument_bytes =
        is_large ? KILN__SPIRV_LARGE_BYTES : KILN__SPIRV_ARGUMENT_BYTES;
    out->parameters =
        is_large ? KILN__SPIRV_LARGE_PARAMETERS : KILN__SPIRV_PARAMETERS;
    out->options[2] = is_large ? NULL : KILN__SPIRV_LARGE;
    out->local_bytes = SPIRV_LOCAL;
}

/* ---- the table ---- */

#define DEVICE_PRIVATE ((uint64_t)INT32_MAX)

static const kiln__target_traits known[] = {
    {
        .backend = "host",
        .builtins = {KILN__NAMES_OPENCL, 1, KILN__TOOL_LIBCLC_NVPTX64},
        .local_bytes = KILN__HOST_MEMORY_MAX - 1,
        .private_bytes = KILN__HOST_MEMORY_MAX,
        .stack_bytes = KILN__HOST_STACK_MAX,
    },
    {
        .backend = "cuda",
        .is_device = 1,
        .open = {KILN__NAMES_OWN, 1, KILN__TOOL_LIBCLC_NVPTX64},
        .vendor = {KILN__NAMES_LIBDEVICE, 1, KILN__TOOL_LIBDEVICE},
        .builtins = {KILN__NAMES_OPENCL, 1, KILN__TOOL_LIBCLC_NVPTX64},
        .private_bytes = DEVICE_PRIVATE,
        .limit = limit_cuda,
        .begin_tool = kiln__ptxas_begin,
    },
    {
        .backend = "rocm",
        .is_device = 1,
        .open = {KILN__NAMES_OWN, 1, KILN__TOOL_LIBCLC_AMDGCN},
        .vendor = {KILN__NAMES_OCML, 1, KILN__TOOL_OCML},
        .builtins = {KILN__NAMES_OPENCL, 1, KILN__TOOL_LIBCLC_AMDGCN},
        .private_bytes = DEVICE_PRIVATE,
        .limit = limit_rocm,
    },
    {
        .backend = "spirv",
        .is_device = 1,
        .open = {.names = KILN__NAMES_OPENCL},
        .vendor = {.names = KILN__NAMES_OPENCL},
        .private_bytes = DEVICE_PRIVATE,
        .limit = limit_spirv,
    },
};

static const kiln__target_traits unknown = {
    .backend = "",
    .is_device = 1,
    .private_bytes = DEVICE_PRIVATE,
};

const kiln__target_traits *kiln__target_traits_of(const kiln_config *config)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].backend, config->backend) == 0)
            return &known[i];
    return &unknown;
}

kiln__math_source kiln__target_math(const kiln_config *config)
{
    const kiln__target_traits *traits = kiln__target_traits_of(config);

    return config->math == KILN_MATH_VENDOR ? traits->vendor : traits->open;
}

void kiln__device_limits_of(kiln__device_limits *out, const kiln_config *config)
{
    const kiln__target_traits *traits = kiln__target_traits_of(config);

    *out = (kiln__device_limits){
        .target = config->target,
        .has_wide_atomics = 1,
        .has_small_atomics = 1,
        .has_sub_groups = 1,
        .has_recursion = 1,
    };
    if (traits->limit != NULL)
        traits->limit(out, config);
}
