/* test_options.c - reading sized structs of older and newer callers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit */
#include <string.h>

#include "base/options.h"
#include "support/harness.h"

typedef struct older {
    size_t size;
    int64_t a;
} older;

typedef struct ours {
    size_t size;
    int64_t a;
    int64_t b;
} ours;

typedef struct newer {
    size_t size;
    int64_t a;
    int64_t b;
    int64_t c;
} newer;

static void no_options_are_all_zero(void **state)
{
    ours to;

    (void)state;
    memset(&to, 0xAA, sizeof to);
    assert_ok(kiln__options_read(&to, sizeof to, NULL, "ours", NULL));
    assert_int_equal(to.size, sizeof to);
    assert_int_equal(to.a, 0);
    assert_int_equal(to.b, 0);
}

static void an_equal_caller_is_copied(void **state)
{
    const ours from = {sizeof from, 3, 4};
    ours to;

    (void)state;
    assert_ok(kiln__options_read(&to, sizeof to, &from, "ours", NULL));
    assert_int_equal(to.a, 3);
    assert_int_equal(to.b, 4);
}

static void what_an_older_caller_did_not_know_is_zero(void **state)
{
    const older from = {sizeof from, 3};
    ours to;

    (void)state;
    memset(&to, 0xAA, sizeof to);
    assert_ok(kiln__options_read(&to, sizeof to, &from, "ours", NULL));
    assert_int_equal(to.size, sizeof to);
    assert_int_equal(to.a, 3);
    assert_int_equal(to.b, 0);
}

static void a_newer_caller_with_zeros_is_fine(void **state)
{
    const newer from = {sizeof from, 3, 4, 0};
    ours to;

    (void)state;
    assert_ok(kiln__options_read(&to, sizeof to, &from, "ours", NULL));
    assert_int_equal(to.size, sizeof to);
    assert_int_equal(to.b, 4);
}

static void a_newer_caller_that_asks_for_more_is_refused(void **state)
{
    const newer from = {sizeof from, 3, 4, 1};
    ours to;

    (void)state;
    assert_fails(
        KILN_EINVAL, "ours has members that this library does not know: its",
        kiln__options_read(&to, sizeof to, &from, "ours", &test_error));
}

static void a_struct_without_its_size_is_refused(void **state)
{
    const ours empty = {0, 3, 4};
    const ours garbage = {SIZE_MAX, 3, 4};
    ours to;

    (void)state;
    assert_fails(
        KILN_EINVAL, "ours.size is 0; set it to sizeof(ours)",
        kiln__options_read(&to, sizeof to, &empty, "ours", &test_error));
    assert_fails(
        KILN_EINVAL, "ours.size is 18446744073709551615; set it to",
        kiln__options_read(&to, sizeof to, &garbage, "ours", &test_error));
    assert_fails(KILN_EINVAL, "ours.size is 0",
                 kiln__sized_check(&empty, "ours", &test_error));
    assert_fails(KILN_EINVAL, "the ours to fill is NULL",
                 kiln__sized_check(NULL, "ours", &test_error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_options_are_all_zero),
        cmocka_unit_test(an_equal_caller_is_copied),
        cmocka_unit_test(what_an_older_caller_did_not_know_is_zero),
        cmocka_unit_test(a_newer_caller_with_zeros_is_fine),
        cmocka_unit_test(a_newer_caller_that_asks_for_more_is_refused),
        cmocka_unit_test(a_struct_without_its_size_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
