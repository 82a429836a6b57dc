/* test_groups_volatile.c - volatile accesses to a group's memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

#define GROUP 64

/* Each item writes and, behind a barrier, reads and writes the element AT. */
#define MODULE(at) \
    GROUPS_HEAD \
    "@t = internal addrspace(3) global [64 x i32] undef\n" \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %l = call i64 @kiln_local_id(ptr %item, i32 0)\n" \
    "  %g = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %p = getelementptr i32, ptr %y, i64 %g\n" \
    "  %v = load i32, ptr %p\n" \
    "  %back = sub i64 63, %l\n" \
    "  %half = and i64 %l, 3\n" \
    "  %e = getelementptr i32, ptr addrspace(3) @t, i64 " at "\n" \
    "  store volatile i32 %v, ptr addrspace(3) %e\n" GROUPS_BARRIER \
    "  %w = load volatile i32, ptr addrspace(3) %e\n" \
    "  %more = add i32 %w, 5\n" \
    "  store volatile i32 %more, ptr addrspace(3) %e\n" GROUPS_BARRIER \
    "  %r = load volatile i32, ptr addrspace(3) %e\n" \
    "  store i32 %r, ptr %p\n" \
    "  ret i32 0\n" \
    "}\n"

/* Items count in two elements, without atomics: each writes until it reads its
   own number. BIN is where one counts. */
#define RACE(bin) \
    GROUPS_HEAD \
    "@t = internal addrspace(3) global [256 x i32] undef\n" \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %l = call i64 @kiln_local_id(ptr %item, i32 0)\n" \
    "  %g = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %p = getelementptr i32, ptr %y, i64 %g\n" bin \
    "  %e = getelementptr i32, ptr addrspace(3) @t, i64 %bin\n" \
    "  store volatile i32 0, ptr addrspace(3) %e\n" GROUPS_BARRIER \
    "  %l32 = trunc i64 %l to i32\n" \
    "  %tag = shl i32 %l32, 24\n" \
    "  br label %again\n" \
    "again:\n" \
    "  %old = load volatile i32, ptr addrspace(3) %e\n" \
    "  %plain = and i32 %old, 16777215\n" \
    "  %next = add i32 %plain, 1\n" \
    "  %mine = or i32 %next, %tag\n" \
    "  store volatile i32 %mine, ptr addrspace(3) %e\n" \
    "  %seen = load volatile i32, ptr addrspace(3) %e\n" \
    "  %lost = icmp ne i32 %seen, %mine\n" \
    "  br i1 %lost, label %again, label %end\n" \
    "end:\n" GROUPS_BARRIER \
    "  %sum = load volatile i32, ptr addrspace(3) %e\n" \
    "  %count = and i32 %sum, 16777215\n" \
    "  store i32 %count, ptr %p\n" \
    "  ret i32 0\n" \
    "}\n"

/* Two bins each; where an id is cut to few bits, its multiples come again. */
static const char *const races[] = {
    RACE("  %bin = and i64 %l, 1\n"),
    RACE("  %far = shl i64 %l, 7\n"
         "  %cut = trunc i64 %far to i8\n"
         "  %wide = sext i8 %cut to i64\n"
         "  %bin = add i64 %wide, 128\n"),
    RACE("  %far = mul i64 %l, 32768\n"
         "  %cut = trunc i64 %far to i16\n"
         "  %low = ashr i16 %cut, 15\n"
         "  %wide = sext i16 %low to i64\n"
         "  %bin = add i64 %wide, 1\n"),
    RACE("  %up = shl i64 %l, 63\n"
         "  %wide = ashr i64 %up, 56\n"
         "  %bin = add i64 %wide, 128\n"),
    RACE("  %l31 = trunc i64 %l to i32\n"
         "  %far = shl i32 %l31, 31\n"
         "  %wide = sext i32 %far to i64\n"
         "  %low = ashr i64 %wide, 31\n"
         "  %bin = add i64 %low, 1\n"),
};
#define RACES (sizeof races / sizeof *races)

static int32_t data[2 * GROUP];

static void run_on_two_groups(const char *module, size_t build)
{
    const group_shape shape = {{2 * GROUP, 1, 1}, {GROUP, 1, 1}};

    for (int32_t i = 0; i < 2 * GROUP; i++)
        data[i] = i * i;
    assert_int_equal(
        group_run(module, group_builds[build], &shape, data, 2 * GROUP), 0);
}

static void elements_of_one_item_are_plain(void **state)
{
    static const char *const modules[] = {MODULE("%l"), MODULE("%back")};

    (void)state;
    for (size_t m = 0; m < 2; m++)
        for (size_t build = 0; build < GROUP_BUILDS; build++) {
            run_on_two_groups(modules[m], build);
            for (int32_t i = 0; i < 2 * GROUP; i++)
                assert_int_equal(data[i], i * i + 5);
        }
}

static void a_race_is_decided_by_the_order_of_items(void **state)
{
    (void)state;
    for (size_t r = 0; r < RACES; r++)
        for (size_t build = 0; build < GROUP_BUILDS; build++) {
            run_on_two_groups(races[r], build);
            for (int32_t i = 0; i < 2 * GROUP; i++)
                assert_int_equal(data[i], GROUP / 2);
        }
}

/* The launch's sizes, which the kernel loads so too, have 64 bits. */
static int has_volatile(const char *module)
{
    outcome o;
    int found;

    group_prepare(&o, module, (group_build){2, KILN__GROUP_FORM_BEST},
                  KILN_EMIT_LLVM_OPT);
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s", o.message);
    found = strstr(o.bytes, " volatile i32") != NULL;
    free(o.bytes);
    return found;
}

static void volatile_is_dropped_where_no_items_race(void **state)
{
    (void)state;
    assert_false(has_volatile(MODULE("%l")));
    assert_false(has_volatile(MODULE("%back")));
    assert_true(has_volatile(MODULE("%half")));
    assert_true(has_volatile(MODULE("7")));
    for (size_t r = 0; r < RACES; r++)
        assert_true(has_volatile(races[r]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_of_one_item_are_plain),
        cmocka_unit_test(a_race_is_decided_by_the_order_of_items),
        cmocka_unit_test(volatile_is_dropped_where_no_items_race),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
