/* test_wide_rows.c - items that go through several rows do what they did. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"
#include "support/written.h"

/*
 * An item has a row of 16 numbers in an array of 512 of them. It goes through
 * its row two to four times: it sums the row up, with what earlier sums were,
 * or writes to it. Each kernel is compiled without optimisation and with it,
 * and must do the same.
 */

#define ROWS 512
#define LENGTH 16
#define ROOM (ROWS * LENGTH + ROWS) /* the length follows, as an i32 */
#define KERNELS 40

static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

/* Writes a loop with the number `id`; the last sum has the number `sum`.
   Returns the number of the sum that it makes, or `sum`. */
static unsigned put_loop(written *text, unsigned id, unsigned sum, int sums)
{
    static const char *const operations[] = {"fadd", "fsub"};

    written_put(text,
                "  br label %%before%u\n"
                "before%u:\n"
                "  br label %%loop%u\n"
                "loop%u:\n"
                "  %%k%u = phi i64 [ 0, %%before%u ], [ %%n%u, %%loop%u ]\n"
                "  %%a%u = phi float [ 1.0, %%before%u ], [ %%s%u, %%loop%u "
                "]\n"
                "  %%i%u = add i64 %%row, %%k%u\n"
                "  %%p%u = getelementptr float, ptr %%y, i64 %%i%u\n"
                "  %%v%u = load float, ptr %%p%u\n"
                "  %%w%u = %s float %%v%u, %%s%u\n",
                id, id, id, id, id, id, id, id, id, id, id, id, id, id, id, id,
                id, id, id, operations[pick(2)], id, sum);
    if (sums)
        written_put(text, "  %%s%u = %s float %%a%u, %%%s%u\n", id,
                    operations[pick(2)], id, pick(2) ? "v" : "w", id);
    else
        written_put(text,
                    "  store float %%%s%u, ptr %%p%u\n"
                    "  %%s%u = fneg float 0.0\n",
                    pick(4) ? "w" : "v", id, id, id);
    written_put(text,
                "  %%n%u = add i64 %%k%u, 1\n"
                "  %%c%u = icmp ult i64 %%n%u, %%length\n"
                "  br i1 %%c%u, label %%loop%u, label %%done%u\n"
                "done%u:\n",
                id, id, id, id, id, id, id, id);
    return sums ? id : sum;
}

static void put_kernel(written *text)
{
    const unsigned loops = 2 + pick(3);
    unsigned sum = 0;

    written_put(text, "%s",
                GROUPS_HEAD
                "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
                "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n"
                "  %in = icmp slt i64 %x, %n\n"
                "  br i1 %in, label %body, label %end\n"
                "body:\n"
                "  %s0 = fneg float 2.0\n"
                "  %row = mul i64 %x, 16\n"
                "  %last = getelementptr i32, ptr %y, i64 8704\n"
                "  %number = load i32, ptr %last\n"
                "  %length = zext i32 %number to i64\n");
    for (unsigned i = 1; i <= loops; i++)
        sum = put_loop(text, i, sum, i == 1 || pick(2));
    written_put(text,
                "  %%place = add i64 %%x, %d\n"
                "  %%own = getelementptr float, ptr %%y, i64 %%place\n"
                "  store float %%s%u, ptr %%own\n"
                "  br label %%end\n"
                "end:\n"
                "  ret i32 0\n"
                "}\n",
                ROWS * LENGTH, sum);
}

/* ---- running ---- */

static void run_rows(const outcome *o, uint64_t block, int64_t rows,
                     float *data)
{
    const struct {
        float *data;
        int64_t count;
    } arguments = {data, rows};
    const int32_t length = LENGTH;
    launch l = make_launch(ROWS, 1, 1, block, 1, 1);

    for (int i = 0; i < ROOM; i++)
        data[i] = (float)(i * 7 % 23 - 9);
    memcpy(&data[ROOM], &length, sizeof length);
    assert_int_equal(run_image(o, &l, &arguments), 0);
}

static void compare(const char *module)
{
    static const int64_t rows[] = {0, 1, 7, 8, 9, 100, ROWS};
    static float expected[ROOM + 1], data[ROOM + 1];
    outcome plain, fast;

    group_make(&plain, module, 0, KILN_EMIT_BINARY);
    group_make(&fast, module, 2, KILN_EMIT_BINARY);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run_rows(&plain, 64, rows[i], expected);
        run_rows(&fast, 64, rows[i], data);
        if (memcmp(data, expected, sizeof data) != 0)
            fail_msg("%d rows\n%s", (int)rows[i], module);
    }
    free(plain.bytes);
    free(fast.bytes);
}

static int are_together(const char *module)
{
    outcome o;
    int found;

    group_make(&o, module, 2, KILN_EMIT_LLVM_OPT);
    found = strstr(o.bytes, "\nwide") != NULL;
    free(o.bytes);
    return found;
}

static void rows_together_are_what_they_were(void **state)
{
    static char bytes[16384];
    unsigned together = 0;

    (void)state;
    for (size_t i = 0; i < KERNELS; i++) {
        written text = {bytes, sizeof bytes, 0};

        put_kernel(&text);
        compare(bytes);
        together += are_together(bytes) ? 1 : 0;
    }
    assert_in_range(together, KERNELS / 5, KERNELS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_together_are_what_they_were),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
