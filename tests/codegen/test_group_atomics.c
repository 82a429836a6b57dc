/* test_group_atomics.c - which atomic operations need no lock. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

/* Items count in the group's array, which begins with the items' count in the
   array of the launch. The address of the second count is ADDRESS. */
#define MODULE(address) \
    GROUPS_HEAD \
    "@counts = internal addrspace(3) global [4 x i32] undef\n" \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %l = call i64 @kiln_local_id(ptr %item, i32 0)\n" \
    "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %k = and i64 %l, 3\n" \
    "  %own = getelementptr i32, ptr addrspace(3) @counts, i64 %k\n" \
    "  %out = getelementptr i32, ptr %y, i64 %i\n" \
    "  store i32 0, ptr addrspace(3) %own\n" GROUPS_BARRIER \
    "  %old = atomicrmw add ptr addrspace(3) %own, i32 5 monotonic\n" \
    "  %flat = addrspacecast ptr addrspace(3) %own to ptr\n" \
    "  %odd = trunc i64 %l to i1\n" \
    "  %any = select i1 %odd, ptr %flat, ptr " address "\n" \
    "  %c = cmpxchg ptr %any, i32 10, i32 100 monotonic " \
    "monotonic\n" GROUPS_BARRIER "  %v = load i32, ptr addrspace(3) %own\n" \
    "  store i32 %v, ptr %out\n" \
    "  ret i32 0\n" \
    "}\n"

static int has_atomics(const char *module, const char *name)
{
    outcome o;
    int has;

    group_prepare(&o, module, (group_build){2, KILN__GROUP_FORM_BEST},
                  KILN_EMIT_LLVM_OPT);
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s", o.message);
    has = strstr(o.bytes, name) != NULL;
    free(o.bytes);
    return has;
}

static void memory_of_the_group_has_no_atomics(void **state)
{
    (void)state;
    assert_false(has_atomics(MODULE("%flat"), "atomicrmw"));
    assert_false(has_atomics(MODULE("%flat"), "cmpxchg"));
}

/* Other groups may use the array at the same time. */
static void what_may_be_elsewhere_stays_atomic(void **state)
{
    (void)state;
    assert_false(has_atomics(MODULE("%y"), "atomicrmw"));
    assert_true(has_atomics(MODULE("%y"), "cmpxchg"));
}

static void counts_are_right(void **state)
{
    const group_shape shape = {{16, 1, 1}, {8, 1, 1}};

    (void)state;
    for (size_t b = 0; b < GROUP_BUILDS; b++) {
        int32_t data[16] = {0};

        assert_int_equal(
            group_run(MODULE("%flat"), group_builds[b], &shape, data, 16), 0);
        for (int i = 0; i < 16; i++)
            assert_int_equal(data[i], 100);
    }
}

/* ---- memory of others ---- */

/* An item adds to an element of the launch's array. */
#define ADDS(more) \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %k = and i64 %i, 3\n" \
    "  %at = getelementptr i32, ptr %y, i64 %k\n" \
    "  %old = atomicrmw add ptr %at, i32 5 monotonic\n" more "  ret i32 0\n" \
    "}\n"
#define USES "  store i32 %old, ptr %y\n"
#define READS "  %v = load atomic i32, ptr %y monotonic, align 4\n"
#define READS_VOLATILE "  %v = load volatile i32, ptr %y\n"
#define SWAPS "  %c = cmpxchg ptr %at, i32 10, i32 100 monotonic monotonic\n"

static void a_kernel_that_ignores_old_values_may_be_alone(void **state)
{
    (void)state;
    assert_true(has_atomics(ADDS(""), "define internal i32 @k.alone("));
    assert_true(has_atomics(ADDS(""), "define internal i32 @k.shared("));
    assert_true(has_atomics(ADDS(""), "ptr @k.shared, ptr @k.alone)"));
}

/* They might wait for what another thread does. */
static void other_kernels_share(void **state)
{
    static const char *const modules[] = {ADDS(USES), ADDS(READS), ADDS(SWAPS),
                                          ADDS(READS_VOLATILE)};

    (void)state;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        assert_false(has_atomics(modules[i], "k.alone"));
        assert_true(has_atomics(modules[i], "ptr @k.shared, ptr null)"));
    }
}

static void kernels_without_them_do_not_ask(void **state)
{
    (void)state;
    assert_false(has_atomics(MODULE("%flat"), "kiln_host_alone"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_the_group_has_no_atomics),
        cmocka_unit_test(what_may_be_elsewhere_stays_atomic),
        cmocka_unit_test(counts_are_right),
        cmocka_unit_test(a_kernel_that_ignores_old_values_may_be_alone),
        cmocka_unit_test(other_kernels_share),
        cmocka_unit_test(kernels_without_them_do_not_ask),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
