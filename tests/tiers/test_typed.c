/* test_typed.c - tier 1: code instances, cycles, worlds, flights. */
/* LABELS: unit tiers thread */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "kiln.h"
#include "support/frontend/toy_frontend.h"
#include "support/harness.h"

struct fixture {
    kiln_context *context;
    const kiln_config *config;
    struct toy toy;
};

static int open_fixture(void **state)
{
    static struct fixture fixture;

    fixture.context = NULL;
    assert_ok(kiln_context_new(&fixture.context, NULL, &test_error));
    assert_ok(
        kiln_config_new(&fixture.config, fixture.context, NULL, &test_error));
    assert_ok(toy_open(&fixture.toy, fixture.context, &test_error));
    *state = &fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    kiln_context_free(fixture->context);
    return 0;
}

static const kiln_code *infer_at(struct fixture *fixture, int id,
                                 uint64_t world)
{
    kiln_signature signature = toy_signature(&fixture->toy, id);
    const kiln_code *code = NULL;

    assert_ok(kiln_infer(&code, fixture->context, &signature, fixture->config,
                         world, &test_error));
    return code;
}

static const kiln_code *infer(struct fixture *fixture, int id)
{
    return infer_at(fixture, id, 0);
}

static kiln_tier_statistics typed_counts(const struct fixture *fixture)
{
    kiln_statistics statistics = {.size = sizeof statistics};
    kiln_tier_statistics *tier = &statistics.tiers[KILN_TIER_TYPED];

    kiln_statistics_get(&statistics, fixture->context);
    assert_int_equal(tier->requests, tier->hits + tier->store_hits +
                                         tier->waited + tier->built +
                                         tier->failed);
    return *tier;
}

static void define(struct fixture *fixture, int id, int number,
                   const int *callees)
{
    assert_ok(toy_define(&fixture->toy, id, number, callees, NULL));
}

#define CALLS(...) ((const int[]){__VA_ARGS__, -1})

static void a_second_request_is_a_hit(void **state)
{
    struct fixture *fixture = *state;
    const kiln_code *code;

    define(fixture, 0, 10, CALLS(1));
    define(fixture, 1, 11, NULL);
    code = infer(fixture, 0);

    assert_ptr_equal(infer(fixture, 0), code);
    assert_int_equal(fixture->toy.inferred[0], 1);
    assert_string_equal(kiln_code_name(code), "toy.f0()");
    assert_int_equal(typed_counts(fixture).built, 2);
    assert_int_equal(typed_counts(fixture).hits, 1);
}

static void redefining_a_callee_ends_exactly_its_callers(void **state)
{
    struct fixture *fixture = *state;
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    const kiln_code *top, *middle, *leaf, *other;

    define(fixture, 0, 10, CALLS(1));
    define(fixture, 1, 11, CALLS(2));
    define(fixture, 2, 12, NULL);
    define(fixture, 3, 13, NULL);
    top = infer(fixture, 0);
    middle = infer(fixture, 1);
    leaf = infer(fixture, 2);
    other = infer(fixture, 3);
    assert_ok(toy_define(&fixture->toy, 2, 22, NULL, &report));

    assert_false(kiln_code_is_valid(top));
    assert_false(kiln_code_is_valid(middle));
    assert_false(kiln_code_is_valid(leaf));
    assert_true(kiln_code_is_valid(other));
    assert_int_equal(report.invalidated_count, 3);
    assert_ptr_not_equal(infer(fixture, 0), top);
    kiln_change_report_dispose(&report);
}

static void the_same_definition_again_ends_nothing(void **state)
{
    struct fixture *fixture = *state;
    const kiln_code *code;

    define(fixture, 0, 10, CALLS(1));
    define(fixture, 1, 11, NULL);
    code = infer(fixture, 0);
    define(fixture, 1, 11, NULL);

    assert_true(kiln_code_is_valid(code));
    assert_ptr_equal(infer(fixture, 0), code);
}

static void the_digest_covers_what_is_called(void **state)
{
    struct fixture *fixture = *state;
    kiln_digest before, changed, back;

    define(fixture, 0, 10, CALLS(1));
    define(fixture, 1, 11, NULL);
    before = kiln_code_digest(infer(fixture, 0));
    define(fixture, 1, 21, NULL);
    changed = kiln_code_digest(infer(fixture, 0));
    define(fixture, 1, 11, NULL);
    back = kiln_code_digest(infer(fixture, 0));

    assert_true(memcmp(&before, &changed, sizeof before) != 0);
    assert_memory_equal(&before, &back, sizeof before);
}

static void a_held_world_keeps_its_results(void **state)
{
    struct fixture *fixture = *state;
    const kiln_code *old;
    uint64_t world, minimum, maximum;

    define(fixture, 0, 10, NULL);
    old = infer(fixture, 0);
    assert_ok(kiln_world_hold(&world, fixture->toy.frontend));
    define(fixture, 0, 20, NULL);
    (void)infer(fixture, 0);
    kiln_context_collect(fixture->context);

    assert_ptr_equal(infer_at(fixture, 0, world), old);
    kiln_code_worlds(old, &minimum, &maximum);
    assert_int_equal(maximum, world);
    kiln_world_release(fixture->toy.frontend, world);
    kiln_context_collect(fixture->context);
    assert_int_equal(typed_counts(fixture).entries, 1);
}

static void direct_recursion_ends(void **state)
{
    struct fixture *fixture = *state;
    const kiln_code *code;

    define(fixture, 0, 10, CALLS(0, 1));
    define(fixture, 1, 11, NULL);
    code = infer(fixture, 0);
    define(fixture, 1, 21, NULL);

    assert_false(kiln_code_is_valid(code));
}

static void a_cycle_is_published_as_one(void **state)
{
    struct fixture *fixture = *state;
    const kiln_code *f, *g, *h;
    kiln_digest before, after;

    define(fixture, 0, 10, CALLS(1, 2));
    define(fixture, 1, 11, CALLS(2, 0));
    define(fixture, 2, 12, CALLS(0));
    f = infer(fixture, 0);
    g = infer(fixture, 1);
    h = infer(fixture, 2);
    before = kiln_code_digest(h);
    assert_int_equal(typed_counts(fixture).entries, 3);

    define(fixture, 1, 21, CALLS(2, 0));
    assert_false(kiln_code_is_valid(f));
    assert_false(kiln_code_is_valid(g));
    assert_false(kiln_code_is_valid(h));
    after = kiln_code_digest(infer(fixture, 2));
    assert_memory_not_equal(&before, &after, sizeof before);
}

static void nested_cycles_end(void **state)
{
    struct fixture *fixture = *state;

    define(fixture, 0, 1, CALLS(1, 3));
    define(fixture, 1, 2, CALLS(2));
    define(fixture, 2, 3, CALLS(1, 3));
    define(fixture, 3, 4, CALLS(4, 0));
    define(fixture, 4, 5, CALLS(3, 4));
    (void)infer(fixture, 0);

    for (int id = 0; id < 5; id++)
        assert_true(kiln_code_is_valid(infer(fixture, id)));
}

static void a_failure_is_remembered_until_the_world_moves(void **state)
{
    struct fixture *fixture = *state;
    kiln_signature signature;
    const kiln_code *code;

    define(fixture, 0, KILN_ECOMPILE, NULL);
    signature = toy_signature(&fixture->toy, 0);
    for (int i = 0; i < 2; i++)
        assert_fails(KILN_ECOMPILE, "f0 fails",
                     kiln_infer(&code, fixture->context, &signature,
                                fixture->config, 0, &test_error));
    assert_int_equal(fixture->toy.inferred[0], 1);

    define(fixture, 0, 10, NULL);
    (void)infer(fixture, 0);
    assert_int_equal(fixture->toy.inferred[0], 2);
}

static void a_passing_failure_is_tried_again(void **state)
{
    struct fixture *fixture = *state;
    kiln_signature signature;
    const kiln_code *code;

    define(fixture, 0, KILN_EIO, NULL);
    signature = toy_signature(&fixture->toy, 0);
    for (int i = 0; i < 2; i++)
        assert_status(KILN_EIO, kiln_infer(&code, fixture->context, &signature,
                                           fixture->config, 0, &test_error));

    assert_int_equal(fixture->toy.inferred[0], 2);
}

/* ---- threads ---- */

#define THREADS 16

struct caller {
    struct fixture *fixture;
    pthread_barrier_t *start;
    int id;
    kiln_status status;
    const kiln_code *code;
};

static void *call(void *argument)
{
    struct caller *caller = argument;
    kiln_signature signature = toy_signature(&caller->fixture->toy, caller->id);

    pthread_barrier_wait(caller->start);
    caller->status = kiln_infer(&caller->code, caller->fixture->context,
                                &signature, caller->fixture->config, 0, NULL);
    return NULL;
}

/* Runs callers at once; ids[i] is what the i-th asks for. */
static void call_all(struct fixture *fixture, struct caller *callers,
                     const int *ids, int count)
{
    pthread_barrier_t start;
    pthread_t threads[THREADS];

    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        callers[i] = (struct caller){fixture, &start, ids[i], 0, NULL};
        assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]),
                         0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].status, KILN_OK);
    }
    pthread_barrier_destroy(&start);
}

static void sixteen_cold_callers_infer_once(void **state)
{
    struct fixture *fixture = *state;
    struct caller callers[THREADS];
    const int ids[THREADS] = {0};

    define(fixture, 0, 10, CALLS(1));
    define(fixture, 1, 11, NULL);
    call_all(fixture, callers, ids, THREADS);

    assert_int_equal(fixture->toy.inferred[0], 1);
    assert_int_equal(typed_counts(fixture).built, 2);
}

/* Holds two threads at the start of f0 and f1 until both are there, so that
   each then needs what the other one has begun. */
static void meet(struct toy *toy, int id)
{
    int *arrived = toy->hook_data;

    if (id > 1 ||
        __atomic_fetch_or(arrived, 1 << id, __ATOMIC_ACQ_REL) & (1 << id))
        return;
    while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) != 3)
        ;
}

static void crossing_recursion_does_not_deadlock(void **state)
{
    struct fixture *fixture = *state;
    struct caller callers[2];
    const int ids[2] = {0, 1};
    int arrived = 0;

    define(fixture, 0, 10, CALLS(1));
    define(fixture, 1, 11, CALLS(0));
    fixture->toy.hook_data = &arrived;
    fixture->toy.hook = meet;
    call_all(fixture, callers, ids, 2);
    fixture->toy.hook = NULL;

    assert_true(kiln_code_is_valid(infer(fixture, 0)));
    assert_true(kiln_code_is_valid(infer(fixture, 1)));
    define(fixture, 0, 20, CALLS(1));
    assert_false(kiln_code_is_valid(callers[0].code));
    assert_false(kiln_code_is_valid(callers[1].code));
}

static void redefine_meanwhile(struct toy *toy, int id)
{
    if (id == 0) {
        toy->hook = NULL;
        assert_int_equal(toy_define(toy, 1, 99, NULL, NULL), KILN_OK);
    }
}

static void a_definition_during_inference_ends_its_result(void **state)
{
    struct fixture *fixture = *state;
    const kiln_code *code;

    define(fixture, 0, 10, CALLS(1));
    define(fixture, 1, 11, NULL);
    fixture->toy.hook = redefine_meanwhile;
    code = infer(fixture, 0);

    assert_false(kiln_code_is_valid(code));
    assert_true(kiln_code_is_valid(infer(fixture, 0)));
}

/* ---- attachments ---- */

static int destroyed;

static void destroy(void *value)
{
    (void)value;
    destroyed++;
}

static void attachments_belong_to_code_config_and_consumer(void **state)
{
    struct fixture *fixture = *state;
    kiln_attachment attachment = {.size = sizeof attachment,
                                  .destroy = destroy};
    int first, second;
    const kiln_code *code;
    void *found = NULL;

    destroyed = 0;
    define(fixture, 0, 10, NULL);
    code = infer(fixture, 0);
    assert_status(KILN_ENOTFOUND,
                  kiln_attachment_get(&found, code, NULL, "ad"));
    attachment.value = &first;
    assert_ok(kiln_attachment_put(&found, code, NULL, "ad", &attachment));
    assert_ptr_equal(found, &first);
    attachment.value = &second;
    assert_ok(kiln_attachment_put(&found, code, NULL, "ad", &attachment));
    assert_ptr_equal(found, &first);
    assert_int_equal(destroyed, 1);
    assert_ok(
        kiln_attachment_put(&found, code, fixture->config, "ad", &attachment));
    assert_ptr_equal(found, &second);
    assert_status(KILN_ENOTFOUND,
                  kiln_attachment_get(&found, code, NULL, "other"));

    define(fixture, 0, 20, NULL);
    kiln_context_collect(fixture->context);
    assert_int_equal(destroyed, 3);
}

/* ---- out of memory ---- */

static kiln_status infer_cycle(const kiln_alloc *alloc, void *env)
{
    struct fixture fixture;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_signature signature;
    const kiln_code *code;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&fixture.context, &options, NULL);
    if (status != KILN_OK)
        return status;
    status = kiln_config_new(&fixture.config, fixture.context, NULL, NULL);
    if (status == KILN_OK)
        status = toy_open(&fixture.toy, fixture.context, NULL);
    if (status == KILN_OK) {
        status = toy_define(&fixture.toy, 0, 10, CALLS(1, 2), NULL);
        if (status == KILN_OK)
            status = toy_define(&fixture.toy, 1, 11, CALLS(0), NULL);
        signature = toy_signature(&fixture.toy, 0);
        if (status == KILN_OK)
            status = kiln_infer(&code, fixture.context, &signature,
                                fixture.config, 0, NULL);
        if (status == KILN_OK)
            status = toy_define(&fixture.toy, 1, 21, NULL, NULL);
    }
    kiln_context_free(fixture.context);
    return status;
}

static void inference_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(infer_cycle, NULL);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_second_request_is_a_hit),
        TEST(redefining_a_callee_ends_exactly_its_callers),
        TEST(the_same_definition_again_ends_nothing),
        TEST(the_digest_covers_what_is_called),
        TEST(a_held_world_keeps_its_results),
        TEST(direct_recursion_ends),
        TEST(a_cycle_is_published_as_one),
        TEST(nested_cycles_end),
        TEST(a_failure_is_remembered_until_the_world_moves),
        TEST(a_passing_failure_is_tried_again),
        TEST(sixteen_cold_callers_infer_once),
        TEST(crossing_recursion_does_not_deadlock),
        TEST(a_definition_during_inference_ends_its_result),
        TEST(attachments_belong_to_code_config_and_consumer),
        cmocka_unit_test(inference_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
