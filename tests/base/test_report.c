/* test_report.c - errors, and how they look. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault */
/* WRAPS: realloc */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kiln/sys/frontend.h"
#include "support/harness.h"

/* Errors live in malloc, not in a context: to see it fail, the one function
   that they call is wrapped. Call `fail_at` fails, counted from 1. */
static unsigned calls, fail_at;

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_realloc(void *memory, size_t size)
{
    if (++calls == fail_at)
        return NULL;
    return __real_realloc(memory, size);
}

static const kiln_frame chain[] = {
    {"fill(f32[:], i64)", {"lib.kiln", 2, 5, 1}},
    {"main.saxpy(f32[:])", {NULL, 0, 0, 0}},
};

static kiln_diagnostic no_method(void)
{
    return (kiln_diagnostic){
        .severity = KILN_SEVERITY_ERROR,
        .code = "no-method",
        .message = "no method matches fill(f32)",
        .hint = "did you mean `full`?",
        .location = {"saxpy.kiln", 4, 8, 7},
        .source_line = "y[i] = fill(x)",
        .frames = chain,
        .frame_count = 2,
    };
}

static void check_render(const kiln_error *error, uint32_t flags,
                         const char *expected)
{
    kiln_blob blob;

    assert_ok(kiln_error_render(&blob, error, flags));
    assert_string_equal(blob.data, expected);
    assert_int_equal(blob.size, strlen(expected));
    kiln_blob_release(&blob);
}

/* Renders one diagnostic with this place and source line. */
static void check_mark(const char *source_line, uint32_t column,
                       uint32_t length, const char *expected)
{
    const kiln_diagnostic diagnostic = {
        .message = "m",
        .location = {"f", 1, column, length},
        .source_line = source_line,
    };
    kiln_error *error = NULL;
    kiln_blob blob;

    (void)kiln_error_set_diagnostics(&error, KILN_ESYNTAX, "m", &diagnostic, 1);
    assert_ok(kiln_error_render(&blob, error, KILN_RENDER_PLAIN));
    assert_contains(blob.data, expected);
    kiln_blob_release(&blob);
    kiln_error_free(error);
}

/* ---- making and holding ---- */

static void statuses_have_names_and_meanings(void **state)
{
    (void)state;
    assert_string_equal(kiln_status_name(KILN_EINVAL), "KILN_EINVAL");
    assert_string_equal(kiln_status_text(KILN_OK), "success");
    assert_string_equal(kiln_status_name(-1000), "unknown status");
    assert_string_equal(kiln_status_text(5), "unknown status");
}

static void an_error_keeps_status_and_message(void **state)
{
    kiln_error *error = NULL;

    (void)state;
    assert_int_equal(kiln_error_set(&error, KILN_EIO, "%s: %d", "disk", 7),
                     KILN_EIO);
    assert_int_equal(kiln_error_status(error), KILN_EIO);
    assert_string_equal(kiln_error_message(error), "disk: 7");
    assert_null(kiln_error_cause(error));
    assert_null(kiln_error_exception(error));
    assert_int_equal(kiln_error_diagnostic_count(error), 0);
    assert_null(kiln_error_diagnostic(error, 0));
    kiln_error_free(error);
}

static void no_error_wanted_is_fine(void **state)
{
    const kiln_exception exception = {.size = sizeof exception};
    const kiln_diagnostic diagnostic = no_method();

    (void)state;
    assert_int_equal(kiln_error_set(NULL, KILN_EIO, "x"), KILN_EIO);
    assert_int_equal(kiln__error_wrap(NULL, KILN_EIO, "x"), KILN_EIO);
    assert_int_equal(kiln__error_no_memory(NULL), KILN_ENOMEM);
    assert_int_equal(
        kiln_error_set_diagnostics(NULL, KILN_ESYNTAX, "x", &diagnostic, 1),
        KILN_ESYNTAX);
    assert_int_equal(kiln__error_set_exception(NULL, &exception),
                     KILN_EEXCEPTION);
    kiln_error_free(NULL);
    assert_string_equal(kiln_error_message(NULL), "");
}

static void a_message_is_one_line(void **state)
{
    kiln_error *error = NULL;

    (void)state;
    (void)kiln_error_set(&error, KILN_ECODEGEN, "first\nsecond\r\n\n");
    assert_string_equal(kiln_error_message(error), "first second");
    kiln_error_free(error);
}

static kiln_status half(int number, kiln_error **error)
{
    KILN_REQUIRE(number % 2 == 0, error);
    return KILN_OK;
}

static void a_wrong_argument_names_the_condition(void **state)
{
    (void)state;
    assert_ok(half(2, &test_error));
    assert_fails(KILN_EINVAL, "number % 2 == 0", half(3, &test_error));
}

static void a_wrapped_error_becomes_the_cause(void **state)
{
    kiln_error *error = NULL;

    (void)state;
    (void)kiln__error_set(&error, KILN_EIO, "inner");
    (void)kiln__error_wrap(&error, KILN_ECODEGEN, "outer");

    assert_string_equal(kiln_error_message(error), "outer");
    assert_int_equal(kiln_error_status(error), KILN_ECODEGEN);
    assert_string_equal(kiln_error_message(kiln_error_cause(error)), "inner");
    kiln_error_free(error);
}

static void wrapping_nothing_makes_a_plain_error(void **state)
{
    kiln_error *error = NULL;

    (void)state;
    (void)kiln__error_wrap(&error, KILN_EIO, "outer");
    assert_null(kiln_error_cause(error));
    kiln_error_free(error);
}

static void a_long_chain_of_causes_is_freed(void **state)
{
    kiln_error *error = NULL;

    (void)state;
    for (int i = 0; i < 20000; i++)
        (void)kiln__error_wrap(&error, KILN_EIO, "link %d", i);
    assert_string_equal(kiln_error_message(error), "link 19999");
    kiln_error_free(error);
}

static void out_of_memory_is_never_freed(void **state)
{
    kiln_error *error = NULL, *again = NULL;

    (void)state;
    assert_int_equal(kiln__error_no_memory(&error), KILN_ENOMEM);
    kiln_error_free(kiln__error_retain(error));
    kiln_error_free(error);
    kiln_error_free(error);
    (void)kiln__error_no_memory(&again);
    assert_ptr_equal(error, again);
    assert_string_equal(kiln_error_message(error), "out of memory");
}

typedef struct shared_error {
    kiln_error *error;
    thread_report report;
} shared_error;

static void *hold_and_drop(void *argument)
{
    shared_error *shared = argument;

    for (int i = 0; i < 2000; i++) {
        kiln_error *mine = kiln__error_retain(shared->error);

        thread_assert(&shared->report,
                      strcmp(kiln_error_message(mine), "shared") == 0);
        kiln_error_free(mine);
    }
    return NULL;
}

static void many_threads_hold_one_error(void **state)
{
    shared_error shared = {NULL, THREAD_REPORT_INIT};

    (void)state;
    (void)kiln_error_set(&shared.error, KILN_EIO, "shared");
    harness_run_threads(8, hold_and_drop, &shared);
    assert_threads_ok(&shared.report);
    kiln_error_free(shared.error);
}

static void diagnostics_are_copied(void **state)
{
    kiln_diagnostic given = no_method();
    char message[] = "text of the caller";
    const kiln_diagnostic *kept;
    kiln_error *error = NULL;

    (void)state;
    given.message = message;
    (void)kiln_error_set_diagnostics(&error, KILN_ECOMPILE, "1 error", &given,
                                     1);
    memset(message, 'x', sizeof message - 1);

    kept = kiln_error_diagnostic(error, 0);
    assert_int_equal(kiln_error_diagnostic_count(error), 1);
    assert_string_equal(kept->message, "text of the caller");
    assert_string_equal(kept->frames[0].location.file, "lib.kiln");
    assert_null(kept->frames[1].location.file);
    assert_null(kiln_error_diagnostic(error, 1));
    kiln_error_free(error);
}

static void an_exception_is_copied(void **state)
{
    char kernel[] = "saxpy";
    const kiln_exception given = {
        .size = sizeof given,
        .kind = KILN_EXCEPTION_BOUNDS,
        .kernel = kernel,
        .item = {5, 0, 0},
        .values = {9, 8},
    };
    const kiln_exception *kept;
    kiln_error *error = NULL;

    (void)state;
    assert_int_equal(kiln__error_set_exception(&error, &given),
                     KILN_EEXCEPTION);
    kernel[0] = 'x';

    kept = kiln_error_exception(error);
    assert_string_equal(kept->kernel, "saxpy");
    assert_string_equal(kept->message, "index out of bounds");
    assert_string_equal(kiln_error_message(error), "index out of bounds");
    assert_int_equal(kept->values[1], 8);
    kiln_error_free(error);
}

static void without_memory_the_error_says_so(void **state)
{
    const kiln_exception exception = {.size = sizeof exception};
    const kiln_diagnostic diagnostic = no_method();
    unsigned failures = 0;

    (void)state;
    for (fail_at = 1; fail_at == 1 || calls >= fail_at; fail_at++) {
        kiln_error *first = NULL, *second = NULL;
        kiln_blob blob = {0};

        calls = 0;
        assert_int_equal(kiln_error_set_diagnostics(&first, KILN_ESYNTAX, "x",
                                                    &diagnostic, 1),
                         KILN_ESYNTAX);
        assert_int_equal(kiln__error_wrap(&first, KILN_EIO, "%2000d", 1),
                         KILN_EIO);
        assert_int_equal(kiln__error_set_exception(&second, &exception),
                         KILN_EEXCEPTION);
        failures += kiln_error_status(first) == KILN_ENOMEM ||
                    kiln_error_status(second) == KILN_ENOMEM;
        if (kiln_error_render(&blob, first, KILN_RENDER_PLAIN) != KILN_OK)
            assert_null(blob.data);
        kiln_blob_release(&blob);
        kiln_error_free(first);
        kiln_error_free(second);
    }
    fail_at = 0;
    assert_in_range(failures, 4, 20);
}

/* ---- rendering ---- */

static void a_diagnostic_shows_place_line_caret_hint_and_chain(void **state)
{
    const kiln_diagnostic diagnostic = no_method();
    kiln_error *error = NULL;

    (void)state;
    (void)kiln_error_set_diagnostics(&error, KILN_ECOMPILE, diagnostic.message,
                                     &diagnostic, 1);
    check_render(error, KILN_RENDER_PLAIN,
                 "saxpy.kiln:4:8: error: no method matches fill(f32) "
                 "[no-method]\n"
                 "    4 | y[i] = fill(x)\n"
                 "      |        ^~~~~~~\n"
                 "      = hint: did you mean `full`?\n"
                 "      = in fill(f32[:], i64) at lib.kiln:2:5\n"
                 "      = in main.saxpy(f32[:])\n");
    kiln_error_free(error);
}

static void a_message_of_its_own_comes_first(void **state)
{
    const kiln_diagnostic both[] = {
        {.severity = KILN_SEVERITY_WARNING, .message = "one"},
        {.severity = KILN_SEVERITY_NOTE,
         .message = "two",
         .location = {"f", 3, 0, 0}},
    };
    kiln_error *error = NULL;

    (void)state;
    (void)kiln_error_set_diagnostics(&error, KILN_ESYNTAX, "2 findings", both,
                                     2);
    check_render(error, KILN_RENDER_PLAIN,
                 "error: 2 findings\nwarning: one\nf:3: note: two\n");
    kiln_error_free(error);
}

static void causes_follow(void **state)
{
    kiln_error *error = NULL;

    (void)state;
    (void)kiln_error_set(&error, KILN_EIO, "no such file");
    (void)kiln__error_wrap(&error, KILN_EIO, "cannot load");
    check_render(error, KILN_RENDER_PLAIN,
                 "error: cannot load\ncaused by error: no such file\n");
    kiln_error_free(error);
}

static void an_exception_shows_kernel_and_item(void **state)
{
    const kiln_exception exception = {
        .size = sizeof exception,
        .kind = KILN_EXCEPTION_BOUNDS,
        .message = "index 9 is outside 0..8",
        .kernel = "saxpy",
        .method = "main.saxpy",
        .group = {1, 0, 0},
        .item = {9, 0, 0},
        .location = {"saxpy.kiln", 4, 9, 1},
    };
    kiln_error *error = NULL;

    (void)state;
    (void)kiln__error_set_exception(&error, &exception);
    check_render(error, KILN_RENDER_PLAIN,
                 "saxpy.kiln:4:9: error: index 9 is outside 0..8\n"
                 "      = in kernel saxpy, method main.saxpy, "
                 "item (9, 0, 0), group (1, 0, 0)\n");
    kiln_error_free(error);
}

static void an_exception_shows_its_line_where_that_is_at_hand(void **state)
{
    char line[] = "\ty[i] = x[j]";
    const kiln_exception exception = {
        .size = sizeof exception,
        .kind = KILN_EXCEPTION_BOUNDS,
        .message = "index 9, size 8",
        .kernel = "saxpy",
        .location = {"saxpy.kiln", 4, 9, 4},
        .source_line = line,
    };
    kiln_error *error = NULL;

    (void)state;
    (void)kiln__error_set_exception(&error, &exception);
    line[0] = '?';
    assert_string_equal(kiln_error_exception(error)->source_line,
                        "\ty[i] = x[j]");
    check_render(error, KILN_RENDER_PLAIN,
                 "saxpy.kiln:4:9: error: index 9, size 8\n"
                 "    4 |     y[i] = x[j]\n"
                 "      |            ^~~~\n"
                 "      = in kernel saxpy, item (0, 0, 0), group (0, 0, 0)\n");
    kiln_error_free(error);
}

static void colour_appears_only_when_asked_for(void **state)
{
    const kiln_diagnostic diagnostic = no_method();
    kiln_error *error = NULL;
    kiln_blob plain, colored;

    (void)state;
    (void)kiln_error_set_diagnostics(&error, KILN_ECOMPILE, "1 error",
                                     &diagnostic, 1);
    assert_ok(kiln_error_render(&plain, error, KILN_RENDER_PLAIN));
    assert_ok(kiln_error_render(&colored, error, KILN_RENDER_COLOR));

    assert_null(strchr(plain.data, '\033'));
    assert_contains(colored.data, "\033[1;31merror: \033[0m");
    assert_contains(colored.data, "\033[1;32m^~~~~~~\033[0m");
    kiln_blob_release(&plain);
    kiln_blob_release(&colored);
    kiln_error_free(error);
}

static void the_caret_follows_tabs(void **state)
{
    (void)state;
    check_mark("\tx = 1", 2, 1, "    1 |     x = 1\n      |     ^\n");
    check_mark("a\tx", 3, 1, "    1 | a   x\n      |     ^\n");
    check_mark("a\tx", 2, 2, "    1 | a   x\n      |  ^~~~\n");
}

static void the_caret_follows_utf8(void **state)
{
    (void)state;
    check_mark("\xC3\xA9 = q", 6, 1, "    1 | \xC3\xA9 = q\n      |     ^\n");
    check_mark("\xC3\xA9\xC3\xA9 = q", 1, 4, "      | ^~\n");
}

static void a_mark_beyond_the_line_stands_at_its_end(void **state)
{
    (void)state;
    check_mark("ab", 3, 1, "    1 | ab\n      |   ^\n");
    check_mark("ab", 900, 70, "    1 | ab\n      |   ^\n");
    check_mark("abc", 2, 70, "    1 | abc\n      |  ^~\n");
    check_mark("", 1, 0, "    1 | \n      | ^\n");
    check_mark("ab", UINT32_MAX, UINT32_MAX, "      |   ^\n");
}

static void control_characters_never_reach_the_terminal(void **state)
{
    (void)state;
    check_mark("a\033[31mb", 7, 1, "    1 | a [31mb\n      |       ^\n");
}

static void of_a_long_line_only_the_surroundings_are_shown(void **state)
{
    char line[10001], expected[200];

    (void)state;
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    line[5000] = 'Q';
    memset(expected, 'x', sizeof expected);
    memcpy(expected, "...", 3);
    expected[63] = 'Q';
    memcpy(expected + 163, "...\n", 5);
    check_mark(line, 5001, 1, expected);

    memset(expected, ' ', sizeof expected);
    memcpy(expected, "      | ", 8);
    memcpy(expected + 8 + 63, "^\n", 3);
    check_mark(line, 5001, 1, expected);
}

static void rendering_nothing_is_refused(void **state)
{
    kiln_blob blob;

    (void)state;
    assert_status(KILN_EINVAL, kiln_error_render(&blob, NULL, 0));
}

static void lists_that_are_not_there_are_refused(void **state)
{
    kiln_diagnostic lone = {.message = "m", .frame_count = 1};
    kiln_error **e = &test_error;

    (void)state;
    assert_fails(KILN_EINVAL, "diagnostics != NULL || count == 0",
                 kiln_error_set_diagnostics(e, KILN_ECOMPILE, "m", NULL, 2));
    assert_fails(KILN_EINVAL, "frame_count == 0",
                 kiln_error_set_diagnostics(e, KILN_ECOMPILE, "m", &lone, 1));
    assert_fails(KILN_EINVAL, "message != ",
                 kiln_error_set_diagnostics(e, KILN_ECOMPILE, NULL, NULL, 0));
    assert_fails(KILN_EINVAL, "status != KILN_OK",
                 kiln_error_set_diagnostics(e, KILN_OK, "m", NULL, 0));
    assert_fails(KILN_ECOMPILE, "m",
                 kiln_error_set_diagnostics(e, KILN_ECOMPILE, "m", NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_have_names_and_meanings),
        cmocka_unit_test(an_error_keeps_status_and_message),
        cmocka_unit_test(no_error_wanted_is_fine),
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(a_wrong_argument_names_the_condition),
        cmocka_unit_test(a_wrapped_error_becomes_the_cause),
        cmocka_unit_test(wrapping_nothing_makes_a_plain_error),
        cmocka_unit_test(a_long_chain_of_causes_is_freed),
        cmocka_unit_test(out_of_memory_is_never_freed),
        cmocka_unit_test(many_threads_hold_one_error),
        cmocka_unit_test(without_memory_the_error_says_so),
        cmocka_unit_test(diagnostics_are_copied),
        cmocka_unit_test(an_exception_is_copied),
        cmocka_unit_test(a_diagnostic_shows_place_line_caret_hint_and_chain),
        cmocka_unit_test(a_message_of_its_own_comes_first),
        cmocka_unit_test(causes_follow),
        cmocka_unit_test(an_exception_shows_kernel_and_item),
        cmocka_unit_test(an_exception_shows_its_line_where_that_is_at_hand),
        cmocka_unit_test(colour_appears_only_when_asked_for),
        cmocka_unit_test(the_caret_follows_tabs),
        cmocka_unit_test(the_caret_follows_utf8),
        cmocka_unit_test(a_mark_beyond_the_line_stands_at_its_end),
        cmocka_unit_test(control_characters_never_reach_the_terminal),
        cmocka_unit_test(of_a_long_line_only_the_surroundings_are_shown),
        cmocka_unit_test(rendering_nothing_is_refused),
        cmocka_unit_test(lists_that_are_not_there_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
