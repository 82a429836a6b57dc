/* test_scalars.c - the table of scalar kinds, and what follows from it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "abi/scalars.h"
#include "context/types/types.h"
#include "kiln.h"

/* The numbers as they were given out; typed IR and callers hold them. */
static const struct {
    const char *name;
    int32_t number;
} numbers[] = {
    {"none", 0},     {"Bool", 1},    {"i8", 2},        {"i16", 3},
    {"i32", 4},      {"i64", 5},     {"u8", 6},        {"u16", 7},
    {"u32", 8},      {"u64", 9},     {"f16", 10},      {"f32", 11},
    {"f64", 12},     {"Tuple", 13},  {"Vec", 14},      {"struct", 15},
    {"Array", 16},   {"Static", 17}, {"Function", 18}, {"Type", 19},
    {"foreign", 20}, {"bf16", 21},
};

static void numbers_of_kinds_stay(void **state)
{
    (void)state;

    assert_int_equal(sizeof numbers / sizeof numbers[0], KILN_TYPE_KIND_COUNT);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_string_equal(kiln__kind_name(numbers[i].number),
                            numbers[i].name);
}

/* Walks over all kinds that are scalars. */
static int32_t next_scalar(int32_t kind)
{
    do
        kind++;
    while (kind < KILN_TYPE_KIND_COUNT && !kiln__kind_is_scalar(kind));
    return kind;
}

#define EACH_SCALAR(kind) \
    int32_t kind = next_scalar(0); \
    kind < KILN_TYPE_KIND_COUNT; \
    kind = next_scalar(kind)

static void lines_agree_with_themselves(void **state)
{
    (void)state;

    for (EACH_SCALAR(kind)) {
        const kiln__scalar *s = kiln__scalar_of(kind);
        const uint32_t bytes = kiln__kind_bytes(kind);

        assert_true(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
        assert_int_equal(kiln__kind_width(s->carried), s->bits);
        assert_int_equal(s->npy[1] - '0', bytes);
        assert_int_equal(kiln__kind_is_float(kind), s->significand != 0);
        assert_int_equal(kiln__kind_is_float(s->arithmetic),
                         kiln__kind_is_float(kind));
        if (kiln__kind_is_float(kind))
            assert_int_equal(s->significand + s->exponent, s->bits);
    }
}

/* What is computed in another kind comes out as if in its own: that kind has
   more than twice the bits and two, and the range. */
static void results_are_rounded_once(void **state)
{
    (void)state;

    for (EACH_SCALAR(kind)) {
        const kiln__scalar *s = kiln__scalar_of(kind);
        const kiln__scalar *in = kiln__scalar_of(s->arithmetic);

        assert_int_equal(in->arithmetic, s->arithmetic);
        assert_int_equal(in->carried, s->arithmetic);
        if (s->arithmetic == kind)
            continue;
        assert_true(in->significand >= 2 * s->significand + 2);
        assert_true(in->exponent >= s->exponent);
    }
}

static void the_context_has_every_scalar(void **state)
{
    kiln_context *context = *state;

    for (EACH_SCALAR(kind)) {
        const kiln_type *type = kiln_type_scalar(context, kind), *read = NULL;

        assert_non_null(type);
        assert_int_equal(kiln_type_kind(type), kind);
        assert_string_equal(kiln_type_text(type), kiln__kind_name(kind));
        assert_int_equal(kiln_type_size(type), kiln__kind_bytes(kind));
        assert_int_equal(kiln_type_alignment(type), kiln__kind_bytes(kind));
        assert_ok(kiln_type_parse(&read, context, NULL, kiln__kind_name(kind),
                                  &test_error));
        assert_ptr_equal(read, type);
    }
    for (int32_t kind = 1; kind < KILN_TYPE_KIND_COUNT; kind++)
        assert_int_equal(kiln_type_scalar(context, kind) != NULL,
                         kiln__kind_is_scalar(kind));
}

/* ---- floats ---- */

static int same(double a, double b)
{
    return isnan(a) ? isnan(b) : signbit(a) == signbit(b) && a <= b && a >= b;
}

/* All values of a kind of 16 bits; of others, the ends of each exponent. */
static void values_and_bits_match(int32_t kind, uint64_t bits)
{
    const double value = kiln__float_value(kind, bits);

    assert_true(same(kiln__float_round(kind, value), value));
    if (!isnan(value))
        assert_int_equal(kiln__float_bits(kind, value), bits);
    else
        assert_true(
            isnan(kiln__float_value(kind, kiln__float_bits(kind, value))));
}

static void bits_and_values_match(void **state)
{
    (void)state;

    for (EACH_SCALAR(kind)) {
        const uint32_t width = kiln__kind_width(kind);
        const int stored = kiln__scalar_of(kind)->significand - 1;

        if (!kiln__kind_is_float(kind))
            continue;
        for (uint64_t bits = 0; width == 16 && bits < 65536; bits++)
            values_and_bits_match(kind, bits);
        for (uint64_t e = 0; e < UINT64_C(1) << (width - 1 - (unsigned)stored);
             e++) {
            values_and_bits_match(kind, e << stored);
            values_and_bits_match(kind, (e << stored) + 1);
            values_and_bits_match(kind,
                                  (e << stored) + (UINT64_C(1) << stored) - 1);
            values_and_bits_match(kind,
                                  UINT64_C(1) << (width - 1) | e << stored);
        }
    }
}

/* As the processor rounds: between each value and the next, at the half and
   on both sides of it. */
static void f32_is_rounded_as_by_the_processor(void **state)
{
    (void)state;

    for (uint32_t low = 0x1234; low < 0x7f7fffff; low += 0x10001) {
        float a, b;

        memcpy(&a, &low, sizeof a);
        b = nextafterf(a, INFINITY);
        for (int i = 0; i <= 8; i++) {
            const double x = (double)a + ((double)b - (double)a) * i / 8;

            assert_true(
                same(kiln__float_round(KILN_TYPE_F32, x), (double)(float)x));
        }
    }
}

static void what_is_too_large_is_infinite(void **state)
{
    (void)state;

    for (EACH_SCALAR(kind)) {
        const int top = kiln__kind_is_float(kind) && kind != KILN_TYPE_F64
                            ? kiln__float_bias(kind) + 1
                            : 0;
        const double unit = ldexp(1, top - kiln__scalar_of(kind)->significand);

        if (top == 0)
            continue;
        assert_true(isinf(kiln__float_round(kind, ldexp(1, top) - unit / 2)));
        assert_true(same(kiln__float_round(kind, ldexp(1, top) - unit * 0.51),
                         ldexp(1, top) - unit));
        assert_true(same(kiln__float_round(kind, -1e308), -HUGE_VAL));
    }
}

static int make_context(void **state)
{
    return kiln_context_new((kiln_context **)state, NULL, NULL) == KILN_OK ? 0
                                                                           : -1;
}

static int free_context(void **state)
{
    kiln_context_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_kinds_stay),
        cmocka_unit_test(lines_agree_with_themselves),
        cmocka_unit_test(results_are_rounded_once),
        cmocka_unit_test_setup_teardown(the_context_has_every_scalar,
                                        make_context, free_context),
        cmocka_unit_test(bits_and_values_match),
        cmocka_unit_test(f32_is_rounded_as_by_the_processor),
        cmocka_unit_test(what_is_too_large_is_infinite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
