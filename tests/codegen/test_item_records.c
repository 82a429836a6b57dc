/* test_item_records.c - items that have a record of numbers each. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

/*
 * An item reads and writes a record of up to four numbers. An argument says how
 * far records are apart, and where those that are read begin. The former is
 * nearly always as many elements as are accessed, but whatever it is, the
 * kernel must do what it does without optimisation.
 */

#define ITEMS 100
#define ROOM (5 * ITEMS + 8)

#define FIRST \
    "define i32 @k(ptr %item, ptr %y, i64 %all) {\n" \
    "  %n = and i64 %all, 255\n" \
    "  %m1 = lshr i64 %all, 8\n" \
    "  %m = and i64 %m1, 255\n" \
    "  %away = lshr i64 %all, 16\n" \
    "  %x = getelementptr i32, ptr %y, i64 %away\n" \
    "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %at = mul i64 %i, %n\n" \
    "  %to = mul i64 %i, %m\n" \
    "  %x0 = getelementptr i32, ptr %x, i64 %at\n" \
    "  %y0 = getelementptr i32, ptr %y, i64 %to\n" \
    "  %a = load i32, ptr %x0\n"
#define READ(number, name) \
    "  %x" number " = getelementptr i32, ptr %x0, i64 " number "\n" \
    "  %" name " = load i32, ptr %x" number "\n"
#define WRITE(number, name) \
    "  %y" number " = getelementptr i32, ptr %y0, i64 " number "\n" \
    "  store i32 %" name ", ptr %y" number "\n"
#define LAST "  ret i32 0\n}\n"

/* Complex numbers, squared. */
static const char pairs[] = GROUPS_HEAD FIRST READ(
    "1", "b") "  %r = mul i32 %a, %a\n"
              "  %s = mul i32 %b, %b\n"
              "  %re = sub i32 %r, %s\n"
              "  %t = mul i32 %a, %b\n"
              "  %im = shl i32 %t, 1\n"
              "  store i32 %re, ptr %y0\n" WRITE("1", "im") LAST;
/* Three of them are summed up, and written in turn. */
static const char triples[] = GROUPS_HEAD FIRST READ("1", "b")
    READ("2", "c") "  %r = add i32 %a, %b\n"
                   "  %s = add i32 %r, %c\n"
                   "  store i32 %s, ptr %y0\n" WRITE("2", "a") WRITE("1", "c")
                       LAST;
/* Where the first is even, the others are written. */
static const char some[] = GROUPS_HEAD FIRST READ("1", "b")
    READ("3", "d") "  store i32 %d, ptr %y0\n"
                   "  %l = and i32 %a, 1\n"
                   "  %odd = icmp ne i32 %l, 0\n"
                   "  br i1 %odd, label %end, label %even\n"
                   "even:\n" WRITE("1", "b") WRITE("2", "a") "  br label %end\n"
                                                             "end:\n" LAST;

static const struct {
    const char *text;
    int64_t length; /* of a record, at least */
} modules[] = {{pairs, 2}, {triples, 3}, {some, 4}};

static void run_records(const outcome *o, uint64_t items,
                        const int64_t *lengths, int is_in_place, int32_t *data)
{
    const struct {
        int32_t *y;
        int64_t all;
    } arguments = {data, lengths[0] | lengths[1] << 8 |
                             (int64_t)(is_in_place ? 0 : ROOM) << 16};
    launch l = make_launch(items, 1, 1, items, 1, 1);

    for (int32_t i = 0; i < 2 * ROOM; i++)
        data[i] = i * 7 % 31 + i;
    assert_int_equal(run_image(o, &l, &arguments), 0);
}

static void records_of_any_length_are_right(void **state)
{
    static int32_t expected[2 * ROOM], data[2 * ROOM];

    (void)state;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        outcome plain, fast;

        group_make(&plain, modules[i].text, 0, KILN_EMIT_BINARY);
        group_make(&fast, modules[i].text, 2, KILN_EMIT_BINARY);
        for (int64_t n = modules[i].length; n <= 5; n++)
            for (int64_t m = modules[i].length; m <= 5; m++)
                for (uint64_t items = 1; items <= ITEMS; items += 11)
                    for (int is_in_place = 0; is_in_place <= (n == m);
                         is_in_place++) {
                        const int64_t lengths[] = {n, m};

                        run_records(&plain, items, lengths, is_in_place,
                                    expected);
                        run_records(&fast, items, lengths, is_in_place, data);
                        assert_memory_equal(data, expected, sizeof data);
                    }
        free(plain.bytes);
        free(fast.bytes);
    }
}

static void records_are_loaded_as_vectors(void **state)
{
    (void)state;
    assert_true(group_optimised_has(pairs, "%strided.vec = "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_any_length_are_right),
        cmocka_unit_test(records_are_loaded_as_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
