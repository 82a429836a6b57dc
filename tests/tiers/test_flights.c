/* test_flights.c - one build for many callers, and what each of them gets. */
/* LABELS: unit tiers thread fault host */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/toys.h"

#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLERS 16

static const int the_same[CALLERS] = {0};

/* Keeps a job under way until this many wait for it. */
static toys *patient;
static int waiting_for;

static void until_all_wait(void)
{
    while (__atomic_load_n(&patient->waits_entered, __ATOMIC_ACQUIRE) <
           waiting_for)
        sched_yield();
}

static kiln_status lower_when_all_wait(struct toy *toy, int id,
                                       kiln_error **error)
{
    (void)toy;
    (void)id;
    (void)error;
    until_all_wait();
    return KILN_OK;
}

static kiln_status fail_when_all_wait(struct toy *toy, int id,
                                      kiln_error **error)
{
    (void)toy;
    until_all_wait();
    return kiln_error_set(error, KILN_ECOMPILE, "f%d cannot be lowered", id);
}

static void wait_for_callers(toys *t, int count)
{
    patient = t;
    waiting_for = count;
}

/* For waits of tier 3 alone: tier 1 has f0 already. */
static void wait_for_compilers(toys *t, int count)
{
    const kiln_code *code;

    assert_ok(toys_infer(t, 0, &code, &test_error));
    wait_for_callers(t, count);
}

static void sixteen_cold_callers_build_once(void **state)
{
    toys *t = *state;
    toys_caller callers[CALLERS];

    toys_define(t, 0, 10, NULL);
    wait_for_compilers(t, CALLERS - 1);
    t->toy.lower_callback = lower_when_all_wait;
    toys_call(t, callers, the_same, CALLERS, 0);

    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(callers[i].status, KILN_OK);
        assert_ptr_equal(callers[i].kernel, callers[0].kernel);
    }
    assert_int_equal(t->toy.lowered[0], 1);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).requests, CALLERS);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).built, 1);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).waited, CALLERS - 1);
    assert_int_equal(t->waits_entered, t->waits_left);
}

static void assert_each_failed(toys_caller *callers, kiln_status status,
                               const char *text)
{
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(callers[i].status, status);
        assert_non_null(callers[i].error);
        assert_contains(kiln_error_message(callers[i].error), text);
    }
}

static void a_failure_reaches_every_waiter_and_is_remembered(void **state)
{
    toys *t = *state;
    toys_caller callers[CALLERS];
    const kiln_kernel *kernel;

    toys_define(t, 0, 10, NULL);
    wait_for_compilers(t, CALLERS - 1);
    t->toy.lower_callback = fail_when_all_wait;
    toys_call(t, callers, the_same, CALLERS, 0);
    assert_each_failed(callers, KILN_ECOMPILE, "f0 cannot be lowered");
    toys_callers_end(callers, CALLERS);

    assert_fails(KILN_ECOMPILE, "f0 cannot be lowered",
                 toys_compile(t, 0, &kernel, &test_error));
    assert_int_equal(t->toy.lowered[0], 1);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).failed, CALLERS + 1);
}

static void a_failed_lowering_is_tried_again_when_the_world_moves(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    toys_define(t, 0, 10, NULL);
    wait_for_compilers(t, 0);
    t->toy.lower_callback = fail_when_all_wait;
    assert_status(KILN_ECOMPILE, toys_compile(t, 0, &kernel, &test_error));
    t->toy.lower_callback = NULL;
    assert_status(KILN_ECOMPILE, toys_compile(t, 0, &kernel, &test_error));

    toys_define(t, 1, 11, NULL); /* f0's code instance stays as it is */
    assert_ok(toys_compile(t, 0, &kernel, &test_error));
    assert_int_equal(t->toy.inferred[0], 1);
    assert_int_equal(t->toy.lowered[0], 2);
}

static kiln_status out_of_memory(struct toy *toy, int id, kiln_error **error)
{
    (void)toy;
    (void)id;
    return kiln_error_set(error, KILN_ENOMEM, "no memory to lower");
}

static void a_lack_of_memory_is_not_remembered(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    toys_define(t, 0, 10, NULL);
    t->toy.lower_callback = out_of_memory;
    assert_status(KILN_ENOMEM, toys_compile(t, 0, &kernel, &test_error));
    t->toy.lower_callback = NULL;

    assert_ok(toys_compile(t, 0, &kernel, &test_error));
    assert_int_equal(t->toy.lowered[0], 2);
}

/* LLVM rounds to no integers of 16 bits, and gives up. */
static const char unselectable[] =
    "  %p = alloca float\n"
    "  %v = load volatile float, ptr %p\n"
    "  %t = call i16 @llvm.lrint.i16.f32(float %v)\n"
    "  store volatile i16 %t, ptr %p\n";

static void a_fatal_error_in_llvm_reaches_every_waiter(void **state)
{
    toys *t = *state;
    toys_caller callers[CALLERS];
    const kiln_kernel *kernel;

    toys_define(t, 0, 10, NULL);
    toys_define(t, 1, 11, NULL);
    t->toy.body = unselectable;
    wait_for_compilers(t, CALLERS - 1);
    t->toy.lower_callback = lower_when_all_wait;
    toys_call(t, callers, the_same, CALLERS, 0);
    assert_each_failed(callers, KILN_ECODEGEN, "LLVM cannot go on");
    toys_callers_end(callers, CALLERS);

    /* It is the code's own: another world changes nothing. */
    t->toy.body = NULL;
    t->toy.lower_callback = NULL;
    toys_define(t, 2, 12, NULL);
    assert_status(KILN_ECODEGEN, toys_compile(t, 0, &kernel, &test_error));
    assert_int_equal(t->toy.lowered[0], 1);
    assert_ok(toys_compile(t, 1, &kernel, &test_error));
    assert_int_equal(t->jobs_ended, 2);
    (void)toys_counts(t, KILN_TIER_BINARY);
}

/* ---- inference ---- */

static kiln_status infer_fails_when_all_wait(struct toy *toy, int id,
                                             kiln_error **error)
{
    (void)toy;
    until_all_wait();
    return kiln_error_set(error, KILN_ECOMPILE, "f%d cannot be inferred", id);
}

static void a_failed_inference_reaches_every_waiter(void **state)
{
    toys *t = *state;
    toys_caller callers[CALLERS];

    toys_define(t, 0, 10, NULL);
    wait_for_callers(t, CALLERS - 1);
    t->toy.infer_callback = infer_fails_when_all_wait;
    toys_call(t, callers, the_same, CALLERS, 0);
    assert_each_failed(callers, KILN_ECOMPILE, "f0 cannot be inferred");
    toys_callers_end(callers, CALLERS);

    assert_int_equal(t->toy.inferred[0], 1);
    assert_int_equal(toys_counts(t, KILN_TIER_TYPED).failed, CALLERS);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).failed, CALLERS);
}

/* The definition comes while f0 is inferred, and is taken back: what f0 was
   between is not what its result says. */
static kiln_status change_and_change_back(struct toy *toy, int id,
                                          kiln_error **error)
{
    (void)id;
    (void)error;
    toy->infer_callback = NULL;
    if (toy_define(toy, 1, 99, NULL, NULL) != KILN_OK)
        return KILN_EIO;
    return toy_define(toy, 1, 11, NULL, NULL);
}

static void a_definition_that_came_and_went_ends_the_result(void **state)
{
    toys *t = *state;
    const kiln_code *code, *again;
    uint64_t minimum, maximum;

    toys_define(t, 0, 10, CALLS(1));
    toys_define(t, 1, 11, NULL);
    t->toy.infer_callback = change_and_change_back;
    assert_ok(toys_infer(t, 0, &code, &test_error));

    kiln_code_worlds(code, &minimum, &maximum);
    assert_int_equal(minimum, maximum);
    assert_ok(toys_infer(t, 0, &again, &test_error));
    assert_ptr_not_equal(code, again);
    assert_true(kiln_code_is_valid(again));
}

/* ---- tickets ---- */

static int gate;

static kiln_status lower_behind_the_gate(struct toy *toy, int id,
                                         kiln_error **error)
{
    (void)toy;
    (void)id;
    (void)error;
    while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
        sched_yield();
    return KILN_OK;
}

static kiln_ticket *start(toys *t, int id)
{
    const kiln_signature signature = toy_signature(&t->toy, id);
    kiln_ticket *ticket = NULL;

    assert_ok(kiln_compile_start(&ticket, t->context, &signature, t->config,
                                 NULL, &test_error));
    return ticket;
}

static void *compile_f0(void *argument)
{
    const kiln_kernel *kernel;

    toys_compile(argument, 0, &kernel, NULL);
    return NULL;
}

/* While another thread lowers f0. */
static void a_ticket_that_waits_is_freed_at_once_and_counted_later(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;
    kiln_ticket *ticket;
    pthread_t thread;

    gate = 0;
    toys_define(t, 0, 10, NULL);
    t->toy.lower_callback = lower_behind_the_gate;
    assert_int_equal(pthread_create(&thread, NULL, compile_f0, t), 0);
    while (!__atomic_load_n(&t->toy.lowered[0], __ATOMIC_ACQUIRE))
        sched_yield();
    ticket = start(t, 0);
    assert_status(KILN_EAGAIN, kiln_compile_poll(&kernel, ticket, &test_error));
    kiln_compile_cancel(ticket);
    assert_status(KILN_ECANCELED,
                  kiln_compile_poll(&kernel, ticket, &test_error));
    kiln_ticket_free(ticket);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).requests, 0);

    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).requests, 2);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).waited, 1);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).built, 1);
}

static void abandoned_tickets_are_counted_when_their_builds_end(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    for (int id = 0; id < 8; id++) {
        toys_define(t, id, 10 + id, NULL);
        kiln_ticket_free(start(t, id));
        kiln_ticket_free(start(t, id));
    }
    for (int id = 0; id < 8; id++)
        assert_ok(toys_compile(t, id, &kernel, &test_error));

    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).requests, 24);
    assert_int_equal(toys_counts(t, KILN_TIER_BINARY).built, 8);
}

static void a_context_may_end_before_abandoned_builds_do(void **state)
{
    toys *t = *state;

    for (int id = 0; id < 8; id++) {
        toys_define(t, id, 10 + id, NULL);
        kiln_ticket_free(start(t, id));
    }
}

/* ---- fork ---- */

/* In the child, with f0 under way on a thread that is not there. */
static int child(toys *t, kiln_ticket *ticket)
{
    const kiln_kernel *kernel;
    kiln_error *error = NULL;

    if (kiln_compile_poll(&kernel, ticket, &error) != KILN_ECANCELED || !error)
        return 1;
    kiln_error_free(error);
    kiln_ticket_free(ticket);
    if (!HARNESS_THREADS_AFTER_FORK)
        return 0;
    t->toy.lower_callback = NULL;
    if (toys_compile(t, 0, &kernel, NULL) != KILN_OK)
        return 2;
    kiln_context_collect(t->context);
    return toys_compile(t, 1, &kernel, NULL) == KILN_OK ? 0 : 3;
}

static void in_a_child_what_others_were_building_is_canceled(void **state)
{
    toys *t = *state;
    kiln_ticket *ticket;
    pthread_t thread;
    int result = -1;
    pid_t pid;

    gate = 0;
    toys_define(t, 0, 10, NULL);
    toys_define(t, 1, 11, NULL);
    t->toy.lower_callback = lower_behind_the_gate;
    assert_int_equal(pthread_create(&thread, NULL, compile_f0, t), 0);
    while (!__atomic_load_n(&t->toy.lowered[0], __ATOMIC_ACQUIRE))
        sched_yield();
    ticket = start(t, 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(child(t, ticket));
    assert_int_equal(waitpid(pid, &result, 0), pid);
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    kiln_ticket_free(ticket);

    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

/* ---- out of memory ---- */

static kiln_status many(toys *t)
{
    kiln_batch_job jobs[3];
    kiln_signature signature = toy_signature(&t->toy, 3);
    kiln_ticket *ticket = NULL;
    const kiln_kernel *kernel;
    kiln_status status;

    for (int i = 0; i < 3; i++)
        jobs[i] = toys_job(t, i);
    status = kiln_compile_batch(t->context, jobs, 3, NULL, NULL);
    for (int i = 0; i < 3; i++)
        kiln_error_free(jobs[i].error);
    if (status == KILN_OK)
        status = kiln_compile_start(&ticket, t->context, &signature, t->config,
                                    NULL, NULL);
    if (status == KILN_OK) {
        status = kiln_compile_wait(&kernel, ticket, NULL);
        kiln_ticket_free(ticket);
    }
    if (status == KILN_OK)
        status = toy_define(&t->toy, 1, 99, CALLS(2), NULL);
    kiln_context_collect(t->context);
    if (status == KILN_OK)
        status = toys_compile(t, 0, &kernel, NULL);
    return status;
}

static kiln_status with_memory_of(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    toys t = {0};
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    options.workers = 1;
    options.codegen = KILN_CODEGEN_THREAD; /* hundreds of contexts */
    status = kiln_context_new(&t.context, &options, NULL);
    if (status != KILN_OK)
        return status;
    status = kiln_config_new(&t.config, t.context, NULL, NULL);
    if (status == KILN_OK)
        status = toy_open(&t.toy, t.context, NULL);
    for (int id = 0; status == KILN_OK && id < 4; id++)
        status = toy_define(&t.toy, id, 10 + id, id ? NULL : CALLS(1, 2), NULL);
    if (status == KILN_OK)
        status = many(&t);
    kiln_context_free(t.context);
    return status;
}

static void everything_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(with_memory_of, NULL);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, toys_setup, toys_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sixteen_cold_callers_build_once),
        TEST(a_failure_reaches_every_waiter_and_is_remembered),
        TEST(a_failed_lowering_is_tried_again_when_the_world_moves),
        TEST(a_lack_of_memory_is_not_remembered),
        TEST(a_fatal_error_in_llvm_reaches_every_waiter),
        TEST(a_failed_inference_reaches_every_waiter),
        TEST(a_definition_that_came_and_went_ends_the_result),
        TEST(a_ticket_that_waits_is_freed_at_once_and_counted_later),
        TEST(abandoned_tickets_are_counted_when_their_builds_end),
        TEST(a_context_may_end_before_abandoned_builds_do),
        TEST(in_a_child_what_others_were_building_is_canceled),
        cmocka_unit_test(everything_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
