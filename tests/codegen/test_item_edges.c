/* test_item_edges.c - items at the edges of a grid do what they did. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"
#include "support/written.h"

/*
 * An item compares its id, or a little more or less, takes a minimum or the
 * like of it, reads an element at a place that depends on both, and does
 * something more if the comparison holds. What it is compared with is a small
 * number, or a few less than the length of the array, so most items do the
 * same. Each kernel is compiled without optimisation and with it, and must do
 * the same.
 */

#define ROOM 256 /* that items write; as many follow, which they read */
#define KERNELS 90

static const char *const predicates[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                         "sge", "ult", "ule", "ugt", "uge"};
static const char *const operations[] = {"umin", "umax", "smin", "smax",
                                         "usub.sat"};

static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

/* Writes what an id is compared with. */
static void put_fixed(written *text, const char *name)
{
    static const int numbers[] = {0, 1, 2, 5, 14, 15, 16, 17, 40, -1};
    static const int less[] = {-1, -2, -3, -15, -16, -17, -40, 0, 1};

    if (pick(2))
        written_put(text, "  %%%s = add i64 %d, 0\n", name,
                    numbers[pick(sizeof numbers / sizeof *numbers)]);
    else
        written_put(text, "  %%%s = add i64 %%n, %d\n", name,
                    less[pick(sizeof less / sizeof *less)]);
}

/* The item changes its own element only. */
static void put_kernel(written *text)
{
    static const int moves[] = {0, 0, 0, 1, 2, 15, 16, -1, -2, -15, -16};
    const char *operation =
        operations[pick(sizeof operations / sizeof *operations)];
    const char *predicate =
        predicates[pick(sizeof predicates / sizeof *predicates)];

    written_put(text,
                GROUPS_HEAD "declare i64 @llvm.%s.i64(i64, i64)\n"
                            "define i32 @k(ptr %%item, ptr %%y, i64 %%n) {\n"
                            "  %%x = call i64 @kiln_global_id(ptr %%item, i32 "
                            "0)\n"
                            "  %%in = icmp slt i64 %%x, %%n\n"
                            "  br i1 %%in, label %%body, label %%end\n"
                            "body:\n",
                operation);
    put_fixed(text, "a");
    put_fixed(text, "b");
    written_put(text,
                "  %%moved = add i64 %%x, %d\n"
                "  %%c = icmp %s i64 %%moved, %%a\n"
                "  %%m = call i64 @llvm.%s.i64(i64 %%x, i64 %%b)\n"
                "  %%next = add i64 %%m, 1\n"
                "  %%at = select i1 %%c, i64 %%next, i64 %%%s\n"
                "  %%low = and i64 %%at, 255\n"
                "  %%place = add i64 %%low, 256\n"
                "  %%from = getelementptr i32, ptr %%y, i64 %%place\n"
                "  %%v = load i32, ptr %%from\n"
                "  %%own = getelementptr i32, ptr %%y, i64 %%x\n"
                "  store i32 %%v, ptr %%own\n"
                "  br i1 %%c, label %%more, label %%end\n"
                "more:\n"
                "  %%w = mul i32 %%v, 5\n"
                "  store i32 %%w, ptr %%own\n"
                "  br label %%end\n"
                "end:\n"
                "  ret i32 0\n"
                "}\n",
                moves[pick(sizeof moves / sizeof *moves)], predicate, operation,
                pick(2) ? "m" : "x");
}

/* ---- running ---- */

static void run_items(const outcome *o, uint64_t items, uint64_t block,
                      int64_t n, int32_t *data)
{
    const struct {
        int32_t *data;
        int64_t count;
    } arguments = {data, n};
    launch l = make_launch(items, 1, 1, block, 1, 1);

    for (int32_t i = 0; i < 2 * ROOM; i++)
        data[i] = i * 3 + 1;
    assert_int_equal(run_image(o, &l, &arguments), 0);
}

static void compare(const char *module)
{
    static const uint64_t shapes[][2] = {{1, 1},    {7, 3},     {40, 40},
                                         {100, 32}, {256, 256}, {256, 100}};
    static const int64_t sizes[] = {0, 1, 2, 15, 17, 40, 100, 255, 256};
    static int32_t expected[2 * ROOM], data[2 * ROOM];
    outcome plain, fast;

    group_make(&plain, module, 0, KILN_EMIT_BINARY);
    group_make(&fast, module, 2, KILN_EMIT_BINARY);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            run_items(&plain, shapes[i][0], shapes[i][1], sizes[k], expected);
            run_items(&fast, shapes[i][0], shapes[i][1], sizes[k], data);
            if (memcmp(data, expected, sizeof data) != 0)
                fail_msg("%d of %d items, groups of %d\n%s", (int)sizes[k],
                         (int)shapes[i][0], (int)shapes[i][1], module);
        }
    free(plain.bytes);
    free(fast.bytes);
}

static void items_at_edges_do_what_they_did(void **state)
{
    static char bytes[8192];

    (void)state;
    for (size_t i = 0; i < KERNELS; i++) {
        written text = {bytes, sizeof bytes, 0};

        put_kernel(&text);
        compare(bytes);
    }
}

/* ---- what is gained ---- */

#define NEIGHBOUR(predicate, compared, number) \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %in = icmp slt i64 %x, %n\n" \
    "  br i1 %in, label %body, label %end\n" \
    "body:\n" \
    "  %a = add i64 %n, -1\n" \
    "  %moved = add i64 %x, 2\n" \
    "  %c = icmp " predicate " i64 %" compared ", " number "\n" \
    "  %next = add i64 %x, 1\n" \
    "  %at = select i1 %c, i64 %next, i64 %x\n" \
    "  %from = getelementptr i32, ptr %y, i64 %at\n" \
    "  %v = load i32, ptr %from\n" \
    "  %place = add i64 %x, 256\n" \
    "  %own = getelementptr i32, ptr %y, i64 %place\n" \
    "  store i32 %v, ptr %own\n" \
    "  br label %end\n" \
    "end:\n" \
    "  ret i32 0\n" \
    "}\n"

static int loads_vectors(const char *module)
{
    return group_optimised_has(module, "= load <");
}

static void neighbours_are_loaded_as_vectors(void **state)
{
    (void)state;
    assert_true(loads_vectors(NEIGHBOUR("slt", "x", "%a")));
    assert_true(loads_vectors(NEIGHBOUR("sgt", "x", "3")));
    assert_true(loads_vectors(NEIGHBOUR("slt", "moved", "%n")));
}

/* There might be many items on both sides. */
static void what_is_no_edge_stays(void **state)
{
    (void)state;
    assert_false(loads_vectors(NEIGHBOUR("sgt", "x", "50")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_at_edges_do_what_they_did),
        cmocka_unit_test(neighbours_are_loaded_as_vectors),
        cmocka_unit_test(what_is_no_edge_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
