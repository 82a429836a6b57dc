/* test_host_columns.c - items that walk down columns, many together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host */
#include <string.h>

#include "support/devices/kernels.h"
#include "support/harness.h"

/*
 * Many vectors of items go down columns side by side, and what is left of the
 * items in fewer, under masks. So each kernel runs for numbers of items around
 * the lengths of all these, and must do what it does without optimisation.
 */

static const char text[] = "kernel sums(y, x, s)\n"
                           "    i = global_id(0)\n"
                           "    if i < size(x, 0)\n"
                           "        t = s\n"
                           "        for k in 0..size(x, 1)\n"
                           "            t += x[i, k]\n"
                           "            y[i, k] = t\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "kernel states(y, x, s)\n"
                           "    i = global_id(0) + 1\n"
                           "    if i < size(x, 0)\n"
                           "        a = s\n"
                           "        b = s\n"
                           "        for k in 0..size(x, 1)\n"
                           "            c = x[i, k] + a + b + x[i - 1, k]\n"
                           "            b = a\n"
                           "            a = c - b\n"
                           "            y[i, k] = c\n"
                           "        end\n"
                           "        y[i, 0] = a\n"
                           "    end\n"
                           "end\n"
                           "kernel recurs(y, x, s)\n"
                           "    i = global_id(0)\n"
                           "    if i < size(x, 0)\n"
                           "        y[i, 0] = s\n"
                           "        for k in 1..size(x, 1)\n"
                           "            y[i, k] = y[i, k - 1] + x[i, k]\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "kernel parts(y, x, s)\n"
                           "    i = global_id(0)\n"
                           "    if i < size(x, 0)\n"
                           "        t = s\n"
                           "        for k in size(x, 1) - 1..-1 by -1\n"
                           "            if x[i, k] > t\n"
                           "                t = x[i, k]\n"
                           "                y[i, k] = t\n"
                           "            end\n"
                           "        end\n"
                           "        for k in 0..i\n"
                           "            if k < size(x, 1)\n"
                           "                y[i, k] = y[i, k] + t\n"
                           "            end\n"
                           "        end\n"
                           "    end\n"
                           "end\n";

static const char *const names[] = {"sums", "states", "recurs", "parts"};

#define MOST 700 /* items */
#define ROWS 9

static const int64_t lengths[] = {1,   7,   15,  16,  17,  33,  63,
                                  64,  80,  81,  127, 128, 129, 254,
                                  255, 256, 257, 272, 273, 511, MOST};

static const struct element {
    const char *array;
    const char *scalar;
    size_t size;
} elements[] = {{"f32[:,:]", "f32", 4},
                {"f64[:,:]", "f64", 8},
                {"i32[:,:]", "i32", 4},
                {"u8[:,:]", "u8", 1}};

/* Two arrays, with a row more than they have, which nobody writes. */
typedef union memory {
    float f32[2][MOST * (ROWS + 1)];
    double f64[2][MOST * (ROWS + 1)];
    int32_t i32[2][MOST * (ROWS + 1)];
    uint8_t u8[2][MOST * (ROWS + 1)];
} memory;

static memory space;

static void fill(const struct element *e)
{
    const uint32_t count = 2 * MOST * (ROWS + 1);

    for (uint32_t i = 0; i < count; i++) {
        const int value = (int)(i * 7919U % 101U) - (e->size == 1 ? 0 : 50);

        if (e->scalar[0] == 'f' && e->size == 4)
            space.f32[0][i] = (float)value / 8;
        else if (e->scalar[0] == 'f')
            space.f64[0][i] = value / 8.0;
        else if (e->size == 4)
            space.i32[0][i] = value;
        else
            space.u8[0][i] = (uint8_t)value;
    }
}

/* What is run. */
typedef struct going {
    kernels *k;
    const char *name;
    const struct element *e;
    int64_t items;
} going;

static kiln_status run(void *env, const kiln_config *config)
{
    const going *g = env;
    const struct element *e = g->e;
    char *const bytes = (char *)&space;
    static const uint64_t start = 0; /* of each type */
    const kiln_array y = kernels_array2(bytes, g->items, ROWS);
    const kiln_array x = kernels_array2(
        bytes + (size_t)MOST * (ROWS + 1) * e->size, g->items, ROWS);
    const kernels_argument arguments[] = {
        {e->array, &y}, {e->array, &x}, {e->scalar, &start}};
    const kiln_launch launch = {{(uint64_t)g->items + 3, 1, 1}, {0, 0, 0}, 0};

    fill(e);
    assert_ok(kernels_launch(g->k, kernels_define(g->k, "columns", text),
                             g->name, config, &launch, arguments, 3,
                             &test_error));
    return KILN_OK;
}

static void each_number_of_items_is_right(void **state)
{
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t e = 0; e < sizeof elements / sizeof *elements; e++)
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
                going g = {*state, names[n], &elements[e], lengths[i]};
                const char *differs = kernels_disagree(
                    *state, &(kernels_trial){run, &g, &space, sizeof space});

                if (differs != NULL)
                    fail_msg("%s of %s, %d items, %s", g.name, g.e->scalar,
                             (int)g.items, differs);
            }
}

/* A width that is a size makes a remainder of the loop's bounds, of which LLVM
   does not know that it may be computed once more. */
static void rows_of_a_flat_grid_are_wide(void **state)
{
    static const char text_of_product[] =
        "kernel k(c, a, b)\n"
        "    id = global_id(0)\n"
        "    w = size(c, 0)\n"
        "    i = id % w\n"
        "    j = id // w\n"
        "    if id < length(c)\n"
        "        sum: f32 = 0\n"
        "        for k in 0..size(a, 0)\n"
        "            sum += a[k, j] * b[i, k]\n"
        "        end\n"
        "        c[i, j] = sum\n"
        "    end\n"
        "end\n";
    static const char *const types[] = {"f32[:,:]", "f32[:,:]", "f32[:,:]"};

    kernels_assert_emits(*state, "flat", text_of_product, types, 3, "\nwide");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_flat_grid_are_wide),
        cmocka_unit_test(each_number_of_items_is_right),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
