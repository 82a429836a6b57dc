/* test_item_jam.c - which items go through their inner loop together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

/* Each item sums up n elements, at a distance of n from those of its
   neighbours; ADDED is done to each. TURNS is how many there are, and STRIDE
   how far they are apart. */
#define MODULE(turns, added) STRIDED(turns, added, "1")
#define STRIDED(turns, added, stride) \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %row = mul i64 %i, 64\n" \
    "  %own = getelementptr i32, ptr %y, i64 %row\n" \
    "  %any = icmp sgt i64 " turns ", 0\n" \
    "  br i1 %any, label %loop, label %end\n" \
    "loop:\n" \
    "  %k = phi i64 [ 0, %0 ], [ %next, %loop ]\n" \
    "  %s = phi float [ 0.0, %0 ], [ %t, %loop ]\n" \
    "  %e = mul i64 %k, " stride "\n" \
    "  %p = getelementptr i32, ptr %own, i64 %e\n" \
    "  %v = load i32, ptr %p\n" \
    "  %f = sitofp i32 %v to float\n" \
    "  %t = fadd " added "float %s, %f\n" \
    "  %next = add i64 %k, 1\n" \
    "  %more = icmp slt i64 %next, " turns "\n" \
    "  br i1 %more, label %loop, label %end\n" \
    "end:\n" \
    "  %sum = phi float [ 0.0, %0 ], [ %t, %loop ]\n" \
    "  %r = fptosi float %sum to i32\n" \
    "  store i32 %r, ptr %own\n" \
    "  ret i32 0\n" \
    "}\n"

/* Returns how many items the inner loop adds for, as far as LLVM wrote the
   additions of one item in one place. */
static unsigned additions(const char *module)
{
    unsigned count = 0;
    outcome o;

    group_prepare(&o, module, (group_build){2, KILN__GROUP_FORM_BEST},
                  KILN_EMIT_LLVM_OPT);
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s", o.message);
    for (const char *at = o.bytes; (at = strstr(at, "= fadd ")) != NULL; at++) {
        const int is_free = strncmp(at, "= fadd reassoc ", 15) == 0;

        count += strncmp(at + (is_free ? 15 : 7), "<8 x", 4) == 0 ? 8 : 1;
    }
    free(o.bytes);
    return count;
}

static void sums_of_neighbours_are_added_together(void **state)
{
    (void)state;
    assert_true(additions(MODULE("%n", "")) >= 8);
}

static void loops_of_different_lengths_stay_apart(void **state)
{
    (void)state;
    assert_true(additions(STRIDED("%i", "", "3")) < 8);
}

/* LLVM makes vectors of each item's sum, unless it has to gather them. */
static void sums_in_any_order_are_added_together_if_they_are_far_apart(
    void **state)
{
    (void)state;
    assert_true(additions(STRIDED("%n", "reassoc ", "3")) >= 8);
    assert_true(additions(STRIDED("%n", "reassoc ", "%i")) >= 8);
    assert_true(additions(STRIDED("%n", "reassoc ", "1")) < 8);
}

static void sums_are_right(void **state)
{
    static int32_t data[24 * 64];
    const group_shape shape = {{24, 1, 1}, {12, 1, 1}};

    (void)state;
    for (size_t turns = 0; turns <= 64; turns += 7) {
        for (int32_t i = 0; i < 24 * 64; i++)
            data[i] = i % 101 - 40;
        assert_int_equal(group_run(MODULE("%n", ""),
                                   (group_build){2, KILN__GROUP_FORM_BEST},
                                   &shape, data, turns),
                         0);
        for (int32_t i = 0; i < 24; i++) {
            int32_t sum = 0;

            for (int32_t k = 0; k < (int32_t)turns; k++)
                sum += (i * 64 + k) % 101 - 40;
            assert_int_equal(data[i * 64], sum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_neighbours_are_added_together),
        cmocka_unit_test(loops_of_different_lengths_stay_apart),
        cmocka_unit_test(
            sums_in_any_order_are_added_together_if_they_are_far_apart),
        cmocka_unit_test(sums_are_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
