/* saxpy.c - the smallest complete embedding: y = a * x + y. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kiln.h>

static const char source[] = "kernel saxpy(y, a, x)\n"
                             "    i = global_id(0)\n"
                             "    if i < length(y)\n"
                             "        y[i] = a * x[i] + y[i]\n"
                             "    end\n"
                             "end\n";

static const float a = 2.5f;

/* The values are small enough for every result to be exact. */
static float x_at(int64_t i)
{
    return (float)(i % 1024);
}

static float y_at(int64_t i)
{
    return (float)(i % 512);
}

typedef struct saxpy {
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_type *types[3];
    kiln_signature signature;
    kiln_buffer *x;
    kiln_buffer *y;
    int64_t size; /* number of elements */
} saxpy;

static kiln_status open_device(saxpy *s, kiln_error **error)
{
    kiln_status status = kiln_context_new(&s->context, NULL, error);

    if (status == KILN_OK)
        status = kiln_config_new(&s->config, s->context, NULL, error);
    if (status == KILN_OK)
        status = kiln_device_open(&s->device, s->context,
                                  kiln_config_backend(s->config), 0, error);
    if (status == KILN_OK)
        status = kiln_queue_new(&s->queue, s->device, error);
    return status;
}

static kiln_status define_kernel(saxpy *s, kiln_error **error)
{
    kiln_package *package = NULL;
    kiln_status status = kiln_package_new(&package, s->context, "saxpy", error);

    if (status == KILN_OK)
        status = kiln_package_define(package, "saxpy.kiln", source,
                                     strlen(source), NULL, error);
    if (status == KILN_OK)
        status = kiln_package_function(&s->signature.function, package, "saxpy",
                                       error);
    if (status == KILN_OK)
        status =
            kiln_type_parse(&s->types[0], s->context, NULL, "f32[:]", error);
    s->types[1] = kiln_type_scalar(s->context, KILN_TYPE_F32);
    s->types[2] = s->types[0];
    s->signature.types = s->types;
    s->signature.count = 3;
    return status;
}

static kiln_status fill(kiln_buffer **out, const saxpy *s,
                        float (*at)(int64_t i), kiln_error **error)
{
    const size_t bytes = (size_t)s->size * sizeof(float);
    float *values = malloc(bytes);
    kiln_status status = values ? KILN_OK : KILN_ENOMEM;

    for (int64_t i = 0; values && i < s->size; i++)
        values[i] = at(i);
    if (status == KILN_OK)
        status = kiln_buffer_new(out, s->device, bytes, error);
    if (status == KILN_OK)
        status = kiln_buffer_write(*out, 0, values, bytes, error);
    free(values);
    return status;
}

/* Compiles the kernel, unless Kiln has it already, and runs it. */
static kiln_status execute(const saxpy *s, kiln_error **error)
{
    kiln_array y = {.data = kiln_buffer_address(s->y), .sizes = {s->size}};
    kiln_array x = {.data = kiln_buffer_address(s->x), .sizes = {s->size}};
    kiln_launch launch = {.grid = {(uint64_t)s->size}};
    const void *arguments[] = {&y, &a, &x};
    const kiln_kernel *kernel = NULL;
    kiln_status status = kiln_compile(&kernel, s->context, &s->signature,
                                      s->config, NULL, error);

    if (status == KILN_OK)
        status =
            kiln_queue_launch(s->queue, kernel, &launch, arguments, 3, error);
    return status == KILN_OK ? kiln_queue_wait(s->queue, error) : status;
}

static kiln_status execute_timed(const saxpy *s, const char *which,
                                 kiln_error **error)
{
    struct timespec start, end;
    kiln_status status;

    clock_gettime(CLOCK_MONOTONIC, &start);
    status = execute(s, error);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (status == KILN_OK)
        printf("%s execution: %10.3f ms\n", which,
               (double)(end.tv_sec - start.tv_sec) * 1e3 +
                   (double)(end.tv_nsec - start.tv_nsec) * 1e-6);
    return status;
}

/* After two executions, y is its first value plus twice a * x. */
static kiln_status check(const saxpy *s, kiln_error **error)
{
    const size_t bytes = (size_t)s->size * sizeof(float);
    float *y = malloc(bytes);
    int64_t wrong = 0;
    kiln_status status =
        y ? kiln_buffer_read(s->y, 0, y, bytes, error) : KILN_ENOMEM;

    for (int64_t i = 0; status == KILN_OK && i < s->size; i++)
        wrong += y[i] < 2 * a * x_at(i) + y_at(i) ||
                 y[i] > 2 * a * x_at(i) + y_at(i);
    free(y);
    if (status == KILN_OK)
        printf("%lld of %lld elements are wrong\n", (long long)wrong,
               (long long)s->size);
    return wrong ? KILN_EDEVICE : status;
}

static kiln_status run(saxpy *s, kiln_error **error)
{
    kiln_status status = open_device(s, error);

    if (status == KILN_OK)
        status = define_kernel(s, error);
    if (status == KILN_OK)
        status = fill(&s->x, s, x_at, error);
    if (status == KILN_OK)
        status = fill(&s->y, s, y_at, error);
    if (status == KILN_OK)
        status = execute_timed(s, "first ", error);
    if (status == KILN_OK)
        status = execute_timed(s, "second", error);
    return status == KILN_OK ? check(s, error) : status;
}

static void print_error(kiln_status status, const kiln_error *error)
{
    kiln_blob text = {0};

    if (error && kiln_error_render(&text, error, KILN_RENDER_PLAIN) == KILN_OK)
        fputs(text.data, stderr);
    else
        fprintf(stderr, "saxpy: %s\n", kiln_status_text(status));
    kiln_blob_release(&text);
}

int main(int argc, char **argv)
{
    char *end = NULL;
    long log2_size = argc > 1 ? strtol(argv[1], &end, 10) : 20;
    saxpy s = {0};
    kiln_error *error = NULL;
    kiln_status status;

    if (argc > 2 || (argc > 1 && (*end || end == argv[1])) || log2_size < 0 ||
        log2_size > 30) {
        fprintf(stderr, "usage: saxpy [LOG2-OF-SIZE], from 0 to 30\n");
        return 2;
    }
    s.size = (int64_t)1 << log2_size;
    status = run(&s, &error);
    if (status != KILN_OK)
        print_error(status, error);
    kiln_error_free(error);
    kiln_buffer_free(s.x);
    kiln_buffer_free(s.y);
    kiln_queue_free(s.queue);
    kiln_device_close(s.device);
    kiln_context_free(s.context);
    return status == KILN_OK ? 0 : 1;
}
