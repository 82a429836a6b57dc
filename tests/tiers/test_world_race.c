/* test_world_race.c - a held world is one program while another is made. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers frontend thread */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "kiln/compile.h"
#include "kiln/config.h"
#include "support/frontend/program.h"

/*
 * A definition ends what relied on the one before, one result after the other.
 * Many rely on it here, so that takes a while; meanwhile another thread holds
 * the world of the moment and asks for the last of them, again and again.
 */
#define CALLERS 400
#define DEFINITIONS 40

typedef struct definer {
    program *p;
    atomic_uint asked, made;
    thread_report report;
} definer;

static void *define(void *argument)
{
    definer *d = argument;
    char text[64];

    for (unsigned i = 0; i < DEFINITIONS; i++) {
        while (atomic_load(&d->asked) <= i)
            sched_yield();
        (void)snprintf(text, sizeof text, "fn f(x: f32) = x + %u.0\n", i);
        thread_assert_ok(&d->report,
                         kiln_package_define(d->p->main, "test.kiln", text,
                                             strlen(text), NULL, NULL));
        atomic_fetch_add(&d->made, 1);
    }
    return NULL;
}

static const kiln_code *infer(program *p, const kiln_config *config, int number,
                              uint64_t world)
{
    const kiln_type *type = program_type(p, "f32");
    kiln_signature signature = {NULL, &type, 1};
    const kiln_code *code = NULL;
    char name[16];

    (void)snprintf(name, sizeof name, "g%d", number);
    assert_ok(
        kiln_package_function(&signature.function, p->main, name, &test_error));
    assert_ok(
        kiln_infer(&code, p->context, &signature, config, world, &test_error));
    return code;
}

static void define_callers(program *p, const kiln_config *config)
{
    char text[64];

    program_define(p, "fn f(x: f32) = x\n");
    for (int i = 0; i < CALLERS; i++) {
        (void)snprintf(text, sizeof text, "fn g%d(x: f32) = f(x)\n", i);
        program_define(p, text);
    }
    for (int i = 0; i < CALLERS; i++)
        (void)infer(p, config, i, 0);
}

/* Until the definition is made, and once more. How often a world had another
   program than before. */
static unsigned watch(definer *d, const kiln_config *config, unsigned number)
{
    kiln_frontend *language = kiln_context_language(d->p->context);
    const kiln_code *known = NULL;
    unsigned differs = 0;
    uint64_t held = 0;
    int is_made;

    do {
        const kiln_code *code;
        uint64_t world;

        is_made = atomic_load(&d->made) > number;
        assert_ok(kiln_world_hold(&world, language));
        code = infer(d->p, config, CALLERS - 1, world);
        differs += world == held && code != known;
        if (held != 0)
            kiln_world_release(language, held);
        held = world;
        known = code;
    } while (!is_made);
    kiln_world_release(language, held);
    return differs;
}

static void a_held_world_is_one_program_while_another_is_made(void **state)
{
    program *p = *state;
    const kiln_config *config;
    definer d = {p, 0, 0, THREAD_REPORT_INIT};
    unsigned differs = 0;
    pthread_t thread;

    assert_ok(kiln_config_new(&config, p->context, NULL, &test_error));
    define_callers(p, config);
    assert_int_equal(pthread_create(&thread, NULL, define, &d), 0);
    for (unsigned i = 0; i < DEFINITIONS; i++) {
        for (int c = 0; c < CALLERS; c++)
            (void)infer(p, config, c, 0);
        atomic_store(&d.asked, i + 1);
        differs += watch(&d, config, i);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_threads_ok(&d.report);
    assert_int_equal(differs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_held_world_is_one_program_while_another_is_made, program_setup,
            program_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
