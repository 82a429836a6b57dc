/* test_session_reason.c - why an artifact stays in its process is told. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/toys.h"

/* What was told of artifacts that stay. */
static unsigned told;
static char name[128], reason[512];

static void take(toys *t, const kiln_event *event)
{
    (void)t;
    if (event->kind != KILN_EVENT_SESSION) {
        assert_null(event->reason);
        return;
    }
    told++;
    snprintf(name, sizeof name, "%s", event->name);
    snprintf(reason, sizeof reason, "%s", event->reason);
}

/* The body writes a number of this process where the optimiser keeps it. */
static const char *body_of(const void *address)
{
    static char body[256];

    snprintf(body, sizeof body,
             "  %%p = alloca i64\n  store volatile i64 %llu, ptr %%p\n",
             (unsigned long long)(uintptr_t)address);
    return body;
}

static int32_t compile(toys *t, const char *body)
{
    const kiln_kernel *kernel = NULL;

    told = 0;
    t->on_event = take;
    t->toy.body = body;
    toys_define(t, 0, 10, NULL);
    assert_ok(toys_compile(t, 0, &kernel, &test_error));
    return kiln_artifact_relocation(kiln_kernel_artifact(kernel));
}

static void an_address_that_stays_a_number_is_told_by_an_event(void **state)
{
    char number[32];
    int object = 0;

    snprintf(number, sizeof number, "%llu",
             (unsigned long long)(uintptr_t)&object);
    assert_int_equal(compile(*state, body_of(&object)),
                     KILN_RELOCATION_SESSION);
    assert_int_equal(told, 1);
    assert_string_equal(name, "toy.f0()");
    assert_contains(reason, "function '");
    assert_contains(reason, "store volatile i64");
    assert_contains(reason, number);
}

static void nothing_is_told_of_what_is_portable(void **state)
{
    assert_int_equal(compile(*state, body_of((const void *)1000000007)),
                     KILN_RELOCATION_PORTABLE);
    assert_int_equal(told, 0);
}

static char trace[] = "/tmp/kiln-session-XXXXXX";

static int setup_with_trace(void **state)
{
    const int file = mkstemp(trace);
    int failed;

    assert_true(file >= 0);
    (void)close(file);
    assert_int_equal(setenv("KILN_TRACE", trace, 1), 0);
    failed = toys_setup(state);
    (void)unsetenv("KILN_TRACE");
    return failed;
}

static int teardown_with_trace(void **state)
{
    (void)unlink(trace);
    return toys_teardown(state);
}

static void the_trace_has_it_too(void **state)
{
    static int object;
    static char text[65536];
    FILE *file;

    (void)compile(*state, body_of(&object));
    file = fopen(trace, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    assert_contains(text, "\"cat\": \"session\"");
    assert_contains(text, "stays in this process: toy.f0()");
    assert_contains(text, "store volatile i64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            an_address_that_stays_a_number_is_told_by_an_event, toys_setup,
            toys_teardown),
        cmocka_unit_test_setup_teardown(nothing_is_told_of_what_is_portable,
                                        toys_setup, toys_teardown),
        cmocka_unit_test_setup_teardown(the_trace_has_it_too, setup_with_trace,
                                        teardown_with_trace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
