/* test_host_bounds.c - kernels with two bodies do what one body does. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend host */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

#include "support/devices/kernels.h"

/*
 * Without optimisation a kernel has the checked body alone; that one is held
 * against the optimised kernel, which runs most groups without checks. Grids
 * are small enough for one thread, so what raises first is the same.
 */

#define FILE_NAME KILN_TESTS_FOLDER "/language/bounds.kiln"
#define ROOM 3000

typedef struct shape {
    uint64_t grid[3];
    uint64_t block[3];
    int64_t sizes_a[4];
    int64_t sizes_b[4];
} shape;

typedef struct side {
    const kiln_config *config;
    int64_t a[ROOM], b[ROOM];
    kiln_status status;
    int32_t kind;
    uint32_t ordinal;
    uint64_t group[3], item[3];
    int64_t values[2];
    char message[256];
    char printed[4096];
} side;

static void begin(side *s)
{
    for (int64_t i = 0; i < ROOM; i++) {
        s->a[i] = i % 17;
        s->b[i] = i * 7 % 43 - 4;
    }
}

static void take_exception(side *s, const kiln_error *error)
{
    const kiln_exception *e = kiln_error_exception(error);

    assert_non_null(e);
    s->kind = e->kind;
    s->ordinal = e->ordinal;
    memcpy(s->group, e->group, sizeof s->group);
    memcpy(s->item, e->item, sizeof s->item);
    memcpy(s->values, e->values, sizeof s->values);
    snprintf(s->message, sizeof s->message, "%s", e->message);
}

/* The second dimension of strided arrays runs backwards. */
static kiln_array array_of(int64_t *data, const int64_t sizes[4],
                           const char *type)
{
    kiln_array array = {.data = data};

    memcpy(array.sizes, sizes, sizeof array.sizes);
    if (strstr(type, "strided") != NULL) {
        array.strides[0] = 2;
        array.strides[1] = -2 * sizes[0];
        array.data = data + 2 * sizes[0] * (sizes[1] - 1);
    }
    return array;
}

static void run(kernels *k, kiln_package *package, side *s, const char *kernel,
                const char *type, const shape *of, const int64_t scalars[2],
                int aliased)
{
    const kiln_array a = array_of(s->a, of->sizes_a, type);
    const kiln_array b = array_of(aliased ? s->a : s->b, of->sizes_b, type);
    const kernels_argument arguments[] = {
        {type, &a}, {type, &b}, {"i64", &scalars[0]}, {"i64", &scalars[1]}};
    kiln_launch launch = {.grid = {0}};
    kiln_error *error = NULL;

    memcpy(launch.grid, of->grid, sizeof launch.grid);
    memcpy(launch.block, of->block, sizeof launch.block);
    begin(s);
    s->status = kernels_launch(k, package, kernel, s->config, &launch,
                               arguments, 4, &error);
    if (s->status == KILN_OK)
        s->status = kiln_queue_wait(k->queue, &error);
    if (s->status == KILN_EEXCEPTION)
        take_exception(s, error);
    else
        assert_int_equal(s->status, KILN_OK);
    memcpy(s->printed, k->printed, sizeof s->printed);
    kiln_error_free(error);
}

static const kiln_config *config_of(kernels *k, uint8_t level, uint8_t bounds)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;

    options.opt_level = level;
    options.bounds_checks = bounds;
    assert_ok(kiln_config_new(&config, k->context, &options, &test_error));
    return config;
}

static const int64_t scalars_of[][2] = {
    {0, 0},         {1, 1},         {2, 3},         {-1, 0},
    {0, -2},        {-3, 40},       {5, INT64_MAX}, {INT64_MIN, 1},
    {INT64_MAX, 0}, {1, INT64_MIN}, {1ll << 32, 8}, {INT64_MAX / 2, 2},
    {-7, 7},        {3, 0},
};

/* Items that only touch the element of their own may have one array twice. */
static int may_alias(const char *kernel)
{
    return strcmp(kernel, "kept") == 0 || strcmp(kernel, "printed") == 0 ||
           strcmp(kernel, "strode") == 0;
}

/* Items of a loop may run interleaved, so what they had done when one raised
   depends on the order. */
static void forget_what_was_done(side *s, const char *kernel)
{
    if (s->status == KILN_OK ||
        (strcmp(kernel, "vectors") != 0 && strcmp(kernel, "strode") != 0))
        return;
    memset(s->a, 0, sizeof s->a);
    memset(s->b, 0, sizeof s->b);
}

/* Both ways, over the shapes and arguments; returns how often it raised. */
static int compare_as(void **state, const kiln_config *config,
                      const char *kernel, const char *type, const shape *shapes,
                      size_t count)
{
    static side sides[2];
    kernels *k = *state;
    kiln_package *package = kernels_load(k, FILE_NAME);
    int raised = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof scalars_of / sizeof *scalars_of; j++)
            for (int aliased = 0; aliased <= may_alias(kernel); aliased++) {
                memset(sides, 0, sizeof sides);
                sides[0].config = config;
                run(k, package, &sides[0], kernel, type, &shapes[i],
                    scalars_of[j], aliased);
                sides[1].config = config_of(k, KILN_OPT_0, 0);
                run(k, package, &sides[1], kernel, type, &shapes[i],
                    scalars_of[j], aliased);
                sides[1].config = sides[0].config;
                forget_what_was_done(&sides[0], kernel);
                forget_what_was_done(&sides[1], kernel);
                if (memcmp(&sides[0], &sides[1], sizeof *sides) != 0)
                    fail_msg("%s, shape %zu, arguments %" PRId64 " %" PRId64
                             ", aliased %d: %d \"%s\" and %d \"%s\"",
                             kernel, i, scalars_of[j][0], scalars_of[j][1],
                             aliased, sides[0].status, sides[0].message,
                             sides[1].status, sides[1].message);
                raised += sides[0].status != KILN_OK;
            }
    return raised;
}

static int compare(void **state, const char *kernel, const char *type,
                   const shape *shapes, size_t count)
{
    const kernels *k = *state;

    return compare_as(state, k->config, kernel, type, shapes, count);
}

#define COUNT(shapes) (sizeof(shapes) / sizeof *(shapes))

static const shape lines[] = {
    {{1, 1, 1}, {0, 0, 0}, {1}, {1}},
    {{100, 1, 1}, {0, 0, 0}, {100}, {100}},
    {{100, 1, 1}, {16, 1, 1}, {100}, {100}},
    {{128, 1, 1}, {32, 1, 1}, {100}, {100}},
    {{257, 1, 1}, {64, 1, 1}, {300}, {257}},
    {{33, 1, 1}, {1, 1, 1}, {40}, {20}},
    {{64, 3, 1}, {16, 2, 1}, {66}, {64}},
    {{10, 1, 1}, {4, 1, 1}, {0}, {0}},
};

static void lines_agree(void **state)
{
    static const char type[] = "i64[:]";

    assert_true(compare(state, "shifted", type, lines, COUNT(lines)) > 0);
    assert_true(compare(state, "guarded", type, lines, COUNT(lines)) > 0);
    assert_true(compare(state, "scaled", type, lines, COUNT(lines)) > 0);
    assert_true(compare(state, "around", type, lines, COUNT(lines)) > 0);
    assert_true(compare(state, "looked_up", type, lines, COUNT(lines)) > 0);
    assert_true(compare(state, "strode", type, lines, COUNT(lines)) > 0);
}

/* Loops over items do what guards did, with and without checks of bounds. */
static void guards_agree(void **state)
{
    static const char type[] = "i64[:]";
    static const char *const silent[] = {
        "early",   "window",      "beyond", "exactly", "switched",
        "neither", "every_other", "later",  "moved",   "ordered"};
    const kiln_config *unchecked =
        config_of(*state, KILN_OPT_DEFAULT, KILN_SWITCH_OFF);

    for (size_t i = 0; i < COUNT(silent); i++) {
        assert_int_equal(compare(state, silent[i], type, lines, COUNT(lines)),
                         0);
        assert_int_equal(
            compare_as(state, unchecked, silent[i], type, lines, COUNT(lines)),
            0);
    }
    assert_true(compare(state, "asked", type, lines, COUNT(lines)) > 0);
    assert_true(
        compare_as(state, unchecked, "asked", type, lines, COUNT(lines)) > 0);
}

/* In loops whose checks are asked before, and in some whose are not. */
static void what_data_decide_agrees(void **state)
{
    static const char type[] = "i64[:]";
    static const char *const names[] = {"gathered", "gathered_thrice", "chased",
                                        "written",  "with_counter",    "paired",
                                        "in_blocks"};

    for (size_t i = 0; i < COUNT(names); i++)
        assert_true(compare(state, names[i], type, lines, COUNT(lines)) > 0);
}

static void other_exceptions_and_prints_stay_in_order(void **state)
{
    static const char type[] = "i64[:]";

    assert_true(compare(state, "kept", type, lines, COUNT(lines)) > 0);
    assert_int_equal(compare(state, "printed", type, lines, COUNT(lines)), 0);
}

static void planes_and_spaces_agree(void **state)
{
    static const shape planes[] = {
        {{30, 20, 1}, {0, 0, 0}, {32, 22}, {32, 22}},
        {{32, 32, 1}, {8, 8, 1}, {30, 22}, {30, 22}},
        {{31, 7, 1}, {5, 3, 1}, {33, 9}, {32, 9}},
        {{3, 3, 1}, {2, 2, 1}, {5, 5}, {5, 4}},
    };
    static const shape spaces[] = {
        {{10, 9, 8}, {0, 0, 0}, {10, 9, 8}, {10, 9, 8}},
        {{12, 12, 12}, {4, 4, 4}, {10, 9, 8}, {10, 9, 8}},
        {{10, 9, 8}, {3, 2, 5}, {10, 9, 8}, {9, 9, 8}},
    };
    static const shape vectors[] = {
        {{5, 6, 7}, {0, 0, 0}, {5, 6, 7, 3}, {5, 6, 7, 4}},
        {{8, 8, 8}, {4, 4, 4}, {5, 6, 7, 3}, {5, 6, 7, 3}},
    };
    static const shape strided[] = {
        {{12, 9, 1}, {0, 0, 0}, {12, 9}, {12, 9}},
        {{13, 16, 1}, {4, 4, 1}, {12, 9}, {12, 9}},
        {{12, 9, 1}, {5, 2, 1}, {12, 9}, {12, 8}},
    };

    assert_true(compare(state, "plane", "i64[:,:]", planes, COUNT(planes)) > 0);
    assert_true(compare(state, "space", "i64[:,:,:]", spaces, COUNT(spaces)) >
                0);
    assert_true(
        compare(state, "vectors", "i64[:,:,:,:]", vectors, COUNT(vectors)) > 0);
    assert_true(compare(state, "strided", "i64[strided :,:]", strided,
                        COUNT(strided)) > 0);
}

/* Whether the kernel's LLVM IR, made for the config, has the word in it. */
static int emits(kernels *k, const kiln_config *config, const char *kernel,
                 const char *word)
{
    kiln_package *package = kernels_load(k, FILE_NAME);
    const kiln_type *types[4];
    kiln_signature signature = {.types = types, .count = 4};
    kiln_blob text = {0};
    int has_it;

    types[2] = types[3] = kiln_type_scalar(k->context, KILN_TYPE_I64);
    assert_ok(
        kiln_type_array(&types[0], k->context, types[2], 1, 0, &test_error));
    types[1] = types[0];
    assert_ok(kiln_package_function(&signature.function, package, kernel,
                                    &test_error));
    assert_ok(kiln_emit(&text, k->context, &signature, config, 0,
                        KILN_EMIT_LLVM, &test_error));
    has_it = strstr(text.data, word) != NULL;
    kiln_blob_release(&text);
    return has_it;
}

/* What the comparison above is worth: most groups run the second body. */
static void kernels_have_a_second_body(void **state)
{
    static const char *const names[] = {"shifted", "guarded",  "scaled",
                                        "around",  "strode",   "kept",
                                        "printed", "looked_up"};
    kernels *k = *state;

    for (size_t i = 0; i < COUNT(names); i++) {
        if (!emits(k, k->config, names[i], ".safe.item"))
            fail_msg("%s has one body", names[i]);
        assert_false(
            emits(k, config_of(k, KILN_OPT_0, 0), names[i], ".safe.item"));
    }
}

/* And the loops have the guards, where nothing else sees them. */
static void loops_take_guards(void **state)
{
    static const char *const taken[] = {"early",   "window",  "beyond",
                                        "exactly", "neither", "switched",
                                        "printed"};
    static const char *const left[] = {"every_other", "later", "asked", "moved",
                                       "ordered"};
    kernels *k = *state;
    const kiln_config *unchecked =
        config_of(k, KILN_OPT_DEFAULT, KILN_SWITCH_OFF);

    for (size_t i = 0; i < COUNT(taken); i++)
        if (!emits(k, k->config, taken[i], ".clip(") ||
            !emits(k, unchecked, taken[i], ".clip("))
            fail_msg("%s has a guard", taken[i]);
    for (size_t i = 0; i < COUNT(left); i++)
        if (emits(k, k->config, left[i], ".clip(") ||
            emits(k, unchecked, left[i], ".clip("))
            fail_msg("%s lost its guard", left[i]);
}

/* With one thread, what was done when an item raised is always the same. */
static int setup(void **state)
{
    if (setenv("KILN_THREADS", "1", 1) != 0)
        return -1;
    return kernels_setup(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_agree),
        cmocka_unit_test(what_data_decide_agrees),
        cmocka_unit_test(other_exceptions_and_prints_stay_in_order),
        cmocka_unit_test(planes_and_spaces_agree),
        cmocka_unit_test(guards_agree),
        cmocka_unit_test(kernels_have_a_second_body),
        cmocka_unit_test(loops_take_guards),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
