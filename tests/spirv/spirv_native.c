/* spirv_native.c - what a driver compiled is kept for the next process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/spirv/spirv.h"
#include "base/toolchain/tool_paths.h"
#include "context/keys/key.h"
#include "context/keys/settings.h"
#include "kiln/sys/cache_tools.h"
#include "spirv_kernels.h"
#include "stores/entry.h"
#include "stores/stores.h"
#include "tiers/entry_describe.h"

/*
 * A context stands for a process: what survives it lies in a folder. The
 * translator of a device that takes bitcode is switched off for the second
 * one, so that a compilation there would fail.
 */

typedef struct process {
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    spirv_kernel kernel;
} process;

static void start(process *p, const char *folder, uint8_t mode)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    memset(p, 0, sizeof *p);
    cache.directory = folder;
    cache.mode = mode;
    options.cache = &cache;
    assert_ok(kiln_context_new(&p->context, &options, &test_error));
    assert_ok(
        kiln_device_open(&p->device, p->context, "spirv", 0, &test_error));
    assert_ok(kiln_queue_new(&p->queue, p->device, &test_error));
}

static void end(process *p)
{
    spirv_unload(&p->kernel);
    kiln_queue_free(p->queue);
    kiln_device_close(p->device);
    kiln_context_free(p->context);
    (void)unsetenv("KILN_LLVM_SPIRV");
}

static void without_translator(void)
{
    assert_int_equal(setenv("KILN_LLVM_SPIRV", "/nowhere/llvm-spirv", 1), 0);
}

/* Computes on the queue, and waits if it shall. */
static void run_saxpy(process *p, int waits)
{
    float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8] = {0};
    const float a = 3;
    const kiln_launch shape = {.grid = {8, 1, 1}, .block = {0, 0, 0}};
    kiln_buffer *buffers[2] = {NULL, NULL};
    kiln_array arrays[2] = {{.sizes = {8}}, {.sizes = {8}}};
    const void *arguments[] = {&arrays[1], &a, &arrays[0]};

    for (int i = 0; i < 2; i++) {
        assert_ok(
            kiln_buffer_new(&buffers[i], p->device, sizeof x, &test_error));
        assert_ok(
            kiln_buffer_write(buffers[i], 0, i ? y : x, sizeof x, &test_error));
        arrays[i].data = kiln_buffer_address(buffers[i]);
    }
    assert_ok(kiln_queue_launch(p->queue, &p->kernel.kernel, &shape, arguments,
                                3, &test_error));
    if (waits) {
        assert_ok(kiln_queue_wait(p->queue, &test_error));
    } else {
        kiln_queue_free(p->queue);
        p->queue = NULL;
    }
    assert_ok(kiln_buffer_read(buffers[1], 0, y, sizeof y, &test_error));
    for (int i = 0; i < 8; i++)
        assert_true(y[i] == 3 * (float)i);
    kiln_buffer_free(buffers[0]);
    kiln_buffer_free(buffers[1]);
}

static void check_saxpy(process *p)
{
    run_saxpy(p, 1);
}

static void load_saxpy(process *p)
{
    assert_ok(spirv_load(&p->kernel, p->context, &spirv_saxpy, &test_error));
}

static void start_and_run(process *p, const char *folder, uint8_t mode)
{
    start(p, folder, mode);
    load_saxpy(p);
    check_saxpy(p);
}

/* ---- entries ---- */

typedef struct counted {
    size_t count;
    size_t translated; /* that name a translator */
    int damages;       /* those that are seen */
    kiln_context *context;
} counted;

static int see_entry(void *env, const kiln__store_seen *seen)
{
    counted *c = env;
    kiln__entry entry;
    unsigned char *other;

    if (seen->fault != KILN__FAULT_NONE ||
        seen->stored.entry.kind != KILN__ENTRY_NATIVE)
        return 1;
    c->count++;
    c->translated +=
        memmem(seen->stored.entry.toolchain, seen->stored.entry.toolchain_size,
               "llvm-spirv=", strlen("llvm-spirv=")) != NULL;
    if (!c->damages)
        return 1;
    entry = seen->stored.entry;
    other = calloc(1, entry.payload_size);
    assert_non_null(other);
    entry.payload = other;
    kiln__stores_put(c->context, &entry, 1);
    free(other);
    return 1;
}

static size_t native_entries(process *p, int damages)
{
    counted c = {.damages = damages, .context = p->context};

    assert_ok(kiln__stores_walk(p->context, 0, see_entry, &c));
    return c.count;
}

static size_t translated_entries(process *p)
{
    counted c = {.context = p->context};

    assert_ok(kiln__stores_walk(p->context, 0, see_entry, &c));
    return c.translated;
}

/* A translator of other bytes that does the same, and leaves a trace. */
static void take_another_translator(const char *folder, char trace[512])
{
    char real[PATH_MAX], path[512], text[PATH_MAX + 1024];

    (void)snprintf(trace, 512, "%s/trace", folder);
    assert_int_equal(kiln__tool_find(real, KILN__TOOL_LLVM_SPIRV),
                     KILN__TOOL_FOUND);
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\necho ran > '%s'\nexec '%s' \"$@\"\n", trace,
                   real);
    harness_write_file(path, sizeof path, folder, "translator", text,
                       strlen(text));
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(setenv("KILN_LLVM_SPIRV", path, 1), 0);
}

/* ---- tests ---- */

static void the_next_process_compiles_nothing(void **state)
{
    process p;

    start_and_run(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    assert_int_equal(native_entries(&p, 0), 1);
    end(&p);

    start(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    without_translator();
    load_saxpy(&p);
    check_saxpy(&p);
    end(&p);
}

static void what_another_translator_made_is_not_used(void **state)
{
    char trace[512];
    process p;

    start_and_run(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    if (translated_entries(&p) == 0) {
        end(&p);
        test_skip(
            SKIP_DEVICE,
            "its driver takes modules as they are"); /* the driver takes modules
                                                        as they are */
    }
    end(&p);

    start(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    take_another_translator(*state, trace);
    load_saxpy(&p);
    assert_int_equal(access(trace, F_OK), 0);
    check_saxpy(&p);
    assert_int_equal(native_entries(&p, 0), 1);
    end(&p);

    /* What replaced it is used as long as that translator is there. */
    start(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    assert_int_equal(unlink(trace), 0);
    take_another_translator(*state, trace);
    load_saxpy(&p);
    assert_int_not_equal(access(trace, F_OK), 0);
    check_saxpy(&p);
    end(&p);
}

static void what_the_driver_refuses_is_built_anew(void **state)
{
    process p;

    start_and_run(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    assert_int_equal(native_entries(&p, 1), 1);
    end(&p);

    start_and_run(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    assert_int_equal(native_entries(&p, 0), 1);
    end(&p);

    start(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    without_translator();
    load_saxpy(&p);
    end(&p);
}

static int refusals; /* kernels that the driver does not find */

static kiln_status symbol(void *self, void *module, const char *name,
                          void **function, kiln_error **error)
{
    if (refusals > 0 && refusals-- > 0)
        return kiln_error_set(error, KILN_ECORRUPT, "no kernel \"%s\"", name);
    return kiln__spirv_ops.symbol(self, module, name, function, error);
}

/* A binary that the driver takes is not yet one with the kernel in it. */
static void a_binary_without_its_kernel_is_given_up(void **state)
{
    process p;

    start_and_run(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    end(&p);

    start(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    kiln__backend_entry(p.context, "spirv", 5)->ops.symbol = symbol;
    refusals = 1;
    load_saxpy(&p);
    assert_int_equal(refusals, 0);
    check_saxpy(&p);
    assert_int_equal(native_entries(&p, 0), 1);
    end(&p);

    start(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    without_translator();
    load_saxpy(&p);
    end(&p);
}

static void what_grew_is_kept_when_the_queue_ends(void **state)
{
    process p;

    start(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    load_saxpy(&p);
    run_saxpy(&p, 0);
    assert_int_equal(native_entries(&p, 0), 1);
    end(&p);
}

static void a_mode_that_writes_nothing_keeps_nothing(void **state)
{
    process p;

    start_and_run(&p, *state, KILN_CACHE_MODE_READ_ONLY);
    assert_int_equal(native_entries(&p, 0), 0);
    end(&p);
}

static void a_mode_that_reads_nothing_compiles(void **state)
{
    process p;

    start_and_run(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    end(&p);

    start_and_run(&p, *state, KILN_CACHE_MODE_REFRESH);
    assert_int_equal(native_entries(&p, 0), 1);
    end(&p);
}

static void an_export_leaves_it_out_unless_it_is_asked_for(void **state)
{
    kiln_cache_filter filter = KILN_CACHE_FILTER_INIT;
    kiln_cache_report report = {.size = sizeof report};
    char path[512];
    process p;

    (void)snprintf(path, sizeof path, "%s/out.kilnpack", (char *)*state);
    start_and_run(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    assert_ok(
        kiln_cache_export(&report, p.context, path, NULL, NULL, &test_error));
    assert_int_equal(report.entries, 0);

    filter.kind = "native";
    assert_ok(kiln_cache_export(&report, p.context, path, &filter, NULL,
                                &test_error));
    assert_int_equal(report.entries, 1);
    end(&p);
}

static void see_field(void *env, const char *section, const char *field,
                      const char *value)
{
    char *all = env;
    const size_t used = strlen(all);

    (void)snprintf(all + used, 4096 - used, "%s.%s=%s\n", section, field,
                   value);
}

static int see_description(void *env, const kiln__store_seen *seen)
{
    if (seen->fault != KILN__FAULT_NONE ||
        seen->stored.entry.kind != KILN__ENTRY_NATIVE)
        return 1;
    assert_ok(kiln__entry_describe(&kiln__malloc, &seen->stored.entry,
                                   see_field, env));
    assert_ok(kiln__key_describe(&kiln__malloc, seen->stored.entry.key.encoded,
                                 seen->stored.entry.key.encoded_size, see_field,
                                 env));
    return 1;
}

static void an_entry_says_what_it_is(void **state)
{
    char all[4096] = "";
    process p;

    start_and_run(&p, *state, KILN_CACHE_MODE_READ_WRITE);
    assert_ok(kiln__stores_walk(p.context, 0, see_description, all));
    end(&p);

    assert_contains(all, "meta.target=spirv:1.4+fp64+int64_atomics\n");
    assert_contains(all, "meta.kernel=saxpy\n");
    assert_contains(all, "key.key of=native\n");
    assert_contains(all, "key.binary key=");
    assert_contains(all, "key.driver=");
}

static int is_here(void)
{
    kiln_context *context = NULL;
    kiln_device *device = NULL;
    const int here =
        kiln_context_new(&context, NULL, NULL) == KILN_OK &&
        kiln_device_open(&device, context, "spirv", 0, NULL) == KILN_OK;

    kiln_device_close(device);
    kiln_context_free(context);
    return here;
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_next_process_compiles_nothing),
        TEST(what_another_translator_made_is_not_used),
        TEST(what_the_driver_refuses_is_built_anew),
        TEST(a_binary_without_its_kernel_is_given_up),
        TEST(what_grew_is_kept_when_the_queue_ends),
        TEST(a_mode_that_writes_nothing_keeps_nothing),
        TEST(a_mode_that_reads_nothing_compiles),
        TEST(an_export_leaves_it_out_unless_it_is_asked_for),
        TEST(an_entry_says_what_it_is),
    };

    (void)unsetenv("KILN_CACHE");
    if (!is_here())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests_name("spirv_native", tests, NULL, NULL);
}
