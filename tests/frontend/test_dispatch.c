/* test_dispatch.c - which method a call gets. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/frontend/program.h"

#include <string.h>

#include "frontend/program/program_tables.h"

static void unannotated_parameters_take_everything(void **state)
{
    program *p = *state;

    program_define(p, "fn f(x) = x\n");

    assert_string_equal(program_pick(p, "f", "f32"), "main.f(x)");
    assert_string_equal(program_pick(p, "f", "f32[:,:]"), "main.f(x)");
    assert_string_equal(program_pick(p, "f", "(f32, i8)"), "main.f(x)");
    assert_string_equal(program_pick(p, "f", "f32; f32"), "none");
}

static void narrower_type_wins_in_any_order_of_definition(void **state)
{
    program *p = *state;

    program_define(p, "fn f(x: Real) = 1\n"
                      "fn f(x: f32) = 2\n"
                      "fn f(x) = 3\n"
                      "fn f(x: Integer) = 4\n"
                      "fn f(x: Signed) = 5\n");

    assert_string_equal(program_pick(p, "f", "f32"), "main.f(x: f32)");
    assert_string_equal(program_pick(p, "f", "f64"), "main.f(x: Real)");
    assert_string_equal(program_pick(p, "f", "u8"), "main.f(x: Integer)");
    assert_string_equal(program_pick(p, "f", "i8"), "main.f(x: Signed)");
    assert_string_equal(program_pick(p, "f", "Bool"), "main.f(x)");
}

static void crossed_methods_are_ambiguous_until_one_decides(void **state)
{
    program *p = *state;

    program_define(p, "fn f(a: f32, b) = 1\nfn f(a, b: f32) = 2\n");
    assert_string_equal(program_pick(p, "f", "f32; f32"), "ambiguous");
    assert_string_equal(program_pick(p, "f", "f32; i8"), "main.f(a: f32, b)");

    program_define(p, "fn f(a: f32, b: f32) = 3\n");
    assert_string_equal(program_pick(p, "f", "f32; f32"),
                        "main.f(a: f32, b: f32)");
}

static void repeated_parameter_means_one_type(void **state)
{
    program *p = *state;

    program_define(p, "fn f(a: T, b: T) where T = 1\n");
    assert_string_equal(program_pick(p, "f", "f32; f64"), "none");
    assert_string_equal(program_pick(p, "f", "f64; f64"),
                        "main.f(a: T, b: T) where T");

    program_define(p, "fn f(a, b) = 2\n");
    assert_string_equal(program_pick(p, "f", "f32; f64"), "main.f(a, b)");
    assert_string_equal(program_pick(p, "f", "f64; f64"),
                        "main.f(a: T, b: T) where T");
}

static void bounds_of_parameters_are_checked_and_compared(void **state)
{
    program *p = *state;

    program_define(p, "fn f(a: T[:]) where T: Float = 1\n"
                      "fn f(a: T[:]) where T = 2\n"
                      "fn f(a: f32[:]) = 3\n"
                      "fn f(a: Array) = 4\n");

    assert_string_equal(program_pick(p, "f", "f64[:]"),
                        "main.f(a: T[:]) where T: Float");
    assert_string_equal(program_pick(p, "f", "i8[:]"),
                        "main.f(a: T[:]) where T");
    assert_string_equal(program_pick(p, "f", "f32[:]"), "main.f(a: f32[:])");
    assert_string_equal(program_pick(p, "f", "f32[:,:]"), "main.f(a: Array)");
    assert_string_equal(program_pick(p, "f", "f32[strided :]"),
                        "main.f(a: Array)");
}

static void every_kind_of_type_is_told_apart(void **state)
{
    program *p = *state;

    program_define(p, "fn f(a: Vec{T,N}) where T, N = 1\n"
                      "fn f(a: Vec{f32,4}) = 2\n"
                      "fn f(a: Vec{T,4}) where T = 3\n"
                      "fn f(a: Tuple) = 4\n"
                      "fn f(a: (T, T)) where T = 5\n"
                      "fn f(a: Static{N}) where N = 6\n"
                      "fn f(a: Static{3}) = 7\n"
                      "fn f(a: Function) = 8\n"
                      "fn f(a: typeof(f)) = 9\n"
                      "fn f(a: Type{T}) where T = 10\n"
                      "fn f(a: Type{f32}) = 11\n");

    assert_string_equal(program_pick(p, "f", "Vec{i8,2}"),
                        "main.f(a: Vec{T, N}) where T, N");
    assert_string_equal(program_pick(p, "f", "Vec{f32,4}"),
                        "main.f(a: Vec{f32,4})");
    assert_string_equal(program_pick(p, "f", "Vec{f64,4}"),
                        "main.f(a: Vec{T, 4}) where T");
    assert_string_equal(program_pick(p, "f", "(f32, f64)"), "main.f(a: Tuple)");
    assert_string_equal(program_pick(p, "f", "(f32, f32)"),
                        "main.f(a: (T, T)) where T");
    assert_string_equal(program_pick(p, "f", "Static{2}"),
                        "main.f(a: Static{N}) where N");
    assert_string_equal(program_pick(p, "f", "Static{3}"),
                        "main.f(a: Static{3})");
    assert_string_equal(program_pick(p, "f", "typeof(main.f)"),
                        "main.f(a: typeof(main.f))");
    assert_string_equal(program_pick(p, "f", "Type{f64}"),
                        "main.f(a: Type{T}) where T");
    assert_string_equal(program_pick(p, "f", "Type{f32}"),
                        "main.f(a: Type{f32})");
}

static void structs_follow_their_abstract_types(void **state)
{
    program *p = *state;

    program_define(p, "abstract Shape\n"
                      "abstract Round: Shape\n"
                      "struct Circle: Round\n radius: f32\nend\n"
                      "struct Square: Shape\n side: f32\nend\n"
                      "struct Pair{A, B}\n a: A\n b: B\nend\n"
                      "fn f(x: Shape) = 1\n"
                      "fn f(x: Round) = 2\n"
                      "fn f(x: Pair) = 3\n"
                      "fn f(x: Pair{T, T}) where T = 4\n"
                      "fn f(x: Pair{f32, T}) where T = 5\n");

    assert_string_equal(program_pick(p, "f", "Circle"), "main.f(x: Round)");
    assert_string_equal(program_pick(p, "f", "Square"), "main.f(x: Shape)");
    assert_string_equal(program_pick(p, "f", "Pair{i8, u8}"),
                        "main.f(x: Pair)");
    assert_string_equal(program_pick(p, "f", "Pair{i8, i8}"),
                        "main.f(x: Pair{T, T}) where T");
    assert_string_equal(program_pick(p, "f", "Pair{f32, i8}"),
                        "main.f(x: Pair{f32, T}) where T");
    assert_string_equal(program_pick(p, "f", "Pair{f32, f32}"), "ambiguous");
}

static void methods_go_on_taking_a_redefined_struct(void **state)
{
    program *p = *state;

    program_define(p, "struct Point\n x: f32\nend\n"
                      "fn f(p: Point) = 1\nfn g(p: Point[:]) = 1\n");
    const kiln_type *before = program_type(p, "Point");

    program_define(p, "struct Point\n x: f32\n y: f32\nend\n");

    assert_ptr_not_equal(program_type(p, "Point"), before);
    assert_string_equal(program_pick(p, "f", "Point"), "main.f(p: Point)");
    assert_string_equal(program_pick(p, "g", "Point[:]"),
                        "main.g(p: Point[:])");
}

static void literals_keep_their_default_type_while_a_method_takes_it(
    void **state)
{
    program *p = *state;

    program_define(p, "fn f(x: i64) = 1\nfn f(x: f32) = 2\n");

    assert_string_equal(program_pick(p, "f", "1"), "main.f(x: i64)");
    assert_string_equal(program_pick(p, "f", "1.0"), "main.f(x: f32)");
    assert_string_equal(program_adapts(p, "f", "1.0"), "f32");
}

static void literals_adapt_to_concrete_scalars_and_bound_parameters(
    void **state)
{
    program *p = *state;

    program_define(p, "fn f(x: f32, y: i8) = 1\n"
                      "fn g(a: T, b: T) where T = 1\n"
                      "fn h(x: Bool) = 1\n"
                      "fn k(x: i32) = 1\n");

    assert_string_equal(program_adapts(p, "f", "1; 1"), "f32; i8");
    assert_string_equal(program_adapts(p, "f", "1.0; 1.0"), "none");
    assert_string_equal(program_adapts(p, "g", "f32; 1.0"), "f32; f32");
    assert_string_equal(program_adapts(p, "g", "1; u8"), "u8; u8");
    assert_string_equal(program_adapts(p, "g", "i32; 1.0"), "none");
    assert_string_equal(program_adapts(p, "h", "1"), "none");
    assert_string_equal(program_adapts(p, "k", "Static{7}"), "i32");
}

static void static_integers_decay_when_nothing_takes_them(void **state)
{
    program *p = *state;

    program_define(p, "fn f(x: i64) = 1\n"
                      "fn g(x) = 1\n"
                      "fn h(a: T[:], n: Integer) where T = 1\n");

    assert_string_equal(program_adapts(p, "f", "Static{3}"), "i64");
    assert_string_equal(program_adapts(p, "g", "Static{3}"), "Static{3}");
    assert_string_equal(program_adapts(p, "h", "f32[:]; Static{3}"),
                        "f32[:]; i64");
}

static void overlays_are_asked_in_order_before_the_global_table(void **state)
{
    program *p = *state;

    program_define(p, "fn f(x: f32) = 1\n"
                      "overlay gpu fn f(x) = 2\n"
                      "overlay mine fn f(x: Real) = 3\n");

    assert_string_equal(program_pick_at(p, "f", "f32", "host", 0),
                        "main.f(x: f32)");
    assert_string_equal(program_pick_at(p, "f", "f32", "gpu", 0),
                        "overlay gpu main.f(x)");
    assert_string_equal(program_pick_at(p, "f", "f32", "mine,gpu", 0),
                        "overlay mine main.f(x: Real)");
    assert_string_equal(program_pick_at(p, "f", "Bool", "mine,gpu", 0),
                        "overlay gpu main.f(x)");
    assert_string_equal(program_pick_at(p, "f", "f32", "min,gp", 0),
                        "main.f(x: f32)");
}

static void same_types_under_other_names_replace(void **state)
{
    program *p = *state;
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    program_define(p, "fn f(a: T, b: T[:]) where T: Real = 1\n"
                      "fn g(x) = 1\nfn v(x: Vec) = 1\n");
    program_define_in(p->main,
                      "fn f(x: S, y: S[:]) where S: Real = 2\n"
                      "fn g(x: T) where T = 2\n"
                      "fn v(x: Vec{T,N}) where T, N = 2\n",
                      &report);

    assert_int_equal(report.methods_replaced, 3);
    assert_int_equal(report.methods_added, 0);
    assert_string_equal(program_pick(p, "g", "f32"), "main.g(x: T) where T");
    kiln_change_report_dispose(&report);
}

static void a_refused_call_lists_candidates_and_reasons(void **state)
{
    program *p = *state;
    const kiln__argument argument = {program_type(p, "i8"), 0};
    kiln__binding binding;
    kiln__refusal refusal;
    kiln__match match;
    uint64_t world;

    program_define(p, "fn f(x: f32) = 1\nfn f(x, y) = 2\n");
    world = kiln__language_world(p->language);
    assert_ok(kiln__binding_find(&binding, p->main, "f", world));

    assert_status(KILN_ENOTFOUND, kiln__dispatch(&match, binding.generic,
                                                 &argument, 1, NULL, world));
    assert_ok(kiln__dispatch_explain(
        &refusal, &p->arena, KILN_ENOTFOUND, &match,
        &(kiln__dispatch_call){binding.generic, &argument, 1, NULL, world}));

    assert_string_equal(refusal.code, "no-method");
    assert_string_equal(refusal.message, "no method for f(i8)");
    assert_contains(refusal.hint, "main.f(x: f32): argument 1, `x`, is i8, "
                                  "not f32 at test.kiln:1");
    assert_contains(refusal.hint, "main.f(x, y) takes 2 arguments, not 1");
}

static void an_ambiguous_call_names_both_methods(void **state)
{
    program *p = *state;
    const kiln_type *f32 = program_type(p, "f32");
    const kiln__argument arguments[2] = {{f32, 0}, {f32, 0}};
    kiln__binding binding;
    kiln__refusal refusal;
    kiln__match match;
    uint64_t world;

    program_define(p, "fn f(a: f32, b) = 1\nfn f(a, b: f32) = 2\n");
    world = kiln__language_world(p->language);
    assert_ok(kiln__binding_find(&binding, p->main, "f", world));

    assert_status(KILN_ECOMPILE, kiln__dispatch(&match, binding.generic,
                                                arguments, 2, NULL, world));
    assert_ok(kiln__dispatch_explain(
        &refusal, &p->arena, KILN_ECOMPILE, &match,
        &(kiln__dispatch_call){binding.generic, arguments, 2, NULL, world}));

    assert_string_equal(refusal.code, "ambiguous");
    assert_contains(refusal.message, "main.f(a: f32, b)");
    assert_contains(refusal.message, "main.f(a, b: f32)");
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(unannotated_parameters_take_everything),
        TEST(narrower_type_wins_in_any_order_of_definition),
        TEST(crossed_methods_are_ambiguous_until_one_decides),
        TEST(repeated_parameter_means_one_type),
        TEST(bounds_of_parameters_are_checked_and_compared),
        TEST(every_kind_of_type_is_told_apart),
        TEST(structs_follow_their_abstract_types),
        TEST(methods_go_on_taking_a_redefined_struct),
        TEST(literals_keep_their_default_type_while_a_method_takes_it),
        TEST(literals_adapt_to_concrete_scalars_and_bound_parameters),
        TEST(static_integers_decay_when_nothing_takes_them),
        TEST(overlays_are_asked_in_order_before_the_global_table),
        TEST(same_types_under_other_names_replace),
        TEST(a_refused_call_lists_candidates_and_reasons),
        TEST(an_ambiguous_call_names_both_methods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
