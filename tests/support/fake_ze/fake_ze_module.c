/* fake_ze_module.c - modules and kernels of the fake Level Zero driver. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "fake_ze.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A native binary is this mark, the size of the SPIR-V, the SPIR-V, and
   OpenCL's binary. */
#define MARK 0x315a4546u

typedef struct binary_head {
    uint32_t mark;
    uint32_t size;
} binary_head;

typedef struct build_log {
    char text[4096];
} build_log;

/* ---- building ---- */

static cl_program with_binary(const fake_device *d, const void *bytes,
                              size_t size, cl_int *code)
{
    const unsigned char *binary = bytes;

    return d->api.clCreateProgramWithBinary(d->context, 1, &d->facts->id, &size,
                                            &binary, NULL, code);
}

static cl_program with_spirv(const fake_device *d, const fake_module *module,
                             const char **options, build_log *log)
{
    char tools[KILN__SPIRV_TOOLS_SIZE];
    kiln_blob bitcode = {0};
    kiln_error *error = NULL;
    cl_program program = NULL;
    cl_int code = CL_SUCCESS;

    if (d->facts->il_minors != 0)
        return d->api.clCreateProgramWithIL(d->context, module->words,
                                            module->size, &code);
    *options = "-x spir -spir-std=1.2";
    if (kiln__spirv_translate(&bitcode, tools, d->kiln, module->words,
                              module->size, &error) == KILN_OK)
        program = with_binary(d, bitcode.data, bitcode.size, &code);
    else
        (void)snprintf(log->text, sizeof log->text, "%s",
                       kiln_error_message(error));
    kiln_error_free(error);
    kiln_blob_release(&bitcode);
    return program;
}

static ze_result_t build(const fake_device *d, fake_module *module,
                         const char *options, build_log *log)
{
    if (module->program == NULL)
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    if (d->api.clBuildProgram(module->program, 1, &d->facts->id, options, NULL,
                              NULL) == CL_SUCCESS)
        return ZE_RESULT_SUCCESS;
    (void)d->api.clGetProgramBuildInfo(module->program, d->facts->id,
                                       CL_PROGRAM_BUILD_LOG,
                                       sizeof log->text - 1, log->text, NULL);
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

static int keep_words(fake_module *module, const void *words, size_t size)
{
    module->words = malloc(size + 1);
    module->size = size;
    if (module->words != NULL)
        memcpy(module->words, words, size);
    return module->words != NULL;
}

static ze_result_t from_native(const fake_device *d, fake_module *module,
                               const ze_module_desc_t *desc, build_log *log)
{
    binary_head head;
    const uint8_t *bytes = desc->pInputModule;
    cl_int code;

    if (desc->inputSize < sizeof head)
        return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    memcpy(&head, bytes, sizeof head);
    if (head.mark != MARK || head.size > desc->inputSize - sizeof head)
        return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    if (!keep_words(module, bytes + sizeof head, head.size))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    module->program =
        with_binary(d, bytes + sizeof head + head.size,
                    desc->inputSize - sizeof head - head.size, &code);
    return build(d, module, NULL, log);
}

static ze_result_t from_spirv(const fake_device *d, fake_module *module,
                              const ze_module_desc_t *desc, build_log *log)
{
    const char *options = NULL;

    if (!keep_words(module, desc->pInputModule, desc->inputSize))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    module->program = with_spirv(d, module, &options, log);
    return build(d, module, options, log);
}

static ze_result_t module_destroy(ze_module_handle_t handle)
{
    fake_module *module = (fake_module *)(void *)handle;

    if (module->program != NULL)
        (void)fake_device_get()->api.clReleaseProgram(module->program);
    free(module->words);
    free(module);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t module_create(ze_context_handle_t context,
                                 ze_device_handle_t of,
                                 const ze_module_desc_t *desc,
                                 ze_module_handle_t *out,
                                 ze_module_build_log_handle_t *log_out)
{
    const fake_device *d = (const fake_device *)(void *)of;
    fake_module *module = calloc(1, sizeof *module);
    build_log *log = calloc(1, sizeof *log);
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (module != NULL)
        module->context = context;
    if (module != NULL && log != NULL)
        result = desc->format == ZE_MODULE_FORMAT_NATIVE
                     ? from_native(d, module, desc, log)
                     : from_spirv(d, module, desc, log);
    if (log_out != NULL)
        *log_out = (ze_module_build_log_handle_t)(void *)log;
    else
        free(log);
    if (result == ZE_RESULT_SUCCESS)
        *out = (ze_module_handle_t)(void *)module;
    else if (module != NULL)
        (void)module_destroy((ze_module_handle_t)(void *)module);
    return result;
}

static ze_result_t module_binary(ze_module_handle_t handle, size_t *size,
                                 uint8_t *out)
{
    const fake_module *module = (const fake_module *)(void *)handle;
    const kiln__opencl_api *api = &fake_device_get()->api;
    const binary_head head = {MARK, (uint32_t)module->size};
    unsigned char *at;
    size_t binary = 0;
    cl_int code = api->clGetProgramInfo(
        module->program, CL_PROGRAM_BINARY_SIZES, sizeof binary, &binary, NULL);

    if (code != CL_SUCCESS || out == NULL) {
        *size = sizeof head + module->size + binary;
        return fake_result(code);
    }
    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, module->words, module->size);
    at = out + sizeof head + module->size;
    return fake_result(api->clGetProgramInfo(
        module->program, CL_PROGRAM_BINARIES, sizeof at, &at, NULL));
}

void fake_module_table(ze_module_dditable_t *table)
{
    table->pfnCreate = module_create;
    table->pfnDestroy = module_destroy;
    table->pfnGetNativeBinary = module_binary;
}

/* ---- logs ---- */

static ze_result_t log_text(ze_module_build_log_handle_t handle, size_t *size,
                            char *out)
{
    const build_log *log = (const build_log *)(void *)handle;

    if (out != NULL)
        (void)snprintf(out, *size, "%s", log->text);
    *size = strlen(log->text) + 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t log_destroy(ze_module_build_log_handle_t handle)
{
    free((void *)handle);
    return ZE_RESULT_SUCCESS;
}

void fake_build_log_table(ze_module_build_log_dditable_t *table)
{
    table->pfnGetString = log_text;
    table->pfnDestroy = log_destroy;
}

/* ---- kernels ---- */

/* True for a parameter that is a pointer; OpenCL has to be told. */
static int is_pointer(kiln__spirv_walk walk, uint32_t type)
{
    kiln__spirv_instruction at;

    while (kiln__spirv_walk_next(&walk, &at))
        if (at.opcode == 32 && at.count == 4 && at.words[1] == type)
            return at.words[2] == 5;
    return 0;
}

static void read_parameters(fake_kernel *kernel, const fake_module *module,
                            const char *name)
{
    kiln__spirv_walk start, walk;
    kiln__spirv_instruction at;
    uint32_t entry = 0;
    int inside = 0;

    if (kiln__spirv_walk_init(&start, module->words, module->size, NULL) !=
        KILN_OK)
        return;
    walk = start;
    while (kiln__spirv_walk_next(&walk, &at)) {
        if (at.opcode == 15 && at.count > 3 &&
            strcmp((const char *)(at.words + 3), name) == 0)
            entry = at.words[2];
        if (at.opcode == 54)
            inside = at.words[2] == entry;
        if (at.opcode == 55 && inside && kernel->parameters < 64)
            kernel->is_pointer[kernel->parameters++] =
                (uint8_t)is_pointer(start, at.words[1]);
    }
}

static ze_result_t kernel_create(ze_module_handle_t handle,
                                 const ze_kernel_desc_t *desc,
                                 ze_kernel_handle_t *out)
{
    const fake_module *module = (const fake_module *)(void *)handle;
    fake_kernel *kernel = calloc(1, sizeof *kernel);
    cl_int code = CL_SUCCESS;

    if (kernel == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    kernel->native = fake_device_get()->api.clCreateKernel(
        module->program, desc->pKernelName, &code);
    if (kernel->native == NULL) {
        free(kernel);
        return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    }
    kernel->context = module->context;
    read_parameters(kernel, module, desc->pKernelName);
    *out = (ze_kernel_handle_t)(void *)kernel;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_destroy(ze_kernel_handle_t handle)
{
    fake_kernel *kernel = (fake_kernel *)(void *)handle;

    (void)fake_device_get()->api.clReleaseKernel(kernel->native);
    free(kernel);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_argument(ze_kernel_handle_t handle, uint32_t index,
                                   size_t size, const void *value)
{
    const fake_kernel *kernel = (const fake_kernel *)(void *)handle;
    const kiln__opencl_api *api = &fake_device_get()->api;
    void *pointer;

    if (index >= kernel->parameters)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    if (!kernel->is_pointer[index])
        return fake_result(
            api->clSetKernelArg(kernel->native, index, size, value));
    if (size != sizeof pointer)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    memcpy(&pointer, value, sizeof pointer);
    return fake_result(
        api->clSetKernelArgSVMPointer(kernel->native, index, pointer));
}

static ze_result_t kernel_group(ze_kernel_handle_t handle, uint32_t x,
                                uint32_t y, uint32_t z)
{
    fake_kernel *kernel = (fake_kernel *)(void *)handle;

    if (x == 0 || y == 0 || z == 0 || (uint64_t)x * y * z > 1024)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    kernel->group[0] = x;
    kernel->group[1] = y;
    kernel->group[2] = z;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_suggest(ze_kernel_handle_t handle, uint32_t x,
                                  uint32_t y, uint32_t z, uint32_t *group_x,
                                  uint32_t *group_y, uint32_t *group_z)
{
    (void)handle;
    (void)y;
    (void)z;
    *group_x = 1;
    while (*group_x < 64 && x % (2 * *group_x) == 0)
        *group_x *= 2;
    *group_y = 1;
    *group_z = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_access(ze_kernel_handle_t handle,
                                 ze_kernel_indirect_access_flags_t flags)
{
    (void)handle;
    (void)flags;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_properties(ze_kernel_handle_t handle,
                                     ze_kernel_properties_t *out)
{
    const fake_kernel *kernel = (const fake_kernel *)(void *)handle;

    out->numKernelArgs = kernel->parameters;
    out->maxSubgroupSize = 1;
    return ZE_RESULT_SUCCESS;
}

void fake_kernel_table(ze_kernel_dditable_t *table)
{
    table->pfnCreate = kernel_create;
    table->pfnDestroy = kernel_destroy;
    table->pfnSetArgumentValue = kernel_argument;
    table->pfnSetGroupSize = kernel_group;
    table->pfnSuggestGroupSize = kernel_suggest;
    table->pfnSetIndirectAccess = kernel_access;
    table->pfnGetProperties = kernel_properties;
}
