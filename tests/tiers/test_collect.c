/* test_collect.c - what a collection frees, and what it leaves alone. */
/* LABELS: unit tiers thread fault host */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/toys.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static kiln_ticket *start(toys *t, int id)
{
    const kiln_signature signature = toy_signature(&t->toy, id);
    kiln_ticket *ticket = NULL;

    assert_ok(kiln_compile_start(&ticket, t->context, &signature, t->config,
                                 NULL, &test_error));
    return ticket;
}

/* ---- work under way ---- */

static int gate;

/* On the worker, in the middle of a build. */
static void stop_at_the_gate(toys *t, const kiln_event *event)
{
    (void)t;
    if (event->kind != KILN_EVENT_STAGE || event->stage != KILN_STAGE_OPTIMISE)
        return;
    while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void a_build_under_way_keeps_what_it_needs(void **state)
{
    toys *t = *state;
    const kiln_kernel *old, *fresh;
    kiln_ticket *ticket;

    gate = 0;
    toys_define(t, 0, 10, CALLS(1));
    toys_define(t, 1, 11, CALLS(2));
    toys_define(t, 2, 12, NULL);
    t->on_event = stop_at_the_gate;
    ticket = start(t, 0);
    toys_define(t, 2, 22, NULL);
    kiln_context_collect(t->context);
    assert_int_equal(toys_counts(t, KILN_TIER_TYPED).entries, 3);
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    assert_ok(kiln_compile_wait(&old, ticket, &test_error));
    kiln_ticket_free(ticket);

    assert_ok(toys_compile(t, 0, &fresh, &test_error));
    assert_ptr_not_equal(old, fresh);
    kiln_context_collect(t->context);
    assert_int_equal(toys_counts(t, KILN_TIER_TYPED).entries, 3);
}

static void a_kernel_stays_until_its_ticket_has_given_it(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;
    kiln_ticket *ticket;

    toys_define(t, 0, 10, NULL);
    ticket = start(t, 0);
    while (!__atomic_load_n(&t->jobs_ended, __ATOMIC_ACQUIRE))
        sched_yield();
    toys_define(t, 0, 20, NULL);
    kiln_context_collect(t->context);
    assert_ok(kiln_compile_wait(&kernel, ticket, &test_error));
    assert_non_null(kiln_kernel_artifact(kernel));
    kiln_ticket_free(ticket);

    kiln_context_collect(t->context);
    assert_int_equal(toys_counts(t, KILN_TIER_TYPED).entries, 0);
}

static const kiln_code *outdated;

static kiln_status redefine_and_collect(struct toy *toy, int id,
                                        kiln_error **error)
{
    toys *t = toys_of(toy);

    (void)error;
    if (id != 0 || toy_define(toy, 1, 21, NULL, NULL) != KILN_OK)
        return KILN_OK;
    kiln_context_collect(t->context);
    return strcmp(kiln_code_name(outdated), "toy.f1()") == 0 ? KILN_OK
                                                             : KILN_EIO;
}

static void a_callback_that_collects_frees_nothing(void **state)
{
    toys *t = *state;
    const kiln_code *code;

    toys_define(t, 0, 10, NULL);
    toys_define(t, 1, 11, NULL);
    assert_ok(toys_infer(t, 1, &outdated, &test_error));
    t->toy.infer_callback = redefine_and_collect;
    assert_ok(toys_infer(t, 0, &code, &test_error));
    assert_int_equal(toys_counts(t, KILN_TIER_TYPED).entries, 2);

    kiln_context_collect(t->context);
    assert_int_equal(toys_counts(t, KILN_TIER_TYPED).entries, 1);
}

static void a_frontend_hears_which_world_is_the_oldest(void **state)
{
    toys *t = *state;
    uint64_t held;

    toys_define(t, 0, 10, NULL);
    assert_ok(kiln_world_hold(&held, t->toy.frontend));
    toys_define(t, 0, 20, NULL);
    kiln_context_collect(t->context);
    assert_int_equal(t->toy.collected, held);

    kiln_world_release(t->toy.frontend, held);
    kiln_context_collect(t->context);
    assert_int_equal(t->toy.collected, kiln_world(t->toy.frontend));
}

/* ---- the kernel language ---- */

typedef struct program {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    const kiln_type *type;
    kiln_signature scale;
} program;

static kiln_status define(program *p, int factor)
{
    char text[128];

    snprintf(text, sizeof text, "fn times(x) = %d * x # %d\n", factor, factor);
    return kiln_package_define(p->package, "times", text, strlen(text), NULL,
                               NULL);
}

static void program_open(program *p, const kiln_alloc *alloc)
{
    static const char text[] = "fn times(x) = 2 * x\n"
                               "kernel scale(y)\n"
                               "    y[global_id(0)] = times(y[global_id(0)])\n"
                               "end\n";
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    options.alloc = alloc;
    assert_ok(kiln_context_new(&p->context, &options, &test_error));
    assert_ok(kiln_config_new(&p->config, p->context, NULL, &test_error));
    assert_ok(kiln_package_new(&p->package, p->context, "test", &test_error));
    assert_ok(kiln_package_define(p->package, "scale", text, strlen(text), NULL,
                                  &test_error));
    assert_ok(kiln_type_parse(&p->type, p->context, p->package, "f32[:]",
                              &test_error));
    p->scale = (kiln_signature){NULL, &p->type, 1};
    assert_ok(kiln_package_function(&p->scale.function, p->package, "scale",
                                    &test_error));
}

static kiln_status infer(const kiln_code **out, program *p, uint64_t world,
                         kiln_error **error)
{
    return kiln_infer(out, p->context, &p->scale, p->config, world, error);
}

static void redefining_for_ever_takes_no_more_memory(void **state)
{
    failing_alloc counting;
    program p;
    const kiln_code *code;
    int64_t early = 0;

    (void)state;
    failing_alloc_init(&counting, 0);
    program_open(&p, &counting.alloc);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(define(&p, 1000 + i), KILN_OK);
        assert_ok(infer(&code, &p, 0, &test_error));
        kiln_context_collect(p.context);
        if (i == 20)
            early = counting.live_bytes;
    }

    assert_in_range(counting.live_bytes, 1, early + 1024);
    kiln_context_free(p.context);
    assert_nothing_leaked(&counting);
}

static void deleting_for_ever_takes_no_more_memory(void **state)
{
    failing_alloc counting;
    program p;
    const kiln_function *function;
    int64_t early = 0;

    (void)state;
    failing_alloc_init(&counting, 0);
    program_open(&p, &counting.alloc);
    assert_ok(
        kiln_package_function(&function, p.package, "times", &test_error));
    for (int i = 0; i < 200; i++) {
        static const char more[] = "fn times(x: i8) = x\n";

        assert_ok(kiln_package_define(p.package, "more", more, sizeof more - 1,
                                      NULL, &test_error));
        assert_ok(kiln_method_delete(p.package, function, "i8", NULL, NULL,
                                     &test_error));
        kiln_context_collect(p.context);
        if (i == 20)
            early = counting.live_bytes;
    }

    assert_in_range(counting.live_bytes, 1, early + 1024);
    kiln_context_free(p.context);
}

static kiln_digest digest_at(program *p, uint64_t world)
{
    const kiln_code *code = NULL;

    assert_ok(infer(&code, p, world, &test_error));
    return kiln_code_digest(code);
}

static void a_held_world_keeps_its_methods(void **state)
{
    program p;
    const kiln_code *code;
    kiln_digest before, now, later;
    uint64_t held;

    (void)state;
    program_open(&p, NULL);
    assert_int_equal(define(&p, 3), KILN_OK);
    assert_ok(kiln_world_hold(&held, kiln_context_language(p.context)));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(define(&p, 4 + i), KILN_OK);
        kiln_context_collect(p.context);
    }
    before = digest_at(&p, held);
    now = digest_at(&p, 0);
    assert_int_equal(define(&p, 3), KILN_OK);
    later = digest_at(&p, 0);
    assert_memory_equal(&before, &later, sizeof before);
    assert_memory_not_equal(&before, &now, sizeof before);

    kiln_world_release(kiln_context_language(p.context), held);
    kiln_context_collect(p.context);
    assert_fails(KILN_EINVAL, "is neither held nor the current one",
                 infer(&code, &p, held, &test_error));
    kiln_context_free(p.context);
}

/* ---- at once ---- */

struct stress {
    program p;
    thread_report report;
    int next;
    int done;
    int collected;
};

static int goes_on(const struct stress *s)
{
    return !__atomic_load_n(&s->done, __ATOMIC_RELAXED);
}

static void compile_all_the_time(struct stress *s)
{
    kiln_call_site site = {NULL};

    while (goes_on(s)) {
        const kiln_kernel *kernel = NULL;

        thread_assert_ok(&s->report, kiln_call_site_compile(
                                         &kernel, &site, s->p.context,
                                         &s->p.scale, s->p.config, NULL, NULL));
    }
}

static void ask_all_the_time(struct stress *s)
{
    for (int i = 0; goes_on(s); i++) {
        kiln_ticket *ticket = NULL;
        const kiln_code *code;
        kiln_digest key;

        thread_assert_ok(&s->report, infer(&code, &s->p, 0, NULL));
        thread_assert_ok(&s->report,
                         kiln_job_key(&key, s->p.context, &s->p.scale,
                                      s->p.config, 0, NULL));
        if (i % 16)
            continue;
        thread_assert_ok(&s->report,
                         kiln_compile_start(&ticket, s->p.context, &s->p.scale,
                                            s->p.config, NULL, NULL));
        kiln_ticket_free(ticket);
    }
}

static void redefine_all_the_time(struct stress *s)
{
    for (int i = 0; goes_on(s); i++) {
        uint64_t world;
        kiln_frontend *language = kiln_context_language(s->p.context);

        thread_assert_ok(&s->report, define(&s->p, i % 8));
        thread_assert_ok(&s->report, kiln_world_hold(&world, language));
        sched_yield();
        kiln_world_release(language, world);
    }
}

static void collect_for_a_second(struct stress *s)
{
    struct timespec now;
    time_t end;

    clock_gettime(CLOCK_MONOTONIC, &now);
    end = now.tv_sec + 2;
    while (now.tv_sec < end) {
        kiln_context_collect(s->p.context);
        s->collected++;
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    __atomic_store_n(&s->done, 1, __ATOMIC_RELAXED);
}

static void *run(void *argument)
{
    static void (*const roles[])(struct stress *) = {
        compile_all_the_time, ask_all_the_time, redefine_all_the_time,
        collect_for_a_second};
    struct stress *s = argument;

    roles[__atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)](s);
    return NULL;
}

/* More than is promised: the promise is that nobody is inside meanwhile. */
static void collecting_while_others_compile_and_redefine_is_harmless(
    void **state)
{
    struct stress s = {.report = THREAD_REPORT_INIT};
    kiln_statistics statistics = {.size = sizeof statistics};
    const kiln_tier_statistics *binary = &statistics.tiers[KILN_TIER_BINARY];
    const kiln_tier_statistics *typed = &statistics.tiers[KILN_TIER_TYPED];

    (void)state;
    program_open(&s.p, NULL);
    harness_run_threads(4, run, &s);
    assert_threads_ok(&s.report);
    assert_true(s.collected > 0);

    /* Abandoned builds end some time, and then keep nothing more. */
    do {
        kiln_context_collect(s.p.context);
        kiln_statistics_get(&statistics, s.p.context);
        sched_yield();
    } while (typed->entries > 2);
    assert_int_equal(typed->requests, typed->hits + typed->waited +
                                          typed->built + typed->failed);
    assert_int_equal(binary->requests, binary->hits + binary->waited +
                                           binary->built + binary->failed);
    kiln_context_free(s.p.context);
}

/* ---- out of memory ---- */

static kiln_status redefine_with(const kiln_alloc *alloc, void *env)
{
    static const char text[] = "fn times(x) = 2 * x\n"
                               "fn twice(x) = times(x)\n";
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    program p = {0};
    const kiln_code *code;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&p.context, &options, NULL);
    if (status != KILN_OK)
        return status;
    status = kiln_config_new(&p.config, p.context, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_new(&p.package, p.context, "test", NULL);
    if (status == KILN_OK)
        status = kiln_package_define(p.package, "t", text, sizeof text - 1,
                                     NULL, NULL);
    if (status == KILN_OK) {
        p.type = kiln_type_scalar(p.context, KILN_TYPE_F32);
        p.scale = (kiln_signature){NULL, &p.type, 1};
        status =
            kiln_package_function(&p.scale.function, p.package, "twice", NULL);
    }
    for (int i = 0; status == KILN_OK && i < 2; i++) {
        status = infer(&code, &p, 0, NULL);
        if (status == KILN_OK)
            status = define(&p, 3 + i);
        kiln_context_collect(p.context);
    }
    kiln_context_free(p.context);
    return status;
}

static void redefinition_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(redefine_with, NULL);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, toys_setup, toys_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_build_under_way_keeps_what_it_needs),
        TEST(a_kernel_stays_until_its_ticket_has_given_it),
        TEST(a_callback_that_collects_frees_nothing),
        TEST(a_frontend_hears_which_world_is_the_oldest),
        cmocka_unit_test(redefining_for_ever_takes_no_more_memory),
        cmocka_unit_test(deleting_for_ever_takes_no_more_memory),
        cmocka_unit_test(a_held_world_keeps_its_methods),
        cmocka_unit_test(
            collecting_while_others_compile_and_redefine_is_harmless),
        cmocka_unit_test(redefinition_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
