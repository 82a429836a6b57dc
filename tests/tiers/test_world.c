/* test_world.c - worlds, their holders, places, and many threads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend thread */
#include "support/frontend/program.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "frontend/program/program_tables.h"
#include "kiln/compile.h"
#include "kiln/config.h"

static void every_change_makes_the_next_world(void **state)
{
    program *p = *state;
    kiln_frontend *language = kiln_context_language(p->context);
    const uint64_t world = kiln_world(language);
    const kiln_function *function;

    program_define(p, "fn f(x) = 1\nfn g(x) = 1\n");
    assert_int_equal(kiln_world(language), world + 1);
    assert_ok(kiln_package_function(&function, p->main, "f", &test_error));
    assert_ok(
        kiln_method_delete(p->main, function, "Any", NULL, NULL, &test_error));
    assert_int_equal(kiln_world(language), world + 2);
    assert_ok(kiln_package_unload(p->main, NULL, &test_error));
    assert_int_equal(kiln_world(language), world + 3);
}

static void a_held_world_goes_on_seeing_its_program(void **state)
{
    program *p = *state;
    kiln_frontend *language = kiln_context_language(p->context);
    const kiln_function *function;
    kiln__binding binding;
    uint64_t first, second;

    program_define(p, "fn f(x) = 1\nfn f(x: f32) = 2\nconst C = 1\n");
    assert_ok(kiln_world_hold(&first, language));
    program_define(p, "fn f(y) = 3\nconst D = 1\n");
    assert_ok(kiln_world_hold(&second, language));
    assert_ok(kiln_package_function(&function, p->main, "f", &test_error));
    assert_ok(
        kiln_method_delete(p->main, function, "f32", NULL, NULL, &test_error));
    assert_ok(
        kiln_method_delete(p->main, function, "Any", NULL, NULL, &test_error));

    assert_string_equal(program_pick_at(p, "f", "i8", NULL, first),
                        "main.f(x)");
    assert_string_equal(program_pick_at(p, "f", "f32", NULL, first),
                        "main.f(x: f32)");
    assert_string_equal(program_pick_at(p, "f", "i8", NULL, second),
                        "main.f(y)");
    assert_string_equal(program_pick(p, "f", "f32"), "none");
    assert_status(KILN_ENOTFOUND,
                  kiln__binding_find(&binding, p->main, "D", first));
    assert_ok(kiln__binding_find(&binding, p->main, "D", second));
    kiln_world_release(language, first);
    kiln_world_release(language, second);
}

static void an_older_world_sees_the_older_tree_of_types(void **state)
{
    program *p = *state;
    uint64_t before;

    program_define(p, "abstract A\nabstract B\nstruct S: A\n x: f32\nend\n"
                      "fn f(x: A) = 1\nfn f(x: B) = 2\n");
    before = kiln__language_world(p->language);
    program_define(p, "struct S: B\n x: f32\nend\n");

    assert_string_equal(program_pick(p, "f", "S"), "main.f(x: B)");
    assert_string_equal(program_pick_at(p, "f", "S", NULL, before),
                        "main.f(x: A)");
}

/* ---- places ---- */

static const char *label_of(program *p, const char *name, const char *type)
{
    const uint64_t world = kiln__language_world(p->language);
    const kiln__argument argument = {program_type(p, type), 0};
    kiln__binding binding;
    kiln__match match;

    assert_ok(kiln__binding_find(&binding, p->main, name, world));
    assert_ok(
        kiln__dispatch(&match, binding.generic, &argument, 1, NULL, world));
    return kiln__method_label(&p->arena, match.method);
}

static kiln_status locate(program *p, const char *label, uint32_t ordinal,
                          kiln_location *out)
{
    kiln_frontend *language = kiln_context_language(p->context);

    return language->ops.locate(language->self, label, ordinal, out);
}

static void a_moved_method_is_found_at_todays_place(void **state)
{
    program *p = *state;
    kiln_location at = {0};
    const char *label;

    program_define(p, "fn f(x)\n    return x // 2\nend\n");
    label = label_of(p, "f", "i32");
    assert_ok(locate(p, label, 1, &at));
    assert_int_equal(at.line, 2);

    program_define(p, "# a comment\n\nfn f(x)\n\n    return x // 2\nend\n");

    assert_string_equal(label_of(p, "f", "i32"), label);
    assert_ok(locate(p, label, 1, &at));
    assert_string_equal(at.file, "test.kiln");
    assert_int_equal(at.line, 5);
    assert_ok(locate(p, label, 0, &at));
    assert_int_equal(at.line, 3);
}

static void a_replaced_method_is_found_where_it_was(void **state)
{
    program *p = *state;
    kiln_location at = {0};
    const char *label;

    program_define(p, "\n\nfn f(x) = x // 2\n");
    label = label_of(p, "f", "i32");
    program_define(p, "fn f(x) = x // 3\n");

    assert_ok(locate(p, label, 1, &at));
    assert_int_equal(at.line, 3);
    assert_status(KILN_ENOTFOUND, locate(p, "main.f#0123456789abcdef", 1, &at));
    assert_status(KILN_ENOTFOUND, locate(p, "main.g", 1, &at));
    assert_status(KILN_ENOTFOUND, locate(p, "main.f#01", 1, &at));
}

static void a_moved_method_invalidates_nothing(void **state)
{
    program *p = *state;
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    program_define(p, "fn f(x) = 1\nconst C = 1\n");
    program_define_in(p->main, "\n\nfn f(x) = 1\nconst C = 1\n", &report);

    assert_int_equal(report.methods_unchanged, 1);
    assert_int_equal(report.methods_replaced, 0);
    assert_int_equal(report.invalidated_count, 0);
    kiln_change_report_dispose(&report);
}

/* ---- code instances ---- */

static const kiln_config *host_config(program *p)
{
    const kiln_config *config = NULL;

    assert_ok(kiln_config_new(&config, p->context, NULL, &test_error));
    return config;
}

static const kiln_code *infer(program *p, const char *name, uint64_t world)
{
    const kiln_type *type = program_type(p, "f32");
    kiln_signature signature = {.types = &type, .count = 1};
    const kiln_code *code = NULL;

    assert_ok(
        kiln_package_function(&signature.function, p->main, name, &test_error));
    assert_ok(kiln_infer(&code, p->context, &signature, host_config(p), world,
                         &test_error));
    return code;
}

static void a_change_invalidates_exactly_what_depends_on_it(void **state)
{
    program *p = *state;
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    const kiln_code *caller, *other;

    program_define(p, "const C = 1\n"
                      "fn f(x) = x\n"
                      "fn g(x) = f(x) + x\n"
                      "fn h(x) = x * C\n");
    caller = infer(p, "g", 0);
    other = infer(p, "h", 0);

    program_define_in(p->main, "fn f(x) = x + x\nfn unrelated(x) = x\n",
                      &report);
    assert_false(kiln_code_is_valid(caller));
    assert_true(kiln_code_is_valid(other));
    assert_int_equal(report.invalidated_count, 2);
    kiln_change_report_dispose(&report);

    program_define(p, "const C = 2\n");
    assert_false(kiln_code_is_valid(other));
}

static void a_more_specific_method_and_an_unload_invalidate(void **state)
{
    program *p = *state;
    kiln_package *lib = program_package(p, "lib");
    const kiln_code *code;

    program_define(p, "fn f(x) = x\nfn g(x) = f(x)\n");
    code = infer(p, "g", 0);
    program_define_in(lib, "import main\nfn main.f(x: f32) = x + x\n", NULL);
    assert_false(kiln_code_is_valid(code));

    code = infer(p, "g", 0);
    program_define(p, "fn f(x: i8) = x\n");
    assert_true(kiln_code_is_valid(code));
    assert_ok(kiln_package_unload(lib, NULL, &test_error));
    assert_false(kiln_code_is_valid(code));
}

static void a_shadowing_name_and_a_new_overlay_invalidate(void **state)
{
    program *p = *state;
    const kiln_code *code;

    program_define(p, "fn g(x) = rsqrt(x)\n");
    code = infer(p, "g", 0);
    program_define(p, "overlay other fn rsqrt(x: f32) = x\n");
    assert_true(kiln_code_is_valid(code));
    program_define(p, "overlay host fn rsqrt(x: f32) = x\n");
    assert_false(kiln_code_is_valid(code));

    program_define(p, "fn h(x) = exp(x)\n");
    code = infer(p, "h", 0);
    program_define_in(program_package(p, "lib"),
                      "fn exp(x: S) = x\n"
                      "struct S\n x: f32\nend\n",
                      NULL);
    assert_true(kiln_code_is_valid(code));
    program_define(p, "const exp = 1\n");
    assert_false(kiln_code_is_valid(code));
}

static void a_redefined_struct_invalidates_who_names_it(void **state)
{
    program *p = *state;
    const kiln_code *user, *other;

    program_define(p, "struct Inner\n x: f32\nend\n"
                      "struct S\n i: Inner\nend\n"
                      "fn f(x) = S(Inner(x)).i.x\nfn g(x) = x\n");
    user = infer(p, "f", 0);
    other = infer(p, "g", 0);

    program_define(p, "struct Unused\n x: f32\nend\n");
    assert_true(kiln_code_is_valid(user));
    program_define(p, "struct Inner\n x: f32\n y: Bool\nend\n"
                      "fn h(x) = x\n");

    assert_false(kiln_code_is_valid(user));
    assert_true(kiln_code_is_valid(other));
}

static void results_of_a_held_world_stay_usable(void **state)
{
    program *p = *state;
    kiln_frontend *language = kiln_context_language(p->context);
    const kiln_code *before, *after;
    uint64_t world, minimum, maximum;

    program_define(p, "fn f(x) = x\n");
    before = infer(p, "f", 0);
    assert_ok(kiln_world_hold(&world, language));
    program_define(p, "fn f(x) = x + x\n");
    after = infer(p, "f", 0);

    assert_ptr_not_equal(before, after);
    assert_ptr_equal(infer(p, "f", world), before);
    kiln_code_worlds(before, &minimum, &maximum);
    assert_true(minimum <= world && maximum == world);
    kiln_world_release(language, world);
}

static void a_root_without_a_method_lists_the_candidates(void **state)
{
    program *p = *state;
    const kiln_type *type = program_type(p, "i8");
    kiln_signature signature = {.types = &type, .count = 1};
    const kiln_diagnostic *diagnostic;
    const kiln_code *code = NULL;
    kiln_error *error = NULL;

    program_define(p, "fn f(x: f32) = x\n");
    assert_ok(
        kiln_package_function(&signature.function, p->main, "f", &test_error));
    assert_status(KILN_ECOMPILE, kiln_infer(&code, p->context, &signature,
                                            host_config(p), 0, &error));

    diagnostic = kiln_error_diagnostic(error, 0);
    assert_non_null(diagnostic);
    assert_string_equal(diagnostic->code, "no-method");
    assert_contains(diagnostic->hint, "main.f(x: f32)");
    kiln_error_free(error);
}

/* ---- threads ---- */

#define ROUNDS 200

typedef struct crowd {
    program *program;
    thread_report report;
    _Atomic int next;
    _Atomic int definers; /* still at work */
    const kiln__generic *generic;
    const kiln_type *type;
} crowd;

static void define_often(crowd *c, int number)
{
    for (int i = 0; i < ROUNDS; i++) {
        char text[160];

        snprintf(text, sizeof text,
                 "fn f(x) = %d\nfn own%d(x: S) = %d\nconst C%d = %d\n"
                 "struct S%d\n x: %s\nend\n",
                 2 * i + number, number, i, number, i, number,
                 i % 2 ? "f32" : "f64");
        thread_assert_ok(&c->report,
                         kiln_package_define(c->program->main, "t.kiln", text,
                                             strlen(text), NULL, NULL));
    }
    atomic_fetch_sub(&c->definers, 1);
}

/* Somewhere between two worlds there must never be a world without f. */
static void dispatch_often(crowd *c)
{
    const kiln__argument argument = {c->type, KILN__LITERAL_NONE};
    uint64_t last = 0;

    while (atomic_load(&c->definers) > 0) {
        const uint64_t world = kiln__language_world(c->program->language);
        kiln__binding binding;
        kiln__match first, second;

        thread_assert(&c->report, world >= last);
        thread_assert(&c->report, kiln__binding_find(&binding, c->program->main,
                                                     "S", world) == KILN_OK);
        thread_assert(&c->report, kiln__dispatch(&first, c->generic, &argument,
                                                 1, NULL, world) == KILN_OK);
        thread_assert(&c->report, kiln__dispatch(&second, c->generic, &argument,
                                                 1, NULL, world) == KILN_OK);
        thread_assert(&c->report, first.method == second.method);
        last = world;
    }
}

static void *work(void *argument)
{
    crowd *c = argument;
    const int number = atomic_fetch_add(&c->next, 1);

    if (number < 2)
        define_often(c, number);
    else
        dispatch_often(c);
    return NULL;
}

static void threads_define_while_others_dispatch(void **state)
{
    program *p = *state;
    crowd c = {.program = p, .report = THREAD_REPORT_INIT, .definers = 2};
    kiln__binding binding;
    uint64_t world;

    program_define(p, "struct S\n x: f32\nend\nfn f(x) = 0\n");
    world = kiln__language_world(p->language);
    assert_ok(kiln__binding_find(&binding, p->main, "f", world));
    c.generic = binding.generic;
    c.type = program_type(p, "S");

    harness_run_threads(4, work, &c);

    assert_threads_ok(&c.report);
    assert_int_equal(kiln__language_world(p->language), world + 2 * ROUNDS);
}

static void *start_language(void *argument)
{
    crowd *c = argument;
    kiln_package *package = NULL;

    thread_assert_ok(&c->report, kiln_package_new(&package, c->program->context,
                                                  "main", NULL));
    thread_assert(&c->report, package != NULL);
    return NULL;
}

static void threads_may_make_the_core_package_at_once(void **state)
{
    crowd c = {.report = THREAD_REPORT_INIT};
    program p = {0};

    (void)state;
    assert_ok(kiln_context_new(&p.context, NULL, &test_error));
    c.program = &p;
    harness_run_threads(4, start_language, &c);

    assert_threads_ok(&c.report);
    kiln_context_free(p.context);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_change_makes_the_next_world),
        TEST(a_held_world_goes_on_seeing_its_program),
        TEST(an_older_world_sees_the_older_tree_of_types),
        TEST(a_moved_method_is_found_at_todays_place),
        TEST(a_replaced_method_is_found_where_it_was),
        TEST(a_moved_method_invalidates_nothing),
        TEST(a_change_invalidates_exactly_what_depends_on_it),
        TEST(a_more_specific_method_and_an_unload_invalidate),
        TEST(a_shadowing_name_and_a_new_overlay_invalidate),
        TEST(a_redefined_struct_invalidates_who_names_it),
        TEST(results_of_a_held_world_stay_usable),
        TEST(a_root_without_a_method_lists_the_candidates),
        TEST(threads_define_while_others_dispatch),
        cmocka_unit_test(threads_may_make_the_core_package_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
