/* turn_kiln.c - a kernel in Kiln's language or in OpenCL C, on Kiln's host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln.h>
#include <kiln/opencl.h>

#include "turn.h"

/*
 * Another kernel is compiled first, which opens the library with LLVM: what is
 * timed is one kernel more in a process that goes on, from its source on.
 */
static const char other[] = "kernel other(y)\n    y[global_id(0)] = 1\nend\n";

static kiln_context *context;
static const kiln_config *config;
static kiln_device *device;
static kiln_queue *queue;
static const kiln_kernel *kernel;
static kiln_array arrays[TURN_ARGUMENTS_MAX];
static const void *values[TURN_ARGUMENTS_MAX];
static size_t value_count;
static kiln_launch shape;

static int good(kiln_status status, kiln_error *error)
{
    if (status == KILN_OK)
        return 1;
    return turn_complain("kiln", error != NULL ? kiln_error_message(error)
                                               : kiln_status_text(status));
}

/* ---- opening ---- */

static int read_options(kiln_config_options *out, int count, char **options)
{
    for (int i = 0; i < count; i++)
        if (strcmp(options[i], "unchecked") == 0)
            out->bounds_checks = KILN_SWITCH_OFF;
        else if (strcmp(options[i], "fast") == 0)
            out->fast_math = KILN_SWITCH_ON;
        else
            return turn_complain("what option is", options[i]);
    return 1;
}

static int open_host(const turn_case *c, int count, char **options)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;

    if (!read_options(&settings, count, options))
        return 0;
    for (int d = 0; d < 3 && c->block[0] > 0; d++)
        settings.required_group_size[d] = (uint32_t)c->block[d];
    (void)setenv("KILN_CACHE", "off", 1);
    return good(kiln_context_new(&context, NULL, &error), error) &&
           good(kiln_config_new(&config, context, &settings, &error), error) &&
           good(kiln_device_open(&device, context, "host", 0, &error), error) &&
           good(kiln_queue_new(&queue, device, &error), error);
}

/* ---- compiling ---- */

static int compile_other(void)
{
    const kiln_type *type;
    kiln_signature call = {.types = &type, .count = 1};
    const kiln_kernel *made;
    kiln_package *package;
    kiln_error *error = NULL;

    return good(kiln_package_new(&package, context, "other", &error), error) &&
           good(kiln_package_define(package, "other.kiln", other,
                                    sizeof other - 1, NULL, &error),
                error) &&
           good(kiln_package_function(&call.function, package, "other", &error),
                error) &&
           good(kiln_type_parse(&type, context, NULL, "f32[:]", &error),
                error) &&
           good(kiln_compile(&made, context, &call, config, NULL, &error),
                error);
}

static int find_function(const kiln_function **out, const turn_case *c)
{
    kiln_error *error = NULL;
    kiln_package *package;
    kiln_opencl_program *program;

    if (strstr(c->source, ".cl") != NULL)
        return good(kiln_opencl_load(&program, context, c->source, "", NULL,
                                     &error),
                    error) &&
               good(kiln_opencl_function(out, program, c->kernel, &error),
                    error);
    return good(kiln_package_load(&package, context, c->source, NULL, &error),
                error) &&
           good(kiln_package_function(out, package, c->kernel, &error), error);
}

static int type_of(const kiln_type **out, const turn_argument *a, int is_flat)
{
    static const char *const ranks[] = {"", "[:]", "[:,:]", "[:,:,:]"};
    char text[32];
    kiln_error *error = NULL;

    (void)snprintf(text, sizeof text, "%s%s", a->type,
                   ranks[is_flat && a->rank > 1 ? 1 : a->rank]);
    return good(kiln_type_parse(out, context, NULL, text, &error), error);
}

static int compile(const turn_case *c, int is_flat)
{
    const kiln_type *types[TURN_ARGUMENTS_MAX];
    kiln_signature call = {.types = types, .count = c->count};
    kiln_error *error = NULL;

    if (!find_function(&call.function, c))
        return 0;
    for (size_t i = 0; i < c->count; i++)
        if (!type_of(&types[i], &c->arguments[i], is_flat))
            return 0;
    return good(kiln_compile(&kernel, context, &call, config, NULL, &error),
                error);
}

static void bind(const turn_case *c, int is_flat)
{
    value_count = c->count;
    for (size_t i = 0; i < c->count; i++) {
        const turn_argument *a = &c->arguments[i];
        int64_t items = 1;

        values[i] = a->rank == 0 ? a->initial : &arrays[i];
        arrays[i].data = a->data;
        for (int d = 0; d < a->rank; d++) {
            arrays[i].sizes[d] = a->sizes[d];
            items *= a->sizes[d];
        }
        if (is_flat)
            arrays[i] = (kiln_array){.data = a->data, .sizes = {items}};
    }
    for (int d = 0; d < 3; d++) {
        shape.grid[d] = (uint64_t)c->grid[d];
        shape.block[d] = (uint32_t)c->block[d];
    }
}

static int open_kiln(const turn_case *c, int count, char **options, double *ms)
{
    const int is_flat = strstr(c->source, ".cl") != NULL;
    double start;

    if (!open_host(c, count, options) || !compile_other())
        return 0;
    start = turn_now_ns();
    if (!compile(c, is_flat))
        return 0;
    *ms = (turn_now_ns() - start) / 1e6;
    bind(c, is_flat);
    return 1;
}

static int launch(void)
{
    kiln_error *error = NULL;

    return good(kiln_queue_launch(queue, kernel, &shape, values, value_count,
                                  &error),
                error) &&
           good(kiln_queue_wait(queue, &error), error);
}

const turn_side turn_side_here = {
    .usage = "[unchecked] [fast]",
    .open = open_kiln,
    .launch = launch,
    .version = kiln_version,
};
