/* test_world_changing.c - worlds of a frontend whose definition is under way.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers frontend thread */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "kiln/compile.h"
#include "kiln/config.h"
#include "kiln/context.h"
#include "support/frontend/toy_frontend.h"
#include "support/harness.h"

#define DEFINITIONS 300

typedef struct fixture {
    kiln_context *context;
    const kiln_config *config;
    struct toy toy;
} fixture;

static int setup(void **state)
{
    static fixture f;

    memset(&f, 0, sizeof f);
    assert_ok(kiln_context_new(&f.context, NULL, &test_error));
    assert_ok(kiln_config_new(&f.config, f.context, NULL, &test_error));
    assert_ok(toy_open(&f.toy, f.context, &test_error));
    f.toy.tells_before = 1;
    assert_ok(toy_define(&f.toy, 0, 10, NULL, NULL));
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln_context_free(f->context);
    return 0;
}

static kiln_status infer_in(fixture *f, const kiln_code **code, uint64_t world)
{
    const kiln_signature signature = toy_signature(&f->toy, 0);

    return kiln_infer(code, f->context, &signature, f->config, world, NULL);
}

static const kiln_code *infer(fixture *f, uint64_t world)
{
    const kiln_code *code = NULL;

    assert_ok(infer_in(f, &code, world));
    return code;
}

static uint64_t hold(fixture *f)
{
    uint64_t world = 0;

    assert_ok(kiln_world_hold(&world, f->toy.frontend));
    return world;
}

static void tell(fixture *f, uint64_t world)
{
    const uint64_t subject = 0;

    assert_ok(kiln_world_changed(f->toy.frontend, world, &subject, 1, NULL));
}

static void a_world_that_is_not_told_yet_is_nobodys(void **state)
{
    fixture *f = *state;
    const kiln_code *old = infer(f, 0), *code = NULL;
    const uint64_t before = kiln_world(f->toy.frontend);
    uint64_t world, minimum;

    assert_ok(kiln_world_changing(f->toy.frontend));
    world = toy_advance(&f->toy, 0, 11, NULL);

    assert_int_equal(kiln_world(f->toy.frontend), before);
    assert_int_equal(hold(f), before);
    kiln_world_release(f->toy.frontend, before);
    assert_ptr_equal(infer(f, 0), old);
    assert_status(KILN_EINVAL, infer_in(f, &code, world));

    tell(f, world);
    assert_int_equal(kiln_world(f->toy.frontend), world);
    code = infer(f, world);
    assert_ptr_not_equal(code, old);
    kiln_code_worlds(code, &minimum, NULL);
    assert_int_equal(minimum, world);
}

static void what_is_inferred_meanwhile_is_of_the_world_before(void **state)
{
    fixture *f = *state;
    const uint64_t before = kiln_world(f->toy.frontend);
    uint64_t world, maximum;
    const kiln_code *code;

    assert_ok(kiln_world_changing(f->toy.frontend));
    world = toy_advance(&f->toy, 0, 11, NULL);
    code = infer(f, 0);
    tell(f, world);

    kiln_code_worlds(code, NULL, &maximum);
    assert_int_equal(maximum, before);
    assert_ptr_not_equal(infer(f, 0), code);
}

static void worlds_of_several_definitions_come_with_the_last(void **state)
{
    fixture *f = *state;
    const uint64_t before = kiln_world(f->toy.frontend);
    const kiln_code *old = infer(f, 0);
    uint64_t world;

    assert_ok(kiln_world_changing(f->toy.frontend));
    (void)toy_advance(&f->toy, 0, 11, NULL);
    assert_ok(kiln_world_changing(f->toy.frontend));
    world = toy_advance(&f->toy, 1, 12, NULL);
    assert_ok(kiln_world_changed(f->toy.frontend, world, NULL, 0, NULL));
    assert_int_equal(kiln_world(f->toy.frontend), before);
    assert_ptr_equal(infer(f, 0), old);

    tell(f, world);
    assert_int_equal(kiln_world(f->toy.frontend), world);
    assert_ptr_not_equal(infer(f, 0), old);
}

static void a_definition_that_fails_changes_nothing(void **state)
{
    fixture *f = *state;
    const uint64_t world = kiln_world(f->toy.frontend);
    const kiln_code *code = infer(f, 0);

    assert_ok(kiln_world_changing(f->toy.frontend));
    assert_status(KILN_EINVAL, kiln_world_changed(f->toy.frontend, world + 1,
                                                  NULL, 0, NULL));
    assert_ok(kiln_world_changed(f->toy.frontend, world, NULL, 0, NULL));

    assert_ptr_equal(infer(f, 0), code);
    assert_ok(toy_define(&f->toy, 0, 11, NULL, NULL));
    assert_int_equal(kiln_world(f->toy.frontend), world + 1);
    assert_ptr_not_equal(infer(f, 0), code);
}

/* ---- many threads ---- */

typedef struct definer {
    fixture *f;
    atomic_int is_over;
    kiln_status status;
} definer;

/* Between advance and telling whoever asks has its turn. */
static void *define(void *argument)
{
    definer *d = argument;
    kiln_frontend *frontend = d->f->toy.frontend;
    const uint64_t subject = 0;

    for (int i = 0; i < DEFINITIONS && d->status == KILN_OK; i++) {
        uint64_t world;

        d->status = kiln_world_changing(frontend);
        if (d->status != KILN_OK)
            break;
        world = toy_advance(&d->f->toy, 0, 20 + i, NULL);
        for (int turn = 0; turn < 20; turn++)
            sched_yield();
        d->status = kiln_world_changed(frontend, world, &subject, 1, NULL);
    }
    atomic_store(&d->is_over, 1);
    return NULL;
}

/* Two answers in one held world, some time apart, until the other thread ends:
   it needs what is here, so that nothing is asserted before. */
static void a_held_world_is_one_program_while_another_is_made(void **state)
{
    definer d = {*state, 0, KILN_OK};
    unsigned differs = 0;
    uint64_t world;
    pthread_t thread;

    (void)infer(d.f, 0);
    assert_int_equal(pthread_create(&thread, NULL, define, &d), 0);
    while (!atomic_load(&d.is_over)) {
        const kiln_code *first = NULL, *second = NULL;

        world = hold(d.f);
        if (infer_in(d.f, &first, world) != KILN_OK)
            differs++;
        for (int turn = 0; turn < 20; turn++)
            sched_yield();
        if (infer_in(d.f, &second, world) != KILN_OK || first != second)
            differs++;
        kiln_world_release(d.f->toy.frontend, world);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_ok(d.status);
    assert_int_equal(differs, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_world_that_is_not_told_yet_is_nobodys),
        TEST(what_is_inferred_meanwhile_is_of_the_world_before),
        TEST(worlds_of_several_definitions_come_with_the_last),
        TEST(a_definition_that_fails_changes_nothing),
        TEST(a_held_world_is_one_program_while_another_is_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
