/* test_call_scopes.c - callbacks that call back, and threads that need each
 * other. */
/* LABELS: unit tiers thread host */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/toys.h"

#include <string.h>

/* ---- infer() that infers ---- */

static int nested_calls;

/* f1, which is called by f0 in a cycle, wants f0 finished. */
static kiln_status f1_wants_f0(struct toy *toy, int id, kiln_error **error)
{
    const kiln_code *code = NULL;
    kiln_status status;

    if (id != 1 || nested_calls++)
        return KILN_OK;
    status = toys_infer(toys_of(toy), 0, &code, error);
    if (status == KILN_OK && !kiln_code_is_valid(code))
        return kiln_error_set(error, KILN_EINVAL, "f0 is provisional");
    return status;
}

static void a_callback_gets_a_finished_member_of_the_cycle_around_it(
    void **state)
{
    toys *t = *state;
    const kiln_code *code, *found;
    kiln_signature signature = toy_signature(&t->toy, 0);

    nested_calls = 0;
    toys_define(t, 0, 10, CALLS(1));
    toys_define(t, 1, 11, CALLS(2, 0));
    toys_define(t, 2, 12, NULL);
    t->toy.infer_callback = f1_wants_f0;
    assert_ok(toys_infer(t, 0, &code, &test_error));

    assert_true(kiln_code_is_valid(code));
    assert_int_equal(t->toy.inferred[2], 1);
    assert_ok(kiln_code_find(&found, t->context, &signature, t->config, 0));
    assert_ptr_equal(found, code);
    (void)toys_counts(t, KILN_TIER_TYPED);
}

/* Between the two call scopes lies one in another context. */
static struct {
    kiln_context *context;
    const kiln_config *config;
    struct toy toy;
    toys *outer;
} second;

static kiln_status outer_wants_second(struct toy *toy, int id,
                                      kiln_error **error)
{
    const kiln_signature signature = toy_signature(&second.toy, 0);
    const kiln_code *code;

    (void)toy;
    (void)id;
    return kiln_infer(&code, second.context, &signature, second.config, 0,
                      error);
}

static kiln_status second_wants_outer(struct toy *toy, int id,
                                      kiln_error **error)
{
    const kiln_code *code;

    (void)toy;
    (void)id;
    if (nested_calls++)
        return KILN_OK;
    second.outer->toy.infer_callback = NULL;
    return toys_infer(second.outer, 0, &code, error);
}

static void a_stay_in_another_context_may_lie_between(void **state)
{
    toys *t = *state;
    const kiln_code *code;

    nested_calls = 0;
    memset(&second, 0, sizeof second);
    second.outer = t;
    assert_ok(kiln_context_new(&second.context, NULL, &test_error));
    assert_ok(
        kiln_config_new(&second.config, second.context, NULL, &test_error));
    assert_ok(toy_open(&second.toy, second.context, &test_error));
    toys_define(t, 0, 10, NULL);
    assert_ok(toy_define(&second.toy, 0, 10, NULL, NULL));
    t->toy.infer_callback = outer_wants_second;
    second.toy.infer_callback = second_wants_outer;

    assert_ok(toys_infer(t, 0, &code, &test_error));
    assert_true(kiln_code_is_valid(code));
    assert_int_equal(t->toy.inferred[0], 2);
    assert_int_equal(second.toy.inferred[0], 1);
    kiln_context_free(second.context);
}

static kiln_status infer_itself(struct toy *toy, int id, kiln_error **error)
{
    const kiln_code *code;

    return toys_infer(toys_of(toy), id, &code, error);
}

static void a_callback_that_always_infers_itself_is_refused(void **state)
{
    toys *t = *state;
    const kiln_code *code;

    toys_define(t, 0, 10, NULL);
    t->toy.infer_callback = infer_itself;
    assert_fails(KILN_ERECURSION, "nested",
                 toys_infer(t, 0, &code, &test_error));
    t->toy.infer_callback = NULL;

    assert_ok(toys_infer(t, 0, &code, &test_error));
    (void)toys_counts(t, KILN_TIER_TYPED);
}

/* Hides the refusal behind an error of its own, which looks final. */
static kiln_status infer_f1_or_fail(struct toy *toy, int id, kiln_error **error)
{
    const kiln_code *code;

    if (toys_infer(toys_of(toy), 1, &code, NULL) == KILN_OK)
        return KILN_OK;
    return kiln_error_set(error, KILN_ECOMPILE, "f%d fails", id);
}

static void a_failure_that_is_due_to_the_surroundings_is_not_remembered(
    void **state)
{
    toys *t = *state;
    const kiln_code *code;

    toys_define(t, 0, 10, NULL);
    toys_define(t, 1, 11, NULL);
    t->toy.infer_callback = infer_f1_or_fail;
    assert_fails(KILN_ECOMPILE, "f0 fails",
                 toys_infer(t, 0, &code, &test_error));
    t->toy.infer_callback = NULL;

    assert_ok(toys_infer(t, 1, &code, &test_error));
}

/* ---- cycles with failures and attempts in them ---- */

static void a_callee_that_fails_in_a_cycle_leaves_nothing_behind(void **state)
{
    toys *t = *state;
    const kiln_code *code;

    /* f1 heads a cycle with f2, which relies on f0 too and waits there; then
       f1 fails in f3, for the moment. f0 would do without f1. */
    toys_define(t, 0, 10, CALLS(1, 2, 4));
    toys_define(t, 1, 11, CALLS(2, 3));
    toys_define(t, 2, 12, CALLS(1, 0));
    toys_define(t, 3, KILN_EIO, NULL);
    toys_define(t, 4, 14, NULL);
    t->toy.forgiving = 1u << 0;
    assert_status(KILN_EIO, toys_infer(t, 0, &code, &test_error));
    kiln_error_free(test_error);
    test_error = NULL;

    toys_define(t, 3, 13, NULL);
    assert_ok(toys_infer(t, 0, &code, &test_error));
    assert_true(kiln_code_is_valid(code));
    assert_string_equal(kiln_code_name(kiln_code_callee(code, 0)), "toy.f1()");
    (void)toys_counts(t, KILN_TIER_TYPED);
}

static kiln_status f1_fails_after_f2(struct toy *toy, int id,
                                     kiln_error **error)
{
    (void)toy;
    if (id == 3)
        return kiln_error_set(error, KILN_ECOMPILE, "f3 fails");
    return KILN_OK;
}

static void a_failure_in_a_cycle_is_not_remembered_of_its_members(void **state)
{
    toys *t = *state;
    const kiln_code *code;

    toys_define(t, 0, 10, CALLS(1));
    toys_define(t, 1, 11, CALLS(0, 3));
    toys_define(t, 3, 13, NULL);
    t->toy.infer_callback = f1_fails_after_f2;
    assert_fails(KILN_ECOMPILE, "f3", toys_infer(t, 0, &code, &test_error));
    /* f1 relied on f0 when it failed, f3 on nothing. */
    assert_fails(KILN_ECOMPILE, "f3", toys_infer(t, 1, &code, &test_error));
    assert_fails(KILN_ECOMPILE, "f3", toys_infer(t, 3, &code, &test_error));
    assert_int_equal(t->toy.inferred[1], 2);
    assert_int_equal(t->toy.inferred[3], 1);
}

/* ---- lower() that compiles ---- */

static kiln_status compile_itself(struct toy *toy, int id, kiln_error **error)
{
    const kiln_kernel *kernel;

    return toys_compile(toys_of(toy), id, &kernel, error);
}

static void a_lowering_that_compiles_its_own_job_is_refused(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    toys_define(t, 0, 10, NULL);
    t->toy.lower_callback = compile_itself;
    assert_fails(KILN_ERECURSION, "needs toy.f0() itself",
                 toys_compile(t, 0, &kernel, &test_error));
    t->toy.lower_callback = NULL;

    assert_ok(toys_compile(t, 0, &kernel, &test_error));
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).built, 1);
}

static kiln_status compile_next(struct toy *toy, int id, kiln_error **error)
{
    const kiln_kernel *kernel;

    return id + 1 < TOY_FUNCTIONS
               ? toys_compile(toys_of(toy), id + 1, &kernel, error)
               : KILN_OK;
}

static void define_all(toys *t)
{
    for (int id = 0; id < TOY_FUNCTIONS; id++)
        toys_define(t, id, 10 + id, NULL);
}

static void assert_all_built(toys *t, toys_caller *callers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(callers[i].status, KILN_OK);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).built, TOY_FUNCTIONS);
    assert_int_equal(t->waits_entered, t->waits_left);
    toys_callers_end(callers, count);
}

static const int eight[8] = {0, 1, 2, 3, 0, 1, 2, 3};

static void nested_compiles_of_lower_need_no_worker(void **state)
{
    toys *t = *state;
    toys_caller callers[8];

    define_all(t);
    t->toy.lower_callback = compile_next;
    toys_call(t, callers, eight, 8, 0);

    assert_all_built(t, callers, 8);
}

static void nested_compiles_of_infer_need_no_worker(void **state)
{
    toys *t = *state;
    toys_caller callers[8];

    define_all(t);
    t->toy.infer_callback = compile_next;
    toys_call(t, callers, eight, 8, 0);

    assert_all_built(t, callers, 8);
}

/* ---- two threads ---- */

static int arrived;
static _Thread_local int lowering[2];

/* f0 needs f1's kernel and f1 f0's, but not what it is itself needed by: as a
   linker that goes round a cycle once. */
static kiln_status compile_other(struct toy *toy, int id, kiln_error **error)
{
    const kiln_kernel *kernel;
    kiln_status status = KILN_OK;

    toys_meet(&arrived, id, 2);
    lowering[id] = 1;
    if (!lowering[1 - id])
        status = toys_compile(toys_of(toy), 1 - id, &kernel, error);
    lowering[id] = 0;
    return status;
}

static void threads_whose_lowerings_need_each_other_both_succeed(void **state)
{
    toys *t = *state;
    toys_caller callers[2];

    arrived = 0;
    toys_define(t, 0, 10, NULL);
    toys_define(t, 1, 11, NULL);
    t->toy.lower_callback = compile_other;
    toys_call(t, callers, eight, 2, 0);

    assert_int_equal(callers[0].status, KILN_OK);
    assert_int_equal(callers[1].status, KILN_OK);
    assert_int_equal(t->toy.lowered[0] + t->toy.lowered[1], 3);
    assert_int_equal(t->waits_entered, t->waits_left);
    (void)toys_counts(t, KILN_TIER_BINARY);
}

static kiln_status infer_other(struct toy *toy, int id, kiln_error **error)
{
    const kiln_code *code;

    if (lowering[id])
        return KILN_OK;
    toys_meet(&arrived, id, 2);
    lowering[id] = 1;
    if (!lowering[1 - id]) {
        kiln_status status = toys_infer(toys_of(toy), 1 - id, &code, error);

        lowering[id] = 0;
        return status;
    }
    lowering[id] = 0;
    return KILN_OK;
}

static void threads_whose_callbacks_infer_each_other_both_succeed(void **state)
{
    toys *t = *state;
    toys_caller callers[2];

    arrived = 0;
    toys_define(t, 0, 10, NULL);
    toys_define(t, 1, 11, NULL);
    t->toy.infer_callback = infer_other;
    toys_call(t, callers, eight, 2, 1);

    assert_int_equal(callers[0].status, KILN_OK);
    assert_int_equal(callers[1].status, KILN_OK);
    assert_true(kiln_code_is_valid(callers[0].code));
    assert_true(kiln_code_is_valid(callers[1].code));
    assert_int_equal(toys_counts(t, KILN_TIER_TYPED).entries, 2);
}

/* ---- batches ---- */

static kiln_status compile_two_more(struct toy *toy, int id, kiln_error **error)
{
    toys *t = toys_of(toy);
    kiln_batch_job jobs[2] = {toys_job(t, 4), toys_job(t, 5)};
    kiln_status status = KILN_OK;

    if (id < 4)
        status = kiln_compile_batch(t->context, jobs, 2, NULL, NULL);
    return status == KILN_OK
               ? KILN_OK
               : kiln_error_set(error, status, "the nested batch failed");
}

static void a_batch_may_be_compiled_in_a_callback(void **state)
{
    toys *t = *state;
    kiln_batch_job jobs[3];

    define_all(t);
    t->toy.lower_callback = compile_two_more;
    for (int i = 0; i < 3; i++)
        jobs[i] = toys_job(t, i);
    assert_status(KILN_OK, kiln_compile_batch(t->context, jobs, 3, NULL, NULL));

    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).built, 5);
    assert_int_equal(t->waits_entered, t->waits_left);
}

static kiln_batch_job own_batch[3];

static kiln_status compile_all_three(struct toy *toy, int id,
                                     kiln_error **error)
{
    toys *t = toys_of(toy);

    (void)error;
    if (id != 1)
        return KILN_OK;
    for (int i = 0; i < 3; i++)
        own_batch[i] = toys_job(t, i);
    return kiln_compile_batch(t->context, own_batch, 3, NULL, NULL) ==
                   KILN_ERECURSION
               ? KILN_OK
               : KILN_EINVAL;
}

static void a_batch_that_holds_the_job_around_it_loses_only_that(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    define_all(t);
    t->toy.lower_callback = compile_all_three;
    assert_ok(toys_compile(t, 1, &kernel, &test_error));

    assert_int_equal(own_batch[0].status, KILN_OK);
    assert_int_equal(own_batch[1].status, KILN_ERECURSION);
    assert_int_equal(own_batch[2].status, KILN_OK);
    kiln_error_free(own_batch[1].error);
    (void)toys_counts(t, KILN_TIER_BINARY);
}

/* As compile_other, but each waits for a batch. */
static kiln_status batch_other(struct toy *toy, int id, kiln_error **error)
{
    toys *t = toys_of(toy);
    kiln_batch_job jobs[3] = {toys_job(t, 4 + id), toys_job(t, id == 0),
                              toys_job(t, 6)};
    kiln_status status = KILN_OK;

    (void)error;
    if (id > 1)
        return KILN_OK;
    toys_meet(&arrived, id, 2);
    lowering[id] = 1;
    if (!lowering[1 - id])
        status = kiln_compile_batch(t->context, jobs, 3, NULL, NULL);
    lowering[id] = 0;
    return status;
}

static void batches_that_need_each_other_both_succeed(void **state)
{
    toys *t = *state;
    toys_caller callers[2];

    arrived = 0;
    define_all(t);
    t->toy.lower_callback = batch_other;
    toys_call(t, callers, eight, 2, 0);

    assert_int_equal(callers[0].status, KILN_OK);
    assert_int_equal(callers[1].status, KILN_OK);
    assert_int_equal(t->waits_entered, t->waits_left);
    (void)toys_counts(t, KILN_TIER_BINARY);
}

/* ---- the host's callbacks ---- */

static void compile_f5_once(toys *t)
{
    const kiln_kernel *kernel;

    t->on_blocking = NULL;
    assert_int_equal(toys_compile(t, 5, &kernel, NULL), KILN_OK);
}

static void a_bracket_around_a_wait_may_compile(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    define_all(t);
    t->on_blocking = compile_f5_once;
    assert_ok(toys_compile(t, 0, &kernel, &test_error));

    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).built, 2);
    assert_true(t->waits_entered >= 1);
    assert_int_equal(t->waits_entered, t->waits_left);
}

static struct {
    kiln_status hit;
    kiln_status own;
    kiln_status other;
    kiln_status started;
    kiln_ticket *ticket;
} heard;

/* On a worker, while it ends f0's job. */
static void compile_on_event(toys *t, const kiln_event *event)
{
    const kiln_signature signature = toy_signature(&t->toy, 3);
    const kiln_kernel *kernel;

    if (event->kind != KILN_EVENT_JOB || strcmp(event->name, "toy.f0()") != 0)
        return;
    heard.hit = toys_compile(t, 1, &kernel, NULL);
    heard.own = toys_compile(t, 0, &kernel, NULL);
    heard.other = toys_compile(t, 2, &kernel, NULL);
    heard.started = kiln_compile_start(&heard.ticket, t->context, &signature,
                                       t->config, NULL, NULL);
}

static void an_event_on_the_only_worker_may_start_work_but_not_wait(
    void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    define_all(t);
    assert_ok(toys_compile(t, 1, &kernel, &test_error));
    t->on_event = compile_on_event;
    assert_ok(toys_compile(t, 0, &kernel, &test_error));

    assert_int_equal(heard.hit, KILN_OK);
    assert_int_equal(heard.own, KILN_ERECURSION);
    assert_int_equal(heard.other, KILN_ERECURSION);
    assert_int_equal(heard.started, KILN_OK);
    assert_ok(kiln_compile_wait(&kernel, heard.ticket, &test_error));
    kiln_ticket_free(heard.ticket);
    assert_ok(toys_compile(t, 2, &kernel, &test_error));
    (void)toys_counts(t, KILN_TIER_BINARY);
}

static void a_job_has_one_event_and_stages_of_its_own(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;
    int stages;

    toys_define(t, 0, 10, NULL);
    assert_ok(toys_compile(t, 0, &kernel, &test_error));
    stages = t->stages_ended;
    assert_ok(toys_compile(t, 0, &kernel, &test_error));

    assert_int_equal(t->jobs_ended, 1);
    assert_true(stages > 0);
    assert_int_equal(t->stages_ended, stages);
    assert_int_equal(t->waits_entered, t->waits_left);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, toys_setup, toys_teardown)
#define TEST_ONE_WORKER(name) \
    cmocka_unit_test_setup_teardown(name, toys_setup_one_worker, toys_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_callback_gets_a_finished_member_of_the_cycle_around_it),
        TEST(a_stay_in_another_context_may_lie_between),
        TEST(a_callback_that_always_infers_itself_is_refused),
        TEST(a_failure_that_is_due_to_the_surroundings_is_not_remembered),
        TEST(a_callee_that_fails_in_a_cycle_leaves_nothing_behind),
        TEST(a_failure_in_a_cycle_is_not_remembered_of_its_members),
        TEST(a_lowering_that_compiles_its_own_job_is_refused),
        TEST_ONE_WORKER(nested_compiles_of_lower_need_no_worker),
        TEST_ONE_WORKER(nested_compiles_of_infer_need_no_worker),
        TEST(threads_whose_lowerings_need_each_other_both_succeed),
        TEST(threads_whose_callbacks_infer_each_other_both_succeed),
        TEST(a_batch_may_be_compiled_in_a_callback),
        TEST(a_batch_that_holds_the_job_around_it_loses_only_that),
        TEST_ONE_WORKER(batches_that_need_each_other_both_succeed),
        TEST(a_bracket_around_a_wait_may_compile),
        TEST_ONE_WORKER(
            an_event_on_the_only_worker_may_start_work_but_not_wait),
        TEST(a_job_has_one_event_and_stages_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
