/* test_item_divide.c - vectors divide integers, with the results of integers.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

/*
 * Each item divides an element of one array by one of another array, or by an
 * argument, and stores quotient, remainder, and the quotient's own remainder.
 */

#define ITEMS 256
#define RESULTS 3

typedef struct division {
    char sign; /* 's' or 'u', of both instructions */
    unsigned width;
    int is_uniform;
} division;

static const char *const types[] = {"i32[:]", "i32[:]", "i32[:]", "i32"};

static char text[4096];

/* Numbers are cut to the width, and results extended again. */
static void write_module(const division *d)
{
    const unsigned w = d->width;
    const int n = snprintf(
        text, sizeof text,
        GROUPS_HEAD "define i32 @k(ptr %%item, ptr %%a, i64 %%na, ptr %%b,"
                    " i64 %%nb, ptr %%out, i64 %%n, i32 %%with) {\n"
                    "  %%i = call i64 @kiln_global_id(ptr %%item, i32 0)\n"
                    "  %%pa = getelementptr i32, ptr %%a, i64 %%i\n"
                    "  %%pb = getelementptr i32, ptr %%b, i64 %%i\n"
                    "  %%x = load i32, ptr %%pa\n"
                    "  %%own = load i32, ptr %%pb\n"
                    "  %%xw = sext i32 %%x to i64\n"
                    "  %%yw = sext i32 %%%s to i64\n"
                    "  %%xn = trunc i64 %%xw to i%u\n"
                    "  %%yn = trunc i64 %%yw to i%u\n"
                    "  %%q = %cdiv i%u %%xn, %%yn\n"
                    "  %%r = %crem i%u %%xn, %%yn\n"
                    "  %%s = %crem i%u %%q, %%yn\n"
                    "  %%qw = sext i%u %%q to i64\n"
                    "  %%rw = sext i%u %%r to i64\n"
                    "  %%sw = sext i%u %%s to i64\n"
                    "  %%q32 = trunc i64 %%qw to i32\n"
                    "  %%r32 = trunc i64 %%rw to i32\n"
                    "  %%s32 = trunc i64 %%sw to i32\n"
                    "  %%second = add i64 %%i, %d\n"
                    "  %%third = add i64 %%second, %d\n"
                    "  %%pq = getelementptr i32, ptr %%out, i64 %%i\n"
                    "  %%pr = getelementptr i32, ptr %%out, i64 %%second\n"
                    "  %%ps = getelementptr i32, ptr %%out, i64 %%third\n"
                    "  store i32 %%q32, ptr %%pq\n"
                    "  store i32 %%s32, ptr %%ps\n"
                    "  store i32 %%r32, ptr %%pr\n"
                    "  ret i32 0\n}\n",
        d->is_uniform ? "with" : "own", w, w, d->sign, w, d->sign, w, d->sign,
        w, w, w, w, ITEMS, ITEMS);

    assert_true(n > 0 && (size_t)n < sizeof text);
}

/* ---- numbers ---- */

static uint32_t seed;

static uint32_t pick(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Of any length, and often one of those at which something ends. */
static int32_t pick_number(void)
{
    static const int32_t edges[] = {0,         1,         -1, 127,
                                    -128,      32767,     2,  -32768,
                                    INT32_MAX, INT32_MIN, 3,  INT32_MIN + 1};
    const uint32_t bits = pick() << 8 ^ pick();

    return pick() % 4 == 0 ? edges[pick() % (sizeof edges / sizeof edges[0])]
                           : (int32_t)(bits >> pick() % 32);
}

/* Most dividends are near multiples of their divisors. */
static int32_t pick_dividend(int32_t divisor)
{
    const uint32_t product = (uint32_t)divisor * (uint32_t)pick_number();

    return pick() % 3 == 0 ? pick_number()
                           : (int32_t)(product + pick() % 3 - 1);
}

static int64_t cut(const division *d, int32_t number)
{
    const uint64_t bits = (uint64_t)(int64_t)number << (64 - d->width);

    return d->sign == 's' ? (int64_t)bits >> (64 - d->width)
                          : (int64_t)(bits >> (64 - d->width));
}

/* A divisor without quotient counts as 1. */
static int64_t divisor_for(const division *d, int64_t a, int64_t b)
{
    const int64_t least = -((int64_t)1 << (d->width - 1));

    return b == 0 || (d->sign == 's' && a == least && b == -1) ? 1 : b;
}

static void wanted(const division *d, int32_t x, int32_t y,
                   int32_t out[RESULTS])
{
    const division as_stored = {'s', d->width, 0};
    const int64_t a = cut(d, x), b = cut(d, y);
    const int64_t quotient = a / divisor_for(d, a, b);
    const int64_t results[RESULTS] = {quotient, a % divisor_for(d, a, b),
                                      quotient % divisor_for(d, quotient, b)};

    for (size_t i = 0; i < RESULTS; i++)
        out[i] = (int32_t)cut(&as_stored, (int32_t)results[i]);
}

/* ---- running ---- */

typedef struct numbers {
    int32_t a[ITEMS], b[ITEMS], out[RESULTS * ITEMS];
    int32_t with;
} numbers;

static void fill(numbers *n, int is_uniform)
{
    n->with = pick_number();
    for (size_t i = 0; i < ITEMS; i++) {
        n->b[i] = pick_number();
        n->a[i] = pick_dividend(is_uniform ? n->with : n->b[i]);
    }
}

static void compare(const division *d, const numbers *n)
{
    for (size_t i = 0; i < ITEMS; i++) {
        const int32_t y = d->is_uniform ? n->with : n->b[i];
        int32_t right[RESULTS];

        wanted(d, n->a[i], y, right);
        for (size_t j = 0; j < RESULTS; j++)
            if (n->out[j * ITEMS + i] != right[j])
                fail_msg("%d / %d: result %d is %d, not %d\n%s", n->a[i], y,
                         (int)j, n->out[j * ITEMS + i], right[j], text);
    }
}

#define ROUNDS 100

static void divide(const division *d)
{
    static numbers n;
    struct {
        int32_t *a;
        int64_t na;
        int32_t *b;
        int64_t nb;
        int32_t *out;
        int64_t size;
        int32_t with;
    } arguments = {n.a, ITEMS, n.b, ITEMS, n.out, RESULTS * ITEMS, 0};
    outcome o;

    write_module(d);
    prepare(&o, text, KILN_EMIT_BINARY, types, 4);
    o.settings.opt_level = 2;
    assert_built(&o);
    for (int round = 0; round < ROUNDS; round++) {
        launch l = make_launch(ITEMS, 1, 1, 100, 1, 1);

        fill(&n, d->is_uniform);
        arguments.with = n.with;
        assert_int_equal(run_image(&o, &l, &arguments), 0);
        compare(d, &n);
    }
    free(o.bytes);
}

/* ---- tests ---- */

static void for_each_division(void (*visit)(const division *d))
{
    static const unsigned widths[] = {8, 16, 32};

    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        for (int k = 0; k < 4; k++) {
            const division d = {k % 2 == 0 ? 's' : 'u', widths[i], k / 2};

            visit(&d);
        }
}

static void quotients_are_those_of_integers(void **state)
{
    (void)state;
    seed = 5;
    for_each_division(divide);
}

static void has_vectors(const division *d)
{
    outcome o;
    char *code;

    write_module(d);
    prepare(&o, text, KILN_EMIT_LLVM_OPT, types, 4);
    o.settings.processor = "x86-64-v3";
    assert_built(&o);
    code = o.bytes;
    if (strstr(code, d->is_uniform ? "fmul <" : "fdiv <") == NULL)
        fail_msg("%s", code);
    free(code);
}

static void vectors_divide(void **state)
{
    (void)state;
    for_each_division(has_vectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_are_those_of_integers),
        cmocka_unit_test(vectors_divide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
