/* crowd.c - one of many processes that want the same kernels at once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kiln.h>

/*
 * usage: kiln-crowd KERNELS
 *
 * Says "ready", and begins when its standard input ends: who starts many of
 * them lets them all go at once. Compiles so many kernels, one after the
 * other, runs each over a few items and checks what it wrote. Prints a line
 * for each kernel that this process built itself, and last how long all took.
 */
#define ITEMS 64
#define KERNELS_MAX 256

struct crowd {
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    kiln_package *package;
    const kiln_type *array;
};

static kiln_error *error;

static void need(kiln_status status)
{
    kiln_blob text = {0};

    if (status == KILN_OK)
        return;
    if (error && kiln_error_render(&text, error, 0) == KILN_OK)
        fputs(text.data, stderr);
    fprintf(stderr, "kiln-crowd: %s\n", kiln_status_name(status));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void wait_for_the_others(void)
{
    char byte;

    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
}

/* Kernel N gives item I the value 2 * I + N. */
static void define(struct crowd *c, int kernels)
{
    const size_t room = (size_t)kernels * 160 + 1;
    char *text = malloc(room);
    size_t size = 0;

    if (!text)
        need(KILN_ENOMEM);
    for (int n = 0; n < kernels; n++)
        size += (size_t)snprintf(text + size, room - size,
                                 "kernel k%d(y)\n"
                                 "    i = global_id(0)\n"
                                 "    if i < length(y)\n"
                                 "        y[i] = 2 * y[i] + %d\n"
                                 "    end\n"
                                 "end\n",
                                 n, n);
    need(kiln_package_define(c->package, "crowd.kiln", text, size, NULL,
                             &error));
    free(text);
}

static void open_all(struct crowd *c, int kernels)
{
    need(kiln_context_new(&c->context, NULL, &error));
    need(kiln_config_new(&c->config, c->context, NULL, &error));
    need(kiln_device_open(&c->device, c->context, "host", 0, &error));
    need(kiln_queue_new(&c->queue, c->device, &error));
    need(kiln_package_new(&c->package, c->context, "crowd", &error));
    need(kiln_type_array(&c->array, c->context,
                         kiln_type_scalar(c->context, KILN_TYPE_F32), 1, 0,
                         &error));
    define(c, kernels);
}

static void check_kernel(struct crowd *c, const kiln_kernel *kernel, int n)
{
    float items[ITEMS];
    const kiln_array array = {.data = items, .sizes = {ITEMS}, .strides = {1}};
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}};
    const void *const arguments[] = {&array};

    for (int i = 0; i < ITEMS; i++)
        items[i] = (float)i;
    need(kiln_queue_launch(c->queue, kernel, &launch, arguments, 1, &error));
    need(kiln_queue_wait(c->queue, &error));
    for (int i = 0; i < ITEMS; i++)
        if ((int)items[i] != 2 * i + n) {
            fprintf(stderr, "kiln-crowd: item %d of kernel %d is wrong\n", i,
                    n);
            exit(1);
        }
}

static void run_kernel(struct crowd *c, int n)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    kiln_signature signature = {NULL, &c->array, 1};
    const kiln_kernel *kernel = NULL;
    int32_t source = KILN_SOURCE_NONE;
    char name[16];

    options.source = &source;
    snprintf(name, sizeof name, "k%d", n);
    need(kiln_package_function(&signature.function, c->package, name, &error));
    need(kiln_compile(&kernel, c->context, &signature, c->config, &options,
                      &error));
    check_kernel(c, kernel, n);
    if (source == KILN_SOURCE_BUILT)
        printf("built %s\n", name);
}

int main(int argc, char **argv)
{
    const int kernels = argc > 1 ? atoi(argv[1]) : 1;
    struct crowd c = {0};
    uint64_t start;

    if (kernels < 1 || kernels > KERNELS_MAX) {
        fputs("usage: kiln-crowd KERNELS\n", stderr);
        return 2;
    }
    wait_for_the_others();
    start = now_ns();
    open_all(&c, kernels);
    for (int n = 0; n < kernels; n++)
        run_kernel(&c, n);
    printf("took_ns %llu\n", (unsigned long long)(now_ns() - start));
    kiln_queue_free(c.queue);
    kiln_device_close(c.device);
    kiln_context_free(c.context);
    return 0;
}
