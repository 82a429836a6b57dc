/* test_open_loops.c - loops are deleted and unrolled, if it may be known how
   often they run. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "codegen/module/llvm_gap.h"
#include "support/harness.h"

/* for (i = START; i < END; i++) BODY, with END computed before. */
#define LOOP(before, start, end, body) \
    "declare i64 @llvm.umin.i64(i64, i64)\n" \
    "define void @f(ptr %p, i64 %n, i64 %m) {\n" \
    "entry:\n" before "  br label %loop\n" \
    "loop:\n" \
    "  %i = phi i64 [ " start ", %entry ], [ %next, %loop ]\n" body \
    "  %next = add nuw nsw i64 %i, 1\n" \
    "  %more = icmp ult i64 %next, " end "\n" \
    "  br i1 %more, label %loop, label %end\n" \
    "end:\n" \
    "  ret void\n}\n"
#define STORES \
    "  %q = getelementptr i64, ptr %p, i64 %i\n" \
    "  store i64 %i, ptr %q\n"

#define PASSES "function(loop(" KILN__DELETE_LOOPS "," KILN__UNROLL_LOOPS "))"

/* Returns how often the text of the module behind the passes has the word. */
static int count(const char *module, const char *word)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        module, strlen(module), "loop");
    LLVMModuleRef parsed = NULL;
    char *text = NULL;
    int found = 0;

    if (LLVMParseIRInContext(context, buffer, &parsed, &text) != 0)
        fail_msg("%s", text);
    text = kiln__llvm_run_passes(parsed, PASSES, NULL, 1);
    if (text != NULL)
        fail_msg("%s", text);
    text = LLVMPrintModuleToString(parsed);
    for (const char *at = strstr(text, word); at != NULL;
         at = strstr(at + 1, word))
        found++;
    LLVMDisposeMessage(text);
    LLVMDisposeModule(parsed);
    LLVMContextDispose(context);
    return found;
}

static void few_iterations_are_unrolled(void **state)
{
    (void)state;
    assert_int_equal(count(LOOP("", "0", "3", STORES), "store i64"), 3);
    assert_int_equal(count(LOOP("", "0", "3", STORES), "icmp"), 0);
    /* The end depends on an argument, but so does the start. */
    assert_int_equal(
        count(LOOP("  %e = add nuw nsw i64 %n, 3\n", "%n", "%e", STORES),
              "store i64"),
        3);
    assert_int_equal(
        count(LOOP("  %s = sub nuw nsw i64 %n, 2\n", "%s", "%n", STORES),
              "store i64"),
        2);
}

static void a_loop_that_runs_once_is_none(void **state)
{
    (void)state;
    assert_int_equal(
        count(LOOP("  %e = call i64 @llvm.umin.i64(i64 %n, i64 1)\n", "0", "%e",
                   STORES),
              "br i1"),
        0);
}

static void a_loop_without_effects_is_deleted(void **state)
{
    (void)state;
    assert_int_equal(count(LOOP("", "0", "%n", ""), "phi"), 0);
}

/* As those over groups and items. */
static void loops_of_a_launch_stay(void **state)
{
    static const char *const ends[] = {
        LOOP("", "0", "%n", STORES),
        LOOP("", "%n", "%m", STORES),
        LOOP("  %s = mul nuw nsw i64 %n, 8\n"
             "  %w = load i64, ptr %p\n"
             "  %a = add nuw nsw i64 %s, %w\n"
             "  %e = call i64 @llvm.umin.i64(i64 %a, i64 %m)\n",
             "%s", "%e", STORES),
    };

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        assert_int_equal(count(ends[i], "phi"), 1);
        assert_int_equal(count(ends[i], "store i64"), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_iterations_are_unrolled),
        cmocka_unit_test(a_loop_that_runs_once_is_none),
        cmocka_unit_test(a_loop_without_effects_is_deleted),
        cmocka_unit_test(loops_of_a_launch_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
