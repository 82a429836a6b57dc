/* test_scans.c - reductions and scans of the runtime library, against C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host thread */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF(name) KILN_TESTS_FOLDER "/language/" name ".kiln"
#define ITEMS_MAX 1600
#define ROWS 6

typedef struct shape {
    kernels *k;
    const kiln_config *config;
    uint64_t grid[3];
    uint64_t block[3];
} shape;

static kiln_package *package; /* of scans.kiln */
static uint32_t x[ITEMS_MAX];
static uint64_t out[ITEMS_MAX][ROWS]; /* the first index is the row */

static uint64_t items_of(const shape *s)
{
    return s->grid[0] * s->grid[1] * s->grid[2];
}

static kiln_status run(const shape *s, const char *kernel, kiln_error **error)
{
    const int64_t items = (int64_t)items_of(s);
    const kiln_array outs = kernels_array2(out, ROWS, items);
    const kiln_array xs = kernels_array(x, items);
    const kernels_argument arguments[] = {{"u64[:,:]", &outs}, {"u32[:]", &xs}};
    kiln_launch launch = {.grid = {s->grid[0], s->grid[1], s->grid[2]},
                          .block = {0, 0, 0}};

    for (int i = 0; i < 3; i++)
        launch.block[i] = (uint32_t)s->block[i];
    memset(out, 0xa5, sizeof out);
    return kernels_launch(s->k, package, kernel, s->config, &launch, arguments,
                          strcmp(kernel, "ranks") == 0 ? 1 : 2, error);
}

/* ---- the same in C ---- */

typedef struct linear {
    uint32_t p, q;
} linear;

typedef linear (*make_fn)(uint32_t value);
typedef linear (*then_fn)(linear a, linear b);
typedef uint64_t (*word_fn)(linear value);

static linear make_pair(uint32_t value)
{
    return (linear){value, value >> 3};
}

static linear then_pair(linear a, linear b)
{
    return (linear){a.p * b.p, a.q * b.p + b.q};
}

static uint64_t word_of_pair(linear value)
{
    return (uint64_t)value.p << 32 | value.q;
}

static linear make_number(uint32_t value)
{
    return (linear){value & 0xffff, value >> 16};
}

static linear then_number(linear a, linear b)
{
    return (linear){a.p * b.p & 0xffff, (a.q * b.p + b.q) & 0xffff};
}

static uint64_t word_of_number(linear value)
{
    return value.p | value.q << 16;
}

typedef struct algebra {
    const char *kernel;
    make_fn make;
    then_fn then;
    word_fn word;
    int by_sub_group;
} algebra;

/* ---- items, groups and sub-groups ---- */

typedef struct member {
    uint64_t set;   /* its group, or its sub-group of all */
    uint64_t order; /* in its group */
} member;

static uint64_t ceiling(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static member member_of(const shape *s, uint64_t item, int by_sub_group)
{
    const uint64_t id[3] = {item % s->grid[0], item / s->grid[0] % s->grid[1],
                            item / s->grid[0] / s->grid[1]};
    const uint64_t *b = s->block;
    uint64_t group[3], local[3];
    member m;

    for (int i = 0; i < 3; i++) {
        group[i] = id[i] / b[i];
        local[i] = id[i] % b[i];
    }
    m.order = local[0] + b[0] * (local[1] + b[1] * local[2]);
    m.set = group[0] + ceiling(s->grid[0], b[0]) *
                           (group[1] + ceiling(s->grid[1], b[1]) * group[2]);
    if (by_sub_group)
        m.set = m.set * 1024 + m.order / kernels_lanes(s->k);
    return m;
}

typedef struct sorted {
    member m;
    uint64_t item;
} sorted;

static sorted places[ITEMS_MAX];

static int by_place(const void *left, const void *right)
{
    const sorted *a = left, *b = right;

    if (a->m.set != b->m.set)
        return a->m.set < b->m.set ? -1 : 1;
    return a->m.order < b->m.order ? -1 : 1;
}

/* Puts the items in the order of their sets, and in these of their own. */
static void sort_items(const shape *s, int by_sub_group)
{
    for (uint64_t i = 0; i < items_of(s); i++)
        places[i] = (sorted){member_of(s, i, by_sub_group), i};
    qsort(places, items_of(s), sizeof *places, by_place);
}

static uint64_t end_of_set(const shape *s, uint64_t first)
{
    uint64_t end = first;

    while (end < items_of(s) && places[end].m.set == places[first].m.set)
        end++;
    return end;
}

static void expect(const shape *s, const char *kernel, uint64_t place,
                   size_t row, uint64_t value)
{
    const uint64_t item = places[place].item;

    if (out[item][row] != value)
        fail_msg("%s, grid %d %d %d, block %d %d %d, item %d, row %d:"
                 " %llx instead of %llx",
                 kernel, (int)s->grid[0], (int)s->grid[1], (int)s->grid[2],
                 (int)s->block[0], (int)s->block[1], (int)s->block[2],
                 (int)item, (int)row, (unsigned long long)out[item][row],
                 (unsigned long long)value);
}

static void check_set(const shape *s, const algebra *a, uint64_t first,
                      uint64_t end)
{
    linear before = {1, 0}, so_far = {1, 0};

    for (uint64_t i = first; i < end; i++) {
        before = so_far;
        so_far = a->then(so_far, a->make(x[places[i].item]));
        expect(s, a->kernel, i, 1, a->word(so_far));
        expect(s, a->kernel, i, 2, a->word(before));
        if (a->by_sub_group)
            continue;
        expect(s, a->kernel, i, 4, a->word(so_far));
        expect(s, a->kernel, i, 5, a->word(before));
    }
    for (uint64_t i = first; i < end; i++) {
        expect(s, a->kernel, i, 0, a->word(so_far));
        if (!a->by_sub_group)
            expect(s, a->kernel, i, 3, a->word(so_far));
    }
}

static kiln_launch launch_of(const shape *s)
{
    kiln_launch launch = {.grid = {0}};

    for (int i = 0; i < 3; i++) {
        launch.grid[i] = s->grid[i];
        launch.block[i] = (uint32_t)s->block[i];
    }
    return launch;
}

static void check_algebra(const shape *s, const algebra *a)
{
    const kiln_launch launch = launch_of(s);

    if (a->by_sub_group && !kernels_orders_lanes(&launch))
        return;
    assert_ok(run(s, a->kernel, &test_error));
    sort_items(s, a->by_sub_group);
    for (uint64_t i = 0; i < items_of(s); i = end_of_set(s, i))
        check_set(s, a, i, end_of_set(s, i));
}

static const algebra of_groups[] = {
    {"structs", make_pair, then_pair, word_of_pair, 0},
    {"tuples", make_pair, then_pair, word_of_pair, 0},
    {"vectors", make_pair, then_pair, word_of_pair, 0},
    {"numbers", make_number, then_number, word_of_number, 0},
};

static const algebra of_sub_groups[] = {
    {"sub_tuples", make_pair, then_pair, word_of_pair, 1},
    {"sub_vectors", make_pair, then_pair, word_of_pair, 1},
    {"sub_numbers", make_number, then_number, word_of_number, 1},
};

static const algebra by_shuffles = {"sub_shuffles", make_pair, then_pair,
                                    word_of_pair, 1};

/* ---- shapes ---- */

/* Where a grid is whole groups: more of them, or one. */
static shape whole(shape s)
{
    const kiln_launch launch = launch_of(&s);

    if (kernels_takes(&launch))
        return s;
    s.block[2] = s.block[2] < 64 ? s.block[2] : 64;
    for (int i = 0; i < 3; i++)
        s.grid[i] = ceiling(s.grid[i], s.block[i]) * s.block[i];
    if (items_of(&s) > ITEMS_MAX)
        memcpy(s.grid, s.block, sizeof s.grid);
    return s;
}

static shape shape_of(void **state, uint64_t grid, uint64_t block)
{
    kernels *k = *state;

    return whole((shape){k, k->config, {grid, 1, 1}, {block, 1, 1}});
}

/* Grids and groups of two and three dimensions, whole and cut off. */
static const uint64_t awkward[][6] = {
    {20, 10, 1, 8, 4, 1}, {5, 9, 5, 4, 3, 2},   {16, 16, 2, 16, 16, 1},
    {7, 1, 13, 2, 1, 8},  {33, 3, 1, 32, 2, 1}, {1, 30, 1, 1, 17, 1},
    {3, 3, 3, 3, 3, 3},   {40, 7, 3, 5, 3, 16}, {2, 2, 300, 1, 1, 256},
};
#define AWKWARD (sizeof awkward / sizeof *awkward)

static shape awkward_shape(void **state, size_t i)
{
    shape s = shape_of(state, 1, 1);

    memcpy(s.grid, awkward[i], sizeof s.grid);
    memcpy(s.block, awkward[i] + 3, sizeof s.block);
    return whole(s);
}

static const kiln_config *unoptimised(void **state)
{
    kernels *k = *state;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.opt_level = KILN_OPT_0;
    return kernels_config(k, &options);
}

/* ---- tests ---- */

static void a_group_of_every_size_is_reduced_and_scanned(void **state)
{
    for (uint64_t block = 1; block <= 256; block++)
        for (size_t a = 0; a < sizeof of_groups / sizeof *of_groups; a++) {
            const shape s = shape_of(state, 2 * block + block / 3, block);

            check_algebra(&s, &of_groups[a]);
        }
}

static void groups_of_several_dimensions_are_reduced_and_scanned(void **state)
{
    for (size_t i = 0; i < AWKWARD; i++)
        for (size_t a = 0; a < sizeof of_groups / sizeof *of_groups; a++) {
            const shape s = awkward_shape(state, i);

            check_algebra(&s, &of_groups[a]);
        }
}

static void groups_of_up_to_1024_items_are_reduced_and_scanned(void **state)
{
    for (uint64_t block = 257; block <= 1024; block += 59) {
        const shape s = shape_of(state, ITEMS_MAX, block);

        check_algebra(&s, &of_groups[0]);
    }
}

static void sub_groups_are_reduced_and_scanned(void **state)
{
    const size_t count = sizeof of_sub_groups / sizeof *of_sub_groups;

    for (uint64_t block = 1; block <= 256; block += block < 66 ? 1 : 13)
        for (size_t a = 0; a < count; a++) {
            const shape s = shape_of(state, 2 * block + block / 3, block);

            check_algebra(&s, &of_sub_groups[a]);
            check_algebra(&s, &by_shuffles);
        }
    for (size_t i = 0; i < AWKWARD; i++)
        for (size_t a = 0; a < count; a++) {
            const shape s = awkward_shape(state, i);

            check_algebra(&s, &of_sub_groups[a]);
        }
}

static void nothing_depends_on_the_optimiser(void **state)
{
    for (size_t i = 0; i < AWKWARD; i++) {
        shape s = awkward_shape(state, i);

        s.config = unoptimised(state);
        check_algebra(&s, &of_groups[1]);
        check_algebra(&s, &of_sub_groups[0]);
    }
}

static void check_again(const shape *s, uint64_t first, uint64_t end)
{
    uint64_t sum = 0;

    for (uint64_t i = first; i < end; i++) {
        const uint64_t most = kernels_lanes(s->k);
        const uint64_t lanes_first = first + places[i].m.order / most * most;
        uint64_t lanes = end - lanes_first, turns = 0;

        lanes = lanes < most ? lanes : most;
        for (uint32_t k = 0; k < 3; k++) {
            linear t = {1, 0}, u = {1, 0};

            for (uint64_t j = first; j < end; j++)
                t = then_pair(t, (linear){x[places[j].item] + k, k});
            for (uint64_t j = 0; j < lanes; j++)
                u = then_pair(u, t);
            turns = turns * 3 + word_of_pair(t);
            turns = turns * 3 + word_of_pair(u);
        }
        sum = turns;
        expect(s, "again", i, 0, sum);
    }
}

static void repeated_reductions_do_not_mix(void **state)
{
    for (uint64_t block = 1; block <= 256; block += 17) {
        const shape s = shape_of(state, 3 * block + 1, block);

        assert_ok(run(&s, "again", &test_error));
        sort_items(&s, 0);
        for (uint64_t i = 0; i < items_of(&s); i = end_of_set(&s, i))
            check_again(&s, i, end_of_set(&s, i));
    }
}

static void items_know_their_rank(void **state)
{
    for (size_t n = 0; n < AWKWARD; n++) {
        const shape s = awkward_shape(state, n);

        assert_ok(run(&s, "ranks", &test_error));
        sort_items(&s, 0);
        for (uint64_t i = 0; i < items_of(&s); i = end_of_set(&s, i))
            for (uint64_t j = i; j < end_of_set(&s, i); j++) {
                expect(&s, "ranks", j, 0, j - i);
                expect(&s, "ranks", j, 1, end_of_set(&s, i) - i);
            }
    }
}

static uint64_t shared_word(uint32_t value)
{
    return (uint64_t)value << 32 | (uint32_t)((value + 1) * 9);
}

static void parts_of_a_value_come_to_all(void **state)
{
    for (uint64_t block = 1; block <= 256; block += 5) {
        const shape s = shape_of(state, 4 * block, block);

        assert_ok(run(&s, "shared", &test_error));
        for (uint64_t i = 0; i < items_of(&s); i++) {
            const uint64_t first = i / block * block, own = i - first;
            const uint64_t lane = own % kernels_lanes(s.k), lanes = own - lane;
            const uint64_t other = (lane ^ 1) + lanes < block ? lane ^ 1 : lane;

            places[i].item = i;
            expect(&s, "shared", i, 0, shared_word(x[first + block - 1]));
            expect(&s, "shared", i, 1, (uint32_t)(x[first + lanes] + 1));
            expect(&s, "shared", i, 2,
                   (uint64_t)x[first + lanes + other] << 32 | other);
        }
    }
}

static void a_group_of_more_than_1024_items_is_refused(void **state)
{
    kernels *k = *state;
    static int64_t wide[1100];
    const kiln_array array = kernels_array(wide, 1100);
    const kernels_argument arguments[] = {{"i64[:]", &array}};
    const kiln_launch launch = {.grid = {1100, 1, 1}, .block = {1100, 1, 1}};
    kiln_error *error = NULL;

    if (!kernels_takes(&launch))
        test_skip(SKIP_DEVICE, "it takes no groups of 1100 items");
    assert_int_equal(kernels_launch(k, package, "too_many", k->config, &launch,
                                    arguments, 1, &error),
                     KILN_EEXCEPTION);
    assert_contains(kiln_error_exception(error)->message,
                    "a group of more than 1024 items");
    kiln_error_free(error);
}

/* ---- built-in operators ---- */

/* Small values, so that every type and order gives the same. */
#define BUILTINS(type, text) \
    static void builtins_of_##type(const shape *s) \
    { \
        static type from[ITEMS_MAX], to[ITEMS_MAX][ROWS]; \
        const int64_t items = (int64_t)items_of(s); \
        const kiln_array outs = kernels_array2(to, ROWS, items); \
        const kiln_array ins = kernels_array(from, items); \
        const kernels_argument arguments[] = {{text "[:,:]", &outs}, \
                                              {text "[:]", &ins}}; \
        const kiln_launch launch = {.grid = {s->grid[0], 1, 1}, \
                                    .block = {(uint32_t)s->block[0], 1, 1}}; \
        type sum = 0, least = 0, most = 0, product = 1, before = 0; \
\
        for (int64_t i = 0; i < items; i++) \
            from[i] = (type)(i % 5 == 3 ? 1 : 0); \
        assert_ok(kernels_launch(s->k, package, "builtins", s->config, \
                                 &launch, arguments, 2, &test_error)); \
        for (uint64_t i = 0; i < items_of(s); i++) { \
            const uint64_t first = i / s->block[0] * s->block[0]; \
            uint64_t end = first + s->block[0]; \
\
            end = end < items_of(s) ? end : items_of(s); \
            sum = 0, least = from[first], most = from[first], product = 1; \
            before = 0; \
            for (uint64_t j = first; j < end; j++) { \
                if (j == i) { \
                    assert_true(to[i][3] == (type)(sum + from[j])); \
                    assert_true(to[i][4] == before); \
                } \
                sum = (type)(sum + from[j]); \
                least = from[j] < least ? from[j] : least; \
                most = from[j] > most ? from[j] : most; \
                before = from[j] > before ? from[j] : before; \
                product = (type)(product * (from[j] + 1)); \
            } \
            assert_true(to[i][0] == sum && to[i][1] == least); \
            assert_true(to[i][2] == most && to[i][5] == product); \
        } \
    }

BUILTINS(int8_t, "i8")
BUILTINS(int64_t, "i64")
BUILTINS(uint16_t, "u16")
BUILTINS(float, "f32")
BUILTINS(double, "f64")

static void built_in_operators_take_every_kind_of_number(void **state)
{
    static void (*const checks[])(const shape *s) = {
        builtins_of_int8_t, builtins_of_uint16_t, builtins_of_int64_t,
        builtins_of_float, builtins_of_double};
    static const uint64_t blocks[] = {1, 2, 15, 16, 17, 33, 100, 256};

    for (size_t c = 0; c < sizeof checks / sizeof *checks; c++)
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
            const shape s = shape_of(state, 300, blocks[b]);

            checks[c](&s);
        }
}

static int setup(void **state)
{
    for (uint32_t i = 0; i < ITEMS_MAX; i++)
        x[i] = i * 2654435761u >> 5 | 1;
    if (kernels_setup(state) != 0)
        return 1;
    package = kernels_load(*state, FILE_OF("scans"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_of_every_size_is_reduced_and_scanned),
        cmocka_unit_test(groups_of_several_dimensions_are_reduced_and_scanned),
        cmocka_unit_test(groups_of_up_to_1024_items_are_reduced_and_scanned),
        cmocka_unit_test(sub_groups_are_reduced_and_scanned),
        cmocka_unit_test(nothing_depends_on_the_optimiser),
        cmocka_unit_test(repeated_reductions_do_not_mix),
        cmocka_unit_test(items_know_their_rank),
        cmocka_unit_test(parts_of_a_value_come_to_all),
        cmocka_unit_test(a_group_of_more_than_1024_items_is_refused),
        cmocka_unit_test(built_in_operators_take_every_kind_of_number),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
