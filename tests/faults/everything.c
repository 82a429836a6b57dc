/* everything.c - all that a process of a host does with Kiln. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "everything.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context/context.h"
#include "support/harness.h"

/* Kernels of each kind have a number. */
static const char kinds[] = "fn step%u(x) = x + %u.0\n"
                            "kernel k%u(y)\n"
                            "    y[global_id(0)] = step%u(y[global_id(0)])\n"
                            "end\n"
                            "kernel packed%u(y)\n"
                            "    y[global_id(0)] = step%u(y[0])\n"
                            "end\n"
                            "kernel device%u(y)\n"
                            "    y[global_id(0)] = sin(step%u(y[0]))\n"
                            "end\n";
#define NUMBERS 4u
#define ITEMS 8

/* ---- what went wrong ---- */

/* Takes the error; keeps the first status. */
static void note(kiln_status *first, kiln_status status, kiln_error *error,
                 const char *what, int says)
{
    if (status != KILN_OK && says)
        (void)fprintf(stderr, "%s: %s: %s\n", what, kiln_status_name(status),
                      kiln_error_message(error));
    if (*first == KILN_OK)
        *first = status;
    kiln_error_free(error);
}

static void take_log(void *env, int32_t level, const char *line)
{
    everything *e = env;
    const size_t size = strlen(e->log);

    (void)level;
    (void)snprintf(e->log + size, sizeof e->log - size, "%s\n", line);
}

/* ---- beginning ---- */

static kiln_status define(everything *e, kiln_error **error)
{
    char text[8192] = "";

    for (unsigned i = 0; i < NUMBERS; i++) {
        const size_t size = strlen(text);

        (void)snprintf(text + size, sizeof text - size, kinds, i, i + 1, i, i,
                       i, i, i, i);
    }
    return kiln_package_define(e->package, "main.kiln", text, strlen(text),
                               NULL, error);
}

static kiln_status make_configs(everything *e, kiln_error **error)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_status status;

    options.opt_level = KILN_OPT_0;
    status = kiln_config_new(&e->config, e->context, &options, error);
    options.target = "cuda:sm_80";
    if (status == KILN_OK)
        status = kiln_config_new(&e->cuda, e->context, &options, error);
    return status;
}

static kiln_status make_context(everything *e, kiln_error **error)
{
    static const kiln_host_ops host = {.size = sizeof host, .log = take_log};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    char directory[512], pack[512];

    (void)snprintf(directory, sizeof directory, "%s/cache", e->folder);
    (void)snprintf(pack, sizeof pack, "%s/packed.kilnpack", e->folder);
    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = directory;
    cache.search_path = pack;
    options.cache = &cache;
    options.host = &host;
    options.host_env = e;
    options.workers = 1;
    options.codegen_path = CODEGEN_LIBRARY;
    options.codegen_worker = REAL_WORKER;
    return kiln_context_new(&e->context, &options, error);
}

kiln_status everything_begin(everything *e, const char *folder, int says)
{
    kiln_status first = KILN_OK, status;
    kiln_error *error = NULL;

    *e = (everything){.folder = folder};
    status = make_context(e, &error);
    if (status == KILN_OK)
        status = make_configs(e, &error);
    if (status == KILN_OK)
        status = kiln_package_new(&e->package, e->context, "main", &error);
    if (status == KILN_OK)
        status = define(e, &error);
    if (status == KILN_OK)
        status = toy_open(&e->toy, e->context, &error);
    note(&first, status, error, "to begin", says);
    if (status != KILN_OK)
        everything_end(e);
    return status;
}

void everything_end(everything *e)
{
    kiln_context_free(e->context);
    e->context = NULL;
}

/* ---- doing ---- */

static kiln_status find(kiln_signature *out, everything *e, const char *kind,
                        unsigned number, kiln_error **error)
{
    static _Thread_local const kiln_type *array;
    char name[32];
    kiln_status status =
        kiln_type_parse(&array, e->context, NULL, "f32[:]", error);

    (void)snprintf(name, sizeof name, "%s%u", kind, number);
    *out = (kiln_signature){.types = &array, .count = 1};
    if (status == KILN_OK)
        status = kiln_package_function(&out->function, e->package, name, error);
    return status;
}

static kiln_status compile(const kiln_kernel **out, everything *e,
                           const char *kind, unsigned number,
                           kiln_error **error)
{
    kiln_signature signature;
    kiln_status status = find(&signature, e, kind, number, error);

    if (status == KILN_OK)
        status =
            kiln_compile(out, e->context, &signature, e->config, NULL, error);
    return status;
}

static kiln_status launch(everything *e, const kiln_kernel *kernel,
                          unsigned number, kiln_error **error)
{
    const kiln_launch shape = {.grid = {ITEMS, 1, 1}};
    float y[ITEMS] = {0};
    const kiln_array array = {.data = y, .sizes = {ITEMS}, .strides = {1}};
    const void *const values[] = {&array};
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;
    kiln_status status =
        kiln_device_open(&device, e->context, "host", 0, error);

    if (status == KILN_OK)
        status = kiln_queue_new(&queue, device, error);
    if (status == KILN_OK)
        status = kiln_queue_launch(queue, kernel, &shape, values, 1, error);
    if (status == KILN_OK)
        status = kiln_queue_wait(queue, error);
    for (int i = 0; i < ITEMS && status == KILN_OK; i++)
        if (y[i] != (float)(number + 1))
            abort(); /* a wrong result is worse than any failure */
    kiln_queue_free(queue);
    kiln_device_close(device);
    return status;
}

static kiln_status do_own(everything *e, unsigned number, kiln_error **error)
{
    const kiln_kernel *kernel = NULL;
    kiln_status status = compile(&kernel, e, "k", number, error);

    return status == KILN_OK ? launch(e, kernel, number, error) : status;
}

static kiln_status do_packed(everything *e, unsigned number, kiln_error **error)
{
    const kiln_kernel *kernel = NULL;

    return compile(&kernel, e, "packed", number, error);
}

static kiln_status do_foreign(everything *e, unsigned number,
                              kiln_error **error)
{
    const kiln_signature signature = toy_signature(&e->toy, (int)number);
    const kiln_kernel *kernel;
    char body[64];

    (void)snprintf(body, sizeof body, "  store i64 %u, ptr %%item\n", number);
    e->toy.body = body;
    return kiln_compile(&kernel, e->context, &signature, e->config, NULL,
                        error);
}

static kiln_status do_device_code(everything *e, unsigned number,
                                  kiln_error **error)
{
    kiln_signature signature;
    kiln_blob bytes = {0};
    kiln_status status = find(&signature, e, "device", number, error);

    if (status == KILN_OK)
        status = kiln_emit(&bytes, e->context, &signature, e->cuda, 0,
                           KILN_EMIT_BINARY, error);
    kiln_blob_release(&bytes);
    return status;
}

static kiln_status do_device(everything *e, unsigned number, kiln_error **error)
{
    kiln_device *device = NULL;
    kiln_status status =
        kiln_device_open(&device, e->context, "cuda", 0, error);

    (void)number;
    kiln_device_close(device);
    return status;
}

kiln_status everything_do(everything *e, unsigned number, int says)
{
    static const struct {
        const char *name;
        kiln_status (*run)(everything *e, unsigned number, kiln_error **error);
    } steps[] = {
        {"a kernel", do_own},           {"a kernel of a pack", do_packed},
        {"another's code", do_foreign}, {"code for a device", do_device_code},
        {"a device", do_device},
    };
    kiln_status first = KILN_OK;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        kiln_error *error = NULL;
        const kiln_status status = steps[i].run(e, number, &error);

        note(&first, status, error, steps[i].name, says);
    }
    return first;
}

/* ---- afterwards ---- */

static uint64_t hits_of(const everything *e)
{
    kiln_statistics now = {.size = sizeof now};

    kiln_statistics_get(&now, e->context);
    return now.tiers[KILN_TIER_BINARY].store_hits;
}

static uint64_t puts_of(const everything *e)
{
    kiln_statistics now = {.size = sizeof now};

    kiln_statistics_get(&now, e->context);
    return now.stores[KILN_TIER_BINARY].puts;
}

static int is_whole(int condition, const char *what)
{
    if (!condition)
        (void)fprintf(stderr, "afterwards: %s\n", what);
    return condition;
}

int everything_has_recovered(everything *e)
{
    uint64_t hits, puts;
    int good;

    good = is_whole(everything_do(e, 0, 1) == KILN_OK, "it fails again");
    hits = hits_of(e);
    puts = puts_of(e);
    good &= is_whole(everything_do(e, 1, 1) == KILN_OK, "other work fails");
    good &= is_whole(hits_of(e) > hits, "the pack is not used");
    good &= is_whole(puts_of(e) >= puts + 2, "nothing is stored");
    good &= is_whole(e->context->codegen_worker_state == 1,
                     "there is no worker process");
    if (!good)
        (void)fprintf(stderr, "log: %s\n", e->log);
    return good;
}

/* ---- the pack ---- */

void everything_prepare(const char *folder)
{
    kiln_error *error = NULL;
    char path[512];
    everything e;
    kiln_status status = everything_begin(&e, folder, 1);

    (void)snprintf(path, sizeof path, "%s/packed.kilnpack", folder);
    for (unsigned i = 0; i < NUMBERS && status == KILN_OK; i++)
        status = do_packed(&e, i, &error);
    if (status == KILN_OK)
        status = kiln_delta_save(e.context, path, NULL, NULL, &error);
    if (status != KILN_OK) {
        (void)fprintf(stderr, "the pack: %s\n", kiln_error_message(error));
        abort();
    }
    everything_end(&e);
}

int everything_try(const char *folder, const char *const *words)
{
    const char *all[8] = {"--one", folder};
    char cache[600];

    for (size_t i = 0; words[i] != NULL; i++) {
        assert_true(i < 4);
        all[2 + i] = words[i];
    }
    (void)snprintf(cache, sizeof cache, "%s/cache", folder);
    if (access(cache, F_OK) == 0)
        assert_int_equal(harness_remove_folder(cache), 0);
    return harness_run_self(all);
}
