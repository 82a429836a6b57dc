/* test_opencl_mixed.c - OpenCL C and the kernel language call each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend host */
#include <stdio.h>
#include <string.h>

#include "support/frontend/cl_mixed.h"

static cl_mixed f;

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

static int set_up(void **state)
{
    (void)state;
    cl_mixed_open(&f, "helpers", "mixed");
    f.kernels_are_opencl = 1;
    cl_mixed_define_package(&f, HELPERS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cl_mixed_close(&f);
    return 0;
}

#define KERNEL(body) \
    "kernel void k(global float *x)\n" \
    "{\n" \
    "    size_t i = get_global_id(0);\n" body "}\n"

/* ---- OpenCL C calls the kernel language ---- */

static void opencl_calls_functions_of_the_kernel_language(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "float square(float x) __asm__(\"helpers.square\");\n" KERNEL(
                "x[i] = square(x[i]);\n"));
    cl_mixed_expect(&f, "k", (float[]){0, 1, 4, 9, 16, 25, 36, 49});
}

static void arrays_vectors_and_ids_cross_the_border(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "float total(global float *x, ulong size)\n"
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
    cl_mixed_expect(&f, "k", (float[]){3, 2, 1, 0, 4, 5, 6, 28});
}

/* LLVM would take the second and third for the first. */
static void one_function_is_declared_with_many_types(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "float f(float x) __asm__(\"helpers.square\");\n"
            "int g(int x) __asm__(\"helpers.square\");\n"
            "uint h(uint x) __asm__(\"helpers.square\");\n"
            "float again(float x) __asm__(\"helpers.square\");\n"
            "int g(int x) __asm__(\"helpers.square\");\n" KERNEL(
                "int n = -(int)i;\n"
                "x[i] = f(0.5f) + g(n) + h(i) + again(x[i]);\n"));
    cl_mixed_expect(&f, "k",
                    (float[]){.25f, 3.25f, 12.25f, 27.25f, 48.25f, 75.25f,
                              108.25f, 147.25f});
    /* In a function's body, too. */
    cl_mixed_define_program(
        &f, "float f(float x) __asm__(\"helpers.square\");\n" KERNEL(
                "extern int g(int x) __asm__(\"helpers.square\");\n"
                "x[i] = f(0.5f) + g(i);\n"));
    cl_mixed_expect(
        &f, "k",
        (float[]){.25f, 1.25f, 4.25f, 9.25f, 16.25f, 25.25f, 36.25f, 49.25f});
    /* A kernel that calls the second one only. */
    cl_mixed_define_program(
        &f, "float f(float x) __asm__(\"helpers.square\");\n"
            "int g(int x) __asm__(\"helpers.square\");\n" KERNEL(
                "x[i] = g(i / 2);\n"));
    cl_mixed_expect(&f, "k", (float[]){0, 0, 1, 1, 4, 4, 9, 9});
}

static void exceptions_cross_the_border(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "float refused(float x) __asm__(\"helpers.refused\");\n"
            "static float twice(float x) { return 2 * refused(x); }\n" KERNEL(
                "x[i] = twice(x[i]);\n"));
    cl_mixed_expect_error(&f, "k", KILN_EEXCEPTION, "too large");
    cl_mixed_expect_exception(&f, "k", "helpers.refused", "mixed.kiln", 12);
}

#define TRAPS \
    "float f(float x)\n" \
    "{\n" \
    "    if (x == 7)\n" \
    "        __builtin_trap();\n" \
    "    return x;\n" \
    "}\n" \
    "kernel void inner(global float *x) { x[0] = f(x[get_global_id(0)]); }\n" \
    "kernel void own(global float *x)\n" \
    "{\n" \
    "    if (x[get_global_id(0)] == 7)\n" \
    "        __builtin_trap();\n" \
    "}\n"

static void traps_name_the_function_of_the_source(void **state)
{
    (void)state;
    cl_mixed_define_program(&f, TRAPS);
    cl_mixed_expect_exception(&f, "inner", "f", NULL, 0);
    cl_mixed_expect_exception(&f, "own", "own", NULL, 0);
    assert_ok(kiln_opencl_define(f.program, "mixed.cl", TRAPS, strlen(TRAPS),
                                 "-g", NULL, &test_error));
    cl_mixed_expect_exception(&f, "inner", "f", "mixed.cl", 4);
    cl_mixed_expect_exception(&f, "own", "own", "mixed.cl", 11);
}

static void kernels_with_barriers_call_them(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "float square(float x) __asm__(\"helpers.square\");\n"
            "long here(void) __asm__(\"helpers.here\");\n" KERNEL(
                "local float part[4];\n"
                "part[get_local_id(0)] = square(x[i]) + here();\n"
                "barrier(CLK_LOCAL_MEM_FENCE);\n"
                "x[i] = part[3 - get_local_id(0)];\n"));
    cl_mixed_expect(&f, "k", (float[]){12, 6, 2, 0, 56, 42, 30, 20});
}

static void an_edit_of_the_function_ends_the_kernel(void **state)
{
    const kiln_kernel *first, *same, *other;

    (void)state;
    cl_mixed_define_program(
        &f, "float square(float x) __asm__(\"helpers.square\");\n" KERNEL(
                "x[i] = square(x[i]);\n"));
    assert_ok(cl_mixed_compile(&first, &f, "k", &test_error));
    cl_mixed_define_package(&f, "# squares\n" HELPERS);
    assert_ok(cl_mixed_compile(&same, &f, "k", &test_error));
    assert_ptr_equal(first, same);
    cl_mixed_define_package(&f, "fn square(x) = x * x + f32(1)\n");
    assert_ok(cl_mixed_compile(&other, &f, "k", &test_error));
    assert_ptr_not_equal(first, other);
    cl_mixed_expect(&f, "k", (float[]){1, 2, 5, 10, 17, 26, 37, 50});
}

static void calls_work_on_all_targets(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "float square(float x) __asm__(\"helpers.square\");\n"
            "float4 turned(float4 v) __asm__(\"helpers.turned\");\n"
            "float total(global float *x, ulong size)\n"
            "    __asm__(\"helpers.total\");\n"
            "float refused(float x) __asm__(\"helpers.refused\");\n" KERNEL(
                "float4 v = turned(vload4(0, x));\n"
                "x[i] = square(v.x) + total(x, 8) + refused(v.y);\n"));
    cl_mixed_expect_targets(&f, "k");
}

/* A declaration, a call of it, and what is wrong. */
static const char *const wrong[][3] = {
    {"float f(float x) __asm__(\"helpers.nothing\");\n", "f(x[i])",
     "k calls 'helpers.nothing' of the kernel language: there is no such"},
    {"double f(float x) __asm__(\"helpers.square\");\n", "f(x[i])",
     "it gives f32, and is declared to give double"},
    {"float f(float x) __asm__(\"helpers.square\");\n",
     "({ extern int g(float) __asm__(\"helpers.square\"); f(2) + g(1); })",
     "it gives f32, and is declared to give int"},
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
        cl_mixed_define_program(&f, text);
        cl_mixed_expect_error(&f, "k", i == 5 ? KILN_ECODEGEN : KILN_ECOMPILE,
                              wrong[i][2]);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(opencl_calls_functions_of_the_kernel_language),
        TEST(arrays_vectors_and_ids_cross_the_border),
        TEST(one_function_is_declared_with_many_types),
        TEST(exceptions_cross_the_border),
        TEST(traps_name_the_function_of_the_source),
        TEST(kernels_with_barriers_call_them),
        TEST(an_edit_of_the_function_ends_the_kernel),
        TEST(calls_work_on_all_targets),
        TEST(what_does_not_fit_is_an_error),
    };

    if (!cl_mixed_has_clang())
        return program_skip(SKIP_PACKAGE, "clang's headers, for OpenCL C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
