/* test_parse_errors.c - what the parser says, where, and how it goes on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>

#include "frontend/syntax/lex.h"

static kiln_error *parse_error(const char *text)
{
    kiln__source *source = NULL;
    kiln_error *error = NULL;

    assert_int_equal(kiln__source_parse(&source, &kiln__malloc, "test.kiln",
                                        text, strlen(text), &error),
                     KILN_ESYNTAX);
    assert_null(source);
    return error;
}

/* "line:column message" of every diagnostic, one a line. */
static void assert_errors(const char *text, const char *expected)
{
    kiln_error *error = parse_error(text);
    char got[4096] = "";
    size_t used = 0;

    for (size_t i = 0; i < kiln_error_diagnostic_count(error); i++) {
        const kiln_diagnostic *d = kiln_error_diagnostic(error, i);

        used +=
            (size_t)snprintf(got + used, sizeof got - used, "%u:%u %s\n",
                             d->location.line, d->location.column, d->message);
        assert_true(used < sizeof got);
    }
    assert_string_equal(got, expected);
    kiln_error_free(error);
}

/* One error, with a hint. */
static void assert_hint(const char *text, const char *message, const char *hint)
{
    kiln_error *error = parse_error(text);
    const kiln_diagnostic *d = kiln_error_diagnostic(error, 0);

    assert_int_equal(kiln_error_diagnostic_count(error), 1);
    assert_contains(d->message, message);
    assert_non_null(d->hint);
    assert_contains(d->hint, hint);
    kiln_error_free(error);
}

static void assert_statement_hint(const char *statement, const char *message,
                                  const char *hint)
{
    char text[256];

    snprintf(text, sizeof text, "fn f(x)\n    %s\nend\n", statement);
    assert_hint(text, message, hint);
}

/* ---- ends ---- */

static void a_missing_end_names_what_it_would_close(void **state)
{
    (void)state;
    assert_errors("fn f(x)\n    if x\n        return 1\n",
                  "4:1 expected `end` to close the `if` of line 2, found the "
                  "end of the text\n");
    assert_errors("kernel k(x)\n    while x\n\nfn g(x) = x\n",
                  "4:1 expected `end` to close the `while` of line 2, found "
                  "`fn`\n");
    assert_errors("struct P\n    x: f32\nfn g(x) = x\n",
                  "3:1 expected `end` to close the `struct` of line 1, found "
                  "`fn`\n");
    assert_errors("overlay cuda fn f(x)\n",
                  "2:1 expected `end` to close the `fn` of line 1, found the "
                  "end of the text\n");
}

static void indentation_tells_which_end_is_missing(void **state)
{
    (void)state;
    assert_errors("fn f(x)\n"
                  "    if x\n"
                  "        while x\n"
                  "            g()\n"
                  "    end\n"
                  "end\n",
                  "7:1 expected `end` to close the `while` of line 3, found "
                  "the end of the text\n");
}

static void a_surplus_end_closes_nothing(void **state)
{
    (void)state;
    assert_errors("fn f(x) = x\nend\nfn g() = )\n",
                  "2:1 this `end` closes nothing\n"
                  "3:10 expected an expression, found `)`\n");
}

static void an_arm_without_if_is_stepped_over(void **state)
{
    (void)state;
    assert_errors("fn f(x)\n"
                  "    while x\n"
                  "        g()\n"
                  "    else\n"
                  "        h()\n"
                  "    end\n"
                  "    if x\n    else\n    else\n    end\n"
                  "end\n",
                  "4:5 `else` belongs to no `if`\n"
                  "9:5 `else` belongs to no `if`\n");
}

/* ---- recovery ---- */

static void each_broken_statement_is_reported(void **state)
{
    (void)state;
    assert_errors("fn f(x)\n"
                  "    y = = 1\n"
                  "    z = x +\n"
                  "    a[0 = 2\n"
                  "    if x < )\n"
                  "        w = (1\n"
                  "    end\n"
                  "    return 1 2\n"
                  "end\n"
                  "fn g(x = x\n",
                  "2:9 expected an expression, found `=`\n"
                  "4:9 expected `]`, found `=`\n"
                  "5:12 expected an expression, found `)`\n"
                  "7:5 expected `)` to close the `(` of line 6, found the end "
                  "of the line\n"
                  "8:14 expected the end of the statement, found `2`\n"
                  "10:8 parameters have no default values\n");
}

static void a_broken_header_keeps_its_body(void **state)
{
    (void)state;
    assert_errors("fn f(x y)\n"
                  "    if )\n"
                  "        g(\n"
                  "    end\n"
                  "    for 3 in x\n"
                  "        h(]\n"
                  "    end\n"
                  "    while\n"
                  "    end\n"
                  "end\n"
                  "fn g() = 1\n",
                  "1:8 expected `,` or `)` after a parameter\n"
                  "2:8 expected an expression, found `)`\n"
                  "4:5 expected an expression, found the end of the line\n"
                  "5:9 expected a name for the loop's variable, found `3`\n"
                  "6:11 expected an expression, found `]`\n"
                  "8:10 expected an expression, found the end of the line\n");
}

static void broken_definitions_do_not_hide_the_next(void **state)
{
    (void)state;
    assert_errors("import 3\n"
                  "const = 4\n"
                  "abstract A: :\n"
                  "struct\n    x\n    y: f32, z: f32\n    y: f32\nend\n"
                  "overlay fn f(x) = x\n"
                  "fn 3() = 1\n"
                  "x = 1\n"
                  "if x\n    y = 1\nend\n"
                  "1.5\n"
                  "fn g(a, a) = $\n",
                  "1:8 expected the name of a package, found `3`\n"
                  "2:7 expected the name of a constant, found `=`\n"
                  "3:13 expected a type, found `:`\n"
                  "4:7 expected the name of a struct, found the end of the "
                  "line\n"
                  "5:5 the field `x` has no type\n"
                  "6:11 no comma ends a field\n"
                  "9:9 expected the name of a backend or table, found `fn`\n"
                  "10:4 expected the name of a function, found `3`\n"
                  "11:1 an assignment stands outside of all functions\n"
                  "12:1 expected a definition, found `if`\n"
                  "15:1 expected a definition, found `1.5`\n"
                  "16:9 the parameter `a` stands twice in the list\n"
                  "16:14 unexpected `$`\n");
}

static void a_forgotten_bracket_loses_one_line_only(void **state)
{
    (void)state;
    assert_errors("fn f(x)\n"
                  "    y = g(x,\n"
                  "          x\n"
                  "    z = = 2\n"
                  "    return y\n"
                  "end\n",
                  "4:5 expected `)` to close the `(` of line 2, found `z`\n"
                  "4:9 expected an expression, found `=`\n");
}

static void twenty_errors_are_enough(void **state)
{
    char text[4096] = "";
    kiln_error *error;

    (void)state;
    for (int i = 0; i < 100; i++)
        strcat(text, "fn f() = )\n");
    error = parse_error(text);
    assert_int_equal(kiln_error_diagnostic_count(error), 20);
    assert_int_equal(kiln_error_diagnostic(error, 19)->location.line, 20);
    kiln_error_free(error);
}

static void errors_come_in_the_order_of_the_text(void **state)
{
    (void)state;
    assert_errors("fn f(x)\n    x =\n    \x01\n    return )\nend\n",
                  "3:5 unexpected control character 1\n"
                  "4:12 expected an expression, found `)`\n");
}

static void an_error_shows_its_line(void **state)
{
    kiln_error *error = parse_error("fn f(x)\n\treturn 1 2\r\nend\n");
    const kiln_diagnostic *d = kiln_error_diagnostic(error, 0);
    kiln_blob text = {0};

    (void)state;
    assert_string_equal(d->source_line, "\treturn 1 2");
    assert_string_equal(d->location.file, "test.kiln");
    assert_string_equal(d->code, "unexpected-token");
    assert_int_equal(d->severity, KILN_SEVERITY_ERROR);
    assert_ok(kiln_error_render(&text, error, KILN_RENDER_PLAIN));
    assert_contains(text.data, "test.kiln:2:11: error: expected the end");
    kiln_blob_release(&text);
    kiln_error_free(error);
}

/* ---- hints ---- */

static void an_assignment_as_condition_is_hinted(void **state)
{
    (void)state;
    assert_statement_hint("if x = 1\n    end", "`=` assigns", "`==`");
    assert_statement_hint("while x = 1\n    end", "`=` assigns", "`==`");
    assert_statement_hint("y = (x = 1)", "expected `)`", "`==` compares");
    assert_statement_hint("x == 1", "not used", "`=` assigns");
}

static void misspelt_keywords_are_suggested(void **state)
{
    (void)state;
    assert_hint("kernal f(x)\nend\n", "unknown word `kernal`", "`kernel`");
    assert_hint("strcut P\n    x: f32\nend\n", "`strcut`", "`struct`");
    assert_statement_hint("retrun x", "`retrun`", "`return`");
    assert_statement_hint("whlie x\n    end", "`whlie`", "`while`");
    assert_statement_hint("while x\n    brake\n    end", "`brake`", "`break`");
    assert_statement_hint("if x\n    edn", "`edn`", "`end`");
    assert_statement_hint("if x\n    esle\n    end", "`esle`", "`else`");
}

static void assert_reserved(const char *before, const char *word,
                            const char *after)
{
    char text[128], message[64];
    kiln_error *error;
    const kiln_diagnostic *d;

    (void)snprintf(text, sizeof text, "%s%s%s", before, word, after);
    (void)snprintf(message, sizeof message, "`%s` is a reserved word", word);
    error = parse_error(text);
    d = kiln_error_diagnostic(error, 0);
    if (kiln_error_diagnostic_count(error) != 1 ||
        strcmp(d->message, message) != 0 || d->hint == NULL ||
        strstr(d->hint, "choose another name, such as `") == NULL)
        fail_msg("%zu errors, the first: %s, of:\n%s",
                 kiln_error_diagnostic_count(error), d->message, text);
    kiln_error_free(error);
}

static void a_keyword_as_a_name_is_one_error_with_another_name(void **state)
{
    static const char *const words[] = {
#define WORD(name, text) text,
        KILN__KEYWORD_MAP(WORD)
#undef WORD
    };

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_reserved("fn f(", words[i], ", y) = y\n");
        assert_reserved("fn f(y)\n    ", words[i], " = y\n    return y\nend\n");
        assert_reserved("struct P\n    ", words[i], ": f32\n    y: f32\nend\n");
    }
}

static void functions_may_have_names_of_other_languages(void **state)
{
    static const char text[] = "fn done(x) = x\n"
                               "fn pass(x) = x\n"
                               "kernel f(x, int, half)\n"
                               "    done(x)\n"
                               "    pass(x)\n"
                               "    half *= int\n"
                               "    null = (int)\n"
                               "    shared = half * int\n"
                               "end\n";
    kiln__source *source = NULL;
    kiln_error *error = NULL;

    (void)state;
    assert_ok(kiln__source_parse(&source, &kiln__malloc, "some.kiln", text,
                                 sizeof text - 1, &error));
    kiln__source_free(source);
}

static void words_of_other_languages_are_hinted(void **state)
{
    (void)state;
    assert_hint("def f(x)\nend\n", "`def`", "`fn`");
    assert_hint("function f(x)\nend\n", "`function`", "`fn`");
    assert_hint("using geometry\n", "`using`", "`import`");
    assert_statement_hint("if x\n    elif x > 1\n    end", "`elif`",
                          "`elseif`");
    assert_statement_hint("if x\n    elif (x > 1)\n    end", "`elif`",
                          "`elseif`");
    assert_statement_hint("if x\n    else if x > 1\n    end", "`else if`",
                          "`elseif`");
    assert_statement_hint("let y = 1", "`let`", "leave it out");
    assert_statement_hint("f32 y = 1", "`f32`", "y: f32");
    assert_statement_hint("float y = 1", "`float`", "y: f32");
    assert_statement_hint("unsigned char y = 1", "`unsigned`", "x: u8");
    assert_statement_hint("long long y = 1", "`long`", "x: i64");
    assert_statement_hint("const int y = 1", "`const`", "x: i32");
    assert_statement_hint("int32_t y = 1", "`int32_t`", "y: i32");
    assert_statement_hint("int y[16]", "`int`", "`local t = f32[256]`");
    assert_statement_hint("float *y = x", "`float`", "no pointers");
    assert_statement_hint("extern __shared__ float y[]", "`extern`",
                          "`local t = f32[256]`");
    assert_statement_hint("y = x and x", "`and`", "`&&`");
    assert_statement_hint("y = not x", "no `not`", "`!`");
    assert_statement_hint("if x then\n    end", "`then`", "no `then`");
    assert_statement_hint("if x:\n    end", "no `:`", "leave it out");
    assert_statement_hint("x++", "no `++`", "+= 1");
    assert_statement_hint("y = 'a'", "`'a'`", "double quotes");
    assert_statement_hint("y = \"a\"", "a string is no value", "print");
    assert_statement_hint("y = [1, 2]", "`[`", "Vec");
    assert_statement_hint("y = *x", "`*`", "no pointers");
    assert_statement_hint("y = x -> x", "`->`", "no closures");
    assert_statement_hint("y = +x", "no `+`", "leave it out");
    assert_statement_hint("y = x < 1 < 2", "do not chain", "&&");
}

static void ranges_of_other_languages_are_hinted(void **state)
{
    (void)state;
    assert_statement_hint("for i in 0:9\n    end", "`:` makes no range",
                          "lo..hi");
    assert_statement_hint("for i = 0..9\n    end", "`=`", "for i in");
    assert_statement_hint("for i in x\n    end", "needs a range", "0..n");
    assert_statement_hint("for (i = 0; i < 9; i += 1)\n    end",
                          "no parentheses", "for i in");
    assert_statement_hint("y = 0..9", "`..`", "for i in");
}

static void misplaced_statements_are_hinted(void **state)
{
    (void)state;
    assert_hint("fn f()\n    const N = 4\nend\n", "`const` stands outside",
                "above the function");
    assert_hint("n = 4\n", "outside of all functions", "const N = 4");
    assert_statement_hint("y = print(x)", "`print` is a statement",
                          "line of its own");
    assert_statement_hint("g(x) = 1", "cannot be assigned", "fn f(x)");
    assert_statement_hint("(a, b) = x", "cannot be assigned", "a, b = t");
    assert_statement_hint("a, b[0] = x", "into names", "one by one");
    assert_statement_hint("x + 1", "not used", "assign it");
    assert_statement_hint("y: f32", "begins with a value", "f32 = 0");
    assert_statement_hint("return x, x", "`,`", "(a, b)");
    assert_hint("kernel k(x) = x\n", "returns nothing", "end");
    assert_hint("fn print(x) = x\n", "`print`", "another name");
}

static void idioms_in_definitions_are_hinted(void **state)
{
    (void)state;
    assert_hint("fn f(x) {\nend\n", "`{`", "no braces");
    assert_hint("fn f(x):\nend\n", "no `:`", "leave it out");
    assert_hint("fn f{T}(x: T)\nend\n", "behind `where`", "where T");
    assert_hint("fn f(x) where {T}\nend\n", "no braces", "where T");
    assert_hint("fn f(x) where T <: Real\nend\n", "behind `:`", "T: Real");
    assert_hint("fn f(f32 x)\nend\n", "behind its name", "x: f32");
    assert_hint("fn f(float *x)\nend\n", "behind its name", "a: f32[:]");
    assert_hint("fn f(const int n)\nend\n", "behind its name", "n: i32");
    assert_hint("fn f(x...)\nend\n", "no variable argument", "tuple");
    assert_hint("fn f(::T)\nend\n", "needs a name", "_: Type{T}");
    assert_hint("fn f(x: f32*)\nend\n", "`*`", "f32[:]");
    assert_hint("fn f(x: f32[16])\nend\n", "expected `:`", "local t");
    assert_hint("const X: f32 = 1\n", "from its value", "f32(1.5)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_end_names_what_it_would_close),
        cmocka_unit_test(indentation_tells_which_end_is_missing),
        cmocka_unit_test(a_surplus_end_closes_nothing),
        cmocka_unit_test(an_arm_without_if_is_stepped_over),
        cmocka_unit_test(each_broken_statement_is_reported),
        cmocka_unit_test(a_broken_header_keeps_its_body),
        cmocka_unit_test(broken_definitions_do_not_hide_the_next),
        cmocka_unit_test(a_forgotten_bracket_loses_one_line_only),
        cmocka_unit_test(twenty_errors_are_enough),
        cmocka_unit_test(errors_come_in_the_order_of_the_text),
        cmocka_unit_test(an_error_shows_its_line),
        cmocka_unit_test(an_assignment_as_condition_is_hinted),
        cmocka_unit_test(misspelt_keywords_are_suggested),
        cmocka_unit_test(a_keyword_as_a_name_is_one_error_with_another_name),
        cmocka_unit_test(functions_may_have_names_of_other_languages),
        cmocka_unit_test(words_of_other_languages_are_hinted),
        cmocka_unit_test(ranges_of_other_languages_are_hinted),
        cmocka_unit_test(misplaced_statements_are_hinted),
        cmocka_unit_test(idioms_in_definitions_are_hinted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
