/* level_zero_module.c - loads modules with Level Zero. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/spirv/level_zero/level_zero.h"
#include "base/error.h"

/*
 * The driver compiles a module when it is loaded. Its binary can be saved and
 * loaded again, which saves that work in the next process.
 */

#define LOG_MAX 4096

/* ---- building ---- */

/* Reads the compiler's messages; a long text is cut off. */
static void read_log(char *text, size_t capacity,
                     const kiln__level_zero_device *device,
                     ze_module_build_log_handle_t log)
{
    const kiln_alloc *alloc = &device->base.context->alloc;
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

/* The bytes that a module is built from: SPIR-V, or the driver's own binary. */
typedef struct input {
    ze_module_format_t format;
    const void *bytes;
    size_t size;
} input;

static kiln_status load_module(void **out, void *device,
                               const kiln_artifact *artifact, input from,
                               kiln_error **error)
{
    kiln__spirv_module *module = NULL;
    ze_module_handle_t native = NULL;
    kiln_status status;

    KILN_TRY(kiln__spirv_module_new(&module, device, artifact, error));
    status = build(&native, device, from.format, from.bytes, from.size, error);
    module->native = native;
    return kiln__spirv_module_done(out, module, status);
}

kiln_status kiln__level_zero_load(void *self, void *device,
                                  const kiln_artifact *artifact, void **module,
                                  kiln_error **error)
{
    kiln__spirv_walk walk;
    size_t size;
    const void *bytes = kiln_artifact_bytes(artifact, &size);

    (void)self;
    KILN_TRY(kiln__spirv_walk_init(&walk, bytes, size, error));
    KILN_TRY(kiln__spirv_walk_check(walk, error));
    return load_module(module, device, artifact,
                       (input){ZE_MODULE_FORMAT_IL_SPIRV, bytes, size}, error);
}

void kiln__level_zero_program_free(const kiln__spirv_device *device,
                                   void *native)
{
    (void)kiln__level_zero_of(device)->api->zeModuleDestroy(native);
}

/* ---- the driver's own binaries ---- */

const char *kiln__level_zero_identity(void *self, void *device)
{
    const kiln__level_zero_device *of = device;

    (void)self;
    return of->facts.identity[0] != '\0' ? of->facts.identity : NULL;
}

kiln_status kiln__level_zero_load_native(void *self, void *device,
                                         const kiln_artifact *artifact,
                                         const void *bytes, size_t size,
                                         void **module, kiln_error **error)
{
    (void)self;
    return load_module(module, device, artifact,
                       (input){ZE_MODULE_FORMAT_NATIVE, bytes, size}, error);
}

kiln_status kiln__level_zero_save(void *self, void *module, kiln_blob *out,
                                  kiln_error **error)
{
    const kiln__spirv_module *of = module;
    const kiln__level_zero_device *device = kiln__level_zero_of(of->device);
    size_t size = 0;
    uint8_t *bytes;
    ze_result_t code =
        device->api->zeModuleGetNativeBinary(of->native, &size, NULL);

    (void)self;
    if (code == ZE_RESULT_SUCCESS && size == 0)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "Level Zero: %s gives no binaries",
                               device->facts.name);
    if (code != ZE_RESULT_SUCCESS)
        return kiln__level_zero_failed(error, code, "size of a binary");
    bytes = kiln__blob_new(out, &device->base.context->alloc, size);
    if (bytes == NULL)
        return kiln__error_no_memory(error);
    code = device->api->zeModuleGetNativeBinary(of->native, &size, bytes);
    if (code == ZE_RESULT_SUCCESS)
        return KILN_OK;
    kiln_blob_release(out);
    return kiln__level_zero_failed(error, code, "binary");
}
