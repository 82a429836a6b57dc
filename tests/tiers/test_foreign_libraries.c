/* test_foreign_libraries.c - libraries that foreign modules need, from one
   process to the next. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers codegen host */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/codegen/module_texts.h"
#include "support/devices/kernels.h"
#include "support/frontend/program.h"
#include "support/harness.h"
#include "support/process/system_calls.h"

/*
 * A context stands for a process. The library is a copy of libclc's, so that it
 * can be changed.
 */

static const char installed[] = "/usr/lib/clc/nvptx64--.bc";

static const char *folder;
static char library[256];
static kernels k;
static module_texts m;

static void begin(void)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    k = (kernels){.context = NULL};
    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    assert_ok(kiln_context_new(&k.context, &options, &test_error));
    module_texts_open(&m, k.context, "modules");
    kernels_open(&k);
}

static void end(void)
{
    kiln_queue_free(k.queue);
    kiln_device_close(k.device);
    kiln_context_free(k.context);
}

static const char of_opencl[] =
    "declare float @_Z5fractfPU3AS1f(float, @A)\n"
    "define i32 @E(@I %item, @A %y, i64 %n) {\n"
    "  %x = load float, @A %y\n"
    "  %p = getelementptr float, @A %y, i64 1\n"
    "  %r = call float @_Z5fractfPU3AS1f(float %x, @A %p)\n"
    "  store float %r, @A %y\n"
    "  ret i32 0\n}\n";

static const char of_c[] = "declare float @cbrtf(float)\n"
                           "define i32 @E(@I %item, @A %y, i64 %n) {\n"
                           "  %x = load float, @A %y\n"
                           "  %r = call float @cbrtf(float %x)\n"
                           "  store float %r, @A %y\n"
                           "  ret i32 0\n}\n";

static kiln_status run(const char *text, float y[2], kiln_error **error)
{
    const kiln_array array = kernels_array(y, 2);
    const kernels_argument argument = {"f32[:]", &array};

    return module_texts_run(&m, &k, module_texts_define(&m, text), k.config, 1,
                            &argument, 1, error);
}

static void check_fract(void)
{
    float y[2] = {2.75f, 0};

    assert_ok(run(of_opencl, y, &test_error));
    assert_true(y[0] == 0.75f);
    assert_true(y[1] == 2);
}

static void change_library(void)
{
    FILE *file = fopen(library, "a");

    assert_non_null(file);
    assert_int_equal(fwrite("\0\0\0\0", 1, 4, file), 4);
    assert_int_equal(fclose(file), 0);
}

static void a_second_start_opens_no_library(void **state)
{
    const system_fault fault = {SYS_openat, EACCES, 1, -1, library};

    (void)state;
    begin();
    check_fract();
    assert_int_equal(m.source, KILN_SOURCE_BUILT);
    end();

    system_calls_fail(&fault);
    begin();
    check_fract();
    assert_int_equal(m.source, KILN_SOURCE_STORE);
    assert_int_equal(m.lowered, 0);
    end();
    assert_int_equal(system_calls_failed(), 0);
    system_calls_fail(NULL);
}

static void another_library_builds_what_it_took_part_in(void **state)
{
    float y[2] = {8, 0};

    (void)state;
    begin();
    check_fract();
    assert_ok(run(of_c, y, &test_error));
    end();
    change_library();
    for (int start = 0; start < 2; start++) {
        begin();
        check_fract();
        assert_int_equal(m.source,
                         start == 0 ? KILN_SOURCE_BUILT : KILN_SOURCE_STORE);
        assert_ok(run(of_c, y, &test_error));
        assert_int_equal(m.source, KILN_SOURCE_STORE);
        end();
    }
}

/* The words of an error. */
static void assert_refused(const char *text, kiln_status expected,
                           const char *words)
{
    kiln_error *error = NULL;
    float y[2] = {0, 0};

    begin();
    assert_int_equal(run(text, y, &error), expected);
    assert_contains(kiln_error_message(error), words);
    kiln_error_free(error);
    end();
}

static void what_nobody_defines_is_named(void **state)
{
    (void)state;
    assert_refused("declare float @_Z7nothingfDv4_i(float, <4 x i32>)\n"
                   "define i32 @E(@I %item, @A %y, i64 %n) {\n"
                   "  %r = call float @_Z7nothingfDv4_i(float 1.0, <4 x i32> "
                   "zeroinitializer)\n"
                   "  store float %r, @A %y\n"
                   "  ret i32 0\n}\n",
                   KILN_ECODEGEN, "undefined function 'nothing(float, int4)'");
}

static void a_library_that_is_not_here_is_named(void **state)
{
    (void)state;
    assert_int_equal(remove(library), 0);
    assert_refused(of_opencl, KILN_ENOTFOUND, "nvptx64--.bc");
}

static int setup(void **state)
{
    char command[600];
    const int status = temporary_folder_setup(state);

    folder = *state;
    snprintf(library, sizeof library, "%s/clc/nvptx64--.bc", folder);
    snprintf(command, sizeof command, "mkdir -p %s/clc && cp -L %s %s/clc",
             folder, installed, folder);
    if (status != 0 || system(command) != 0)
        return -1;
    snprintf(command, sizeof command, "%s/clc", folder);
    return setenv("KILN_LIBCLC", command, 1);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, setup, temporary_folder_teardown)

int main(void)
{
    static const int watched[] = {SYS_openat};
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_second_start_opens_no_library),
        IN_FOLDER(another_library_builds_what_it_took_part_in),
        IN_FOLDER(what_nobody_defines_is_named),
        IN_FOLDER(a_library_that_is_not_here_is_named),
    };

    if (access(installed, R_OK) != 0)
        return program_skip(SKIP_PACKAGE, "libclc is not installed");
    if (!system_calls_watch(watched, 1))
        return program_skip(SKIP_MACHINE,
                            "the kernel lets nobody watch system calls");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
