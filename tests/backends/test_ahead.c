/* test_ahead.c - loops whose checks are asked ahead of their iterations. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/devices/kernels.h"

enum { LONG = 23, SIZE = 9, NONE = -1 };

/* One item writes y[k] in iteration k. What an iteration that raises would
   write, and all that come after it, is not written. */
static const char text[] =
    "kernel plain(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    s: i32 = 0\n"
    "    for k in 0..n\n"
    "        s += x[at[k]] + z[at[k]]\n"
    "    end\n"
    "    y[0] = s\n"
    "end\n"
    "kernel writes(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    for k in 0..n\n"
    "        y[k] = x[at[k]] + z[at[k]]\n"
    "    end\n"
    "end\n"
    "kernel twice(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    for k in 0..n\n"
    "        y[k] = x[at[z[at[k]]]]\n"
    "    end\n"
    "end\n"
    /* Only some iterations come to the access. */
    "kernel some(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    for k in 0..n\n"
    "        if at[k] >= 0\n"
    "            y[k] = x[at[k]]\n"
    "        end\n"
    "    end\n"
    "end\n"
    /* What decides is written by the iteration before. */
    "kernel chain(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    for k in 0..n - 1\n"
    "        y[k] = x[at[k]]\n"
    "        at[k + 1] = at[k + 1] + 0\n"
    "    end\n"
    "end\n"
    "kernel follow(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    j = at[0]\n"
    "    for k in 0..n\n"
    "        y[k] = x[j]\n"
    "        j = at[k]\n"
    "    end\n"
    "end\n"
    "kernel divide(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    for k in 0..n\n"
    "        y[k] = 100 // at[k]\n"
    "    end\n"
    "end\n"
    /* What ends the item keeps the next iteration from being done. */
    "kernel sentinel(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    for k in 0..n + 64\n"
    "        j: i32 = 0\n"
    "        inbounds\n"
    "            j = at[k]\n"
    "        end\n"
    "        assert(j >= 0, \"the end\")\n"
    "        y[0] += j\n"
    "    end\n"
    "end\n"
    /* The way behind the loop has a check of its own, in the same block. */
    "kernel down(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    k: i64 = 1\n"
    "    turns = 0\n"
    "    while k > n && turns < 400\n"
    "        c = z[k]\n"
    "        if at[k] > 2\n"
    "        end\n"
    "        k -= 2\n"
    "    end\n"
    "end\n"
    /* Bounds that are read from memory. */
    "kernel part(y: i32[:], at: i32[:], x: i32[:], z: i32[:], n: i32)\n"
    "    s: i32 = 0\n"
    "    for k in at[0]..at[1]\n"
    "        s += x[k]\n"
    "    end\n"
    "    y[0] = s\n"
    "end\n";

static int32_t y[LONG], at[LONG], x[SIZE], z[SIZE];

static void fill(void)
{
    for (int k = 0; k < LONG; k++) {
        y[k] = -7;
        at[k] = (k * 5 + 1) % SIZE;
    }
    for (int j = 0; j < SIZE; j++) {
        x[j] = 100 + j * j;
        z[j] = (j * 2 + 1) % SIZE;
    }
}

static kiln_status launch(kernels *k, const char *name, int32_t n)
{
    kiln_package *package = kernels_define(k, "ahead", text);
    const kiln_array ys = kernels_array(y, LONG), ats = kernels_array(at, LONG);
    const kiln_array xs = kernels_array(x, SIZE), zs = kernels_array(z, SIZE);
    const kernels_argument arguments[] = {{"i32[:]", &ys},
                                          {"i32[:]", &ats},
                                          {"i32[:]", &xs},
                                          {"i32[:]", &zs},
                                          {"i32", &n}};

    return kernels_run(k, package, name, 1, arguments, 5, &test_error);
}

/* Requires an exception that says so. */
static void assert_raised(kiln_status status, const char *wanted)
{
    assert_int_equal(status, KILN_EEXCEPTION);
    if (strstr(kiln_error_message(test_error), wanted) == NULL)
        fail_msg("%s", kiln_error_message(test_error));
    kiln_error_free(test_error);
    test_error = NULL;
}

static void assert_outside(kiln_status status, int32_t index)
{
    char wanted[64];

    snprintf(wanted, sizeof wanted, "index %d, size %d", (int)index, SIZE);
    assert_raised(status, wanted);
}

/* Lets iteration `bad` of n read at `value`, and checks what is written. */
static void check(kernels *k, const char *name, int n, int bad, int32_t value)
{
    const int is_twice = strcmp(name, "twice") == 0;
    const int is_writes = strcmp(name, "writes") == 0;
    kiln_status status;

    fill();
    if (bad != NONE)
        at[bad] = value;
    status = launch(k, name, n);
    if (bad == NONE || bad >= n || (strcmp(name, "some") == 0 && value < 0))
        assert_ok(status);
    else
        assert_outside(status, value);
    for (int i = 0; i < LONG; i++) {
        const int is_done = i < n && (bad == NONE || i < bad || value < 0);
        const int j = at[i];

        if (i == bad || !is_done ||
            (bad < n && bad != NONE && i > bad && strcmp(name, "some") != 0))
            assert_int_equal(y[i], -7);
        else if (is_twice)
            assert_int_equal(y[i], x[at[z[j]]]);
        else
            assert_int_equal(y[i], is_writes ? x[j] + z[j] : x[j]);
    }
}

static void what_comes_before_an_exception_is_done(void **state)
{
    static const char *const names[] = {"writes", "some"};
    static const int32_t values[] = {SIZE, -1, INT32_MAX, INT32_MIN};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int n = 0; n <= 11; n++) {
            check(*state, names[i], n, NONE, 0);
            for (int bad = 0; bad <= n; bad++)
                for (size_t v = 0; v < sizeof values / sizeof *values; v++)
                    check(*state, names[i], n, bad, values[v]);
        }
}

static void an_index_may_lead_to_an_index(void **state)
{
    for (int n = 0; n <= 9; n++)
        check(*state, "twice", n, NONE, 0);
    for (int bad = SIZE; bad < 11; bad++) /* no index leads there */
        check(*state, "twice", 11, bad, 77);
}

static void sums_are_those_of_all_iterations(void **state)
{
    for (int n = 0; n <= 11; n++)
        for (int bad = NONE; bad <= n; bad++) {
            int32_t sum = 0;

            fill();
            for (int i = 0; i < n; i++)
                sum += x[at[i]] + z[at[i]];
            if (bad != NONE)
                at[bad] = 77;
            if (bad == NONE || bad >= n) {
                assert_ok(launch(*state, "plain", n));
                assert_int_equal(y[0], sum);
            } else {
                assert_outside(launch(*state, "plain", n), 77);
                assert_int_equal(y[0], -7);
            }
        }
}

static void iterations_see_what_the_loop_wrote(void **state)
{
    fill();
    assert_ok(launch(*state, "chain", 9));
    for (int i = 0; i < 8; i++)
        assert_int_equal(y[i], x[at[i]]);
    fill();
    at[6] = 50;
    assert_outside(launch(*state, "follow", 9), 50);
    for (int i = 0; i < LONG; i++)
        assert_int_equal(y[i], i > 6 ? -7 : x[at[i > 0 ? i - 1 : 0]]);
}

static void divisors_are_asked_for_like_indices(void **state)
{
    fill();
    for (int i = 0; i < LONG; i++)
        at[i] = i + 1;
    assert_ok(launch(*state, "divide", 10));
    for (int i = 0; i < 10; i++)
        assert_int_equal(y[i], 100 / (i + 1));
    fill();
    for (int i = 0; i < LONG; i++)
        at[i] = i - 6;
    assert_raised(launch(*state, "divide", 10), "division by zero");
    assert_int_equal(y[5], -100);
    assert_int_equal(y[6], -7);
}

static void check_part(kernels *k, int32_t low, int32_t high, int raises)
{
    int32_t sum = 0;

    fill();
    at[0] = low;
    at[1] = high;
    if (raises) {
        assert_outside(launch(k, "part", 0),
                       low < 0 || low >= SIZE ? low : SIZE);
        return;
    }
    for (int32_t i = low; i < high; i++)
        sum += x[i];
    assert_ok(launch(k, "part", 0));
    assert_int_equal(y[0], sum);
}

static void counters_are_asked_before_the_loop(void **state)
{
    for (int32_t low = 0; low <= SIZE; low++)
        for (int32_t high = 0; high <= SIZE; high++)
            check_part(*state, low, high, 0);
    check_part(*state, 0, SIZE + 1, 1);
    check_part(*state, 3, INT32_MAX, 1);
    check_part(*state, -1, 4, 1);
    check_part(*state, INT32_MIN, INT32_MIN + 2, 1);
    check_part(*state, INT32_MAX - 1, INT32_MAX, 1);
    check_part(*state, INT32_MAX, INT32_MIN, 0);
    check_part(*state, -3, -5, 0);
}

/* The array ends where a page does. */
static void nothing_is_read_behind_what_ends_the_item(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int32_t *end = (int32_t *)(void *)(pages + page);
    kiln_package *package = kernels_define(*state, "ahead", text);
    const kiln_array ys = kernels_array(y, LONG), xs = kernels_array(x, SIZE);
    int32_t n = 64;

    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(end, page, PROT_NONE), 0);
    for (int64_t size = 1; size < 7; size++) {
        const kiln_array ats = kernels_array(end - size, size);
        const kernels_argument arguments[] = {{"i32[:]", &ys},
                                              {"i32[:]", &ats},
                                              {"i32[:]", &xs},
                                              {"i32[:]", &xs},
                                              {"i32", &n}};

        y[0] = 0;
        for (int64_t i = 1; i <= size; i++)
            end[-i] = i == 1 ? -1 : 5;
        assert_raised(kernels_run(*state, package, "sentinel", 1, arguments, 5,
                                  &test_error),
                      "the end");
        assert_int_equal(y[0], 5 * (size - 1));
    }
    munmap(pages, 2 * page);
}

static void unrolled_exceptions_may_share_a_block(void **state)
{
    fill();
    assert_outside(launch(*state, "down", -9), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_before_an_exception_is_done),
        cmocka_unit_test(an_index_may_lead_to_an_index),
        cmocka_unit_test(sums_are_those_of_all_iterations),
        cmocka_unit_test(iterations_see_what_the_loop_wrote),
        cmocka_unit_test(divisors_are_asked_for_like_indices),
        cmocka_unit_test(counters_are_asked_before_the_loop),
        cmocka_unit_test(nothing_is_read_behind_what_ends_the_item),
        cmocka_unit_test(unrolled_exceptions_may_share_a_block),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
