/* test_language.c - every construct but arithmetic, run on the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend host */
#include "support/harness.h"

#include <math.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF(name) KILN_TESTS_FOLDER "/language/" name ".kiln"

/* Runs one item of a kernel whose only argument is `out`, and compares. */
#define EXPECT_INTEGERS(file, kernel, ...) \
    expect_integers(*state, FILE_OF(file), kernel, \
                    (const int64_t[]){__VA_ARGS__}, \
                    sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define EXPECT_REALS(file, kernel, ...) \
    expect_reals(*state, FILE_OF(file), kernel, (const double[]){__VA_ARGS__}, \
                 sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

#define ROOM 32

static void expect_integers(kernels *k, const char *path, const char *kernel,
                            const int64_t *expected, size_t count)
{
    int64_t out[ROOM] = {0};
    const kiln_array array = kernels_array(out, (int64_t)count);
    const kernels_argument arguments[] = {{"i64[:]", &array}};

    assert_ok(kernels_run(k, kernels_load(k, path), kernel, 1, arguments, 1,
                          &test_error));
    for (size_t i = 0; i < count; i++)
        if (out[i] != expected[i])
            fail_msg("%s: out[%zu] is %lld, not %lld", kernel, i,
                     (long long)out[i], (long long)expected[i]);
}

static void expect_reals(kernels *k, const char *path, const char *kernel,
                         const double *expected, size_t count)
{
    double out[ROOM] = {0};
    const kiln_array array = kernels_array(out, (int64_t)count);
    const kernels_argument arguments[] = {{"f64[:]", &array}};

    assert_ok(kernels_run(k, kernels_load(k, path), kernel, 1, arguments, 1,
                          &test_error));
    for (size_t i = 0; i < count; i++)
        if (out[i] != expected[i])
            fail_msg("%s: out[%zu] is %.17g, not %.17g", kernel, i, out[i],
                     expected[i]);
}

/* ---- control flow ---- */

static void branches_take_the_first_true_arm(void **state)
{
    EXPECT_INTEGERS("control", "branches", 1, 2, 3, 4, 5, 7);
}

static void while_loops_break_and_continue(void **state)
{
    int64_t steps = 0;

    for (int64_t x = 27; x != 1; steps++)
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    EXPECT_INTEGERS("control", "while_loops", 8, steps);
}

static void for_loops_are_half_open_and_counted_once(void **state)
{
    EXPECT_INTEGERS("control", "for_loops", 45, 3081318, 951, 0, 3);
}

static void breaks_leave_the_innermost_loop(void **state)
{
    int64_t count = 0;

    for (int i = 0; i <= 7; i++)
        for (int j = 0; j <= i; j++)
            count += (i + j) % 2 == 0;
    EXPECT_INTEGERS("control", "nested_loops", count);
}

static void loops_to_the_end_of_a_type_stop(void **state)
{
    EXPECT_INTEGERS("control", "narrow_loops", 2, -126);
}

static void static_loops_are_unrolled_with_break_and_continue(void **state)
{
    EXPECT_INTEGERS("control", "unrolled", 110, 39, 6);
}

static void a_return_leaves_its_function(void **state)
{
    kernels *k = *state;
    int64_t out[2] = {0}, a[5] = {0, 1, 2, 3, 4};
    const kiln_array outs = kernels_array(out, 2), as = kernels_array(a, 5);
    const kernels_argument arguments[] = {{"i64[:]", &outs}, {"i64[:]", &as}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("control")),
                          "early_returns", 1, arguments, 2, &test_error));
    assert_int_equal(out[0], 4);
    assert_int_equal(out[1], -1);
}

/* ---- aggregates ---- */

static void tuples_are_values(void **state)
{
    EXPECT_INTEGERS("aggregates", "tuples", 3, 2, 2, 5, 1, 9, 5, 2, 0);
}

static void structs_are_values(void **state)
{
    EXPECT_REALS("aggregates", "structs", 3, 6, 3, 20, 5.5, 5.5, 25, 25);
}

static void structs_are_passed_as_c_lays_them_out(void **state)
{
    kernels *k = *state;
    float out[4] = {0};
    const struct {
        float x, y;
    } point = {1.5f, -2};
    const struct {
        double re, im;
    } complex = {0.25, 1e3};
    const kiln_array outs = kernels_array(out, 4);
    const kernels_argument arguments[] = {
        {"f32[:]", &outs}, {"Point", &point}, {"Complex{f64}", &complex}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("aggregates")),
                          "struct_argument", 1, arguments, 3, &test_error));
    assert_true(out[0] == 1.5f && out[1] == -2 && out[2] == 0.25f &&
                out[3] == 1000);
}

static void vectors_work_element_by_element(void **state)
{
    /* w = 2 v + 1 = 3 5 7 9; then w[2] = 100. */
    EXPECT_REALS("aggregates", "vectors", 24, 100, 3 + 10 + 300 + 36, 4, -0.5,
                 3.5, 85, 5);
}

static int32_t mandelbrot(int64_t i, int64_t width)
{
    const double c_re = (double)(i % width) / 16 - 2;
    const double c_im = (double)(i / width) / 8 - 1;
    double re = 0, im = 0;
    int32_t n = 0;

    while (re * re + im * im < 4 && n < 50) {
        const double next = re * re - im * im + c_re;

        im = re * im + im * re + c_im;
        re = next;
        n++;
    }
    return n;
}

static void structs_work_in_loops(void **state)
{
    enum { WIDTH = 48, HEIGHT = 16, COUNT = WIDTH * HEIGHT };
    kernels *k = *state;
    static int32_t out[COUNT];
    const int64_t width = WIDTH;
    const kiln_array outs = kernels_array(out, COUNT);
    const kernels_argument arguments[] = {{"i32[:]", &outs}, {"i64", &width}};
    int differences = 0;

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("aggregates")),
                          "mandelbrot", COUNT, arguments, 2, &test_error));
    for (int64_t i = 0; i < COUNT; i++)
        differences += out[i] != mandelbrot(i, WIDTH);
    /* A fused product rounds once: points of the rim may need another step. */
    assert_true(differences <= 4);
}

/* ---- compile-time integers, dispatch, functions ---- */

static void static_integers_choose_methods_and_branches(void **state)
{
    EXPECT_INTEGERS("statics", "statics", 3, 70, 15, 1, 2, 7, 0, 9, 4, 1, 5, 4,
                    3);
}

static void static_integers_unroll_recursion(void **state)
{
    EXPECT_INTEGERS("statics", "recursion", 1024);
}

static void the_most_specific_method_wins(void **state)
{
    kernels *k = *state;
    static const int64_t expected[] = {1, 3,  4,  17, 5,  6,  7,  0, 9,
                                       8, 11, 10, 12, 13, 14, 15, 16};
    int64_t out[17] = {0}, b[1] = {0};
    float a[1] = {0}, c[1] = {0};
    int32_t d[1] = {0};
    const kiln_array outs = kernels_array(out, 17), as = kernels_array(a, 1),
                     bs = kernels_array(b, 1), cs = kernels_array2(c, 1, 1),
                     ds = kernels_array2(d, 1, 1);
    const kernels_argument arguments[] = {{"i64[:]", &outs},
                                          {"f32[:]", &as},
                                          {"i64[:]", &bs},
                                          {"f32[:,:]", &cs},
                                          {"i32[:,:]", &ds}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("dispatch")), "kinds", 1,
                          arguments, 5, &test_error));
    for (size_t i = 0; i < 17; i++)
        assert_int_equal(out[i], expected[i]);
}

static void all_arguments_decide(void **state)
{
    EXPECT_INTEGERS("dispatch", "pairs", 0, 1, 2, 3, 4, 5);
}

static void literals_adapt_to_annotated_parameters(void **state)
{
    EXPECT_REALS("dispatch", "literals", 2, 1, 42, 21);
}

static void types_are_values(void **state)
{
    EXPECT_INTEGERS("dispatch", "types", 4, 8, 16, 128);
}

static void functions_are_values(void **state)
{
    kernels *k = *state;
    static const int64_t expected[] = {81, 19, 140, 7, -4, -5, 25, 2};
    int64_t out[8] = {0}, a[4] = {5, 2, 7, 2};
    const kiln_array outs = kernels_array(out, 8), as = kernels_array(a, 4);
    const kernels_argument arguments[] = {{"i64[:]", &outs}, {"i64[:]", &as}};

    a[3] = 2;
    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("functions")), "values", 1,
                          arguments, 2, &test_error));
    for (size_t i = 0; i < 8; i++)
        if (i != 1 && i != 2)
            assert_int_equal(out[i], expected[i]);
    assert_int_equal(out[1], 5 + 2 + 7 + 2);
    assert_int_equal(out[2], 5 * 2 * 7 * 2);
}

static void functions_recur(void **state)
{
    kernels *k = *state;
    int64_t out[4] = {0, 0, 0, 48};
    const kiln_array outs = kernels_array(out, 4);
    const kernels_argument arguments[] = {{"i64[:]", &outs}};

    if (!kernels_has(k, "recursion"))
        test_skip(SKIP_DEVICE, "it has no recursion");
    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("functions")), "recursion",
                          1, arguments, 1, &test_error));
    assert_int_equal(out[0], 3628800);
    assert_int_equal(out[1], 610);
    assert_int_equal(out[2], 10);
    assert_int_equal(out[3], 12);
}

/* ---- overlays, constants, imports ---- */

static void launch_overlays(kernels *k, const char *tables, const char *kernel,
                            const kernels_argument *arguments, size_t count)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_launch launch = {.grid = {1, 1, 1}};

    options.overlays = tables;
    assert_ok(kernels_launch(k, kernels_load(k, FILE_OF("overlays")), kernel,
                             kernels_config(k, &options), &launch, arguments,
                             count, &test_error));
}

static void run_overlays(kernels *k, const char *tables, const char *kernel,
                         const char *type, void *out, int64_t size)
{
    const kiln_array outs = kernels_array(out, size);
    const kernels_argument argument = {type, &outs};

    launch_overlays(k, tables, kernel, &argument, 1);
}

static void overlay_methods_win_over_global_ones(void **state)
{
    int64_t out[3] = {0};
    double real = 4;

    run_overlays(*state, NULL, "names", "i64[:]", out, 3);
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 1);
    assert_int_equal(out[2], strcmp(kernels_backend(), "host") == 0 ? 5 : 6);
    run_overlays(*state, "mine", "names", "i64[:]", out, 3);
    assert_int_equal(out[0], 3);
    assert_int_equal(out[1], 3);
    run_overlays(*state, "other,mine", "names", "i64[:]", out, 3);
    assert_int_equal(out[0], 4);
    assert_int_equal(out[1], 3);
    run_overlays(*state, NULL, "replaced", "f64[:]", &real, 1);
    assert_true(real == 2);
    run_overlays(*state, "mine", "replaced", "f64[:]", &real, 1);
    assert_true(real == 1002);
}

static void run_operators(kernels *k, const char *tables, double *out,
                          int64_t *whole)
{
    const kiln_array outs = kernels_array(out, 7),
                     wholes = kernels_array(whole, 14);
    const kernels_argument arguments[] = {{"f64[:]", &outs},
                                          {"i64[:]", &wholes}};

    out[0] = 3;
    whole[0] = 5;
    launch_overlays(k, tables, "operators", arguments, 2);
}

static void overlays_replace_operators_on_built_in_types(void **state)
{
    static const double plain[] = {6, 0, 9, 1, 0, 27, -3};
    static const int64_t plain_whole[] = {1, 5, 5, 0, 160, 0, -6,
                                          1, 0, 0, 1, 0,   1, 1};
    static const int64_t replaced_whole[] = {200, 201, 202, 203, 204, 205, 206,
                                             0,   1,   1,   0,   1,   0,   0};
    double out[7];
    int64_t whole[14];

    run_operators(*state, NULL, out, whole);
    for (int i = 0; i < 7; i++)
        assert_true(out[i] == plain[i]);
    assert_memory_equal(whole, plain_whole, sizeof whole);
    run_operators(*state, "each", out, whole);
    for (int i = 0; i < 7; i++)
        assert_true(out[i] == 100 + i);
    assert_memory_equal(whole, replaced_whole, sizeof whole);
}

static void a_replaced_operator_is_called_however_it_is_written(void **state)
{
    static const double expected[] = {2,    1006,    1006, 1004, 1004, 1004,
                                      3008, 1009016, 6,    4,    4,    -4};
    double out[12] = {2};
    const kiln_array outs = kernels_array(out, 12);
    const kernels_argument argument = {"f64[:]", &outs};

    launch_overlays(*state, "times", "written", &argument, 1);
    for (int i = 0; i < 12; i++)
        assert_true(out[i] == expected[i]);
}

static void constants_are_folded(void **state)
{
    kernels *k = *state;
    static const double expected[] = {4, 9, 0.5, (double)1e-6f, 7.5, 255,
                                      1, 6, 6};
    double out[9] = {0};
    float single[2] = {3, 0};
    const kiln_array outs = kernels_array(out, 9),
                     singles = kernels_array(single, 2);
    const kernels_argument arguments[] = {{"f64[:]", &outs},
                                          {"f32[:]", &singles}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("constants")), "constants",
                          1, arguments, 2, &test_error));
    for (size_t i = 0; i < 9; i++)
        assert_true(out[i] == expected[i]);
    assert_true(single[0] == 1.5f && single[1] == 4);
}

static void imports_bring_names_and_packages(void **state)
{
    EXPECT_REALS("imports", "imports", 5, 7, 20, 3, 10, 10, 9);
}

/* ---- print and exceptions ---- */

static void print_writes_text_and_scalars(void **state)
{
    kernels *k = *state;

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("effects")), "hello", 1,
                          NULL, 0, &test_error));
    assert_string_equal(k->printed, "x = 2.5, i = -3, true\n"
                                    "tab\tquote\"back\\\n");
}

/* Runs a kernel of effects.kiln that must raise, at a line of the file. */
static void expect_exception(kernels *k, const char *kernel, uint64_t items,
                             const kernels_argument *arguments, size_t count,
                             int32_t kind, uint32_t line, const char *message)
{
    kiln_error *error = NULL;
    const kiln_exception *exception;

    assert_int_equal(kernels_run(k, kernels_load(k, FILE_OF("effects")), kernel,
                                 items, arguments, count, &error),
                     KILN_EEXCEPTION);
    exception = kiln_error_exception(error);
    assert_non_null(exception);
    assert_int_equal(exception->kind, kind);
    assert_contains(exception->message, message);
    assert_contains(exception->kernel, kernel);
    assert_non_null(exception->location.file);
    assert_contains(exception->location.file, "effects.kiln");
    assert_int_equal(exception->location.line, line);
    kiln_error_free(error);
}

static void assertions_carry_their_text_and_item(void **state)
{
    kernels *k = *state;
    int64_t a[4] = {0, 1, -2, 3};
    const kiln_array as = kernels_array(a, 4);
    const kernels_argument arguments[] = {{"i64[:]", &as}};
    kiln_error *error = NULL;

    assert_int_equal(kernels_run(k, kernels_load(k, FILE_OF("effects")),
                                 "asserts", 4, arguments, 1, &error),
                     KILN_EEXCEPTION);
    assert_int_equal(kiln_error_exception(error)->kind,
                     KILN_EXCEPTION_ASSERTION);
    assert_contains(kiln_error_exception(error)->message, "a is negative");
    assert_int_equal(kiln_error_exception(error)->item[0], 2);
    kiln_error_free(error);
    a[2] = 2;
    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("effects")), "asserts", 4,
                          arguments, 1, &test_error));
}

static void indices_out_of_bounds_raise(void **state)
{
    static const int64_t bad[] = {4, -1, INT64_MAX, INT64_MIN};
    float a[4] = {0};
    const kiln_array as = kernels_array(a, 4), bs = kernels_array2(a, 2, 2);
    const int64_t zero = 0, two = 2;

    for (size_t i = 0; i < 4; i++) {
        const kernels_argument reads[] = {{"f32[:]", &as}, {"i64", &bad[i]}};
        const kernels_argument first[] = {
            {"f32[:,:]", &bs}, {"i64", &bad[i]}, {"i64", &zero}};
        const kernels_argument second[] = {
            {"f32[:,:]", &bs}, {"i64", &zero}, {"i64", &bad[i]}};

        expect_exception(*state, "reads", 1, reads, 2, KILN_EXCEPTION_BOUNDS,
                         17, "index out of bounds");
        expect_exception(*state, "writes", 1, first, 3, KILN_EXCEPTION_BOUNDS,
                         21, "index out of bounds");
        expect_exception(*state, "writes", 1, second, 3, KILN_EXCEPTION_BOUNDS,
                         21, "index out of bounds");
    }
    {
        const kernels_argument calls[] = {{"f32[:]", &as}, {"i64", &two}};
        const kernels_argument vectors[] = {{"f32[:]", &as}, {"i64", &bad[0]}};

        expect_exception(*state, "calls", 1, calls, 2, KILN_EXCEPTION_BOUNDS,
                         40, "index 4, size 4");
        expect_exception(*state, "vectors", 1, vectors, 2,
                         KILN_EXCEPTION_BOUNDS, 52, "index 4, size 4");
    }
}

/* Also in an array that has more elements than 32 bits count. */
static void indices_of_32_bits_raise(void **state)
{
    static const int32_t bad[] = {4, -1, INT32_MAX, INT32_MIN};
    float a[4] = {1, 2, 3, 4}, got[3] = {0};
    int32_t c[3] = {3, 0, 1};
    const kiln_array out = kernels_array(got, 3), cs = kernels_array(c, 3);
    kiln_array as = kernels_array(a, 4);
    const kernels_argument arguments[] = {
        {"f32[:]", &out}, {"f32[:]", &as}, {"i32[:]", &cs}};

    for (size_t i = 0; i < 4; i++) {
        got[0] = 0;
        c[1] = bad[i];
        expect_exception(*state, "gathers", 1, arguments, 3,
                         KILN_EXCEPTION_BOUNDS, 61, "index out of bounds");
        assert_true(got[0] == 4 && got[2] == 0);
    }
    if (strcmp(kernels_backend(), "spirv") == 0)
        return; /* its drivers copy whole arrays */
    as.sizes[0] = INT64_C(1) << 32;
    expect_exception(*state, "gathers", 1, arguments, 3, KILN_EXCEPTION_BOUNDS,
                     61, "index -2147483648, size 4294967296");
    c[1] = 0;
    assert_ok(kernels_run(*state, kernels_load(*state, FILE_OF("effects")),
                          "gathers", 1, arguments, 3, &test_error));
    assert_true(got[1] == 1 && got[2] == 2);
}

static void zero_divisors_raise(void **state)
{
    int64_t a[2] = {1, 0};
    int32_t b[2] = {1, 0};
    const kiln_array as = kernels_array(a, 2), bs = kernels_array(b, 2);
    const kernels_argument divides[] = {{"i64[:]", &as}};
    const kernels_argument remains[] = {{"i32[:]", &bs}};

    expect_exception(*state, "divides", 1, divides, 1, KILN_EXCEPTION_DIVISION,
                     25, "division by zero");
    expect_exception(*state, "remains", 1, remains, 1, KILN_EXCEPTION_DIVISION,
                     29, "division by zero");
    assert_int_equal(a[0], 1);
}

static void inexact_conversions_raise(void **state)
{
    static const int64_t integers[] = {128, -129, INT64_MAX};
    static const double reals[] = {0.5,   2147483648.0,     -2147483649.0,
                                   1e300, (double)INFINITY, (double)NAN};
    int64_t a;
    double x;
    int8_t byte;
    int32_t word;
    const kiln_array as = kernels_array(&a, 1), xs = kernels_array(&x, 1),
                     bytes = kernels_array(&byte, 1),
                     words = kernels_array(&word, 1);
    const kernels_argument narrows[] = {{"i64[:]", &as}, {"i8[:]", &bytes}};
    const kernels_argument truncates[] = {{"f64[:]", &xs}, {"i32[:]", &words}};

    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        a = integers[i];
        expect_exception(*state, "narrows", 1, narrows, 2,
                         KILN_EXCEPTION_INEXACT, 33, "inexact");
    }
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        x = reals[i];
        expect_exception(*state, "truncates", 1, truncates, 2,
                         KILN_EXCEPTION_INEXACT, 37, "inexact");
    }
}

/* By an assertion of the runtime library. */
static void a_negative_exponent_of_an_integer_raises(void **state)
{
    kernels *k = *state;
    int64_t a[3] = {0, 2, -1};
    const kiln_array as = kernels_array(a, 3);
    const kernels_argument arguments[] = {{"i64[:]", &as}};
    kiln_error *error = NULL;

    assert_int_equal(kernels_run(k, kernels_load(k, FILE_OF("effects")),
                                 "negative_power", 1, arguments, 1, &error),
                     KILN_EEXCEPTION);
    assert_int_equal(kiln_error_exception(error)->kind,
                     KILN_EXCEPTION_ASSERTION);
    kiln_error_free(error);
    a[2] = 10;
    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("effects")),
                          "negative_power", 1, arguments, 1, &test_error));
    assert_int_equal(a[0], 1024);
}

/* ---- switches ---- */

static void inbounds_and_checkbounds_nest(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_load(k, FILE_OF("switches"));
    float a[3] = {1, 2, 3};
    const int64_t two = 2, three = 3;
    const kiln_array as = kernels_array(a, 3);
    const kernels_argument arguments[] = {{"f32[:]", &as}, {"i64", &two}};
    const kernels_argument beyond[] = {{"f32[:]", &as}, {"i64", &three}};
    kiln_error *error = NULL;

    assert_ok(
        kernels_run(k, package, "unchecked", 1, arguments, 1, &test_error));
    assert_true(a[0] == 2 && a[1] == 3 && a[2] == 4);
    assert_ok(kernels_run(k, package, "checked_inside", 1, arguments, 2,
                          &test_error));
    assert_true(a[2] == 1);
    assert_int_equal(
        kernels_run(k, package, "checked_inside", 1, beyond, 2, &error),
        KILN_EEXCEPTION);
    kiln_error_free(error);
}

static void fast_mathematics_end_with_their_block(void **state)
{
    kernels *k = *state;
    float a[100], out[2] = {0};
    const kiln_array as = kernels_array(a, 100), outs = kernels_array(out, 2);
    const kernels_argument arguments[] = {{"f32[:]", &as}, {"f32[:]", &outs}};

    for (int i = 0; i < 100; i++)
        a[i] = 1e6f;
    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("switches")), "fast", 1,
                          arguments, 2, &test_error));
    assert_true(fabsf(out[0] - 1e8f) <= 64);
    assert_true(out[1] == (out[0] + 1) - 1);
}

/* 1 + e squared is 1 + 2e + e * e; the last part does not fit a float. */
static void strict_blocks_round_every_operation(void **state)
{
    kernels *k = *state;
    const float e = 1.0f / 4096, rounded = 1 + 2 * e;
    float a[2] = {1 + e, -rounded}, out[2] = {1, 1};
    const kiln_array as = kernels_array(a, 2), outs = kernels_array(out, 2);
    const kernels_argument arguments[] = {{"f32[:]", &as}, {"f32[:]", &outs}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("switches")), "contracted",
                          1, arguments, 2, &test_error));
    assert_true(out[0] == 0);
    assert_true(out[1] == 0 || out[1] == e * e); /* a processor without fma */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_take_the_first_true_arm),
        cmocka_unit_test(while_loops_break_and_continue),
        cmocka_unit_test(for_loops_are_half_open_and_counted_once),
        cmocka_unit_test(breaks_leave_the_innermost_loop),
        cmocka_unit_test(loops_to_the_end_of_a_type_stop),
        cmocka_unit_test(static_loops_are_unrolled_with_break_and_continue),
        cmocka_unit_test(a_return_leaves_its_function),
        cmocka_unit_test(tuples_are_values),
        cmocka_unit_test(structs_are_values),
        cmocka_unit_test(structs_are_passed_as_c_lays_them_out),
        cmocka_unit_test(vectors_work_element_by_element),
        cmocka_unit_test(structs_work_in_loops),
        cmocka_unit_test(static_integers_choose_methods_and_branches),
        cmocka_unit_test(static_integers_unroll_recursion),
        cmocka_unit_test(the_most_specific_method_wins),
        cmocka_unit_test(all_arguments_decide),
        cmocka_unit_test(literals_adapt_to_annotated_parameters),
        cmocka_unit_test(types_are_values),
        cmocka_unit_test(functions_are_values),
        cmocka_unit_test(functions_recur),
        cmocka_unit_test(overlay_methods_win_over_global_ones),
        cmocka_unit_test(overlays_replace_operators_on_built_in_types),
        cmocka_unit_test(a_replaced_operator_is_called_however_it_is_written),
        cmocka_unit_test(constants_are_folded),
        cmocka_unit_test(imports_bring_names_and_packages),
        cmocka_unit_test(print_writes_text_and_scalars),
        cmocka_unit_test(assertions_carry_their_text_and_item),
        cmocka_unit_test(indices_out_of_bounds_raise),
        cmocka_unit_test(indices_of_32_bits_raise),
        cmocka_unit_test(zero_divisors_raise),
        cmocka_unit_test(inexact_conversions_raise),
        cmocka_unit_test(a_negative_exponent_of_an_integer_raises),
        cmocka_unit_test(inbounds_and_checkbounds_nest),
        cmocka_unit_test(fast_mathematics_end_with_their_block),
        cmocka_unit_test(strict_blocks_round_every_operation),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
