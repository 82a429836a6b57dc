/* test_item_hoist.c - loads that are the same for all items of a group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

static const char *const types[] = {"f32[:]", "i64[:]"};

#define HEAD \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %ny, ptr %s, i64 %ns) {\n" \
    "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %p = getelementptr float, ptr %y, i64 %i\n"

/* Each item reads where the numbers begin, as in a tree or a sparse matrix. */
static const char from_a_start[] =
    HEAD "  %start = load i64, ptr %s\n"
         "  %at = add i64 %start, %i\n"
         "  %q = getelementptr float, ptr %y, i64 %at\n"
         "  %v = load float, ptr %q\n"
         "  %w = fadd float %v, 1.0\n"
         "  store float %w, ptr %p\n"
         "  ret i32 0\n}\n";

static void what_all_items_load_is_loaded_once(void **state)
{
    outcome o;

    (void)state;
    prepare(&o, from_a_start, KILN_EMIT_LLVM_OPT, types, 2);
    o.settings.processor = "x86-64-v4";
    assert_built(&o);
    if (strstr(o.bytes, "fadd <") == NULL || strstr(o.bytes, "gather") != NULL)
        fail_msg("%s", (char *)o.bytes);
    free(o.bytes);
}

typedef struct arrays {
    float *y;
    int64_t ny;
    int64_t *s;
    int64_t ns;
} arrays;

#define ITEMS 40

static void run_module(const char *module, arrays *a, uint64_t block)
{
    launch l = make_launch(ITEMS, 1, 1, block, 1, 1);
    outcome o;

    prepare(&o, module, KILN_EMIT_BINARY, types, 2);
    o.settings.opt_level = 2;
    assert_built(&o);
    assert_int_equal(run_image(&o, &l, a), 0);
    free(o.bytes);
}

static void loaded_numbers_are_right(void **state)
{
    float y[2 * ITEMS];
    int64_t s[1] = {ITEMS};
    arrays a = {y, 2 * ITEMS, s, 1};

    (void)state;
    for (int i = 0; i < 2 * ITEMS; i++)
        y[i] = (float)i;
    run_module(from_a_start, &a, 16);
    for (int i = 0; i < ITEMS; i++)
        assert_true(y[i] == (float)(i + ITEMS + 1));
}

/* Groups of one item, so that nobody else is there. */
static const char behind_a_write[] = HEAD "  store i64 %i, ptr %s\n"
                                          "  %own = load volatile i64, ptr %s\n"
                                          "  %twice = add i64 %own, %own\n"
                                          "  store i64 %twice, ptr %s\n"
                                          "  %back = load i64, ptr %s\n"
                                          "  %f = sitofp i64 %back to float\n"
                                          "  store float %f, ptr %p\n"
                                          "  ret i32 0\n}\n";

static void an_item_sees_what_it_has_written(void **state)
{
    float y[ITEMS] = {0};
    int64_t s[1] = {7};
    arrays a = {y, ITEMS, s, 1};

    (void)state;
    run_module(behind_a_write, &a, 1);
    for (int i = 0; i < ITEMS; i++)
        assert_true(y[i] == (float)(2 * i));
}

/* Most items must not follow the null pointer. */
static const char behind_a_question[] =
    HEAD "  %v = load float, ptr %p\n"
         "  %in = fcmp ogt float %v, 38.0\n"
         "  br i1 %in, label %do, label %end\n"
         "do:\n"
         "  %n = load i64, ptr %s\n"
         "  %f = sitofp i64 %n to float\n"
         "  store float %f, ptr %p\n"
         "  br label %end\n"
         "end:\n"
         "  ret i32 0\n}\n";

static void nothing_is_loaded_that_no_item_asks_for(void **state)
{
    float y[ITEMS] = {0};
    int64_t s[1] = {5};
    arrays a = {y, ITEMS, NULL, 0};

    (void)state;
    run_module(behind_a_question, &a, 16);
    y[3] = 39;
    a.s = s;
    run_module(behind_a_question, &a, 16);
    for (int i = 0; i < ITEMS; i++)
        assert_true(y[i] == (i == 3 ? 5.0f : 0.0f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_all_items_load_is_loaded_once),
        cmocka_unit_test(loaded_numbers_are_right),
        cmocka_unit_test(an_item_sees_what_it_has_written),
        cmocka_unit_test(nothing_is_loaded_that_no_item_asks_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
