/* test_grids.c - launches of awkward shapes, against plain C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host thread */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF(name) KILN_TESTS_FOLDER "/language/" name ".kiln"
#define MOST 4200 /* items */

/* Primes, powers of two and their neighbours; blocks of every kind. */
static const kiln_launch lines[] = {
    {{1, 1, 1}, {0, 0, 0}, 0},      {{1, 1, 1}, {256, 1, 1}, 0},
    {{2, 1, 1}, {1, 1, 1}, 0},      {{7, 1, 1}, {16, 1, 1}, 0},
    {{13, 1, 1}, {3, 1, 1}, 0},     {{16, 1, 1}, {16, 1, 1}, 0},
    {{17, 1, 1}, {16, 1, 1}, 0},    {{127, 1, 1}, {31, 1, 1}, 0},
    {{255, 1, 1}, {64, 1, 1}, 0},   {{256, 1, 1}, {100, 1, 1}, 0},
    {{257, 1, 1}, {256, 1, 1}, 0},  {{997, 1, 1}, {255, 1, 1}, 0},
    {{4095, 1, 1}, {0, 0, 0}, 0},   {{4095, 1, 1}, {128, 1, 1}, 0},
    {{4096, 1, 1}, {0, 0, 0}, 0},   {{4096, 1, 1}, {33, 1, 1}, 0},
    {{4097, 1, 1}, {0, 0, 0}, 0},   {{4097, 1, 1}, {7, 1, 1}, 0},
    {{4097, 1, 1}, {256, 1, 1}, 0}, {{0, 0, 0}, {0, 0, 0}, 0},
    {{96, 1, 1}, {48, 1, 1}, 0},    {{4096, 1, 1}, {256, 1, 1}, 0},
};

static const kiln_launch boxes[] = {
    {{1, 1, 1}, {4, 4, 4}, 0},     {{5, 3, 1}, {0, 0, 0}, 0},
    {{31, 17, 1}, {16, 16, 1}, 0}, {{17, 31, 1}, {7, 3, 1}, 0},
    {{1, 64, 1}, {1, 9, 1}, 0},    {{64, 1, 1}, {1, 8, 1}, 0},
    {{7, 5, 3}, {2, 2, 2}, 0},     {{7, 5, 3}, {0, 0, 0}, 0},
    {{13, 11, 7}, {4, 4, 4}, 0},   {{3, 2, 11}, {1, 1, 64}, 0},
    {{16, 16, 16}, {8, 8, 4}, 0},  {{9, 1, 19}, {5, 2, 3}, 0},
    {{2, 3, 5}, {16, 4, 4}, 0},    {{19, 21, 10}, {16, 1, 1}, 0},
    {{40, 6, 12}, {5, 3, 4}, 0},   {{1, 64, 3}, {1, 32, 1}, 0},
};

#define LINE_COUNT (sizeof lines / sizeof *lines)
#define BOX_COUNT (sizeof boxes / sizeof *boxes)

typedef struct shape {
    kernels *k;
    const kiln_config *config;
    kiln_launch launch; /* as it is asked for */
    uint64_t grid[3];
    uint64_t block[3]; /* as it comes out; 0 when the host chooses */
    uint64_t items;
} shape;

static void set_shape(shape *s, const kiln_launch *launch)
{
    s->launch = *launch;
    s->items = 1;
    for (int d = 0; d < 3; d++) {
        s->grid[d] = launch->grid[d] == 0 ? 1 : launch->grid[d];
        s->block[d] = launch->block[d];
        s->items *= s->grid[d];
    }
    assert_true(s->items <= MOST);
}

static void for_config(kernels *k, const kiln_config_options *options,
                       const kiln_launch *launches, size_t count,
                       void (*check)(const shape *s))
{
    shape s = {.k = k};

    s.config = kernels_config(k, options);
    for (size_t i = 0; i < count; i++) {
        set_shape(&s, &launches[i]);
        if (kernels_takes(&launches[i]))
            check(&s);
    }
}

/* Calls check(shape) for each launch: as usual, as it is written, and
   optimised most without checks of bounds. */
static void for_launches(void **state, const kiln_launch *launches,
                         size_t count, void (*check)(const shape *s))
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    for_config(*state, &options, launches, count, check);
    options.opt_level = KILN_OPT_0;
    for_config(*state, &options, launches, count, check);
    options.opt_level = KILN_OPT_3;
    options.bounds_checks = KILN_SWITCH_OFF;
    for_config(*state, &options, launches, count, check);
}

static kiln_status run(const shape *s, const char *kernel,
                       const kernels_argument *arguments, size_t count,
                       kiln_error **error)
{
    return kernels_launch(s->k, kernels_load(s->k, FILE_OF("grids")), kernel,
                          s->config, &s->launch, arguments, count, error);
}

/* Dense, of the grid's shape, behind `first` elements of dimension 0 when that
   is not 0. */
static kiln_array array_of(const shape *s, void *data, int64_t first)
{
    kiln_array a = {.data = data};
    int at = 0;

    if (first != 0)
        a.sizes[at++] = first;
    for (int d = 0; d < 3; d++)
        a.sizes[at++] = (int64_t)s->grid[d];
    return a;
}

static void wrong(const shape *s, const char *what, uint64_t item, int64_t is,
                  int64_t expected)
{
    fail_msg("%s, grid %dx%dx%d, block %ux%ux%u, item %d: %ld instead of %ld",
             what, (int)s->grid[0], (int)s->grid[1], (int)s->grid[2],
             s->launch.block[0], s->launch.block[1], s->launch.block[2],
             (int)item, (long)is, (long)expected);
}

static void ids_of(const shape *s, uint64_t item, uint64_t id[3])
{
    id[0] = item % s->grid[0];
    id[1] = item / s->grid[0] % s->grid[1];
    id[2] = item / s->grid[0] / s->grid[1];
}

/* ---- ids ---- */

static void check_ids(const shape *s)
{
    static int64_t out[3 * MOST];
    const kiln_array outs = array_of(s, out, 3);
    const kernels_argument arguments[] = {{"i64[:,:,:,:]", &outs}};

    memset(out, 0, sizeof out);
    assert_ok(run(s, "ids", arguments, 1, &test_error));
    for (uint64_t i = 0; i < 3 * s->items; i++) {
        const uint64_t d = i % 3;
        uint64_t id[3], block = s->block[d], expected;

        ids_of(s, i / 3, id);
        if (s->block[0] == 0) /* who chooses leaves no edges here */
            block = (uint64_t)out[i] / 5000 % 300;
        if (s->block[0] == 0 && s->items > 1024)
            continue; /* how it parts these is its own */
        if (block == 0 || (s->block[0] == 0 && s->grid[d] % block != 0))
            wrong(s, "size of groups", i, (int64_t)block, (int64_t)s->grid[d]);
        expected =
            ((((id[d] * 300 + id[d] % block) * 5000 + id[d] / block) * 5000 +
              s->grid[d]) *
                 300 +
             block) *
                5000 +
            (s->grid[d] - 1) / block + 1;
        if (out[i] != (int64_t)expected)
            wrong(s, "ids", i, out[i], (int64_t)expected);
    }
}

static void ids_and_sizes_are_those_of_the_launch(void **state)
{
    for_launches(state, lines, LINE_COUNT, check_ids);
    for_launches(state, boxes, BOX_COUNT, check_ids);
}

static void check_visits(const shape *s)
{
    static int32_t out[MOST];
    const kiln_array outs = kernels_array(out, (int64_t)s->items);
    const kernels_argument arguments[] = {{"i32[:]", &outs}};

    memset(out, 0, sizeof out);
    assert_ok(run(s, "visits", arguments, 1, &test_error));
    for (uint64_t i = 0; i < s->items; i++)
        if (out[i] != 1)
            wrong(s, "visits", i, out[i], 1);
}

static void every_item_runs_once(void **state)
{
    for_launches(state, lines, LINE_COUNT, check_visits);
    for_launches(state, boxes, BOX_COUNT, check_visits);
}

/* ---- arrays ---- */

static void check_guarded(const shape *s)
{
    static int32_t x[MOST], out[MOST];
    const int64_t sizes[] = {0, 1, (int64_t)s->items / 2, (int64_t)s->items};

    for (int i = 0; i < MOST; i++)
        x[i] = i * i % 1009;
    for (size_t c = 0; c < 4; c++) {
        const int64_t n = sizes[c];
        const kiln_array outs = kernels_array(out, n);
        const kiln_array ins = kernels_array(x, n);
        const kernels_argument arguments[] = {{"i32[:]", &outs},
                                              {"i32[:]", &ins}};

        memset(out, 0xff, sizeof out);
        assert_ok(run(s, "guarded", arguments, 2, &test_error));
        for (int64_t i = 0; i < MOST; i++) {
            const int32_t expected = i >= n ? -1
                                     : i > 0 && i + 1 < n
                                         ? x[i - 1] - 2 * x[i] + x[i + 1]
                                         : x[i];

            if (out[i] != expected)
                wrong(s, "guarded", (uint64_t)i, out[i], expected);
        }
    }
}

static void items_beyond_an_array_stay_away(void **state)
{
    for_launches(state, lines, LINE_COUNT, check_guarded);
}

static void check_transposed(const shape *s)
{
    static double a[MOST], out[2 * MOST];
    const int64_t n = (int64_t)s->grid[0], m = (int64_t)s->grid[1];
    /* Every other element, the last row first. */
    const kiln_array outs = {
        .data = out + 2 * m * (n - 1),
        .sizes = {m, n},
        .strides = {2, -2 * m},
    };
    const kiln_array ins = kernels_array2(a, n, m);
    const kernels_argument arguments[] = {{"f64[strided :,:]", &outs},
                                          {"f64[:,:]", &ins}};

    for (int i = 0; i < MOST; i++)
        a[i] = i * 0.25;
    for (int i = 0; i < 2 * MOST; i++)
        out[i] = -1;
    assert_ok(run(s, "transposed", arguments, 2, &test_error));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            const double *at = out + 2 * m * (n - 1 - i) + 2 * j;

            if (*at != a[i + n * j] + 0.5 || at[1] != -1)
                wrong(s, "transposed", (uint64_t)(i + n * j), (int64_t)*at,
                      (int64_t)a[i + n * j]);
        }
}

static void strided_arrays_go_backwards(void **state)
{
    for_launches(state, boxes, BOX_COUNT, check_transposed);
}

static void check_four(const shape *s)
{
    static int64_t a[MOST], out[3 * MOST];
    const int64_t left = (int64_t)s->items / 12;
    const kiln_array ins = {.data = a, .sizes = {2, 3, 2, left}};
    const kiln_array outs = {
        .data = out, .sizes = {2, 3, 2, left}, .strides = {1, 3, 9, 18}};
    const kernels_argument arguments[] = {{"i64[strided :,:,:,:]", &outs},
                                          {"i64[:,:,:,:]", &ins}};

    for (int i = 0; i < MOST; i++)
        a[i] = 1000 - i;
    assert_ok(run(s, "four", arguments, 2, &test_error));
    for (int64_t i = 0; i < left * 12; i++) {
        const int64_t at = i % 2 + i / 2 % 3 * 3 + i / 6 % 2 * 9 + i / 12 * 18;

        if (out[at] != 3 * a[i] + i)
            wrong(s, "four", (uint64_t)i, out[at], 3 * a[i] + i);
    }
}

static void arrays_have_four_dimensions(void **state)
{
    for_launches(state, lines, LINE_COUNT, check_four);
}

typedef struct body {
    float at[2];
    double mass;
    uint8_t kind;
} body;

static void check_bodies(const shape *s)
{
    static body in[MOST], out[MOST];
    const float dt = 0.125f;
    const kiln_array outs = kernels_array(out, (int64_t)s->items);
    const kiln_array ins = kernels_array(in, (int64_t)s->items);
    const kernels_argument arguments[] = {
        {"Body[:]", &outs}, {"Body[:]", &ins}, {"f32", &dt}};

    for (int i = 0; i < MOST; i++)
        in[i] = (body){{(float)i, (float)-i}, i * 0.5, (uint8_t)(i * 7)};
    assert_ok(run(s, "bodies", arguments, 3, &test_error));
    for (uint64_t i = 0; i < s->items; i++)
        if (out[i].at[0] != in[i].at[0] + dt * in[i].kind ||
            out[i].at[1] != in[i].at[1] - dt || out[i].mass != 2 * in[i].mass ||
            out[i].kind != (uint8_t)i)
            wrong(s, "bodies", i, (int64_t)out[i].mass, (int64_t)in[i].mass);
}

static void structs_come_and_go_as_in_c(void **state)
{
    kiln_launch flat[BOX_COUNT];

    for (size_t i = 0; i < BOX_COUNT; i++) {
        flat[i] = boxes[i];
        flat[i].grid[2] = 1;
    }
    for_launches(state, flat, BOX_COUNT, check_bodies);
}

/* ---- exceptions ---- */

static void check_one_failure(const shape *s, const char *kernel, int32_t kind,
                              uint64_t bad)
{
    static int64_t out[MOST];
    const int64_t item = (int64_t)bad;
    const kiln_array outs = kernels_array(out, (int64_t)s->items);
    const kernels_argument arguments[] = {{"i64[:]", &outs}, {"i64", &item}};
    kiln_error *error = NULL;
    const kiln_exception *e;
    uint64_t id[3];

    assert_status(KILN_EEXCEPTION, run(s, kernel, arguments, 2, &error));
    e = kiln_error_exception(error);
    assert_int_equal(e->kind, kind);
    ids_of(s, bad, id);
    for (int d = 0; d < 3; d++)
        if (e->item[d] != id[d] ||
            (s->block[0] != 0 && e->group[d] != id[d] / s->block[d]))
            wrong(s, kernel, bad, (int64_t)e->item[d], (int64_t)id[d]);
    kiln_error_free(error);
}

static void check_failures(const shape *s)
{
    const uint64_t bad[] = {0, s->items / 2, s->items - 1};
    int64_t none = -1;
    static int64_t out[MOST];
    const kiln_array outs = kernels_array(out, (int64_t)s->items);
    const kernels_argument arguments[] = {{"i64[:]", &outs}, {"i64", &none}};

    for (int i = 0; i < 3; i++) {
        check_one_failure(s, "one_fails", KILN_EXCEPTION_BOUNDS, bad[i]);
        check_one_failure(s, "one_divides", KILN_EXCEPTION_DIVISION, bad[i]);
        check_one_failure(s, "one_converts", KILN_EXCEPTION_INEXACT, bad[i]);
        check_one_failure(s, "one_asserts", KILN_EXCEPTION_ASSERTION, bad[i]);
        if (s->block[0] > 0 && s->block[0] * s->block[1] * s->block[2] <= 256)
            check_one_failure(s, "one_fails_together", KILN_EXCEPTION_BOUNDS,
                              bad[i]);
    }
    assert_ok(run(s, "one_fails", arguments, 2, &test_error));
    for (uint64_t i = 0; i < s->items; i++)
        if (out[i] != (int64_t)i)
            wrong(s, "one_fails", i, out[i], (int64_t)i);
}

static void the_one_item_that_fails_is_named(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    for_config(*state, &options, lines, LINE_COUNT, check_failures);
    for_config(*state, &options, boxes, BOX_COUNT, check_failures);
    options.opt_level = KILN_OPT_0;
    for_config(*state, &options, boxes, BOX_COUNT, check_failures);
}

static void check_even(const shape *s)
{
    static int64_t out[MOST];
    const int64_t n = 11;
    const kiln_array outs = kernels_array(out, (int64_t)s->items);
    const kernels_argument arguments[] = {{"i64[:]", &outs}, {"i64", &n}};
    kiln_error *error = NULL;

    assert_status(KILN_EEXCEPTION, run(s, "even_divide", arguments, 2, &error));
    assert_int_equal(kiln_error_exception(error)->kind,
                     KILN_EXCEPTION_DIVISION);
    assert_int_equal(kiln_error_exception(error)->item[0] % 2, 0);
    kiln_error_free(error);
}

static void a_quotient_that_may_be_zero_is_no_divisor(void **state)
{
    for_launches(state, lines, LINE_COUNT, check_even);
}

/* ---- atomics ---- */

static void check_counts(const shape *s)
{
    int64_t sums[5] = {0};
    uint32_t bits[3] = {0, 0, ~0u}, bits_in_c[3] = {0, 0, ~0u};
    double reals[1] = {0};
    const int64_t n = (int64_t)s->items;
    const kiln_array all = kernels_array(sums, 5);
    const kiln_array words = kernels_array(bits, 3);
    const kiln_array numbers = kernels_array(reals, 1);
    const kernels_argument arguments[] = {
        {"i64[:]", &all}, {"u32[:]", &words}, {"f64[:]", &numbers}};

    for (uint32_t i = 0; i < s->items; i++) {
        bits_in_c[0] ^= i;
        bits_in_c[1] |= i;
        bits_in_c[2] &= ~i;
    }
    assert_ok(run(s, "counts", arguments, 3, &test_error));
    assert_int_equal(sums[0], n * (n - 1) / 2);
    assert_int_equal(sums[1], -n);
    assert_int_equal(sums[2], 1 - n);
    assert_int_equal(sums[3], n - 1);
    assert_int_equal(sums[4], 2 * n);
    assert_memory_equal(bits, bits_in_c, sizeof bits);
    assert_true(reals[0] == (double)n);
}

static void atomics_count_every_item_once(void **state)
{
    for_launches(state, lines, LINE_COUNT, check_counts);
    for_launches(state, boxes, BOX_COUNT, check_counts);
}

/* ---- groups ---- */

/* The group of an item: its first item and how many it has, by dimension. */
static void group_of(const shape *s, const uint64_t id[3], uint64_t first[3],
                     uint64_t count[3])
{
    for (int d = 0; d < 3; d++) {
        const uint64_t left = s->grid[d] - id[d] / s->block[d] * s->block[d];

        first[d] = id[d] / s->block[d] * s->block[d];
        count[d] = left < s->block[d] ? left : s->block[d];
    }
}

static void check_reversed(const shape *s)
{
    static int64_t out[MOST];
    const kiln_array outs = array_of(s, out, 0);
    const kernels_argument arguments[] = {{"i64[:,:,:]", &outs}};

    if (s->block[0] * s->block[1] * s->block[2] > 256 || s->block[0] == 0)
        return;
    assert_ok(run(s, "reversed", arguments, 1, &test_error));
    for (uint64_t i = 0; i < s->items; i++) {
        uint64_t id[3], first[3], count[3];
        int64_t expected;

        ids_of(s, i, id);
        group_of(s, id, first, count);
        for (int d = 0; d < 3; d++)
            id[d] = first[d] + count[d] - 1 - (id[d] - first[d]);
        expected = (int64_t)(id[0] + 1000 * id[1] + 1000000 * id[2]);
        if (out[i] != expected)
            wrong(s, "reversed", i, out[i], expected);
    }
}

static void groups_of_three_dimensions_share_memory(void **state)
{
    for_launches(state, lines, LINE_COUNT, check_reversed);
    for_launches(state, boxes, BOX_COUNT, check_reversed);
}

/* The number of an item in a full group. */
static uint64_t number_of(const shape *s, const uint64_t id[3])
{
    return id[0] % s->block[0] +
           s->block[0] *
               (id[1] % s->block[1] + s->block[1] * (id[2] % s->block[2]));
}

static int64_t value_of(const uint64_t id[3])
{
    return (int64_t)(id[0] + 100 * id[1] + 10000 * id[2]);
}

typedef struct found {
    int64_t sum, least, most, of_sub_group;
} found;

/* What the group of `id` finds out, in plain C. */
static found find_out(const shape *s, const uint64_t id[3])
{
    uint64_t first[3], count[3];
    const uint64_t width = kernels_lanes(s->k);
    found f = {0, INT64_MAX, INT64_MIN, 0};

    group_of(s, id, first, count);
    for (uint64_t j = 0; j < count[0] * count[1] * count[2]; j++) {
        const uint64_t other[3] = {first[0] + j % count[0],
                                   first[1] + j / count[0] % count[1],
                                   first[2] + j / count[0] / count[1]};
        const int64_t v = value_of(other);

        f.sum += v;
        f.least = v < f.least ? v : f.least;
        f.most = v > f.most ? v : f.most;
        if (number_of(s, other) / width == number_of(s, id) / width)
            f.of_sub_group += v;
    }
    return f;
}

static void check_together(const shape *s)
{
    static int64_t sums[MOST], lanes[MOST];
    static int32_t least[MOST];
    const kiln_array arrays[] = {array_of(s, sums, 0), array_of(s, least, 0),
                                 array_of(s, lanes, 0)};
    const kernels_argument arguments[] = {{"i64[:,:,:]", &arrays[0]},
                                          {"i32[:,:,:]", &arrays[1]},
                                          {"i64[:,:,:]", &arrays[2]}};

    if (s->block[0] == 0)
        return;
    assert_ok(run(s, "together", arguments, 3, &test_error));
    for (uint64_t i = 0; i < s->items; i++) {
        uint64_t id[3];
        found f;

        ids_of(s, i, id);
        f = find_out(s, id);
        if (sums[i] != f.sum + f.most)
            wrong(s, "group sum", i, sums[i], f.sum + f.most);
        if (least[i] != f.least - 7)
            wrong(s, "group minimum", i, least[i], f.least - 7);
        if (kernels_orders_lanes(&s->launch) &&
            lanes[i] != f.of_sub_group * 1000 + (int64_t)number_of(s, id))
            wrong(s, "sub-group", i, lanes[i],
                  f.of_sub_group * 1000 + (int64_t)number_of(s, id));
    }
}

static void groups_cut_by_the_grid_sum_what_is_there(void **state)
{
    if (!kernels_has(*state, "subgroups"))
        test_skip(SKIP_DEVICE, "it has no sub-groups");
    for_launches(state, lines, LINE_COUNT, check_together);
    for_launches(state, boxes, BOX_COUNT, check_together);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_and_sizes_are_those_of_the_launch),
        cmocka_unit_test(every_item_runs_once),
        cmocka_unit_test(items_beyond_an_array_stay_away),
        cmocka_unit_test(strided_arrays_go_backwards),
        cmocka_unit_test(arrays_have_four_dimensions),
        cmocka_unit_test(structs_come_and_go_as_in_c),
        cmocka_unit_test(the_one_item_that_fails_is_named),
        cmocka_unit_test(a_quotient_that_may_be_zero_is_no_divisor),
        cmocka_unit_test(atomics_count_every_item_once),
        cmocka_unit_test(groups_of_three_dimensions_share_memory),
        cmocka_unit_test(groups_cut_by_the_grid_sum_what_is_there),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
