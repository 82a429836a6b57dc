/* test_runtime_tier.c - tier 2's entries: claimed, kept, judged, dropped. */
/* LABELS: unit tiers */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/harness.h"

#include <string.h>

#include "kiln.h"
#include "tiers/runtime/runtime_bitcode.h"

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
    const kiln_tier_statistics *all = &statistics.tiers[KILN_TIER_RUNTIME];

    kiln_statistics_get(&statistics, context);
    assert_int_equal(all->requests,
                     all->hits + all->waited + all->built + all->failed);
    return *all;
}

/* Queries of all keys here have one digest, so keys alone tell them apart. */
static kiln__runtime_query query_of(const char *key, int is_optional)
{
    return (kiln__runtime_query){.digest = {{1, 2}},
                                 .encoded = key,
                                 .encoded_size = strlen(key),
                                 .asker = {{3, 4}},
                                 .is_optional = is_optional};
}

static kiln__runtime_entry *claim(kiln_context *context, const char *key,
                                  kiln__runtime_outcome expected)
{
    const kiln__runtime_query query = query_of(key, 1);
    kiln__runtime_entry *entry = NULL;

    assert_int_equal(kiln__runtime_claim(&entry, context, &query), expected);
    return entry;
}

static void build(kiln_context *context, const char *key, const char *bitcode,
                  uint64_t make_ns)
{
    kiln__runtime_entry *entry = claim(context, key, KILN__RUNTIME_OWN);

    assert_ok(kiln__runtime_finish(context, entry, bitcode, strlen(bitcode),
                                   make_ns));
    kiln__runtime_release(context, entry);
}

static void assert_bitcode(const kiln__runtime_entry *entry, const char *text)
{
    size_t size;
    const void *bytes = kiln__runtime_bitcode(entry, &size);

    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
}

static void read_once(kiln_context *context, const char *key, uint64_t read_ns)
{
    kiln__runtime_entry *entry = claim(context, key, KILN__RUNTIME_FOUND);

    kiln__runtime_was_read(context, entry, read_ns);
    kiln__runtime_release(context, entry);
}

/* ---- keeping and finding ---- */

static void what_was_built_is_found_under_its_full_key(void **state)
{
    kiln_context *context = *state;
    kiln__runtime_entry *entry;

    build(context, "key", "bitcode", 1000);
    entry = claim(context, "key", KILN__RUNTIME_FOUND);

    assert_bitcode(entry, "bitcode");
    assert_int_equal(counts(context).built, 1);
    assert_int_equal(counts(context).hits, 1);
    assert_int_equal(counts(context).entries, 1);
    assert_int_equal(counts(context).bytes, 7);
    kiln__runtime_release(context, entry);
}

static void another_key_with_the_same_digest_is_built_for_its_asker(
    void **state)
{
    kiln_context *context = *state;
    kiln__runtime_entry *other;

    build(context, "key", "bitcode", 1000);
    other = claim(context, "kez", KILN__RUNTIME_OWN);
    assert_ok(kiln__runtime_finish(context, other, "other", 5, 1000));
    assert_bitcode(other, "other");
    kiln__runtime_release(context, other);

    other = claim(context, "key", KILN__RUNTIME_FOUND);
    assert_bitcode(other, "bitcode");
    kiln__runtime_release(context, other);
    other = claim(context, "ke", KILN__RUNTIME_OWN);
    kiln__runtime_fail(context, other);
    assert_int_equal(counts(context).entries, 1);
    assert_int_equal(counts(context).failed, 1);
}

static void a_failed_build_leaves_nothing(void **state)
{
    kiln_context *context = *state;

    kiln__runtime_fail(context, claim(context, "key", KILN__RUNTIME_OWN));
    build(context, "key", "bitcode", 1000);

    assert_int_equal(counts(context).failed, 1);
    assert_int_equal(counts(context).built, 1);
    assert_int_equal(counts(context).entries, 1);
}

/* ---- judging ---- */

static void what_is_faster_to_read_than_to_make_is_kept(void **state)
{
    kiln_context *context = *state;

    build(context, "key", "bitcode", 1000);
    read_once(context, "key", 5000);
    read_once(context, "key", 400);
    assert_int_equal(counts(context).kept, 0);
    read_once(context, "key", 900);

    assert_int_equal(counts(context).kept, 1);
    assert_int_equal(counts(context).not_kept, 0);
    assert_int_equal(counts(context).saved_ns, 600 + 100);
    assert_int_equal(counts(context).entries, 1);
}

static void what_is_slower_to_read_than_to_make_is_asked_for_no_more(
    void **state)
{
    kiln_context *context = *state;
    uint64_t requests;

    build(context, "key", "bitcode", 1000);
    for (int i = 0; i < KILN__RUNTIME_READS; i++)
        read_once(context, "key", 1000);
    requests = counts(context).requests;
    assert_null(claim(context, "key", KILN__RUNTIME_IN_PLACE));

    assert_int_equal(counts(context).not_kept, 1);
    assert_int_equal(counts(context).kept, 0);
    assert_int_equal(counts(context).entries, 0);
    assert_int_equal(counts(context).bytes, 0);
    assert_int_equal(counts(context).saved_ns, 0);
    assert_int_equal(counts(context).requests, requests);
}

static void what_is_no_more_work_than_what_was_given_up_is_not_tried(
    void **state)
{
    kiln_context *context = *state;
    kiln__runtime_query query = query_of("key", 1);
    kiln__runtime_entry *entry = NULL;

    query.work = 10;
    assert_int_equal(kiln__runtime_claim(&entry, context, &query),
                     KILN__RUNTIME_OWN);
    assert_ok(kiln__runtime_finish(context, entry, "bitcode", 7, 1));
    for (int i = 0; i < KILN__RUNTIME_READS; i++)
        kiln__runtime_was_read(context, entry, 1000);
    kiln__runtime_release(context, entry);

    query.digest.bytes[0]++;
    assert_int_equal(kiln__runtime_claim(&entry, context, &query),
                     KILN__RUNTIME_IN_PLACE);
    query.is_optional = 0;
    assert_int_equal(kiln__runtime_claim(&entry, context, &query),
                     KILN__RUNTIME_OWN);
    kiln__runtime_fail(context, entry);
    query.is_optional = 1;
    query.work = 11;
    assert_int_equal(kiln__runtime_claim(&entry, context, &query),
                     KILN__RUNTIME_OWN);
    kiln__runtime_fail(context, entry);
}

static void who_reads_what_is_given_up_reads_on(void **state)
{
    kiln_context *context = *state;
    kiln__runtime_entry *reader;

    build(context, "key", "bitcode", 1000);
    reader = claim(context, "key", KILN__RUNTIME_FOUND);
    for (int i = 0; i < KILN__RUNTIME_READS; i++)
        read_once(context, "key", 2000 + (uint64_t)i);

    (void)claim(context, "key", KILN__RUNTIME_IN_PLACE);
    assert_bitcode(reader, "bitcode");
    kiln__runtime_release(context, reader);
    assert_int_equal(counts(context).bytes, 0);
}

static void what_cannot_be_made_otherwise_is_never_given_up(void **state)
{
    kiln_context *context = *state;
    const kiln__runtime_query query = query_of("key", 0);
    kiln__runtime_entry *entry = NULL;

    assert_int_equal(kiln__runtime_claim(&entry, context, &query),
                     KILN__RUNTIME_OWN);
    assert_ok(kiln__runtime_finish(context, entry, "bitcode", 7, 1));
    for (int i = 0; i < 2 * KILN__RUNTIME_READS; i++)
        kiln__runtime_was_read(context, entry, 1000);
    kiln__runtime_release(context, entry);

    assert_int_equal(kiln__runtime_claim(&entry, context, &query),
                     KILN__RUNTIME_FOUND);
    kiln__runtime_release(context, entry);
    assert_int_equal(counts(context).not_kept, 0);
}

static void counters_show_what_was_kept(void **state)
{
    kiln_context *context = *state;
    kiln_blob json = {0};

    build(context, "key", "bitcode", 1000);
    for (int i = 0; i < KILN__RUNTIME_READS; i++)
        read_once(context, "key", 300);

    assert_ok(kiln_statistics_json(&json, context));
    assert_contains(json.data, "\"kept\": 1, \"not_kept\": 0, "
                               "\"saved_ns\": 2100");
    kiln_blob_release(&json);
}

/* ---- collections ---- */

static void a_collection_drops_what_nobody_can_ask_for(void **state)
{
    kiln_context *context = *state;

    build(context, "key", "bitcode", 1000);
    kiln_context_collect(context);

    assert_int_equal(counts(context).entries, 0);
    kiln__runtime_fail(context, claim(context, "key", KILN__RUNTIME_OWN));
}

static void a_collection_leaves_what_is_on_loan(void **state)
{
    kiln_context *context = *state;
    kiln__runtime_entry *entry;

    build(context, "key", "bitcode", 1000);
    entry = claim(context, "key", KILN__RUNTIME_FOUND);
    kiln_context_collect(context);

    assert_bitcode(entry, "bitcode");
    kiln__runtime_release(context, entry);
    assert_int_equal(counts(context).entries, 1);
}

/* ---- one build ---- */

#define ASKERS 8

typedef struct asking {
    kiln_context *context;
    thread_report report;
    pthread_barrier_t start;
    int built;
} asking;

static void *ask(void *argument)
{
    asking *a = argument;
    const kiln__runtime_query query = query_of("key", 1);
    kiln__runtime_entry *entry = NULL;
    kiln__runtime_outcome outcome;

    pthread_barrier_wait(&a->start);
    outcome = kiln__runtime_claim(&entry, a->context, &query);
    if (outcome == KILN__RUNTIME_OWN) {
        __atomic_fetch_add(&a->built, 1, __ATOMIC_RELAXED);
        thread_assert_ok(&a->report, kiln__runtime_finish(a->context, entry,
                                                          "bitcode", 7, 1000));
    } else {
        thread_assert(&a->report, outcome == KILN__RUNTIME_FOUND);
    }
    kiln__runtime_release(a->context, entry);
    return NULL;
}

static void one_of_many_that_ask_at_once_builds(void **state)
{
    asking a = {.context = *state, .report = THREAD_REPORT_INIT};

    pthread_barrier_init(&a.start, NULL, ASKERS);
    harness_run_threads(ASKERS, ask, &a);
    pthread_barrier_destroy(&a.start);

    assert_threads_ok(&a.report);
    assert_int_equal(a.built, 1);
    assert_int_equal(counts(a.context).requests, ASKERS);
    assert_int_equal(counts(a.context).hits + counts(a.context).waited,
                     ASKERS - 1);
}

/* ---- memory ---- */

static kiln_status keep_with(const kiln_alloc *alloc, void *env)
{
    const kiln__runtime_query query = query_of("key", 1);
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln__runtime_entry *entry;
    kiln_context *context;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&context, &options, NULL);
    if (status != KILN_OK)
        return status;
    status = KILN_ENOMEM;
    if (kiln__runtime_claim(&entry, context, &query) == KILN__RUNTIME_OWN)
        status = kiln__runtime_finish(context, entry, "bitcode", 7, 1000);
    if (status == KILN_OK)
        kiln__runtime_release(context, entry);
    kiln_context_collect(context);
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
        TEST(what_was_built_is_found_under_its_full_key),
        TEST(another_key_with_the_same_digest_is_built_for_its_asker),
        TEST(a_failed_build_leaves_nothing),
        TEST(what_is_faster_to_read_than_to_make_is_kept),
        TEST(what_is_slower_to_read_than_to_make_is_asked_for_no_more),
        TEST(what_is_no_more_work_than_what_was_given_up_is_not_tried),
        TEST(who_reads_what_is_given_up_reads_on),
        TEST(what_cannot_be_made_otherwise_is_never_given_up),
        TEST(counters_show_what_was_kept),
        TEST(a_collection_drops_what_nobody_can_ask_for),
        TEST(a_collection_leaves_what_is_on_loan),
        TEST(one_of_many_that_ask_at_once_builds),
        cmocka_unit_test(keeping_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
