/* test_hostile.c - programs that want too much are refused, and soon. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend host */
#include "support/devices/kernels.h"
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

typedef struct text {
    char *bytes;
    size_t size;
    FILE *file;
} text;

static FILE *text_open(text *t)
{
    t->file = open_memstream(&t->bytes, &t->size);
    assert_non_null(t->file);
    return t->file;
}

/* `line` with the number from 0 to `count` - 1 in its place(s). */
static void add_lines(text *t, size_t count, const char *line)
{
    for (size_t i = 0; i < count; i++)
        for (const char *c = line; *c != '\0'; c++) {
            if (*c == '@')
                (void)fprintf(t->file, "%zu", i);
            else
                (void)fputc(*c, t->file);
        }
}

/* ---- refusing ---- */

/* Defines the text and compiles its kernel `k` of an f32[:]; there is one
   error, at `line`, that says `message`. */
static void refused(void **state, text *t, unsigned line, const char *message)
{
    kernels *k = *state;
    kiln_package *package = NULL;
    kiln_signature signature = {.count = 1};
    const kiln_type *type = NULL;
    const kiln_kernel *kernel = NULL;
    kiln_error *error = NULL;

    assert_int_equal(fclose(t->file), 0);
    assert_ok(kiln_package_new(&package, k->context, "hostile", &test_error));
    assert_ok(kiln_package_define(package, "hostile.kiln", t->bytes, t->size,
                                  NULL, &test_error));
    assert_ok(
        kiln_package_function(&signature.function, package, "k", &test_error));
    assert_ok(
        kiln_type_parse(&type, k->context, package, "f32[:]", &test_error));
    signature.types = &type;
    assert_status(KILN_ECOMPILE, kiln_compile(&kernel, k->context, &signature,
                                              k->config, NULL, &error));
    assert_true(kiln_error_diagnostic_count(error) >= 1);
    assert_contains(kiln_error_diagnostic(error, 0)->message, message);
    assert_int_equal(kiln_error_diagnostic(error, 0)->location.line, line);
    kiln_error_free(error);
    assert_ok(kiln_package_unload(package, NULL, &test_error));
    free(t->bytes);
}

static void refuses(void **state, const char *program, unsigned line,
                    const char *message)
{
    text t;

    (void)fputs(program, text_open(&t));
    refused(state, &t, line, message);
}

#define KERNEL(expression) "kernel k(y)\n    y[0] = " expression "\nend\n"

static void types_that_grow_with_each_call_are_refused(void **state)
{
    refuses(state, "fn f(x) = f((x, x))\n" KERNEL("f(y[0])"), 1,
            "a tuple would have more than 2048 parts");
    refuses(state, "fn f(x) = f((x,))\n" KERNEL("f(y[0])"), 1,
            "a tuple would nest more than 62 levels");
    refuses(state,
            "fn f(v, n: Static{0}) = v\n"
            "fn f(v, n: Static) = f((v, v, v, v, v, v, v, v), n - 1)\n" KERNEL(
                "f(zero(Vec{f64, 256}), static(3))"),
            2, "a tuple would be larger than 65536 bytes");
    refuses(state, "fn f(n: Static) = f(n + 1)\n" KERNEL("f(static(0))"), 1,
            "calls nest too deeply to infer: 200 before `f`");
}

static void types_of_two_parts_each_do_not_double_for_ever(void **state)
{
    text t;

    (void)fputs("struct E\nend\nstruct S0\na: E\nb: E\nend\n", text_open(&t));
    for (int i = 1; i < 40; i++)
        (void)fprintf(t.file, "struct S%d\na: S%d\nb: S%d\nend\n", i, i - 1,
                      i - 1);
    (void)fputs("kernel k(y)\ns: S39 = 1\nend\n", t.file);
    refused(state, &t, 164, "a struct would have more than 2048 parts");
}

static void calls_that_branch_are_counted(void **state)
{
    refuses(state,
            "struct L{T}\n"
            "    a: T\n"
            "end\n"
            "struct R{T}\n"
            "    a: T\n"
            "end\n"
            "fn f(x, n: Static{0}) = 1\n"
            "fn f(x, n: Static) = f(L(x), n - 1) + f(R(x), n - 1)\n" KERNEL(
                "f32(f(y[0], static(25)))"),
            8, "calls lead to too much to infer: 10000 methods before `f`");
}

static void loops_that_are_unrolled_are_counted(void **state)
{
    refuses(state,
            "kernel k(y)\n"
            "    for i in static(0..1099511627776)\n"
            "        y[0] = 1\n"
            "    end\n"
            "end\n",
            2, "iterations; it has at most 4096");
    refuses(state,
            "kernel k(y)\n"
            "    for i in static(0..4096)\n"
            "        for j in static(0..4096)\n"
            "            y[0] += 1\n"
            "        end\n"
            "    end\n"
            "end\n",
            4, "the method has more than 1000000 operations");
    refuses(state,
            "fn g(y, n: Static)\n"
            "    for i in static(0..4096)\n"
            "        for j in static(0..8)\n"
            "            y[0] += n\n"
            "        end\n"
            "    end\n"
            "end\n"
            "kernel k(y)\n"
            "    for i in static(0..1000)\n"
            "        g(y, i)\n"
            "    end\n"
            "end\n",
            4, "the methods called from here have together more than 2000000");
}

static void vectors_are_bounded(void **state)
{
    refuses(state, KERNEL("zero(Vec{f32, 257})[0]"), 2,
            "vectors have 1 to 256 elements");
    refuses(state, KERNEL("zero(Vec{f32, 1099511627776})[0]"), 2,
            "the length of a vector is a positive number");
    refuses(state, KERNEL("zero(Vec{f32, -1})[0]"), 2,
            "the length of a vector is a positive number");
}

static void after_twenty_errors_nobody_reads_on(void **state)
{
    text t;

    (void)fputs("kernel k(y)\n", text_open(&t));
    add_lines(&t, 50000, "    y[0] = name@\n");
    (void)fputs("end\n", t.file);
    refused(state, &t, 2, "unknown name `name0`");
}

/* ---- what is large, but not too large ---- */

static void a_long_unrolled_loop_runs(void **state)
{
    kernels *k = *state;
    float y[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const kiln_array ys = kernels_array(y, 8);
    const kernels_argument arguments[] = {{"f32[:]", &ys}};
    kiln_package *package =
        kernels_define(k, "long",
                       "kernel k(y)\n"
                       "    for i in static(0..4096)\n"
                       "        y[i % 8] = y[i // 512] + 1\n"
                       "    end\n"
                       "end\n");
    float expected[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    assert_ok(kernels_run(k, package, "k", 1, arguments, 1, &test_error));

    for (int i = 0; i < 4096; i++)
        expected[i % 8] = expected[i / 512] + 1;
    assert_memory_equal(y, expected, sizeof y);
}

static void many_methods_and_wide_kernels_run(void **state)
{
    kernels *k = *state;
    int64_t y[1] = {0};
    const kiln_array ys = kernels_array(y, 1);
    const kernels_argument arguments[] = {{"i64[:]", &ys}};
    kiln_package *package;
    text t;

    (void)text_open(&t);
    add_lines(&t, 1000, "fn f@_(x) = x + @\n");
    (void)fputs("kernel k(y)\n", t.file);
    add_lines(&t, 1000, "    y[0] = f@_(y[0])\n");
    (void)fputs("end\n", t.file);
    assert_int_equal(fclose(t.file), 0);
    package = kernels_define(k, "wide", t.bytes);
    free(t.bytes);

    assert_ok(kernels_run(k, package, "k", 1, arguments, 1, &test_error));

    assert_int_equal(y[0], 999 * 1000 / 2);
}

/* There are 2 to the 40th ways from the kernel to twice0. */
static void calls_that_double_are_looked_at_once(void **state)
{
    kernels *k = *state;
    int64_t y[1] = {7};
    const kiln_array ys = kernels_array(y, 1);
    const kernels_argument arguments[] = {{"i64[:]", &ys}};
    kiln_package *package;
    text t;

    (void)fputs("fn twice0(x) = x + 1\n", text_open(&t));
    for (int i = 1; i <= 40; i++)
        (void)fprintf(t.file, "fn twice%d(x) = twice%d(x) + twice%d(x * 2)\n",
                      i, i - 1, i - 1);
    (void)fputs("kernel k(y: i64[:])\n"
                "    i = global_id(0)\n"
                "    if i > 0 && twice40(i) < length(y)\n"
                "        for j in 0..length(y)\n"
                "            y[i] += twice40(j)\n"
                "        end\n"
                "    end\n"
                "end\n",
                t.file);
    assert_int_equal(fclose(t.file), 0);
    package = kernels_define(k, "double", t.bytes);
    free(t.bytes);

    assert_ok(kernels_run(k, package, "k", 1, arguments, 1, &test_error));

    assert_int_equal(y[0], 7);
}

static void sums_that_double_are_looked_at_once(void **state)
{
    kernels *k = *state;
    int64_t y[2] = {0, 0}, n = 0;
    const kiln_array ys = kernels_array(y, 2);
    const kernels_argument arguments[] = {{"i64[:]", &ys}, {"i64", &n}};
    kiln_package *package;
    text t;

    (void)fputs("kernel k(y: i64[:], n: i64)\n"
                "    i = global_id(0)\n"
                "    s0 = select(n > 3, 1, 0)\n",
                text_open(&t));
    for (int i = 1; i <= 40; i++)
        (void)fprintf(t.file, "    s%d = s%d %c s%d\n", i, i - 1, "+-"[i % 2],
                      i - 1);
    (void)fputs("    if i + s40 < length(y)\n"
                "        y[i] = 5 + s40\n"
                "    end\n"
                "end\n",
                t.file);
    assert_int_equal(fclose(t.file), 0);
    package = kernels_define(k, "sums", t.bytes);
    free(t.bytes);

    assert_ok(kernels_run(k, package, "k", 3, arguments, 2, &test_error));

    assert_true(y[0] == 5 && y[1] == 5);
}

static const char recursion[] = "fn depth(n: i64) -> i64\n"
                                "    if n == 0\n"
                                "        return 0\n"
                                "    end\n"
                                "    return depth(n - 1) + 1\n"
                                "end\n"
                                "kernel k(y: i64[:], n: i64)\n"
                                "    y[0] = depth(n)\n"
                                "end\n";

static void recursion_without_an_end_is_an_exception(void **state)
{
    kernels *k = *state;
    int64_t y[1] = {7}, n = -1;
    const kiln_array ys = kernels_array(y, 1);
    const kernels_argument arguments[] = {{"i64[:]", &ys}, {"i64", &n}};
    kiln_package *package = kernels_define(k, "deep", recursion);
    kiln_error *error = NULL;

    assert_status(KILN_EEXCEPTION,
                  kernels_run(k, package, "k", 1, arguments, 2, &error));

    assert_non_null(kiln_error_exception(error));
    assert_int_equal(kiln_error_exception(error)->kind, KILN_EXCEPTION_MEMORY);
    assert_contains(kiln_error_message(error), "calls nest too deeply");
    kiln_error_free(error);
    n = 10000;
    assert_ok(kernels_run(k, package, "k", 1, arguments, 2, &test_error));
    assert_int_equal(y[0], 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_that_grow_with_each_call_are_refused),
        cmocka_unit_test(types_of_two_parts_each_do_not_double_for_ever),
        cmocka_unit_test(calls_that_branch_are_counted),
        cmocka_unit_test(loops_that_are_unrolled_are_counted),
        cmocka_unit_test(vectors_are_bounded),
        cmocka_unit_test(after_twenty_errors_nobody_reads_on),
        cmocka_unit_test(a_long_unrolled_loop_runs),
        cmocka_unit_test(many_methods_and_wide_kernels_run),
        cmocka_unit_test(calls_that_double_are_looked_at_once),
        cmocka_unit_test(sums_that_double_are_looked_at_once),
        cmocka_unit_test(recursion_without_an_end_is_an_exception),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
