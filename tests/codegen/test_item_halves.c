/* test_item_halves.c - items before and after a certain one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"
#include "support/written.h"

/*
 * An item does one of two things, by how its id compares with a number of the
 * launch. Kernels are compiled without optimisation and with it, and must do
 * the same for numbers of all kinds, and all predicates.
 */

#define ROOM 256 /* that items write; as many follow, which they read */

static const char *const predicates[] = {"slt", "sle", "sgt", "sge",
                                         "ult", "ule", "ugt", "uge"};

/* An argument is not negative, so the number is made of it. */
static void put_kernel(written *text, const char *predicate, int is_swapped)
{
    written_put(text,
                GROUPS_HEAD
                "define i32 @k(ptr %%item, ptr %%y, i64 %%n) {\n"
                "  %%x = call i64 @kiln_global_id(ptr %%item, i32 0)\n"
                "  %%half = sub i64 %%n, 1000\n"
                "  %%large = icmp sgt i64 %%half, 300\n"
                "  %%most = shl i64 %%half, 54\n"
                "  %%d = select i1 %%large, i64 %%most, i64 %%half\n"
                "  %%own = getelementptr i32, ptr %%y, i64 %%x\n"
                "  %%c = icmp %s i64 %s\n"
                "  br i1 %%c, label %%one, label %%other\n"
                "one:\n"
                "  %%p1 = add i64 %%x, 256\n"
                "  %%from1 = getelementptr i32, ptr %%y, i64 %%p1\n"
                "  %%v1 = load i32, ptr %%from1\n"
                "  %%w1 = mul i32 %%v1, 3\n"
                "  br label %%end\n"
                "other:\n"
                "  %%p2 = add i64 %%x, 250\n"
                "  %%from2 = getelementptr i32, ptr %%y, i64 %%p2\n"
                "  %%v2 = load i32, ptr %%from2\n"
                "  br label %%end\n"
                "end:\n"
                "  %%v = phi i32 [ %%w1, %%one ], [ %%v2, %%other ]\n"
                "  store i32 %%v, ptr %%own\n"
                "  ret i32 0\n"
                "}\n",
                predicate, is_swapped ? "%d, %x" : "%x, %d");
}

static void run_items(const outcome *o, uint64_t items, int64_t number,
                      int32_t *data)
{
    const struct {
        int32_t *data;
        int64_t n;
    } arguments = {data, number + 1000};
    launch l = make_launch(items, 1, 1, 64, 1, 1);

    for (int32_t i = 0; i < 2 * ROOM; i++)
        data[i] = i * 7 + 1;
    assert_int_equal(run_image(o, &l, &arguments), 0);
}

static void compare(const char *module)
{
    static const int64_t numbers[] = {-900, -1,  0,   1,   15,  16,
                                      63,   64,  65,  100, 249, 255,
                                      256,  300, 301, 384, 511, 512};
    static int32_t expected[2 * ROOM], data[2 * ROOM];
    outcome plain, fast;

    group_make(&plain, module, 0, KILN_EMIT_BINARY);
    group_make(&fast, module, 2, KILN_EMIT_BINARY);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (uint64_t items = 1; items <= 200; items = items * 4 + 3) {
            run_items(&plain, items, numbers[i], expected);
            run_items(&fast, items, numbers[i], data);
            if (memcmp(data, expected, sizeof data) != 0)
                fail_msg("%d items with %d\n%s", (int)items, (int)numbers[i],
                         module);
        }
    free(plain.bytes);
    free(fast.bytes);
}

static void both_halves_do_what_items_did(void **state)
{
    static char bytes[4096];

    (void)state;
    for (size_t i = 0; i < sizeof predicates / sizeof *predicates; i++)
        for (int is_swapped = 0; is_swapped < 2; is_swapped++) {
            written text = {bytes, sizeof bytes, 0};

            put_kernel(&text, predicates[i], is_swapped);
            compare(bytes);
        }
}

static void no_half_loads_under_a_mask(void **state)
{
    static char bytes[4096];
    written text = {bytes, sizeof bytes, 0};
    outcome o;

    (void)state;
    put_kernel(&text, "sge", 0);
    group_make(&o, bytes, 2, KILN_EMIT_LLVM_OPT);
    assert_non_null(strstr(o.bytes, "= load <"));
    assert_null(strstr(o.bytes, "masked.load"));
    free(o.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_halves_do_what_items_did),
        cmocka_unit_test(no_half_loads_under_a_mask),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
