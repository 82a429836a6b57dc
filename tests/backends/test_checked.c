/* test_checked.c - checked arithmetic of the runtime library, against C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF(name) KILN_TESTS_FOLDER "/language/" name ".kiln"

/* Holds every value of every integer type, and their products. */
__extension__ typedef __int128 wide;

typedef struct integer {
    const char *name;
    size_t size;
    int is_signed;
} integer;

static const integer integers[] = {{"i8", 1, 1},  {"i16", 2, 1}, {"i32", 4, 1},
                                   {"i64", 8, 1}, {"u8", 1, 0},  {"u16", 2, 0},
                                   {"u32", 4, 0}, {"u64", 8, 0}};
#define INTEGERS (sizeof integers / sizeof *integers)

static wide least(const integer *type)
{
    return type->is_signed ? -((wide)1 << (8 * type->size - 1)) : 0;
}

static wide most(const integer *type)
{
    return ((wide)1 << (8 * type->size - (size_t)type->is_signed)) - 1;
}

static void put(void *array, size_t i, const integer *type, wide value)
{
    memcpy((char *)array + i * type->size, &value, type->size);
}

static wide take(const void *array, size_t i, const integer *type)
{
    uint64_t bits = 0;

    memcpy(&bits, (const char *)array + i * type->size, type->size);
    if (type->is_signed && bits >> (8 * type->size - 1) != 0)
        return (wide)bits - ((wide)1 << (8 * type->size));
    return (wide)bits;
}

static wide wrapped(const integer *type, wide value)
{
    char bytes[8];

    put(bytes, 0, type, value);
    return take(bytes, 0, type);
}

static int fits(const integer *type, wide value)
{
    return value >= least(type) && value <= most(type);
}

/* ---- what the operations mean ---- */

static wide sum(wide a, wide b)
{
    return a + b;
}

static wide difference(wide a, wide b)
{
    return a - b;
}

/* The largest ones are too many even for `wide`: what is left of them has the
   same low bits, and does not fit either. */
static wide product(wide a, wide b)
{
    const wide large = (wide)1 << 120;

    if (a > 0 && b > large / a)
        return large + (wide)((uint64_t)a * (uint64_t)b);
    return a * b;
}

static wide negative(wide a, wide b)
{
    (void)b;
    return -a;
}

static wide size_of(wide a, wide b)
{
    (void)b;
    return a < 0 ? -a : a;
}

static wide quotient(wide a, wide b)
{
    return a / b;
}

typedef struct operation {
    const char *kernel;
    wide (*meaning)(wide a, wide b);
    const char *method; /* of a checked one */
    const char *message;
} operation;

static const operation plain[] = {{"add", sum, NULL, NULL},
                                  {"sub", difference, NULL, NULL},
                                  {"mul", product, NULL, NULL},
                                  {"neg", negative, NULL, NULL}};

static const operation raising[] = {
    {"raise_add", sum, "core.checked_add", "a sum does not fit"},
    {"raise_sub", difference, "core.checked_sub", "a difference does not fit"},
    {"raise_mul", product, "core.checked_mul", "a product does not fit"},
    {"raise_neg", negative, "core.checked_neg", "a negative does not fit"},
    {"raise_abs", size_of, "core.checked_abs", "an absolute value does not"},
    {"raise_div", quotient, "core.checked_div", "a quotient does not fit"},
};

/* ---- pairs of values at and near every edge ---- */

#define VALUES_MAX 64
#define PAIRS_MAX (VALUES_MAX * VALUES_MAX)

static size_t add_value(wide *values, size_t count, const integer *type,
                        wide value)
{
    if (fits(type, value) && count < VALUES_MAX)
        values[count++] = value;
    return count;
}

static size_t edges(wide *values, const integer *type)
{
    const size_t bits = 8 * type->size;
    size_t count = 0;

    for (wide d = -2; d <= 2; d++) {
        count = add_value(values, count, type, least(type) + d);
        count = add_value(values, count, type, most(type) + d);
        count = add_value(values, count, type, most(type) / 2 + d);
        count = add_value(values, count, type, least(type) / 2 + d);
        count = add_value(values, count, type, d);
        count = add_value(values, count, type, ((wide)1 << bits / 2) + d);
        count = add_value(values, count, type, -((wide)1 << bits / 2) + d);
        count = add_value(values, count, type, ((wide)1 << bits / 4) * 3 + d);
    }
    count = add_value(values, count, type, most(type) / 3);
    count = add_value(values, count, type, least(type) / 3);
    return add_value(values, count, type, (wide)0xb504f333 & most(type));
}

typedef struct pairs {
    size_t count;
    char a[PAIRS_MAX * 8], b[PAIRS_MAX * 8];
    char result[PAIRS_MAX * 8], near[PAIRS_MAX * 8];
    int64_t over[PAIRS_MAX];
} pairs;

static pairs all;
static kiln_package *package; /* of checked.kiln */

static void make_pairs(const integer *type)
{
    wide values[VALUES_MAX];
    const size_t count = edges(values, type);

    all.count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            put(all.a, all.count, type, values[i]);
            put(all.b, all.count++, type, values[j]);
        }
}

static void run_plain(kernels *k, const integer *type, const char *kernel)
{
    const int64_t count = (int64_t)all.count;
    const kiln_array a = kernels_array(all.a, count);
    const kiln_array b = kernels_array(all.b, count);
    const kiln_array result = kernels_array(all.result, count);
    const kiln_array near = kernels_array(all.near, count);
    const kiln_array over = kernels_array(all.over, count);
    char text[16];
    const kernels_argument arguments[] = {{text, &result},
                                          {"i64[:]", &over},
                                          {text, &near},
                                          {text, &a},
                                          {text, &b}};

    snprintf(text, sizeof text, "%s[:]", type->name);
    assert_ok(
        kernels_run(k, package, kernel, all.count, arguments, 5, &test_error));
}

static void check_plain(const integer *type, const operation *o)
{
    for (size_t i = 0; i < all.count; i++) {
        const wide value =
            o->meaning(take(all.a, i, type), take(all.b, i, type));
        const wide near = value < least(type)  ? least(type)
                          : value > most(type) ? most(type)
                                               : value;

        if (take(all.result, i, type) != wrapped(type, value) ||
            all.over[i] != !fits(type, value) ||
            take(all.near, i, type) != near)
            fail_msg("%s of %s and %s: %lld, %lld: %lld, %lld, %lld", o->kernel,
                     type->name, type->name, (long long)take(all.a, i, type),
                     (long long)take(all.b, i, type),
                     (long long)take(all.result, i, type),
                     (long long)all.over[i],
                     (long long)take(all.near, i, type));
    }
}

static void results_flags_and_nearest_values_are_those_of_c(void **state)
{
    for (size_t t = 0; t < INTEGERS; t++)
        for (size_t o = 0; o < sizeof plain / sizeof *plain; o++) {
            make_pairs(&integers[t]);
            run_plain(*state, &integers[t], plain[o].kernel);
            check_plain(&integers[t], &plain[o]);
        }
}

static kiln_status run_raising(kernels *k, const integer *type,
                               const char *kernel, kiln_error **error)
{
    const int64_t count = (int64_t)all.count;
    const kiln_array a = kernels_array(all.a, count);
    const kiln_array b = kernels_array(all.b, count);
    const kiln_array out = kernels_array(all.result, count);
    char text[16];
    const kernels_argument arguments[] = {{text, &out}, {text, &a}, {text, &b}};

    snprintf(text, sizeof text, "%s[:]", type->name);
    return kernels_run(k, package, kernel, all.count, arguments, 3, error);
}

/* Keeps the pairs whose result does, or does not, fit. */
static void keep_pairs(const integer *type, const operation *o, int good)
{
    size_t count = 0;

    for (size_t i = 0; i < all.count; i++) {
        const wide a = take(all.a, i, type), b = take(all.b, i, type);

        if ((o->meaning == quotient && b == 0) ||
            fits(type, o->meaning(a, b)) != good)
            continue;
        put(all.a, count, type, a);
        put(all.b, count++, type, b);
    }
    all.count = count;
}

static void checked_results_that_fit_are_those_of_c(void **state)
{
    for (size_t t = 0; t < INTEGERS; t++)
        for (size_t o = 0; o < sizeof raising / sizeof *raising; o++) {
            const integer *type = &integers[t];

            make_pairs(type);
            keep_pairs(type, &raising[o], 1);
            assert_true(all.count > 0);
            assert_ok(
                run_raising(*state, type, raising[o].kernel, &test_error));
            for (size_t i = 0; i < all.count; i++)
                assert_true(take(all.result, i, type) ==
                            raising[o].meaning(take(all.a, i, type),
                                               take(all.b, i, type)));
        }
}

/* The first pair fits, the second does not. */
static void check_record(kernels *k, const integer *type, const operation *o)
{
    kiln_error *error = NULL;
    const kiln_exception *exception;

    put(all.a, 1, type, take(all.a, 0, type));
    put(all.b, 1, type, take(all.b, 0, type));
    put(all.a, 0, type, 1);
    put(all.b, 0, type, o->meaning == difference ? 0 : 1);
    if (o->meaning == negative)
        put(all.a, 0, type, 0);
    all.count = 2;
    assert_int_equal(run_raising(k, type, o->kernel, &error), KILN_EEXCEPTION);
    exception = kiln_error_exception(error);
    assert_non_null(exception);
    assert_int_equal(exception->kind, KILN_EXCEPTION_ASSERTION);
    assert_contains(exception->message, "integer overflow: ");
    assert_contains(exception->message, o->message);
    assert_string_equal(exception->method, o->method);
    assert_string_equal(exception->location.file, "checked.kiln");
    assert_int_equal(exception->item[0], 1);
    kiln_error_free(error);
}

static void what_does_not_fit_raises_an_exception(void **state)
{
    int raised = 0;

    for (size_t t = 0; t < INTEGERS; t++)
        for (size_t o = 0; o < sizeof raising / sizeof *raising; o++) {
            make_pairs(&integers[t]);
            keep_pairs(&integers[t], &raising[o], 0);
            if (all.count == 0)
                continue;
            check_record(*state, &integers[t], &raising[o]);
            raised++;
        }
    assert_int_equal(raised, 4 * 6 + 4 * 4); /* unsigned: no abs, no div */
}

static void operands_of_two_types_are_refused(void **state)
{
    kernels *k = *state;
    kiln_package *mixed = kernels_define(k, "mixed",
                                         "kernel f()\n"
                                         "    x: i32 = 1\n"
                                         "    y = checked_add(x, i64(1))\n"
                                         "end\n");

    assert_fails(KILN_ECOMPILE, "checked_add",
                 kernels_run(k, mixed, "f", 1, NULL, 0, &test_error));
}

static int setup(void **state)
{
    if (kernels_setup(state) != 0)
        return 1;
    package = kernels_load(*state, FILE_OF("checked"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_flags_and_nearest_values_are_those_of_c),
        cmocka_unit_test(checked_results_that_fit_are_those_of_c),
        cmocka_unit_test(what_does_not_fit_raises_an_exception),
        cmocka_unit_test(operands_of_two_types_are_refused),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
