/* test_across_frontends.c - worlds, and calls from one frontend to another. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host thread */
#include <stdlib.h>
#include <string.h>

#include "support/frontend/graph.h"
#include "support/harness.h"

static const char *folder;
static graph *g; /* of the process under way */

static void begin(int with_disk, unsigned offers)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    assert_ok(graph_open(g, with_disk ? &cache : NULL, offers, &test_error));
}

/* No question was about a world that nobody holds. */
static void end(void)
{
    for (int i = 0; i < GRAPH_COUNT; i++)
        assert_int_equal(g->frontends[i].wrong_worlds, 0);
    graph_close(g);
}

static void define(int which, int function, uint64_t number)
{
    const graph_definition d = {.number = number};

    assert_ok(graph_define(g, which, function, &d, NULL));
}

/* One edge: a call. */
static void define_call(int which, int function, uint64_t number, int to,
                        int of)
{
    const graph_definition d = {
        .number = number, .edge_count = 1, .edges = {{0, to, of, 0}}};

    assert_ok(graph_define(g, which, function, &d, NULL));
}

static kiln_status no_language(void *env, int function, int settings,
                               uint64_t *hash)
{
    (void)env, (void)function, (void)settings, (void)hash;
    return KILN_EIO;
}

static uint64_t expected_at(int which, int function, uint64_t world)
{
    uint64_t value = 0;

    assert_int_equal(
        graph_value(&value, g, which, function, world, no_language, NULL),
        KILN_OK);
    return value;
}

static uint64_t run_at(int which, int function, uint64_t world)
{
    uint64_t value = 0;

    assert_ok(graph_run(&value, g, which, function, world, &test_error));
    return value;
}

#define assert_right_at(which, function, world) \
    assert_int_equal(run_at((which), (function), (world)), \
                     expected_at((which), (function), (world)))
#define assert_right(which, function) assert_right_at(which, function, 0)

static uint64_t world_of(int which)
{
    return kiln_world(g->frontends[which].frontend);
}

/* Moves the worlds of the frontends apart. */
static void drift(int which, int count)
{
    for (int i = 0; i < count; i++)
        define(which, GRAPH_FUNCTIONS - 1, (uint64_t)i);
}

/* ---- world numbers ---- */

static void assert_refused(uint64_t world)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_signature signature = graph_kernel(g, GRAPH_LOW_A, 0);
    kiln_batch_job job = {
        .signature = signature, .config = g->config, .world = world};
    const kiln_kernel *kernel = NULL;
    const kiln_code *code = NULL;
    kiln_ticket *ticket = NULL;
    kiln_blob blob = {0};
    kiln_digest key;

    options.world = world;
#define REFUSED(call) assert_fails(KILN_EINVAL, "is neither held nor", call)
    REFUSED(kiln_compile(&kernel, g->context, &signature, g->config, &options,
                         &test_error));
    REFUSED(kiln_compile_start(&ticket, g->context, &signature, g->config,
                               &options, &test_error));
    REFUSED(kiln_infer(&code, g->context, &signature, g->config, world,
                       &test_error));
    REFUSED(kiln_job_key(&key, g->context, &signature, g->config, world,
                         &test_error));
    REFUSED(kiln_emit(&blob, g->context, &signature, g->config, world,
                      KILN_EMIT_LLVM, &test_error));
#undef REFUSED
    assert_int_equal(
        kiln_code_find(&code, g->context, &signature, g->config, world),
        KILN_EINVAL);
    assert_int_equal(kiln_compile_batch(g->context, &job, 1, NULL, NULL),
                     KILN_EINVAL);
    assert_contains(kiln_error_message(job.error), "low a 1");
    kiln_error_free(job.error);
}

static void a_world_that_does_not_exist_yet_is_refused(void **state)
{
    (void)state;
    begin(0, 0);
    define(GRAPH_LOW_A, 0, 1);
    assert_refused(world_of(GRAPH_LOW_A) + 1);
    assert_refused(UINT64_MAX);
    assert_right(GRAPH_LOW_A, 0);
    assert_refused(world_of(GRAPH_LOW_A) + 1);
    define(GRAPH_LOW_A, 0, 2);
    assert_right(GRAPH_LOW_A, 0);
    end();
}

static void a_world_that_has_passed_is_refused_unless_it_is_held(void **state)
{
    kiln_frontend *frontend;
    uint64_t held = 0;

    (void)state;
    begin(0, GRAPH_HOLD);
    frontend = g->frontends[GRAPH_LOW_A].frontend;
    define(GRAPH_LOW_A, 0, 1);
    assert_right(GRAPH_LOW_A, 0);
    assert_ok(kiln_world_hold(&held, frontend));
    define(GRAPH_LOW_A, 0, 2);
    assert_refused(held - 1);
    assert_right_at(GRAPH_LOW_A, 0, held);
    assert_right(GRAPH_LOW_A, 0);
    kiln_world_release(frontend, held);
    assert_refused(held);
    end();
}

/* The number of today's world is as good as 0. */
static void the_current_world_need_not_be_held(void **state)
{
    (void)state;
    begin(0, GRAPH_HOLD);
    define(GRAPH_LOW_A, 0, 1);
    assert_right_at(GRAPH_LOW_A, 0, world_of(GRAPH_LOW_A));
    end();
}

/* ---- calls ---- */

static void a_callee_is_inferred_in_a_world_of_its_own_frontend(void **state)
{
    (void)state;
    begin(0, GRAPH_HOLD);
    define(GRAPH_TYPED, 0, 7);
    drift(GRAPH_TYPED, 40);
    define_call(GRAPH_LOW_A, 0, 1, GRAPH_TYPED, 0);
    assert_right(GRAPH_LOW_A, 0);
    drift(GRAPH_LOW_B, 80);
    define_call(GRAPH_LOW_B, 0, 1, GRAPH_LOW_A, 0);
    assert_right(GRAPH_LOW_B, 0);
    define(GRAPH_TYPED, 0, 8);
    assert_right(GRAPH_LOW_B, 0);
    assert_right(GRAPH_LOW_A, 0);
    define(GRAPH_LOW_A, 0, 9);
    assert_right(GRAPH_LOW_B, 0);
    end();
}

/* The way that most take: a language calls what the kernel language has. */
static void a_call_of_the_kernel_language_sees_what_is_defined(void **state)
{
    (void)state;
    begin(0, GRAPH_HOLD);
    for (uint64_t i = 1; i < 4; i++) {
        define(GRAPH_LANGUAGE, 0, i);
        define_call(GRAPH_TYPED, 0, 100, GRAPH_LANGUAGE, 0);
        assert_right(GRAPH_TYPED, 0);
        drift(GRAPH_TYPED, 5);
        define(GRAPH_LANGUAGE, 0, 10 * i);
        assert_right(GRAPH_TYPED, 0);
    }
    end();
}

static void an_edit_ends_who_calls_it_from_elsewhere(void **state)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    const graph_definition other = {.number = 2};
    const kiln_code *caller, *unrelated;
    uint64_t last;

    (void)state;
    begin(0, 0);
    define(GRAPH_TYPED, 0, 1);
    define_call(GRAPH_LOW_A, 0, 1, GRAPH_TYPED, 0);
    define(GRAPH_LOW_A, 1, 1);
    assert_ok(graph_infer(&caller, g, GRAPH_LOW_A, 0, 0, &test_error));
    assert_ok(graph_infer(&unrelated, g, GRAPH_LOW_A, 1, 0, &test_error));
    assert_ok(graph_define(g, GRAPH_TYPED, 0, &other, &report));
    assert_int_equal(report.invalidated_count, 2);
    kiln_change_report_dispose(&report);
    assert_false(kiln_code_is_valid(caller));
    assert_true(kiln_code_is_valid(unrelated));
    /* Nothing in the worlds of its own frontend ended it. */
    kiln_code_worlds(caller, NULL, &last);
    assert_int_equal(last, UINT64_MAX);
    assert_right(GRAPH_LOW_A, 0);
    end();
}

static void an_edit_of_another_frontend_is_seen_from_the_disk(void **state)
{
    static const unsigned offers[] = {0,
                                      GRAPH_ROOT,
                                      GRAPH_FIND,
                                      GRAPH_ROOT | GRAPH_FIND,
                                      GRAPH_PROGRAM,
                                      GRAPH_ALL};

    (void)state;
    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++)
        for (uint64_t number = 0; number < 3; number++) {
            begin(1, offers[i]);
            define_call(GRAPH_LOW_A, 0, 1, GRAPH_LOW_B, 0);
            define_call(GRAPH_LOW_B, 0, 1, GRAPH_TYPED, 0);
            define(GRAPH_TYPED, 0, number % 2);
            assert_right(GRAPH_LOW_A, 0);
            assert_right(GRAPH_LOW_B, 0);
            /* And within the process, with the disk behind it. */
            define(GRAPH_TYPED, 0, number + 10);
            assert_right(GRAPH_LOW_A, 0);
            end();
        }
}

static void what_is_stored_across_frontends_is_found_again(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(1, GRAPH_ALL);
        define_call(GRAPH_LOW_A, 0, 1, GRAPH_LOW_B, 0);
        define_call(GRAPH_LOW_B, 0, 1, GRAPH_TYPED, 0);
        define(GRAPH_TYPED, 0, 5);
        assert_right(GRAPH_LOW_A, 0);
        assert_int_equal(g->source, i ? KILN_SOURCE_STORE : KILN_SOURCE_BUILT);
        for (int k = GRAPH_LOW_A; k <= GRAPH_TYPED; k++)
            assert_int_equal(g->frontends[k].inferred[0], i ? 0 : 1);
        end();
    }
}

/* ---- failures ---- */

static void a_failure_ends_with_an_edit_of_another_frontend(void **state)
{
    const graph_definition broken = {.fails = 1};
    uint64_t value = 0;

    (void)state;
    begin(0, GRAPH_HOLD);
    assert_ok(graph_define(g, GRAPH_TYPED, 0, &broken, NULL));
    define_call(GRAPH_LOW_A, 0, 1, GRAPH_TYPED, 0);
    for (int i = 0; i < 2; i++)
        assert_fails(KILN_ECOMPILE, "typed.f0 has an error",
                     graph_run(&value, g, GRAPH_LOW_A, 0, 0, &test_error));
    assert_int_equal(g->frontends[GRAPH_LOW_A].inferred[0], 1);
    define(GRAPH_TYPED, 0, 3);
    assert_right(GRAPH_LOW_A, 0);
    end();
}

static void what_went_without_a_callee_finds_it_later(void **state)
{
    const graph_definition broken = {.fails = 1};
    const graph_definition calls = {
        .number = 1,
        .forgives = 1,
        .edge_count = 2,
        .edges = {{0, GRAPH_TYPED, 0, 0}, {1, GRAPH_LOW_B, 0, 0}}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        begin(1, GRAPH_ALL);
        assert_ok(graph_define(g, GRAPH_LOW_A, 0, &calls, NULL));
        assert_ok(graph_define(g, GRAPH_TYPED, 0, &broken, NULL));
        assert_ok(graph_define(g, GRAPH_LOW_B, 0, &broken, NULL));
        assert_right(GRAPH_LOW_A, 0);
        assert_right(GRAPH_LOW_A, 0);
        define(GRAPH_TYPED, 0, 3);
        assert_right(GRAPH_LOW_A, 0);
        define(GRAPH_LOW_B, 0, 3);
        assert_right(GRAPH_LOW_A, 0);
        end();
    }
}

/* Nobody recorded what the callee asked. */
static void what_went_without_a_callee_of_its_own_finds_it_later(void **state)
{
    const graph_definition broken = {.fails = 1};
    const graph_definition calls = {.number = 1,
                                    .forgives = 1,
                                    .edge_count = 1,
                                    .edges = {{0, GRAPH_LOW_A, 1, 0}}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(1, GRAPH_ALL);
        define_call(GRAPH_LOW_A, 1, 1, GRAPH_LOW_A, 2);
        assert_ok(graph_define(g, GRAPH_LOW_A, 0, &calls, NULL));
        assert_ok(graph_define(g, GRAPH_LOW_A, 2, &broken, NULL));
        assert_right(GRAPH_LOW_A, 0);
        define(GRAPH_LOW_A, 2, 5);
        assert_right(GRAPH_LOW_A, 0);
        end();
    }
}

/* The next time it is there: a result without it would be no result. */
static void what_fails_for_the_moment_is_not_gone_without(void **state)
{
    const int troubles[] = {GRAPH_IO_FAILS, GRAPH_NO_MEMORY,
                            GRAPH_SAYS_NOTHING};
    const kiln_status statuses[] = {KILN_EIO, KILN_ENOMEM, KILN_EINVAL};

    (void)state;
    for (int derives = 0; derives < 2; derives++)
        for (size_t i = 0; i < 3; i++) {
            const graph_definition calls = {
                .number = 1,
                .forgives = GRAPH_FORGIVES_ALL,
                .edge_count = 1,
                .edges = {{derives, GRAPH_TYPED, 0, 0}}};
            uint64_t value;

            begin(0, GRAPH_ALL);
            assert_ok(graph_define(g, GRAPH_LOW_A, 0, &calls, NULL));
            define(GRAPH_TYPED, 0, i + 1);
            g->frontends[GRAPH_TYPED].trouble = troubles[i];
            assert_fails(statuses[i], "",
                         graph_run(&value, g, GRAPH_LOW_A, 0, 0, &test_error));
            assert_right(GRAPH_LOW_A, 0);
            end();
        }
}

/* What is good for a moment alone is good for who derives from it then, whether
   he was at all of its frontends before or not. */
static void what_went_without_a_callee_is_derived_from(void **state)
{
    const graph_definition broken = {.fails = 1};
    const graph_definition calls = {.number = 1,
                                    .forgives = 1,
                                    .edge_count = 1,
                                    .edges = {{0, GRAPH_LANGUAGE, 0, 0}}};
    const graph_definition derives = {
        .number = 2, .edge_count = 1, .edges = {{1, GRAPH_TYPED, 0, 0}}};

    (void)state;
    for (int asks_today = 0; asks_today < 2; asks_today++) {
        begin(0, GRAPH_ALL);
        g->frontends[GRAPH_LOW_A].asks_today = asks_today;
        assert_ok(graph_define(g, GRAPH_LANGUAGE, 0, &broken, NULL));
        assert_ok(graph_define(g, GRAPH_TYPED, 0, &calls, NULL));
        assert_ok(graph_define(g, GRAPH_LOW_A, 0, &derives, NULL));
        assert_right(GRAPH_LOW_A, 0);
        define(GRAPH_LANGUAGE, 0, 3);
        assert_right(GRAPH_LOW_A, 0);
        end();
    }
}

/* ---- held worlds ---- */

static void a_held_world_is_of_its_own_frontend(void **state)
{
    kiln_frontend *frontend;
    uint64_t held = 0;

    (void)state;
    begin(0, GRAPH_HOLD);
    frontend = g->frontends[GRAPH_LOW_A].frontend;
    define(GRAPH_TYPED, 0, 1);
    define_call(GRAPH_LOW_A, 0, 1, GRAPH_TYPED, 0);
    assert_ok(kiln_world_hold(&held, frontend));
    define_call(GRAPH_LOW_A, 0, 2, GRAPH_TYPED, 0);
    for (uint64_t i = 2; i < 5; i++) {
        define(GRAPH_TYPED, 0, i);
        assert_right_at(GRAPH_LOW_A, 0, held);
        assert_right(GRAPH_LOW_A, 0);
    }
    kiln_world_release(frontend, held);
    kiln_context_collect(g->context);
    assert_right(GRAPH_LOW_A, 0);
    end();
}

/* It derives from what calls the own frontend: that, too, is of the held world,
   and so is whether it has an error. */
static void what_is_derived_elsewhere_is_of_the_held_world(void **state)
{
    const graph_definition broken = {.fails = 1};
    const graph_definition derives = {.number = 1,
                                      .forgives = 1,
                                      .edge_count = 1,
                                      .edges = {{1, GRAPH_LOW_A, 0, 0}}};
    kiln_frontend *frontend;
    uint64_t held = 0;

    (void)state;
    begin(0, GRAPH_HOLD);
    frontend = g->frontends[GRAPH_LOW_B].frontend;
    define(GRAPH_LOW_B, 1, 1);
    define_call(GRAPH_LOW_A, 0, 2, GRAPH_LOW_B, 1);
    assert_ok(graph_define(g, GRAPH_LOW_B, 0, &derives, NULL));
    assert_ok(kiln_world_hold(&held, frontend));
    define(GRAPH_LOW_B, 1, 3);
    assert_right_at(GRAPH_LOW_B, 0, held);
    assert_right(GRAPH_LOW_B, 0);
    define(GRAPH_LOW_A, 0, 4);
    define_call(GRAPH_LOW_A, 0, 5, GRAPH_LOW_B, 1);
    assert_ok(graph_define(g, GRAPH_LOW_B, 1, &broken, NULL));
    assert_right(GRAPH_LOW_B, 0);
    assert_right_at(GRAPH_LOW_B, 0, held);
    kiln_world_release(frontend, held);
    end();
}

/* ---- cycles ---- */

static void a_cycle_through_two_frontends_ends_as_a_whole(void **state)
{
    const kiln_code *a, *b;

    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(1, GRAPH_ALL);
        drift(GRAPH_LOW_B, 7);
        define_call(GRAPH_LOW_A, 0, 1, GRAPH_LOW_B, 0);
        define_call(GRAPH_LOW_B, 0, 1, GRAPH_LOW_A, 0);
        assert_right(GRAPH_LOW_A, 0);
        assert_right(GRAPH_LOW_B, 0);
        assert_ok(graph_infer(&a, g, GRAPH_LOW_A, 0, 0, &test_error));
        assert_ok(graph_infer(&b, g, GRAPH_LOW_B, 0, 0, &test_error));
        define_call(GRAPH_LOW_B, 0, 2 + (uint64_t)i, GRAPH_LOW_A, 0);
        assert_false(kiln_code_is_valid(a) || kiln_code_is_valid(b));
        assert_right(GRAPH_LOW_A, 0);
        assert_right(GRAPH_LOW_B, 0);
        kiln_context_collect(g->context);
        assert_right(GRAPH_LOW_A, 0);
        end();
    }
}

/* ---- definitions in between ---- */

static void redefine_typed(graph_frontend *f, int function)
{
    int *turn = f->hook_data;

    (void)function;
    if (++*turn <= 3)
        define(GRAPH_TYPED, 0, (uint64_t)(*turn + 100));
}

/* A program of which one part is old and the other new is nobody's. */
/* f2 is stored. It calls f1, which is not any more and calls f0 around it: what
   is loaded relies on nothing that is being inferred, be that there before or
   because of it. */
static void a_stored_part_of_a_cycle_that_was_edited_is_inferred(void **state)
{
    graph_definition calls = {
        .edges = {{0, GRAPH_LOW_A, 2, 0}, {0, GRAPH_LOW_A, 2, 0}}};

    (void)state;
    for (uint64_t i = 0; i < 6; i++) {
        begin(1, GRAPH_ALL);
        calls.number = i;
        calls.edge_count = i % 2 ? 2 : 1;
        calls.edges[0].function = i % 2 ? 1 : 2;
        calls.edges[1].function = 2;
        assert_ok(graph_define(g, GRAPH_LOW_A, 0, &calls, NULL));
        define_call(GRAPH_LOW_A, 1, i / 2, GRAPH_LOW_A, 0);
        define_call(GRAPH_LOW_A, 2, 8, GRAPH_LOW_A, 1);
        assert_right(GRAPH_LOW_A, 0);
        assert_right(GRAPH_LOW_A, 2);
        end();
    }
}

static void one_inference_sees_one_world_of_each_frontend(void **state)
{
    const graph_definition both = {
        .number = 1,
        .edge_count = 2,
        .edges = {{0, GRAPH_TYPED, 0, 0}, {0, GRAPH_LOW_B, 0, 0}}};
    uint64_t before;
    int turn = 0;

    (void)state;
    begin(1, GRAPH_ALL);
    define(GRAPH_TYPED, 0, 1);
    assert_ok(graph_define(g, GRAPH_LOW_A, 0, &both, NULL));
    define_call(GRAPH_LOW_B, 0, 1, GRAPH_TYPED, 0);
    before = expected_at(GRAPH_LOW_A, 0, 0);
    g->frontends[GRAPH_LOW_B].hook = redefine_typed;
    g->frontends[GRAPH_LOW_B].hook_data = &turn;
    assert_int_equal(run_at(GRAPH_LOW_A, 0, 0), before);
    assert_int_equal(turn, 1);
    while (turn < 4)
        (void)run_at(GRAPH_LOW_A, 0, 0);
    assert_right(GRAPH_LOW_A, 0);
    end();
}

static void a_definition_during_inference_is_not_missed(void **state)
{
    static const int hooked[] = {GRAPH_LOW_A, GRAPH_LOW_B, GRAPH_TYPED};

    (void)state;
    for (size_t i = 0; i < sizeof hooked / sizeof *hooked; i++) {
        int turn = 0;

        begin(1, GRAPH_ALL);
        define_call(GRAPH_LOW_A, 0, 1, GRAPH_LOW_B, 0);
        define_call(GRAPH_LOW_B, 0, 1, GRAPH_TYPED, 0);
        define(GRAPH_TYPED, 0, 1);
        g->frontends[hooked[i]].hook = redefine_typed;
        g->frontends[hooked[i]].hook_data = &turn;
        for (int k = 0; k < 4; k++)
            (void)run_at(GRAPH_LOW_A, 0, 0);
        assert_right(GRAPH_LOW_A, 0);
        g->frontends[hooked[i]].hook = NULL;
        define(GRAPH_TYPED, 0, 55);
        assert_right(GRAPH_LOW_A, 0);
        end();
    }
}

/* ---- threads ---- */

#define ROUNDS 60

typedef struct crowd {
    thread_report report;
    int next;
} crowd;

/* One defines in each frontend, two infer what goes through all of them. */
static void *define_or_infer(void *argument)
{
    crowd *c = argument;
    const int number = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED);
    static const int called[] = {GRAPH_LOW_B, GRAPH_TYPED};

    for (int i = 0; i < ROUNDS; i++) {
        const graph_definition d = {
            .number = (uint64_t)i,
            .edge_count = number < 2,
            .edges = {{number == 1, called[number % 2], 0, 0}}};
        const kiln_code *code = NULL;
        kiln_error *error = NULL;

        if (number < 3) {
            thread_assert_ok(&c->report, graph_define(g, number, 0, &d, NULL));
            continue;
        }
        thread_assert_ok(&c->report,
                         graph_infer(&code, g, GRAPH_LOW_A, 0, 0, &error));
        thread_assert(&c->report, code != NULL);
        kiln_error_free(error);
    }
    return NULL;
}

static void threads_define_in_all_frontends_while_others_infer(void **state)
{
    crowd c = {.report = THREAD_REPORT_INIT};

    (void)state;
    begin(1, GRAPH_ALL);
    define(GRAPH_TYPED, 0, 1);
    define(GRAPH_LOW_B, 0, 1);
    define_call(GRAPH_LOW_A, 0, 1, GRAPH_LOW_B, 0);
    harness_run_threads(5, define_or_infer, &c);
    assert_threads_ok(&c.report);
    assert_right(GRAPH_LOW_A, 0);
    assert_right(GRAPH_LOW_B, 0);
    assert_right(GRAPH_TYPED, 0);
    kiln_context_collect(g->context);
    assert_right(GRAPH_LOW_A, 0);
    end();
}

static int setup(void **state)
{
    const int status = temporary_folder_setup(state);

    folder = *state;
    g = malloc(sizeof *g);
    return status || !g;
}

static int teardown(void **state)
{
    free(g);
    return temporary_folder_teardown(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_world_that_does_not_exist_yet_is_refused),
        TEST(a_world_that_has_passed_is_refused_unless_it_is_held),
        TEST(the_current_world_need_not_be_held),
        TEST(a_callee_is_inferred_in_a_world_of_its_own_frontend),
        TEST(a_call_of_the_kernel_language_sees_what_is_defined),
        TEST(an_edit_ends_who_calls_it_from_elsewhere),
        TEST(an_edit_of_another_frontend_is_seen_from_the_disk),
        TEST(what_is_stored_across_frontends_is_found_again),
        TEST(a_failure_ends_with_an_edit_of_another_frontend),
        TEST(what_went_without_a_callee_finds_it_later),
        TEST(what_went_without_a_callee_of_its_own_finds_it_later),
        TEST(what_fails_for_the_moment_is_not_gone_without),
        TEST(what_went_without_a_callee_is_derived_from),
        TEST(a_held_world_is_of_its_own_frontend),
        TEST(what_is_derived_elsewhere_is_of_the_held_world),
        TEST(a_cycle_through_two_frontends_ends_as_a_whole),
        TEST(a_stored_part_of_a_cycle_that_was_edited_is_inferred),
        TEST(one_inference_sees_one_world_of_each_frontend),
        TEST(a_definition_during_inference_is_not_missed),
        TEST(threads_define_in_all_frontends_while_others_infer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
