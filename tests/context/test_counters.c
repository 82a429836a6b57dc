/* test_counters.c - counting in many threads and contexts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread fault */
#include <string.h>

#include "context/context.h"
#include "context/counters.h"
#include "support/harness.h"

#define THREADS 8
#define ROUNDS 20000

static void context_init(kiln_context *context, const kiln_alloc *alloc)
{
    memset(context, 0, sizeof *context);
    context->alloc = *alloc;
}

static kiln_statistics statistics_of(const kiln_context *context)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    kiln_statistics_get(&statistics, context);
    return statistics;
}

static void a_new_context_has_counted_nothing(void **state)
{
    kiln_statistics statistics, zero = {.size = sizeof zero};
    kiln_context context;

    (void)state;
    context_init(&context, &kiln__malloc);
    assert_ok(kiln__counters_new(&context));

    statistics = statistics_of(&context);
    assert_memory_equal(&statistics, &zero, sizeof zero);
    kiln__counters_free(&context);
}

static void everything_is_counted_where_it_belongs(void **state)
{
    kiln_statistics s;
    kiln_context context;

    (void)state;
    context_init(&context, &kiln__malloc);
    assert_ok(kiln__counters_new(&context));

    kiln__count_request(&context, KILN_TIER_TYPED, KILN__COUNT_BUILT);
    kiln__count_request(&context, KILN_TIER_TYPED, KILN__COUNT_HIT);
    kiln__count_request(&context, KILN_TIER_BINARY, KILN__COUNT_FAILED);
    kiln__count_stage(&context, KILN_STAGE_EMIT, 40);
    kiln__count_stage(&context, KILN_STAGE_EMIT, 2);
    kiln__count_held(&context, KILN_TIER_TYPED, 3, 300);
    kiln__count_held(&context, KILN_TIER_TYPED, -1, -100);
    kiln__count_invalidated(&context, 5);

    s = statistics_of(&context);
    assert_int_equal(s.tiers[KILN_TIER_TYPED].requests, 2);
    assert_int_equal(s.tiers[KILN_TIER_TYPED].built, 1);
    assert_int_equal(s.tiers[KILN_TIER_TYPED].hits, 1);
    assert_int_equal(s.tiers[KILN_TIER_TYPED].entries, 2);
    assert_int_equal(s.tiers[KILN_TIER_TYPED].bytes, 200);
    assert_int_equal(s.tiers[KILN_TIER_RUNTIME].requests, 0);
    assert_int_equal(s.tiers[KILN_TIER_BINARY].failed, 1);
    assert_int_equal(s.stage_ns[KILN_STAGE_EMIT], 42);
    assert_int_equal(s.stage_count[KILN_STAGE_EMIT], 2);
    assert_int_equal(s.invalidated, 5);
    kiln__counters_free(&context);
}

static void *count_in_one(void *argument)
{
    for (int i = 0; i < ROUNDS; i++)
        kiln__count_request(argument, KILN_TIER_BINARY, KILN__COUNT_HIT);
    return NULL;
}

static void threads_that_ended_still_count(void **state)
{
    kiln_context context;

    (void)state;
    context_init(&context, &kiln__malloc);
    assert_ok(kiln__counters_new(&context));

    for (uint64_t round = 1; round <= 3; round++) {
        kiln_statistics s;

        harness_run_threads(THREADS, count_in_one, &context);
        s = statistics_of(&context);
        assert_int_equal(s.tiers[KILN_TIER_BINARY].requests,
                         round * THREADS * ROUNDS);
        assert_int_equal(s.tiers[KILN_TIER_BINARY].hits,
                         round * THREADS * ROUNDS);
    }
    kiln__counters_free(&context);
}

static void short_threads_do_not_pile_up_memory(void **state)
{
    failing_alloc failing;
    kiln_context context;

    (void)state;
    failing_alloc_init(&failing, 0);
    context_init(&context, &failing.alloc);
    assert_ok(kiln__counters_new(&context));

    for (int i = 0; i < 200; i++)
        harness_run_threads(1, count_in_one, &context);
    assert_in_range(failing.live_count, 2, 20);

    kiln__counters_free(&context);
    assert_nothing_leaked(&failing);
}

#define CONTEXTS 6

static void *count_in_all(void *argument)
{
    kiln_context *contexts = argument;

    for (int i = 0; i < ROUNDS; i++)
        kiln__count_stage(&contexts[i % CONTEXTS], KILN_STAGE_LINK, 1);
    return NULL;
}

static void contexts_in_one_process_are_apart(void **state)
{
    kiln_context contexts[CONTEXTS];
    uint64_t sum = 0;

    (void)state;
    for (int i = 0; i < CONTEXTS; i++) {
        context_init(&contexts[i], &kiln__malloc);
        assert_ok(kiln__counters_new(&contexts[i]));
    }

    harness_run_threads(THREADS, count_in_all, contexts);

    for (int i = 0; i < CONTEXTS; i++) {
        const kiln_statistics s = statistics_of(&contexts[i]);

        assert_in_range(s.stage_ns[KILN_STAGE_LINK],
                        THREADS * (uint64_t)(ROUNDS / CONTEXTS),
                        THREADS * (uint64_t)(ROUNDS / CONTEXTS + 1));
        sum += s.stage_ns[KILN_STAGE_LINK];
        kiln__counters_free(&contexts[i]);
    }
    assert_int_equal(sum, THREADS * ROUNDS);
}

static void a_context_made_after_another_ended_starts_at_zero(void **state)
{
    kiln_context context;

    (void)state;
    for (int i = 0; i < 20; i++) {
        kiln_statistics s;

        context_init(&context, &kiln__malloc);
        assert_ok(kiln__counters_new(&context));
        kiln__count_request(&context, KILN_TIER_TYPED, KILN__COUNT_HIT);
        s = statistics_of(&context);
        assert_int_equal(s.tiers[KILN_TIER_TYPED].hits, 1);
        kiln__counters_free(&context);
    }
}

static kiln_status count_a_little(const kiln_alloc *alloc, void *env)
{
    kiln_context context;
    kiln_statistics s;
    kiln_status status;

    (void)env;
    context_init(&context, alloc);
    status = kiln__counters_new(&context);
    if (status != KILN_OK)
        return status;
    kiln__count_request(&context, KILN_TIER_TYPED, KILN__COUNT_HIT);
    kiln__count_request(&context, KILN_TIER_TYPED, KILN__COUNT_HIT);
    s = statistics_of(&context);
    assert_int_equal(s.tiers[KILN_TIER_TYPED].hits, 2);
    kiln__counters_free(&context);
    return KILN_OK;
}

static void counting_goes_on_without_memory(void **state)
{
    (void)state;
    assert_survives_failing_alloc(count_a_little, NULL);
}

static void an_older_caller_gets_what_it_knows(void **state)
{
    union {
        kiln_statistics statistics;
        unsigned char bytes[sizeof(kiln_statistics)];
    } out;
    const size_t known = offsetof(kiln_statistics, stage_ns);
    kiln_context context;

    (void)state;
    context_init(&context, &kiln__malloc);
    assert_ok(kiln__counters_new(&context));
    kiln__count_request(&context, KILN_TIER_TYPED, KILN__COUNT_HIT);
    memset(&out, 0xAA, sizeof out);
    out.statistics.size = known;

    kiln_statistics_get(&out.statistics, &context);

    assert_int_equal(out.statistics.size, known);
    assert_int_equal(out.statistics.tiers[KILN_TIER_TYPED].hits, 1);
    assert_int_equal(out.bytes[known], 0xAA);
    kiln__counters_free(&context);
}

static void counters_render_as_json(void **state)
{
    kiln_context context;
    kiln_blob blob;

    (void)state;
    context_init(&context, &kiln__malloc);
    assert_ok(kiln__counters_new(&context));
    kiln__count_request(&context, KILN_TIER_BINARY, KILN__COUNT_WAITED);
    kiln__count_stage(&context, KILN_STAGE_PARSE, 1234);
    kiln__count_store(&context, KILN_TIER_BINARY, KILN__STORE_HITS, 5,
                      KILN__STORE_MISSES + KILN_MISS_CHECKSUM, 3);
    kiln__count_store(&context, KILN_TIER_BINARY, KILN__STORE_HITS, -1,
                      KILN__STORE_MISSES + KILN_MISS_STALE, 1);

    assert_ok(kiln_statistics_json(&blob, &context));

    assert_contains(blob.data, "{\"tiers\": {\"typed_ir\": {\"requests\": 0");
    assert_contains(
        blob.data,
        "\"binary\": {\"requests\": 1, \"hits\": 0, "
        "\"store_hits\": 0, \"waited\": 1, \"built\": 0, \"failed\": 0");
    assert_contains(blob.data, "\"stages_ns\": {\"parse\": 1234, \"infer\": 0");
    assert_contains(blob.data, "\"store\": {\"hits\": 4, \"misses\": "
                               "{\"stale\": 1, \"checksum\": 3}, \"puts\"");
    assert_contains(blob.data, "\"load\": 0}}");
    kiln_blob_release(&blob);
    kiln__counters_free(&context);
}

static void keep_event(void *env, const kiln_event *event)
{
    *(kiln_event *)env = *event;
}

static void the_end_of_a_stage_is_an_event(void **state)
{
    kiln_event seen = {0};
    kiln_context context;

    (void)state;
    context_init(&context, &kiln__malloc);
    context.host.event = keep_event;
    context.host_env = &seen;
    assert_ok(kiln__counters_new(&context));

    kiln__stage_ended(&context, KILN_STAGE_INFER, "main.f()", 99);

    assert_int_equal(seen.kind, KILN_EVENT_STAGE);
    assert_int_equal(seen.stage, KILN_STAGE_INFER);
    assert_string_equal(seen.name, "main.f()");
    assert_int_equal(seen.nanoseconds, 99);
    assert_int_equal(statistics_of(&context).stage_ns[KILN_STAGE_INFER], 99);
    kiln__counters_free(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_context_has_counted_nothing),
        cmocka_unit_test(everything_is_counted_where_it_belongs),
        cmocka_unit_test(threads_that_ended_still_count),
        cmocka_unit_test(short_threads_do_not_pile_up_memory),
        cmocka_unit_test(contexts_in_one_process_are_apart),
        cmocka_unit_test(a_context_made_after_another_ended_starts_at_zero),
        cmocka_unit_test(counting_goes_on_without_memory),
        cmocka_unit_test(an_older_caller_gets_what_it_knows),
        cmocka_unit_test(counters_render_as_json),
        cmocka_unit_test(the_end_of_a_stage_is_an_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
