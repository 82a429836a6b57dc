/* opencl_program.c - loads modules as programs of OpenCL. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/spirv/opencl/opencl.h"
#include "base/error.h"

/*
 * A device that accepts SPIR-V gets modules unchanged. A device that accepts
 * only bitcode of an older kind gets the translator's output. In both cases the
 * driver's compiler runs when the program is built. The result can be saved and
 * loaded again, without the translator and, if the driver puts machine code in
 * it, without the compiler.
 */

#define BITCODE_OPTIONS "-x spir -spir-std=1.2"
#define LOG_MAX 4096

/* ---- making programs ---- */

static cl_program with_il(const kiln__opencl_device *device, const void *bytes,
                          size_t size, cl_int *code)
{
    const kiln__opencl_api *api = device->api;

    if (device->facts.version >= 201 && api->clCreateProgramWithIL != NULL)
        return api->clCreateProgramWithIL(device->native, bytes, size, code);
    return device->facts.extensions.clCreateProgramWithILKHR(device->native,
                                                             bytes, size, code);
}

static cl_program with_binary(const kiln__opencl_device *device,
                              const void *bytes, size_t size, cl_int *code)
{
    const unsigned char *binary = bytes;
    cl_int binary_status = CL_SUCCESS;
    cl_program program = device->api->clCreateProgramWithBinary(
        device->native, 1, &device->facts.id, &size, &binary, &binary_status,
        code);

    if (program != NULL && *code == CL_SUCCESS && binary_status != CL_SUCCESS) {
        *code = binary_status;
        (void)device->api->clReleaseProgram(program);
        program = NULL;
    }
    return program;
}

static kiln_status no_program(kiln_error **error, cl_int code, const char *what)
{
    return kiln__opencl_failed(
        error, code == CL_SUCCESS ? CL_INVALID_PROGRAM : code, what);
}

/* Reads the compiler's messages; a long text is cut off. */
static void read_log(char *text, size_t capacity,
                     const kiln__opencl_device *device, cl_program program)
{
    const kiln__opencl_api *api = device->api;
    const kiln_alloc *alloc = &device->base.context->alloc;
    size_t size = 0;
    char *log;

    text[0] = '\0';
    if (api->clGetProgramBuildInfo(program, device->facts.id,
                                   CL_PROGRAM_BUILD_LOG, 0, NULL,
                                   &size) != CL_SUCCESS ||
        size == 0)
        return;
    log = kiln__allocate(alloc, size + 1);
    if (log == NULL)
        return;
    if (api->clGetProgramBuildInfo(program, device->facts.id,
                                   CL_PROGRAM_BUILD_LOG, size, log,
                                   NULL) == CL_SUCCESS)
        (void)snprintf(text, capacity, "%s", log);
    kiln__deallocate(alloc, log, size + 1);
}

static kiln_status build(const kiln__opencl_device *device, cl_program program,
                         const char *options, kiln_error **error)
{
    const cl_int code = device->api->clBuildProgram(
        program, 1, &device->facts.id, options, NULL, NULL);
    char text[LOG_MAX];

    if (code == CL_SUCCESS)
        return KILN_OK;
    read_log(text, sizeof text, device, program);
    return kiln__error_set(
        error, code == CL_OUT_OF_HOST_MEMORY ? KILN_ENOMEM : KILN_EDEVICE,
        "OpenCL: %s cannot build the module: %s (%d)%s%s", device->facts.name,
        kiln__opencl_code_name(code), (int)code, text[0] != '\0' ? ":\n" : "",
        text);
}

/* ---- from modules ---- */

static kiln_status translate(kiln__spirv_module *module, const void *bytes,
                             size_t size, kiln_error **error)
{
    kiln_blob bitcode = {0};
    cl_int code = CL_SUCCESS;

    KILN_TRY(kiln__spirv_translate(
        &bitcode, module->tools, module->device->context, bytes, size, error));
    module->native = with_binary(kiln__opencl_of(module->device), bitcode.data,
                                 bitcode.size, &code);
    kiln_blob_release(&bitcode);
    return module->native != NULL
               ? KILN_OK
               : no_program(error, code, "program of bitcode");
}

/* Makes the module's program, which is then built with `options`. */
static kiln_status make_program(kiln__spirv_module *module,
                                const char **options, kiln_error **error)
{
    const kiln__opencl_device *device = kiln__opencl_of(module->device);
    kiln__spirv_walk walk;
    size_t size;
    const void *bytes = kiln_artifact_bytes(module->artifact, &size);
    uint32_t minor;
    cl_int code = CL_SUCCESS;

    KILN_TRY(kiln__spirv_walk_init(&walk, bytes, size, error));
    KILN_TRY(kiln__spirv_walk_check(walk, error));
    minor = kiln__spirv_walk_minor(&walk);
    if (minor < 32 && (device->facts.il_minors >> minor & 1) != 0) {
        module->native = with_il(device, bytes, size, &code);
        return module->native != NULL
                   ? KILN_OK
                   : no_program(error, code, "program of SPIR-V");
    }
    if (!device->facts.takes_bitcode || minor > KILN__SPIRV_TRANSLATED_MINOR)
        return kiln__error_set(error, KILN_ENODEVICE,
                               "OpenCL: %s takes no SPIR-V 1.%u",
                               device->facts.name, minor);
    *options = BITCODE_OPTIONS;
    return translate(module, bytes, size, error);
}

/* ---- modules ---- */

kiln_status kiln__opencl_load(void *self, void *device,
                              const kiln_artifact *artifact, void **module,
                              kiln_error **error)
{
    kiln__spirv_module *made = NULL;
    const char *options = NULL;
    kiln_status status;

    (void)self;
    KILN_TRY(kiln__spirv_module_new(&made, device, artifact, error));
    status = make_program(made, &options, error);
    if (status == KILN_OK)
        status = build(device, made->native, options, error);
    return kiln__spirv_module_done(module, made, status);
}

void kiln__opencl_program_free(const kiln__spirv_device *device, void *native)
{
    (void)kiln__opencl_of(device)->api->clReleaseProgram(native);
}

/* ---- the driver's own binaries ---- */

/*
 * PoCL compiles a kernel when it is first launched with a group size, and makes
 * the program's binary only once. So the binary is not requested before
 * something was launched: then it contains that code.
 */

int32_t kiln__opencl_grew(void *self, void *module)
{
    const kiln__spirv_module *of = module;

    (void)self;
    return kiln__opencl_of(of->device)->facts.specialises &&
           !atomic_load_explicit(&of->is_saved, memory_order_relaxed) &&
           atomic_load_explicit(&of->was_launched, memory_order_relaxed);
}

const char *kiln__opencl_tools(void *self, void *module)
{
    (void)self;
    return ((const kiln__spirv_module *)module)->tools;
}

const char *kiln__opencl_identity(void *self, void *device)
{
    const kiln__opencl_device *of = device;

    (void)self;
    return of->facts.identity;
}

kiln_status kiln__opencl_load_native(void *self, void *device,
                                     const kiln_artifact *artifact,
                                     const void *bytes, size_t size,
                                     void **module, kiln_error **error)
{
    kiln__spirv_module *made = NULL;
    cl_int code = CL_SUCCESS;
    kiln_status status;

    (void)self;
    KILN_TRY(kiln__spirv_module_new(&made, device, artifact, error));
    atomic_init(&made->is_saved, 1);
    made->native = with_binary(device, bytes, size, &code);
    status = made->native != NULL
                 ? build(device, made->native, NULL, error)
                 : no_program(error, code, "program of a binary");
    return kiln__spirv_module_done(module, made, status);
}

static kiln_status binary_size(size_t *out, const kiln__spirv_module *module,
                               kiln_error **error)
{
    const kiln__opencl_device *device = kiln__opencl_of(module->device);
    const kiln__opencl_api *api = device->api;
    cl_uint devices = 0;
    cl_int code = api->clGetProgramInfo(module->native, CL_PROGRAM_NUM_DEVICES,
                                        sizeof devices, &devices, NULL);

    if (code == CL_SUCCESS && devices != 1)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "OpenCL: a program of %u devices is not saved",
                               (unsigned)devices);
    if (code == CL_SUCCESS)
        code = api->clGetProgramInfo(module->native, CL_PROGRAM_BINARY_SIZES,
                                     sizeof *out, out, NULL);
    if (code == CL_SUCCESS && *out == 0)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "OpenCL: %s gives no binaries",
                               device->facts.name);
    return code == CL_SUCCESS
               ? KILN_OK
               : kiln__opencl_failed(error, code, "size of a binary");
}

kiln_status kiln__opencl_save(void *self, void *module, kiln_blob *out,
                              kiln_error **error)
{
    kiln__spirv_module *of = module;
    const kiln__opencl_device *device = kiln__opencl_of(of->device);
    size_t size = 0;
    unsigned char *bytes;
    cl_int code;

    (void)self;
    if (device->facts.specialises &&
        !atomic_load_explicit(&of->was_launched, memory_order_relaxed))
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "OpenCL: %s has compiled nothing yet",
                               device->facts.name);
    atomic_store_explicit(&of->is_saved, 1, memory_order_relaxed);
    KILN_TRY(binary_size(&size, of, error));
    bytes = kiln__blob_new(out, &device->base.context->alloc, size);
    if (bytes == NULL)
        return kiln__error_no_memory(error);
    code = device->api->clGetProgramInfo(of->native, CL_PROGRAM_BINARIES,
                                         sizeof bytes, &bytes, NULL);
    if (code == CL_SUCCESS)
        return KILN_OK;
    kiln_blob_release(out);
    return kiln__opencl_failed(error, code, "binary");
}
