/* test_opencl_kernels.c - kernels of OpenCL C as functions in the neutral
   form. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen */
/* LINKS: codegen */
#include "support/frontend/clang_source.h"

#include <stdlib.h>

static source test;

/* ---- the table ---- */

static void check_value(const kiln__source_value *value, const char *name,
                        const char *type, int32_t kind, int32_t element,
                        uint32_t lanes)
{
    assert_string_equal(value->name, name);
    assert_string_equal(value->type, type);
    assert_int_equal(value->kind, kind);
    assert_int_equal(value->element, element);
    assert_int_equal(value->lanes, lanes);
}

static void check_memory(const kiln__source_value *value, uint32_t space,
                         int is_read_only, uint64_t size, uint64_t alignment)
{
    assert_int_equal(value->space, space);
    assert_int_equal(value->is_read_only, is_read_only);
    assert_int_equal(value->size, size);
    assert_int_equal(value->alignment, alignment);
}

static void parameters_are_described(void **state)
{
    const kiln__source_value *p;

    (void)state;
    assert_ok(source_try(
        &test, "typedef float real; typedef struct { char c; double d; } pair;"
               "kernel void k(global real *restrict a, const global uchar *b,"
               "constant pair *c, local float3 *d, real e, short4 f, pair g,"
               "global void *h) {}"));
    assert_int_equal(test.result.function_count, 1);
    assert_int_equal(source_find(&test, "k")->parameter_count, 8);
    assert_true(source_find(&test, "k")->is_kernel);
    assert_int_equal(source_find(&test, "k")->result.kind, KILN__SOURCE_VOID);
    p = source_find(&test, "k")->parameters;
    check_value(&p[0], "a", "__global float *", KILN__SOURCE_POINTER,
                KILN_TYPE_F32, 1);
    check_memory(&p[0], 1, 0, 4, 4);
    assert_true(p[0].is_restrict);
    check_value(&p[1], "b", "__global const uchar *", KILN__SOURCE_POINTER,
                KILN_TYPE_U8, 1);
    check_memory(&p[1], 1, 1, 1, 1);
    assert_false(p[1].is_restrict);
    check_value(&p[2], "c", "__constant pair *", KILN__SOURCE_POINTER,
                KILN_TYPE_NONE, 1);
    check_memory(&p[2], 4, 1, 16, 8);
    check_value(&p[3], "d", "__local float3 *", KILN__SOURCE_LOCAL,
                KILN_TYPE_F32, 3);
    check_memory(&p[3], 3, 0, 16, 16);
    check_value(&p[4], "e", "float", KILN__SOURCE_SCALAR, KILN_TYPE_F32, 1);
    check_value(&p[5], "f", "short4", KILN__SOURCE_VECTOR, KILN_TYPE_I16, 4);
    check_memory(&p[5], 0, 0, 8, 8);
    check_value(&p[6], "g", "pair", KILN__SOURCE_AGGREGATE, KILN_TYPE_NONE, 1);
    check_memory(&p[6], 0, 0, 16, 8);
    check_value(&p[7], "h", "__global void *", KILN__SOURCE_POINTER,
                KILN_TYPE_NONE, 1);
    check_memory(&p[7], 1, 0, 0, 0);
}

static void group_sizes_are_in_the_table(void **state)
{
    const kiln__source_function *k;

    (void)state;
    assert_ok(source_try(&test,
                         "#define N 8\n"
                         "__attribute__((reqd_work_group_size(N, N / 2, 1)))"
                         "__attribute__((work_group_size_hint(N, 2, 1)))"
                         "kernel void k(global int *a) {}"
                         "kernel void l(global int *a) {}"));
    k = source_find(&test, "k");
    assert_int_equal(k->required_group_size[0], 8);
    assert_int_equal(k->required_group_size[1], 4);
    assert_int_equal(k->required_group_size[2], 1);
    assert_int_equal(k->group_size_hint[1], 2);
    assert_int_equal(source_find(&test, "l")->required_group_size[0], 0);
}

/* ---- the modules ---- */

static void parameters_are_those_of_kilns_arrays(void **state)
{
    const char *ir;

    (void)state;
    ir = source_k(&test, "typedef struct { int a[3]; } triple;"
                         "kernel void k(global float *a, float4 v, float3 w,"
                         "triple t, uchar n, constant int *c)"
                         "{ a[n] = v.x + w.y + t.a[1] + c[0]; }");
    assert_contains(ir, "define dso_local void @k(ptr addrspace(1)");
    assert_contains(ir, "%0, i64 %1, <4 x float>");
    assert_contains(ir, "<3 x float>");
    assert_contains(ir, "byval(%0)");
    assert_contains(ir, "i8 noundef zeroext");
    assert_null(strstr(ir, "__clang_ocl"));
    assert_null(strstr(ir, "spir"));
    assert_null(strstr(ir, "target "));
    assert_null(strstr(ir, "addrspace(2)"));
}

static void group_memory_is_at_an_offset(void **state)
{
    const char *ir;

    (void)state;
    ir = source_k(&test, "kernel void k(local float *a, global int *b)"
                         "{ local int n[4]; n[0] = b[0]; a[1] = n[0]; }");
    assert_contains(ir, "void @k(i64 %0, ptr addrspace(1)");
    assert_contains(ir, "call ptr addrspace(3) @kiln_group_memory()");
    assert_contains(ir, "getelementptr inbounds i8, ptr addrspace(3) %");
    assert_contains(ir, "internal addrspace(3) global [4 x i32] undef");
}

static void kernels_may_be_called(void **state)
{
    const char *ir;

    (void)state;
    ir = source_k(&test, "kernel void inner(global int *a, local int *l)"
                         "{ a[0] = l[0]; }"
                         "kernel void k(global int *a, local int *l)"
                         "{ inner(a, l); }");
    assert_contains(ir, "define dso_local void @k(ptr addrspace(1) noundef "
                        "align 4 %0, i64 %1, i64 %2)");
    assert_contains(ir, "define internal void @");
    assert_null(strstr(ir, "__clang_ocl"));
    assert_null(strstr(ir, "@inner"));
    ir = source_ir(&test, "inner");
    assert_contains(ir, "define dso_local void @inner(ptr addrspace(1)");
    assert_contains(ir, "@kiln_group_memory");
}

static void tables_and_functions_come_along(void **state)
{
    const char *ir;

    (void)state;
    ir = source_k(&test,
                  "constant int odd[3] = {1, 3, 5};"
                  "constant int even[3] = {2, 4, 6};"
                  "static int twice(int n) { return 2 * n; }"
                  "inline int thrice(int n) { return 3 * n; }"
                  "kernel void k(global int *a)"
                  "{ a[0] = twice(odd[a[1]]) + thrice(a[2]); }"
                  "kernel void other(global int *a) { a[0] = even[a[1]]; }");
    assert_contains(ir, "internal addrspace(1) constant [3 x i32] [i32 1");
    assert_contains(ir, "define internal i32 @twice");
    assert_contains(ir, "define internal i32 @thrice");
    assert_null(strstr(ir, "i32 6"));
    assert_null(strstr(ir, "@other"));
}

static void nothing_is_convergent_that_does_not_wait(void **state)
{
    (void)state;
    assert_null(strstr(source_k(&test, "float f(float x) { return sin(x); }"
                                       "kernel void k(global float *a)"
                                       "{ a[0] = f(a[1]); }"),
                       "convergent"));
}

/* ---- functions of others ---- */

static void declared_functions_are_needed(void **state)
{
    const kiln__source_function *k;

    (void)state;
    assert_ok(source_try(&test, "float area(float a, global const float *b);"
                                "int unused(int a);"
                                "float half_of(float a) { return a / 2; }"
                                "kernel void k(global float *a)"
                                "{ a[0] = area(half_of(a[1]), a); }"));
    k = source_find(&test, "k");
    assert_int_equal(test.result.declaration_count, 2);
    assert_int_equal(k->need_count, 1);
    assert_int_equal(k->needs[0], 0);
    assert_string_equal(test.result.declarations[0].name, "area");
    check_value(&test.result.declarations[0].result, "", "float",
                KILN__SOURCE_SCALAR, KILN_TYPE_F32, 1);
    check_value(&test.result.declarations[0].parameters[1], "b",
                "__global const float *", KILN__SOURCE_POINTER, KILN_TYPE_F32,
                1);
    assert_null(test.result.declarations[0].bitcode);
    assert_contains(source_ir(&test, "k"), "declare float @area(float");
    assert_false(source_find(&test, "half_of")->is_kernel);
    assert_int_equal(source_find(&test, "half_of")->need_count, 0);
    assert_contains(source_ir(&test, "half_of"),
                    "define dso_local float @half_of(float");
}

/* ---- equal modules are equal bytes ---- */

#define KERNEL_K \
    "kernel void k(global int *a) { local int n[2]; n[0] = c[a[0]]; " \
    "a[1] = n[0]; printf(\"%d\", a[1]); }\n"

static void check_same_bitcode(const char *other)
{
    const kiln__source_function *k;
    size_t size;
    void *bytes;

    assert_ok(source_try(&test, "constant int c[2] = {1, 2};\n" KERNEL_K));
    k = source_find(&test, "k");
    size = k->bitcode_size;
    bytes = malloc(size);
    assert_non_null(bytes);
    memcpy(bytes, k->bitcode, size);
    assert_ok(source_try(&test, other));
    k = source_find(&test, "k");
    assert_int_equal(k->bitcode_size, size);
    assert_memory_equal(k->bitcode, bytes, size);
    free(bytes);
}

static void what_does_not_concern_a_kernel_leaves_its_bytes(void **state)
{
    (void)state;
    check_same_bitcode("/* a comment */ constant int c[2] = {1, 2};\n\n\n"
                       "  // another\n" KERNEL_K);
    check_same_bitcode(
        "constant int first[2] = {7, 8};\n"
        "kernel void before(global int *b) { local int m[3]; m[0] = b[0];"
        "  b[1] = first[m[0]]; printf(\"%f\", 2.0); }\n"
        "constant int c[2] = {1, 2};\n" KERNEL_K);
    check_same_bitcode("constant int renamed[2] = {1, 2};\n"
                       "#define c renamed\n" KERNEL_K);
    test.request.name = "elsewhere/another.cl";
    check_same_bitcode("constant int c[2] = {1, 2};\n" KERNEL_K);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SOURCE_TEST(parameters_are_described),
        SOURCE_TEST(group_sizes_are_in_the_table),
        SOURCE_TEST(parameters_are_those_of_kilns_arrays),
        SOURCE_TEST(group_memory_is_at_an_offset),
        SOURCE_TEST(kernels_may_be_called),
        SOURCE_TEST(tables_and_functions_come_along),
        SOURCE_TEST(nothing_is_convergent_that_does_not_wait),
        SOURCE_TEST(declared_functions_are_needed),
        SOURCE_TEST(what_does_not_concern_a_kernel_leaves_its_bytes),
    };

    if (!source_is_there())
        return program_skip(SKIP_PACKAGE, SOURCE_NEEDS_CLANG);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
