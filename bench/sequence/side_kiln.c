/* side_kiln.c - the kernels in Kiln's language, on the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include <kiln.h>

#include "sequence.h"

static const char source[] = "kernel saxpy(y, x, a)\n"
                             "    i = global_id(0)\n"
                             "    if i < length(y)\n"
                             "        y[i] = a * x[i] + y[i]\n"
                             "    end\n"
                             "end\n"
                             "kernel orbits(y, x, steps)\n"
                             "    i = global_id(0)\n"
                             "    if i < length(y)\n"
                             "        z = f32(0)\n"
                             "        n = i64(0)\n"
                             "        while n < steps && z < f32(4)\n"
                             "            z = z * z + x[i]\n"
                             "            n += 1\n"
                             "        end\n"
                             "        y[i] = z\n"
                             "    end\n"
                             "end\n";

static kiln_context *context;
static kiln_device *device;
static kiln_queue *queue;
static const kiln_kernel *kernel;
static kiln_array x, y;
static float factor = 0.5f;
static int64_t steps;
static kiln_launch shape;
static const void *arguments[3] = {&y, &x, NULL};

static int good(kiln_status status, kiln_error **error)
{
    if (status != KILN_OK)
        fprintf(stderr, "kiln: %s\n",
                *error ? kiln_error_message(*error) : kiln_status_text(status));
    return status == KILN_OK;
}

static int compile(const char *name, const char *last)
{
    kiln_error *error = NULL;
    kiln_package *package;
    const kiln_config *config;
    const kiln_type *types[3];
    kiln_signature signature = {NULL, types, 3};

    return good(kiln_config_new(&config, context, NULL, &error), &error) &&
           good(kiln_package_new(&package, context, "sequence", &error),
                &error) &&
           good(kiln_package_define(package, "sequence.kiln", source,
                                    strlen(source), NULL, &error),
                &error) &&
           good(kiln_package_function(&signature.function, package, name,
                                      &error),
                &error) &&
           good(kiln_type_parse(&types[0], context, NULL, "f32[:]", &error),
                &error) &&
           good(kiln_type_parse(&types[1], context, NULL, "f32[:]", &error),
                &error) &&
           good(kiln_type_parse(&types[2], context, NULL, last, &error),
                &error) &&
           good(
               kiln_compile(&kernel, context, &signature, config, NULL, &error),
               &error);
}

static int open_kiln(struct work *work)
{
    kiln_error *error = NULL;

    x = (kiln_array){.data = work->x, .sizes = {work->items}};
    y = (kiln_array){.data = work->y, .sizes = {work->items}};
    steps = work->steps;
    shape.grid[0] = (uint64_t)work->items;
    arguments[2] = work->kernel == SAXPY ? (const void *)&factor : &steps;
    return good(kiln_context_new(&context, NULL, &error), &error) &&
           good(kiln_device_open(&device, context, "host", 0, &error),
                &error) &&
           good(kiln_queue_new(&queue, device, &error), &error) &&
           compile(work->kernel == SAXPY ? "saxpy" : "orbits",
                   work->kernel == SAXPY ? "f32" : "i64");
}

static int launch(void)
{
    kiln_error *error = NULL;

    return good(kiln_queue_launch(queue, kernel, &shape, arguments, 3, &error),
                &error) &&
           good(kiln_queue_wait(queue, &error), &error);
}

static void close_kiln(void)
{
    kiln_queue_free(queue);
    kiln_device_close(device);
    kiln_context_free(context);
}

const struct side side_kiln = {open_kiln, launch, close_kiln};
