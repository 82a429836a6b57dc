/* test_diagnose.c - diagnostics, places and nearest names. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/harness.h"

#include <string.h>

#include "frontend/syntax/ast.h"

static const char text[] = "one\n\ttwo three\r\n\nlast";
static uint32_t lines[] = {0, 4, 16, 17};
static const kiln__source source = {
    .file = "some.kiln",
    .text = text,
    .size = sizeof text - 1,
    .lines = lines,
    .line_count = 4,
};

static void assert_place(uint32_t start, uint32_t size, uint32_t line,
                         uint32_t column, uint32_t length)
{
    kiln_location place;

    kiln__source_locate(&source, (kiln__span){start, size}, &place);
    assert_string_equal(place.file, "some.kiln");
    assert_int_equal(place.line, line);
    assert_int_equal(place.column, column);
    assert_int_equal(place.length, length);
}

static void a_span_becomes_line_column_and_length(void **state)
{
    (void)state;
    assert_place(0, 3, 1, 1, 3);
    assert_place(9, 5, 2, 6, 5);
    assert_place(17, 4, 4, 1, 4);
}

static void a_mark_ends_with_its_line(void **state)
{
    (void)state;
    assert_place(9, 100, 2, 6, 5);
    assert_place(3, 1, 1, 4, 0);
    assert_place(16, 9, 3, 1, 0);
    assert_place(21, 0, 4, 5, 0);
}

static void a_diagnostic_carries_everything(void **state)
{
    kiln__diagnostics diagnostics;
    const kiln_diagnostic *d;
    kiln_error *error = NULL;

    (void)state;
    kiln__diagnostics_init(&diagnostics, &kiln__malloc);
    kiln__diagnose(&diagnostics, &source, (kiln__span){9, 5}, "some-code",
                   "a hint", "%s and %d", "text", 7);
    assert_int_equal(
        kiln__diagnostics_finish(&diagnostics, KILN_ECOMPILE, &error),
        KILN_ECOMPILE);
    kiln__diagnostics_dispose(&diagnostics);

    assert_string_equal(kiln_error_message(error), "text and 7");
    assert_int_equal(kiln_error_diagnostic_count(error), 1);
    d = kiln_error_diagnostic(error, 0);
    assert_string_equal(d->code, "some-code");
    assert_string_equal(d->hint, "a hint");
    assert_string_equal(d->location.file, "some.kiln");
    assert_int_equal(d->location.line, 2);
    assert_string_equal(d->source_line, "\ttwo three");
    assert_int_equal(d->frame_count, 0);
    kiln_error_free(error);
}

static void a_chain_is_copied(void **state)
{
    char name[] = "f(i64)";
    kiln_frame frames[2] = {
        {name, {"some.kiln", 1, 1, 3}},
        {"g(i64)", {"some.kiln", 4, 1, 4}},
    };
    kiln__diagnostics diagnostics;

    (void)state;
    kiln__diagnostics_init(&diagnostics, &kiln__malloc);
    kiln__diagnose_chain(&diagnostics, &source, (kiln__span){0, 3},
                         &(kiln_diagnostic){.code = "code",
                                            .message = "message",
                                            .hint = NULL,
                                            .frames = frames,
                                            .frame_count = 2});
    name[0] = '?';
    assert_int_equal(diagnostics.list.count, 1);
    assert_int_equal(diagnostics.list.items[0].frame_count, 2);
    assert_string_equal(diagnostics.list.items[0].frames[0].function, "f(i64)");
    assert_int_equal(diagnostics.list.items[0].frames[1].location.line, 4);
    assert_null(diagnostics.list.items[0].hint);
    kiln__diagnostics_dispose(&diagnostics);
}

static void a_diagnostic_without_a_source_has_no_place(void **state)
{
    kiln__diagnostics diagnostics;

    (void)state;
    kiln__diagnostics_init(&diagnostics, &kiln__malloc);
    kiln__diagnose(&diagnostics, NULL, (kiln__span){0, 0}, "code", NULL,
                   "message");
    assert_null(diagnostics.list.items[0].location.file);
    assert_null(diagnostics.list.items[0].source_line);
    kiln__diagnostics_dispose(&diagnostics);
}

static void further_diagnostics_than_the_limit_are_dropped(void **state)
{
    kiln__diagnostics diagnostics;

    (void)state;
    kiln__diagnostics_init(&diagnostics, &kiln__malloc);
    for (int i = 0; i < 25; i++)
        kiln__diagnose(&diagnostics, &source, (kiln__span){0, 1}, "code", NULL,
                       "number %d", i);
    assert_int_equal(diagnostics.list.count, 20);
    assert_string_equal(diagnostics.list.items[19].message, "number 19");
    kiln__diagnostics_dispose(&diagnostics);
}

static void no_diagnostics_are_no_error(void **state)
{
    kiln__diagnostics diagnostics;
    kiln_error *error = NULL;

    (void)state;
    kiln__diagnostics_init(&diagnostics, &kiln__malloc);
    assert_int_equal(
        kiln__diagnostics_finish(&diagnostics, KILN_ESYNTAX, &error), KILN_OK);
    assert_null(error);
    kiln__diagnostics_dispose(&diagnostics);
}

static void a_very_long_line_is_cut_or_left_out(void **state)
{
    static char line[9000];
    uint32_t start = 0;
    const kiln__source wide = {
        .file = "w",
        .text = line,
        .size = sizeof line - 1,
        .lines = &start,
        .line_count = 1,
    };
    kiln__diagnostics diagnostics;

    (void)state;
    memset(line, 'x', sizeof line - 1);
    memcpy(line + 4095, "\xE2\x82\xAC", 3);
    kiln__diagnostics_init(&diagnostics, &kiln__malloc);
    kiln__diagnose(&diagnostics, &wide, (kiln__span){5, 1}, "c", NULL, "near");
    kiln__diagnose(&diagnostics, &wide, (kiln__span){8000, 1}, "c", NULL,
                   "far");
    assert_int_equal(strlen(diagnostics.list.items[0].source_line), 4095);
    assert_null(diagnostics.list.items[1].source_line);
    assert_int_equal(diagnostics.list.items[1].location.column, 8001);
    kiln__diagnostics_dispose(&diagnostics);
}

static kiln_status collect(const kiln_alloc *alloc, void *env)
{
    const kiln_frame frame = {"f()", {"file", 1, 1, 1}};
    kiln__diagnostics diagnostics;
    kiln_error *error = NULL;
    kiln_status status;

    (void)env;
    kiln__diagnostics_init(&diagnostics, alloc);
    for (int i = 0; i < 30; i++)
        kiln__diagnose(&diagnostics, &source, (kiln__span){9, 3}, "code",
                       "hint", "message %d", i);
    kiln__diagnose_chain(&diagnostics, &source, (kiln__span){9, 3},
                         &(kiln_diagnostic){.code = "code",
                                            .message = "message",
                                            .hint = "hint",
                                            .frames = &frame,
                                            .frame_count = 1});
    status = kiln__diagnostics_finish(&diagnostics, KILN_ECOMPILE, &error);
    kiln__diagnostics_dispose(&diagnostics);
    kiln_error_free(error);
    return status == KILN_ECOMPILE ? KILN_OK : status;
}

static void collecting_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(collect, NULL);
}

/* ---- names ---- */

static const char *const names[] = {"sqrt",   "length", "global_id", "sin",
                                    "cos",    "max",    "min",       "x",
                                    "kernel", "Circle"};

static const char *nearest(const char *name)
{
    return kiln__nearest_name(name, names, sizeof names / sizeof *names);
}

static void the_nearest_name_is_one_slip_away(void **state)
{
    (void)state;
    assert_string_equal(nearest("sqr"), "sqrt");
    assert_string_equal(nearest("lenght"), "length");
    assert_string_equal(nearest("globl_id"), "global_id");
    assert_string_equal(nearest("kernal"), "kernel");
    assert_string_equal(nearest("circle"), "Circle");
    assert_string_equal(nearest("MAX"), "max");
    assert_string_equal(nearest("mim"), "min");
}

static void what_is_far_away_gets_no_suggestion(void **state)
{
    (void)state;
    assert_null(nearest("velocity"));
    assert_null(nearest("y"));
    assert_null(nearest("ab"));
    assert_null(nearest(""));
    assert_null(nearest("sqrt_of_a_very_long_name_that_nobody_would_write"));
    assert_null(kiln__nearest_name("sqrt", names, 0));
}

static void the_name_itself_is_no_suggestion(void **state)
{
    (void)state;
    assert_null(kiln__nearest_name("sqrt", names, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_becomes_line_column_and_length),
        cmocka_unit_test(a_mark_ends_with_its_line),
        cmocka_unit_test(a_diagnostic_carries_everything),
        cmocka_unit_test(a_chain_is_copied),
        cmocka_unit_test(a_diagnostic_without_a_source_has_no_place),
        cmocka_unit_test(further_diagnostics_than_the_limit_are_dropped),
        cmocka_unit_test(no_diagnostics_are_no_error),
        cmocka_unit_test(a_very_long_line_is_cut_or_left_out),
        cmocka_unit_test(collecting_survives_a_failing_allocator),
        cmocka_unit_test(the_nearest_name_is_one_slip_away),
        cmocka_unit_test(what_is_far_away_gets_no_suggestion),
        cmocka_unit_test(the_name_itself_is_no_suggestion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
