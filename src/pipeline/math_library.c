/* math_library.c - finds the library with a device's mathematical functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pipeline/math_library.h"

#include <string.h>

#include "base/error.h"
#include "base/toolchain/tool_paths.h"
#include "context/keys/settings.h"
#include "context/targets/target_traits.h"
#include "tiers/runtime/bitcode_library.h"

/* For messages: one name, whatever target the library is for. */
static const char *name_of(int tool)
{
    return tool == KILN__TOOL_LIBDEVICE ? "libdevice"
           : tool == KILN__TOOL_OCML    ? "ROCm's ocml"
                                        : "libclc";
}

static kiln_status open_library(const struct kiln__library **out,
                                kiln_context *context,
                                const kiln_config *config, int tool,
                                kiln_error **error)
{
    char path[PATH_MAX];

    if (kiln__tool_find(path, tool) != KILN__TOOL_FOUND)
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "%s, which functions on %s come from, is not "
                               "here: %s is neither in %s nor where %s says",
                               name_of(tool), config->backend,
                               kiln__tool_file(tool), kiln__tool_folder(tool),
                               kiln__tool_variable(tool));
    return kiln__library_open(out, context, kiln__tool_name(tool), path, error);
}

kiln_status kiln__math_library(const struct kiln__library **out,
                               kiln_context *context, const kiln_config *config,
                               kiln_error **error)
{
    const kiln__math_source source = kiln__target_math(config);

    if (!source.links)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "%s has no mathematical functions of the "
                               "vendor's in this version",
                               config->backend);
    return open_library(out, context, config, source.tool, error);
}

kiln_status kiln__needed_library(const struct kiln__library **out,
                                 kiln_context *context,
                                 const kiln_config *config, int32_t which,
                                 kiln_error **error)
{
    const kiln__math_source source = kiln__target_traits_of(config)->builtins;

    if (which == KILN__LIBRARY_MATH)
        return kiln__math_library(out, context, config, error);
    if (!source.links)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "%s has no library of OpenCL's functions",
                               config->backend);
    return open_library(out, context, config, source.tool, error);
}
