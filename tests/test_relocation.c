/* test_relocation.c - addresses that hide in the modules of others. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include <llvm-c/IRReader.h>

#include "support/request.h"

#define ADDRESS "139637976793088" /* 0x7f0000001000 */

#define KERNEL(body) \
    "define i32 @k(" ITEM ", ptr %y, i64 %n) {\n" body "  ret i32 0\n}\n"

static int32_t class_at(const char *module, uint8_t level)
{
    int32_t relocation;
    outcome o;

    prepare(&o, module, KILN_EMIT_BINARY, one_array, 1);
    o.settings.opt_level = level;
    assert_built(&o);
    relocation = o.relocation;
    free(o.bytes);
    return relocation;
}

/* Whatever the optimiser sees through, and whatever it does not. */
static void assert_session(const char *module)
{
    for (uint8_t level = 0; level <= 3; level++)
        if (class_at(module, level) != KILN_RELOCATION_SESSION)
            fail_msg("level %d: not of the session:\n%s", level, module);
}

static void assert_portable(const char *module)
{
    for (uint8_t level = 1; level <= 3; level++)
        if (class_at(module, level) != KILN_RELOCATION_PORTABLE)
            fail_msg("level %d: not portable:\n%s", level, module);
}

static void a_baked_address_is_found(void **state)
{
    (void)state;
    assert_session(
        KERNEL("  store i32 1, ptr inttoptr (i64 " ADDRESS " to ptr)\n"));
    assert_session(
        KERNEL("  store ptr inttoptr (i64 " ADDRESS " to ptr), ptr %y\n"));
    assert_session("@p = constant ptr inttoptr (i64 " ADDRESS
                   " to ptr)\n" KERNEL(
                       "  %p = load ptr, ptr @p\n  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  %p = getelementptr i8, ptr null, i64 " ADDRESS "\n"
                          "  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  %b = inttoptr i64 16 to ptr\n"
                          "  %p = getelementptr i8, ptr %b, i64 " ADDRESS "\n"
                          "  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  %f = inttoptr i64 " ADDRESS " to ptr\n"
                          "  call void %f()\n"));
}

static void an_address_in_a_constant_expression_is_found(void **state)
{
    (void)state;
    assert_session("@z = internal constant i32 0\n" KERNEL(
        "  store i32 1, ptr inttoptr (i64 xor (i64 ptrtoint (ptr @z to i64),"
        " i64 " ADDRESS ") to ptr)\n"));
    assert_session(
        "@z = internal constant i32 0\n"
        "@p = constant ptr inttoptr (i64 add (i64 ptrtoint (ptr @z to i64),"
        " i64 " ADDRESS ") to ptr)\n" KERNEL(
            "  %p = load ptr, ptr @p\n  store i32 1, ptr %p\n"));
    assert_session(KERNEL("  store i32 1, ptr inttoptr (i64 add (i64 " ADDRESS
                          ", i64 64) to ptr)\n"));
}

static void an_address_in_a_table_is_found(void **state)
{
    (void)state;
    assert_session("@n = constant i64 " ADDRESS "\n" KERNEL(
        "  %p = load ptr, ptr @n\n  store i32 1, ptr %p\n"));
    assert_session(
        "@b = constant [8 x i8] c\"\\00\\10\\00\\00\\00\\7f\\00\\00\""
        "\n" KERNEL("  %p = load ptr, ptr @b\n"
                    "  store i32 1, ptr %p\n"));
    assert_session(
        "@t = internal constant [2 x i64] [i64 " ADDRESS ", i64 " ADDRESS
        "]\n" KERNEL("  %e = getelementptr i64, ptr @t, i64 %n\n"
                     "  %p = load ptr, ptr %e\n  store i32 1, ptr %p\n"));
}

static void an_address_in_memory_of_its_own_is_found(void **state)
{
    (void)state;
    assert_session(KERNEL("  %m = alloca [4 x i64]\n"
                          "  %e = getelementptr i64, ptr %m, i64 %n\n"
                          "  store i64 " ADDRESS ", ptr %e\n"
                          "  %p = load ptr, ptr %m\n"
                          "  store i32 1, ptr %p\n"));
    assert_session(
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
        "@s = constant { i64, i64 } { i64 1, i64 " ADDRESS " }\n" KERNEL(
            "  %m = alloca [4 x i64]\n"
            "  call void @llvm.memcpy.p0.p0.i64(ptr %m, ptr @s, i64 16, i1 0)\n"
            "  %e = getelementptr i64, ptr %m, i64 %n\n"
            "  %p = load ptr, ptr %e\n"
            "  store i32 1, ptr %p\n"));
    /* A pointer in the bits of a double that is no number. */
    assert_session(KERNEL("  %m = alloca [4 x double]\n"
                          "  %e = getelementptr double, ptr %m, i64 %n\n"
                          "  store double 0x7FFC7F0000001000, ptr %e\n"
                          "  %v = load i64, ptr %m\n"
                          "  %s = shl i64 %v, 16\n"
                          "  %a = lshr i64 %s, 16\n"
                          "  %p = inttoptr i64 %a to ptr\n"
                          "  store i32 1, ptr %p\n"));
}

static void an_address_that_functions_pass_on_is_found(void **state)
{
    (void)state;
    assert_session("define internal i64 @f() noinline optnone {\n"
                   "  ret i64 " ADDRESS
                   "\n}\n" KERNEL("  %a = call i64 @f()\n"
                                  "  %p = inttoptr i64 %a to ptr\n"
                                  "  store i32 1, ptr %p\n"));
    assert_session("define internal void @f(i64 %a) noinline optnone {\n"
                   "  %p = inttoptr i64 %a to ptr\n"
                   "  store i32 1, ptr %p\n  ret void\n}\n" KERNEL(
                       "  call void @f(i64 " ADDRESS ")\n"));
    assert_session("define internal void @f(ptr %m) noinline optnone {\n"
                   "  %p = load ptr, ptr %m\n"
                   "  store i32 1, ptr %p\n  ret void\n}\n" KERNEL(
                       "  %m = alloca i64\n"
                       "  store i64 " ADDRESS ", ptr %m\n"
                       "  call void @f(ptr %m)\n"));
}

/* Numbers that are no addresses, and pointers that come from outside. */
static void numbers_and_given_pointers_are_portable(void **state)
{
    (void)state;
    assert_portable(KERNEL("  store i64 1000000007, ptr %y\n"));
    assert_portable(KERNEL("  store i64 1000000007, ptr %y\n"
                           "  %e = getelementptr ptr, ptr %y, i64 1\n"
                           "  %p = load ptr, ptr %e\n"
                           "  store double 0x3FF8000000000000, ptr %p\n"));
    assert_portable("@t = internal constant [2 x i64] [i64 6364136223846793005,"
                    " i64 1442695040888963407]\n" KERNEL(
                        "  %e = getelementptr i64, ptr @t, i64 %n\n"
                        "  %v = load i64, ptr %e\n"
                        "  store i64 %v, ptr %y\n"));
    assert_portable(
        "define internal void @f(ptr %q) noinline {\n"
        "  store i32 1, ptr %q\n  ret void\n}\n"
        "define internal void @g(ptr %q) noinline {\n"
        "  store i32 2, ptr %q\n  ret void\n}\n"
        "@t = internal constant [2 x ptr] [ptr @f, ptr @g]\n" KERNEL(
            "  %e = getelementptr ptr, ptr @t, i64 %n\n"
            "  %f = load ptr, ptr %e\n"
            "  call void %f(ptr %y)\n"));
}

/* The item's launch is read from memory that the backend filled. */
static void failures_off_the_way_are_portable(void **state)
{
    (void)state;
    assert_portable(
        "declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64, i64)\n"
        "@m = internal constant [2 x i8] c\"m\\00\"\n"
        "define internal void @fail(ptr %item, i64 %v) noinline {\n"
        "  call void @kiln_raise(ptr %item, i32 1, ptr @m, i32 1, ptr @m,"
        " i64 %v, i64 1000000007)\n"
        "  ret void\n}\n"
        "define i32 @k(" ITEM ", ptr %y, i64 %n) {\n"
        "  store i64 1000000007, ptr %y\n"
        "  %c = icmp eq i64 %n, 0\n"
        "  br i1 %c, label %bad, label %good\n"
        "bad:\n"
        "  call void @fail(ptr %item, i64 1000000009)\n"
        "  ret i32 1\n"
        "good:\n  ret i32 0\n}\n");
}

/* ---- what no job gets as far as ---- */

static int32_t class_of_module(const char *text)
{
    kiln__codegen_job job = {0};
    outcome o;
    char *message = NULL;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "");
    int32_t relocation;

    prepare(&o, text, KILN_EMIT_BINARY, NULL, 0);
    job.request = &o.request;
    job.settings = &o.settings;
    job.context = LLVMContextCreate();
    if (LLVMParseIRInContext2(job.context, buffer, &job.module, &message))
        fail_msg("%s", message);
    LLVMDisposeMemoryBuffer(buffer);
    relocation = kiln__relocation_class(&job);
    LLVMDisposeModule(job.module);
    LLVMContextDispose(job.context);
    return relocation;
}

static void thread_local_and_absolute_variables_are_of_the_session(void **state)
{
    (void)state;
    assert_int_equal(class_of_module("@t = thread_local global i32 0\n"),
                     KILN_RELOCATION_SESSION);
    assert_int_equal(class_of_module("@e = external global i32\n"),
                     KILN_RELOCATION_SESSION);
    assert_int_equal(
        class_of_module("@a = alias i32, inttoptr (i64 " ADDRESS " to ptr)\n"),
        KILN_RELOCATION_SESSION);
    assert_int_equal(class_of_module("@z = internal global i32 7\n"),
                     KILN_RELOCATION_PORTABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_baked_address_is_found),
        cmocka_unit_test(an_address_in_a_constant_expression_is_found),
        cmocka_unit_test(an_address_in_a_table_is_found),
        cmocka_unit_test(an_address_in_memory_of_its_own_is_found),
        cmocka_unit_test(an_address_that_functions_pass_on_is_found),
        cmocka_unit_test(numbers_and_given_pointers_are_portable),
        cmocka_unit_test(failures_off_the_way_are_portable),
        cmocka_unit_test(
            thread_local_and_absolute_variables_are_of_the_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
