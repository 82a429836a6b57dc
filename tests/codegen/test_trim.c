/* test_trim.c - guards of items become bounds of loops. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

/* Optimises the module for a processor with vectors that have masks. */
static char *optimised(const char *module, const char *const *types,
                       size_t count)
{
    outcome o;

    prepare(&o, module, KILN_EMIT_LLVM_OPT, types, count);
    o.settings.processor = "x86-64-v3";
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s", o.message, module);
    return o.bytes;
}

/* Asserts that the code has vectors, and that none has a mask. */
static void assert_no_masks(const char *module, const char *const *types,
                            size_t count)
{
    char *text = optimised(module, types, count);

    assert_non_null(strstr(text, "store <"));
    if (strstr(text, "masked") != NULL)
        fail_msg("%s", text);
    free(text);
}

static const char *const array_and_ends[] = {"f32[:]", "i32", "i32"};

#define HEAD \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %ny, i32 %n, i32 %m) {\n" \
    "  %g0 = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %g1 = call i64 @kiln_global_id(ptr %item, i32 1)\n" \
    "  %l0 = call i64 @kiln_local_id(ptr %item, i32 0)\n" \
    "  %i = trunc i64 %g0 to i32\n" \
    "  %j = trunc i64 %g1 to i32\n"
#define BODY \
    "do:\n" \
    "  %p = getelementptr float, ptr %y, i64 %g0\n" \
    "  %v = load float, ptr %p\n" \
    "  %s = fadd float %v, 1.0\n" \
    "  store float %s, ptr %p\n" \
    "  br label %end\n" \
    "end:\n  ret i32 0\n}\n"

static void a_guard_is_a_bound(void **state)
{
    (void)state;
    assert_no_masks(HEAD "  %in = icmp slt i32 %i, %n\n"
                         "  br i1 %in, label %do, label %end\n" BODY,
                    array_and_ends, 3);
}

static void an_early_return_is_a_bound(void **state)
{
    (void)state;
    assert_no_masks(HEAD "  %out = icmp sge i32 %i, %n\n"
                         "  br i1 %out, label %end, label %do\n" BODY,
                    array_and_ends, 3);
}

static void both_ends_and_rows_are_bounds(void **state)
{
    (void)state;
    assert_no_masks(HEAD "  %a = icmp sgt i32 %i, 0\n"
                         "  %last = sub nsw i32 %n, 1\n"
                         "  %b = icmp slt i32 %i, %last\n"
                         "  %c = icmp slt i32 %j, %m\n"
                         "  %ab = select i1 %a, i1 %b, i1 false\n"
                         "  %in = select i1 %c, i1 %ab, i1 false\n"
                         "  br i1 %in, label %do, label %end\n" BODY,
                    array_and_ends, 3);
}

static void a_guard_behind_a_barrier_is_a_bound(void **state)
{
    (void)state;
    assert_no_masks(HEAD GROUPS_BARRIER
                    "  %o = add i32 %i, 7\n"
                    "  %in = icmp ult i32 %o, %n\n"
                    "  br i1 %in, label %do, label %end\n" BODY,
                    array_and_ends, 3);
}

/* What only some items know stays a question. */
static void a_question_about_data_stays(void **state)
{
    char *text;

    (void)state;
    text = optimised(HEAD "  %q = getelementptr float, ptr %y, i64 %g0\n"
                          "  %old = load float, ptr %q\n"
                          "  %in = fcmp olt float %old, 5.0\n"
                          "  br i1 %in, label %do, label %end\n" BODY,
                     array_and_ends, 3);
    assert_non_null(strstr(text, "masked.store"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guard_is_a_bound),
        cmocka_unit_test(an_early_return_is_a_bound),
        cmocka_unit_test(both_ends_and_rows_are_bounds),
        cmocka_unit_test(a_guard_behind_a_barrier_is_a_bound),
        cmocka_unit_test(a_question_about_data_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
