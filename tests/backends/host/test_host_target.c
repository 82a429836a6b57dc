/* test_host_target.c - host targets as sets of features. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends host */
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "backends/host/host_backend.h"
#include "support/harness.h"

#define ALL_STATE 0xe7u /* x87, SSE, AVX and AVX-512 */

/* A processor that claims every feature there is. */
static kiln__cpuid full_processor(void)
{
    return (kiln__cpuid){
        .leaf1_ecx = ~0u,
        .leaf7_ebx = ~0u,
        .leaf7_ecx = ~0u,
        .leaf7_edx = ~0u,
        .leaf7_1_eax = ~0u,
        .extended_ecx = ~0u,
        .xcr0 = ALL_STATE,
    };
}

static void features_text(char *text, size_t capacity, const kiln__cpuid *cpuid)
{
    assert_true(kiln__host_features_text(text, capacity,
                                         kiln__host_features_of(cpuid)));
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" has %s", text, part);
}

static void assert_features(const char *name, const char *features)
{
    kiln_target target;

    assert_ok(kiln__host_target(&target, name, &test_error));
    assert_string_equal(target.features, features);
}

static void assert_name(const char *given, const char *canonical)
{
    kiln_target target, again;

    assert_ok(kiln__host_target(&target, given, &test_error));
    assert_string_equal(target.name, canonical);
    assert_ok(kiln__host_target(&again, target.name, &test_error));
    assert_memory_equal(&again, &target, sizeof target);
}

#define V2 "+cx16,+popcnt,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3"
#define V3 \
    "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sahf," \
    "+sse3,+sse4.1,+sse4.2,+ssse3"

static void levels_are_lists_in_the_order_of_names(void **state)
{
    (void)state;
    assert_features("x86-64", "");
    assert_features("x86-64-v2", V2);
    assert_features("x86-64-v3", V3);
    assert_features(
        "x86-64-v4",
        "+avx,+avx2,+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+bmi,"
        "+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sahf,+sse3,+sse4.1,"
        "+sse4.2,+ssse3");
}

static void a_feature_brings_what_it_needs(void **state)
{
    (void)state;
    assert_features("x86-64+avx", "+avx,+sse3,+sse4.1,+sse4.2,+ssse3");
    assert_features("x86-64+fma+avx", "+avx,+fma,+sse3,+sse4.1,+sse4.2,+ssse3");
}

static void a_feature_takes_along_what_needs_it(void **state)
{
    (void)state;
    assert_features("x86-64-v3-sse4.1",
                    "+bmi,+bmi2,+cx16,+lzcnt,+movbe,+popcnt,+sahf,+sse3,"
                    "+ssse3");
    assert_features("x86-64-v2-popcnt",
                    "+cx16,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3");
}

static void equal_sets_have_one_name(void **state)
{
    (void)state;
    assert_name("x86-64", "x86-64");
    assert_name("x86-64-v3", "x86-64-v3");
    assert_name("x86-64+avx2,+fma+f16c+bmi+bmi2+lzcnt+movbe," V2, "x86-64-v3");
    assert_name("x86-64+gfni+sse3", "x86-64+gfni+sse3");
    assert_name("x86-64-v2+sse3+gfni", "x86-64-v2+gfni");
}

static void bad_names_are_errors_that_say_what_there_is(void **state)
{
    kiln_target target;

    (void)state;
    assert_fails(KILN_EINVAL, "x86-64-v4",
                 kiln__host_target(&target, "znver9", &test_error));
    assert_fails(KILN_EINVAL, "unknown processor \"\"",
                 kiln__host_target(&target, "", &test_error));
    assert_fails(KILN_EINVAL, "unknown processor \"x86-64-v5\"",
                 kiln__host_target(&target, "x86-64-v5", &test_error));
    assert_fails(KILN_EINVAL, "unknown processor \"x86-64v2\"",
                 kiln__host_target(&target, "x86-64v2", &test_error));
    assert_fails(KILN_EINVAL, "unknown feature \"avx3\"; there are +avx",
                 kiln__host_target(&target, "x86-64+avx3", &test_error));
    assert_fails(KILN_EINVAL, "unknown feature \"\"",
                 kiln__host_target(&target, "x86-64+", &test_error));
}

static void the_triple_and_processor_are_generic(void **state)
{
    kiln_target target;

    (void)state;
    assert_ok(kiln__host_target(&target, "x86-64-v4", &test_error));

    assert_string_equal(target.triple, "x86_64-pc-linux-gnu");
    assert_string_equal(target.processor, "x86-64");
    assert_int_equal(target.size, sizeof target);
}

static void state_that_the_system_does_not_save_is_not_used(void **state)
{
    kiln__cpuid cpuid = full_processor();
    char text[1024];

    (void)state;
    features_text(text, sizeof text, &cpuid);
    assert_contains(text, "+avx512f");

    cpuid.xcr0 = 0x7; /* AVX without AVX-512 */
    features_text(text, sizeof text, &cpuid);
    assert_lacks(text, "avx512");
    assert_contains(text, "+avx2");

    cpuid.xcr0 = 0;
    features_text(text, sizeof text, &cpuid);
    assert_lacks(text, "avx");
    assert_lacks(text, "fma");
    assert_lacks(text, "f16c");
    assert_contains(text, "+sse4.2");
}

static void half_a_family_is_not_used(void **state)
{
    kiln__cpuid cpuid = full_processor();
    char text[1024];

    (void)state;
    cpuid.leaf7_ebx &= ~(1u << 5); /* no AVX2 under AVX-512 */
    features_text(text, sizeof text, &cpuid);

    assert_lacks(text, "avx2");
    assert_lacks(text, "avx512");
    assert_contains(text, "+avx,");
}

static void this_processor_runs_its_own_target(void **state)
{
    kiln_target target;
    char name[600];

    (void)state;
    assert_ok(kiln__host_target(&target, NULL, &test_error));
    (void)snprintf(name, sizeof name, "host:%s", target.name);

    assert_ok(kiln__host_target_runs(name, &test_error));
    assert_ok(kiln__host_target_runs("host:x86-64", &test_error));
    assert_fails(KILN_ECORRUPT, "not for the host",
                 kiln__host_target_runs("cuda:sm_90", &test_error));
}

#if defined(__x86_64__)
static void what_is_read_is_what_the_processor_says(void **state)
{
    kiln__cpuid read;
    uint32_t a, b, c, d;

    (void)state;
    kiln__cpuid_read(&read);
    assert_true(__get_cpuid(1, &a, &b, &c, &d));
    assert_int_equal(read.leaf1_ecx, c);
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        assert_int_equal(read.leaf7_ebx, b);
        assert_int_equal(read.leaf7_ecx, c);
        assert_int_equal(read.leaf7_edx, d);
        if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
            assert_int_equal(read.leaf7_1_eax, a);
    }
    assert_true(__get_cpuid(0x80000001u, &a, &b, &c, &d));
    assert_int_equal(read.extended_ecx, c);
}
#endif

static void a_missing_feature_is_named(void **state)
{
    kiln__cpuid cpuid = full_processor();
    kiln__host_features there;

    (void)state;
    cpuid.xcr0 = 0x7;
    there = kiln__host_features_of(&cpuid);

    assert_ok(kiln__host_target_runs_on("host:x86-64-v3", there, &test_error));
    assert_fails(KILN_ENODEVICE, "it lacks +avx512f",
                 kiln__host_target_runs_on("host:x86-64-v3+avx512f", there,
                                           &test_error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_lists_in_the_order_of_names),
        cmocka_unit_test(a_feature_brings_what_it_needs),
        cmocka_unit_test(a_feature_takes_along_what_needs_it),
        cmocka_unit_test(equal_sets_have_one_name),
        cmocka_unit_test(bad_names_are_errors_that_say_what_there_is),
        cmocka_unit_test(the_triple_and_processor_are_generic),
        cmocka_unit_test(state_that_the_system_does_not_save_is_not_used),
        cmocka_unit_test(half_a_family_is_not_used),
        cmocka_unit_test(this_processor_runs_its_own_target),
#if defined(__x86_64__)
        cmocka_unit_test(what_is_read_is_what_the_processor_says),
#endif
        cmocka_unit_test(a_missing_feature_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
