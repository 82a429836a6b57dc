/* test_opencl_programs.c - programs of OpenCL C call each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend host */
#include <stdio.h>
#include <string.h>

#include "support/frontend/cl_mixed.h"

static cl_mixed f;

static int set_up(void **state)
{
    (void)state;
    cl_mixed_open(&f, "main", "filters");
    f.kernels_are_opencl = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cl_mixed_close(&f);
    return 0;
}

static void define_second(const char *text)
{
    kiln_opencl_program *program;

    assert_ok(kiln_opencl_new(&program, f.context, "second", &test_error));
    assert_ok(kiln_opencl_define(program, "second.cl", text, strlen(text), NULL,
                                 NULL, &test_error));
}

#define CALLER \
    "constant float table[2] = {0.5f, 0.25f};\n" \
    "float4 add(float4 v, constant float *x, global void *y)\n" \
    "    __asm__(\"second.add\");\n" \
    "float f(float x) __asm__(\"second.f\");\n" \
    "kernel void k(global float *x)\n" \
    "{\n" \
    "    size_t i = get_global_id(0);\n" \
    "    float4 v = add((float4)(f(x[i])), table, x);\n" \
    "    x[i] = v.x;\n" \
    "}\n"

static void programs_of_opencl_call_each_other(void **state)
{
    (void)state;
    cl_mixed_define_program(&f, CALLER);
    define_second("float4 add(float4 v, constant float *x, global void *y)\n"
                  "{ return v + 1 + x[1]; }\n"
                  "float f(float x) { return x + get_local_id(0); }\n");
    cl_mixed_expect(
        &f, "k",
        (float[]){1.25f, 3.25f, 5.25f, 7.25f, 5.25f, 7.25f, 9.25f, 11.25f});
    define_second("float4 add(float4 v, constant float *x, global void *y)\n"
                  "{ return v + 2 + x[0]; }\n"
                  "float f(float x) { return x + get_local_id(0); }\n");
    cl_mixed_expect(
        &f, "k", (float[]){2.5f, 4.5f, 6.5f, 8.5f, 6.5f, 8.5f, 10.5f, 12.5f});
}

static void the_owner_of_a_label_may_change(void **state)
{
    static const char text[] = "fn f(x) = x + f32(10)\n";
    kiln_package *package;

    (void)state;
    cl_mixed_define_program(
        &f, "float f(float x) __asm__(\"second.f\");\n"
            "kernel void k(global float *x)\n"
            "{ size_t i = get_global_id(0); x[i] = f(x[i]); }\n");
    assert_ok(kiln_package_new(&package, f.context, "second", &test_error));
    assert_ok(kiln_package_define(package, "second.kiln", text, sizeof text - 1,
                                  NULL, &test_error));
    cl_mixed_expect(&f, "k", (float[]){10, 11, 12, 13, 14, 15, 16, 17});
    define_second("float f(float x) { return x + 1; }\n");
    cl_mixed_expect(&f, "k", (float[]){1, 2, 3, 4, 5, 6, 7, 8});
    define_second("float g(float x) { return x + 1; }\n");
    cl_mixed_expect(&f, "k", (float[]){10, 11, 12, 13, 14, 15, 16, 17});
}

static void what_programs_cannot_do_is_an_error(void **state)
{
    static const char *const texts[][3] = {
        {"float f(float x) __asm__(\"second.f\");\n",
         "float g(float x) __asm__(\"filters.g\");\n"
         "float f(float x) { return g(x); }\n",
         "they call each other"},
        {"float f(float x) __asm__(\"second.f\");\n",
         "float f(double x) { return x; }\n", "takes f64 and was given f32"},
        {"float f(float x) __asm__(\"second.f\");\n",
         "double f(float x) { return x; }\n",
         "it gives f64, and is declared to give float"},
        {"float f(float x) __asm__(\"second.f\");\n",
         "float f(float x) { return y; }\n", "undeclared identifier 'y'"},
        {"float f(float x) __asm__(\"second.f\");\n",
         "float f(float x) { barrier(CLK_LOCAL_MEM_FENCE); return x; }\n",
         "items of a group execute it together"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[512];

        (void)snprintf(text, sizeof text,
                       "%sfloat g(float x) { return f(x); }\n"
                       "kernel void k(global float *x)\n"
                       "{ size_t i = get_global_id(0); x[i] = g(x[i]); }\n",
                       texts[i][0]);
        cl_mixed_define_program(&f, text);
        define_second(texts[i][1]);
        cl_mixed_expect_error(
            &f, "k", i == 4 ? KILN_EUNSUPPORTED : KILN_ECOMPILE, texts[i][2]);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(programs_of_opencl_call_each_other),
        TEST(the_owner_of_a_label_may_change),
        TEST(what_programs_cannot_do_is_an_error),
    };

    if (!cl_mixed_has_clang())
        return program_skip(SKIP_PACKAGE, "clang's headers, for OpenCL C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
