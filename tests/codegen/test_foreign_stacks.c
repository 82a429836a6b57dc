/* test_foreign_stacks.c - what frames of foreign modules may take. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/foreign.h"

#define STORE(type, value) "  store " type " " value ", @A %y\n"

static uint32_t stack_of(int target, const char *globals, const char *body)
{
    outcome o;

    foreign_build(&o, foreign_target_of(target), globals, body, 2);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s%s", o.message, globals, body);
    free(o.bytes);
    return o.stack_bytes;
}

static void the_stack_that_a_function_needs_is_told(void **state)
{
    static const char array[] =
        "  %b = alloca [4096 x i32]@S\n"
        "  %e = getelementptr i32, @I %b, i64 %n\n"
        "  store volatile i32 1, @I %e\n"
        "  %v = load volatile i32, @I %b\n" STORE("i32", "%v");

    (void)state;
    assert_in_range(stack_of(HOST, "", STORE("i32", "1")), 0, 4096);
    assert_in_range(stack_of(HOST, "", array), 16384, 32768);
    assert_int_equal(stack_of(CUDA, "", array), 0);
    assert_int_equal(stack_of(ROCM, "", array), 0);
    assert_int_equal(stack_of(SPIRV, "", array), 0);
    assert_in_range(stack_of(HOST, "",
                             "  %b = alloca i32, align 262144\n"
                             "  store volatile i32 1, ptr %b\n"),
                    262144, 1 << 20);
}

static void what_nobody_can_measure_gets_a_large_stack(void **state)
{
    static const char recursion[] =
        "define internal i32 @down(i32 %n) noinline {\n"
        "  %b = alloca i32\n"
        "  %end = icmp slt i32 %n, 1\n"
        "  br i1 %end, label %leaf, label %more\n"
        "leaf:\n"
        "  ret i32 0\n"
        "more:\n"
        "  store volatile i32 %n, ptr %b\n"
        "  %m = sub i32 %n, 1\n"
        "  %d = call i32 @down(i32 %m)\n"
        "  %v = load volatile i32, ptr %b\n"
        "  %r = xor i32 %d, %v\n"
        "  ret i32 %r\n"
        "}\n";
    static const char entry[] = "  %v = load i32, ptr %y\n"
                                "  %d = call i32 @down(i32 %v)\n"
                                "  store i32 %d, ptr %y\n";

    (void)state;
    assert_in_range(stack_of(HOST, recursion, entry), (1 << 20) + 1, 1 << 21);
}

/* 2^61 times 8 bytes are none in 64 bits. */
static void sizes_of_frames_do_not_wrap(void **state)
{
    static const char used[] = "  store volatile i32 1, @I %b\n"
                               "  store volatile @I %b, @A %y\n";
    static const char *const variables[] = {
        "  %b = alloca [2305843009213693952 x i64]@S\n",
        "  %b = alloca {i64, [2305843009213693952 x i64]}@S\n",
        "  %b = alloca [1073741824 x [2147483648 x i64]]@S\n",
        "  %b = alloca i64, i64 2305843009213693952@S\n",
    };
    char body[512];

    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        snprintf(body, sizeof body, "%s%s", variables[i], used);
        foreign_refused_on(
            ALL, "", body,
            "stack frame size exceeds limit (524288) in function 'k'");
    }
}

static void numbers_of_variables_have_64_bits(void **state)
{
    (void)state;
    foreign_refused_on(ALL, "",
                       "  %b = alloca i64, i128 18446744073709551616@S\n"
                       "  store volatile i32 1, @I %b\n",
                       "it has an alloca of a number of more than 64 bits");
}

static void assert_grows(const char *body)
{
    outcome o;

    for (uint8_t level = 0; level < 3; level++) {
        foreign_build(&o, foreign_target_of(HOST), "", body, level);
        assert_int_equal(o.status, KILN_ECODEGEN);
        assert_contains(o.message,
                        "function 'k' of the module: it has an alloca whose "
                        "size is not constant, or which is not in the first "
                        "block");
    }
}

static void what_grows_as_it_runs_is_refused_on_the_host(void **state)
{
    (void)state;
    assert_grows("  %b = alloca i32, i64 %n\n"
                 "  store volatile i32 1, ptr %b\n");
    assert_grows("  br label %loop\n"
                 "loop:\n"
                 "  %i = phi i64 [0, %0], [%j, %loop]\n"
                 "  %b = alloca i32\n"
                 "  store volatile i32 1, ptr %b\n"
                 "  %j = add i64 %i, 1\n"
                 "  %c = icmp slt i64 %j, %n\n"
                 "  br i1 %c, label %loop, label %end\n"
                 "end:\n");
}

/* Neither the names that Kiln gives to what a module defines, nor the digest in
   the name of an entry. */
static void messages_have_the_names_that_the_author_knows(void **state)
{
#define LARGE \
    "  %b = alloca [1000000 x i64]@S\n  store volatile i32 1, @I %b\n" \
    "  store volatile @I %b, @A %y\n"
    static char text[FOREIGN_TEXT_MAX];
    outcome o;

    (void)state;
    foreign_build(&o, foreign_target_of(HOST),
                  "define internal void @f(@A %y) noinline {\n" LARGE
                  "  ret void\n}\n",
                  "  call void @f(@A %y)\n", 2);
    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, " in function 'f', by one");
    foreign_write(text, foreign_target_of(HOST),
                  "define i32 @k_0123abcd(@I %item, @A %y, i64 %n) {\n" LARGE
                  "  ret i32 0\n}\n");
    prepare(&o, text, KILN_EMIT_BINARY, one_array, 1);
    foreign_settings(&o, foreign_target_of(HOST));
    o.request.entry = "k_0123abcd";
    run(&o);
    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, " in function 'k', by one");
#undef LARGE
}

/* Where else a stack pointer would point, nobody knows. */
static void stacks_are_restored_to_what_was_saved(void **state)
{
#define STACK \
    "declare ptr @llvm.stacksave.p0()\n" \
    "declare void @llvm.stackrestore.p0(ptr)\n"
#define SAVE "  %s = call ptr @llvm.stacksave.p0()\n"
#define RESTORE(pointer) "  call void @llvm.stackrestore.p0(ptr " pointer ")\n"
    static const char *const good[] = {
        SAVE RESTORE("%s"),
        "  %a = alloca ptr\n" SAVE "  store ptr %s, ptr %a\n"
        "  %l = load ptr, ptr %a\n" RESTORE("%l"),
    };
    static const char *const bad[] = {
        RESTORE("null"),
        "  %a = alloca ptr\n" RESTORE("%a"),
        "  %a = alloca ptr\n  store ptr null, ptr %a\n" SAVE
        "  store ptr %s, ptr %a\n"
        "  %l = load ptr, ptr %a\n" RESTORE("%l"),
        SAVE "  %i = getelementptr i8, ptr %s, i64 %n\n" RESTORE("%i"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (uint8_t level = 0; level < 3; level++)
            assert_int_equal(foreign_run(STACK, good[i], level), 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        outcome o;

        foreign_build(&o, foreign_target_of(HOST), STACK, bad[i], 0);
        assert_int_equal(o.status, KILN_ECODEGEN);
        assert_contains(o.message, "calls 'llvm.stackrestore.p0': its pointer "
                                   "is no result of llvm.stacksave");
    }
#undef STACK
#undef SAVE
#undef RESTORE
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stack_that_a_function_needs_is_told),
        cmocka_unit_test(what_nobody_can_measure_gets_a_large_stack),
        cmocka_unit_test(sizes_of_frames_do_not_wrap),
        cmocka_unit_test(numbers_of_variables_have_64_bits),
        cmocka_unit_test(what_grows_as_it_runs_is_refused_on_the_host),
        cmocka_unit_test(messages_have_the_names_that_the_author_knows),
        cmocka_unit_test(stacks_are_restored_to_what_was_saved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
