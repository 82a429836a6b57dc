/* packed.c - a program that ships its kernels in a pack. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/*
 *
 * usage: packed FOLDER            runs the kernels, with
 *                                 FOLDER/filters.kilnpack if it is there
 *        packed FOLDER --record   runs nothing; prints which jobs it would run
 *
 * FOLDER contains filters.kiln. The pack is made by
 *
 *     kiln precompile filters.kiln --workload filters.jobs
 *         --target host:x86-64 --target host:x86-64-v3
 *         --target host:x86-64-v4 -o filters.kilnpack
 *
 * A pack has kernels for the targets that were named when it was made. So the
 * program asks for the best of these that this processor can run. It does not
 * ask for `host`, which means everything that this very processor has.
 *
 */
#include <stdio.h>
#include <string.h>

#include <kiln.h>

#define COUNT 8

typedef struct program {
    kiln_context *context;
    kiln_package *filters;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    int is_recording;
} program;

static const char *const targets[] = {"host:x86-64-v4", "host:x86-64-v3",
                                      "host:x86-64"};

/* ---- setting up ---- */

/* A missing or damaged pack costs time, and nothing else. */
static void insert_pack(program *p, const char *folder)
{
    kiln_error *error = NULL;
    kiln_pack *pack = NULL;
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/filters.kilnpack", folder);
    if (kiln_pack_open(&pack, path, &error) == KILN_OK &&
        kiln_insert(p->context, pack, &error) == KILN_OK)
        return;
    (void)fprintf(stderr, "without a pack: %s\n", kiln_error_message(error));
    kiln_error_free(error);
    kiln_pack_close(pack);
}

static kiln_status open_package(program *p, const char *folder,
                                kiln_error **error)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/filters.kiln", folder);
    return kiln_package_load(&p->filters, p->context, path, NULL, error);
}

static kiln_status open_device(program *p, kiln_error **error)
{
    kiln_status status =
        p->is_recording
            ? kiln_device_open_offline(&p->device, p->context, p->config, error)
            : kiln_device_open(&p->device, p->context, "host", 0, error);

    return status == KILN_OK ? kiln_queue_new(&p->queue, p->device, error)
                             : status;
}

/* ---- kernels ---- */

static const char *source_text(int32_t source)
{
    return source == KILN_SOURCE_STORE   ? "from a store"
           : source == KILN_SOURCE_BUILT ? "compiled"
                                         : "from memory";
}

static kiln_status compile(const kiln_kernel **out, const program *p,
                           const char *name, const char *const *types,
                           size_t count, kiln_error **error)
{
    const kiln_type *read[3];
    kiln_signature signature = {.types = read, .count = count};
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    int32_t source = KILN_SOURCE_NONE;
    kiln_status status =
        kiln_package_function(&signature.function, p->filters, name, error);

    for (size_t i = 0; status == KILN_OK && i < count; i++)
        status = kiln_type_parse(&read[i], p->context, NULL, types[i], error);
    options.source = &source;
    if (status == KILN_OK)
        status = kiln_compile(out, p->context, &signature, p->config, &options,
                              error);
    if (status == KILN_OK && !p->is_recording)
        (void)printf("%s: %s\n", name, source_text(source));
    return status;
}

static kiln_status run(const program *p, kiln_error **error)
{
    static const char *const arrays[] = {"f32[:]", "f32[:]", "f32"};
    const kiln_kernel *smooth = NULL, *excess = NULL;
    float x[COUNT] = {0, 0, 3, 0, 0, 9, 0, 0}, y[COUNT], z[COUNT];
    const float limit = 1;
    kiln_array xs = {.data = x, .sizes = {COUNT}};
    kiln_array ys = {.data = y, .sizes = {COUNT}};
    kiln_array zs = {.data = z, .sizes = {COUNT}};
    const void *first[] = {&ys, &xs}, *second[] = {&zs, &ys, &limit};
    const kiln_launch launch = {.grid = {COUNT}};
    kiln_status status = compile(&smooth, p, "smooth", arrays, 2, error);

    if (status == KILN_OK)
        status = compile(&excess, p, "excess", arrays, 3, error);
    if (status == KILN_OK)
        status = kiln_queue_launch(p->queue, smooth, &launch, first, 2, error);
    if (status == KILN_OK)
        status = kiln_queue_launch(p->queue, excess, &launch, second, 3, error);
    if (status == KILN_OK)
        status = kiln_queue_wait(p->queue, error);
    for (int i = 0; i < COUNT && status == KILN_OK && !p->is_recording; i++)
        (void)printf("%g%s", (double)z[i], i + 1 < COUNT ? " " : "\n");
    return status;
}

/* ---- the best target ---- */

/* Fails with KILN_ENODEVICE if this processor cannot run code for the
   target. */
static kiln_status run_on(program *p, const char *target, kiln_error **error)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_status status;

    options.target = target;
    status = kiln_config_new(&p->config, p->context, &options, error);
    if (status == KILN_OK)
        status = open_device(p, error);
    if (status == KILN_OK)
        status = run(p, error);
    if (status == KILN_OK && p->is_recording) {
        kiln_blob list;

        status = kiln_device_workload(&list, p->device, error);
        if (status == KILN_OK) {
            (void)fputs(list.data, stdout);
            kiln_blob_release(&list);
        }
    }
    kiln_queue_free(p->queue);
    kiln_device_close(p->device);
    p->queue = NULL;
    p->device = NULL;
    return status;
}

static kiln_status run_on_best(program *p, kiln_error **error)
{
    kiln_status status = KILN_ENODEVICE;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        if (status != KILN_ENODEVICE)
            break;
        kiln_error_free(*error);
        *error = NULL;
        status = run_on(p, targets[i], error);
    }
    return status;
}

int main(int argc, char **argv)
{
    kiln_error *error = NULL;
    program p = {0};
    kiln_status status;

    if (argc < 2 || argc > 3 ||
        (argc == 3 && strcmp(argv[2], "--record") != 0)) {
        (void)fprintf(stderr, "usage: %s FOLDER [--record]\n", argv[0]);
        return 2;
    }
    p.is_recording = argc == 3;
    status = kiln_context_new(&p.context, NULL, &error);
    if (status == KILN_OK && !p.is_recording)
        insert_pack(&p, argv[1]);
    if (status == KILN_OK)
        status = open_package(&p, argv[1], &error);
    if (status == KILN_OK)
        status = run_on_best(&p, &error);
    if (status != KILN_OK)
        (void)fprintf(stderr, "%s\n", kiln_error_message(error));
    kiln_error_free(error);
    kiln_context_free(p.context);
    return status != KILN_OK;
}
