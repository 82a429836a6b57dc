/* test_foreign_small.c - which modules Kiln's own passes are enough for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

/* LLVM's own passes find attributes of functions; Kiln's do not. */
static int has_llvm_passes(const char *module)
{
    const group_build build = {3, KILN__GROUP_FORM_BEST};
    outcome o;
    int found;

    group_prepare(&o, module, build, KILN_EMIT_LLVM_OPT);
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s", o.message, module);
    found = strstr(o.bytes, "norecurse") != NULL;
    free(o.bytes);
    return found;
}

#define BEGINNING \
    GROUPS_HEAD "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
                "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
                "  %p = getelementptr i32, ptr %y, i64 %i\n" \
                "  %v = load i32, ptr %p\n"
#define END "  store i32 %s, ptr %p\n  ret i32 0\n}\n"

static void items_alone_are_small(void **state)
{
    (void)state;
    assert_false(has_llvm_passes(BEGINNING "  %s = add i32 %v, 1\n" END));
}

static void barriers_between_items_are_small(void **state)
{
    (void)state;
    assert_false(
        has_llvm_passes(BEGINNING GROUPS_BARRIER "  %s = add i32 %v, 1\n" END));
}

#define LOOP \
    "  br label %turn\n" \
    "turn:\n" \
    "  %k = phi i32 [ 0, %0 ], [ %k.next, %turn ]\n" \
    "  %a = phi i32 [ 1, %0 ], [ %s, %turn ]\n" \
    "  %b = mul i32 %a, %v\n" \
    "  %s = xor i32 %b, %k\n" \
    "  %k.next = add i32 %k, 1\n" \
    "  %more = icmp slt i32 %k.next, %v\n" \
    "  br i1 %more, label %turn, label %end\n" \
    "end:\n"

static void loops_of_kernels_are_worth_all_passes(void **state)
{
    (void)state;
    assert_true(has_llvm_passes(BEGINNING LOOP END));
    assert_true(has_llvm_passes(BEGINNING GROUPS_BARRIER LOOP END));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_alone_are_small),
        cmocka_unit_test(barriers_between_items_are_small),
        cmocka_unit_test(loops_of_kernels_are_worth_all_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
