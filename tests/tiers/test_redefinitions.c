/* test_redefinitions.c - what is redefined for ever and never collected. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers frontend */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/program/program_tables.h"
#include "kiln.h"
#include "support/frontend/graph.h"
#include "support/frontend/program.h"
#include "support/harness.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/publish.h"
#include "tiers/worlds.h"

/*
 * Time is no measure here: what a redefinition goes through is counted, and
 * must not become more with those that came before.
 */
#define EDITS 400
#define FEW 4

static size_t length(const kiln_code *list)
{
    size_t count = 0;

    for (; list; list = list->next)
        count++;
    return count;
}

/* What a request of today's worlds looks at. */
static void assert_lookup_is_short(const kiln_code *code)
{
    const kiln__instance *instance = code->instance;

    assert_in_range(length(instance->codes), 1, FEW);
    assert_false(instance->is_vague);
    assert_in_range(instance->last_worlds.count, 0, GRAPH_COUNT);
    for (size_t i = 0; i < instance->last_worlds.count; i++) {
        const kiln__world *last = &instance->last_worlds.items[i];

        assert_true(last->number < kiln_world(last->frontend));
    }
}

/* What was gone through when a subject of it changed last: others wait for
   their own change, at which each is set aside once. */
static void assert_change_is_short(const kiln_code *code)
{
    const uint64_t world = kiln_world(code->frontend);

    for (size_t i = 0; i < code->queries.count; i++) {
        const kiln__subject *subject =
            kiln__subject_find(code->context->tiers, code->frontend,
                               code->queries.items[i].subject);

        assert_non_null(subject);
        if (subject->changed == world)
            assert_in_range(subject->codes.count, 1, 2 * FEW);
        assert_true(subject->last_ended < world);
    }
}

/* ---- the kernel language ---- */

static const kiln_code *infer(program *p, const kiln_config *config,
                              const char *name, uint64_t world)
{
    const kiln_type *type = program_type(p, "f32");
    kiln_signature signature = {NULL, &type, 1};
    const kiln_code *code = NULL;

    assert_ok(
        kiln_package_function(&signature.function, p->main, name, &test_error));
    assert_ok(
        kiln_infer(&code, p->context, &signature, config, world, &test_error));
    return code;
}

static size_t methods_seen(program *p, const char *name, uint64_t world)
{
    const kiln__argument argument = {program_type(p, "f32"),
                                     KILN__LITERAL_NONE};
    kiln__method_walk walk = {.arguments = &argument, .count = 1};
    kiln__binding binding;
    size_t count = 0;

    assert_ok(kiln__binding_find(&binding, p->main, name,
                                 kiln__language_world(p->language)));
    walk.generic = binding.generic;
    walk.world = world;
    kiln__language_read(p->language);
    kiln__method_walk_begin(&walk);
    while (kiln__method_walk_next(&walk) != NULL)
        count++;
    kiln__language_unlock(p->language);
    return count;
}

static void a_function_that_is_edited_for_ever_costs_the_same(void **state)
{
    program *p = *state;
    const kiln_config *config = NULL;
    const kiln_code *caller = NULL;
    uint64_t world;

    assert_ok(kiln_config_new(&config, p->context, NULL, &test_error));
    program_define(p, "fn g(x) = f(x)\nfn h(x) = x\n");
    for (int i = 0; i < EDITS; i++) {
        char text[80];

        snprintf(text, sizeof text, "fn f(x) = x + %d + C\nconst C = %d\n", i,
                 i);
        program_define(p, text);
        caller = infer(p, config, "g", 0);
        assert_lookup_is_short(caller);
        assert_change_is_short(caller);
        assert_change_is_short(infer(p, config, "f", 0));
    }
    world = kiln__language_world(p->language);
    for (uint64_t back = 0; back < 2; back++)
        assert_in_range(methods_seen(p, "f", world - back), 1, 2);
    assert_int_equal(caller->callees.items[0]->callers.count, 1);
}

/* Who holds a world finds what was inferred in it, and does not infer again. */
static void a_world_that_is_held_keeps_its_results(void **state)
{
    program *p = *state;
    kiln_frontend *language = kiln_context_language(p->context);
    const kiln_config *config = NULL;
    const kiln_code *first;
    uint64_t held = 0;

    assert_ok(kiln_config_new(&config, p->context, NULL, &test_error));
    program_define(p, "fn f(x) = x\n");
    assert_ok(kiln_world_hold(&held, language));
    first = infer(p, config, "f", held);
    for (int i = 0; i < EDITS; i++) {
        char text[40];

        snprintf(text, sizeof text, "fn f(x) = x + %d\n", i);
        program_define(p, text);
        assert_ptr_not_equal(infer(p, config, "f", 0), first);
        assert_ptr_equal(infer(p, config, "f", held), first);
        /* The next one who asks in that world sees it first. */
        assert_ptr_equal(first->instance->ended, first);
    }
    kiln_world_release(language, held);
}

/* ---- over frontends ---- */

static const kiln_code *graph_code(graph *g, int which)
{
    const kiln_code *code = NULL;

    assert_ok(graph_infer(&code, g, which, 0, 0, &test_error));
    return code;
}

/* One frontend, or each in turn, redefines what the next one derives from. */
static void edit_graph(graph *g, int is_chain)
{
    uint64_t asked[GRAPH_COUNT];

    for (uint64_t i = 0; i < EDITS; i++) {
        const int which = is_chain ? (int)(i % 3) : GRAPH_TYPED;
        const graph_definition d = {.number = i,
                                    .edge_count = which != GRAPH_TYPED,
                                    .edges = {{1, which + 1, 0, 0}}};
        kiln_change_report report = KILN_CHANGE_REPORT_INIT;

        for (int k = 0; k < GRAPH_LANGUAGE; k++)
            asked[k] = g->frontends[k].asked;
        assert_ok(graph_define(g, which, 0, &d, &report));
        assert_int_equal(report.invalidated_count, i ? which + 1 : 0);
        kiln_change_report_dispose(&report);
        for (int k = GRAPH_LOW_A; k <= GRAPH_TYPED; k++) {
            const kiln_code *code = graph_code(g, k);

            assert_lookup_is_short(code);
            if (k == which)
                assert_change_is_short(code);
            assert_in_range(g->frontends[k].asked - asked[k], 0, FEW);
        }
    }
}

static void what_is_derived_elsewhere_costs_the_same(void **state)
{
    graph *g = malloc(sizeof *g);

    (void)state;
    assert_non_null(g);
    for (int is_chain = 0; is_chain < 2; is_chain++) {
        assert_ok(graph_open(g, NULL, 0, &test_error));
        for (int which = GRAPH_LOW_A; which < GRAPH_TYPED; which++) {
            const graph_definition d = {.edge_count = 1,
                                        .edges = {{1, which + 1, 0, 0}}};

            assert_ok(graph_define(g, which, 0, &d, NULL));
        }
        edit_graph(g, is_chain);
        graph_close(g);
    }
    free(g);
}

#define WITH(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(a_function_that_is_edited_for_ever_costs_the_same),
        WITH(a_world_that_is_held_keeps_its_results),
        cmocka_unit_test(what_is_derived_elsewhere_costs_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
