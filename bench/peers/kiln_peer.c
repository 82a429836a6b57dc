/* kiln_peer.c - the comparison in Kiln: on the host, or up to a cubin. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln.h>

#include "peer.h"

static const char source[] = "kernel saxpy(y, a, x)\n"
                             "    i = global_id(0)\n"
                             "    if i < length(y)\n"
                             "        y[i] = a * x[i] + y[i]\n"
                             "    end\n"
                             "end\n"
                             "kernel nothing(y, a, x)\n"
                             "end\n";

/* With PEER_TARGET in the environment, kernels are made for that target and not
   run. */
static const char *target;
static kiln_context *context;
static const kiln_config *config;
static kiln_package *package;
static kiln_device *device;
static kiln_queue *queue;
static const kiln_type *vector, *types[3];
static kiln_signature saxpy = {NULL, types, 3}, nothing = {NULL, types, 3},
                      variant = {NULL, types, 3};
static kiln_call_site saxpy_site, nothing_site;
static kiln_array whole_y, whole_x;
static kiln_error *error;

static int good(kiln_status status)
{
    kiln_blob text = {0};

    if (status == KILN_OK)
        return 1;
    if (error && kiln_error_render(&text, error, KILN_RENDER_PLAIN) == KILN_OK)
        fputs(text.data, stderr);
    else
        fprintf(stderr, "kiln: %s\n", kiln_status_text(status));
    kiln_blob_release(&text);
    kiln_error_free(error);
    error = NULL;
    return 0;
}

static int open_kiln(const char *folder)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;

    cache.directory = folder;
    options.cache = &cache;
    settings.target = target;
    if (!good(kiln_context_new(&context, &options, &error)) ||
        !good(kiln_config_new(&config, context, &settings, &error)))
        return 0;
    return good(target
                    ? kiln_device_open_offline(&device, context, config, &error)
                    : kiln_device_open(&device, context,
                                       kiln_config_backend(config), 0,
                                       &error)) &&
           good(kiln_queue_new(&queue, device, &error));
}

static int define(void)
{
    if (package)
        return 1;
    types[1] = kiln_type_scalar(context, KILN_TYPE_F32);
    if (!good(kiln_package_new(&package, context, "peer", &error)) ||
        !good(kiln_package_define(package, "peer.kiln", source, strlen(source),
                                  NULL, &error)) ||
        !good(
            kiln_package_function(&saxpy.function, package, "saxpy", &error)) ||
        !good(kiln_package_function(&nothing.function, package, "nothing",
                                    &error)) ||
        !good(kiln_type_parse(&vector, context, NULL, "f32[:]", &error)))
        return 0;
    types[0] = types[2] = vector;
    return 1;
}

static int launch(kiln_call_site *site, const kiln_signature *signature,
                  kiln_array *y, kiln_array *x, uint64_t items)
{
    const float a = PEER_A;
    const void *const arguments[] = {y, &a, x};
    const kiln_launch shape = {.grid = {items}};
    const kiln_kernel *kernel = kiln_call_site_get(site);

    if (!kernel &&
        !good(kiln_call_site_compile(&kernel, site, context, signature, config,
                                     NULL, &error)))
        return 0;
    return good(kiln_queue_launch(queue, kernel, &shape, arguments, 3, &error));
}

/* For a target that is not run on: true when the result is code that could be
   loaded. */
static int is_machine_code(void)
{
    const kiln_kernel *kernel = kiln_call_site_get(&saxpy_site);
    const char *format =
        kernel ? kiln_artifact_format(kiln_kernel_artifact(kernel)) : "nothing";

    if (strcmp(format, "cubin") == 0 || strcmp(format, "elf") == 0)
        return 1;
    fprintf(stderr, "kiln: made %s for %s, and no machine code\n", format,
            target);
    return 0;
}

static int execute(float *y, const float *x, size_t size)
{
    const float *const from = x;

    whole_y = (kiln_array){.data = y, .sizes = {(int64_t)size}};
    whole_x = (kiln_array){.sizes = {(int64_t)size}};
    memcpy(&whole_x.data, &from, sizeof from);
    return define() && launch(&saxpy_site, &saxpy, &whole_y, &whole_x, size) &&
           good(kiln_queue_wait(queue, &error)) &&
           (!target || is_machine_code());
}

static int again(void)
{
    return launch(&saxpy_site, &saxpy, &whole_y, &whole_x,
                  (uint64_t)whole_y.sizes[0]) &&
           good(kiln_queue_wait(queue, &error));
}

static int launch_nothing(int count)
{
    for (int i = 0; i < count; i++)
        if (!launch(&nothing_site, &nothing, &whole_y, &whole_x, 1))
            return 0;
    return good(kiln_queue_wait(queue, &error));
}

/* Each kernel has its own text, as in a runtime that generates texts. */
static int run_variant(int constant, float *y, const float *x, size_t size)
{
    kiln_call_site site = {0};
    kiln_array to = {.data = y, .sizes = {(int64_t)size}};
    kiln_array from = {.sizes = {(int64_t)size}};
    char text[256], name[32];
    const int length = snprintf(text, sizeof text,
                                "kernel scaled_%d(y, a, x)\n"
                                "    i = global_id(0)\n"
                                "    if i < length(y)\n"
                                "        y[i] = %d.0 * x[i] + y[i]\n"
                                "    end\n"
                                "end\n",
                                constant, constant);

    memcpy(&from.data, &x, sizeof x);
    snprintf(name, sizeof name, "scaled_%d", constant);
    return good(kiln_package_define(package, name, text, (size_t)length, NULL,
                                    &error)) &&
           good(kiln_package_function(&variant.function, package, name,
                                      &error)) &&
           launch(&site, &variant, &to, &from, size) &&
           good(kiln_queue_wait(queue, &error));
}

static void close_kiln(void)
{
    kiln_queue_free(queue);
    kiln_device_close(device);
    kiln_context_free(context);
}

static void tell(struct peer_about *about)
{
    snprintf(about->version, sizeof about->version, "%s", kiln_version());
}

int main(int argc, char **argv)
{
    struct peer peer = {.about = tell,
                        .open = open_kiln,
                        .execute = execute,
                        .again = again,
                        .launch_nothing = launch_nothing,
                        .variant = run_variant,
                        .close = close_kiln};

    target = getenv("PEER_TARGET");
    if (target)
        peer.again = NULL;
    return peer_main(argc, argv, &peer);
}
