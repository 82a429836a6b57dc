/* side_kiln.c - runs a case on Kiln's host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln.h>
#include <kiln/opencl.h>

#include "cases.h"

static kiln_context *context;
static const kiln_config *config;
static kiln_device *device;
static kiln_queue *queue;

/* One case under way. */
typedef struct running {
    const cl_case *c;
    const kiln_kernel *kernel;
    kiln_buffer *buffers[CASE_ARGUMENTS_MAX];
    kiln_array arrays[CASE_ARGUMENTS_MAX];
    uint64_t locals[CASE_ARGUMENTS_MAX];
    const void *values[CASE_ARGUMENTS_MAX];
    kiln_launch launch;
} running;

static int good(kiln_status status, kiln_error *error)
{
    if (status == KILN_OK)
        return 1;
    (void)fprintf(stderr, "%s\n",
                  error != NULL ? kiln_error_message(error)
                                : kiln_status_text(status));
    kiln_error_free(error);
    return 0;
}

static kiln_status open_host(kiln_error **error)
{
    const kiln_status status =
        kiln_device_open(&device, context, "host", 0, error);

    return status == KILN_OK ? kiln_queue_new(&queue, device, error) : status;
}

int kiln_open(const char *target)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;
    kiln_status status = kiln_context_new(&context, NULL, &error);

    options.target = target;
    if (status == KILN_OK)
        status = kiln_config_new(&config, context, &options, &error);
    if (status == KILN_OK)
        status = target == NULL ? open_host(&error)
                                : kiln_device_open_offline(&device, context,
                                                           config, &error);
    return good(status, error);
}

void kiln_close(void)
{
    kiln_queue_free(queue);
    kiln_device_close(device);
    kiln_context_free(context);
}

static kiln_status type_of(const kiln_type **out, const case_argument *a,
                           kiln_error **error)
{
    char text[80];

    (void)snprintf(text, sizeof text, "%s%s",
                   a->kind == CASE_LOCAL ? "u64" : a->type,
                   a->kind == CASE_BUFFER ? "[:]" : "");
    return kiln_type_parse(out, context, NULL, text, error);
}

static kiln_status compile(running *r, kiln_error **error)
{
    const kiln_type *types[CASE_ARGUMENTS_MAX];
    kiln_signature call = {.types = types, .count = r->c->count};
    kiln_opencl_program *program;
    kiln_status status = kiln_opencl_load(&program, context, r->c->path,
                                          r->c->options, NULL, error);

    if (status == KILN_OK)
        status =
            kiln_opencl_function(&call.function, program, r->c->kernel, error);
    for (size_t i = 0; i < r->c->count && status == KILN_OK; i++)
        status = type_of(&types[i], &r->c->arguments[i], error);
    return status == KILN_OK
               ? kiln_compile(&r->kernel, context, &call, config, NULL, error)
               : status;
}

/* No type is aligned to more. */
#define LOCAL_ALIGNMENT 128u

static kiln_status set_argument(running *r, size_t i, kiln_error **error)
{
    const case_argument *a = &r->c->arguments[i];
    kiln_status status;

    r->values[i] = a->scalar;
    if (a->kind == CASE_LOCAL) {
        r->locals[i] = a->size;
        r->launch.dynamic_local_bytes +=
            ((uint32_t)a->size + LOCAL_ALIGNMENT - 1) & ~(LOCAL_ALIGNMENT - 1);
        r->values[i] = &r->locals[i];
    }
    if (a->kind != CASE_BUFFER)
        return KILN_OK;
    status = kiln_buffer_new(&r->buffers[i], device, a->size, error);
    if (status != KILN_OK)
        return status;
    r->arrays[i].data = kiln_buffer_address(r->buffers[i]);
    r->arrays[i].sizes[0] =
        (int64_t)(a->size / (strcmp(a->type, "u8") == 0 ? 1 : a->item_size));
    r->values[i] = &r->arrays[i];
    return KILN_OK;
}

static int reset(void *env)
{
    running *r = env;
    kiln_error *error = NULL;
    kiln_status status = KILN_OK;

    for (size_t i = 0; i < r->c->count && status == KILN_OK; i++)
        if (r->buffers[i] != NULL)
            status =
                kiln_buffer_write(r->buffers[i], 0, r->c->arguments[i].bytes,
                                  r->c->arguments[i].size, &error);
    return good(status, error);
}

static int launch(void *env)
{
    running *r = env;
    kiln_error *error = NULL;
    kiln_status status = kiln_queue_launch(queue, r->kernel, &r->launch,
                                           r->values, r->c->count, &error);

    if (status == KILN_OK)
        status = kiln_queue_wait(queue, &error);
    return good(status, error);
}

static int take_results(case_run *out, const running *r)
{
    kiln_error *error = NULL;
    kiln_status status = KILN_OK;

    for (size_t i = 0; i < r->c->count && status == KILN_OK; i++)
        if (r->buffers[i] != NULL)
            status = kiln_buffer_read(r->buffers[i], 0, out->results[i],
                                      r->c->arguments[i].size, &error);
    return good(status, error);
}

static int run(case_run *out, running *r, int with_times)
{
    const double start = now_ms();
    kiln_error *error = NULL;
    kiln_status status = compile(r, &error);

    out->build_ms = now_ms() - start;
    for (size_t i = 0; i < r->c->count && status == KILN_OK; i++)
        status = set_argument(r, i, &error);
    if (!good(status, error))
        return 0;
    for (int d = 0; d < 3; d++) {
        r->launch.grid[d] = r->c->global[d];
        r->launch.block[d] = (uint32_t)r->c->local[d];
    }
    if (!reset(r) || !launch(r) || !take_results(out, r))
        return 0;
    if (with_times)
        out->second_ms = run_time(reset, launch, r);
    return out->second_ms >= 0;
}

int kiln_compiles(const cl_case *c)
{
    running r = {.c = c};
    kiln_error *error = NULL;

    return good(compile(&r, &error), error);
}

int kiln_run(case_run *out, const cl_case *c, int with_times)
{
    running r = {.c = c};
    const int ran = run_begin(out, c) && run(out, &r, with_times);

    for (size_t i = 0; i < c->count; i++)
        kiln_buffer_free(r.buffers[i]);
    return ran;
}
