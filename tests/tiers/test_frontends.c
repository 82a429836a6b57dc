/* test_frontends.c - frontends, functions and worlds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread fault frontend */
#include <stdio.h>
#include <string.h>

#include "context/context.h"
#include "support/harness.h"
#include "tiers/frontends.h"

typedef struct toy {
    uint64_t world;
    uint64_t gone; /* worlds up to here cannot be held */
    uint64_t held;
    int released;
    int *freed;
} toy;

static uint64_t toy_world(void *self)
{
    return ((toy *)self)->world;
}

static kiln_status toy_infer(void *self, const kiln_signature *signature,
                             const kiln_config *config, uint64_t world,
                             kiln_inference *out, kiln_error **error)
{
    (void)self;
    (void)signature;
    (void)config;
    (void)world;
    (void)out;
    return kiln_error_set(error, KILN_ENOTFOUND, "no method");
}

static kiln_status toy_answer(void *self, const void *query, size_t size,
                              const kiln_config *config, uint64_t world,
                              kiln_digest *out)
{
    (void)self;
    (void)query;
    (void)size;
    (void)config;
    (void)world;
    *out = (kiln_digest){0};
    return KILN_OK;
}

static void toy_free(void *self)
{
    ++*((toy *)self)->freed;
}

/* The world moves on between the question and the hold. */
static kiln_status toy_hold(void *self, uint64_t world)
{
    toy *t = self;

    if (world <= t->gone) {
        t->world++;
        return KILN_ENOTFOUND;
    }
    t->held = world;
    return KILN_OK;
}

static void toy_release(void *self, uint64_t world)
{
    toy *t = self;

    t->released += t->held == world;
}

static const kiln_frontend_ops toy_ops = {.size = sizeof toy_ops,
                                          .name = "toy 1",
                                          .world = toy_world,
                                          .infer = toy_infer,
                                          .answer = toy_answer,
                                          .free = toy_free};

typedef struct fixture {
    kiln_context *context;
    kiln_frontend *frontend;
    toy toy;
    int freed;
} fixture;

static int setup(void **state)
{
    static fixture f;

    f = (fixture){.toy = {.world = 1}};
    f.toy.freed = &f.freed;
    assert_ok(kiln_context_new(&f.context, NULL, &test_error));
    assert_ok(kiln_frontend_add(&f.frontend, f.context, &toy_ops, &f.toy,
                                &test_error));
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    kiln_context_free(((fixture *)*state)->context);
    return 0;
}

static void a_frontend_keeps_its_self(void **state)
{
    const fixture *f = *state;

    assert_ptr_equal(kiln_frontend_self(f->frontend), &f->toy);
}

static void a_frontend_ends_once_with_its_context(void **state)
{
    fixture *f = *state;

    kiln_context_free(f->context);
    f->context = NULL;

    assert_int_equal(f->freed, 1);
}

static void a_name_is_taken_once(void **state)
{
    fixture *f = *state;
    kiln_frontend *second = NULL;

    assert_fails(
        KILN_EINVAL, "'toy 1' already",
        kiln_frontend_add(&second, f->context, &toy_ops, &f->toy, &test_error));
    assert_null(second);
    assert_int_equal(f->freed, 0);
}

static void a_table_without_a_required_function_is_refused(void **state)
{
    fixture *f = *state;
    kiln_frontend_ops ops = toy_ops;
    kiln_frontend *second = NULL;

    ops.name = "lame";
    ops.answer = NULL;
    assert_fails(
        KILN_EINVAL, "lacks a required function",
        kiln_frontend_add(&second, f->context, &ops, &f->toy, &test_error));
    ops.name = "";
    assert_fails(
        KILN_EINVAL, "needs a name",
        kiln_frontend_add(&second, f->context, &ops, &f->toy, &test_error));
}

static void the_table_is_copied(void **state)
{
    fixture *f = *state;
    kiln_frontend_ops ops = toy_ops;
    char name[] = "short lived";
    kiln_frontend *second = NULL;
    toy t = {.world = 42, .freed = &f->freed};

    ops.name = name;
    assert_ok(kiln_frontend_add(&second, f->context, &ops, &t, &test_error));
    memset(&ops, 0, sizeof ops);
    name[0] = 'S';

    assert_int_equal(kiln_world(second), 42);
    assert_string_equal(second->name, "short lived");
    kiln_context_free(f->context);
    f->context = NULL;
}

static void an_older_and_shorter_table_is_taken(void **state)
{
    fixture *f = *state;
    kiln_frontend_ops ops = toy_ops;
    kiln_frontend *second = NULL;
    toy t = {.world = 1, .freed = &f->freed};

    ops.name = "old";
    ops.size = offsetof(kiln_frontend_ops, lower);
    ops.hold = toy_hold;
    assert_ok(kiln_frontend_add(&second, f->context, &ops, &t, &test_error));

    assert_true(second->ops.hold == NULL);
    kiln_context_free(f->context);
    f->context = NULL;
}

/* ---- functions ---- */

static void a_function_exists_once_per_name(void **state)
{
    fixture *f = *state;
    const kiln_function *first = NULL, *second = NULL, *other = NULL;
    int data = 1;

    assert_ok(
        kiln_function_new(&first, f->frontend, "main.f", &data, &test_error));
    assert_ok(
        kiln_function_new(&second, f->frontend, "main.f", NULL, &test_error));
    assert_ok(
        kiln_function_new(&other, f->frontend, "main.g", NULL, &test_error));

    assert_ptr_equal(first, second);
    assert_ptr_not_equal(first, other);
    assert_ptr_equal(kiln_function_data(first), &data);
    assert_string_equal(kiln_function_name(first), "main.f");
    assert_ptr_equal(kiln_function_frontend(first), f->frontend);
}

static void frontends_do_not_share_functions(void **state)
{
    fixture *f = *state;
    kiln_frontend_ops ops = toy_ops;
    kiln_frontend *second = NULL;
    const kiln_function *ours = NULL, *theirs = NULL;
    toy t = {.world = 1, .freed = &f->freed};

    ops.name = "toy 2";
    assert_ok(kiln_frontend_add(&second, f->context, &ops, &t, &test_error));
    assert_ok(
        kiln_function_new(&ours, f->frontend, "main.f", NULL, &test_error));
    assert_ok(kiln_function_new(&theirs, second, "main.f", NULL, &test_error));

    assert_ptr_not_equal(ours, theirs);
    assert_int_not_equal(ours->hash, theirs->hash);
    kiln_context_free(f->context);
    f->context = NULL;
}

static void a_function_without_a_name_is_refused(void **state)
{
    fixture *f = *state;
    const kiln_function *function = NULL;

    assert_status(KILN_EINVAL, kiln_function_new(&function, f->frontend, "",
                                                 NULL, &test_error));
    assert_status(KILN_EINVAL, kiln_function_new(&function, f->frontend, NULL,
                                                 NULL, &test_error));
}

static void looking_a_function_up_makes_none(void **state)
{
    fixture *f = *state;
    const kiln_function *function = NULL;

    assert_null(kiln__function_find(f->context, "main.later"));
    assert_null(kiln__function_find(f->context, "main.later"));
    assert_ok(kiln_function_new(&function, f->frontend, "main.later", NULL,
                                &test_error));
    assert_ptr_equal(kiln__function_find(f->context, "main.later"), function);
}

#define NAMES 200

typedef struct race {
    fixture *fixture;
    thread_report report;
    pthread_mutex_t lock;
    const kiln_function *seen[NAMES];
} race;

static void *make_all(void *argument)
{
    race *r = argument;

    for (int i = 0; i < NAMES; i++) {
        const kiln_function *function = NULL;
        char name[32];

        snprintf(name, sizeof name, "main.f%d", i);
        thread_assert_ok(&r->report,
                         kiln_function_new(&function, r->fixture->frontend,
                                           name, NULL, NULL));
        pthread_mutex_lock(&r->lock);
        if (!r->seen[i])
            r->seen[i] = function;
        thread_assert(&r->report, r->seen[i] == function);
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

static void threads_that_race_get_the_same_functions(void **state)
{
    race r = {.fixture = *state,
              .report = THREAD_REPORT_INIT,
              .lock = PTHREAD_MUTEX_INITIALIZER};

    harness_run_threads(8, make_all, &r);

    assert_threads_ok(&r.report);
}

/* ---- worlds ---- */

static void without_hold_the_current_world_is_stored(void **state)
{
    fixture *f = *state;
    uint64_t world = 0;

    f->toy.world = 7;
    assert_ok(kiln_world_hold(&world, f->frontend));

    assert_int_equal(world, 7);
    kiln_world_release(f->frontend, world);
}

static void a_world_that_is_gone_is_asked_for_anew(void **state)
{
    fixture *f = *state;
    kiln_frontend_ops ops = toy_ops;
    toy t = {.world = 5, .gone = 6, .freed = &f->freed};
    kiln_frontend *second = NULL;
    uint64_t world = 0;

    ops.name = "holder";
    ops.hold = toy_hold;
    ops.release = toy_release;
    assert_ok(kiln_frontend_add(&second, f->context, &ops, &t, &test_error));

    assert_ok(kiln_world_hold(&world, second));
    kiln_world_release(second, world);

    assert_int_equal(world, 7);
    assert_int_equal(t.released, 1);
    kiln_context_free(f->context);
    f->context = NULL;
}

/* ---- memory ---- */

static kiln_status fill(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln_frontend *frontend = NULL;
    const kiln_function *function = NULL;
    int freed = 0;
    toy t = {.world = 1, .freed = &freed};
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&context, &options, NULL);
    if (status == KILN_OK)
        status = kiln_frontend_add(&frontend, context, &toy_ops, &t, NULL);
    if (status == KILN_OK)
        status = kiln_function_new(&function, frontend, "main.f", NULL, NULL);
    if (status == KILN_OK)
        status = kiln_function_new(&function, frontend, "main.g", NULL, NULL);
    kiln_context_free(context);
    return status;
}

static void out_of_memory_at_any_call_is_survived(void **state)
{
    (void)state;
    assert_survives_failing_alloc(fill, NULL);
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH(a_frontend_keeps_its_self),
        WITH(a_frontend_ends_once_with_its_context),
        WITH(a_name_is_taken_once),
        WITH(a_table_without_a_required_function_is_refused),
        WITH(the_table_is_copied),
        WITH(an_older_and_shorter_table_is_taken),
        WITH(a_function_exists_once_per_name),
        WITH(frontends_do_not_share_functions),
        WITH(a_function_without_a_name_is_refused),
        WITH(looking_a_function_up_makes_none),
        WITH(threads_that_race_get_the_same_functions),
        WITH(without_hold_the_current_world_is_stored),
        WITH(a_world_that_is_gone_is_asked_for_anew),
        cmocka_unit_test(out_of_memory_at_any_call_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
