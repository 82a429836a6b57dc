/* test_groups_inner.c - the dimension whose neighbours have neighbouring
   elements gets the innermost loop. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

#define SIDE_MAX 64

/* Each item gives its element to its neighbour along the dimension B, through
   the group's memory, and adds twice its own. Elements of neighbours along B
   are neighbours in memory; those of neighbours along A are n apart. */
#define MODULE(a, b) \
    GROUPS_HEAD \
    "@t = internal addrspace(3) global [4096 x i32] undef\n" \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %la = call i64 @kiln_local_id(ptr %item, i32 " a ")\n" \
    "  %lb = call i64 @kiln_local_id(ptr %item, i32 " b ")\n" \
    "  %sb = call i64 @kiln_local_size(ptr %item, i32 " b ")\n" \
    "  %ga = call i64 @kiln_global_id(ptr %item, i32 " a ")\n" \
    "  %gb = call i64 @kiln_global_id(ptr %item, i32 " b ")\n" \
    "  %row = mul i64 %ga, %n\n" \
    "  %at = add i64 %row, %gb\n" \
    "  %p = getelementptr i32, ptr %y, i64 %at\n" \
    "  %v = load i32, ptr %p\n" \
    "  %line = mul i64 %la, %sb\n" \
    "  %own = add i64 %line, %lb\n" \
    "  %s = getelementptr i32, ptr addrspace(3) @t, i64 %own\n" \
    "  store i32 %v, ptr addrspace(3) %s\n" GROUPS_BARRIER \
    "  %after = add i64 %lb, 1\n" \
    "  %is_last = icmp eq i64 %after, %sb\n" \
    "  %to = select i1 %is_last, i64 0, i64 %after\n" \
    "  %other = add i64 %line, %to\n" \
    "  %r = getelementptr i32, ptr addrspace(3) @t, i64 %other\n" \
    "  %w = load i32, ptr addrspace(3) %r\n" \
    "  %twice = shl i32 %v, 1\n" \
    "  %sum = add i32 %twice, %w\n" \
    "  store i32 %sum, ptr %p\n" \
    "  ret i32 0\n" \
    "}\n"

/* The same without the neighbour: what is vectorised. */
#define STREAM(a, b) \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %ga = call i64 @kiln_global_id(ptr %item, i32 " a ")\n" \
    "  %gb = call i64 @kiln_global_id(ptr %item, i32 " b ")\n" \
    "  %row = mul i64 %ga, %n\n" \
    "  %at = add i64 %row, %gb\n" \
    "  %p = getelementptr i32, ptr %y, i64 %at\n" GROUPS_BARRIER \
    "  %v = load i32, ptr %p\n" \
    "  %w = mul i32 %v, 3\n" \
    "  store i32 %w, ptr %p\n" \
    "  ret i32 0\n" \
    "}\n"

/* The dimensions A and B of each module. */
static const struct {
    const char *module;
    uint32_t a, b;
} orders[] = {{MODULE("0", "1"), 0, 1},
              {MODULE("1", "0"), 1, 0},
              {MODULE("0", "2"), 0, 2},
              {MODULE("2", "1"), 2, 1},
              {MODULE("1", "2"), 1, 2}};

#define ORDERS (sizeof orders / sizeof *orders)

static const uint32_t sides[][4] = {/* grid and group along A, then B */
                                    {1, 1, 1, 1},    {6, 2, 8, 4},
                                    {3, 1, 64, 64},  {64, 64, 5, 1},
                                    {16, 8, 48, 16}, {10, 5, 33, 11}};

static int32_t wanted(uint32_t a, uint32_t b, const uint32_t side[4])
{
    const uint32_t first = b / side[3] * side[3];
    const uint32_t neighbour = first + (b - first + 1) % side[3];
    const int32_t line = (int32_t)(a * side[2]);

    return 2 * (line + (int32_t)b) + line + (int32_t)neighbour;
}

static void check(size_t order, size_t k)
{
    static int32_t data[SIDE_MAX * SIDE_MAX];
    const uint32_t *side = sides[k];
    group_shape shape = {{1, 1, 1}, {1, 1, 1}};

    shape.grid[orders[order].a] = side[0];
    shape.block[orders[order].a] = side[1];
    shape.grid[orders[order].b] = side[2];
    shape.block[orders[order].b] = side[3];
    for (size_t build = 0; build < GROUP_BUILDS; build++) {
        for (int32_t i = 0; i < SIDE_MAX * SIDE_MAX; i++)
            data[i] = i;
        assert_int_equal(group_run(orders[order].module, group_builds[build],
                                   &shape, data, side[2]),
                         0);
        for (uint32_t a = 0; a < side[0]; a++)
            for (uint32_t b = 0; b < side[2]; b++)
                assert_int_equal(data[a * side[2] + b], wanted(a, b, side));
    }
}

static void groups_of_any_shape_are_right(void **state)
{
    (void)state;
    for (size_t order = 0; order < ORDERS; order++)
        for (size_t k = 0; k < sizeof sides / sizeof *sides; k++)
            check(order, k);
}

static int loads_vectors(const char *module)
{
    return group_optimised_has(module, "= load <");
}

static void neighbours_along_any_dimension_are_vectors(void **state)
{
    (void)state;
    assert_true(loads_vectors(STREAM("1", "0")));
    assert_true(loads_vectors(STREAM("0", "1")));
    assert_true(loads_vectors(STREAM("0", "2")));
    assert_true(loads_vectors(STREAM("2", "1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_any_shape_are_right),
        cmocka_unit_test(neighbours_along_any_dimension_are_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
