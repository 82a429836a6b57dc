/* test_cuda_target.c - names of CUDA's targets, and what runs where. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends cuda */
/* NEEDS: kiln-fake-gpu */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_driver.h"
#include "support/devices/gpu.h"
#include "support/harness.h"

static kiln_status describe(kiln_target *out, const char *name)
{
    kiln__gpu_backend none = {0};

    memset(out, 0, sizeof *out);
    return kiln__cuda_target(&none, name, out, &test_error);
}

static void assert_target(const char *name, const char *resolved,
                          const char *processor, const char *features)
{
    kiln_target target;

    assert_ok(describe(&target, name));
    assert_string_equal(target.name, resolved);
    assert_string_equal(target.processor, processor);
    assert_string_equal(target.features, features);
    assert_string_equal(target.triple, "nvptx64-nvidia-cuda");
    assert_string_equal(target.options, "");
}

static void a_target_gets_the_ptx_that_it_needs(void **state)
{
    (void)state;
    assert_target("sm_75", "sm_75:ptx78", "sm_75", "+ptx78");
    assert_target("sm_90", "sm_90:ptx78", "sm_90", "+ptx78");
    assert_target("sm_90a", "sm_90a:ptx80", "sm_90a", "+ptx80");
    assert_target("sm_100f", "sm_100f:ptx88", "sm_100f", "+ptx88");
    assert_target("sm_120", "sm_120:ptx87", "sm_120", "+ptx87");
    assert_target("sm_88", "sm_88:ptx90", "sm_88", "+ptx90");
}

static void a_version_of_ptx_may_be_given(void **state)
{
    (void)state;
    assert_target("sm_90a:ptx87", "sm_90a:ptx87", "sm_90a", "+ptx87");
    assert_target("sm_75:ptx63", "sm_75:ptx63", "sm_75", "+ptx63");
    assert_target("sm_121a:ptx90", "sm_121a:ptx90", "sm_121a", "+ptx90");
}

static void what_is_no_target_is_told_with_a_list(void **state)
{
    static const char *const wrong[] = {
        "",        "sm_70",         "sm_75a", "90",   "sm_90 ", "SM_90",
        "sm_100b", "sm_90aa:ptx78", ":ptx78", "sm_9", "gfx90a"};
    kiln_target target;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(KILN_EINVAL, "sm_75, sm_80, ",
                     describe(&target, wrong[i]));
}

static void a_target_may_say_who_makes_cubins(void **state)
{
    static const char *const names[][3] = {
        {"sm_90:ptxas", "sm_90:ptx78:ptxas", "tool=ptxas"},
        {"sm_90a:ptx87:nvjitlink", "sm_90a:ptx87:nvjitlink", "tool=nvjitlink"},
        {"sm_90:ptx78:ptxas", "sm_90:ptx78:ptxas", "tool=ptxas"}};
    kiln_target target;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_ok(describe(&target, names[i][0]));
        assert_string_equal(target.name, names[i][1]);
        assert_string_equal(target.options, names[i][2]);
    }
    assert_fails(KILN_EINVAL, "newest is ptx90",
                 describe(&target, "sm_90:ptxas:ptx78"));
    assert_fails(KILN_EINVAL, "newest is ptx90",
                 describe(&target, "sm_90:ptxas:ptxas"));
}

static void what_is_no_version_is_told(void **state)
{
    static const char *const wrong[] = {
        "sm_90:",       "sm_90:78",    "sm_90:ptx",
        "sm_90:ptx79",  "sm_90:ptx91", "sm_90:ptx78 ",
        "sm_90:ptx78:", "sm_90:ptx-1", "sm_90:ptx99999999999999999999"};
    kiln_target target;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(KILN_EINVAL, "newest is ptx90",
                     describe(&target, wrong[i]));
    assert_fails(KILN_EINVAL, "needs ptx80 or newer",
                 describe(&target, "sm_90a:ptx78"));
}

/* ---- devices ---- */

static int fits(int major, int minor, const char *target, const char *format)
{
    const kiln__gpu_context context = {.major = major, .minor = minor};
    char name[64];

    (void)snprintf(name, sizeof name, "cuda:%s", target);
    return kiln__cuda_target_fits(&context, name, format, NULL) == KILN_OK;
}

static void a_cubin_runs_within_its_major_version(void **state)
{
    (void)state;
    assert_true(fits(8, 0, "sm_80", "cubin"));
    assert_true(fits(8, 6, "sm_80", "cubin"));
    assert_false(fits(8, 0, "sm_86", "cubin"));
    assert_false(fits(9, 0, "sm_80", "cubin"));
    assert_false(fits(7, 5, "sm_80", "cubin"));
}

static void ptx_runs_on_all_that_is_newer(void **state)
{
    (void)state;
    assert_true(fits(9, 0, "sm_80", "ptx"));
    assert_true(fits(12, 0, "sm_75", "ptx"));
    assert_true(fits(13, 0, "sm_121", "ptx"));
    assert_false(fits(7, 5, "sm_80", "ptx"));
    assert_false(fits(8, 0, "sm_86", "ptx"));
}

static void a_specific_architecture_is_for_one_device(void **state)
{
    (void)state;
    assert_true(fits(9, 0, "sm_90a", "cubin"));
    assert_true(fits(9, 0, "sm_90a", "ptx"));
    assert_false(fits(10, 0, "sm_90a", "ptx"));
    assert_false(fits(10, 3, "sm_100a", "cubin"));
}

static void a_family_is_for_its_members(void **state)
{
    (void)state;
    assert_true(fits(10, 0, "sm_100f", "cubin"));
    assert_true(fits(10, 3, "sm_100f", "ptx"));
    assert_false(fits(10, 1, "sm_100f", "cubin"));
    assert_false(fits(11, 0, "sm_100f", "ptx"));
    assert_true(fits(12, 1, "sm_120f", "cubin"));
    assert_false(fits(12, 0, "sm_121f", "cubin"));
    assert_true(fits(10, 1, "sm_101f", "cubin"));
    assert_false(fits(10, 3, "sm_101f", "cubin"));
}

/* ---- the default ---- */

static void assert_default(int major, int minor, const char *target)
{
    gpu_fixture f;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;

    assert_ok(gpu_begin(&f, &gpu_cuda, NULL));
    f.fake->major = major;
    f.fake->minor = minor;
    if (major == 0)
        f.fake->device_count = 0;
    options.target = "cuda";
    assert_ok(kiln_config_new(&config, f.context, &options, &test_error));
    assert_string_equal(kiln_config_target(config), target);
    gpu_end(&f);
    gpu_assert_balanced(f.fake);
}

static void the_default_is_the_first_devices_architecture(void **state)
{
    (void)state;
    assert_default(8, 6, "cuda:sm_86:ptx78");
    assert_default(9, 0, "cuda:sm_90:ptx78");
    assert_default(12, 1, "cuda:sm_121:ptx88");
    /* One that is newer than what is known, and one that is older. */
    assert_default(10, 9, "cuda:sm_103:ptx88");
    assert_default(14, 0, "cuda:sm_121:ptx88");
    assert_default(6, 1, "cuda:sm_75:ptx78");
    assert_default(0, 0, "cuda:sm_75:ptx78");
}

static void a_named_target_opens_no_driver(void **state)
{
    gpu_fixture f;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;

    (void)state;
    assert_ok(gpu_begin(&f, &gpu_cuda, NULL));
    options.target = "cuda:sm_80";
    assert_ok(kiln_config_new(&config, f.context, &options, &test_error));
    assert_int_equal(f.fake->calls, 0);
    gpu_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_gets_the_ptx_that_it_needs),
        cmocka_unit_test(a_version_of_ptx_may_be_given),
        cmocka_unit_test(what_is_no_target_is_told_with_a_list),
        cmocka_unit_test(a_target_may_say_who_makes_cubins),
        cmocka_unit_test(what_is_no_version_is_told),
        cmocka_unit_test(a_cubin_runs_within_its_major_version),
        cmocka_unit_test(ptx_runs_on_all_that_is_newer),
        cmocka_unit_test(a_specific_architecture_is_for_one_device),
        cmocka_unit_test(a_family_is_for_its_members),
        cmocka_unit_test(the_default_is_the_first_devices_architecture),
        cmocka_unit_test(a_named_target_opens_no_driver),
    };

    return cmocka_run_group_tests_name("cuda_target", tests, NULL, NULL);
}
