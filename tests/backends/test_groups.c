/* test_groups.c - what the items of a group do together, against plain C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host thread */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF(name) KILN_TESTS_FOLDER "/language/" name ".kiln"
#define MOST 1000

/* Group sizes that are whole sub-groups, parts of one, and odd. */
static const uint64_t group_sizes[] = {1,  2,  3,  7,  8,   15,  16,  17,
                                       31, 32, 33, 64, 100, 128, 255, 256};
static const uint64_t grids[] = {1, 5, 16, 63, 64, 65, 255, 256, 257, MOST};

typedef struct shape {
    kernels *k;
    const kiln_config *config;
    uint64_t grid;
    uint64_t block;
} shape;

static kiln_status run(const shape *s, const char *kernel, const char *out_type,
                       void *out, const char *in_type, const void *in,
                       const int64_t *n, kiln_error **error)
{
    const kiln_launch launch = {.grid = {s->grid, 1, 1},
                                .block = {(uint32_t)s->block, 1, 1}};
    void *from;
    kiln_array outs, ins;

    memcpy(&from, &in, sizeof from); /* only read by the kernel */
    outs = kernels_array(out, (int64_t)s->grid);
    ins = kernels_array(from, (int64_t)s->grid);
    {
        const kernels_argument arguments[] = {
            {out_type, &outs}, {in_type, &ins}, {"i64", n}};

        return kernels_launch(s->k, kernels_load(s->k, FILE_OF("groups")),
                              kernel, s->config, &launch, arguments,
                              in == NULL  ? 1
                              : n == NULL ? 2
                                          : 3,
                              error);
    }
}

static void for_config(kernels *k, const kiln_config_options *options,
                       void (*check)(const shape *s))
{
    shape s = {.k = k};

    s.config = kernels_config(k, options);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        for (size_t j = 0; j < sizeof group_sizes / sizeof *group_sizes; j++) {
            const kiln_launch launch = {
                .grid = {grids[i], 1, 1},
                .block = {(uint32_t)group_sizes[j], 1, 1}};

            s.grid = grids[i];
            s.block = group_sizes[j];
            if (kernels_takes(&launch))
                check(&s);
        }
}

/* Calls check(shape) for every grid and group size: as usual, not optimised,
   and without bounds checks. */
static void for_shapes(void **state, void (*check)(const shape *s))
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    for_config(*state, &options, check);
    options.opt_level = KILN_OPT_0;
    for_config(*state, &options, check);
    options.opt_level = KILN_OPT_3;
    options.bounds_checks = KILN_SWITCH_OFF;
    for_config(*state, &options, check);
}

static int64_t value_of(uint64_t i)
{
    return (int64_t)(i * 37 % 97);
}

static void fill(int64_t *x, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        x[i] = value_of(i);
}

static const kiln_config *config_of(void **state)
{
    const kernels *k = *state;

    return k->config;
}

/* The group of item `i`: its first item and the one behind its last. */
static void group_of(const shape *s, uint64_t i, uint64_t *first,
                     uint64_t *last)
{
    *first = i / s->block * s->block;
    *last = *first + s->block < s->grid ? *first + s->block : s->grid;
}

static void assert_same(const shape *s, const int64_t *out,
                        const int64_t *expected)
{
    for (uint64_t i = 0; i < s->grid; i++)
        if (out[i] != expected[i])
            fail_msg("grid %d, block %d, item %d: %ld instead of %ld",
                     (int)s->grid, (int)s->block, (int)i, (long)out[i],
                     (long)expected[i]);
}

static void check_integers(const shape *s, const char *kernel,
                           const int64_t *expected, const int64_t *n)
{
    int64_t x[MOST], out[MOST] = {0};

    fill(x, s->grid);
    assert_ok(run(s, kernel, "i64[:]", out, "i64[:]", x, n, &test_error));
    assert_same(s, out, expected);
}

/* ---- barriers and local arrays ---- */

static void check_tree(const shape *s)
{
    float x[MOST], out[MOST] = {0};

    for (uint64_t i = 0; i < s->grid; i++)
        x[i] = (float)(i % 13);
    assert_ok(run(s, "tree", "f32[:]", out, "f32[:]", x, NULL, &test_error));
    for (uint64_t g = 0; g * s->block < s->grid; g++) {
        uint64_t first, last;
        float sum = 0; /* of small integers: exact in any order */

        group_of(s, g * s->block, &first, &last);
        for (uint64_t i = first; i < last; i++)
            sum += x[i];
        assert_true(out[g] == sum);
    }
}

static void a_tree_reduction_sums_each_group(void **state)
{
    for_shapes(state, check_tree);
}

static void check_scan(const shape *s)
{
    int64_t expected[MOST];

    for (uint64_t i = 0; i < s->grid; i++) {
        uint64_t first, last;

        group_of(s, i, &first, &last);
        expected[i] = (i > first ? expected[i - 1] : 0) + value_of(i);
    }
    check_integers(s, "scan", expected, NULL);
}

static void a_scan_sums_what_came_before(void **state)
{
    for_shapes(state, check_scan);
}

static void check_stencil(const shape *s)
{
    double x[MOST], out[MOST] = {0};

    for (uint64_t i = 0; i < s->grid; i++)
        x[i] = (double)value_of(i);
    assert_ok(run(s, "stencil", "f64[:]", out, "f64[:]", x, NULL, &test_error));
    for (uint64_t i = 0; i < s->grid; i++) {
        const double left = i > 0 ? x[i - 1] : x[i];
        const double right = i + 1 < s->grid ? x[i + 1] : x[i];

        assert_true(out[i] == (left + x[i] + right) / 3);
    }
}

static void a_stencil_reads_its_halo(void **state)
{
    for_shapes(state, check_stencil);
}

static void check_callee(const shape *s)
{
    int64_t expected[MOST];

    for (uint64_t i = 0; i < s->grid; i++) {
        uint64_t first, last;
        int64_t sum = 0, squares = 0;

        group_of(s, i, &first, &last);
        for (uint64_t j = first; j < last; j++) {
            sum += value_of(j);
            squares += value_of(j) * value_of(j);
        }
        expected[i] = sum * 1000 + squares + value_of(i);
    }
    check_integers(s, "callee", expected, NULL);
}

static void a_barrier_in_a_callee_waits_for_the_group(void **state)
{
    for_shapes(state, check_callee);
}

/* kernel control of groups.kiln, for one group of `count` values. */
static void control_in_c(int64_t *v, uint64_t count, int64_t n)
{
    int64_t t[256];
    uint64_t l;

    memcpy(t, v, count * sizeof *t);
    for (l = 0; l < count; l++)
        v[l] = n > 2 ? v[l] + t[(l + 1) % count] : -v[l];
    for (int64_t k = 0; k < n && k != 5; k++) {
        memcpy(t, v, count * sizeof *t);
        for (l = 0; l < count && k != 1; l++)
            v[l] += t[(l + (uint64_t)k) % count];
    }
    for (int64_t k = 0; k <= n || k == 0; k++) {
        for (l = 0; l < count; l++)
            t[l] = v[l] + k;
        for (l = 0; l < count; l++)
            v[l] = t[count - 1 - l];
    }
    for (int64_t k = 0; k < 3; k++) {
        const int64_t first = v[0] * k;

        for (l = 0; l < count; l++)
            v[l] += first;
    }
}

static void check_control(const shape *s)
{
    for (int64_t n = 0; n < 8; n += n < 3 ? 1 : 4) {
        int64_t expected[MOST];

        fill(expected, s->grid);
        for (uint64_t i = 0; i < s->grid; i += s->block) {
            uint64_t first, last;

            group_of(s, i, &first, &last);
            control_in_c(expected + first, last - first, n);
        }
        check_integers(s, "control", expected, &n);
    }
}

static void barriers_stand_under_uniform_control(void **state)
{
    for_shapes(state, check_control);
}

static void check_early(const shape *s)
{
    for (int64_t n = 0; n < 3; n++) {
        int64_t expected[MOST];

        for (uint64_t i = 0; i < s->grid; i++) {
            uint64_t first, last;

            group_of(s, i, &first, &last);
            expected[i] = -1;
            if (n > 0 && i - first <= 3) {
                const int64_t turns = (int64_t)(i - first) + 1;

                expected[i] = value_of(first) + 100 * (turns < n ? turns : n);
            }
        }
        check_integers(s, "early", expected, &n);
    }
}

static void items_return_early(void **state)
{
    for_shapes(state, check_early);
}

static void a_tile_transposes(void **state)
{
    static const int64_t sizes[] = {1, 15, 16, 17, 33, 40};
    static float x[40 * 40], out[40 * 40];
    kernels *k = *state;

    for (int i = 0; i < 40 * 40; i++)
        x[i] = (float)i;
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
            const int64_t n = sizes[a], m = sizes[b];
            kiln_array outs = kernels_array2(out, m, n);
            kiln_array ins = kernels_array2(x, n, m);
            const kernels_argument arguments[] = {{"f32[:,:]", &outs},
                                                  {"f32[:,:]", &ins}};
            const kiln_launch launch = {.grid = {(uint64_t)(n + 15) / 16 * 16,
                                                 (uint64_t)(m + 15) / 16 * 16,
                                                 1},
                                        .block = {16, 16, 1}};

            memset(out, 0, sizeof out);
            assert_ok(kernels_launch(k, kernels_load(k, FILE_OF("groups")),
                                     "transpose", k->config, &launch, arguments,
                                     2, &test_error));
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < m; j++)
                    assert_true(out[j + i * m] == x[i + j * n]);
        }
}

static uint64_t mirrored(uint64_t i, uint64_t block, uint64_t grid)
{
    const uint64_t first = i / block * block;
    const uint64_t last = first + block < grid ? first + block : grid;

    return first + (last - 1 - i);
}

static void groups_have_three_dimensions(void **state)
{
    static const uint32_t blocks[][3] = {{4, 4, 4}, {1, 1, 1}, {3, 2, 4},
                                         {4, 1, 2}, {1, 4, 3}, {1, 2, 3}};
    static int64_t x[7 * 6 * 9], out[7 * 6 * 9];
    kernels *k = *state;
    kiln_array outs = {.data = out, .sizes = {7, 6, 9}, .strides = {1, 7, 42}};
    kiln_array ins = {.data = x, .sizes = {7, 6, 9}, .strides = {1, 7, 42}};
    const kernels_argument arguments[] = {{"i64[:,:,:]", &outs},
                                          {"i64[:,:,:]", &ins}};

    for (int64_t i = 0; i < 7 * 6 * 9; i++)
        x[i] = i;
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        kiln_launch launch = {.grid = {7, 6, 9}};

        memcpy(launch.block, blocks[b], sizeof blocks[b]);
        if (!kernels_takes(&launch))
            continue;
        assert_ok(kernels_launch(k, kernels_load(k, FILE_OF("groups")),
                                 "mirror", k->config, &launch, arguments, 2,
                                 &test_error));
        for (uint64_t i = 0; i < 7 * 6 * 9; i++)
            assert_int_equal(out[i],
                             mirrored(i % 7, blocks[b][0], 7) +
                                 7 * mirrored(i / 7 % 6, blocks[b][1], 6) +
                                 42 * mirrored(i / 42, blocks[b][2], 9));
    }
}

/* kernel own_ways of groups.kiln, for one group. */
static void own_ways_in_c(int64_t *v, uint64_t count, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const int64_t first = v[0] + k;

        for (uint64_t l = 0; l < count; l++)
            v[l] += ((int64_t)l + k) % 3 == 0 ? 1 : first % 5 - k;
    }
    for (uint64_t l = 0; l < count; l++) {
        const int odd = v[l] % 2 != 0;

        if (odd && n > 1)
            v[l] += 1000;
        if (odd && l % 5 != 4)
            v[l] += 10000;
    }
}

static void check_own_ways(const shape *s)
{
    for (int64_t n = 0; n < 6; n += 2) {
        int64_t expected[MOST];

        fill(expected, s->grid);
        for (uint64_t i = 0; i < s->grid; i += s->block) {
            uint64_t first, last;

            group_of(s, i, &first, &last);
            own_ways_in_c(expected + first, last - first, n);
        }
        check_integers(s, "own_ways", expected, &n);
    }
}

static void items_go_their_own_ways_after_barriers(void **state)
{
    for_shapes(state, check_own_ways);
}

static int64_t value_in_c(const shape *s, uint64_t i)
{
    const int64_t x = value_of(i), n = (int64_t)i;
    int64_t most = 0, h;
    uint64_t first, last;

    group_of(s, i, &first, &last);
    for (uint64_t j = first; j < last; j++)
        most = (int64_t)(j % 100) > most ? (int64_t)(j % 100) : most;
    h = (i - first) % 2 == 0 ? 2 * value_of(first) : x - 2 * value_of(first);
    return (x + h * most + 1 + n + x + x + (i % 2 == 0) + x * n) * 10 + 3;
}

static void check_values(const shape *s)
{
    const kiln_launch launch = {.grid = {s->grid, 1, 1},
                                .block = {(uint32_t)s->block, 1, 1}};
    int64_t x[MOST], out[MOST] = {0}, expected[MOST];
    kiln_array outs = kernels_array(out, (int64_t)s->grid);
    kiln_array ins = kernels_array(x, (int64_t)s->grid);
    const kernels_argument arguments[] = {
        {"i64[:]", &outs}, {"i64[:]", &ins}, {"i64[:]", &ins}};

    fill(x, s->grid);
    for (uint64_t i = 0; i < s->grid; i++)
        expected[i] = value_in_c(s, i);
    assert_ok(kernels_launch(s->k, kernels_load(s->k, FILE_OF("groups")),
                             "values", s->config, &launch, arguments, 3,
                             &test_error));
    assert_same(s, out, expected);
}

static void values_of_all_types_live_across_barriers(void **state)
{
    for_shapes(state, check_values);
}

/* ---- loops that are done once for the group ---- */

static void check_dot(const shape *s)
{
    const kiln_launch launch = {.grid = {s->grid, 1, 1},
                                .block = {(uint32_t)s->block, 1, 1}};
    static double x[3000], out[MOST];
    kiln_array outs = kernels_array(out, (int64_t)s->grid);
    kiln_array ins = kernels_array(x, 3000);
    const kernels_argument arguments[] = {
        {"f64[:]", &outs}, {"f64[:]", &ins}, {"f64[:]", &ins}};

    for (int i = 0; i < 3000; i++)
        x[i] = i % 17;
    assert_ok(kernels_launch(s->k, kernels_load(s->k, FILE_OF("groups")),
                             "strided_dot", s->config, &launch, arguments, 3,
                             &test_error));
    for (uint64_t i = 0; i < s->grid; i++) {
        double sum = 0; /* of small integers: exact */

        for (uint64_t j = i; j < 3000; j += s->grid)
            sum += x[j] * x[j];
        assert_true(out[i] == sum);
    }
}

static void a_strided_dot_product_is_right(void **state)
{
    for_shapes(state, check_dot);
}

static void a_matrix_product_is_right(void **state)
{
    enum { N = 37, M = 21, L = 50 };
    static double a[N * L], b[L * M], c[N * M];
    kernels *k = *state;
    kiln_array cs = kernels_array2(c, N, M), as = kernels_array2(a, N, L),
               bs = kernels_array2(b, L, M);
    const kernels_argument arguments[] = {
        {"f64[:,:]", &cs}, {"f64[:,:]", &as}, {"f64[:,:]", &bs}};
    kiln_launch launch = {.grid = {N, M, 1}, .block = {8, 4, 1}};

    if (!kernels_takes(&launch))
        launch = (kiln_launch){.grid = {N, M, 1}, .block = {N, 3, 1}};
    for (int i = 0; i < N * L; i++)
        a[i] = i % 7;
    for (int i = 0; i < L * M; i++)
        b[i] = i % 5;
    assert_ok(kernels_launch(k, kernels_load(k, FILE_OF("groups")), "product",
                             k->config, &launch, arguments, 3, &test_error));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            double sum = 0;

            for (int n = 0; n < L; n++)
                sum += a[i + n * N] * b[n + j * L];
            assert_true(c[i + j * N] == sum);
        }
}

/* ---- operations of a group ---- */

static void check_operations(const shape *s)
{
    int64_t expected[MOST];

    for (uint64_t i = 0; i < s->grid; i++) {
        int64_t sum = 0, low = 1000, high = -1000;
        uint64_t first, last;

        group_of(s, i, &first, &last);
        for (uint64_t j = first; j < last; j++) {
            sum += value_of(j);
            low = value_of(j) < low ? value_of(j) : low;
            high = value_of(j) > high ? value_of(j) : high;
        }
        expected[i] = value_of(i) + sum * 3 + (low + 10 * high) * 5 +
                      value_of(first) * 14;
        if (sum > 100 && high > 3)
            expected[i] += (int64_t)(last - first);
    }
    check_integers(s, "group_operations", expected, NULL);
}

static void groups_add_compare_and_broadcast(void **state)
{
    for_shapes(state, check_operations);
}

static void sums_of_floats_are_in_order(void **state)
{
    const shape s = {
        .k = *state, .config = config_of(state), .grid = 100, .block = 64};
    float x[100], out[100];

    /* Elsewhere the order is another one, though the same every time. */
    if (strcmp(kernels_backend(), "host") != 0)
        test_skip(SKIP_DEVICE, "its items run in another order");
    for (int i = 0; i < 100; i++)
        x[i] = 1.0f / (float)(i + 3);
    assert_ok(
        run(&s, "group_floats", "f32[:]", out, "f32[:]", x, NULL, &test_error));
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t first, last;
        float sum = -0.0f;

        group_of(&s, i, &first, &last);
        for (uint64_t j = first; j < last; j++)
            sum += x[j];
        assert_true(out[i] == sum + x[first] - x[last - 1]);
    }
}

/* ---- sub-groups ---- */

static uint64_t lanes_of(const shape *s)
{
    return kernels_lanes(s->k);
}

/* Value of the lane of i's sub-group, or i's own. */
static int64_t lane_value(const shape *s, uint64_t i, int64_t lane)
{
    uint64_t first, last, at;

    group_of(s, i, &first, &last);
    at = first + (i - first) / lanes_of(s) * lanes_of(s) + (uint64_t)lane;
    return lane >= 0 && lane < (int64_t)lanes_of(s) && at < last ? value_of(at)
                                                                 : value_of(i);
}

static void check_sub_ids(const shape *s)
{
    const uint64_t lanes = lanes_of(s);
    int64_t out[MOST], expected[MOST];

    for (uint64_t i = 0; i < s->grid; i++) {
        const uint64_t l = i % s->block;

        expected[i] = (int64_t)((l / lanes * 1000 + l % lanes) * 100 + lanes);
    }
    assert_ok(run(s, "sub_ids", "i64[:]", out, "", NULL, NULL, &test_error));
    assert_same(s, out, expected);
}

static void sub_groups_have_their_lanes(void **state)
{
    if (!kernels_has(*state, "subgroups"))
        test_skip(SKIP_DEVICE, "it has no sub-groups");
    for_shapes(state, check_sub_ids);
}

static void check_sub_operations(const shape *s)
{
    int64_t expected[MOST];

    for (uint64_t i = 0; i < s->grid; i++) {
        const int64_t own = (int64_t)(i % s->block % lanes_of(s));
        int64_t sum = 0, low = 1000, high = -1000;

        for (int64_t lane = 0; lane < (int64_t)lanes_of(s); lane++) {
            const int64_t v = lane_value(s, i, lane);
            uint64_t first, last;

            group_of(s, i, &first, &last);
            if (i - (uint64_t)own + (uint64_t)lane >= last)
                continue;
            sum += v;
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        expected[i] = sum + (high * 3 + low) * 7 + lane_value(s, i, 0) * 11 +
                      (high > 90 ? 100000 : 0) + (high < 97 ? 200000 : 0);
    }
    check_integers(s, "sub_operations", expected, NULL);
}

static void sub_groups_add_compare_and_broadcast(void **state)
{
    if (!kernels_has(*state, "subgroups"))
        test_skip(SKIP_DEVICE, "it has no sub-groups");
    for_shapes(state, check_sub_operations);
}

static void check_shuffles(const shape *s)
{
    int64_t expected[MOST];

    for (uint64_t i = 0; i < s->grid; i++) {
        const int64_t own = (int64_t)(i % s->block % lanes_of(s));

        expected[i] = lane_value(s, i, 3) + 10 * lane_value(s, i, own ^ 5) +
                      100 * lane_value(s, i, own - 2) +
                      1000 * lane_value(s, i, own + (int64_t)(i % 3));
    }
    check_integers(s, "shuffles", expected, NULL);
}

static void shuffles_read_other_lanes(void **state)
{
    if (!kernels_has(*state, "subgroups"))
        test_skip(SKIP_DEVICE, "it has no sub-groups");
    for_shapes(state, check_shuffles);
}

/* kernel sub_control of groups.kiln, for one sub-group. */
static void sub_control_in_c(int64_t *v, uint64_t count, uint64_t g)
{
    int64_t k = 0, sum = 0, low, high;
    uint64_t l;

    for (l = 0; l < count; l++)
        sum += v[l];
    for (l = 0; l < count && g % 2 == 1; l++)
        v[l] = sum + 1;
    for (;; k++) {
        low = high = v[0];
        for (l = 0; l < count; l++) {
            low = v[l] < low ? v[l] : low;
            high = v[l] > high ? v[l] : high;
        }
        if (high >= 1000)
            break;
        for (l = 0; l < count; l++)
            v[l] = v[l] * 2 + low + 1;
    }
    for (uint64_t n = 0; n < g; n++) {
        const int64_t first = v[0] % 7;

        for (l = 0; l < count; l++)
            v[l] += first;
    }
    high = v[0];
    sum = 0;
    for (l = 0; l < count; l++) {
        high = v[l] > high ? v[l] : high;
        sum += v[l];
    }
    for (l = 0; l < count; l++)
        v[l] = high > 1500 ? v[l] * 100 + k : -(sum * 100 + k);
}

static void check_sub_control(const shape *s)
{
    int64_t expected[MOST];

    fill(expected, s->grid);
    for (uint64_t i = 0; i < s->grid; i += s->block) {
        uint64_t first, last;

        group_of(s, i, &first, &last);
        for (uint64_t g = first; g < last; g += lanes_of(s))
            sub_control_in_c(expected + g,
                             last - g < lanes_of(s) ? last - g : lanes_of(s),
                             (g - first) / lanes_of(s));
    }
    check_integers(s, "sub_control", expected, NULL);
}

static void control_differs_between_sub_groups(void **state)
{
    if (!kernels_has(*state, "subgroups"))
        test_skip(SKIP_DEVICE, "it has no sub-groups");
    for_shapes(state, check_sub_control);
}

/* ---- exceptions ---- */

static void an_exception_after_a_barrier_has_its_item(void **state)
{
    const shape s = {
        .k = *state, .config = config_of(state), .grid = 192, .block = 64};
    int64_t x[192] = {0}, out[192];
    const kiln_exception *exception;
    kiln_error *error = NULL;

    x[150] = 77;
    assert_status(KILN_EEXCEPTION,
                  run(&s, "raises", "i64[:]", out, "i64[:]", x, NULL, &error));
    exception = kiln_error_exception(error);
    assert_non_null(exception);
    assert_int_equal(exception->kind, KILN_EXCEPTION_ASSERTION);
    assert_int_equal(exception->item[0], 150);
    assert_int_equal(exception->group[0], 2);
    kiln_error_free(error);
}

/* ---- threads ---- */

#define MANY 100000

static void run_with_threads(uint32_t threads, float *out, float *x)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_launch launch = {.grid = {MANY, 1, 1}, .block = {100, 1, 1}};
    kiln_array outs = kernels_array(out, MANY);
    kiln_array ins = kernels_array(x, MANY);
    const kernels_argument arguments[] = {{"f32[:]", &outs}, {"f32[:]", &ins}};
    kernels k = {.printed_size = 0};

    options.threads = threads;
    assert_ok(kiln_context_new(&k.context, &options, &test_error));
    kernels_open(&k);
    for (int i = 0; i < 20; i++)
        assert_ok(kernels_launch(&k, kernels_load(&k, FILE_OF("groups")),
                                 "tree", k.config, &launch, arguments, 2,
                                 &test_error));
    kiln_queue_free(k.queue);
    kiln_device_close(k.device);
    kiln_context_free(k.context);
}

static void threads_have_memory_of_their_own(void **state)
{
    static float x[MANY], one[MANY], two[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++)
        x[i] = (float)(i % 31);
    run_with_threads(1, one, x);
    run_with_threads(2, two, x);
    assert_memory_equal(one, two, sizeof one);
    assert_true(one[3] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_reduction_sums_each_group),
        cmocka_unit_test(a_scan_sums_what_came_before),
        cmocka_unit_test(a_stencil_reads_its_halo),
        cmocka_unit_test(a_barrier_in_a_callee_waits_for_the_group),
        cmocka_unit_test(barriers_stand_under_uniform_control),
        cmocka_unit_test(items_return_early),
        cmocka_unit_test(a_tile_transposes),
        cmocka_unit_test(groups_have_three_dimensions),
        cmocka_unit_test(items_go_their_own_ways_after_barriers),
        cmocka_unit_test(values_of_all_types_live_across_barriers),
        cmocka_unit_test(a_strided_dot_product_is_right),
        cmocka_unit_test(a_matrix_product_is_right),
        cmocka_unit_test(groups_add_compare_and_broadcast),
        cmocka_unit_test(sums_of_floats_are_in_order),
        cmocka_unit_test(sub_groups_have_their_lanes),
        cmocka_unit_test(sub_groups_add_compare_and_broadcast),
        cmocka_unit_test(shuffles_read_other_lanes),
        cmocka_unit_test(control_differs_between_sub_groups),
        cmocka_unit_test(an_exception_after_a_barrier_has_its_item),
        cmocka_unit_test(threads_have_memory_of_their_own),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
