/* test_modes.c - fast, contracted and strict arithmetic in every body. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend host */
#include <string.h>

#include "support/harness.h"

#include "support/devices/kernels.h"

#define FILE_NAME KILN_TESTS_FOLDER "/language/modes.kiln"

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        n++;
    return n;
}

static kiln_blob text_of(kernels *k, const char *kernel, uint8_t bounds)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_package *package = kernels_load(k, FILE_NAME);
    const kiln_type *types[2];
    kiln_signature signature = {.types = types, .count = 2};
    const kiln_config *config;
    kiln_blob text = {0};

    options.bounds_checks = bounds;
    config = kernels_config(k, &options);
    assert_ok(kiln_type_array(&types[0], k->context,
                              kiln_type_scalar(k->context, KILN_TYPE_F32), 1, 0,
                              &test_error));
    types[1] = types[0];
    assert_ok(kiln_package_function(&signature.function, package, kernel,
                                    &test_error));
    assert_ok(kiln_emit(&text, k->context, &signature, config, 0,
                        KILN_EMIT_LLVM, &test_error));
    return text;
}

/* The kernel has one sum of each kind; each body has them once. */
static void check(kernels *k, const char *kernel, uint8_t bounds, size_t bodies)
{
    kiln_blob text = text_of(k, kernel, bounds);

    assert_int_equal(strstr(text.data, ".safe.item") != NULL, bodies == 2);
    assert_int_equal(count(text.data, "= fadd reassoc nnan ninf contract "),
                     bodies);
    assert_int_equal(count(text.data, "= fadd contract "), bodies);
    assert_int_equal(count(text.data, "= fadd float "), bodies);
    kiln_blob_release(&text);
}

static void blocks_hold_with_and_without_checks(void **state)
{
    check(*state, "items", KILN_SWITCH_ON, 2);
    check(*state, "items", KILN_SWITCH_OFF, 1);
}

static void blocks_hold_where_a_group_works_together(void **state)
{
    check(*state, "group", KILN_SWITCH_ON, 2);
    check(*state, "group", KILN_SWITCH_OFF, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_hold_with_and_without_checks),
        cmocka_unit_test(blocks_hold_where_a_group_works_together),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
