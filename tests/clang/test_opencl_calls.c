/* test_opencl_calls.c - what built-in functions of OpenCL C become. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen */
/* LINKS: codegen */
#include "support/frontend/clang_source.h"

static source test;

static void ids_and_sizes_are_kilns(void **state)
{
    (void)state;
#define IDS(name, kiln) \
    assert_becomes(&test, "global ulong *a", "a[0] = " name "(1);", \
                   "call i64 @" kiln "(i32 1)")
    IDS("get_global_id", "kiln_global_id");
    IDS("get_local_id", "kiln_local_id");
    IDS("get_group_id", "kiln_group_id");
    IDS("get_global_size", "kiln_global_size");
    IDS("get_local_size", "kiln_local_size");
    IDS("get_num_groups", "kiln_group_count");
    assert_becomes(&test, "global ulong *a", "a[0] = get_global_offset(0);",
                   "store i64 0, ptr addrspace(1)");
    assert_becomes(&test, "global uint *a", "a[0] = get_work_dim();",
                   "call i64 @kiln_global_size(i32 2)");
    source_option(&test, "-cl-std=CL3.0");
    IDS("get_enqueued_local_size", "kiln_local_size");
    assert_becomes(&test, "global ulong *a", "a[0] = get_local_linear_id();",
                   "call i64 @kiln_local_id(i32 2)");
    assert_becomes(&test, "global ulong *a", "a[0] = get_global_linear_id();",
                   "call i64 @kiln_global_id(i32 2)");
    assert_becomes(&test, "global uint *a", "a[0] = get_sub_group_size();",
                   "call i32 @kiln_sub_group_size()");
    assert_becomes(&test, "global uint *a", "a[0] = get_sub_group_local_id();",
                   "call i32 @kiln_lane_id()");
}

/* OpenCL C 2.0 has groups that the grid cuts. */
static void sizes_are_those_of_the_running_group(void **state)
{
    static const char *const plain[] = {"-cl-std=CL1.2", "-cl-std=CL2.0",
                                        "-cl-uniform-work-group-size"};
    static const char cut[] = "call i64 @llvm.umin.i64(i64";

    (void)state;
    source_option(&test, "-cl-std=CL2.0");
    assert_becomes(&test, "global ulong *a", "a[0] = get_local_size(1);", cut);
    assert_contains(test.ir, "call i64 @kiln_group_id(i32 1)");
    assert_contains(test.ir, "call i64 @kiln_global_size(i32 1)");
    assert_becomes(&test, "global ulong *a", "a[0] = get_local_linear_id();",
                   cut);
    assert_becomes(&test, "global ulong *a",
                   "a[0] = get_enqueued_local_size(1);",
                   "call i64 @kiln_local_size(i32 1)");
    assert_null(strstr(test.ir, cut));
    for (size_t first = 0; first < 2; first++) {
        test.request.option_count = 0;
        for (size_t i = first; i < 1 + 2 * first; i++)
            source_option(&test, plain[i]);
        assert_becomes(&test, "global ulong *a", "a[0] = get_local_size(1);",
                       "call i64 @kiln_local_size(i32 1)");
        assert_null(strstr(test.ir, cut));
    }
}

static void ids_may_be_merged(void **state)
{
    (void)state;
    assert_contains(
        source_k(&test,
                 "kernel void k(global ulong *a) { a[get_global_id(0)] = 0; }"),
        "declare i64 @kiln_global_id(i32) #");
    assert_contains(test.ir, "nounwind willreturn memory(none)");
}

static void barriers_and_fences_are_kilns(void **state)
{
    (void)state;
    assert_becomes(&test, "int f", "barrier(CLK_LOCAL_MEM_FENCE);",
                   "call void @kiln_barrier(i32 2, i32 1)");
    assert_becomes(&test, "int f",
                   "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
                   "call void @kiln_barrier(i32 2, i32 3)");
    assert_contains(test.ir, "convergent nounwind");
    assert_becomes(&test, "int f", "mem_fence(CLK_GLOBAL_MEM_FENCE);",
                   "call void @kiln_fence(i32 2, i32 2, i32 4)");
    assert_becomes(&test, "int f", "read_mem_fence(CLK_LOCAL_MEM_FENCE);",
                   "call void @kiln_fence(i32 2, i32 1, i32 2)");
    source_option(&test, "-cl-std=CL3.0");
    assert_becomes(&test, "int f", "work_group_barrier(CLK_LOCAL_MEM_FENCE);",
                   "call void @kiln_barrier(i32 2, i32 1)");
    assert_becomes(&test, "int f", "sub_group_barrier(CLK_LOCAL_MEM_FENCE);",
                   "call void @kiln_barrier(i32 1, i32 1)");
    assert_becomes(&test, "int f",
                   "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, "
                   "memory_order_release, memory_scope_device);",
                   "call void @kiln_fence(i32 3, i32 2, i32 3)");
    assert_becomes(&test, "int order",
                   "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, "
                   "(memory_order)order, memory_scope_all_svm_devices);",
                   "call void @kiln_fence(i32 4, i32 2, i32 5)");
}

static void collective_functions_are_kilns(void **state)
{
    (void)state;
    source_option(&test, "-cl-std=CL3.0");
    assert_becomes(&test, "global float *a",
                   "a[0] = work_group_reduce_add(a[1]);",
                   "call float @kiln_reduce.add.f32(i32 2, float");
    assert_becomes(&test, "global uint *a",
                   "a[0] = sub_group_scan_exclusive_max(a[1]);",
                   "call i32 @kiln_exscan.umax.i32(i32 1, i32");
    assert_becomes(&test, "global int *a",
                   "a[0] = sub_group_scan_inclusive_min(a[1]);",
                   "call i32 @kiln_scan.min.i32(i32 1, i32");
    assert_becomes(&test, "global int *a", "a[0] = work_group_any(a[1]);",
                   "call i1 @kiln_any(i32 2, i1");
    assert_becomes(&test, "global long *a",
                   "a[0] = work_group_broadcast(a[1], 1, 2);",
                   "call i64 @kiln_broadcast.i64(i32 2, i64");
    assert_contains(test.ir, "call i64 @kiln_local_size(i32 0)");
    assert_becomes(&test, "global double *a",
                   "a[0] = sub_group_broadcast(a[1], 3);",
                   "call double @kiln_broadcast.f64(i32 1, double");
    assert_becomes(&test, "global int *a",
                   "a[0] = sub_group_shuffle_xor(a[1], 3);",
                   "call i32 @kiln_shuffle_xor.i32(i32");
    assert_becomes(&test, "global uint4 *a", "a[0] = sub_group_ballot(1);",
                   "call i64 @kiln_ballot(i1");
}

static void atomic_functions_of_1_2_are_relaxed(void **state)
{
    (void)state;
#define ATOMIC(type, text, made) assert_becomes(&test, type " *a", text, made)
    ATOMIC("volatile global int", "atomic_add(a, 2);",
           "atomicrmw add ptr addrspace(1)");
    assert_contains(test.ir, "i32 2 syncscope(\"agent\") monotonic, align 4");
    ATOMIC("volatile local int", "atomic_add(a, 2);",
           "i32 2 syncscope(\"workgroup\") monotonic, align 4");
    ATOMIC("global int", "atomic_max(a, 2);", "atomicrmw max");
    ATOMIC("global uint", "atomic_max(a, 2u);", "atomicrmw umax");
    ATOMIC("global uint", "atomic_min(a, 2u);", "atomicrmw umin");
    ATOMIC("local int", "atomic_inc(a);", "atomicrmw add");
    ATOMIC("local int", "atomic_dec(a);", "atomicrmw sub");
    ATOMIC("global float", "atomic_xchg(a, 2.0f);", "atomicrmw xchg");
    ATOMIC("global int", "a[1] = atomic_cmpxchg(a, 1, 2);",
           "cmpxchg ptr addrspace(1)");
    ATOMIC("global int", "atomic_and(a, 1); atomic_or(a, 2);", "atomicrmw or");
    ATOMIC("global int", "atomic_xor(a, 1); atomic_sub(a, 2);",
           "atomicrmw sub");
    ATOMIC("global long", "atom_add(a, 1);", "atomicrmw add");
    assert_contains(test.ir, "i64 1 syncscope(\"agent\") monotonic, align 8");
}

static void atomic_functions_of_2_0_have_order_and_scope(void **state)
{
    (void)state;
    source_option(&test, "-cl-std=CL3.0");
    ATOMIC("volatile global atomic_int", "atomic_fetch_add(a, 2);",
           "syncscope(\"agent\") seq_cst");
    ATOMIC("volatile global atomic_uint",
           "atomic_fetch_max_explicit(a, 2u, memory_order_relaxed, "
           "memory_scope_work_group);",
           "i32 2 syncscope(\"workgroup\") monotonic");
    assert_contains(test.ir, "atomicrmw umax");
    ATOMIC("volatile local atomic_int",
           "atomic_store_explicit(a, 2, memory_order_release, "
           "memory_scope_all_svm_devices);",
           "store atomic i32 2, ptr");
    assert_contains(test.ir, " release, align 4");
    ATOMIC("volatile global atomic_int",
           "int n = 1; atomic_compare_exchange_weak_explicit(a, &n, 2, "
           "memory_order_acq_rel, memory_order_release, "
           "memory_scope_sub_group);",
           "cmpxchg weak ptr");
    assert_contains(test.ir, "syncscope(\"subgroup\") acq_rel monotonic");
    ATOMIC("volatile global atomic_flag",
           "if (atomic_flag_test_and_set(a)) atomic_flag_clear(a);",
           "atomicrmw xchg");
    ATOMIC("volatile global atomic_int",
           "int order = 0; if (get_global_id(0)) order = 2; "
           "atomic_load_explicit(a, (memory_order)order, "
           "memory_scope_device);",
           "load atomic i32, ptr");
    assert_contains(test.ir, "syncscope(\"agent\") seq_cst, align 4");
    ATOMIC("volatile global atomic_int", "atomic_init(a, 5);", "store i32 5");
}

static void copies_of_the_group_are_loops(void **state)
{
    (void)state;
    assert_becomes(&test, "global float4 *a, local float4 *b",
                   "event_t e = async_work_group_copy(b, a, 16, 0);"
                   "wait_group_events(1, &e);",
                   "store <4 x float>");
    assert_contains(test.ir, "call void @kiln_barrier(i32 2, i32 3)");
    assert_contains(test.ir, "call i64 @kiln_local_size(i32 2)");
    assert_null(strstr(test.ir, "async_work_group"));
    assert_becomes(&test, "global char *a, local char *b",
                   "event_t e = async_work_group_strided_copy(a, b, 16, 3, 0);"
                   "wait_group_events(1, &e);",
                   "store i8");
}

static void mathematics_is_llvms_where_it_has_an_intrinsic(void **state)
{
    (void)state;
#define MATHS(text, made) \
    assert_becomes(&test, "global float4 *a, global int4 *b, float x, int n", \
                   text, made)
    MATHS("a[0] = fabs(a[0]);", "@llvm.fabs.v4f32(");
    MATHS("a[0] = fma(a[0], a[1], a[2]);", "@llvm.fma.v4f32(");
    MATHS("a[0] = mad(a[0], a[1], a[2]);", "@llvm.fmuladd.v4f32(");
    MATHS("a[0] = sqrt(a[0]) + rint(a[1]);", "@llvm.rint.v4f32(");
    MATHS("a[0] = fmin(a[0], x);", "@llvm.minnum.v4f32(");
    MATHS("a[0] = min(a[0], a[1]);", "fcmp olt <4 x float>");
    MATHS("b[0] = min(b[0], n);", "@llvm.smin.v4i32(");
    MATHS("b[0] = convert_int4(max(as_uint4(b[0]), 1u));", "@llvm.umax.v4i32(");
    MATHS("b[0] = clamp(b[0], 1, 2);", "@llvm.smax.v4i32(");
    MATHS("b[0] = clz(b[0]);", "@llvm.ctlz.v4i32(");
    MATHS("b[0] = popcount(b[0]);", "@llvm.ctpop.v4i32(");
    MATHS("b[0] = rotate(b[0], 3);", "@llvm.fshl.v4i32(");
    MATHS("b[0] = add_sat(b[0], b[1]);", "@llvm.sadd.sat.v4i32(");
    MATHS("b[0] = mul24(b[0], b[1]);", "mul <4 x i32>");
    MATHS("b[0] = mul_hi(b[0], b[1]);", "mul <4 x i64>");
    MATHS("b[0] = isnan(a[0]);", "fcmp uno <4 x float>");
    MATHS("b[0].x = isfinite(x);", "fcmp one float");
    MATHS("a[0] = native_recip(a[0]);", "fdiv arcp afn <4 x float>");
    MATHS("a[0] = as_float4(b[0]);", "bitcast <4 x i32>");
}

static void other_functions_stay_calls(void **state)
{
    (void)state;
    MATHS("a[0] = sin(a[0]);", "call <4 x float> @_Z3sinDv4_f(");
    MATHS("b[0] = convert_int4_sat_rte(a[0]);",
          "call <4 x i32> @_Z20convert_int4_sat_rteDv4_f(");
    MATHS("a[0] = vload4(1, (global float *)a);",
          "call <4 x float> @_Z6vload4mPU3AS1Kf(i64");
    assert_becomes(&test, "constant float *c, global float4 *a",
                   "a[0] = vload4(1, c);", "@_Z6vload4mPU3AS1Kf(i64");
    assert_becomes(&test, "local float *c, global float4 *a",
                   "vstore4(a[0], 1, c);", "@_Z7vstore4Dv4_fmPU3AS3f(");
    assert_becomes(&test, "global float *a",
                   "int e; a[0] = frexp(a[1], &e); a[2] = e;",
                   "@_Z5frexpfPi(float");
    source_option(&test, "-cl-std=CL3.0");
    assert_becomes(&test, "global float *a, global int *e",
                   "a[0] = frexp(a[1], e);", "@_Z5frexpfPi(float");
}

/* A program may declare a function under a built-in one's name. */
static void functions_that_only_have_the_name_are_left(void **state)
{
    (void)state;
    source_option(&test, "-cl-std=CL3.0");
    assert_contains(
        source_k(&test,
                 "#define OWN __attribute__((overloadable))\n"
                 "typedef float wide __attribute__((ext_vector_type(32)));\n"
                 "OWN int sub_group_any(void);\n"
                 "OWN int atomic_add(void);\n"
                 "OWN int isnan(void);\n"
                 "OWN wide native_recip(wide);\n"
                 "kernel void k(global int *a, global wide *b) {\n"
                 "  a[0] = sub_group_any() + atomic_add() + isnan();\n"
                 "  b[0] = native_recip(b[0]);\n"
                 "}\n"),
        "@_Z13sub_group_anyv()");
    assert_contains(test.ir, "@_Z10atomic_addv()");
    assert_contains(test.ir, "@_Z5isnanv()");
    assert_contains(test.ir, "@_Z12native_recipDv32_f(");
}

static void printf_is_kiln_print(void **state)
{
    (void)state;
    assert_becomes(&test, "char n", "printf(\"%d%%\\n\", n);",
                   "call i32 (ptr, ...) @kiln_print(ptr @v0, i32 ");
    assert_contains(test.ir, "c\"%d%%\\0A\\00\"");
    assert_becomes(&test, "float4 v, short2 s",
                   "printf(\"<%5.2v4hlf|%#v2hx>\", v, s);",
                   "c\"<%5.2f,%5.2f,%5.2f,%5.2f|%#hx,%#hx>\\00\"");
    assert_contains(test.ir, "double %");
    assert_becomes(&test, "int n", "printf(\"%*d %s\", n, n, \"text\");",
                   "c\"text\\00\"");
    assert_null(strstr(test.ir, "addrspace"));
    test.request.has_f64 = 0;
    assert_becomes(&test, "float x", "printf(\"%f\", x);", "float %");
}

static void long_vectors_are_printed_whole(void **state)
{
    char format[60 * 3 + 1];

    (void)state;
    assert_contains(
        source_k(
            &test,
            "typedef float wide __attribute__((ext_vector_type(60)));\n"
            "kernel void k(global wide *a) { printf(\"%v60f\", a[0]); }\n"),
        "@kiln_print(");
    for (size_t i = 0; i < 60; i++)
        memcpy(format + 3 * i, "%f,", 3);
    memcpy(format + sizeof format - 2, "\\", 2);
    assert_contains(test.ir, format);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SOURCE_TEST(ids_and_sizes_are_kilns),
        SOURCE_TEST(sizes_are_those_of_the_running_group),
        SOURCE_TEST(ids_may_be_merged),
        SOURCE_TEST(barriers_and_fences_are_kilns),
        SOURCE_TEST(collective_functions_are_kilns),
        SOURCE_TEST(atomic_functions_of_1_2_are_relaxed),
        SOURCE_TEST(atomic_functions_of_2_0_have_order_and_scope),
        SOURCE_TEST(copies_of_the_group_are_loops),
        SOURCE_TEST(mathematics_is_llvms_where_it_has_an_intrinsic),
        SOURCE_TEST(other_functions_stay_calls),
        SOURCE_TEST(functions_that_only_have_the_name_are_left),
        SOURCE_TEST(printf_is_kiln_print),
        SOURCE_TEST(long_vectors_are_printed_whole),
    };

    if (!source_is_there())
        return program_skip(SKIP_PACKAGE, SOURCE_NEEDS_CLANG);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
