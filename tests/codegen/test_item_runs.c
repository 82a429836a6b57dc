/* test_item_runs.c - items whose places grow like their numbers for a while. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"
#include "support/written.h"

/*
 * An item combines its id with one or two numbers that are the same for all
 * items, reads an element whose place depends on that, and changes an element
 * of its own. An argument has both numbers: it is not negative. Each kernel is
 * compiled without optimisation and with it, and must do the same, for numbers
 * of all kinds.
 */

#define ROOM 512 /* that items write; as many follow, which they read */
#define KERNELS 100

static const char *const operations[] = {"and",  "or",   "xor",  "lshr",
                                         "sdiv", "udiv", "srem", "urem"};

static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

/* Writes the id in 16, 32 or 64 bits, with something fixed added. */
static void put_moving(written *text, unsigned bits)
{
    static const int numbers[] = {0, 0, 1, 5, 16, -3, -100, 32700};
    static const char *const far[] = {"0", "0", "9223372036854775700",
                                      "-9223372036854775700"};

    if (bits == 64)
        written_put(text, "  %%t = add i64 %%x, %s\n", far[pick(4)]);
    else
        written_put(text, "  %%t = trunc i64 %%x to i%u\n", bits);
    written_put(text, "  %%v = %s i%u %%t, %d\n", pick(3) ? "add" : "sub", bits,
                numbers[pick(sizeof numbers / sizeof *numbers)]);
}

/* Writes an operation on %v and on a number of the launch, or on a constant. */
static void put_operation(written *text, unsigned bits, const char *name,
                          const char *fixed)
{
    static const int numbers[] = {3, 15, 31, 32, 64, 127, -32, -16, 4};
    const unsigned which = pick(8);

    written_put(text, "  %%%s = %s i%u %%v, ", name, operations[which], bits);
    if (which > 3)
        written_put(text, "%s\n", pick(4) ? "%divisor" : "%negative");
    else if (pick(4) == 0)
        written_put(text, "%d\n",
                    which == 3
                        ? (int)pick(bits)
                        : numbers[pick(sizeof numbers / sizeof *numbers)]);
    else if (which == 3)
        written_put(text, "%%count\n");
    else
        written_put(text, "%s\n", fixed);
}

static void put_kernel(written *text)
{
    static const unsigned widths[] = {8, 16, 32, 64};
    const unsigned bits = widths[pick(4)];

    written_put(text,
                GROUPS_HEAD
                "define i32 @k(ptr %%item, ptr %%y, i64 %%both) {\n"
                "  %%x = call i64 @kiln_global_id(ptr %%item, i32 0)\n"
                "  %%lower = and i64 %%both, 65535\n"
                "  %%higher = lshr i64 %%both, 16\n"
                "  %%n1 = sub i64 %%lower, 1000\n"
                "  %%m1 = sub i64 %%higher, 1000\n"
                "  %%n0 = %s i64 %%n1 to i%u\n"
                "  %%m0 = %s i64 %%m1 to i%u\n"
                "  %%count = and i%u %%n0, %u\n"
                "  %%positive = and i%u %%n0, %d\n"
                "  %%divisor = or i%u %%positive, 2\n"
                "  %%negative = xor i%u %%divisor, -1\n",
                bits == 64 ? "bitcast" : "trunc", bits,
                bits == 64 ? "bitcast" : "trunc", bits, bits, bits - 1, bits,
                bits == 8 ? 127 : 511, bits, bits);
    put_moving(text, bits);
    put_operation(text, bits, "a", "%n0");
    put_operation(text, bits, "b", pick(2) ? "%n0" : "%m0");
    written_put(text,
                "  %%s = %s i%u %%a, %%b\n"
                "  %%w = %s i%u %%s to i64\n"
                "  %%low = and i64 %%w, 511\n"
                "  %%place = add i64 %%low, 512\n"
                "  %%from = getelementptr i32, ptr %%y, i64 %%place\n"
                "  %%e = load i32, ptr %%from\n"
                "  %%own = getelementptr i32, ptr %%y, i64 %%x\n"
                "  store i32 %%e, ptr %%own\n"
                "  %%odd = icmp sgt i32 %%e, 1500\n"
                "  br i1 %%odd, label %%more, label %%end\n"
                "more:\n"
                "  %%f = trunc i64 %%w to i32\n"
                "  %%g = mul i32 %%e, %%f\n"
                "  store i32 %%g, ptr %%own\n"
                "  br label %%end\n"
                "end:\n"
                "  ret i32 0\n"
                "}\n",
                pick(2) ? "add" : "sub", bits,
                bits == 64 ? "bitcast"
                : pick(2)  ? "zext"
                           : "sext",
                bits);
}

/* ---- running ---- */

static void run_items(const outcome *o, uint64_t items, int64_t n, int64_t m,
                      int32_t *data)
{
    const struct {
        int32_t *data;
        int64_t both;
    } arguments = {data, (m + 1000) << 16 | (n + 1000)};
    launch l = make_launch(items, 1, 1, items < 300 ? items : 300, 1, 1);

    for (int32_t i = 0; i < 2 * ROOM; i++)
        data[i] = i * 3 + 1;
    assert_int_equal(run_image(o, &l, &arguments), 0);
}

static void compare(const char *module)
{
    static const int64_t numbers[] = {0,  -1, 1,  3,   4,   15,   16,  31,
                                      32, 63, 64, 127, 256, 0x70, -16, 5};
    const size_t count = sizeof numbers / sizeof *numbers;
    static int32_t expected[2 * ROOM], data[2 * ROOM];
    outcome plain, fast;

    group_make(&plain, module, 0, KILN_EMIT_BINARY);
    group_make(&fast, module, 2, KILN_EMIT_BINARY);
    for (size_t i = 0; i < count; i++)
        for (uint64_t items = 1; items <= ROOM; items = items * 3 + 5) {
            const int64_t m = numbers[pick((uint32_t)count)];

            run_items(&plain, items, numbers[i], m, expected);
            run_items(&fast, items, numbers[i], m, data);
            if (memcmp(data, expected, sizeof data) != 0)
                fail_msg("%d items with %d and %d\n%s", (int)items,
                         (int)numbers[i], (int)m, module);
        }
    free(plain.bytes);
    free(fast.bytes);
}

static void items_in_runs_do_what_they_did(void **state)
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

#define PLACED(operation) \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %a = " operation "\n" \
    "  %from = getelementptr i32, ptr %y, i64 %a\n" \
    "  %v = load i32, ptr %from\n" \
    "  %place = add i64 %x, 512\n" \
    "  %own = getelementptr i32, ptr %y, i64 %place\n" \
    "  store i32 %v, ptr %own\n" \
    "  ret i32 0\n" \
    "}\n"

static int loads_vectors(const char *module)
{
    return group_optimised_has(module, "= load <");
}

static void neighbours_are_loaded_as_vectors(void **state)
{
    (void)state;
    assert_true(loads_vectors(PLACED("and i64 %x, %n")));
    assert_true(loads_vectors(PLACED("or i64 %n, %x")));
    assert_true(loads_vectors(PLACED("xor i64 %x, %n")));
    assert_true(loads_vectors(PLACED("and i64 %x, 255")));
    assert_true(loads_vectors(PLACED("urem i64 %x, %n")));
    assert_true(loads_vectors(PLACED("srem i64 %x, %n")));
    assert_true(loads_vectors(PLACED("srem i64 %x, 100")));
}

/* No launch has runs of 16 items there. */
static void short_runs_stay(void **state)
{
    (void)state;
    assert_false(loads_vectors(PLACED("and i64 %x, 7")));
    assert_false(loads_vectors(PLACED("xor i64 %x, 4")));
    assert_false(loads_vectors(PLACED("srem i64 %x, 12")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_in_runs_do_what_they_did),
        cmocka_unit_test(neighbours_are_loaded_as_vectors),
        cmocka_unit_test(short_runs_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
