/* test_foreign_failures.c - items of modules of LLVM IR that raise where others
   wait for them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen host */
#include <string.h>

#include "support/codegen/module_texts.h"
#include "support/devices/kernels.h"
#include "support/harness.h"

#define ITEMS 24
#define BLOCK 8
#define NOBODY (-100)

/* Modules have the group's memory @t, the item's number in its group %l and in
   the launch %g, its element %p of the array, and its place %a in @t. `more`
   are functions. */
#define MODULE(more, body) MODULE_OF("", more, body)
#define MODULE_OF(attributes, more, body) \
    "@t = internal addrspace(3) global [64 x i64] undef\n" \
    "declare i64 @kiln_global_id(i32)\n" \
    "declare i64 @kiln_local_id(i32)\n" \
    "declare void @kiln_barrier(i32, i32)\n" \
    "declare i64 @kiln_reduce.add.i64(i32, i64)\n" \
    "declare void @kiln_raise(i32, ptr, i32, ptr, i64, i64)\n" \
    "define i64 @checked(i64 %v, i64 %bad) {\n" \
    "  %is = icmp eq i64 %v, %bad\n" \
    "  br i1 %is, label %raise, label %fine\n" \
    "raise:\n" \
    "  call void @kiln_raise(i32 6, ptr null, i32 0, ptr null, i64 0, i64 " \
    "0)\n" \
    "  unreachable\n" \
    "fine:\n  ret i64 %v\n}\n" \
    "define i64 @beside(i64 %l) {\n" \
    "  %i = add i64 %l, 1\n" \
    "  %o = urem i64 %i, 8\n" \
    "  %q = getelementptr [64 x i64], ptr addrspace(3) @t, i64 0, i64 %o\n" \
    "  %v = load i64, ptr addrspace(3) %q\n" \
    "  ret i64 %v\n}\n" more \
    "define void @E(ptr %out, i64 %n, i64 %bad, i64 %turns) " attributes "{\n" \
    "  %g = call i64 @kiln_global_id(i32 0)\n" \
    "  %l = call i64 @kiln_local_id(i32 0)\n" \
    "  %p = getelementptr i64, ptr %out, i64 %g\n" \
    "  %a = getelementptr [64 x i64], ptr addrspace(3) @t, i64 0, i64 " \
    "%l\n" body "}\n"
#define BARRIER "  call void @kiln_barrier(i32 2, i32 3)\n"

/* What item `g` stores if nobody raises. */
typedef int64_t (*expectation)(int64_t g, int64_t turns);

typedef struct trial {
    const char *module;
    expectation expect;
    int64_t values[2]; /* bad, turns */
    int64_t out[ITEMS];
} trial;

static module_texts modules;

static int setup(void **state)
{
    const int result = kernels_setup(state);
    kernels *k = *state;

    if (result == 0)
        module_texts_open(&modules, k->context, "failures");
    return result;
}

static kiln_status run(kernels *k, trial *t, kiln_error **error)
{
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}, .block = {BLOCK, 1, 1}};
    const kiln_array out = kernels_array(t->out, ITEMS);
    const kernels_argument arguments[] = {
        {"i64[:]", &out}, {"i64", &t->values[0]}, {"i64", &t->values[1]}};

    memset(t->out, 0, sizeof t->out);
    return module_texts_launch(&modules, k,
                               module_texts_define(&modules, t->module),
                               k->config, &launch, arguments, 3, error);
}

static void expect_values(kernels *k, const char *module, expectation expect,
                          int64_t turns)
{
    trial t = {module, expect, {NOBODY, turns}, {0}};

    assert_ok(run(k, &t, &test_error));
    for (int64_t g = 0; g < ITEMS; g++)
        if (t.out[g] != expect(g, turns))
            fail_msg("item %d: %lld, not %lld", (int)g, (long long)t.out[g],
                     (long long)expect(g, turns));
}

static void expect_failure(kernels *k, const char *module, int64_t bad,
                           int64_t turns, int64_t item)
{
    trial t = {module, NULL, {bad, turns}, {0}};
    kiln_error *error = NULL;
    const kiln_exception *e;

    assert_status(KILN_EEXCEPTION, run(k, &t, &error));
    e = kiln_error_exception(error);
    assert_non_null(e);
    assert_int_equal(e->item[0], item);
    assert_int_equal(e->group[0], item / BLOCK);
    kiln_error_free(error);
}

/* ---- before a barrier ---- */

static int64_t neighbour(int64_t g, int64_t turns)
{
    (void)turns;
    return g / BLOCK * BLOCK + (g + 1) % BLOCK;
}

static void an_item_raises_before_the_first_barrier(void **state)
{
    static const char module[] =
        MODULE("", "  %v = call i64 @checked(i64 %g, i64 %bad)\n"
                   "  store i64 %v, ptr addrspace(3) %a\n" BARRIER
                   "  %r = call i64 @beside(i64 %l)\n"
                   "  store i64 %r, ptr %p\n  ret void\n");

    expect_values(*state, module, neighbour, 0);
    for (int64_t bad = 0; bad < ITEMS; bad += 5)
        expect_failure(*state, module, bad, 0, bad);
}

static void an_item_raises_behind_the_last_barrier(void **state)
{
    static const char module[] =
        MODULE("", "  store i64 %g, ptr addrspace(3) %a\n" BARRIER
                   "  %r = call i64 @beside(i64 %l)\n"
                   "  %v = call i64 @checked(i64 %r, i64 %bad)\n"
                   "  store i64 %v, ptr %p\n  ret void\n");

    expect_values(*state, module, neighbour, 0);
    expect_failure(*state, module, 13, 0, 12);
}

/* ---- in loops ---- */

static int64_t around(int64_t g, int64_t turns)
{
    return g / BLOCK * BLOCK + (g + turns) % BLOCK;
}

/* Values go round in the group; who sees `bad` as the value that it takes in
   turn 2 raises. */
static void an_item_raises_in_a_loop_with_barriers(void **state)
{
    static const char module[] =
        MODULE("", "  br label %head\n"
                   "head:\n"
                   "  %k = phi i64 [ 0, %0 ], [ %k1, %turn ]\n"
                   "  %v = phi i64 [ %g, %0 ], [ %w, %turn ]\n"
                   "  %more = icmp slt i64 %k, %turns\n"
                   "  br i1 %more, label %turn, label %done\n"
                   "turn:\n"
                   "  store i64 %v, ptr addrspace(3) %a\n" BARRIER
                   "  %r = call i64 @beside(i64 %l)\n"
                   "  %is = icmp eq i64 %k, 2\n"
                   "  %b = select i1 %is, i64 %bad, i64 -100\n"
                   "  %w = call i64 @checked(i64 %r, i64 %b)\n" BARRIER
                   "  %k1 = add i64 %k, 1\n"
                   "  br label %head\n"
                   "done:\n"
                   "  store i64 %v, ptr %p\n  ret void\n");

    expect_values(*state, module, around, 5);
    expect_failure(*state, module, 11, 5, 8);
    expect_failure(*state, module, 16, 3, 21);
    expect_values(*state, module, around, 0);
}

/* An inner loop of the item's own is left by an exception, and one around it
   has a barrier. */
static void an_item_raises_in_a_loop_of_its_own(void **state)
{
    static const char module[] = MODULE(
        "", "  br label %head\n"
            "head:\n"
            "  %k = phi i64 [ 0, %0 ], [ %k1, %joined ]\n"
            "  %v = phi i64 [ %g, %0 ], [ %r, %joined ]\n"
            "  br label %inner\n"
            "inner:\n"
            "  %i = phi i64 [ 0, %head ], [ %i1, %inner ]\n"
            "  %s = add i64 %i, %g\n"
            "  %c = call i64 @checked(i64 %s, i64 %bad)\n"
            "  %i1 = add i64 %i, 1\n"
            "  %again = icmp slt i64 %i1, %l\n"
            "  br i1 %again, label %inner, label %left\n"
            "left:\n"
            "  store i64 %v, ptr addrspace(3) %a\n" BARRIER
            "  %r = call i64 @beside(i64 %l)\n" BARRIER "  br label %joined\n"
            "joined:\n"
            "  %k1 = add i64 %k, 1\n"
            "  %more = icmp slt i64 %k1, %turns\n"
            "  br i1 %more, label %head, label %done\n"
            "done:\n"
            "  store i64 %r, ptr %p\n  ret void\n");

    expect_values(*state, module, around, 3);
    /* No other item counts as far. */
    expect_failure(*state, module, 23 + 6, 2, 23);
}

/* ---- under a condition ---- */

#define CONDITION \
    "  %v = call i64 @checked(i64 %g, i64 %bad)\n" \
    "  %some = icmp sgt i64 %turns, 0\n" \
    "  br i1 %some, label %more, label %on\n" \
    "more:\n" \
    "  store i64 0, ptr addrspace(3) %a\n" BARRIER "  br label %on\n" \
    "on:\n" \
    "  store i64 %v, ptr addrspace(3) %a\n" BARRIER \
    "  %r = call i64 @beside(i64 %l)\n" \
    "  store i64 %r, ptr %p\n  ret void\n"

static void some_groups_have_another_barrier(void **state)
{
    static const char *const modules_of_it[] = {
        MODULE("", CONDITION), MODULE_OF("noinline optnone ", "", CONDITION)};

    for (size_t i = 0; i < 2; i++)
        for (int64_t turns = 0; turns < 2; turns++) {
            expect_values(*state, modules_of_it[i], neighbour, turns);
            expect_failure(*state, modules_of_it[i], 17, turns, 17);
        }
}

/* ---- other operations ---- */

static int64_t sum_of_group(int64_t g, int64_t turns)
{
    (void)turns;
    return 8 * (g / BLOCK * BLOCK) + 28;
}

static void an_item_raises_before_a_sum_of_the_group(void **state)
{
    static const char module[] =
        MODULE("", "  %v = call i64 @checked(i64 %g, i64 %bad)\n"
                   "  %r = call i64 @kiln_reduce.add.i64(i32 2, i64 %v)\n"
                   "  store i64 %r, ptr %p\n  ret void\n");
    trial t = {module, NULL, {NOBODY, 0}, {0}};
    kiln_error *error = NULL;

    if (kernels_has(*state, "subgroups")) {
        expect_values(*state, module, sum_of_group, 0);
        expect_failure(*state, module, 3, 0, 3);
        return;
    }
    assert_status(KILN_EUNSUPPORTED, run(*state, &t, &error));
    assert_non_null(strstr(kiln_error_message(error), "subgroups"));
    kiln_error_free(error);
}

static void functions_with_barriers_raise(void **state)
{
    static const char module[] = MODULE(
        "define i64 @exchange(i64 %v, ptr addrspace(3) %a, i64 %l, i64 %bad) "
        "{\n"
        "  %c = call i64 @checked(i64 %v, i64 %bad)\n"
        "  store i64 %c, ptr addrspace(3) %a\n" BARRIER
        "  %r = call i64 @beside(i64 %l)\n" BARRIER "  ret i64 %r\n}\n",
        "  %v = call i64 @exchange(i64 %g, ptr addrspace(3) %a, i64 %l, i64 "
        "%bad)\n"
        "  %w = call i64 @exchange(i64 %v, ptr addrspace(3) %a, i64 %l, i64 "
        "-100)\n"
        "  store i64 %w, ptr %p\n  ret void\n");

    expect_values(*state, module, around, 2);
    expect_failure(*state, module, 9, 0, 9);
}

static void all_items_raise_behind_a_barrier(void **state)
{
    static const char module[] = MODULE(
        "", "  store i64 %g, ptr addrspace(3) %a\n" BARRIER
            "  %r = call i64 @beside(i64 %l)\n"
            "  store i64 %r, ptr %p\n"
            "  call void @kiln_raise(i32 6, ptr null, i32 0, ptr null, i64 0,"
            " i64 0)\n"
            "  unreachable\n");
    trial t = {module, NULL, {NOBODY, 0}, {0}};
    kiln_error *error = NULL;

    assert_status(KILN_EEXCEPTION, run(*state, &t, &error));
    kiln_error_free(error);
}

/* Nobody could tell an item that raises where the others go. */
static void one_branch_does_not_raise_and_decide_on_spirv(void **state)
{
    static const char module[] = MODULE(
        "", "  store i64 %g, ptr addrspace(3) %a\n"
            "  switch i64 %turns, label %done [ i64 1, label %more\n"
            "                                   i64 2, label %raise ]\n"
            "more:\n" BARRIER "  br label %done\n"
            "raise:\n"
            "  call void @kiln_raise(i32 6, ptr null, i32 0, ptr null, i64 0,"
            " i64 0)\n"
            "  unreachable\n"
            "done:\n"
            "  store i64 %g, ptr %p\n  ret void\n");
    trial t = {module, NULL, {NOBODY, 2}, {0}};
    kiln_error *error = NULL;
    const int is_spirv = strcmp(kernels_backend(), "spirv") == 0;

    assert_status(is_spirv ? KILN_EUNSUPPORTED : KILN_EEXCEPTION,
                  run(*state, &t, &error));
    kiln_error_free(error);
}

/* ---- the bound form ---- */

/* Its functions return by themselves, so nobody can lead its items. */
static void a_bound_module_cannot_do_it_on_spirv(void **state)
{
    static const char module[] =
        "declare i64 @kiln_global_id(@I, i32)\n"
        "declare void @kiln_barrier(@I, i32, i32)\n"
        "declare void @kiln_raise(@I, i32, ptr, i32, ptr, i64, i64)\n"
        "define i32 @E(@I %item, @A %out, i64 %n, i64 %bad, i64 %turns) {\n"
        "  %g = call i64 @kiln_global_id(@I %item, i32 0)\n"
        "  %is = icmp eq i64 %g, %bad\n"
        "  br i1 %is, label %raise, label %fine\n"
        "raise:\n"
        "  call void @kiln_raise(@I %item, i32 6, ptr null, i32 0, ptr null,"
        " i64 0, i64 0)\n"
        "  ret i32 1\n"
        "fine:\n"
        "  call void @kiln_barrier(@I %item, i32 2, i32 3)\n"
        "  %p = getelementptr i64, @A %out, i64 %g\n"
        "  store i64 %g, @A %p\n"
        "  ret i32 0\n}\n";
    trial t = {module, NULL, {NOBODY, 0}, {0}};
    kiln_error *error = NULL;

    if (strcmp(kernels_backend(), "spirv") != 0) {
        expect_failure(*state, module, 9, 0, 9);
        return;
    }
    assert_status(KILN_EUNSUPPORTED, run(*state, &t, &error));
    assert_non_null(strstr(kiln_error_message(error), "only one of them"));
    kiln_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_raises_before_the_first_barrier),
        cmocka_unit_test(an_item_raises_behind_the_last_barrier),
        cmocka_unit_test(an_item_raises_in_a_loop_with_barriers),
        cmocka_unit_test(an_item_raises_in_a_loop_of_its_own),
        cmocka_unit_test(some_groups_have_another_barrier),
        cmocka_unit_test(an_item_raises_before_a_sum_of_the_group),
        cmocka_unit_test(functions_with_barriers_raise),
        cmocka_unit_test(all_items_raise_behind_a_barrier),
        cmocka_unit_test(one_branch_does_not_raise_and_decide_on_spirv),
        cmocka_unit_test(a_bound_module_cannot_do_it_on_spirv),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
