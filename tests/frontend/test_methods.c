/* test_methods.c - functions with so many methods that they are looked up. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/frontend/program.h"

#include <stdio.h>
#include <string.h>

#include "frontend/program/program_tables.h"
#include "kiln/config.h"
#include "kiln/context.h"

#define MANY 60

/* ---- texts ---- */

/* Writes the number wherever the pattern has `#`. */
static void add(kiln__text *text, const char *pattern, int number)
{
    for (; *pattern; pattern++)
        if (*pattern == '#')
            kiln__text_format(text, "%d", number);
        else
            kiln__text_add_n(text, pattern, 1);
    assert_false(text->failed);
}

static void add_many(kiln__text *text, const char *format)
{
    for (int i = 0; i < MANY; i++)
        add(text, format, i);
}

static kiln__text text_new(const program *p)
{
    kiln__text text;

    kiln__text_init(&text, p->arena.alloc);
    return text;
}

static void define_text(program *p, kiln__text *text,
                        kiln_change_report *report)
{
    program_define_in(p->main, text->bytes, report);
    kiln__text_dispose(text);
}

static void define_many(program *p, const char *format)
{
    kiln__text text = text_new(p);

    add_many(&text, format);
    define_text(p, &text, NULL);
}

/* Numbered arguments give what is numbered alike. */
static void picks(program *p, const char *arguments, const char *method)
{
    for (int i = 0; i < MANY; i++) {
        kiln__text asked = text_new(p), expected = text_new(p);

        add(&asked, arguments, i);
        add(&expected, method, i);
        assert_string_equal(program_pick(p, "f", asked.bytes), expected.bytes);
        kiln__text_dispose(&asked);
        kiln__text_dispose(&expected);
    }
}

#define STRUCTS "struct S#\n x: f32\nend\n"

/* ---- what a call gets ---- */

static void a_call_finds_its_method_by_any_parameter(void **state)
{
    program *p = *state;

    define_many(p, STRUCTS);
    define_many(p, "fn f(s: S#) = 1\n");
    define_many(p, "fn f(a, s: S#) = 1\n");
    define_many(p, "fn f(a: f32, b: f32, s: S#) = 1\n");
    define_many(p, "fn f(a: T, b: T, s: S#, d: Real) where T = 1\n");

    picks(p, "S#", "main.f(s: S#)");
    picks(p, "f64; S#", "main.f(a, s: S#)");
    picks(p, "f32; f32; S#", "main.f(a: f32, b: f32, s: S#)");
    picks(p, "i8; i8; S#; f64", "main.f(a: T, b: T, s: S#, d: Real) where T");
    assert_string_equal(program_pick(p, "f", "f32"), "none");
    assert_string_equal(program_pick(p, "f", "f32; f64; S1"), "none");
    assert_string_equal(program_pick(p, "f", "i8; f32; S1; f64"), "none");
}

static void a_call_finds_types_made_of_others(void **state)
{
    program *p = *state;

    define_many(p, STRUCTS);
    define_many(p, "fn f(s: S#[:]) = 1\n");
    define_many(p, "fn f(s: S#[strided :]) = 1\n");
    define_many(p, "fn f(s: (S#, f32)) = 1\n");
    define_many(p, "fn f(s: (S#, f64)) = 1\n");
    define_many(p, "fn f(s: Type{S#}) = 1\n");
    define_many(p, "fn f(s: Static{#}) = 1\n");
    program_define(p, "fn f(s) = 1\n");

    picks(p, "S#[:]", "main.f(s: S#[:])");
    picks(p, "S#[strided :]", "main.f(s: S#[strided :])");
    picks(p, "(S#, f32)", "main.f(s: (S#, f32))");
    picks(p, "(S#, f64)", "main.f(s: (S#, f64))");
    picks(p, "Type{S#}", "main.f(s: Type{S#})");
    picks(p, "Static{#}", "main.f(s: Static{#})");
    picks(p, "S#[:,:]", "main.f(s)");
    picks(p, "(f32, S#)", "main.f(s)");
    assert_string_equal(program_pick(p, "f", "Static{1000}"), "main.f(s)");
}

static void a_call_finds_structs_by_their_parameters(void **state)
{
    program *p = *state;

    program_define(p, "struct M{N}\n x: f32\nend\n");
    define_many(p, "fn f(s: M{#}) = 1\n");
    program_define(p, "fn f(s: M) = 1\n");

    picks(p, "M{#}", "main.f(s: M{#})");
    assert_string_equal(program_pick(p, "f", "M{1000}"), "main.f(s: M)");
}

/* The same methods are in two functions, one of which has many others. */
static void define_few_and_many(program *p, const char *methods)
{
    kiln__text text = text_new(p);

    for (const char *at = methods; *at; at = strchr(at, '\n') + 1) {
        const size_t size = (size_t)(strchr(at, '\n') - at);
        char line[512];

        snprintf(line, sizeof line, "fn few%.*s = 1\nfn many%.*s = 1\n",
                 (int)size, at, (int)size, at);
        kiln__text_add(&text, line);
    }
    add_many(&text, "fn many(a: S#, b: S#, c: S#) = 1\n");
    add_many(&text, "fn many(a: S#) = 1\n");
    add_many(&text, "fn many(a: S#[:,:,:], b: S#[:,:,:]) = 1\n");
    add_many(&text, "fn many(a: (S#, S#), b) = 1\n");
    define_text(p, &text, NULL);
}

static void assert_alike(program *p, const char *arguments)
{
    const char *few = program_adapts(p, "few", arguments);
    const char *many = program_adapts(p, "many", arguments);

    assert_string_equal(many, few);
    few = program_pick(p, "few", arguments);
    many = program_pick(p, "many", arguments);
    if (strncmp(few, "main.few", 8) == 0) {
        assert_true(strncmp(many, "main.many", 9) == 0);
        few += 8;
        many += 9;
    }
    assert_string_equal(many, few);
}

static void among_many_a_call_gets_what_it_gets_among_few(void **state)
{
    static const char *const one[] = {"f32",   "f64",       "i8",      "1",
                                      "1.0",   "Static{3}", "S1",      "S2",
                                      "S3[:]", "Type{S1}",  "(S1, i8)"};
    program *p = *state;

    define_many(p, STRUCTS);
    define_few_and_many(p, "(a: f32, b: f64)\n"
                           "(a: f32, b)\n"
                           "(a, b: f32)\n"
                           "(a: T, b: T) where T: Real\n"
                           "(a: i8, b: Integer)\n"
                           "(a: T, b: i16) where T: i8\n"
                           "(a: Static{3}, b)\n"
                           "(a: S1, b)\n"
                           "(a: S1, b: f32)\n"
                           "(a, b: S2)\n"
                           "(a: S3[:], b: T) where T\n"
                           "(a: Type{S1}, b: Static{3})\n"
                           "(a: (S1, i8), b: u8)\n"
                           "(a: Tuple, b)\n");

    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        for (size_t j = 0; j < sizeof one / sizeof *one; j++) {
            char arguments[64];

            snprintf(arguments, sizeof arguments, "%s; %s", one[i], one[j]);
            assert_alike(p, arguments);
        }
}

static void an_ambiguous_call_among_many_names_the_newest(void **state)
{
    const kiln__argument arguments[] = {{program_type(*state, "f32"), 0},
                                        {program_type(*state, "f32"), 0}};
    program *p = *state;
    kiln__binding binding;
    kiln__match match;
    uint64_t world;

    define_many(p, STRUCTS);
    define_many(p, "fn f(a: S#, b) = 1\n");
    program_define(p, "fn f(a: f32, b) = 1\nfn f(a, b: f32) = 2\n");
    world = kiln__language_world(p->language);
    assert_ok(kiln__binding_find(&binding, p->main, "f", world));

    assert_status(KILN_ECOMPILE, kiln__dispatch(&match, binding.generic,
                                                arguments, 2, NULL, world));
    assert_string_equal(kiln__method_text(&p->arena, match.method),
                        "main.f(a, b: f32)");
    assert_string_equal(kiln__method_text(&p->arena, match.other),
                        "main.f(a: f32, b)");
}

/* Every set of five parameters decides about some method. */
static void any_set_of_parameters_may_decide(void **state)
{
    program *p = *state;
    kiln__text text = text_new(p);

    program_define(p, "struct S\n x: f32\nend\n");
    for (unsigned set = 0; set < 32; set++) {
        kiln__text_add(&text, "fn f(");
        for (int i = 0; i < 5; i++)
            add(&text, (set >> i & 1) ? "p#: S, " : "p#, ", i);
        kiln__text_add(&text, "last) = 1\n");
    }
    define_text(p, &text, NULL);

    for (unsigned set = 0; set < 32; set++) {
        kiln__text asked = text_new(p), expected = text_new(p);

        kiln__text_add(&expected, "main.f(");
        for (int i = 0; i < 5; i++) {
            kiln__text_add(&asked, (set >> i & 1) ? "S; " : "f32; ");
            add(&expected, (set >> i & 1) ? "p#: S, " : "p#, ", i);
        }
        kiln__text_add(&asked, "i8");
        kiln__text_add(&expected, "last)");
        assert_string_equal(program_pick(p, "f", asked.bytes), expected.bytes);
        kiln__text_dispose(&asked);
        kiln__text_dispose(&expected);
    }
}

static void overlays_are_asked_first_among_many(void **state)
{
    program *p = *state;

    define_many(p, STRUCTS);
    define_many(p, "fn f(s: S#) = 1\n");
    define_many(p, "overlay one fn f(s: S#) = 2\n");
    program_define(p, "overlay two fn f(t: S7) = 3\n");

    assert_string_equal(program_pick_at(p, "f", "S7", "two,one", 0),
                        "overlay two main.f(t: S7)");
    assert_string_equal(program_pick_at(p, "f", "S8", "two", 0),
                        "main.f(s: S8)");
    assert_string_equal(program_pick_at(p, "f", "f32", "two,one", 0), "none");
}

/* ---- which method is replaced ---- */

static void assert_changes(kiln_change_report *report, unsigned added,
                           unsigned replaced, unsigned unchanged)
{
    assert_int_equal(report->methods_added, added);
    assert_int_equal(report->methods_replaced, replaced);
    assert_int_equal(report->methods_unchanged, unchanged);
    assert_int_equal(report->methods_removed, 0);
    kiln_change_report_dispose(report);
}

static void defined(program *p, const char *format, unsigned added,
                    unsigned replaced, unsigned unchanged)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    kiln__text text = text_new(p);

    add_many(&text, format);
    define_text(p, &text, &report);
    assert_changes(&report, added, replaced, unchanged);
}

static void a_redefinition_finds_the_same_methods_to_and_fro(void **state)
{
    program *p = *state;

    define_many(p, STRUCTS);
    defined(p, "fn f(s: S#, t) = 1\n", MANY, 0, 0);
    for (int i = 0; i < 3; i++) {
        defined(p, "fn f(s: S#, t) = 2\n", 0, MANY, 0);
        defined(p, "fn f(s: S#, t) = 2\n", 0, 0, MANY);
        defined(p, "\nfn f(s: S#, t) = 2\n", 0, 0, MANY);
        defined(p, "fn f(s: S#, t: T) where T = 1\n", 0, MANY, 0);
        picks(p, "S#; f32", "main.f(s: S#, t: T) where T");
        defined(p, "fn f(r: S#, t) = 1\n", 0, MANY, 0);
        picks(p, "S#; f32", "main.f(r: S#, t)");
    }
}

static void one_of_many_is_replaced_and_the_others_stay(void **state)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    program *p = *state;

    define_many(p, STRUCTS);
    define_many(p, "fn f(s: S#) = 1\n");
    program_define_in(p->main, "fn f(other: S31) = 2\n", &report);
    assert_changes(&report, 0, 1, 0);

    for (int i = 0; i < MANY; i++) {
        char type[16], method[64];

        snprintf(type, sizeof type, "S%d", i);
        snprintf(method, sizeof method, "main.f(%s: S%d)",
                 i == 31 ? "other" : "s", i);
        assert_string_equal(program_pick(p, "f", type), method);
    }
}

static void methods_that_differ_in_one_place_are_others(void **state)
{
    program *p = *state;

    define_many(p, STRUCTS);
    defined(p, "fn f(a: S#, b: T, c: T) where T = 1\n", MANY, 0, 0);
    defined(p, "fn f(a: S#, b: T, c: U) where T, U = 1\n", MANY, 0, 0);
    defined(p, "fn f(a: S#, b: T, c: T) where T: Real = 1\n", MANY, 0, 0);
    defined(p, "fn f(a: S#, b: T, c: T[:]) where T = 1\n", MANY, 0, 0);
    defined(p, "fn f(a: S#, b: T, c: T[:,:]) where T = 1\n", MANY, 0, 0);
    defined(p, "overlay o fn f(a: S#, b: T, c: T) where T = 1\n", MANY, 0, 0);
    defined(p, "fn f(x: S#, y: V, z: V) where V = 1\n", 0, MANY, 0);
    defined(p, "fn f(x: S#, y, z) = 1\n", 0, MANY, 0);
    defined(p, "fn f(x: S#, y: V, z: V[:]) where V = 1\n", 0, MANY, 0);
    defined(p, "fn f(x: T, y: V, z: W) where T: S#, V, W = 1\n", 0, MANY, 0);
}

static void parts_of_types_tell_methods_apart(void **state)
{
    static const char *const wider[] = {
        "fn f(a: Vec) = 1\n", "fn f(a: Static) = 1\n", "fn f(a: Type) = 1\n",
        "fn f(a: P) = 1\n"};
    static const char *const same[] = {"fn f(b: Vec{T,N}) where T, N = 1\n",
                                       "fn f(b: Static{N}) where N = 1\n",
                                       "fn f(b: Type{T}) where T = 1\n",
                                       "fn f(b: P{A,B}) where A, B = 1\n"};
    program *p = *state;

    program_define(p, "struct P{A, B}\n a: A\n b: B\nend\n");
    define_many(p, STRUCTS);
    defined(p, "fn f(a: S#[:]) = 1\n", MANY, 0, 0);
    defined(p, "fn f(a: Type{S#}) = 1\n", MANY, 0, 0);
    defined(p, "fn f(a: P{S#, T}) where T = 1\n", MANY, 0, 0);
    defined(p, "fn f(a: P{T, S#}) where T = 1\n", MANY, 0, 0);
    defined(p, "fn f(a: (S#, T)) where T = 1\n", MANY, 0, 0);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        kiln_change_report report = KILN_CHANGE_REPORT_INIT;

        program_define_in(p->main, wider[i], &report);
        assert_changes(&report, 1, 0, 0);
        program_define_in(p->main, same[i], &report);
        assert_changes(&report, 0, 1, 0);
    }
    defined(p, "fn f(b: P{S#, U}) where U = 1\n", 0, MANY, 0);
    defined(p, "fn f(b: T[:]) where T: S# = 1\n", 0, MANY, 0);
    defined(p, "fn f(b: (S#, U)) where U = 1\n", 0, MANY, 0);
}

static void a_refused_text_leaves_no_method_behind(void **state)
{
    program *p = *state;
    kiln__text text = text_new(p);

    define_many(p, STRUCTS);
    add_many(&text, "fn f(s: S#) = 1\n");
    kiln__text_add(&text, "fn f(s: S3) = 2\n");
    program_refuse(p, "duplicate-definition", text.bytes);
    kiln__text_dispose(&text);
    defined(p, "fn f(s: S#) = 1\n", MANY, 0, 0);

    text = text_new(p);
    add_many(&text, "fn f(s: S#) = 2\nfn f(s: S#[:]) = 2\n");
    kiln__text_add(&text, "fn g(s: Unknown) = 2\n");
    program_refuse(p, "unknown-type", text.bytes);
    kiln__text_dispose(&text);
    picks(p, "S#", "main.f(s: S#)");
    assert_string_equal(program_pick(p, "f", "S3[:]"), "none");
    defined(p, "fn f(s: S#) = 2\n", 0, MANY, 0);
    defined(p, "fn f(s: S#[:]) = 2\n", MANY, 0, 0);
}

/* ---- worlds ---- */

static void delete_many(program *p, const char *types)
{
    const kiln_function *function;

    assert_ok(kiln_package_function(&function, p->main, "f", &test_error));
    for (int i = 0; i < MANY; i++) {
        kiln__text text = text_new(p);

        add(&text, types, i);
        assert_ok(kiln_method_delete(p->main, function, text.bytes, NULL, NULL,
                                     &test_error));
        kiln__text_dispose(&text);
    }
}

static void a_held_world_sees_what_many_methods_were(void **state)
{
    program *p = *state;
    kiln_frontend *language = kiln_context_language(p->context);
    uint64_t first, second;

    define_many(p, STRUCTS);
    define_many(p, "fn f(a: S#) = 1\n");
    assert_ok(kiln_world_hold(&first, language));
    define_many(p, "fn f(b: S#) = 2\nfn f(b: S#[:]) = 2\n");
    assert_ok(kiln_world_hold(&second, language));
    delete_many(p, "S#");
    picks(p, "S#", "none");
    define_many(p, "fn f(c: S#) = 3\n");

    assert_string_equal(program_pick_at(p, "f", "S9", NULL, first),
                        "main.f(a: S9)");
    assert_string_equal(program_pick_at(p, "f", "S9[:]", NULL, first), "none");
    assert_string_equal(program_pick_at(p, "f", "S9", NULL, second),
                        "main.f(b: S9)");
    picks(p, "S#", "main.f(c: S#)");
    picks(p, "S#[:]", "main.f(b: S#[:])");
    kiln_world_release(language, first);
    kiln_world_release(language, second);
    kiln_context_collect(p->context);
    delete_many(p, "S#");
    delete_many(p, "S#[:]");
    define_many(p, "fn f(d: S#) = 4\n");
    picks(p, "S#", "main.f(d: S#)");
    picks(p, "S#[:]", "none");
}

static void a_redefined_struct_is_taken_by_the_same_of_many(void **state)
{
    program *p = *state;

    define_many(p, STRUCTS);
    define_many(p, "fn f(s: S#, t: (S#, i8)) = 1\n");
    define_many(p, "struct S#\n y: f64\nend\n");

    picks(p, "S#; (S#, i8)", "main.f(s: S#, t: (S#, i8))");
    defined(p, "fn f(s: S#, t: (S#, i8)) = 2\n", 0, MANY, 0);
}

/* How many parameters a pattern names is part of it: among few and many the
   old method is not the new one. */
static void a_struct_with_more_parameters_is_another(void **state)
{
    static const char *const names[] = {"few", "many"};
    program *p = *state;
    char text[128];

    program_define(p, "struct M{T}\n x: f32\nend\n");
    define_many(p, STRUCTS);
    define_many(p, "fn many(s: S#) = 1\n");
    program_define(p, "fn few(s: M{i32}) = 1\nfn many(s: M{i32}) = 1\n");
    program_define(p, "struct M{T, U}\n x: f32\nend\n");

    for (size_t i = 0; i < 2; i++) {
        kiln_change_report report = KILN_CHANGE_REPORT_INIT;

        (void)snprintf(text, sizeof text, "fn %s(s: M{i32, U}) where U = 2\n",
                       names[i]);
        program_define_in(p->main, text, &report);
        assert_changes(&report, 1, 0, 0);
        assert_non_null(
            strstr(program_pick(p, names[i], "M{i32, f32}"), "M{i32, U}"));
    }
}

/* ---- without memory ---- */

static kiln_status define_in(kiln_package *package, const char *text,
                             kiln_change_report *report)
{
    return kiln_package_define(package, "t.kiln", text, strlen(text), report,
                               NULL);
}

/* What has no memory for tables is found all the same. */
static kiln_status define_with_failures(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    kiln_status status;

    options.alloc = alloc;
    failing_alloc_hold(alloc, 1);
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(define_in(package, "fn f(a: i8) = 1\nfn g(x) = f(x)\n", NULL));
    failing_alloc_hold(alloc, 0);
    status = define_in(package, env, &report);
    failing_alloc_hold(alloc, 1);
    if (status == KILN_OK) {
        assert_changes(&report, 39, 1, 0);
        report = (kiln_change_report)KILN_CHANGE_REPORT_INIT;
    }
    assert_ok(define_in(package, env, &report));
    assert_int_equal(report.methods_unchanged, status == KILN_OK ? 40 : 0);
    assert_int_equal(report.methods_replaced, status == KILN_OK ? 0 : 1);
    kiln_change_report_dispose(&report);
    kiln_context_free(context);
    return status;
}

static void methods_need_no_memory_for_their_tables(void **state)
{
    program *p = *state;
    kiln__text text = text_new(p);

    kiln__text_add(&text, "fn f(a: i8) = 2\n");
    for (int i = 0; i < 39; i++)
        add(&text, "fn f(a: Static{#}) = 1\n", i);
    assert_survives_failing_alloc(define_with_failures, text.bytes);
    kiln__text_dispose(&text);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_finds_its_method_by_any_parameter),
        TEST(a_call_finds_types_made_of_others),
        TEST(a_call_finds_structs_by_their_parameters),
        TEST(among_many_a_call_gets_what_it_gets_among_few),
        TEST(an_ambiguous_call_among_many_names_the_newest),
        TEST(any_set_of_parameters_may_decide),
        TEST(overlays_are_asked_first_among_many),
        TEST(a_redefinition_finds_the_same_methods_to_and_fro),
        TEST(one_of_many_is_replaced_and_the_others_stay),
        TEST(methods_that_differ_in_one_place_are_others),
        TEST(parts_of_types_tell_methods_apart),
        TEST(a_refused_text_leaves_no_method_behind),
        TEST(a_held_world_sees_what_many_methods_were),
        TEST(a_redefined_struct_is_taken_by_the_same_of_many),
        TEST(a_struct_with_more_parameters_is_another),
        TEST(methods_need_no_memory_for_their_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
