/* test_parse_limits.c - how deep and large a text may be, and no memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/syntax/ast.h"
#include "ir/ir.h"

/* ---- limits ---- */

static char *repeat(const char *before, const char *open, size_t count,
                    const char *middle, const char *close, const char *after)
{
    const size_t size = strlen(before) + strlen(middle) + strlen(after) +
                        count * (strlen(open) + strlen(close)) + 1;
    char *text = malloc(size), *at = text;

    assert_non_null(text);
    at = stpcpy(at, before);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, open);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, close);
    stpcpy(at, after);
    return text;
}

static void assert_limit(char *text, const char *message)
{
    kiln__source *source = NULL;
    kiln_error *error = NULL;

    assert_int_equal(kiln__source_parse(&source, &kiln__malloc, "t", text,
                                        strlen(text), &error),
                     message == NULL ? KILN_OK : KILN_ESYNTAX);
    if (message != NULL) {
        assert_contains(kiln_error_message(error), message);
        assert_int_equal(kiln_error_diagnostic_count(error), 1);
    }
    kiln_error_free(error);
    kiln__source_free(source);
    free(text);
}

static void nesting_is_bounded(void **state)
{
    static const char deep[] = "nested more than 256 levels";

    (void)state;
    assert_limit(repeat("fn f() = ", "(", 255, "x", ")", "\n"), NULL);
    assert_limit(repeat("fn f() = ", "(", 100000, "x", ")", "\n"), deep);
    assert_limit(repeat("fn f() = ", "-", 100000, "x", "", "\n"), deep);
    assert_limit(repeat("fn f() = ", "f(", 100000, "x", ")", "\n"), deep);
    assert_limit(repeat("fn f() = ", "a[", 100000, "x", "]", "\n"), deep);
    assert_limit(repeat("fn f() = ", "x ** ", 100000, "x", "", "\n"), deep);
    assert_limit(repeat("fn f() = ", "c ? a : ", 100000, "x", "", "\n"), deep);
    assert_limit(repeat("fn f(x: ", "V{", 100000, "f32", "}", ") = x\n"), deep);
    assert_limit(repeat("fn f(x: ", "(", 100000, "f32", ",)", ") = x\n"), deep);
    assert_limit(repeat("fn f()\n", "while c\n", 200, "", "end\n", "end\n"),
                 NULL);
    assert_limit(repeat("fn f()\n", "while c\n", 100000, "", "end\n", "end\n"),
                 deep);
}

static void chains_are_bounded_in_height(void **state)
{
    static const char high[] = "more than 1000 operations";

    (void)state;
    assert_limit(repeat("fn f() = x", " + x", 990, "", "", "\n"), NULL);
    assert_limit(repeat("fn f() = x", " + x", 1100, "", "", "\n"), high);
    assert_limit(repeat("fn f() = x", "[0]", 1100, "", "", "\n"), high);
    assert_limit(repeat("fn f() = x", ".a", 100000, "", "", "\n"), high);
    assert_limit(
        repeat("fn f()\nif c\n", "elseif c\n", 900, "", "", "end\nend\n"),
        NULL);
    assert_limit(
        repeat("fn f()\nif c\n", "elseif c\n", 1100, "", "", "end\nend\n"),
        high);
}

static void lists_are_bounded(void **state)
{
    (void)state;
    assert_limit(repeat("fn f() = g(", "x,", 64, "", "", ")\n"), NULL);
    assert_limit(repeat("fn f() = g(", "x,", 65, "", "", ")\n"), "more than");
    assert_limit(repeat("fn f() = (", "x,", 256, "", "", ")\n"), NULL);
    assert_limit(repeat("fn f() = (", "x,", 257, "", "", ")\n"), "more than");
    assert_limit(repeat("fn f(", "_,", 65, "", "", ") = 1\n"),
                 "at most 64 parameters");
    assert_limit(repeat("fn f()\nprint(", "x,", 65, "", "", ")\nend\n"),
                 "more than 64 values");
}

static void a_definition_of_too_many_nodes_is_refused(void **state)
{
    (void)state;
    assert_limit(repeat("fn f()\n", "x = x\n", 400000, "", "", "end\n"),
                 "the definition has more than 1000000");
}

static void a_text_of_more_than_16_mebibytes_is_refused(void **state)
{
    const size_t size = ((size_t)16 << 20) + 1;
    char *text = malloc(size);
    kiln__source *source = NULL;

    (void)state;
    assert_non_null(text);
    memset(text, ' ', size);
    assert_fails(KILN_ESYNTAX, "at most 16 MiB",
                 kiln__source_parse(&source, &kiln__malloc, "big.kiln", text,
                                    size, &test_error));
    assert_ok(kiln__source_parse(&source, &kiln__malloc, "big.kiln", text,
                                 size - 1, &test_error));
    kiln__source_free(source);
    free(text);
}

/* ---- memory ---- */

static const char everything[] =
    "import geometry: dot, +\n"
    "const STEPS = f32(4)\n"
    "abstract Round: Shape\n"
    "struct Complex{T: Real}: Round\n"
    "    re: T\n"
    "    im: T\n"
    "end\n"
    "overlay cuda fn f(x: f32[:,:], y) -> (f32, i64) where T, N = (x, y)\n"
    "kernel k(a: Vec{f32, 4})\n"
    "    x: f32 = a[0] * 2.5 + (c ? -1 : f(+))\n"
    "    a, b = t\n"
    "    if x < 1\n"
    "        print(\"x = \", x)\n"
    "    elseif y\n"
    "        assert(y, \"text\")\n"
    "    else\n"
    "        local t = f32[16]\n"
    "    end\n"
    "    for i in static(0..4) by 2\n"
    "        inbounds\n"
    "            a.b[i] += Complex{f32}(1, 2).re\n"
    "        end\n"
    "    end\n"
    "end\n";

static kiln_status parse_everything(const kiln_alloc *alloc, void *env)
{
    kiln__source *source = NULL;
    kiln_error *error = NULL;
    const kiln_status status = kiln__source_parse(
        &source, alloc, "all.kiln", env, strlen((const char *)env), &error);

    if (status != KILN_OK)
        assert_null(source);
    kiln__source_free(source);
    kiln_error_free(error);
    return status == KILN_ESYNTAX ? KILN_OK : status;
}

static void parsing_survives_a_failing_allocator(void **state)
{
    static char good[sizeof everything];
    static char bad[] = "fn f(x y)\n  x = = 1\n  if a\n  $\nend\nstruct 3\n";

    (void)state;
    memcpy(good, everything, sizeof good);
    assert_survives_failing_alloc(parse_everything, good);
    assert_survives_failing_alloc(parse_everything, bad);
}

static kiln_status parse_type(const kiln_alloc *alloc, void *env)
{
    kiln__arena arena;
    kiln__ast *type = NULL;
    kiln_error *error = NULL;
    kiln_status status;

    kiln__arena_init(&arena, alloc);
    status = kiln__type_tree_parse(&type, &arena, env, &error);
    kiln__arena_dispose(&arena);
    kiln_error_free(error);
    return status;
}

static void types_survive_a_failing_allocator(void **state)
{
    static char text[] = "(Vec{f32, 4}, p.Complex{T}[:, :], typeof(f))";

    (void)state;
    assert_survives_failing_alloc(parse_type, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(chains_are_bounded_in_height),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(a_definition_of_too_many_nodes_is_refused),
        cmocka_unit_test(a_text_of_more_than_16_mebibytes_is_refused),
        cmocka_unit_test(parsing_survives_a_failing_allocator),
        cmocka_unit_test(types_survive_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
