/* frontend_suite.c - what every frontend must do, whatever its language. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend_suite.h"

#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

static const frontend_subject *subject;

/* ---- a context with a program ---- */

typedef struct fixture {
    kiln_context *context;
    const kiln_config *config;
    kiln_frontend *frontend;
    void *self;
} fixture;

static kiln_status fixture_open(fixture *f, const kiln_alloc *alloc,
                                kiln_error **error)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_status status;

    memset(f, 0, sizeof *f);
    options.alloc = alloc;
    status = kiln_context_new(&f->context, &options, error);
    if (status == KILN_OK)
        status = kiln_config_new(&f->config, f->context, NULL, error);
    if (status == KILN_OK)
        status = subject->open(&f->self, &f->frontend, f->context, error);
    return status;
}

static void fixture_close(fixture *f)
{
    kiln_context_free(f->context);
    if (f->self)
        subject->close(f->self);
}

static int setup(void **state)
{
    fixture *f = malloc(sizeof *f);

    assert_non_null(f);
    assert_ok(fixture_open(f, NULL, &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture_close(*state);
    free(*state);
    return 0;
}

static size_t define(fixture *f, int function, int number)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    size_t count;

    assert_ok(subject->define(f->self, function, number, &report, &test_error));
    count = report.invalidated_count;
    kiln_change_report_dispose(&report);
    return count;
}

static void define_all(fixture *f, int number)
{
    define(f, FRONTEND_CALLEE, number);
    define(f, FRONTEND_CALLER, number);
    define(f, FRONTEND_OTHER, number);
}

static kiln_status infer_at(const kiln_code **out, fixture *f, int function,
                            uint64_t world, kiln_error **error)
{
    kiln_signature signature = {NULL, NULL, 0};
    kiln_status status =
        subject->find(f->self, function, &signature.function, error);

    if (status == KILN_OK)
        status =
            kiln_infer(out, f->context, &signature, f->config, world, error);
    return status;
}

static const kiln_code *infer(fixture *f, int function)
{
    const kiln_code *code = NULL;

    assert_ok(infer_at(&code, f, function, 0, &test_error));
    return code;
}

static void assert_same_digest(const kiln_code *a, const kiln_code *b)
{
    const kiln_digest of_a = kiln_code_digest(a), of_b = kiln_code_digest(b);

    assert_memory_equal(&of_a, &of_b, sizeof of_a);
}

static void assert_other_digest(const kiln_code *a, const kiln_code *b)
{
    const kiln_digest of_a = kiln_code_digest(a), of_b = kiln_code_digest(b);

    assert_memory_not_equal(&of_a, &of_b, sizeof of_a);
}

static uint64_t count_of(const fixture *f, int what)
{
    kiln_statistics s = {.size = sizeof s};
    const kiln_tier_statistics *typed = &s.tiers[KILN_TIER_TYPED];

    kiln_statistics_get(&s, f->context);
    assert_int_equal(typed->requests, typed->hits + typed->store_hits +
                                          typed->waited + typed->built +
                                          typed->failed);
    return what == 'b' ? typed->built : typed->failed;
}

/* ---- worlds ---- */

static void the_world_advances_with_each_definition(void **state)
{
    fixture *f = *state;
    uint64_t world = kiln_world(f->frontend);

    assert_true(world >= 1);
    for (int i = 0; i < 5; i++) {
        define(f, i % FRONTEND_FUNCTIONS, i);
        assert_true(kiln_world(f->frontend) > world);
        world = kiln_world(f->frontend);
    }
}

static void a_held_world_keeps_its_results(void **state)
{
    fixture *f = *state;
    const kiln_code *old, *now, *again = NULL;
    uint64_t world = 0;

    define_all(f, 1);
    old = infer(f, FRONTEND_CALLER);
    assert_ok(kiln_world_hold(&world, f->frontend));
    define(f, FRONTEND_CALLEE, 2);
    now = infer(f, FRONTEND_CALLER);
    assert_ptr_not_equal(now, old);
    assert_ok(infer_at(&again, f, FRONTEND_CALLER, world, &test_error));
    assert_ptr_equal(again, old);
    kiln_world_release(f->frontend, world);
}

static void a_world_is_inferred_after_it_has_passed(void **state)
{
    fixture *f = *state;
    const kiln_code *old = NULL, *expected;
    uint64_t world = 0;

    define_all(f, 1);
    expected = infer(f, FRONTEND_OTHER);
    assert_ok(kiln_world_hold(&world, f->frontend));
    define(f, FRONTEND_CALLEE, 2);
    define(f, FRONTEND_CALLER, 2);
    assert_ok(infer_at(&old, f, FRONTEND_CALLER, world, &test_error));
    assert_other_digest(old, infer(f, FRONTEND_CALLER));
    assert_false(kiln_code_is_valid(old));
    assert_true(kiln_code_is_valid(expected));
    kiln_world_release(f->frontend, world);
}

/* ---- inference ---- */

static void a_function_is_inferred_once(void **state)
{
    fixture *f = *state;
    const kiln_code *code;

    define_all(f, 1);
    code = infer(f, FRONTEND_CALLER);
    assert_int_equal(count_of(f, 'b'), 2); /* and the callee */
    assert_ptr_equal(infer(f, FRONTEND_CALLER), code);
    assert_ptr_equal(infer(f, FRONTEND_CALLEE), kiln_code_callee(code, 0));
    assert_null(kiln_code_callee(code, 1));
    assert_int_equal(count_of(f, 'b'), 2);
}

static void a_code_instance_says_what_it_is(void **state)
{
    fixture *f = *state;
    static const kiln_digest none;
    const kiln_code *code;
    kiln_digest digest;
    uint64_t minimum, maximum;
    size_t size = 0;

    define_all(f, 1);
    code = infer(f, FRONTEND_CALLER);
    digest = kiln_code_digest(code);
    assert_non_null(kiln_code_ir(code, &size));
    assert_true(size > 0);
    assert_true(strlen(kiln_code_name(code)) > 0);
    assert_memory_not_equal(&digest, &none, sizeof none);
    kiln_code_worlds(code, &minimum, &maximum);
    assert_true(minimum >= 1 && minimum <= kiln_world(f->frontend));
    assert_true(maximum == UINT64_MAX);
}

static void a_failure_has_an_error_and_is_remembered(void **state)
{
    fixture *f = *state;
    const kiln_code *code = NULL;
    kiln_error *first = NULL, *second = NULL;

    define_all(f, 1);
    define(f, FRONTEND_CALLEE, KILN_ECOMPILE);
    assert_int_equal(infer_at(&code, f, FRONTEND_CALLER, 0, &first),
                     KILN_ECOMPILE);
    assert_null(code);
    assert_non_null(first);
    assert_true(strlen(kiln_error_message(first)) > 0);
    assert_int_equal(infer_at(&code, f, FRONTEND_CALLER, 0, &second),
                     KILN_ECOMPILE);
    assert_string_equal(kiln_error_message(first), kiln_error_message(second));
    assert_int_equal(count_of(f, 'b'), 0);
    kiln_error_free(first);
    kiln_error_free(second);
    define(f, FRONTEND_CALLEE, 2);
    assert_true(kiln_code_is_valid(infer(f, FRONTEND_CALLER)));
}

/* ---- meaning ---- */

/* No address, world or order of definition is part of the meaning. */
static void equal_programs_have_equal_digests(void **state)
{
    fixture *f = *state;
    fixture other;
    const kiln_code *a, *b;
    const void *of_a, *of_b;
    size_t size_a, size_b;

    define_all(f, 3);
    assert_ok(fixture_open(&other, NULL, &test_error));
    define(&other, FRONTEND_OTHER, 7);
    define(&other, FRONTEND_CALLEE, 5);
    define(&other, FRONTEND_CALLER, 3);
    (void)infer(&other, FRONTEND_CALLER);
    define(&other, FRONTEND_CALLEE, 3);
    a = infer(f, FRONTEND_CALLER);
    b = infer(&other, FRONTEND_CALLER);
    assert_same_digest(a, b);
    assert_string_equal(kiln_code_name(a), kiln_code_name(b));
    of_a = kiln_code_ir(a, &size_a);
    of_b = kiln_code_ir(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(of_a, of_b, size_a);
    fixture_close(&other);
}

static void a_callee_is_part_of_its_callers_meaning(void **state)
{
    fixture *f = *state;
    const kiln_code *first, *second;

    define_all(f, 1);
    first = infer(f, FRONTEND_CALLER);
    define(f, FRONTEND_CALLEE, 2);
    second = infer(f, FRONTEND_CALLER);
    assert_other_digest(first, second);
    define(f, FRONTEND_CALLEE, 1);
    assert_same_digest(first, infer(f, FRONTEND_CALLER));
}

/* ---- what a definition ends ---- */

static void a_definition_ends_exactly_its_dependents(void **state)
{
    fixture *f = *state;
    const kiln_code *caller, *callee, *other;

    define_all(f, 1);
    caller = infer(f, FRONTEND_CALLER);
    callee = infer(f, FRONTEND_CALLEE);
    other = infer(f, FRONTEND_OTHER);
    assert_int_equal(define(f, FRONTEND_OTHER, 2), 1);
    assert_true(kiln_code_is_valid(caller) && kiln_code_is_valid(callee));
    assert_false(kiln_code_is_valid(other));
    assert_int_equal(define(f, FRONTEND_CALLEE, 2), 2);
    assert_false(kiln_code_is_valid(caller) || kiln_code_is_valid(callee));
    assert_int_equal(define(f, FRONTEND_CALLEE, 3), 0); /* nobody asked yet */
    callee = infer(f, FRONTEND_CALLEE);
    (void)infer(f, FRONTEND_CALLER);
    assert_int_equal(define(f, FRONTEND_CALLER, 2), 1);
    assert_true(kiln_code_is_valid(callee));
}

static void the_same_meaning_again_ends_nothing(void **state)
{
    fixture *f = *state;
    const kiln_code *caller;

    define_all(f, 1);
    caller = infer(f, FRONTEND_CALLER);
    assert_int_equal(define(f, FRONTEND_CALLEE, 1), 0);
    assert_int_equal(define(f, FRONTEND_CALLER, 1), 0);
    assert_true(kiln_code_is_valid(caller));
    assert_ptr_equal(infer(f, FRONTEND_CALLER), caller);
}

/* ---- threads ---- */

typedef struct race {
    fixture *f;
    thread_report report;
    int started;
} race;

#define LAST_NUMBER 20

/* The first thread defines, the others infer. */
static void *define_or_infer(void *argument)
{
    race *r = argument;
    kiln_error *error = NULL;

    if (__atomic_fetch_add(&r->started, 1, __ATOMIC_RELAXED) == 0) {
        for (int number = 2; number <= LAST_NUMBER; number++)
            thread_assert_ok(&r->report,
                             subject->define(r->f->self, FRONTEND_CALLEE,
                                             number, NULL, &error));
        return NULL;
    }
    for (int i = 0; i < 200; i++) {
        const kiln_code *code = NULL;

        thread_assert_ok(&r->report,
                         infer_at(&code, r->f, FRONTEND_CALLER, 0, &error));
        thread_assert(&r->report, code && kiln_code_callee(code, 0));
    }
    return NULL;
}

static void threads_infer_while_one_defines(void **state)
{
    fixture *f = *state;
    fixture other;
    race r = {f, THREAD_REPORT_INIT, 0};

    define_all(f, 1);
    harness_run_threads(4, define_or_infer, &r);
    assert_threads_ok(&r.report);
    assert_ok(fixture_open(&other, NULL, &test_error));
    define_all(&other, 1);
    define(&other, FRONTEND_CALLEE, LAST_NUMBER);
    assert_same_digest(infer(f, FRONTEND_CALLER),
                       infer(&other, FRONTEND_CALLER));
    (void)count_of(f, 'b');
    fixture_close(&other);
}

/* ---- memory ---- */

static kiln_status define_infer_redefine(const kiln_alloc *alloc, void *env)
{
    fixture f;
    const kiln_code *code = NULL;
    kiln_status status = fixture_open(&f, alloc, NULL);

    (void)env;
    for (int i = 0; i < FRONTEND_FUNCTIONS && status == KILN_OK; i++)
        status = subject->define(f.self, i, 1, NULL, NULL);
    if (status == KILN_OK)
        status = infer_at(&code, &f, FRONTEND_CALLER, 0, NULL);
    if (status == KILN_OK)
        status = subject->define(f.self, FRONTEND_CALLEE, 2, NULL, NULL);
    if (status == KILN_OK)
        status = infer_at(&code, &f, FRONTEND_CALLER, 0, NULL);
    fixture_close(&f);
    return status;
}

static void a_failing_allocator_is_survived(void **state)
{
    (void)state;
    assert_survives_failing_alloc(define_infer_redefine, NULL);
}

#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int frontend_suite_run(const frontend_subject *of)
{
    const struct CMUnitTest tests[] = {
        IN_CONTEXT(the_world_advances_with_each_definition),
        IN_CONTEXT(a_held_world_keeps_its_results),
        IN_CONTEXT(a_world_is_inferred_after_it_has_passed),
        IN_CONTEXT(a_function_is_inferred_once),
        IN_CONTEXT(a_code_instance_says_what_it_is),
        IN_CONTEXT(a_failure_has_an_error_and_is_remembered),
        IN_CONTEXT(equal_programs_have_equal_digests),
        IN_CONTEXT(a_callee_is_part_of_its_callers_meaning),
        IN_CONTEXT(a_definition_ends_exactly_its_dependents),
        IN_CONTEXT(the_same_meaning_again_ends_nothing),
        IN_CONTEXT(threads_infer_while_one_defines),
        cmocka_unit_test(a_failing_allocator_is_survived),
    };

    subject = of;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
