/* test_facts.c - what facts compute, and which programs are refused. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends */
#include <stdlib.h>
#include <string.h>

#include "support/facts_programs.h"

/* Returns whether a op b is `result`, all of that width. */
static int gives(unsigned operation, unsigned width, uint64_t a, uint64_t b,
                 uint64_t result)
{
    const uint64_t arguments[] = {a, b, result};
    const kiln__facts_shape shape = {{0}};
    facts_program p = {.size = 0};
    uint16_t numbers[4];

    for (uint16_t i = 0; i < 3; i++)
        numbers[i] = facts_put_word(&p, width, 8 * i);
    numbers[3] = facts_put(&p, operation, width,
                           (const uint16_t[]){numbers[0], numbers[1], 0});
    (void)facts_put(&p, KILN__FACT_EQ, width,
                    (const uint16_t[]){numbers[2], numbers[3], 0});
    assert_true(kiln__facts_fit(p.bytes, p.size, sizeof arguments));
    return facts_hold(p.bytes, p.size, arguments, &shape);
}

/* ---- what they compute ---- */

static const uint64_t numbers[] = {0,          1,
                                   2,          3,
                                   7,          64,
                                   100,        127,
                                   128,        255,
                                   0x7fff,     0x8000,
                                   0xffff,     0x7fffffff,
                                   1u << 31,   UINT32_MAX,
                                   INT64_MAX,  (uint64_t)1 << 63,
                                   UINT64_MAX, UINT64_MAX - 1};

#define EACH_PAIR(a, b) \
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) \
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) \
            for (uint64_t a = numbers[i], b = numbers[k], once = 1; once; \
                 once = 0)

static void numbers_of_64_bits_are_cs(void **state)
{
    (void)state;
    EACH_PAIR(a, b)
    {
        const int64_t x = (int64_t)a, y = (int64_t)b;
        const int is_least = x == INT64_MIN && y == -1;
        int64_t s;
        uint64_t u;

        assert_true(gives(KILN__FACT_ADD, 64, a, b, a + b));
        assert_true(gives(KILN__FACT_SUB, 64, a, b, a - b));
        assert_true(gives(KILN__FACT_MUL, 64, a, b, a * b));
        assert_true(gives(KILN__FACT_UDIV, 64, a, b, b == 0 ? 0 : a / b));
        assert_true(gives(KILN__FACT_UREM, 64, a, b, b == 0 ? 0 : a % b));
        assert_true(gives(KILN__FACT_SDIV, 64, a, b,
                          b == 0     ? 0
                          : is_least ? a
                                     : (uint64_t)(x / y)));
        assert_true(gives(KILN__FACT_SREM, 64, a, b,
                          b == 0 || is_least ? 0 : (uint64_t)(x % y)));
        assert_true(gives(KILN__FACT_SMIN, 64, a, b, x < y ? a : b));
        assert_true(gives(KILN__FACT_SMAX, 64, a, b, x > y ? a : b));
        assert_true(gives(KILN__FACT_UMIN, 64, a, b, a < b ? a : b));
        assert_true(gives(KILN__FACT_UMAX, 64, a, b, a > b ? a : b));
        assert_true(gives(KILN__FACT_SLT, 64, a, b, x < y));
        assert_true(gives(KILN__FACT_SLE, 64, a, b, x <= y));
        assert_true(gives(KILN__FACT_ULT, 64, a, b, a < b));
        assert_true(gives(KILN__FACT_ULE, 64, a, b, a <= b));
        assert_true(gives(KILN__FACT_NE, 64, a, b, a != b));
        assert_true(
            gives(KILN__FACT_ASHR, 64, a, b, b > 63 ? 0 : (uint64_t)(x >> b)));
        assert_true(gives(KILN__FACT_LSHR, 64, a, b, b > 63 ? 0 : a >> b));
        assert_true(gives(KILN__FACT_SHL, 64, a, b, b > 63 ? 0 : a << b));
        assert_true(gives(KILN__FACT_SADD_WRAPS, 64, a, b,
                          (uint64_t)__builtin_add_overflow(x, y, &s)));
        assert_true(gives(KILN__FACT_SSUB_WRAPS, 64, a, b,
                          (uint64_t)__builtin_sub_overflow(x, y, &s)));
        assert_true(gives(KILN__FACT_SMUL_WRAPS, 64, a, b,
                          (uint64_t)__builtin_mul_overflow(x, y, &s)));
        assert_true(gives(KILN__FACT_UADD_WRAPS, 64, a, b,
                          (uint64_t)__builtin_add_overflow(a, b, &u)));
        assert_true(gives(KILN__FACT_USUB_WRAPS, 64, a, b, a < b));
        assert_true(gives(KILN__FACT_UMUL_WRAPS, 64, a, b,
                          (uint64_t)__builtin_mul_overflow(a, b, &u)));
    }
}

static void numbers_of_16_bits_wrap(void **state)
{
    (void)state;
    EACH_PAIR(a, b)
    {
        const uint16_t x = (uint16_t)a, y = (uint16_t)b;
        const int16_t p = (int16_t)x, q = (int16_t)y;
        int16_t s;
        uint16_t u;

        assert_true(gives(KILN__FACT_ADD, 16, x, y, (uint16_t)(x + y)));
        assert_true(
            gives(KILN__FACT_MUL, 16, x, y, (uint16_t)((uint32_t)x * y)));
        assert_true(gives(KILN__FACT_SLT, 16, x, y, p < q));
        assert_true(gives(KILN__FACT_SMAX, 16, x, y, p > q ? x : y));
        assert_true(gives(KILN__FACT_SADD_WRAPS, 16, x, y,
                          (uint64_t)__builtin_add_overflow(p, q, &s)));
        assert_true(gives(KILN__FACT_SMUL_WRAPS, 16, x, y,
                          (uint64_t)__builtin_mul_overflow(p, q, &s)));
        assert_true(gives(KILN__FACT_UADD_WRAPS, 16, x, y,
                          (uint64_t)__builtin_add_overflow(x, y, &u)));
    }
}

static void shapes_constants_and_choices_are_right(void **state)
{
    const kiln__facts_shape shape = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
    const uint64_t number = 0x123456789abcdef0;
    facts_program p = {.size = 0};
    uint16_t a, b, c;

    (void)state;
    a = facts_put(
        &p, KILN__FACT_CONSTANT, 64,
        (const uint16_t[]){0, (uint16_t)number, (uint16_t)(number >> 16)});
    a = facts_put(&p, KILN__FACT_HIGH, 64,
                  (const uint16_t[]){a, (uint16_t)(number >> 32),
                                     (uint16_t)(number >> 48)});
    b = facts_put_word(&p, 64, 0);
    c = facts_put(&p, KILN__FACT_EQ, 64, (const uint16_t[]){a, b, 0});
    a = facts_put(&p, KILN__FACT_SHAPE, 64, (const uint16_t[]){8, 0, 0});
    b = facts_put(&p, KILN__FACT_CONSTANT, 64, (const uint16_t[]){0, 9, 0});
    a = facts_put(&p, KILN__FACT_EQ, 64, (const uint16_t[]){a, b, 0});
    b = facts_put(&p, KILN__FACT_CONSTANT, 1, (const uint16_t[]){0, 0, 0});
    (void)facts_put(&p, KILN__FACT_SELECT, 1, (const uint16_t[]){c, a, b});
    assert_true(kiln__facts_fit(p.bytes, p.size, 8));
    assert_true(facts_hold(p.bytes, p.size, &number, &shape));
    assert_false(facts_hold(p.bytes, p.size, &(uint64_t){number + 1}, &shape));
}

static void signs_are_extended(void **state)
{
    const kiln__facts_shape shape = {{0}};
    facts_program p = {.size = 0};
    uint16_t a = facts_put_word(&p, 8, 0);
    const uint16_t b = facts_put_word(&p, 64, 8);

    (void)state;
    a = facts_put(&p, KILN__FACT_EXTEND, 64, (const uint16_t[]){a, 8, 0});
    (void)facts_put(&p, KILN__FACT_EQ, 64, (const uint16_t[]){a, b, 0});
    for (int value = -128; value < 128; value++) {
        const int64_t arguments[] = {value & 0xff, value};

        assert_true(facts_hold(p.bytes, p.size, arguments, &shape));
    }
}

/* ---- what is refused ---- */

static void programs_that_read_elsewhere_are_refused(void **state)
{
    uint8_t bytes[4 * KILN__FACT_BYTES] = {0};

    (void)state;
    assert_false(kiln__facts_fit(bytes, 0, 8));
    assert_false(kiln__facts_fit(bytes, 7, 8));
    srand(5);
    for (int i = 0; i < 200000; i++) {
        const uint64_t arguments[2] = {1, 2};
        const kiln__facts_shape shape = {{0}};

        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(rand() % 3 != 0 ? rand() % 5 : rand());
        if (kiln__facts_fit(bytes, sizeof bytes, sizeof arguments))
            (void)facts_hold(bytes, sizeof bytes, arguments, &shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_64_bits_are_cs),
        cmocka_unit_test(numbers_of_16_bits_wrap),
        cmocka_unit_test(shapes_constants_and_choices_are_right),
        cmocka_unit_test(signs_are_extended),
        cmocka_unit_test(programs_that_read_elsewhere_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
