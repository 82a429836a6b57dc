/* test_spirv_target.c - SPIR-V targets: names, defaults, and who runs them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends spirv */
#include <string.h>

#include "backends/spirv/spirv.h"
#include "support/harness.h"

static kiln_target resolve(const char *name, const kiln__spirv_level *there)
{
    kiln_target target;

    assert_ok(kiln__spirv_target(&target, name, there, &test_error));
    return target;
}

static void a_name_is_spelt_out_in_the_order_of_the_table(void **state)
{
    const kiln_target target = resolve(
        "1.3+SPV_KHR_expect_assume+subgroups+fp16+SPV_INTEL_optnone", NULL);

    (void)state;
    assert_string_equal(
        target.name,
        "1.3+fp16+subgroups+SPV_INTEL_optnone+SPV_KHR_expect_assume");
    assert_string_equal(
        target.options,
        "fp16,subgroups,SPV_INTEL_optnone,SPV_KHR_expect_assume");
    assert_string_equal(target.triple, "spirv64v1.3-unknown-unknown");
    assert_string_equal(target.processor, "");
    assert_string_equal(target.features, "");
}

static void a_spelt_name_resolves_to_itself(void **state)
{
    static const char *const names[] = {NULL, "1.2", "1.6+fp64", "+fp16"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const kiln_target first = resolve(names[i], NULL);
        const kiln_target again = resolve(first.name, NULL);

        assert_string_equal(first.name, again.name);
        assert_string_equal(first.options, again.options);
        assert_string_equal(first.triple, again.triple);
    }
}

static void without_a_device_the_default_is_what_most_have(void **state)
{
    (void)state;
    assert_string_equal(resolve(NULL, NULL).name, "1.4+fp64+int64_atomics");
    assert_string_equal(resolve("+fp16", NULL).name,
                        "1.4+fp16+fp64+int64_atomics");
    assert_string_equal(resolve("1.4", NULL).name, "1.4");
}

static void with_a_device_the_default_is_what_it_has(void **state)
{
    const kiln__spirv_level old = {2, KILN__SPIRV_BIT(FP16)};
    const kiln__spirv_level young = {6, KILN__SPIRV_BIT(SUBGROUPS)};

    (void)state;
    assert_string_equal(resolve(NULL, &old).name, "1.2+fp16");
    assert_string_equal(resolve(NULL, &young).name, "1.4+subgroups");
    assert_string_equal(resolve("1.5+fp64", &old).name, "1.5+fp64");
}

static void what_nobody_knows_is_refused_with_a_list(void **state)
{
    kiln_target target;

    (void)state;
    assert_fails(KILN_EINVAL, "there are 1.2 to 1.6",
                 kiln__spirv_target(&target, "1.1", NULL, &test_error));
    assert_fails(KILN_EINVAL, "unknown version \"1.45\"",
                 kiln__spirv_target(&target, "1.45", NULL, &test_error));
    assert_fails(KILN_EINVAL, "unknown version \"\"",
                 kiln__spirv_target(&target, "", NULL, &test_error));
    assert_fails(KILN_EINVAL, "SPV_KHR_expect_assume, SPV_KHR_float_controls",
                 kiln__spirv_target(&target, "1.4+fp128", NULL, &test_error));
    assert_fails(KILN_EINVAL, "unknown feature \"\"",
                 kiln__spirv_target(&target, "1.4+", NULL, &test_error));
    assert_fails(
        KILN_EINVAL, "\"fp16\" is given twice",
        kiln__spirv_target(&target, "1.4+fp16+fp16", NULL, &test_error));
}

static void every_feature_at_once_fits(void **state)
{
    const kiln__spirv_level all = {
        4, ((uint64_t)1 << KILN__SPIRV_FEATURE_COUNT) - 1};
    const kiln_target target = resolve(NULL, &all);

    (void)state;
    assert_contains(target.options, "SPV_KHR_uniform_group_instructions");
    assert_string_equal(resolve(target.name, NULL).options, target.options);
}

static void a_device_runs_what_it_has_and_no_more(void **state)
{
    const kiln__spirv_level there = {4, KILN__SPIRV_BIT(FP64)};

    (void)state;
    assert_ok(kiln__spirv_target_runs("spirv:1.2+fp64", &there, &test_error));
    assert_ok(kiln__spirv_target_runs("spirv:1.4+SPV_INTEL_optnone", &there,
                                      &test_error));
    assert_fails(KILN_ENODEVICE, "it lacks fp16, subgroups",
                 kiln__spirv_target_runs("spirv:1.4+fp16+fp64+subgroups",
                                         &there, &test_error));
    assert_fails(
        KILN_ENODEVICE, "up to 1.4",
        kiln__spirv_target_runs("spirv:1.5+fp64", &there, &test_error));
    assert_fails(KILN_ECORRUPT, "is not SPIR-V",
                 kiln__spirv_target_runs("cuda:sm_90", &there, &test_error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_spelt_out_in_the_order_of_the_table),
        cmocka_unit_test(a_spelt_name_resolves_to_itself),
        cmocka_unit_test(without_a_device_the_default_is_what_most_have),
        cmocka_unit_test(with_a_device_the_default_is_what_it_has),
        cmocka_unit_test(what_nobody_knows_is_refused_with_a_list),
        cmocka_unit_test(every_feature_at_once_fits),
        cmocka_unit_test(a_device_runs_what_it_has_and_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
