/* test_groups_meet.c - where the items of a group meet again. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

/* Four turns: if l is odd: v += 10; rotate by one. No barrier is behind the
   loop, and the last block is one that not all items come to. */
static const char turns[] =
    GROUPS_HEAD "@t = internal addrspace(3) global [8 x i32] undef\n"
                "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
                "  %l = call i64 @kiln_local_id(ptr %item, i32 0)\n"
                "  %g = call i64 @kiln_global_id(ptr %item, i32 0)\n"
                "  %p = getelementptr i32, ptr %y, i64 %g\n"
                "  %first = load i32, ptr %p\n"
                "  %i = add i64 %l, 1\n"
                "  %o = urem i64 %i, 8\n"
                "  %a = getelementptr i32, ptr addrspace(3) @t, i64 %l\n"
                "  %b = getelementptr i32, ptr addrspace(3) @t, i64 %o\n"
                "  %bit = and i64 %l, 1\n"
                "  %odd = icmp ne i64 %bit, 0\n"
                "  br label %turn\n"
                "turn:\n"
                "  %k = phi i32 [ 0, %0 ], [ %k1, %wait ]\n"
                "  %v = phi i32 [ %first, %0 ], [ %r, %wait ]\n"
                "  br i1 %odd, label %more, label %wait\n"
                "wait:\n"
                "  %v1 = phi i32 [ %v, %turn ], [ %v2, %more ]\n"
                "  store i32 %v1, ptr addrspace(3) %a\n" GROUPS_BARRIER
                "  %r = load i32, ptr addrspace(3) %b\n" GROUPS_BARRIER
                "  %k1 = add i32 %k, 1\n"
                "  %c = icmp ult i32 %k1, 4\n"
                "  br i1 %c, label %turn, label %done\n"
                "done:\n"
                "  store volatile i32 %r, ptr %p\n"
                "  ret i32 0\n"
                "more:\n"
                "  %v2 = add i32 %v, 10\n"
                "  store volatile i32 %v2, ptr %p\n"
                "  br label %wait\n"
                "}\n";

static void items_meet_in_each_turn_of_the_last_loop(void **state)
{
    const group_shape shape = {{16, 1, 1}, {8, 1, 1}};
    int32_t data[16];

    (void)state;
    for (size_t build = 0; build < GROUP_BUILDS; build++) {
        for (int32_t i = 0; i < 16; i++)
            data[i] = i;
        assert_int_equal(
            group_run(turns, group_builds[build], &shape, data, 16), 0);
        for (int32_t i = 0; i < 16; i++) /* each is at odd items twice */
            assert_int_equal(data[i], i / 8 * 8 + (i + 4) % 8 + 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_meet_in_each_turn_of_the_last_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
