/* test_frames.c - what is said of an exception, by debug level. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>

#include "support/devices/kernels.h"

#define ROOM 4

static const char text[] = "fn inner(a, i)\n"
                           "    return a[i] + 1\n"
                           "end\n"
                           "fn middle(a, i)\n"
                           "    x = inner(a, i + 1)\n"
                           "    return x * 2\n"
                           "end\n"
                           "kernel top(a: i64[:], i: i64)\n"
                           "    a[0] = middle(a,\n"
                           "        i + 1)\n"
                           "end\n"
                           "fn shared(a, i)\n"
                           "    barrier()\n"
                           "    return middle(a, i)\n"
                           "end\n"
                           "kernel group(a: i64[:], i: i64)\n"
                           "    a[0] = shared(a, i)\n"
                           "end\n"
                           "fn deep(a, i)\n"
                           "    return i == 0 ? a[4] : deep(a, i - 1) + 1\n"
                           "end\n"
                           "kernel recurs(a: i64[:], i: i64)\n"
                           "    a[0] = deep(a, i)\n"
                           "end\n";

/* The error of one item of `kernel`, which has to raise. */
static kiln_error *raised(void **state, const char *kernel, uint8_t level,
                          int64_t i)
{
    int64_t room[ROOM] = {0};
    const kiln_array array = kernels_array(room, ROOM);
    const kernels_argument arguments[] = {{"i64[:]", &array}, {"i64", &i}};
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_launch launch = {.grid = {1}};
    kernels *k = *state;
    kiln_error *error = NULL;

    options.debug_level = level;
    assert_status(KILN_EEXCEPTION,
                  kernels_launch(k, kernels_define(k, "frames", text), kernel,
                                 kernels_config(k, &options), &launch,
                                 arguments, 2, &error));
    assert_non_null(kiln_error_exception(error));
    return error;
}

static void assert_frame(const kiln_exception *e, size_t index,
                         const char *method, uint32_t line)
{
    assert_true(index < e->frame_count);
    assert_string_equal(e->frames[index].function, method);
    assert_int_equal(e->frames[index].location.line, line);
}

static void every_level_has_message_and_line(void **state)
{
    static const uint8_t levels[] = {KILN_DEBUG_NONE, KILN_DEBUG_LINES,
                                     KILN_DEBUG_FULL};

    for (size_t i = 0; i < 3; i++) {
        kiln_error *error = raised(state, "top", levels[i], 7);
        const kiln_exception *e = kiln_error_exception(error);

        assert_string_equal(e->message, "index out of bounds: index 9, size 4");
        assert_string_equal(e->method, "frames.inner");
        assert_int_equal(e->location.line, 2);
        assert_int_equal(e->frame_count, levels[i] == KILN_DEBUG_FULL ? 2 : 0);
        kiln_error_free(error);
    }
}

static void the_full_level_has_the_calls_that_led_there(void **state)
{
    kiln_error *error = raised(state, "top", KILN_DEBUG_FULL, 7);
    const kiln_exception *e = kiln_error_exception(error);

    assert_int_equal(e->frame_count, 2);
    assert_frame(e, 0, "frames.middle", 5);
    assert_frame(e, 1, "frames.top", 9);
    kiln_error_free(error);
}

static void collective_functions_are_among_the_calls(void **state)
{
    kiln_error *error = raised(state, "group", KILN_DEBUG_FULL, 7);
    const kiln_exception *e = kiln_error_exception(error);

    assert_int_equal(e->frame_count, 3);
    assert_frame(e, 0, "frames.middle", 5);
    assert_frame(e, 1, "frames.shared", 14);
    assert_frame(e, 2, "frames.group", 17);
    kiln_error_free(error);
}

static void a_text_shows_the_calls(void **state)
{
    kiln_error *error = raised(state, "top", KILN_DEBUG_FULL, 7);
    kiln_blob shown;

    assert_ok(kiln_error_render(&shown, error, KILN_RENDER_PLAIN));
    assert_non_null(strstr(shown.data, "= in frames.middle at "));
    assert_non_null(strstr(shown.data, "= in frames.top at "));
    shown.release(&shown);
    kiln_error_free(error);
}

/* Not on SPIR-V, where nothing calls itself. */
static void of_many_calls_the_innermost_and_the_kernels_are_kept(void **state)
{
    kiln_error *error;
    const kiln_exception *e;

    if (strcmp(kernels_backend(), "spirv") == 0)
        test_skip(SKIP_DEVICE, "it has no frames of calls");
    error = raised(state, "recurs", KILN_DEBUG_FULL, 40);
    e = kiln_error_exception(error);

    assert_int_equal(e->frame_count, 16);
    for (size_t i = 0; i < 15; i++)
        assert_frame(e, i, "frames.deep", 20);
    assert_frame(e, 15, "frames.recurs", 23);
    kiln_error_free(error);
}

/* A record is the queue's; nothing of one exception is in the next one. */
static void an_exception_without_calls_has_none(void **state)
{
    kiln_error *error = raised(state, "top", KILN_DEBUG_FULL, 7);

    kiln_error_free(error);
    error = raised(state, "top", KILN_DEBUG_NONE, 7);
    assert_int_equal(kiln_error_exception(error)->frame_count, 0);
    assert_null(kiln_error_exception(error)->frames);
    kiln_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_has_message_and_line),
        cmocka_unit_test(the_full_level_has_the_calls_that_led_there),
        cmocka_unit_test(collective_functions_are_among_the_calls),
        cmocka_unit_test(a_text_shows_the_calls),
        cmocka_unit_test(of_many_calls_the_innermost_and_the_kernels_are_kept),
        cmocka_unit_test(an_exception_without_calls_has_none),
    };

    if (!kernels_are_possible())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
