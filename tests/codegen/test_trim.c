/* test_trim.c - guards of items become bounds of loops. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

static char *optimised_for(const char *processor, const char *module,
                           const char *const *types, size_t count)
{
    outcome o;

    prepare(&o, module, KILN_EMIT_LLVM_OPT, types, count);
    o.settings.processor = processor;
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s", o.message, module);
    return o.bytes;
}

/* Optimises the module for a processor with vectors that have masks. */
static char *optimised(const char *module, const char *const *types,
                       size_t count)
{
    return optimised_for("x86-64-v3", module, types, count);
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

/* LLVM makes `i != 0` of `i > 0`. */
static void what_is_not_0_is_a_bound(void **state)
{
    (void)state;
    assert_no_masks(HEAD "  %a = icmp sgt i64 %g0, 0\n"
                         "  %b = icmp ne i32 %j, 0\n"
                         "  %in = and i1 %a, %b\n"
                         "  br i1 %in, label %do, label %end\n" BODY,
                    array_and_ends, 3);
}

/* The loop runs to the number that its guard has, so that LLVM sees that a loop
   which is entered has an item, and does not ask for the greater number. */
static void bounds_are_simple(void **state)
{
    static const char *const guards[] = {"ult", "slt", "ule", "sle", NULL};
    char module[4096];

    (void)state;
    for (size_t i = 0; guards[i] != NULL; i++) {
        char *text;

        snprintf(module, sizeof module,
                 "%s  %%in = icmp %s i64 %%g0, %%ny\n"
                 "  br i1 %%in, label %%do, label %%end\n%s",
                 HEAD, guards[i], BODY);
        text = optimised(module, array_and_ends, 3);
        assert_non_null(strstr(text, "store <"));
        if (strstr(text, "umax") != NULL)
            fail_msg("%s: %s", guards[i], text);
        free(text);
    }
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

/* Of an id that is an unsigned int, clang makes a mask of bits. */
static void a_question_for_one_item_is_a_bound(void **state)
{
    char *text;

    (void)state;
    text = optimised_for("x86-64-v4",
                         HEAD "  %bits = and i64 %g0, 4294967295\n"
                              "  %in = icmp eq i64 %bits, 5\n"
                              "  br i1 %in, label %do, label %end\n" BODY,
                         array_and_ends, 3);
    if (strstr(text, "masked") != NULL)
        fail_msg("%s", text);
    free(text);
}

/* Of an int that is known not to be negative, it is one of 31 bits. */
static void an_index_above_a_bound_has_vectors(void **state)
{
    char *text;

    (void)state;
    text = optimised_for("x86-64-v4",
                         HEAD
                         "  %above = icmp sgt i32 %i, 0\n"
                         "  %below = icmp slt i32 %i, %n\n"
                         "  %in = and i1 %above, %below\n"
                         "  br i1 %in, label %copy, label %end\n"
                         "copy:\n"
                         "  %at = sext i32 %i to i64\n"
                         "  %q = getelementptr inbounds i32, ptr %y, i64 %at\n"
                         "  %v = load i32, ptr %q\n"
                         "  %w = add i32 %v, 1\n"
                         "  store i32 %w, ptr %q\n"
                         "  br label %end\n"
                         "end:\n"
                         "  ret i32 0\n"
                         "}\n",
                         array_and_ends, 3);
    if (strstr(text, "masked") != NULL || strstr(text, "load <") == NULL)
        fail_msg("%s", text);
    free(text);
}

/* Sums of columns: each item has one. Neighbours read neighbouring elements, so
   a group runs the loop together, and adds rows. */
#define COLUMNS(question) \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %ny, i32 %n, i32 %m) {\n" \
    "  %g = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %i = trunc i64 %g to i32\n" question \
    "  br i1 %in, label %head, label %end\n" COLUMN
#define COLUMN \
    "head:\n" \
    "  %j = phi i32 [ 0, %0 ], [ %j.next, %turn ]\n" \
    "  %s = phi float [ 0.0, %0 ], [ %s.next, %turn ]\n" \
    "  %more = icmp slt i32 %j, %m\n" \
    "  br i1 %more, label %turn, label %do\n" \
    "turn:\n" \
    "  %row = mul nsw i32 %j, %n\n" \
    "  %at = add nsw i32 %row, %i\n" \
    "  %at64 = sext i32 %at to i64\n" \
    "  %q = getelementptr float, ptr %y, i64 %at64\n" \
    "  %v = load float, ptr %q\n" \
    "  %s.next = fadd float %s, %v\n" \
    "  %j.next = add nsw i32 %j, 1\n" \
    "  br label %head\n" \
    "do:\n" \
    "  %p = getelementptr float, ptr %y, i64 %g\n" \
    "  store float %s, ptr %p\n" \
    "  br label %end\n" \
    "end:\n  ret i32 0\n}\n"

static const char columns[] = COLUMNS("  %in = icmp slt i32 %i, %n\n");

static void a_group_adds_rows_of_columns(void **state)
{
    char *text = optimised(columns, array_and_ends, 3);

    (void)state;
    if (strstr(text, "fadd <") == NULL || strstr(text, "masked") != NULL)
        fail_msg("%s", text);
    free(text);
}

/* The place of the sum is an int, of which LLVM makes shifts. */
static const char in_place[] =
    GROUPS_HEAD "define i32 @k(ptr %item, ptr %y, i64 %ny, i32 %n, i32 %m) {\n"
                "  %g = call i64 @kiln_global_id(ptr %item, i32 0)\n"
                "  %i = trunc i64 %g to i32\n"
                "  %i64 = sext i32 %i to i64\n"
                "  %p = getelementptr float, ptr %y, i64 %i64\n"
                "  br label %turn\n"
                "turn:\n"
                "  %j = phi i32 [ 0, %0 ], [ %j.next, %turn ]\n"
                "  %s = load float, ptr %p\n"
                "  %s.next = fadd float %s, 1.0\n"
                "  store float %s.next, ptr %p\n"
                "  %j.next = add nsw i32 %j, 1\n"
                "  %more = icmp slt i32 %j.next, %m\n"
                "  br i1 %more, label %turn, label %end\n"
                "end:\n  ret i32 0\n}\n";

static void a_group_adds_in_place(void **state)
{
    char *text = optimised(in_place, array_and_ends, 3);

    (void)state;
    if (strstr(text, "fadd <") == NULL)
        fail_msg("%s", text);
    free(text);
}

/* Builds the module and runs it on 40 columns of 7 numbers. Returns how many
   bytes each item keeps from row to row. */
static uint32_t run_columns(const char *module, float *y, int32_t n)
{
    struct {
        float *y;
        int64_t ny;
        int32_t n, m;
    } arguments = {y, 40 * 7, n, 7};
    launch l = make_launch(50, 1, 1, 32, 1, 1);
    outcome o;

    for (int i = 0; i < 40 * 7; i++)
        y[i] = (float)i;
    prepare(&o, module, KILN_EMIT_BINARY, array_and_ends, 3);
    run(&o);
    assert_ok(o.status);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    free(o.bytes);
    return o.private_bytes;
}

static void columns_have_their_sums(void **state)
{
    float y[40 * 7];

    (void)state;
    assert_true(run_columns(columns, y, 40) > 0); /* sums live on */
    for (int i = 0; i < 40; i++)
        assert_true(y[i] == (float)(7 * i + 40 * 21));
    assert_true(y[40] == 40);
}

/* Item 5 strides through 5, 10, 15 and so on, and nobody goes with it. */
static void an_item_adds_its_column_alone(void **state)
{
    /* clang makes a mask of an int that is compared with a constant */
    static const char *const questions[] = {
        COLUMNS("  %in = icmp eq i32 %i, %n\n"),
        COLUMNS("  %bits = and i64 %g, 4294967295\n"
                "  %in = icmp eq i64 %bits, 5\n"),
    };
    float y[40 * 7];

    (void)state;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        assert_int_equal(run_columns(questions[i], y, 5), 0);
        for (int k = 0; k < 40 * 7; k++)
            assert_true(y[k] == (float)(k == 5 ? 7 * 5 + 5 * 21 : k));
    }
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

/* The counter takes no argument that could be a dimension. */
static void loops_use_values_of_calls_without_arguments(void **state)
{
    static const char module[] = "declare i64 @kiln_global_id(i32)\n"
                                 "declare i64 @llvm.readcyclecounter()\n"
                                 "define void @k(ptr %y, i64 %n) {\n"
                                 "e:\n"
                                 "  %i = call i64 @kiln_global_id(i32 0)\n"
                                 "  %c = call i64 @llvm.readcyclecounter()\n"
                                 "  %d = and i64 %c, 1\n"
                                 "  br label %l\n"
                                 "l:\n"
                                 "  %j = phi i64 [ 0, %e ], [ %o, %l ]\n"
                                 "  %a = add i64 %j, %d\n"
                                 "  %p = getelementptr i32, ptr %y, i64 %a\n"
                                 "  %v = load i32, ptr %p\n"
                                 "  %b = add i64 %j, %i\n"
                                 "  %q = getelementptr i32, ptr %y, i64 %b\n"
                                 "  store i32 %v, ptr %q\n"
                                 "  %o = add i64 %j, 1\n"
                                 "  %m = icmp slt i64 %o, %n\n"
                                 "  br i1 %m, label %l, label %x\n"
                                 "x:\n"
                                 "  ret void\n"
                                 "}\n";
    static const char *const one[] = {"i32[:]"};
    char *text = optimised(module, one, 1);

    (void)state;
    assert_contains(text, "readcyclecounter");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guard_is_a_bound),
        cmocka_unit_test(an_early_return_is_a_bound),
        cmocka_unit_test(both_ends_and_rows_are_bounds),
        cmocka_unit_test(what_is_not_0_is_a_bound),
        cmocka_unit_test(bounds_are_simple),
        cmocka_unit_test(a_guard_behind_a_barrier_is_a_bound),
        cmocka_unit_test(a_question_for_one_item_is_a_bound),
        cmocka_unit_test(an_index_above_a_bound_has_vectors),
        cmocka_unit_test(a_group_adds_rows_of_columns),
        cmocka_unit_test(a_group_adds_in_place),
        cmocka_unit_test(columns_have_their_sums),
        cmocka_unit_test(an_item_adds_its_column_alone),
        cmocka_unit_test(a_question_about_data_stays),
        cmocka_unit_test(loops_use_values_of_calls_without_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
