/* test_opencl_mixed.c - OpenCL C and the kernel language call each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend host */
#include <stdio.h>
#include <string.h>

#include "codegen_client/source_compile.h"
#include "kiln.h"
#include "kiln/opencl.h"
#include "support/harness.h"

typedef struct fixture {
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    kiln_package *package;
    kiln_opencl_program *program;
} fixture;

static fixture f;

#define HELPERS \
    "fn square(x) = x * x\n" \
    "fn total(x)\n" \
    "    s = x[0]\n" \
    "    for i in 1 .. length(x)\n" \
    "        s += x[i]\n" \
    "    end\n" \
    "    return s\n" \
    "end\n" \
    "fn turned(v) = Vec(v[3], v[2], v[1], v[0])\n" \
    "fn here() = global_id(0)\n" \
    "fn refused(x)\n" \
    "    assert(x < 3, \"too large\")\n" \
    "    return x\n" \
    "end\n"

static int has_clang(void)
{
    char id[KILN__BUILD_ID_TEXT_SIZE];
    kiln_context *context;

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    kiln__source_compiler(id, context);
    kiln_context_free(context);
    return id[0] != '\0';
}

static void define_package(const char *text)
{
    assert_ok(kiln_package_define(f.package, "helpers.kiln", text, strlen(text),
                                  NULL, &test_error));
}

static void define_program(const char *text)
{
    assert_ok(kiln_opencl_define(f.program, "mixed.cl", text, strlen(text),
                                 NULL, NULL, &test_error));
}

static int set_up(void **state)
{
    (void)state;
    assert_ok(kiln_context_new(&f.context, NULL, &test_error));
    assert_ok(kiln_config_new(&f.config, f.context, NULL, &test_error));
    assert_ok(kiln_device_open(&f.device, f.context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&f.queue, f.device, &test_error));
    assert_ok(kiln_package_new(&f.package, f.context, "helpers", &test_error));
    assert_ok(kiln_opencl_new(&f.program, f.context, "mixed", &test_error));
    define_package(HELPERS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kiln_queue_free(f.queue);
    kiln_device_close(f.device);
    kiln_context_free(f.context);
    return 0;
}

static kiln_status compile(const kiln_kernel **out, const kiln_config *config,
                           const char *name, const char *array,
                           kiln_error **error)
{
    const kiln_type *type;
    kiln_signature call = {NULL, &type, 1};

    assert_ok(
        kiln_opencl_function(&call.function, f.program, name, &test_error));
    assert_ok(kiln_type_parse(&type, f.context, NULL, array, &test_error));
    return kiln_compile(out, f.context, &call, config, NULL, error);
}

/* Runs the kernel on 8 numbers, in groups of 4. */
static kiln_status run(float *numbers, const char *name, kiln_error **error)
{
    const kiln_launch launch = {.grid = {8, 1, 1}, .block = {4, 1, 1}};
    kiln_array array = {.data = numbers, .sizes = {8}};
    const void *arguments[] = {&array};
    const kiln_kernel *kernel;
    kiln_status status = compile(&kernel, f.config, name, "f32[:]", error);

    if (status == KILN_OK)
        status =
            kiln_queue_launch(f.queue, kernel, &launch, arguments, 1, error);
    return status == KILN_OK ? kiln_queue_wait(f.queue, error) : status;
}

static void expect(const char *name, const float expected[8])
{
    float numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};

    assert_ok(run(numbers, name, &test_error));
    for (size_t i = 0; i < 8; i++)
        if (numbers[i] != expected[i])
            fail_msg("%s: %zu is %f, not %f", name, i, (double)numbers[i],
                     (double)expected[i]);
}

static void expect_error(const char *name, kiln_status status,
                         const char *words)
{
    float numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    kiln_error *error = NULL;

    assert_int_equal(run(numbers, name, &error), status);
    if (strstr(kiln_error_message(error), words) == NULL)
        fail_msg("not \"%s\" but %s", words, kiln_error_message(error));
    kiln_error_free(error);
}

#define KERNEL(body) \
    "kernel void k(global float *x)\n" \
    "{\n" \
    "    size_t i = get_global_id(0);\n" body "}\n"

/* ---- OpenCL C calls the kernel language ---- */

static void opencl_calls_functions_of_the_kernel_language(void **state)
{
    (void)state;
    define_program(
        "float square(float x) __asm__(\"helpers.square\");\n" KERNEL(
            "x[i] = square(x[i]);\n"));
    expect("k", (float[]){0, 1, 4, 9, 16, 25, 36, 49});
}

static void arrays_vectors_and_ids_cross_the_border(void **state)
{
    (void)state;
    define_program("float total(global float *x, ulong size)\n"
                   "    __asm__(\"helpers.total\");\n"
                   "float4 turned(float4 v) __asm__(\"helpers.turned\");\n"
                   "long here(void) __asm__(\"helpers.here\");\n" KERNEL(
                       "if (i == 0) {\n"
                       "    float4 v = turned(vload4(0, x));\n"
                       "    x[7] = total(x, 8);\n"
                       "    vstore4(v, 0, x);\n"
                       "}\n"
                       "if (i == 5)\n"
                       "    x[5] = here();\n"));
    expect("k", (float[]){3, 2, 1, 0, 4, 5, 6, 28});
}

static void exceptions_cross_the_border(void **state)
{
    (void)state;
    define_program(
        "float refused(float x) __asm__(\"helpers.refused\");\n"
        "static float twice(float x) { return 2 * refused(x); }\n" KERNEL(
            "x[i] = twice(x[i]);\n"));
    expect_error("k", KILN_EEXCEPTION, "too large");
}

static void kernels_with_barriers_call_them(void **state)
{
    (void)state;
    define_program("float square(float x) __asm__(\"helpers.square\");\n"
                   "long here(void) __asm__(\"helpers.here\");\n" KERNEL(
                       "local float part[4];\n"
                       "part[get_local_id(0)] = square(x[i]) + here();\n"
                       "barrier(CLK_LOCAL_MEM_FENCE);\n"
                       "x[i] = part[3 - get_local_id(0)];\n"));
    expect("k", (float[]){12, 6, 2, 0, 56, 42, 30, 20});
}

static void an_edit_of_the_function_ends_the_kernel(void **state)
{
    const kiln_kernel *first, *same, *other;

    (void)state;
    define_program(
        "float square(float x) __asm__(\"helpers.square\");\n" KERNEL(
            "x[i] = square(x[i]);\n"));
    assert_ok(compile(&first, f.config, "k", "f32[:]", &test_error));
    define_package("# squares\n" HELPERS);
    assert_ok(compile(&same, f.config, "k", "f32[:]", &test_error));
    assert_ptr_equal(first, same);
    define_package("fn square(x) = x * x + f32(1)\n");
    assert_ok(compile(&other, f.config, "k", "f32[:]", &test_error));
    assert_ptr_not_equal(first, other);
    expect("k", (float[]){1, 2, 5, 10, 17, 26, 37, 50});
}

static void calls_work_on_all_targets(void **state)
{
    static const struct {
        const char *target;
        int32_t form;
    } forms[] = {{"cuda:sm_80", KILN_EMIT_ASM},
                 {"rocm:gfx906", KILN_EMIT_ASM},
                 {"spirv", KILN_EMIT_BINARY}};

    (void)state;
    define_program(
        "float square(float x) __asm__(\"helpers.square\");\n"
        "float4 turned(float4 v) __asm__(\"helpers.turned\");\n"
        "float total(global float *x, ulong size)\n"
        "    __asm__(\"helpers.total\");\n"
        "float refused(float x) __asm__(\"helpers.refused\");\n" KERNEL(
            "float4 v = turned(vload4(0, x));\n"
            "x[i] = square(v.x) + total(x, 8) + refused(v.y);\n"));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
        const kiln_config *config;
        const kiln_type *type;
        kiln_signature call = {NULL, &type, 1};
        kiln_blob code;

        options.target = forms[i].target;
        assert_ok(kiln_config_new(&config, f.context, &options, &test_error));
        assert_ok(
            kiln_opencl_function(&call.function, f.program, "k", &test_error));
        assert_ok(
            kiln_type_parse(&type, f.context, NULL, "f32[:]", &test_error));
        assert_ok(kiln_emit(&code, f.context, &call, config, 0, forms[i].form,
                            &test_error));
        kiln_blob_release(&code);
    }
}

/* A declaration, a call of it, and what is wrong. */
static const char *const wrong[][3] = {
    {"float f(float x) __asm__(\"helpers.nothing\");\n", "f(x[i])",
     "k calls 'helpers.nothing' of the kernel language: there is no such"},
    {"double f(float x) __asm__(\"helpers.square\");\n", "f(x[i])",
     "it gives f32, and is declared to give double"},
    {"float f(local float *x) __asm__(\"helpers.square\");\n", "f(part)",
     "it takes scalars, vectors, and pointers to global memory"},
    {"float f(global float *x) __asm__(\"helpers.square\");\n", "f(x)",
     "a pointer lacks the number of its elements"},
    {"float f(float x);\n", "f(x[i])", "undefined function 'f'"},
};

static void what_does_not_fit_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[1024];

        (void)snprintf(text, sizeof text,
                       "%skernel void k(global float *x)\n"
                       "{\n"
                       "    size_t i = get_global_id(0);\n"
                       "    local float part[2];\n"
                       "    x[i] = %s;\n"
                       "}\n",
                       wrong[i][0], wrong[i][1]);
        define_program(text);
        expect_error("k", i == 4 ? KILN_ECODEGEN : KILN_ECOMPILE, wrong[i][2]);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(opencl_calls_functions_of_the_kernel_language),
        TEST(arrays_vectors_and_ids_cross_the_border),
        TEST(exceptions_cross_the_border),
        TEST(kernels_with_barriers_call_them),
        TEST(an_edit_of_the_function_ends_the_kernel),
        TEST(calls_work_on_all_targets),
        TEST(what_does_not_fit_is_an_error),
    };

    if (!has_clang())
        return program_skip(SKIP_PACKAGE, "clang's headers, for OpenCL C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
