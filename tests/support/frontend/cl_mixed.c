/* cl_mixed.c - a package and a program of OpenCL C that call each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/cl_mixed.h"

#include <stdlib.h>
#include <string.h>

#include "codegen_client/source_compile.h"

int cl_mixed_has_clang(void)
{
    char id[KILN__BUILD_ID_TEXT_SIZE];
    kiln_context *context;

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    kiln__source_compiler(id, context);
    kiln_context_free(context);
    return id[0] != '\0';
}

void cl_mixed_open(cl_mixed *f, const char *package, const char *program)
{
    assert_ok(kiln_context_new(&f->context, NULL, &test_error));
    assert_ok(kiln_config_new(&f->config, f->context, NULL, &test_error));
    assert_ok(kiln_device_open(&f->device, f->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&f->queue, f->device, &test_error));
    assert_ok(kiln_package_new(&f->package, f->context, package, &test_error));
    assert_ok(kiln_opencl_new(&f->program, f->context, program, &test_error));
}

void cl_mixed_close(cl_mixed *f)
{
    kiln_queue_free(f->queue);
    kiln_device_close(f->device);
    kiln_context_free(f->context);
}

void cl_mixed_define_package(const cl_mixed *f, const char *text)
{
    assert_ok(kiln_package_define(f->package, "mixed.kiln", text, strlen(text),
                                  NULL, &test_error));
}

void cl_mixed_define_program(const cl_mixed *f, const char *text)
{
    assert_ok(kiln_opencl_define(f->program, "mixed.cl", text, strlen(text),
                                 NULL, NULL, &test_error));
}

kiln_signature cl_mixed_find(const cl_mixed *f, const kiln_type **type,
                             const char *name, int is_opencl)
{
    kiln_signature found = {NULL, type, 1};

    assert_ok(is_opencl ? kiln_opencl_function(&found.function, f->program,
                                               name, &test_error)
                        : kiln_package_function(&found.function, f->package,
                                                name, &test_error));
    assert_ok(kiln_type_parse(type, f->context, NULL, "f32[:]", &test_error));
    return found;
}

kiln_status cl_mixed_compile(const kiln_kernel **out, const cl_mixed *f,
                             const char *name, kiln_error **error)
{
    const kiln_type *type;
    const kiln_signature call =
        cl_mixed_find(f, &type, name, f->kernels_are_opencl);

    return kiln_compile(out, f->context, &call, f->config, NULL, error);
}

static kiln_status run(float *numbers, const cl_mixed *f, const char *name,
                       kiln_error **error)
{
    const kiln_launch launch = {.grid = {8, 1, 1}, .block = {4, 1, 1}};
    kiln_array array = {.data = numbers, .sizes = {8}};
    const void *arguments[] = {&array};
    const kiln_kernel *kernel;
    kiln_status status = cl_mixed_compile(&kernel, f, name, error);

    for (int i = 0; i < 8; i++)
        numbers[i] = (float)i;
    if (status == KILN_OK)
        status =
            kiln_queue_launch(f->queue, kernel, &launch, arguments, 1, error);
    return status == KILN_OK ? kiln_queue_wait(f->queue, error) : status;
}

void cl_mixed_expect(const cl_mixed *f, const char *name,
                     const float expected[8])
{
    float numbers[8];

    assert_ok(run(numbers, f, name, &test_error));
    for (size_t i = 0; i < 8; i++)
        if (numbers[i] != expected[i])
            fail_msg("%s: %zu is %f, not %f", name, i, (double)numbers[i],
                     (double)expected[i]);
}

void cl_mixed_expect_error(const cl_mixed *f, const char *name,
                           kiln_status status, const char *words)
{
    float numbers[8];
    kiln_error *error = NULL;

    assert_int_equal(run(numbers, f, name, &error), status);
    if (strstr(kiln_error_message(error), words) == NULL)
        fail_msg("not \"%s\" but %s", words, kiln_error_message(error));
    kiln_error_free(error);
}

void cl_mixed_expect_exception(const cl_mixed *f, const char *name,
                               const char *method, const char *file,
                               uint32_t line)
{
    float numbers[8];
    const kiln_exception *exception;
    kiln_error *error = NULL;

    assert_int_equal(run(numbers, f, name, &error), KILN_EEXCEPTION);
    exception = kiln_error_exception(error);
    assert_non_null(exception);
    assert_string_equal(exception->method, method);
    if (file == NULL) {
        assert_null(exception->location.file);
    } else {
        assert_non_null(exception->location.file);
        assert_string_equal(exception->location.file, file);
        assert_int_equal(exception->location.line, line);
    }
    kiln_error_free(error);
}

static kiln_blob emitted(const cl_mixed *f, const char *name,
                         const char *target, int32_t form)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;
    const kiln_type *type;
    const kiln_signature call =
        cl_mixed_find(f, &type, name, f->kernels_are_opencl);
    kiln_blob code;

    options.target = target;
    assert_ok(kiln_config_new(&config, f->context, &options, &test_error));
    assert_ok(
        kiln_emit(&code, f->context, &call, config, 0, form, &test_error));
    return code;
}

void cl_mixed_expect_targets(const cl_mixed *f, const char *name)
{
    static const struct {
        const char *target;
        int32_t form;
    } forms[] = {{"cuda:sm_80", KILN_EMIT_ASM},
                 {"rocm:gfx906", KILN_EMIT_ASM},
                 {"rocm:gfx1100", KILN_EMIT_ASM},
                 {"spirv", KILN_EMIT_BINARY},
                 {"host", KILN_EMIT_BINARY}};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        kiln_blob code = emitted(f, name, forms[i].target, forms[i].form);

        kiln_blob_release(&code);
    }
}

void cl_mixed_expect_code(const cl_mixed *f, const char *name,
                          const char *target, const char *words)
{
    kiln_blob code = emitted(f, name, target, KILN_EMIT_ASM);
    char *text = calloc(code.size + 1, 1);

    assert_non_null(text);
    memcpy(text, code.data, code.size);
    if (strstr(text, words) == NULL)
        fail_msg("%s: no %s in %s", name, words, text);
    free(text);
    kiln_blob_release(&code);
}
