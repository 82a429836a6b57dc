/* test_runtime_tier.c - tier 2's slot and counters. */
/* LABELS: unit tiers */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/harness.h"

#include "kiln.h"
#include "tiers.h"

static const kiln_digest digest = {1, 2};

static int open_context(void **state)
{
    kiln_context *context;

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    *state = context;
    return 0;
}

static int close_context(void **state)
{
    kiln_context_free(*state);
    return 0;
}

static kiln_tier_statistics counts(const kiln_context *context)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    kiln_statistics_get(&statistics, context);
    return statistics.tiers[KILN_TIER_RUNTIME];
}

static void what_was_kept_is_found_under_its_full_key(void **state)
{
    kiln_context *context = *state;
    size_t size = 0;
    const void *found;

    assert_null(kiln__runtime_find(context, digest, "key", 3, &size));
    assert_ok(kiln__runtime_keep(context, digest, "key", 3, "bitcode", 7));
    found = kiln__runtime_find(context, digest, "key", 3, &size);

    assert_int_equal(size, 7);
    assert_memory_equal(found, "bitcode", 7);
    assert_int_equal(counts(context).built, 1);
    assert_int_equal(counts(context).hits, 1);
    assert_int_equal(counts(context).entries, 1);
    assert_int_equal(counts(context).bytes, 7);
}

static void another_key_with_the_same_digest_is_a_miss(void **state)
{
    kiln_context *context = *state;
    size_t size = 0;

    assert_ok(kiln__runtime_keep(context, digest, "key", 3, "bitcode", 7));
    assert_null(kiln__runtime_find(context, digest, "kez", 3, &size));
    assert_null(kiln__runtime_find(context, digest, "ke", 2, &size));
}

static void the_first_entry_of_a_key_stays(void **state)
{
    kiln_context *context = *state;
    size_t size = 0;

    assert_ok(kiln__runtime_keep(context, digest, "key", 3, "first", 5));
    assert_ok(kiln__runtime_keep(context, digest, "key", 3, "second", 6));

    assert_memory_equal(kiln__runtime_find(context, digest, "key", 3, &size),
                        "first", 5);
}

static kiln_status keep_with(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&context, &options, NULL);
    if (status != KILN_OK)
        return status;
    status = kiln__runtime_keep(context, digest, "key", 3, "bitcode", 7);
    kiln_context_free(context);
    return status;
}

static void keeping_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(keep_with, NULL);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, open_context, close_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_kept_is_found_under_its_full_key),
        TEST(another_key_with_the_same_digest_is_a_miss),
        TEST(the_first_entry_of_a_key_stays),
        cmocka_unit_test(keeping_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
