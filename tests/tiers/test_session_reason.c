/* test_session_reason.c - why an artifact stays in its process is told. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* NEEDS: kiln-command */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln/sys/cache_tools.h"
#include "support/frontend/toys.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/session.h"

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

static char *trace_folder;
static char trace[600];

static int setup_with_trace(void **state)
{
    int failed;

    if (temporary_folder_setup((void **)&trace_folder) != 0)
        return -1;
    (void)snprintf(trace, sizeof trace, "%s/trace.json", trace_folder);
    assert_int_equal(setenv("KILN_TRACE", trace, 1), 0);
    failed = toys_setup(state);
    (void)unsetenv("KILN_TRACE");
    return failed;
}

static int teardown_with_trace(void **state)
{
    const int failed = toys_teardown(state);

    return temporary_folder_teardown((void **)&trace_folder) != 0 ? -1 : failed;
}

static void the_trace_has_it_too(void **state)
{
    static int object;
    static char text[65536];
    FILE *file;

    assert_int_equal(compile(*state, body_of(&object)),
                     KILN_RELOCATION_SESSION);
    assert_int_equal(told, 1);
    file = fopen(trace, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    assert_contains(text, "\"cat\": \"session\"");
    assert_contains(text, "stays in this process: toy.f0()");
    assert_contains(text, "store volatile i64");
}

/* ---- what is told later ---- */

static char *folder;
static char told_later[512];

/* With a cache in a folder. */
static int setup_with_cache(void **state)
{
    int failed;

    if (temporary_folder_setup((void **)&folder) != 0)
        return -1;
    assert_int_equal(setenv("KILN_CACHE", "rw", 1), 0);
    assert_int_equal(setenv("KILN_CACHE_DIR", folder, 1), 0);
    failed = toys_setup(state);
    assert_int_equal(setenv("KILN_CACHE", "off", 1), 0);
    (void)unsetenv("KILN_CACHE_DIR");
    return failed;
}

static int teardown_with_cache(void **state)
{
    const int failed = toys_teardown(state);

    return temporary_folder_teardown((void **)&folder) != 0 ? -1 : failed;
}

static void take_answer(void *env, const kiln_cache_answer *answer)
{
    (void)env;
    if (strcmp(answer->kind, "binary") != 0) {
        assert_null(answer->session);
        return;
    }
    snprintf(told_later, sizeof told_later, "%s",
             answer->session ? answer->session : "nothing");
}

static const char *explain(toys *t)
{
    const kiln_signature signature = toy_signature(&t->toy, 0);

    assert_ok(kiln_cache_explain(t->context, &signature, t->config, take_answer,
                                 NULL, &test_error));
    return told_later;
}

/* Ends the process, and begins the next one. */
static void pass_on(void **state)
{
    char *kept = folder;

    assert_int_equal(toys_teardown(state), 0);
    assert_int_equal(setenv("KILN_CACHE", "rw", 1), 0);
    assert_int_equal(setenv("KILN_CACHE_DIR", kept, 1), 0);
    assert_int_equal(toys_setup(state), 0);
    assert_int_equal(setenv("KILN_CACHE", "off", 1), 0);
    (void)unsetenv("KILN_CACHE_DIR");
}

static void another_process_is_told_why_it_builds_again(void **state)
{
    static int object;
    toys *t;

    assert_int_equal(compile(*state, body_of(&object)),
                     KILN_RELOCATION_SESSION);
    pass_on(state);
    t = *state;
    t->toy.body = body_of(&object);
    toys_define(t, 0, 10, NULL);
    assert_string_equal(explain(t), reason);
    /* Of another function nothing is told. */
    toys_define(t, 0, 11, NULL);
    assert_string_equal(explain(t), "nothing");
}

static void of_what_is_kept_nothing_is_told(void **state)
{
    assert_int_equal(compile(*state, body_of((const void *)1000000007)),
                     KILN_RELOCATION_PORTABLE);
    assert_string_equal(explain(*state), "nothing");
}

/* ---- by the command ---- */

/* Leaves a note about a kernel of the language, whose own code never is of the
   class. */
static void leave_note(const char *text)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_signature signature = {NULL, NULL, 0};
    const kiln_kernel *kernel = NULL;
    const kiln_config *config;
    kiln_package *package;
    kiln_context *context;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    cache.tiers_off = 1u << KILN_TIER_TYPED;
    options.cache = &cache;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
    assert_ok(kiln_package_new(&package, context, "idle", &test_error));
    assert_ok(kiln_package_define(package, "idle.kiln", text, strlen(text),
                                  NULL, &test_error));
    assert_ok(kiln_package_function(&signature.function, package, "idle",
                                    &test_error));
    assert_ok(
        kiln_compile(&kernel, context, &signature, config, NULL, &test_error));
    kiln__session_note(context, kiln_kernel_artifact(kernel), "for a test");
    kiln__artifact_reject(context, kiln_kernel_artifact(kernel));
    kiln_context_free(context);
}

static void explain_by_command(const char *path, const char *options,
                               char out[65536])
{
    char command[1024];
    FILE *pipe;

    (void)snprintf(command, sizeof command,
                   "KILN_CACHE=rw KILN_CACHE_DIR=%s %s/bin/kiln cache explain "
                   "%s idle %s",
                   folder, KILN_BUILD_FOLDER, path, options);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    out[fread(out, 1, 65535, pipe)] = '\0';
    assert_int_equal(pclose(pipe), 0);
}

static void the_command_tells_it(void **state)
{
    static const char text[] = "kernel idle()\nend\n";
    static char out[65536];
    char path[512];

    if (temporary_folder_setup(state) != 0)
        fail();
    folder = *state;
    leave_note(text);
    harness_write_file(path, sizeof path, folder, "idle.kiln", text,
                       strlen(text));
    explain_by_command(path, "", out);
    assert_contains(out, "built again by each process: for a test");
    explain_by_command(path, "--json", out);
    assert_contains(out, "\"session\": \"for a test\"");
    assert_int_equal(temporary_folder_teardown(state), 0);
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
        cmocka_unit_test_setup_teardown(
            another_process_is_told_why_it_builds_again, setup_with_cache,
            teardown_with_cache),
        cmocka_unit_test_setup_teardown(of_what_is_kept_nothing_is_told,
                                        setup_with_cache, teardown_with_cache),
        cmocka_unit_test(the_command_tells_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
