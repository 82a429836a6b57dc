/* test_bounds.c - how much the tiers keep in memory that nobody holds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers host */
#include <string.h>

#include "kiln.h"
#include "support/frontend/toy_frontend.h"
#include "support/harness.h"
#include "tiers/binary/artifact.h"
#include "tiers/runtime/runtime_bitcode.h"

static kiln_context *context;
static const kiln_config *config;
static struct toy toy;

static void begin(uint64_t mem_size)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    cache.mode = KILN_CACHE_MODE_OFF;
    cache.mem_size = mem_size;
    options.cache = &cache;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(toy_open(&toy, context, &test_error));
    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
}

static kiln_tier_statistics counts(int32_t tier)
{
    kiln_statistics s = {.size = sizeof s};

    kiln_statistics_get(&s, context);
    return s.tiers[tier];
}

/* Gives the function a meaning; where its kernel came from. */
static int32_t compile_as(int number, size_t *size)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_signature signature = toy_signature(&toy, 0);
    const kiln_kernel *kernel = NULL;
    int32_t source = -1;

    options.source = &source;
    assert_ok(toy_define(&toy, 0, number, NULL, NULL));
    assert_ok(kiln_compile(&kernel, context, &signature, config, &options,
                           &test_error));
    if (size)
        (void)kiln_artifact_bytes(kiln_kernel_artifact(kernel), size);
    return source;
}

#define VERSIONS 8

static size_t compile_versions(void)
{
    size_t size = 0;

    for (int i = 1; i <= VERSIONS; i++)
        assert_int_equal(compile_as(i, &size), KILN_SOURCE_BUILT);
    return size;
}

/* ---- artifacts ---- */

static void artifacts_of_loaded_kernels_stay(void **state)
{
    (void)state;
    begin(1);
    (void)compile_versions();
    /* Outdated kernels are loaded until a collection. */
    assert_int_equal(counts(KILN_TIER_BINARY).entries, VERSIONS);
    kiln_context_collect(context);
    assert_int_equal(counts(KILN_TIER_BINARY).entries, 1);
    assert_int_equal(compile_as(VERSIONS - 1, NULL), KILN_SOURCE_BUILT);
    kiln_context_free(context);
}

static void without_need_nothing_goes(void **state)
{
    (void)state;
    begin(0);
    (void)compile_versions();
    kiln_context_collect(context);
    assert_int_equal(counts(KILN_TIER_BINARY).entries, VERSIONS);
    assert_int_equal(compile_as(1, NULL), KILN_SOURCE_MEMORY);
    kiln_context_free(context);
}

static void what_was_kept_first_goes_first(void **state)
{
    size_t size;

    (void)state;
    begin(0);
    size = compile_versions();
    kiln_context_free(context);
    begin(3 * size + size / 2);
    assert_int_equal(compile_versions(), size);
    kiln_context_collect(context);
    /* One is loaded, three are kept. */
    assert_int_equal(counts(KILN_TIER_BINARY).entries, 4);
    assert_int_equal(counts(KILN_TIER_BINARY).bytes, 4 * size);
    assert_int_equal(compile_as(VERSIONS - 3, NULL), KILN_SOURCE_MEMORY);
    assert_int_equal(compile_as(VERSIONS - 4, NULL), KILN_SOURCE_BUILT);
    kiln_context_free(context);
}

/* A reference of the caller's keeps its artifact. */
static void what_somebody_holds_stays(void **state)
{
    const kiln_kernel *kernel = NULL;
    const kiln_artifact *held;
    kiln_signature signature;

    (void)state;
    begin(1);
    assert_ok(toy_define(&toy, 0, 100, NULL, NULL));
    signature = toy_signature(&toy, 0);
    assert_ok(
        kiln_compile(&kernel, context, &signature, config, NULL, &test_error));
    held = kiln_artifact_retain(kiln_kernel_artifact(kernel));
    (void)compile_versions();
    kiln_context_collect(context);
    assert_int_equal(counts(KILN_TIER_BINARY).entries, 2);
    assert_int_equal(compile_as(100, NULL), KILN_SOURCE_MEMORY);
    kiln_artifact_release(held);
    kiln_context_free(context);
}

/* ---- bitcode ---- */

#define ENTRIES 100
#define ENTRY_SIZE 1000

static kiln__runtime_outcome claim(kiln__runtime_entry **out, uint64_t number)
{
    const kiln__runtime_query query = {
        .digest = harness_digest(number, number),
        .encoded = &number,
        .encoded_size = sizeof number,
    };

    return kiln__runtime_claim(out, context, &query);
}

static void make(uint64_t number)
{
    static const char bitcode[ENTRY_SIZE] = "BC";
    kiln__runtime_entry *entry = NULL;

    assert_int_equal(claim(&entry, number), KILN__RUNTIME_OWN);
    assert_ok(kiln__runtime_finish(context, entry, bitcode, sizeof bitcode, 1));
    kiln__runtime_release(context, entry);
}

static void bitcode_that_nobody_reads_is_bounded(void **state)
{
    const uint64_t most = 10 * ENTRY_SIZE;
    kiln__runtime_entry *read = NULL;

    (void)state;
    begin(most);
    make(0);
    assert_int_equal(claim(&read, 0), KILN__RUNTIME_FOUND);
    for (uint64_t i = 1; i <= ENTRIES; i++) {
        make(i);
        assert_true(counts(KILN_TIER_RUNTIME).bytes <=
                    most + most / 8 + 2 * ENTRY_SIZE);
    }
    assert_true(counts(KILN_TIER_RUNTIME).entries >= 8);
    /* The one that is read is still there, and the last ones. */
    kiln__runtime_release(context, read);
    assert_int_equal(claim(&read, ENTRIES), KILN__RUNTIME_FOUND);
    kiln__runtime_release(context, read);
    assert_int_equal(claim(&read, 0), KILN__RUNTIME_FOUND);
    kiln__runtime_release(context, read);
    assert_int_equal(claim(&read, 1), KILN__RUNTIME_OWN);
    kiln__runtime_fail(context, read);
    kiln_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(artifacts_of_loaded_kernels_stay),
        cmocka_unit_test(without_need_nothing_goes),
        cmocka_unit_test(what_was_kept_first_goes_first),
        cmocka_unit_test(what_somebody_holds_stays),
        cmocka_unit_test(bitcode_that_nobody_reads_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
