/* test_tool_run.c - tools as processes: bytes in, bytes out. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/toolchain/tool_run.h"
#include "support/harness.h"

static const kiln__object words = {"some words", 10};

/* Runs a line of sh, with the input's path as $1 and the output's as $2. */
static kiln_status run_line(const char *line, int limit_ms, kiln_blob *out,
                            kiln__text *said)
{
    const char *const arguments[] = {
        "sh", "-c", line, "sh", KILN__RUN_INPUT0, KILN__RUN_OUTPUT, NULL};
    const kiln__tool_command run = {.program = "/bin/sh",
                                    .arguments = arguments,
                                    .inputs = &words,
                                    .input_count = 1,
                                    .limit_ms = limit_ms};

    kiln__text_init(said, &kiln__malloc);
    *out = (kiln_blob){0};
    return kiln__run_tool(&run, out, said);
}

static void bytes_go_in_and_come_out(void **state)
{
    kiln_blob out;
    kiln__text said;

    (void)state;
    assert_ok(run_line("cat \"$1\" \"$1\" >\"$2\"; echo done", 0, &out, &said));
    assert_int_equal(out.size, 20);
    assert_memory_equal(out.data, "some wordssome words", 20);
    assert_string_equal(said.bytes, "done\n");
    kiln_blob_release(&out);
    kiln__text_dispose(&said);
}

static void assert_said(const char *line, int limit_ms, kiln_status expected,
                        const char *words_in_it)
{
    kiln_blob out;
    kiln__text said;

    assert_int_equal(run_line(line, limit_ms, &out, &said), expected);
    assert_null(out.data);
    assert_non_null(strstr(said.bytes, words_in_it));
    kiln__text_dispose(&said);
}

static void a_tool_that_fails_is_quoted(void **state)
{
    (void)state;
    assert_said("echo oh >&2; exit 3", 0, KILN_ECODEGEN, "oh");
    assert_said("exit 3", 0, KILN_ECODEGEN, "status 3");
    assert_said("kill -11 $$", 0, KILN_ECODEGEN, "signal 11");
    assert_said("exit 0", 0, KILN_ECODEGEN, "no output");
}

static void a_tool_that_is_killed_has_said_nothing_of_its_input(void **state)
{
    (void)state;
    assert_said("kill -9 $$", 0, KILN_EIO, "signal 9");
}

/* It inherits the pipe of the messages. */
static void what_a_tool_leaves_running_is_not_waited_for(void **state)
{
    kiln_blob out;
    kiln__text said;

    (void)state;
    assert_ok(
        run_line("cp \"$1\" \"$2\"; sleep 1000 & echo $!", 0, &out, &said));
    assert_int_equal(out.size, 10);
    assert_int_equal(kill((pid_t)strtol(said.bytes, NULL, 10), SIGKILL), 0);
    kiln_blob_release(&out);
    kiln__text_dispose(&said);
}

static void a_tool_that_hangs_is_ended(void **state)
{
    (void)state;
    assert_said("echo so far; exec sleep 1000", 300, KILN_ETIMEDOUT, "so far");
    assert_said("exec sleep 1000", 100, KILN_ETIMEDOUT, "after 100 ms");
}

static void a_tool_that_is_not_there_is_told_apart(void **state)
{
    const char *const arguments[] = {"none", NULL};
    const kiln__tool_command run = {.program = "/nowhere/none",
                                    .arguments = arguments};
    kiln_blob out = {0};
    kiln__text said;

    (void)state;
    kiln__text_init(&said, &kiln__malloc);
    assert_int_equal(kiln__run_tool(&run, &out, &said), KILN_ENOTFOUND);
    assert_non_null(strstr(said.bytes, "cannot be started"));
    kiln__text_dispose(&said);
}

/* ---- inputs that come later ---- */

static kiln__tool_process *begin_line(const char *line)
{
    const char *const arguments[] = {
        "sh", "-c", line, "sh", KILN__RUN_LATE, KILN__RUN_OUTPUT, NULL};
    const kiln__tool_command run = {.program = "/bin/sh",
                                    .arguments = arguments};

    return kiln__tool_process_begin(&run);
}

static void assert_made(const char *line, const kiln__object *input,
                        const char *expected)
{
    kiln__tool_process *begun = begin_line(line);
    kiln_blob out = {0};
    kiln__text said;

    assert_non_null(begun);
    kiln__text_init(&said, &kiln__malloc);
    assert_ok(kiln__tool_process_end(begun, input, &out, &said));
    assert_int_equal(out.size, strlen(expected));
    assert_memory_equal(out.data, expected, out.size);
    assert_string_equal(said.bytes, "done\n");
    kiln_blob_release(&out);
    kiln__text_dispose(&said);
    kiln__tool_process_drop(begun);
}

static void a_tool_waits_for_an_input_that_comes_later(void **state)
{
    (void)state;
    assert_made("cat \"$1\" >\"$2\"; echo done", &words, "some words");
}

static void an_input_that_comes_later_is_read_as_often_as_the_tool_likes(
    void **state)
{
    (void)state;
    assert_made("cat \"$1\" >\"$2\"; cat \"$1\" >>\"$2\"; echo done", &words,
                "some wordssome words");
}

static void a_large_input_may_come_later_and_be_left_unread(void **state)
{
    static char bytes[1 << 20];
    const kiln__object large = {bytes, sizeof bytes};

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    assert_made("wc -c <\"$1\" | tr -d '\\n' >\"$2\"; echo done", &large,
                "1048576");
    assert_made("printf no >\"$2\"; echo done", &large, "no");
}

static void a_begun_tool_that_fails_is_quoted(void **state)
{
    kiln__tool_process *begun =
        begin_line("cat \"$1\" >/dev/null; echo oh; exit 3");
    kiln_blob out = {0};
    kiln__text said;

    (void)state;
    assert_non_null(begun);
    kiln__text_init(&said, &kiln__malloc);
    assert_int_equal(kiln__tool_process_end(begun, &words, &out, &said),
                     KILN_ECODEGEN);
    assert_null(out.data);
    assert_string_equal(said.bytes, "oh\n");
    kiln__text_dispose(&said);
    kiln__tool_process_drop(begun);
}

static void a_begun_tool_that_gets_nothing_is_ended(void **state)
{
    (void)state;
    kiln__tool_process_drop(begin_line("cat \"$1\"; exec sleep 1000"));
    kiln__tool_process_drop(begin_line("exec sleep 1000"));
    kiln__tool_process_drop(NULL);
}

static void a_tool_that_is_not_there_does_not_begin(void **state)
{
    const char *const arguments[] = {"none", NULL};
    const kiln__tool_command run = {.program = "/nowhere/none",
                                    .arguments = arguments};

    (void)state;
    assert_null(kiln__tool_process_begin(&run));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_in_and_come_out),
        cmocka_unit_test(a_tool_that_fails_is_quoted),
        cmocka_unit_test(a_tool_that_is_killed_has_said_nothing_of_its_input),
        cmocka_unit_test(what_a_tool_leaves_running_is_not_waited_for),
        cmocka_unit_test(a_tool_that_hangs_is_ended),
        cmocka_unit_test(a_tool_that_is_not_there_is_told_apart),
        cmocka_unit_test(a_tool_waits_for_an_input_that_comes_later),
        cmocka_unit_test(
            an_input_that_comes_later_is_read_as_often_as_the_tool_likes),
        cmocka_unit_test(a_large_input_may_come_later_and_be_left_unread),
        cmocka_unit_test(a_begun_tool_that_fails_is_quoted),
        cmocka_unit_test(a_begun_tool_that_gets_nothing_is_ended),
        cmocka_unit_test(a_tool_that_is_not_there_does_not_begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
