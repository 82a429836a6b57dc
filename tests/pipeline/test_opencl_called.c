/* test_opencl_called.c - the kernel language calls functions of OpenCL C. */
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
    f.kernels_are_opencl = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cl_mixed_close(&f);
    return 0;
}

#define KERNEL(body) \
    "kernel k(x)\n" \
    "    i = global_id(0)\n" body "end\n"

/* ---- what crosses the border ---- */

static void the_language_calls_a_function_of_opencl(void **state)
{
    (void)state;
    cl_mixed_define_program(&f, "float square(float x) { return x * x; }\n");
    cl_mixed_define_package(
        &f, "import filters\n" KERNEL("    x[i] = filters.square(x[i])\n"));
    cl_mixed_expect(&f, "k", (float[]){0, 1, 4, 9, 16, 25, 36, 49});
}

static void a_function_may_be_imported_by_its_name(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "static float twice(float x) { return 2 * x; }\n"
            "float more(float x, float y) { return twice(x) + y; }\n");
    cl_mixed_define_package(&f,
                            "import filters: more\n"
                            "fn own(x) = more(x, 1)\n" KERNEL(
                                "    x[i] = own(x[i]) + more(x[i], 0.5)\n"));
    cl_mixed_expect(
        &f, "k",
        (float[]){1.5f, 5.5f, 9.5f, 13.5f, 17.5f, 21.5f, 25.5f, 29.5f});
}

static void all_kinds_of_values_cross_the_border(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "typedef struct pair { float a; int b; } pair;\n"
            "float4 turned(float4 v) { return v.wzyx; }\n"
            "float3 short_one(float3 v) { return v + 1; }\n"
            "bool below(float x, bool otherwise)\n"
            "{ return x < 3 ? true : otherwise; }\n"
            "float sum(pair p, char c, ulong n, double d, short h)\n"
            "{ p.b += 1; return p.a + p.b + c + n + (float)d + h; }\n"
            "void store(global float *x, uint at, float value)\n"
            "{ x[at] = value; }\n"
            "float total(global const float *x, long size)\n"
            "{ float s = 0; for (long i = 0; i < size; i++) s += x[i];\n"
            "  return s; }\n"
            "long here(void) { return get_global_id(0); }\n");
    cl_mixed_define_package(
        &f, "import filters\n"
            "struct Pair\n    a: f32\n    b: i32\nend\n" KERNEL(
                "    if i == 0\n"
                "        filters.store(x, 7, filters.total(x, length(x)))\n"
                "        v = filters.turned(Vec(x[0], x[1], x[2], x[3]))\n"
                "        x[0] = v[0]\n"
                "        w = filters.short_one(Vec(x[1], x[2], x[3]))\n"
                "        x[1] = w[2]\n"
                "    elseif i == 2\n"
                "        p = Pair(1, 2)\n"
                "        x[2] = filters.sum(p, -1, 10, 0.5, 1) + f32(p.b)\n"
                "    elseif i == 3\n"
                "        x[3] = filters.below(x[3], false) ? x[6] : -x[6]\n"
                "    elseif i == 4\n"
                "        x[4] = filters.below(x[4], true) ? x[6] : -x[6]\n"
                "    elseif i == 5\n"
                "        x[5] = f32(filters.here())\n"
                "    end\n"));
    cl_mixed_expect(&f, "k", (float[]){3, 4, 16.5f, -6, 6, 5, 6, 28});
}

static void built_in_functions_and_constants_come_along(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f,
        "constant float table[4] = {10, 20, 30, 40};\n"
        "float f(float x, int i) { return table[i & 3] + native_sqrt(x * x) +\n"
        "    fabs(mad(x, 1.0f, 0.0f)) + sin(0.0f * x); }\n");
    cl_mixed_define_package(
        &f, "import filters: f\n" KERNEL("    x[i] = f(x[i], i32(i))\n"));
    cl_mixed_expect(&f, "k", (float[]){10, 22, 34, 46, 18, 30, 42, 54});
}

static void exceptions_cross_the_border_twice(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "float checked(float x) __asm__(\"main.checked\");\n"
            "float outer(float x) { return 2 * checked(x); }\n");
    cl_mixed_define_package(
        &f, "import filters\n"
            "fn checked(x)\n"
            "    assert(x < 3, \"too large\")\n"
            "    return x + f32(global_id(0))\n"
            "end\n" KERNEL("    if x[i] < limit\n"
                           "        x[i] = filters.outer(x[i])\n"
                           "    end\n"));
    cl_mixed_expect_error(&f, "k", KILN_ECOMPILE, "limit");
    cl_mixed_define_package(
        &f, "import filters\n"
            "const limit = 3.0\n"
            "fn checked(x)\n"
            "    assert(x < 3, \"too large\")\n"
            "    return x + f32(global_id(0))\n"
            "end\n" KERNEL("    if x[i] < limit\n"
                           "        x[i] = filters.outer(x[i])\n"
                           "    end\n") "kernel all(x)\n"
                                        "    i = global_id(0)\n"
                                        "    x[i] = "
                                        "filters.outer(x[i])\n"
                                        "end\n");
    cl_mixed_expect(&f, "k", (float[]){0, 4, 8, 3, 4, 5, 6, 7});
    cl_mixed_expect_error(&f, "all", KILN_EEXCEPTION, "too large");
}

static void kernels_with_barriers_call_them(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "float at(global float *x, ulong i) { return x[i] * 2; }\n"
            "float here(float x) { return x + get_local_id(0); }\n");
    cl_mixed_define_package(
        &f, "import filters\n" KERNEL("    local part = f32[4]\n"
                                      "    l = local_id(0)\n"
                                      "    part[l] = filters.here(x[i])\n"
                                      "    barrier()\n"
                                      "    x[i] = filters.at(part, 3 - l)\n"));
    cl_mixed_expect_error(&f, "k", KILN_ECOMPILE,
                          "takes u64 and was given i64");
    cl_mixed_define_package(
        &f,
        "import filters\n" KERNEL("    local part = f32[4]\n"
                                  "    l = local_id(0)\n"
                                  "    part[l] = filters.here(x[i])\n"
                                  "    barrier()\n"
                                  "    x[i] = filters.at(part, u64(3 - l))\n"));
    cl_mixed_expect(&f, "k", (float[]){12, 8, 4, 0, 20, 16, 12, 8});
}

/* ---- edits ---- */

static const kiln_kernel *compiled(const char *name)
{
    const kiln_kernel *kernel;

    assert_ok(cl_mixed_compile(&kernel, &f, name, &test_error));
    return kernel;
}

static void an_edit_of_the_function_ends_its_callers(void **state)
{
    const kiln_kernel *first, *other;

    (void)state;
    cl_mixed_define_program(&f, "float f(float x) { return x + 1; }\n"
                                "float g(float x) { return x - 1; }\n");
    cl_mixed_define_package(
        &f, "import filters\n"
            "fn through(x) = filters.f(x)\n" KERNEL(
                "    x[i] = through(x[i])\n") "kernel other(x)\n    x[0] = "
                                              "filters.g(x[0])\nend\n");
    first = compiled("k");
    other = compiled("other");
    /* A comment, and what only other functions are. */
    cl_mixed_define_program(
        &f, "/* adds one */ float f(float x) { return x + 1; }\n"
            "float g(float x) { return x - 1; }\n"
            "kernel void h(global float *x) { *x = 1; }\n");
    assert_ptr_equal(compiled("k"), first);
    assert_ptr_equal(compiled("other"), other);
    cl_mixed_define_program(&f, "float f(float x) { return x + 2; }\n"
                                "float g(float x) { return x - 1; }\n");
    assert_ptr_not_equal(compiled("k"), first);
    assert_ptr_equal(compiled("other"), other);
    cl_mixed_expect(&f, "k", (float[]){2, 3, 4, 5, 6, 7, 8, 9});
    /* Literals adapt to what the parameter is now. */
    cl_mixed_define_program(&f, "double f(double x) { return x + 3; }\n"
                                "float g(float x) { return x - 1; }\n");
    cl_mixed_expect_error(&f, "k", KILN_ECOMPILE,
                          "takes f64 and was given f32");
    assert_ok(kiln_opencl_unload(f.program, NULL, &test_error));
    cl_mixed_expect_error(&f, "k", KILN_ECOMPILE, "filters.f");
    cl_mixed_define_program(&f, "float f(float x) { return x + 1; }\n");
    cl_mixed_expect(&f, "k", (float[]){1, 2, 3, 4, 5, 6, 7, 8});
}

static void an_edit_below_the_function_ends_its_callers(void **state)
{
    const kiln_kernel *first;

    (void)state;
    cl_mixed_define_program(&f, "float base(float x) __asm__(\"main.base\");\n"
                                "float f(float x) { return 2 * base(x); }\n");
    cl_mixed_define_package(
        &f, "import filters\n"
            "fn base(x) = x + f32(1)\n" KERNEL("    x[i] = filters.f(x[i])\n"));
    first = compiled("k");
    cl_mixed_expect(&f, "k", (float[]){2, 4, 6, 8, 10, 12, 14, 16});
    cl_mixed_define_package(&f, "import filters\n"
                                "fn base(x) = x + f32(2) # more\n" KERNEL(
                                    "    x[i] = filters.f(x[i])\n"));
    assert_ptr_not_equal(compiled("k"), first);
    cl_mixed_expect(&f, "k", (float[]){4, 6, 8, 10, 12, 14, 16, 18});
}

static void literals_follow_the_parameters(void **state)
{
    (void)state;
    cl_mixed_define_program(&f,
                            "float f(float x, int n) { return x + n / 2; }\n");
    cl_mixed_define_package(
        &f, "import filters\n" KERNEL("    x[i] = filters.f(1, 3)\n"));
    cl_mixed_expect(&f, "k", (float[]){2, 2, 2, 2, 2, 2, 2, 2});
    cl_mixed_define_program(
        &f, "float f(float x, double n) { return x + n / 2; }\n");
    cl_mixed_expect(&f, "k",
                    (float[]){2.5f, 2.5f, 2.5f, 2.5f, 2.5f, 2.5f, 2.5f, 2.5f});
}

static void a_package_of_the_language_comes_first(void **state)
{
    kiln_package *package;
    static const char text[] = "fn f(x) = x + f32(10)\n";

    (void)state;
    cl_mixed_define_program(&f, "float f(float x) { return x + 1; }\n");
    cl_mixed_define_package(
        &f, "import filters\n" KERNEL("    x[i] = filters.f(x[i])\n"));
    cl_mixed_expect(&f, "k", (float[]){1, 2, 3, 4, 5, 6, 7, 8});
    assert_ok(kiln_package_new(&package, f.context, "filters", &test_error));
    assert_ok(kiln_package_define(package, "filters.kiln", text,
                                  sizeof text - 1, NULL, &test_error));
    /* The import stays what it was until its text is defined again. */
    cl_mixed_expect(&f, "k", (float[]){1, 2, 3, 4, 5, 6, 7, 8});
    cl_mixed_define_package(
        &f, "import filters\n" KERNEL("    x[i] = filters.f(x[i]) + f32(1)\n"));
    cl_mixed_expect(&f, "k", (float[]){11, 12, 13, 14, 15, 16, 17, 18});
}

/* ---- targets ---- */

static void calls_work_on_all_targets(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "typedef struct pair { float a; int b; } pair;\n"
            "float4 turned(float4 v) { return v.wzyx; }\n"
            "float sum(pair p, global const float *x)\n"
            "{ p.b += 1; return p.a + p.b + x[p.b] + sin(p.a) + x[1]; }\n"
            "float checked(float x) __asm__(\"main.checked\");\n"
            "float outer(float x)\n"
            "{ return checked(x) + get_global_id(0); }\n");
    cl_mixed_define_package(
        &f,
        "import filters\n"
        "struct Pair\n    a: f32\n    b: i32\nend\n"
        "fn checked(x)\n"
        "    assert(x < 3, \"too large\")\n"
        "    return sqrt(x)\n"
        "end\n" KERNEL("    local part = f32[4]\n"
                       "    v = filters.turned(Vec(x[0], x[1], x[2], x[3]))\n"
                       "    part[local_id(0)] = v[0]\n"
                       "    barrier()\n"
                       "    x[i] = filters.outer(v[1]) + sin(x[i]) +\n"
                       "        filters.sum(Pair(v[2], 1), part)\n"));
    cl_mixed_expect_targets(&f, "k");
}

/* A function calls it global memory, and built-in functions do so too. */
static void functions_take_the_memory_of_a_group(void **state)
{
    (void)state;
    cl_mixed_define_program(
        &f, "float pick(global const float *x, int i)\n"
            "{ return vload4(i, x).y; }\n"
            "void put(global float *x) { vstore3((float3)(1, 2, 3), 1, x); }\n"
            "float part(global float *x) { return fract(9.5f, x); }\n"
            "int add(global int *x) { return atomic_add(x, 1); }\n");
    cl_mixed_define_package(
        &f, "import filters\n" KERNEL("    local t = f32[8]\n"
                                      "    local n = i32[1]\n"
                                      "    l = local_id(0)\n"
                                      "    t[l] = x[i]\n"
                                      "    t[l + 4] = x[i]\n"
                                      "    n[0] = 0\n"
                                      "    barrier()\n"
                                      "    if l == 0\n"
                                      "        filters.put(t)\n"
                                      "        t[0] = filters.part(t)\n"
                                      "    end\n"
                                      "    filters.add(n)\n"
                                      "    barrier()\n"
                                      "    x[i] = filters.pick(t, i32(1)) +\n"
                                      "        t[l] + 10 * f32(n[0])\n"));
    cl_mixed_expect(&f, "k", (float[]){43.5f, 44, 45, 44, 43.5f, 48, 49, 44});
    cl_mixed_expect_targets(&f, "k");
    cl_mixed_define_package(
        &f, "import filters\n" KERNEL("    local t = f32[8]\n"
                                      "    t[local_id(0)] = f32(i)\n"
                                      "    barrier()\n"
                                      "    x[i] = filters.pick(t, i32(0))\n"));
    cl_mixed_expect_code(&f, "k", "cuda:sm_80", "ld.shared");
    cl_mixed_expect_code(&f, "k", "rocm:gfx906", "ds_read");
}

/* ---- what is wrong ---- */

/* A program, what the kernel does, the status and words of the error. */
static const struct {
    const char *program;
    const char *call;
    kiln_status status;
    const char *words;
} wrong[] = {
    {"float f(float x) { return x; }\n", "x[i] = filters.g(x[i])",
     KILN_ECOMPILE, "has no kernel or function 'g'; it has"},
    {"float f(float x) { return x; }\n", "x[i] = filters.f(f64(x[i]))",
     KILN_ECOMPILE, "'float x', takes f32 and was given f64"},
    {"float f(float x) { return x; }\n", "x[i] = filters.f(x[i], 1)",
     KILN_ECOMPILE, "f(float x) has 1 parameters and was given 2"},
    {"float f(int x) { return x; }\n", "x[i] = filters.f(1.5)", KILN_ECOMPILE,
     "1.5"},
    {"float f(float *x) { return *x; }\n", "x[i] = filters.f(x)", KILN_ECOMPILE,
     "takes private or group memory, which only OpenCL C can pass"},
    {"float f(local float *x) { return *x; }\n", "x[i] = filters.f(x)",
     KILN_ECOMPILE,
     "takes private or group memory, which only OpenCL C can pass"},
    {"struct s { float a; };\n"
     "struct s f(float x) { struct s r = {x}; return r; }\n",
     "filters.f(x[i])", KILN_ECOMPILE, "only scalars and vectors"},
    {"float f(float x) { barrier(CLK_LOCAL_MEM_FENCE); return x; }\n",
     "x[i] = filters.f(x[i])", KILN_EUNSUPPORTED,
     "items of a group execute it together"},
    {"float f(float x) { return y; }\n", "x[i] = filters.f(x[i])",
     KILN_ECOMPILE, "undeclared identifier 'y'"},
    {"float g(float);\nfloat f(float x) { return g(x); }\n",
     "x[i] = filters.f(x[i])", KILN_ECODEGEN, "undefined function 'g'"},
    {"float f(float x) { return x; }\n", "y = filters.f", KILN_ECOMPILE,
     "`f` is a function of another language, and no value"},
    {"float f(float x) { return x; }\n", "y = filters", KILN_ECOMPILE,
     "no value"},
    {"void f(float x) {}\n", "x[i] = filters.f(x[i])", KILN_ECOMPILE,
     "gives no value"},
    {"float back(float x) __asm__(\"main.around\");\n"
     "float f(float x) { return back(x); }\n",
     "x[i] = around(x[i])", KILN_ECOMPILE, "calls"},
};

static void what_does_not_fit_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[1024];

        (void)snprintf(text, sizeof text,
                       "import filters\n"
                       "fn around(x) = filters.f(x)\n"
                       "kernel k(x)\n"
                       "    i = global_id(0)\n"
                       "    %s\n"
                       "end\n",
                       wrong[i].call);
        cl_mixed_define_program(&f, wrong[i].program);
        cl_mixed_define_package(&f, text);
        cl_mixed_expect_error(&f, "k", wrong[i].status, wrong[i].words);
    }
}

static void an_import_finds_nothing(void **state)
{
    static const char text[] = "import elsewhere\n";
    kiln_error *error = NULL;

    (void)state;
    assert_int_equal(kiln_package_define(f.package, "main.kiln", text,
                                         sizeof text - 1, NULL, &error),
                     KILN_ECOMPILE);
    assert_non_null(strstr(kiln_error_message(error), "elsewhere"));
    kiln_error_free(error);
}

static void functions_are_not_launched(void **state)
{
    const kiln_kernel *kernel;
    kiln_error *error = NULL;

    (void)state;
    cl_mixed_define_program(&f, "void f(global float *x) { *x = 1; }\n");
    f.kernels_are_opencl = 1;
    assert_int_equal(cl_mixed_compile(&kernel, &f, "f", &error), KILN_ECOMPILE);
    assert_non_null(strstr(kiln_error_message(error), "but not launched"));
    kiln_error_free(error);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_language_calls_a_function_of_opencl),
        TEST(a_function_may_be_imported_by_its_name),
        TEST(all_kinds_of_values_cross_the_border),
        TEST(built_in_functions_and_constants_come_along),
        TEST(exceptions_cross_the_border_twice),
        TEST(kernels_with_barriers_call_them),
        TEST(an_edit_of_the_function_ends_its_callers),
        TEST(an_edit_below_the_function_ends_its_callers),
        TEST(literals_follow_the_parameters),
        TEST(a_package_of_the_language_comes_first),
        TEST(calls_work_on_all_targets),
        TEST(functions_take_the_memory_of_a_group),
        TEST(what_does_not_fit_is_an_error),
        TEST(an_import_finds_nothing),
        TEST(functions_are_not_launched),
    };

    if (!cl_mixed_has_clang())
        return program_skip(SKIP_PACKAGE, "clang's headers, for OpenCL C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
