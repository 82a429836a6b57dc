/* test_host_carried.c - elements that the iteration before has written. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host */
#include <string.h>

#include "support/devices/kernels.h"
#include "support/harness.h"

/*
 * An item goes along its row, and reads what it has just written. That is kept
 * in a register, where nothing else may have been written there. Rows of x and
 * y may overlap, within an item.
 */

#define KERNEL(name, body) \
    "kernel " name "(y: i64[:,:], x: i64[:,:])\n" \
    "    i = global_id(0)\n" \
    "    n = size(y, 0)\n" \
    "    if i < size(y, 1)\n" body "    end\n" \
    "end\n"

static const char text[] = KERNEL(
    "sums",
    "        for k in 1..n\n"
    "            y[k, i] = y[k - 1, i] + x[k, i]\n"
    "        end\n") KERNEL("back",
                            "        for k in n - 2..-1 by -1\n"
                            "            y[k, i] = y[k + 1, i] * 3 - x[k, i]\n"
                            "        end\n")
    KERNEL("steps",
           "        for k in 2..n by 2\n"
           "            y[k, i] = y[k - 2, i] + x[k, i]\n"
           "        end\n") KERNEL("behind",
                                   "        s = 0\n"
                                   "        for k in 1..n\n"
                                   "            y[k, i] = x[k, i] + 1\n"
                                   "            s = s * 2 + y[k - 1, i]\n"
                                   "        end\n"
                                   "        y[0, i] = s\n")
        KERNEL("away", "        for k in 2..n\n"
                       "            y[k, i] = y[k - 2, i] + x[k, i]\n"
                       "        end\n")
            KERNEL("ahead", "        for k in 0..n - 1\n"
                            "            y[k, i] = y[k + 1, i] + x[k, i]\n"
                            "        end\n")
                KERNEL("some",
                       "        for k in 1..n\n"
                       "            if x[k, i] > 0\n"
                       "                y[k, i] = y[k - 1, i] + x[k, i]\n"
                       "            end\n"
                       "        end\n")
                    KERNEL("reads", "        for k in 1..n\n"
                                    "            v = x[k, i]\n"
                                    "            if v > 0\n"
                                    "                v += y[k - 1, i]\n"
                                    "            end\n"
                                    "            y[k, i] = v\n"
                                    "        end\n")
                        KERNEL("two",
                               "        for k in 1..n\n"
                               "            y[k, i] = y[k - 1, i] + x[k, i]\n"
                               "            x[k - 1, i] = y[k, i]\n"
                               "        end\n")
                            KERNEL(
                                "ends",
                                "        for k in 1..n\n"
                                "            if x[k, i] == 5\n"
                                "                break\n"
                                "            end\n"
                                "            y[k, i] = y[k - 1, i] + x[k, i]\n"
                                "        end\n")
                                KERNEL("over",
                                       "        for k in 1..n\n"
                                       "            x[k - 1, i] = k\n"
                                       "            y[k, i] = y[k - 1, i] + 1\n"
                                       "        end\n")
                                    KERNEL("kept",
                                           "        s = 0\n"
                                           "        for k in 1..n\n"
                                           "            v = y[k - 1, i]\n"
                                           "            if v > 0\n"
                                           "                y[k, i] = v + 1\n"
                                           "            end\n"
                                           "            s = s * 2 + v\n"
                                           "        end\n"
                                           "        y[0, i] = s\n");

static const char *const names[] = {"sums", "back",  "steps", "behind",
                                    "away", "ahead", "some",  "reads",
                                    "two",  "ends",  "over",  "kept"};

#define ROWS 21
#define LENGTH 40

static int64_t memory[3 * ROWS * LENGTH];

/* What is run. */
typedef struct going {
    kernels *k;
    const char *name;
    int64_t length, rows;
    int64_t away; /* x begins so many elements behind y */
} going;

static kiln_status run(void *env, const kiln_config *config)
{
    const going *g = env;
    const kiln_array y = kernels_array2(memory, g->length, g->rows);
    const kiln_array x = kernels_array2(memory + g->away, g->length, g->rows);
    const kernels_argument arguments[] = {{"i64[:,:]", &y}, {"i64[:,:]", &x}};
    const kiln_launch launch = {{(uint64_t)g->rows, 1, 1}, {0, 0, 0}, 0};

    for (int i = 0; i < 3 * ROWS * LENGTH; i++)
        memory[i] = i * 7 % 11 - 3;
    assert_ok(kernels_launch(g->k, kernels_define(g->k, "carried", text),
                             g->name, config, &launch, arguments, 2,
                             &test_error));
    return KILN_OK;
}

static void compare(going g)
{
    const char *differs =
        kernels_disagree(g.k, &(kernels_trial){run, &g, memory, sizeof memory});

    if (differs != NULL)
        fail_msg("%s: %d rows of %d, %d away, %s", g.name, (int)g.rows,
                 (int)g.length, (int)g.away, differs);
}

/* The rows of one item may overlap. */
static void rows_are_right(void **state)
{
    static const int64_t lengths[] = {1, 2, 3, 4, 9, LENGTH};
    static const int64_t rows[] = {1, 2, 7, 8, 9, ROWS};

    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t a = 0; a < sizeof lengths / sizeof *lengths; a++) {
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                compare((going){*state, names[n], lengths[a], rows[r],
                                (int64_t)ROWS * LENGTH});
            for (int64_t away = 0; away < 3; away++)
                compare((going){*state, names[n], lengths[a], 1, away});
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_right)};

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
