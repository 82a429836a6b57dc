/* math_library.c - where a device's mathematical functions come from. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pipeline/math_library.h"

#include <string.h>

#include "base/error.h"
#include "base/toolchain/tool_paths.h"
#include "context/keys/settings.h"
#include "ir/ir_math_names.h"
#include "tiers/runtime/bitcode_library.h"

/* The file that has the functions of the config's library, or -1. */
static int file_of(const kiln_config *config)
{
    const int is_cuda = strcmp(config->backend, "cuda") == 0;

    switch (kiln__device_math_names(config->backend, (uint32_t)config->math)) {
    case KILN__NAMES_OPENCL:
        return is_cuda ? KILN__TOOL_LIBCLC_NVPTX64 : KILN__TOOL_LIBCLC_AMDGCN;
    case KILN__NAMES_LIBDEVICE:
        return KILN__TOOL_LIBDEVICE;
    case KILN__NAMES_OCML:
        return KILN__TOOL_OCML;
    default:
        return -1;
    }
}

/* For people: the same whatever it was made for. */
static const char *name_of(int tool)
{
    return tool == KILN__TOOL_LIBDEVICE ? "libdevice"
           : tool == KILN__TOOL_OCML    ? "ROCm's ocml"
                                        : "libclc";
}

kiln_status kiln__math_library(const struct kiln__library **out,
                               kiln_context *context, const kiln_config *config,
                               kiln_error **error)
{
    const int tool = file_of(config);
    char path[PATH_MAX];

    if (tool < 0)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "%s has no mathematical functions of the "
                               "vendor's in this version",
                               config->backend);
    if (kiln__tool_find(path, tool) != KILN__TOOL_FOUND)
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "%s, which mathematical functions on %s come "
                               "from, is not here: %s is neither in %s nor "
                               "where %s says",
                               name_of(tool), config->backend,
                               kiln__tool_file(tool), kiln__tool_folder(tool),
                               kiln__tool_variable(tool));
    return kiln__library_open(out, context, kiln__tool_name(tool), path, error);
}
