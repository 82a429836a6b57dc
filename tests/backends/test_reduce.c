/* test_reduce.c - the package reduce, against C, and how imports find it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host thread */
#include "support/harness.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF(name) KILN_TESTS_FOLDER "/language/" name ".kiln"
#define MOST 70000
#define GROUPS_MAX 4096

static kiln_package *package; /* of reductions.kiln */

/* Every way to launch: items, and those of a group (0: the host's choice is
   one group of all, as long as there are at most 256). */
static const uint64_t shapes[][2] = {
    {1, 1},     {1, 0},     {64, 64},    {64, 1},  {100, 7},     {256, 256},
    {1000, 33}, {4096, 64}, {8192, 256}, {200, 0}, {20000, 1024}};
#define SHAPES (sizeof shapes / sizeof *shapes)
static const int64_t sizes[] = {0,  1,   2,   3,   15,   16,   17,
                                63, 255, 256, 257, 1000, 4097, MOST};
#define SIZES (sizeof sizes / sizeof *sizes)

/* Where each launch takes long, some of the shapes and sizes do. */
static int is_left_out(size_t shape, size_t size)
{
    return strcmp(kernels_backend(), "host") != 0 && (shape + size) % 4 != 0;
}

/* One reduction: its kernel, and the one that finishes it. */
typedef struct reduction {
    const char *kernel, *finish;
    const char *to;   /* element type of the result */
    const char *from; /* of x and y */
    size_t to_size;
    const kernels_argument *before; /* arguments between partial and x */
    size_t before_count;
    int has_y;
} reduction;

static int64_t groups_of(const uint64_t shape[2])
{
    return shape[1] == 0 ? 1 : (int64_t)((shape[0] - 1) / shape[1] + 1);
}

/* The grid, or where it has to be whole groups, as many as these are. */
static uint64_t whole(const uint64_t shape[2])
{
    const kiln_launch launch = {.grid = {shape[0], 1, 1},
                                .block = {(uint32_t)shape[1], 0, 0}};

    return kernels_takes(&launch) ? shape[0]
                                  : (uint64_t)groups_of(shape) * shape[1];
}

static kiln_status launch(kernels *k, const reduction *r, const char *kernel,
                          const uint64_t shape[2], const kiln_array *to,
                          const kiln_array *x, const kiln_array *y,
                          kiln_error **error)
{
    const kiln_launch grid = {.grid = {whole(shape), 1, 1},
                              .block = {(uint32_t)shape[1], 0, 0}};
    kernels_argument arguments[8];
    char to_type[16], from_type[16];
    size_t count = 0;

    snprintf(to_type, sizeof to_type, "%s[:]", r->to);
    snprintf(from_type, sizeof from_type, "%s[:]", y == x ? r->to : r->from);
    arguments[count++] = (kernels_argument){to_type, to};
    for (size_t i = 0; y != x && i < r->before_count; i++)
        arguments[count++] = r->before[i];
    arguments[count++] = (kernels_argument){from_type, x};
    if (y != NULL && y != x)
        arguments[count++] = (kernels_argument){from_type, y};
    return kernels_launch(k, package, kernel, k->config, &grid, arguments,
                          count, error);
}

/* Both launches; the result's bytes go to `result`. */
static void reduce(kernels *k, const reduction *r, const uint64_t shape[2],
                   const kiln_array *x, const kiln_array *y, void *result)
{
    static const uint64_t one_group[2] = {100, 100};
    static char partial[GROUPS_MAX * 8];
    const kiln_array partials = kernels_array(partial, groups_of(shape));
    const kiln_array last = kernels_array(result, 1);

    assert_true(groups_of(shape) <= GROUPS_MAX);
    memset(partial, 0xa5, sizeof partial);
    assert_ok(launch(k, r, r->kernel, shape, &partials, x, r->has_y ? y : NULL,
                     &test_error));
    /* The finishing kernel takes the partial results alone. */
    assert_ok(launch(k, r, r->finish, one_group, &last, &partials, &partials,
                     &test_error));
}

/* ---- small integers of every type: exact in any order ---- */

#define REDUCTIONS(type, text) \
    static void reduce_##type(kernels *k, int64_t n, const uint64_t shape[2]) \
    { \
        static const type none = 0; \
        static type x[MOST], y[MOST]; \
        static const kernels_argument square[] = { \
            {"typeof(core.+)", NULL}, \
            {text, &none}, \
            {"typeof(reductions.square)", NULL}}; \
        static const reduction list[] = { \
            {"sum", "sum", text, text, sizeof(type), NULL, 0, 0}, \
            {"dot", "sum", text, text, sizeof(type), NULL, 0, 1}, \
            {"maximum", "maximum", text, text, sizeof(type), NULL, 0, 0}, \
            {"minimum", "minimum", text, text, sizeof(type), NULL, 0, 0}, \
            {"map_reduce", "sum", text, text, sizeof(type), square, 3, 0}}; \
        const kiln_array xs = kernels_array(x, n); \
        const kiln_array ys = kernels_array(y, n); \
        type expected[5] = {0, 0, 0, 0, 0}, got; \
\
        for (int64_t i = 0; i < n; i++) { \
            x[i] = (type)(i * 7 % 11); \
            y[i] = (type)(i % 3); \
            expected[0] = (type)(expected[0] + x[i]); \
            expected[1] = (type)(expected[1] + x[i] * y[i]); \
            if (i == 0 || x[i] > expected[2]) \
                expected[2] = x[i]; \
            if (i == 0 || x[i] < expected[3]) \
                expected[3] = x[i]; \
            expected[4] = (type)(expected[4] + x[i] * x[i]); \
        } \
        for (int r = 0; r < 5; r++) { \
            reduce(k, &list[r], shape, &xs, &ys, &got); \
            if (n > 0 || r < 2 || r > 3) \
                if (memcmp(&got, &expected[r], sizeof got) != 0) \
                    fail_msg("%s of %s: %d values, grid %d, block %d", \
                             list[r].kernel, text, (int)n, (int)shape[0], \
                             (int)shape[1]); \
        } \
    }

REDUCTIONS(int16_t, "i16")
REDUCTIONS(int32_t, "i32")
REDUCTIONS(int64_t, "i64")
REDUCTIONS(uint8_t, "u8")
REDUCTIONS(uint32_t, "u32")
REDUCTIONS(uint64_t, "u64")
REDUCTIONS(float, "f32")
REDUCTIONS(double, "f64")

static void for_all(void **state, void (*check)(kernels *k, int64_t n,
                                                const uint64_t shape[2]))
{
    for (size_t n = 0; n < SIZES; n++)
        for (size_t s = 0; s < SHAPES; s++)
            if (!is_left_out(s, n))
                check(*state, sizes[n], shapes[s]);
}

static void integers_reduce_as_in_c(void **state)
{
    for_all(state, reduce_int16_t);
    for_all(state, reduce_int32_t);
    for_all(state, reduce_int64_t);
    for_all(state, reduce_uint8_t);
    for_all(state, reduce_uint32_t);
    for_all(state, reduce_uint64_t);
}

static void floats_reduce_as_in_c(void **state)
{
    for_all(state, reduce_float);
    for_all(state, reduce_double);
}

/* ---- widening, counting, two arrays ---- */

static void single_floats_are_summed_in_double(void **state)
{
    static const reduction dot = {"dot", "sum", "f64", "f32", 8, NULL, 0, 1};
    static float x[MOST], y[MOST];
    const kiln_array xs = kernels_array(x, MOST), ys = kernels_array(y, MOST);
    double expected = 0, got;

    for (int i = 0; i < MOST; i++) {
        x[i] = 1 + (float)i / 65536;
        y[i] = 1 - (float)(i % 17) / 4096;
        expected += (double)x[i] * (double)y[i];
    }
    for (size_t s = 0; s < SHAPES; s++) {
        reduce(*state, &dot, shapes[s], &xs, &ys, &got);
        assert_true(fabs(got - expected) < 1e-9 * expected);
    }
}

static void elements_that_pass_a_test_are_counted(void **state)
{
    static const kernels_argument test[] = {
        {"typeof(reductions.is_odd)", NULL}};
    static const reduction count = {"count", "sum", "i64", "i32",
                                    8,       test,  1,     0};
    static int32_t x[MOST];
    int64_t got, expected = 0;

    for (int32_t i = 0; i < MOST; i++) {
        x[i] = i * 7 % 1000 - i;
        expected += x[i] % 2 != 0;
    }
    for (size_t s = 0; s < SHAPES; s++) {
        const kiln_array xs = kernels_array(x, MOST);

        reduce(*state, &count, shapes[s], &xs, NULL, &got);
        assert_int_equal(got, expected);
    }
}

static void a_term_of_two_arrays_is_reduced(void **state)
{
    static const double zero = 0;
    static const kernels_argument before[] = {
        {"typeof(core.max)", NULL},
        {"f64", &zero},
        {"typeof(reductions.distance)", NULL}};
    static const reduction distance = {"map_reduce", "maximum", "f64", "f32", 8,
                                       before,       3,         1};
    static float x[1000], y[1000];
    const kiln_array xs = kernels_array(x, 1000), ys = kernels_array(y, 1000);
    double got;

    for (int i = 0; i < 1000; i++) {
        x[i] = (float)i;
        y[i] = (float)(i == 613 ? -50 : i + 2);
    }
    for (size_t s = 0; s < SHAPES; s++) {
        reduce(*state, &distance, shapes[s], &xs, &ys, &got);
        assert_true(got == 663);
    }
}

/* ---- edges ---- */

static void extremes_leave_nan_out(void **state)
{
    static const reduction least = {"minimum", "minimum", "f32", "f32",
                                    4,         NULL,      0,     0};
    static const reduction most = {"maximum", "maximum", "f32", "f32",
                                   4,         NULL,      0,     0};
    static float x[1000];
    const kiln_array xs = kernels_array(x, 1000), none = kernels_array(x, 0);
    float got;

    for (int i = 0; i < 1000; i++)
        x[i] = i % 3 == 0 ? (float)i : NAN;
    for (size_t s = 0; s < SHAPES; s++) {
        reduce(*state, &least, shapes[s], &xs, NULL, &got);
        assert_true(got == 0);
        reduce(*state, &most, shapes[s], &xs, NULL, &got);
        assert_true(got == 999);
        reduce(*state, &most, shapes[s], &none, NULL, &got);
        assert_true(got == -INFINITY);
    }
}

static void one_grid_gives_one_result(void **state)
{
    static const reduction sum = {"sum", "sum", "f32", "f32", 4, NULL, 0, 0};
    static float x[MOST];
    const kiln_array xs = kernels_array(x, MOST);
    float first, again;

    for (int i = 0; i < MOST; i++)
        x[i] = 1 / (float)(i + 1);
    for (size_t s = 0; s < SHAPES; s++) {
        reduce(*state, &sum, shapes[s], &xs, NULL, &first);
        for (int turn = 0; turn < 5; turn++) {
            reduce(*state, &sum, shapes[s], &xs, NULL, &again);
            assert_memory_equal(&again, &first, sizeof first);
        }
    }
}

static void arrays_of_different_lengths_raise_an_exception(void **state)
{
    static const reduction dot = {"dot", "sum", "f32", "f32", 4, NULL, 0, 1};
    static const uint64_t shape[2] = {64, 64};
    float x[10] = {0}, y[9] = {0}, to[1];
    const kiln_array xs = kernels_array(x, 10), ys = kernels_array(y, 9);
    const kiln_array tos = kernels_array(to, 1);
    kiln_error *error = NULL;

    assert_int_equal(launch(*state, &dot, "dot", shape, &tos, &xs, &ys, &error),
                     KILN_EEXCEPTION);
    assert_contains(kiln_error_message(error), "arrays of different lengths");
    kiln_error_free(error);
}

static void partial_results_without_a_place_raise_an_exception(void **state)
{
    static const reduction sum = {"sum", "sum", "i32", "i32", 4, NULL, 0, 0};
    static const uint64_t shape[2] = {64, 16};
    int32_t x[100] = {0}, to[3];
    const kiln_array xs = kernels_array(x, 100), tos = kernels_array(to, 3);
    kiln_error *error = NULL;

    assert_int_equal(
        launch(*state, &sum, "sum", shape, &tos, &xs, NULL, &error),
        KILN_EEXCEPTION);
    assert_int_equal(kiln_error_exception(error)->kind, KILN_EXCEPTION_BOUNDS);
    assert_int_equal(kiln_error_exception(error)->group[0], 3);
    kiln_error_free(error);
}

/* ---- imports ---- */

static kiln_status call_in(kiln_package *in, kernels *k, const char *name,
                           kiln_error **error)
{
    return kernels_run(k, in, name, 1, NULL, 0, error);
}

static void a_text_imports_an_embedded_package(void **state)
{
    kernels *k = *state;
    kiln_context *context;
    kiln_package *own, *reduce_package;

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    assert_int_equal(kiln_package_find(&reduce_package, context, "reduce"),
                     KILN_ENOTFOUND);
    assert_ok(kiln_package_new(&own, context, "own", &test_error));
    assert_ok(kiln_package_define(own, "own", "import reduce", 13, NULL,
                                  &test_error));
    assert_ok(kiln_package_find(&reduce_package, context, "reduce"));
    kiln_context_free(context);
    assert_non_null(k);
}

static void a_package_of_that_name_comes_first(void **state)
{
    kernels *k = *state;
    kiln_context *context = k->context;
    kernels fresh = *k;
    kiln_package *own;

    assert_ok(kiln_context_new(&fresh.context, NULL, &test_error));
    kernels_open(&fresh);
    (void)kernels_define(&fresh, "reduce", "fn answer() = 42\n");
    own = kernels_define(&fresh, "own",
                         "import reduce: answer\n"
                         "kernel f()\n    assert(answer() == 42)\nend\n");
    assert_ok(call_in(own, &fresh, "f", &test_error));
    kiln_queue_free(fresh.queue);
    kiln_device_close(fresh.device);
    kiln_context_free(fresh.context);
    assert_ptr_equal(k->context, context);
}

static void a_file_of_that_name_comes_first(void **state)
{
    static const char file[] = "fn answer() = 42\n";
    static const char text[] = "import reduce: answer\n";
    kiln_context *context;
    kiln_package *loaded;
    char path[256];

    harness_write_file(path, sizeof path, *state, "reduce.kiln", file,
                       sizeof file - 1);
    harness_write_file(path, sizeof path, *state, "mine.kiln", text,
                       sizeof text - 1);
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    assert_ok(kiln_package_load(&loaded, context, path, NULL, &test_error));
    kiln_context_free(context);
}

static void an_unknown_package_is_still_an_error(void **state)
{
    const kernels *k = *state;
    kiln_package *own;

    assert_ok(kiln_package_new(&own, k->context, "lost", &test_error));
    assert_fails(KILN_ECOMPILE, "there is no package `reduces`",
                 kiln_package_define(own, "lost", "import reduces", 14, NULL,
                                     &test_error));
}

typedef struct importer {
    kiln_context *context;
    thread_report report;
    atomic_int next;
} importer;

static void *import_it(void *argument)
{
    static const char text[] = "import reduce: sum, maximum\n";
    importer *all = argument;
    kiln_package *own;
    const kiln_function *function;
    char name[16];

    snprintf(name, sizeof name, "own%d", atomic_fetch_add(&all->next, 1));
    thread_assert_ok(&all->report,
                     kiln_package_new(&own, all->context, name, NULL));
    thread_assert_ok(
        &all->report,
        kiln_package_define(own, name, text, sizeof text - 1, NULL, NULL));
    thread_assert_ok(&all->report,
                     kiln_package_function(&function, own, "maximum", NULL));
    return NULL;
}

static void threads_import_it_at_once(void **state)
{
    (void)state;
    for (int turn = 0; turn < 20; turn++) {
        importer all = {.report = THREAD_REPORT_INIT};

        assert_ok(kiln_context_new(&all.context, NULL, &test_error));
        harness_run_threads(4, import_it, &all);
        assert_threads_ok(&all.report);
        kiln_context_free(all.context);
    }
}

static kiln_status import_with(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context;
    kiln_package *own;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&context, &options, NULL);
    if (status != KILN_OK)
        return status;
    status = kiln_package_new(&own, context, "own", NULL);
    if (status == KILN_OK)
        status = kiln_package_define(own, "own", "import reduce: sum", 18, NULL,
                                     NULL);
    kiln_context_free(context);
    return status;
}

static void importing_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(import_with, NULL);
}

static int setup(void **state)
{
    if (kernels_setup(state) != 0)
        return 1;
    package = kernels_load(*state, FILE_OF("reductions"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_reduce_as_in_c),
        cmocka_unit_test(floats_reduce_as_in_c),
        cmocka_unit_test(single_floats_are_summed_in_double),
        cmocka_unit_test(elements_that_pass_a_test_are_counted),
        cmocka_unit_test(a_term_of_two_arrays_is_reduced),
        cmocka_unit_test(extremes_leave_nan_out),
        cmocka_unit_test(one_grid_gives_one_result),
        cmocka_unit_test(arrays_of_different_lengths_raise_an_exception),
        cmocka_unit_test(partial_results_without_a_place_raise_an_exception),
        cmocka_unit_test(a_text_imports_an_embedded_package),
        cmocka_unit_test(a_package_of_that_name_comes_first),
        cmocka_unit_test_setup_teardown(a_file_of_that_name_comes_first,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
        cmocka_unit_test(an_unknown_package_is_still_an_error),
        cmocka_unit_test(threads_import_it_at_once),
    };
    const struct CMUnitTest memory[] = {
        cmocka_unit_test(importing_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown) +
           cmocka_run_group_tests(memory, NULL, NULL);
}
