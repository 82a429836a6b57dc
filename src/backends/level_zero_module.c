/* level_zero_module.c - modules of Level Zero, with what its compiler says. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "level_zero.h"
#include "report.h"

#define LOG_MAX 4096

/* ---- building ---- */

/* The end is cut off. */
static void read_log(char *text, size_t capacity,
                     const kiln__level_zero_device *device,
                     ze_module_build_log_handle_t log)
{
    const kiln_alloc *alloc = &device->context->alloc;
    size_t size = 0;
    char *all;

    text[0] = '\0';
    if (log == NULL ||
        device->api->zeModuleBuildLogGetString(log, &size, NULL) !=
            ZE_RESULT_SUCCESS ||
        size == 0)
        return;
    all = kiln__allocate(alloc, size + 1);
    if (all == NULL)
        return;
    if (device->api->zeModuleBuildLogGetString(log, &size, all) ==
        ZE_RESULT_SUCCESS)
        (void)snprintf(text, capacity, "%s", all);
    kiln__deallocate(alloc, all, size + 1);
}

static kiln_status build(ze_module_handle_t *out,
                         const kiln__level_zero_device *device,
                         ze_module_format_t format, const void *bytes,
                         size_t size, kiln_error **error)
{
    const ze_module_desc_t request = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                      .format = format,
                                      .inputSize = size,
                                      .pInputModule = bytes,
                                      .pBuildFlags = ""};
    ze_module_build_log_handle_t log = NULL;
    char text[LOG_MAX] = "";
    const ze_result_t code = device->api->zeModuleCreate(
        device->native, device->facts.id, &request, out, &log);

    if (code != ZE_RESULT_SUCCESS) {
        *out = NULL;
        read_log(text, sizeof text, device, log);
    }
    if (log != NULL)
        (void)device->api->zeModuleBuildLogDestroy(log);
    if (code == ZE_RESULT_SUCCESS)
        return KILN_OK;
    return kiln__error_set(error, kiln__level_zero_status(code),
                           "Level Zero: %s cannot build the module: %s "
                           "(%#x)%s%s",
                           device->facts.name, kiln__level_zero_code_name(code),
                           (unsigned)code, text[0] != '\0' ? ":\n" : "", text);
}

/* ---- modules ---- */

static kiln_status module_new(kiln__level_zero_module **out,
                              kiln__level_zero_device *device,
                              const kiln_artifact *artifact, kiln_error **error)
{
    kiln__level_zero_module *module =
        kiln__allocate(&device->context->alloc, sizeof *module);

    if (module == NULL)
        return kiln__error_no_memory(error);
    if (kiln__mutex_init(&module->lock) != KILN_OK) {
        kiln__deallocate(&device->context->alloc, module, sizeof *module);
        return kiln__error_no_memory(error);
    }
    module->guard.mutex = &module->lock;
    kiln__fork_add(&device->context->fork, &module->guard);
    module->owner = device->owner;
    module->device = device;
    module->artifact = kiln_artifact_retain(artifact);
    *out = module;
    return KILN_OK;
}

void kiln__level_zero_unload(kiln__level_zero_module *module)
{
    kiln_context *context = module->device->context;

    while (module->functions != NULL) {
        kiln__level_zero_function *function = module->functions;

        module->functions = function->next;
        kiln__level_zero_function_free(function);
    }
    if (module->native != NULL)
        (void)module->device->api->zeModuleDestroy(module->native);
    kiln__fork_remove(&context->fork, &module->guard);
    kiln__mutex_dispose(&module->lock);
    kiln_artifact_release(module->artifact);
    kiln__deallocate(&context->alloc, module, sizeof *module);
}

kiln_status kiln__level_zero_load(kiln__level_zero_module **out,
                                  kiln__level_zero_device *device,
                                  const kiln_artifact *artifact,
                                  ze_module_format_t format, const void *bytes,
                                  size_t size, kiln_error **error)
{
    kiln__level_zero_module *module = NULL;
    kiln_status status;

    KILN_TRY(kiln__spirv_target_runs(kiln_artifact_target(artifact),
                                     &device->facts.level, error));
    KILN_TRY(module_new(&module, device, artifact, error));
    status = build(&module->native, device, format, bytes, size, error);
    if (status != KILN_OK) {
        kiln__level_zero_unload(module);
        return status;
    }
    *out = module;
    return KILN_OK;
}

kiln_status kiln__level_zero_save(kiln_blob *out,
                                  const kiln__level_zero_module *module,
                                  kiln_error **error)
{
    const kiln__level_zero_device *device = module->device;
    size_t size = 0;
    uint8_t *bytes;
    ze_result_t code =
        device->api->zeModuleGetNativeBinary(module->native, &size, NULL);

    if (code == ZE_RESULT_SUCCESS && size == 0)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "Level Zero: %s gives no binaries",
                               device->facts.name);
    if (code != ZE_RESULT_SUCCESS)
        return kiln__level_zero_failed(error, code, "size of a binary");
    bytes = kiln__blob_new(out, &device->context->alloc, size);
    if (bytes == NULL)
        return kiln__error_no_memory(error);
    code = device->api->zeModuleGetNativeBinary(module->native, &size, bytes);
    if (code == ZE_RESULT_SUCCESS)
        return KILN_OK;
    kiln_blob_release(out);
    return kiln__level_zero_failed(error, code, "binary");
}
