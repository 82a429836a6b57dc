/* session.c - opening, compiling, launching, and the clock. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <time.h>

#include "many.h"

int good(struct session *s, kiln_status status, kiln_error **error)
{
    if (status != KILN_OK && s->status == KILN_OK) {
        s->status = status;
        s->error = error ? *error : NULL;
    } else if (status != KILN_OK && error) {
        kiln_error_free(*error);
    }
    return s->status == KILN_OK;
}

/* ---- the clock ---- */

static uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void execution_begin(struct session *s, const char *name)
{
    static const struct execution none;
    const uint64_t now = now_ns();

    if (s->execution_count > 0) {
        struct execution *last = &s->executions[s->execution_count - 1];

        if (last->name)
            last->ns = now - last->ns;
    }
    if (name && s->execution_count < EXECUTIONS_MAX) {
        s->executions[s->execution_count] = none;
        s->executions[s->execution_count].name = name;
        s->executions[s->execution_count++].ns = now;
    }
}

/* ---- opening ---- */

static int insert_pack(struct session *s)
{
    kiln_error *error = NULL;
    kiln_pack *pack = NULL;
    kiln_status status;

    if (!s->options.insert)
        return 1;
    status = kiln_pack_open(&pack, s->options.insert, &error);
    if (status == KILN_OK) {
        status = kiln_insert(s->context, pack, &error);
        if (status != KILN_OK)
            kiln_pack_close(pack);
    }
    return good(s, status, &error);
}

static int open_device(struct session *s)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;
    kiln_status status;

    settings.target = s->options.target;
    status = kiln_config_new(&s->config, s->context, &settings, &error);
    if (status == KILN_OK)
        status = kiln_device_open(&s->device, s->context,
                                  kiln_config_backend(s->config), 0, &error);
    if (status == KILN_OK)
        status = kiln_queue_new(&s->queue, s->device, &error);
    return good(s, status, &error);
}

int session_open(struct session *s)
{
    kiln_error *error = NULL;

    if (!good(s, kiln_context_new(&s->context, NULL, &error), &error) ||
        !insert_pack(s) || !open_device(s))
        return 0;
    return good(s,
                kiln_package_load(&s->package, s->context, s->options.package,
                                  NULL, &error),
                &error);
}

void session_close(struct session *s)
{
    kiln_queue_free(s->queue);
    kiln_device_close(s->device);
    kiln_context_free(s->context);
    kiln_error_free(s->error);
}

/* ---- kernels ---- */

const kiln_kernel *compile(struct session *s, const char *kernel,
                           const kiln_type *const *types, size_t count)
{
    kiln_signature signature = {.types = types, .count = count};
    const uint64_t start = now_ns();
    const kiln_kernel *out = NULL;
    kiln_error *error = NULL;
    kiln_status status;

    if (s->status != KILN_OK)
        return NULL;
    status =
        kiln_package_function(&signature.function, s->package, kernel, &error);
    if (status == KILN_OK)
        status =
            kiln_compile(&out, s->context, &signature, s->config, NULL, &error);
    s->executions[s->execution_count - 1].compile_ns += now_ns() - start;
    return good(s, status, &error) ? out : NULL;
}

void launch(struct session *s, const kiln_kernel *kernel, uint64_t items,
            const void *const *arguments, size_t count)
{
    const kiln_launch shape = {.grid = {items}};
    kiln_error *error = NULL;

    if (s->status == KILN_OK)
        (void)good(s,
                   kiln_queue_launch(s->queue, kernel, &shape, arguments, count,
                                     &error),
                   &error);
}

void wait_for_all(struct session *s)
{
    kiln_error *error = NULL;

    if (s->status == KILN_OK)
        (void)good(s, kiln_queue_wait(s->queue, &error), &error);
}

kiln_buffer *buffer_of(struct session *s, const void *values, size_t bytes)
{
    kiln_buffer *buffer = NULL;
    kiln_error *error = NULL;
    kiln_status status;

    if (s->status != KILN_OK)
        return NULL;
    status = kiln_buffer_new(&buffer, s->device, bytes, &error);
    if (status == KILN_OK)
        status = kiln_buffer_write(buffer, 0, values, bytes, &error);
    (void)good(s, status, &error);
    return buffer;
}

/* ---- the report ---- */

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

void report(struct session *s, const char *what)
{
    kiln_blob statistics = {0};

    if (!good(s, kiln_statistics_json(&statistics, s->context), NULL))
        return;
    (void)printf("{\"what\": \"%s\", \"checked\": %zu, \"wrong\": %zu, "
                 "\"executions\": [",
                 what, s->checked, s->wrong);
    for (size_t i = 0; i < s->execution_count; i++)
        (void)printf("%s{\"name\": \"%s\", \"ms\": %.6f, "
                     "\"compile_ms\": %.6f}",
                     i > 0 ? ", " : "", s->executions[i].name,
                     ms(s->executions[i].ns), ms(s->executions[i].compile_ns));
    (void)printf("], \"statistics\": %s}\n", (const char *)statistics.data);
    kiln_blob_release(&statistics);
}
