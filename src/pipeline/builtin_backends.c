/* builtin_backends.c - the backends that are part of Kiln. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/backend.h"
#include "backends/cuda/cuda_driver.h"
#include "backends/host/host_backend.h"
#include "backends/rocm/rocm_driver.h"
#include "backends/spirv/spirv.h"
#include "base/error.h"
#include "codegen_client/codegen_library.h"
#include "pipeline/builtin_backends.h"

/* One line for each backend. A backend that this build lacks is listed without
   a function, so that a request for it gets that as the reason. */
static const struct {
    const char *name;
    kiln__backend_make make;
} builtins[] = {
    {"host", kiln__host_backend_new},
    {"cuda", kiln__cuda_backend_new},
    {"rocm", kiln__rocm_backend_new},
    {"spirv", kiln__spirv_backend_new},
};

kiln_status kiln__builtin_backends_new(kiln_context *context,
                                       kiln_error **error)
{
    KILN_TRY(kiln__backends_new(context, error));
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        const kiln_status status = kiln__backend_add(context, builtins[i].name,
                                                     builtins[i].make, error);

        if (status != KILN_OK) {
            kiln__backends_free(context);
            return status;
        }
    }
    return KILN_OK;
}

/* ---- public functions ---- */

/* Returns the target of a config that names only the backend. */
static const char *default_target(kiln_context *context,
                                  const kiln__backend *backend)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;

    options.target = backend->name;
    return kiln_config_new(&config, context, &options, NULL) == KILN_OK
               ? kiln_config_target(config)
               : NULL;
}

static int32_t can_compile(kiln_context *context, const kiln__backend *backend)
{
    const kiln__codegen *codegen;

    return kiln__codegen_library_open(context, &codegen, NULL) == KILN_OK &&
           codegen->supports(backend->name);
}

kiln_status kiln_backend_get_info(kiln_backend_info *out, kiln_context *context,
                                  size_t index)
{
    kiln_backend_info info = {.size = sizeof info};
    const kiln__backend *backend;
    size_t size;

    if (out == NULL || context == NULL || out->size < sizeof out->size)
        return KILN_EINVAL;
    backend = kiln__backend_at(context, index);
    if (backend == NULL)
        return KILN_ENOTFOUND;
    info.name = backend->name;
    info.reason = backend->absent;
    if (backend->is_here) {
        info.device_count = backend->ops.count(backend->self, &info.reason);
        info.default_target = default_target(context, backend);
        info.can_compile = can_compile(context, backend);
    }
    size = out->size < sizeof info ? out->size : sizeof info;
    info.size = out->size;
    memcpy(out, &info, size);
    return KILN_OK;
}
