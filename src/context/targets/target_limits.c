/* target_limits.c - what each backend's targets have. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "context/keys/settings.h"
#include "context/targets/spirv_limits.h"
#include "context/targets/target_check.h"

/*
 * Numbers of the vendors' programming guides. What depends on a device, and
 * not on the target that code is made for, has no bound here: its driver says
 * so when a kernel is loaded or launched.
 */

/* CUDA: parameters of a kernel, and memory that a group declares. From PTX 8.1
   on kernels of sm_70 and above take more parameters. */
#define CUDA_PARAMETERS 4096
#define CUDA_PARAMETERS_81 32764
#define CUDA_SHARED (48u << 10)
#define CUDA_DEPTH 64
#define GROUP_ITEMS 1024
/* HIP: arguments of a kernel. AMD: the local data share of a work-group. */
#define ROCM_PARAMETERS 4096
#define ROCM_LOCAL (64u << 10)
#define ROCM_LOCAL_950 (160u << 10)
/* SPIR-V has no bounds of its own; but sizes must not wrap. */
#define SPIRV_LOCAL INT32_MAX

/* Is it among words with commas between them? */
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

static unsigned long number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    return at != NULL ? strtoul(at + strlen(word), NULL, 10) : 0;
}

static void of_cuda(kiln__device_limits *out, const kiln_config *config)
{
    const unsigned long model = number_behind(config->processor, "sm_");
    const unsigned long ptx = number_behind(config->features, "+ptx");

    out->argument_bytes =
        model >= 70 && ptx >= 81 ? CUDA_PARAMETERS_81 : CUDA_PARAMETERS;
    out->local_bytes = CUDA_SHARED;
    out->group_items = GROUP_ITEMS;
    out->group_depth = CUDA_DEPTH;
}

static void of_rocm(kiln__device_limits *out, const kiln_config *config)
{
    out->argument_bytes = ROCM_PARAMETERS;
    out->local_bytes = strncmp(config->processor, "gfx950", 6) == 0
                           ? ROCM_LOCAL_950
                           : ROCM_LOCAL;
    out->group_items = GROUP_ITEMS;
}

static void of_spirv(kiln__device_limits *out, const kiln_config *config)
{
    static const char *const words[4] = {"fp16", "fp64", "int64_atomics",
                                         "subgroups"};
    const int is_large = has_word(config->options, KILN__SPIRV_LARGE);

    out->has_f16 = has_word(config->options, words[0]);
    out->has_f64 = has_word(config->options, words[1]);
    out->has_wide_atomics = has_word(config->options, words[2]);
    out->has_sub_groups = has_word(config->options, words[3]);
    memcpy(out->options, words, sizeof words);
    out->has_small_atomics = 0;
    out->has_recursion = 0;
    out->argument_bytes =
        is_large ? KILN__SPIRV_LARGE_BYTES : KILN__SPIRV_ARGUMENT_BYTES;
    out->parameters =
        is_large ? KILN__SPIRV_LARGE_PARAMETERS : KILN__SPIRV_PARAMETERS;
    out->options[4] = is_large ? NULL : KILN__SPIRV_LARGE;
    out->local_bytes = SPIRV_LOCAL;
}

void kiln__device_limits_of(kiln__device_limits *out, const kiln_config *config)
{
    *out = (kiln__device_limits){
        .target = config->target,
        .has_f16 = 1,
        .has_f64 = 1,
        .has_wide_atomics = 1,
        .has_small_atomics = 1,
        .has_sub_groups = 1,
        .has_recursion = 1,
    };
    if (strcmp(config->backend, "cuda") == 0)
        of_cuda(out, config);
    else if (strcmp(config->backend, "rocm") == 0)
        of_rocm(out, config);
    else if (strcmp(config->backend, "spirv") == 0)
        of_spirv(out, config);
}
