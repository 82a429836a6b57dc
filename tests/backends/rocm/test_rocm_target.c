/* test_rocm_target.c - names of ROCm's targets, and what runs where. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends rocm */
/* NEEDS: kiln-fake-gpu */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/rocm/rocm_driver.h"
#include "support/devices/gpu.h"
#include "support/harness.h"

static kiln_status describe(kiln_target *out, const char *name)
{
    kiln__gpu_backend none = {0};

    memset(out, 0, sizeof *out);
    return kiln__rocm_target(&none, name, out, &test_error);
}

static void assert_target(const char *name, const char *resolved,
                          const char *features, const char *options)
{
    kiln_target target;

    assert_ok(describe(&target, name));
    assert_string_equal(target.name, resolved);
    assert_int_equal(strncmp(target.processor, name, strlen(target.processor)),
                     0);
    assert_string_equal(target.features, features);
    assert_string_equal(target.triple, "amdgcn-amd-amdhsa");
    assert_string_equal(target.options, options);
}

static void width_and_version_are_always_spelt(void **state)
{
    (void)state;
    assert_target("gfx906", "gfx906:wave64:cov5", "+wavefrontsize64", "cov=5");
    assert_target("gfx90a:unsafe_fp_atomics",
                  "gfx90a:wave64:cov5:unsafe_fp_atomics", "+wavefrontsize64",
                  "cov=5,unsafe_fp_atomics");
    assert_target("gfx90a:cov6", "gfx90a:wave64:cov6", "+wavefrontsize64",
                  "cov=6");
    assert_target("gfx1030", "gfx1030:wave32:cov5", "+wavefrontsize32",
                  "cov=5");
    assert_target("gfx1201:wave64", "gfx1201:wave64:cov5", "+wavefrontsize64",
                  "cov=5");
    assert_target("gfx950", "gfx950:wave64:cov5", "+wavefrontsize64", "cov=5");
}

static void switches_are_spelt_where_they_are_given(void **state)
{
    (void)state;
    assert_target("gfx90a:sramecc+:xnack-",
                  "gfx90a:sramecc+:xnack-:wave64:cov5",
                  "+sramecc,-xnack,+wavefrontsize64", "cov=5");
    /* In whatever order. */
    assert_target("gfx942:cov6:xnack+", "gfx942:xnack+:wave64:cov6",
                  "+xnack,+wavefrontsize64", "cov=6");
    assert_target("gfx908:sramecc-", "gfx908:sramecc-:wave64:cov5",
                  "-sramecc,+wavefrontsize64", "cov=5");
}

static void what_a_processor_lacks_is_told(void **state)
{
    static const char *const wrong[] = {
        "gfx90a:wave32",  "gfx1100:xnack+",        "gfx1100:sramecc-",
        "gfx90a:xnack",   "gfx90a:xnack+:xnack-",  "gfx90a:cov5:cov6",
        "gfx90a:cov4",    "gfx1030:wave32:wave64", "gfx90a:",
        "gfx90a::xnack+", "gfx90a:xnack+-",        "gfx90a: xnack+"};
    kiln_target target;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(KILN_EINVAL, "cov5 or cov6", describe(&target, wrong[i]));
}

static void what_is_no_processor_is_told_with_a_list(void **state)
{
    static const char *const wrong[] = {"",      "gfx9",    "gfx90", "gfx90A",
                                        "sm_90", "gfx1103", ":cov5", "gfx90a "};
    kiln_target target;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(KILN_EINVAL, "gfx906, gfx908, ",
                     describe(&target, wrong[i]));
}

/* ---- devices ---- */

static int fits(const char *device, const char *target)
{
    kiln__gpu_context context = {0};
    char name[64];

    (void)snprintf(context.architecture, sizeof context.architecture, "%s",
                   device);
    (void)snprintf(name, sizeof name, "rocm:%s", target);
    return kiln__rocm_target_fits(&context, name, "elf", NULL) == KILN_OK;
}

static void code_runs_on_its_processor_alone(void **state)
{
    (void)state;
    assert_true(fits("gfx90a:sramecc+:xnack-", "gfx90a:wave64:cov5"));
    assert_false(fits("gfx90a:sramecc+:xnack-", "gfx908:wave64:cov5"));
    assert_true(fits("gfx1100", "gfx1100:wave32:cov5"));
    assert_false(fits("gfx1100", "gfx1101:wave32:cov5"));
    assert_false(fits("", "gfx1101:wave32:cov5"));
    assert_false(fits("gfx90", "gfx906"));
    assert_false(fits("gfx9060", "gfx906"));
}

static void switches_that_are_given_must_stand_so(void **state)
{
    (void)state;
    assert_true(fits("gfx90a:sramecc+:xnack-", "gfx90a:xnack-"));
    assert_true(fits("gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-"));
    assert_false(fits("gfx90a:sramecc+:xnack-", "gfx90a:xnack+"));
    assert_false(fits("gfx90a:sramecc-:xnack-", "gfx90a:sramecc+"));
}

static void another_format_is_refused(void **state)
{
    const kiln__gpu_context context = {.architecture = "gfx90a"};

    (void)state;
    assert_fails(
        KILN_EMISMATCH, "format \"cubin\"",
        kiln__rocm_target_fits(&context, "rocm:gfx90a", "cubin", &test_error));
    assert_fails(
        KILN_EMISMATCH, "cuda:sm_80",
        kiln__rocm_target_fits(&context, "cuda:sm_80", "elf", &test_error));
}

/* ---- what a driver says ---- */

static void assert_found(const char *bytes, size_t size, const char *text)
{
    char found[64];
    char *exact = malloc(size);

    assert_non_null(exact);
    memcpy(exact, bytes, size);
    kiln__rocm_architecture(found, sizeof found, exact, size);
    assert_string_equal(found, text);
    free(exact);
}

static void the_processor_is_found_wherever_it_stands(void **state)
{
    char bytes[1024] = "gfx1030 is what I call it";

    (void)state;
    assert_found(bytes, sizeof bytes, "");
    memcpy(bytes + 396, "gfx906", 7);
    assert_found(bytes, sizeof bytes, "gfx906");
    memset(bytes + 256, 0, sizeof bytes - 256);
    memcpy(bytes + 800, "gfx90a:sramecc+:xnack-", 23);
    assert_found(bytes, sizeof bytes, "gfx90a:sramecc+:xnack-");
    /* Without an end, too long, at the very end. */
    memset(bytes + 803, 'a', sizeof bytes - 803);
    assert_found(bytes, sizeof bytes, "");
    bytes[900] = '\0';
    assert_found(bytes, sizeof bytes, "");
    memset(bytes + 256, 0, sizeof bytes - 256);
    memcpy(bytes + sizeof bytes - 3, "gfx", 3);
    assert_found(bytes, sizeof bytes, "");
}

static void assert_default(const gpu_vendor *of, const char *architecture,
                           const char *target)
{
    gpu_fixture f;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;

    assert_ok(gpu_begin(&f, of, NULL));
    (void)snprintf(f.fake->architecture, sizeof f.fake->architecture, "%s",
                   architecture);
    options.target = "rocm";
    assert_ok(kiln_config_new(&config, f.context, &options, &test_error));
    assert_string_equal(kiln_config_target(config), target);
    gpu_end(&f);
}

static void the_default_is_what_the_first_device_is(void **state)
{
    (void)state;
    assert_default(&gpu_rocm, "gfx90a:sramecc+:xnack-",
                   "rocm:gfx90a:sramecc+:xnack-:wave64:cov5");
    assert_default(&gpu_rocm_old, "gfx906:sramecc+:xnack-",
                   "rocm:gfx906:sramecc+:xnack-:wave64:cov5");
    assert_default(&gpu_rocm, "gfx1100", "rocm:gfx1100:wave32:cov5");
    assert_default(&gpu_rocm, "gfx803", "rocm:gfx90a:wave64:cov5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_and_version_are_always_spelt),
        cmocka_unit_test(switches_are_spelt_where_they_are_given),
        cmocka_unit_test(what_a_processor_lacks_is_told),
        cmocka_unit_test(what_is_no_processor_is_told_with_a_list),
        cmocka_unit_test(code_runs_on_its_processor_alone),
        cmocka_unit_test(switches_that_are_given_must_stand_so),
        cmocka_unit_test(another_format_is_refused),
        cmocka_unit_test(the_processor_is_found_wherever_it_stands),
        cmocka_unit_test(the_default_is_what_the_first_device_is),
    };

    return cmocka_run_group_tests_name("rocm_target", tests, NULL, NULL);
}
