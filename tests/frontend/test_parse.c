/* test_parse.c - the trees of each construct and their places. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "support/frontend/ast_text.h"

static kiln__source *parse(const char *text)
{
    kiln__source *source = NULL;

    assert_ok(kiln__source_parse(&source, &kiln__malloc, "test.kiln", text,
                                 strlen(text), &test_error));
    return source;
}

/* The tree of `return e`'s e, and of a statement in a function. */
static void assert_expression(const char *text, const char *expected)
{
    char program[512], got[1024];
    kiln__source *source;

    snprintf(program, sizeof program, "fn f() = %s\n", text);
    source = parse(program);
    ast_text(source->definitions[0].body->children[0]->children[0], got,
             sizeof got);
    assert_string_equal(got, expected);
    kiln__source_free(source);
}

static void assert_statement(const char *text, const char *expected)
{
    char program[512], got[1024];
    kiln__source *source;

    snprintf(program, sizeof program, "fn f()\nwhile true\n%s\nend\nend\n",
             text);
    source = parse(program);
    ast_text(source->definitions[0].body->children[0]->children[1], got,
             sizeof got);
    assert_string_equal(got, expected);
    kiln__source_free(source);
}

/* ---- expressions ---- */

static void literals_and_names_are_leaves(void **state)
{
    (void)state;
    assert_expression("42", "42");
    assert_expression("0x10", "16");
    assert_expression("2.5e-1", "0.25f");
    assert_expression("true", "true");
    assert_expression("false", "false");
    assert_expression("x_1", "x_1");
    assert_expression("((x))", "x");
}

static void operators_bind_by_the_table(void **state)
{
    /* Each binds tighter than the one before it. */
    static const char *const levels[] = {"||", "&&", "==", "|", "^",
                                         "&",  "<<", "+",  "*", "**"};

    (void)state;
    for (size_t i = 0; i + 1 < sizeof levels / sizeof *levels; i++) {
        const char *loose = levels[i], *tight = levels[i + 1];
        char text[64], expected[64];

        snprintf(text, sizeof text, "a %s b %s c", loose, tight);
        snprintf(expected, sizeof expected, "(%s a (%s b c))", loose, tight);
        assert_expression(text, expected);
        snprintf(text, sizeof text, "a %s b %s c", tight, loose);
        snprintf(expected, sizeof expected, "(%s (%s a b) c)", loose, tight);
        assert_expression(text, expected);
    }
}

static void operators_of_one_level_go_from_left_to_right(void **state)
{
    static const char *const pairs[][2] = {
        {"||", "||"}, {"&&", "&&"}, {"|", "|"}, {"^", "^"},  {"&", "&"},
        {"<<", ">>"}, {"+", "-"},   {"-", "+"}, {"*", "/"},  {"/", "//"},
        {"//", "%"},  {"%", "*"},   {"-", "-"}, {">>", "<<"}};

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[64], expected[64];

        snprintf(text, sizeof text, "a %s b %s c", pairs[i][0], pairs[i][1]);
        snprintf(expected, sizeof expected, "(%s (%s a b) c)", pairs[i][1],
                 pairs[i][0]);
        assert_expression(text, expected);
    }
}

static void every_comparison_is_parsed(void **state)
{
    (void)state;
    assert_expression("a == b", "(== a b)");
    assert_expression("a != b", "(!= a b)");
    assert_expression("a < b", "(< a b)");
    assert_expression("a <= b", "(<= a b)");
    assert_expression("a > b", "(> a b)");
    assert_expression("a >= b", "(>= a b)");
    assert_expression("(a < b) == (c < d)", "(== (< a b) (< c d))");
}

static void powers_go_from_right_and_bind_tighter_than_signs(void **state)
{
    (void)state;
    assert_expression("a ** b ** c", "(** a (** b c))");
    assert_expression("-a ** b", "(- (** a b))");
    assert_expression("a ** -b", "(** a (- b))");
    assert_expression("2 ** -1 ** x", "(** 2 (- (** 1 x)))");
    assert_expression("a * b ** c", "(* a (** b c))");
    assert_expression("f(x)[0] ** 2", "(** (index (call f x) 0) 2)");
}

static void signs_bind_tighter_than_products(void **state)
{
    (void)state;
    assert_expression("-a * b", "(* (- a) b)");
    assert_expression("!a && ~b == c", "(&& (! a) (== (~ b) c))");
    assert_expression("- - !~x", "(- (- (! (~ x))))");
    assert_expression("-a.b[0]", "(- (index (. b a) 0))");
    assert_expression("a - -1", "(- a (- 1))");
}

static void choices_are_loosest_and_nest_to_the_right(void **state)
{
    (void)state;
    assert_expression("a || b ? c : d", "(? (|| a b) c d)");
    assert_expression("a ? b : c ? d : e", "(? a b (? c d e))");
    assert_expression("a ? b ? c : d : e", "(? a (? b c d) e)");
    assert_expression("a ? x + 1 : y + 2", "(? a (+ x 1) (+ y 2))");
}

static void postfix_forms_chain(void **state)
{
    (void)state;
    assert_expression("f()", "(call f)");
    assert_expression("f(a, b + 1,)", "(call f a (+ b 1))");
    assert_expression("a[i]", "(index a i)");
    assert_expression("a[i, j + 1]", "(index a i (+ j 1))");
    assert_expression("s.f.g", "(. g (. f s))");
    assert_expression("geometry.dot(a, b)", "(call (. dot geometry) a b)");
    assert_expression("f(x)(y)[z].w", "(. w (index (call (call f x) y) z))");
    assert_expression("static(3)", "(call static 3)");
    assert_expression("typeof(x)", "(call typeof x)");
}

static void parentheses_and_commas_make_tuples(void **state)
{
    (void)state;
    assert_expression("()", "(tuple)");
    assert_expression("(a,)", "(tuple a)");
    assert_expression("(a, b)", "(tuple a b)");
    assert_expression("(a, (b, c),)", "(tuple a (tuple b c))");
    assert_expression("(1, 2)[0]", "(index (tuple 1 2) 0)");
}

static void an_operator_alone_is_its_name(void **state)
{
    static const char *const names[] = {"+",  "-", "*",  "/",  "//", "%",  "**",
                                        "==", "<", "<=", ">",  ">=", "!=", "|",
                                        "^",  "&", "<<", ">>", "!",  "~"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[64], expected[64];

        snprintf(text, sizeof text, "(%s)", names[i]);
        assert_expression(text, names[i]);
        snprintf(text, sizeof text, "f(%s, x, %s)", names[i], names[i]);
        snprintf(expected, sizeof expected, "(call f %s x %s)", names[i],
                 names[i]);
        assert_expression(text, expected);
    }
    assert_expression("f(p.+, x)", "(call f (. + p) x)");
}

static void types_stand_in_expressions(void **state)
{
    (void)state;
    assert_expression("f32(x)", "(call f32 x)");
    assert_expression("Complex{f32}(1, 2)", "(call (apply Complex f32) 1 2)");
    assert_expression("zero(Vec{f32, 4})", "(call zero (apply Vec f32 4))");
    assert_expression("p.Box{T}(x)", "(call (apply (. Box p) T) x)");
    assert_expression("f(f32[:, :])", "(call f (array 2 f32))");
    assert_expression("f(f32[strided :])", "(call f (array strided 1 f32))");
}

static void newlines_in_an_expression_do_not_end_it(void **state)
{
    (void)state;
    assert_expression("a +\n b *\n c", "(+ a (* b c))");
    assert_expression("f(a\n, b\n)", "(call f a b)");
    assert_expression("c ?\n a :\n b", "(? c a b)");
    assert_expression("\n x", "x");
}

/* ---- statements ---- */

static void assignments_have_target_value_and_type(void **state)
{
    (void)state;
    assert_statement("x = 1", "(block (= x 1 -))");
    assert_statement("x: f32 = 1", "(block (= x 1 f32))");
    assert_statement("x :: f32[:] = y", "(block (= x y (array 1 f32)))");
    assert_statement("a[i, j] = b", "(block (= (index a i j) b -))");
    assert_statement("s.f = b", "(block (= (. f s) b -))");
    assert_statement("s.v[0] = b", "(block (= (index (. v s) 0) b -))");
}

static void every_operator_has_its_assignment(void **state)
{
    static const char *const operators[] = {"+", "-", "*", "/",  "//", "%",
                                            "&", "|", "^", "<<", ">>"};

    (void)state;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        char text[64], expected[64];

        snprintf(text, sizeof text, "a[i] %s= x", operators[i]);
        snprintf(expected, sizeof expected, "(block (= %s (index a i) x -))",
                 operators[i]);
        assert_statement(text, expected);
    }
}

static void tuples_are_taken_apart(void **state)
{
    (void)state;
    assert_statement("a, b = t", "(block (unpack t a b))");
    assert_statement("a, b, _ = f(x)", "(block (unpack (call f x) a b _))");
    assert_statement("a, b = (b, a)", "(block (unpack (tuple b a) a b))");
}

static void conditions_have_arms(void **state)
{
    (void)state;
    assert_statement("if a\nx = 1\nend", "(block (if a (block (= x 1 -)) -))");
    assert_statement("if a\nelse\nend", "(block (if a (block) (block)))");
    assert_statement("if a\nelseif b\nelseif c\nelse\nf()\nend",
                     "(block (if a (block) (if b (block) (if c (block) "
                     "(block (do (call f)))))))");
    assert_statement("if a; f(); else; g(); end",
                     "(block (if a (block (do (call f))) "
                     "(block (do (call g)))))");
}

static void loops_have_ranges_and_steps(void **state)
{
    (void)state;
    assert_statement("while a < b\nend", "(block (while (< a b) (block)))");
    assert_statement("for i in 0..n\nend", "(block (for i 0 n - (block)))");
    assert_statement("for i in n - 1..-1 by -2\nend",
                     "(block (for i (- n 1) (- 1) (- 2) (block)))");
    assert_statement("for i in static(0..N)\nend",
                     "(block (for i static 0 N - (block)))");
    assert_statement("for i in static(0..8) by 2\nend",
                     "(block (for i static 0 8 2 (block)))");
}

static void a_range_may_begin_with_a_static_value(void **state)
{
    (void)state;
    assert_statement("for i in static(3) + 1..n\nend",
                     "(block (for i (+ (call static 3) 1) n - (block)))");
}

static void jumps_and_returns_stand_alone(void **state)
{
    (void)state;
    assert_statement("break", "(block (break))");
    assert_statement("continue", "(block (continue))");
    assert_statement("return", "(block (return -))");
    assert_statement("return a + 1", "(block (return (+ a 1)))");
    assert_statement("return (a, b)", "(block (return (tuple a b)))");
}

static void local_arrays_have_sizes(void **state)
{
    (void)state;
    assert_statement("local t = f32[16, N * 2]",
                     "(block (local t (array 2 f32 16 (* N 2))))");
    assert_statement("local t = Complex{f32}[8]",
                     "(block (local t (array 1 (apply Complex f32) 8)))");
}

static void switches_carry_their_bit(void **state)
{
    static const struct {
        const char *word;
        unsigned flag;
    } rows[] = {
        {"fastmath", KILN__IR_FAST_ON},
        {"strict", KILN__IR_FAST_OFF | KILN__IR_CONTRACT_OFF},
        {"contract", KILN__IR_FAST_OFF | KILN__IR_CONTRACT_ON},
        {"inbounds", KILN__IR_BOUNDS_OFF},
        {"checkbounds", KILN__IR_BOUNDS_ON},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64], expected[64];

        snprintf(text, sizeof text, "%s\nf()\nend", rows[i].word);
        snprintf(expected, sizeof expected,
                 "(block (switch %u (block (do (call f)))))", rows[i].flag);
        assert_statement(text, expected);
    }
}

static void assert_and_print_take_strings(void **state)
{
    (void)state;
    assert_statement("assert(a > 0)", "(block (assert (> a 0) -))");
    assert_statement("assert(a, \"a\\\"b\")", "(block (assert a \"a\"b\"))");
    assert_statement("print()", "(block (print))");
    assert_statement("print(\"x = \", x, \"\\n\")",
                     "(block (print \"x = \" x \"\n\"))");
    assert_statement("print = 1", "(block (= print 1 -))");
    assert_statement("barrier()", "(block (do (call barrier)))");
}

/* ---- definitions ---- */

static void imports_name_packages_and_functions(void **state)
{
    kiln__source *source = parse("import geometry\n"
                                 "import geometry: dot, +\n");
    const kiln__definition *d = source->definitions;

    (void)state;
    assert_int_equal(source->definition_count, 2);
    assert_int_equal(d[0].kind, KILN__DEFINE_IMPORT);
    assert_string_equal(d[0].name, "geometry");
    assert_int_equal(d[0].name_count, 0);
    assert_int_equal(d[1].name_count, 2);
    assert_string_equal(d[1].names[0], "dot");
    assert_string_equal(d[1].names[1], "+");
    kiln__source_free(source);
}

static void constants_have_an_expression(void **state)
{
    kiln__source *source = parse("const STEPS = 4 * 2");
    char got[64];

    (void)state;
    assert_int_equal(source->definitions[0].kind, KILN__DEFINE_CONST);
    assert_string_equal(source->definitions[0].name, "STEPS");
    ast_text(source->definitions[0].body, got, sizeof got);
    assert_string_equal(got, "(* 4 2)");
    kiln__source_free(source);
}

static void types_have_parents_parameters_and_fields(void **state)
{
    kiln__source *source = parse("abstract Shape\n"
                                 "abstract Round: Shape\n"
                                 "struct Circle: geometry.Round\n"
                                 "    radius::f32; name: i64\n"
                                 "end\n"
                                 "struct Pair{T: Real, U}\n"
                                 "    first: T\n\n"
                                 "    second: Vec{U, 4}\n"
                                 "end\n"
                                 "struct Empty; end\n");
    const kiln__definition *d = source->definitions;
    char got[64];

    (void)state;
    assert_int_equal(d[0].kind, KILN__DEFINE_ABSTRACT);
    assert_null(d[0].result);
    assert_string_equal(d[1].result->text, "Shape");
    assert_int_equal(d[2].kind, KILN__DEFINE_STRUCT);
    ast_text(d[2].result, got, sizeof got);
    assert_string_equal(got, "(. Round geometry)");
    assert_int_equal(d[2].parameter_count, 2);
    assert_string_equal(d[2].parameters[1].name, "name");
    assert_int_equal(d[3].type_parameter_count, 2);
    assert_string_equal(d[3].type_parameters[0].bound->text, "Real");
    assert_null(d[3].type_parameters[1].bound);
    ast_text(d[3].parameters[1].type, got, sizeof got);
    assert_string_equal(got, "(apply Vec U 4)");
    assert_int_equal(d[4].parameter_count, 0);
    kiln__source_free(source);
}

static void functions_have_parameters_result_and_bounds(void **state)
{
    kiln__source *source =
        parse("fn half(x: f32, y) -> f32 where T: Real, N\n"
              "    return x / 2\n"
              "end\n"
              "fn geometry.+(a: Complex{T}, b::Static{-3}) = a\n");
    const kiln__definition *d = source->definitions;
    char got[128];

    (void)state;
    assert_int_equal(d[0].kind, KILN__DEFINE_FUNCTION);
    assert_false(d[0].kernel);
    assert_null(d[0].package);
    assert_int_equal(d[0].parameter_count, 2);
    assert_string_equal(d[0].parameters[0].type->text, "f32");
    assert_null(d[0].parameters[1].type);
    assert_string_equal(d[0].result->text, "f32");
    assert_int_equal(d[0].type_parameter_count, 2);
    ast_text(d[0].body, got, sizeof got);
    assert_string_equal(got, "(block (return (/ x 2)))");
    assert_string_equal(d[1].package, "geometry");
    assert_string_equal(d[1].name, "+");
    ast_text(d[1].parameters[1].type, got, sizeof got);
    assert_string_equal(got, "(apply Static (- 3))");
    ast_text(d[1].body, got, sizeof got);
    assert_string_equal(got, "(block (return a))");
    kiln__source_free(source);
}

static void kernels_and_overlays_are_functions(void **state)
{
    kiln__source *source = parse("kernel k()\nend\n"
                                 "overlay cuda fn f(x) = x\n"
                                 "overlay mine kernel k()\nend\n");
    const kiln__definition *d = source->definitions;

    (void)state;
    assert_true(d[0].kernel);
    assert_null(d[0].overlay);
    assert_int_equal(d[0].body->count, 0);
    assert_string_equal(d[1].overlay, "cuda");
    assert_false(d[1].kernel);
    assert_string_equal(d[2].overlay, "mine");
    assert_true(d[2].kernel);
    kiln__source_free(source);
}

static void every_nameable_operator_can_be_defined(void **state)
{
    static const char *const names[] = {"+",  "-", "*",  "/",  "//", "%",  "**",
                                        "==", "<", "<=", ">",  ">=", "!=", "|",
                                        "^",  "&", "<<", ">>", "!",  "~"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[64];
        kiln__source *source;

        snprintf(text, sizeof text, "fn %s(a: T, b: T) where T = a", names[i]);
        source = parse(text);
        assert_string_equal(source->definitions[0].name, names[i]);
        kiln__source_free(source);
    }
}

static void an_empty_text_defines_nothing(void **state)
{
    kiln__source *source = parse("");

    (void)state;
    assert_int_equal(source->definition_count, 0);
    kiln__source_free(source);
    source = parse("\n# only a comment\n");
    assert_int_equal(source->definition_count, 0);
    assert_int_equal(source->line_count, 3);
    kiln__source_free(source);
}

/* ---- types ---- */

static void assert_type(const char *text, const char *expected)
{
    kiln__arena arena;
    kiln__ast *type = NULL;
    char got[256];

    kiln__arena_init(&arena, &kiln__malloc);
    assert_ok(kiln__type_tree_parse(&type, &arena, text, &test_error));
    ast_text(type, got, sizeof got);
    assert_string_equal(got, expected);
    kiln__arena_dispose(&arena);
}

static void a_type_text_becomes_a_tree(void **state)
{
    (void)state;
    assert_type("f32", "f32");
    assert_type("  f32[:]\n", "(array 1 f32)");
    assert_type("f32[strided :,:,:,:]", "(array strided 4 f32)");
    assert_type("main.Complex{f32}[:, :]",
                "(array 2 (apply (. Complex main) f32))");
    assert_type("(f32, i64)", "(tuple f32 i64)");
    assert_type("(f32,)", "(tuple f32)");
    assert_type("(f32)", "f32");
    assert_type("()", "(tuple)");
    assert_type("Vec{f32,4}", "(apply Vec f32 4)");
    assert_type("Static{-7}", "(apply Static (- 7))");
    assert_type("typeof(main.f)", "(typeof (. f main))");
    assert_type("typeof(+)", "(typeof +)");
    assert_type("Type{Vec{T, N}}", "(apply Type (apply Vec T N))");
}

static void assert_no_type(const char *text, const char *message)
{
    kiln__arena arena;
    kiln__ast *type = NULL;

    kiln__arena_init(&arena, &kiln__malloc);
    assert_fails(KILN_ESYNTAX, message,
                 kiln__type_tree_parse(&type, &arena, text, &test_error));
    assert_null(type);
    kiln__arena_dispose(&arena);
}

static void a_bad_type_text_is_refused(void **state)
{
    (void)state;
    assert_no_type("", "expected a type");
    assert_no_type("f32[", "expected `:`");
    assert_no_type("f32[16]", "expected `:`");
    assert_no_type("f32[:,:,:,:,:]", "at most 4 dimensions");
    assert_no_type("f32 i32", "expected the end of the type");
    assert_no_type("Vec{f32", "expected `}`");
    assert_no_type("(f32, ", "expected a type");
    assert_no_type("fn", "expected a type");
    assert_no_type("f32\ni32", "expected the end of the type");
}

/* ---- places ---- */

static void ordinals_follow_the_source(void **state)
{
    static const char text[] = "fn f(x)\n"
                               "    a, b = g(x)\n"
                               "    y: f32 = x[0] // 2\n"
                               "    return y\n"
                               "end\n";
    kiln__source *source = parse(text);
    const kiln__definition *d = source->definitions;
    const kiln__ast *division = d->body->children[1]->children[1];

    (void)state;
    assert_int_equal(d->body->ordinal, 1);
    for (uint32_t i = 1; i < d->place_count; i++)
        assert_true(d->places[i].start >= d->places[i - 1].start);
    assert_string_equal(division->text, "//");
    assert_memory_equal(text + d->places[division->ordinal - 1].start,
                        "x[0] // 2", d->places[division->ordinal - 1].size);
    assert_int_equal(d->place_count, 17);
    kiln__source_free(source);
}

static void spans_cover_parentheses_and_whole_statements(void **state)
{
    static const char text[] = "fn f(x)\n    return (x + 1) * 2\nend";
    kiln__source *source = parse(text);
    const kiln__definition *d = source->definitions;
    const kiln__ast *product = d->body->children[0]->children[0];

    (void)state;
    assert_memory_equal(text + product->span.start, "(x + 1) * 2",
                        product->span.size);
    assert_int_equal(product->span.size, 11);
    assert_int_equal(d->span.start, 0);
    assert_int_equal(d->span.size, sizeof text - 1);
    assert_int_equal(d->name_span.start, 3);
    assert_int_equal(d->name_span.size, 1);
    kiln__source_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_and_names_are_leaves),
        cmocka_unit_test(operators_bind_by_the_table),
        cmocka_unit_test(operators_of_one_level_go_from_left_to_right),
        cmocka_unit_test(every_comparison_is_parsed),
        cmocka_unit_test(powers_go_from_right_and_bind_tighter_than_signs),
        cmocka_unit_test(signs_bind_tighter_than_products),
        cmocka_unit_test(choices_are_loosest_and_nest_to_the_right),
        cmocka_unit_test(postfix_forms_chain),
        cmocka_unit_test(parentheses_and_commas_make_tuples),
        cmocka_unit_test(an_operator_alone_is_its_name),
        cmocka_unit_test(types_stand_in_expressions),
        cmocka_unit_test(newlines_in_an_expression_do_not_end_it),
        cmocka_unit_test(assignments_have_target_value_and_type),
        cmocka_unit_test(every_operator_has_its_assignment),
        cmocka_unit_test(tuples_are_taken_apart),
        cmocka_unit_test(conditions_have_arms),
        cmocka_unit_test(loops_have_ranges_and_steps),
        cmocka_unit_test(a_range_may_begin_with_a_static_value),
        cmocka_unit_test(jumps_and_returns_stand_alone),
        cmocka_unit_test(local_arrays_have_sizes),
        cmocka_unit_test(switches_carry_their_bit),
        cmocka_unit_test(assert_and_print_take_strings),
        cmocka_unit_test(imports_name_packages_and_functions),
        cmocka_unit_test(constants_have_an_expression),
        cmocka_unit_test(types_have_parents_parameters_and_fields),
        cmocka_unit_test(functions_have_parameters_result_and_bounds),
        cmocka_unit_test(kernels_and_overlays_are_functions),
        cmocka_unit_test(every_nameable_operator_can_be_defined),
        cmocka_unit_test(an_empty_text_defines_nothing),
        cmocka_unit_test(a_type_text_becomes_a_tree),
        cmocka_unit_test(a_bad_type_text_is_refused),
        cmocka_unit_test(ordinals_follow_the_source),
        cmocka_unit_test(spans_cover_parentheses_and_whole_statements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
