/* test_groups_agree.c - groups whose items agree, or not, about barriers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

#define ITEMS 24
#define GROUP 8

/* Items whose part of the grid is odd take the value of their neighbour, or 100
   if that is in an even part. The size of a part is an argument, so it may be
   that of a group. A part is decided by a quotient, or by DECIDE's bit. */
#define MODULE(decide) \
    GROUPS_HEAD "@t = internal addrspace(3) global [8 x i32] undef\n" \
                "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
                "  %l = call i64 @kiln_local_id(ptr %item, i32 0)\n" \
                "  %g = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
                "  %p = getelementptr i32, ptr %y, i64 %g\n" \
                "  %v = load i32, ptr %p\n" \
                "  %i = add i64 %l, 1\n" \
                "  %o = urem i64 %i, 8\n" \
                "  %a = getelementptr i32, ptr addrspace(3) @t, i64 %l\n" \
                "  %b = getelementptr i32, ptr addrspace(3) @t, i64 %o\n" \
                "  store i32 100, ptr addrspace(3) %a\n" GROUPS_BARRIER decide \
                "  br i1 %odd, label %turn, label %done\n" \
                "turn:\n" \
                "  store i32 %v, ptr addrspace(3) %a\n" GROUPS_BARRIER \
                "  %r = load i32, ptr addrspace(3) %b\n" GROUPS_BARRIER \
                "  br label %done\n" \
                "done:\n" \
                "  %w = phi i32 [ %v, %0 ], [ %r, %turn ]\n" GROUPS_BARRIER \
                "  store i32 %w, ptr %p\n" \
                "  ret i32 0\n" \
                "}\n"

static const char by_quotient[] =
    MODULE("  %q = udiv i64 %g, %n\n  %q32 = trunc i64 %q to i32\n"
           "  %odd = icmp eq i32 %q32, 1\n");
static const char by_remainder[] =
    MODULE("  %q = udiv i64 %g, %n\n  %m = urem i64 %q, 2\n"
           "  %odd = icmp ne i64 %m, 0\n");
static const char by_comparison[] =
    MODULE("  %after = icmp uge i64 %g, %n\n  %twice = shl i64 %n, 1\n"
           "  %before = icmp ult i64 %g, %twice\n"
           "  %odd = and i1 %after, %before\n");

/* A divisor of 0 divides as 1 does. */
static int is_odd(int32_t item, int32_t part, const char *module)
{
    const int32_t quotient = part == 0 ? item : item / part;

    if (module == by_comparison)
        return item >= part && item < 2 * part;
    return module == by_quotient ? quotient == 1 : quotient % 2 == 1;
}

static int32_t wanted(int32_t item, int32_t part, const char *module)
{
    const int32_t neighbour = item / GROUP * GROUP + (item + 1) % GROUP;

    if (!is_odd(item, part, module))
        return item;
    return is_odd(neighbour, part, module) ? neighbour : 100;
}

static void check(const char *module, int32_t part)
{
    const group_shape shape = {{ITEMS, 1, 1}, {GROUP, 1, 1}};
    int32_t data[ITEMS];

    for (size_t build = 0; build < GROUP_BUILDS; build++) {
        for (int32_t i = 0; i < ITEMS; i++)
            data[i] = i;
        assert_int_equal(
            group_run(module, group_builds[build], &shape, data, (size_t)part),
            0);
        for (int32_t i = 0; i < ITEMS; i++)
            assert_int_equal(data[i], wanted(i, part, module));
    }
}

static void groups_that_agree_and_groups_that_do_not_are_right(void **state)
{
    const char *const modules[] = {by_quotient, by_remainder, by_comparison};
    const int32_t parts[] = {0, 1, 3, 4, GROUP, 11, 2 * GROUP};

    (void)state;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            check(modules[i], parts[k]);
}

/* Whether the code asks for the least and the greatest answer. */
static int asks(const char *module, int32_t form)
{
    outcome o;
    int found;

    group_prepare(&o, module, (group_build){2, form}, KILN_EMIT_LLVM);
    run(&o);
    assert_int_equal(o.status, KILN_OK);
    found = strstr(o.bytes, "call i64 @llvm.umin.i64") != NULL ||
            strstr(o.bytes, "call i1 @llvm.umin.i1") != NULL;
    free(o.bytes);
    return found;
}

static void groups_ask_only_where_it_helps(void **state)
{
    static const char no_barrier[] =
        GROUPS_HEAD "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
                    "  %g = call i64 @kiln_global_id(ptr %item, i32 0)\n"
                    "  %p = getelementptr i32, ptr %y, i64 %g\n"
                    "  %q = udiv i64 %g, %n\n"
                    "  %odd = icmp eq i64 %q, 1\n" GROUPS_BARRIER
                    "  br i1 %odd, label %turn, label %done\n"
                    "turn:\n"
                    "  store i32 1, ptr %p\n"
                    "  br label %done\n"
                    "done:\n" GROUPS_BARRIER "  ret i32 0\n"
                    "}\n";

    (void)state;
    assert_true(asks(by_quotient, KILN__GROUP_FORM_BEST));
    assert_true(asks(by_remainder, KILN__GROUP_FORM_BEST));
    assert_true(asks(by_comparison, KILN__GROUP_FORM_BEST));
    assert_false(asks(by_quotient, KILN__GROUP_FORM_GENERAL));
    assert_false(asks(no_barrier, KILN__GROUP_FORM_BEST));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_that_agree_and_groups_that_do_not_are_right),
        cmocka_unit_test(groups_ask_only_where_it_helps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
