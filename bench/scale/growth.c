/* growth.c - what compiling a program takes, and what is held of it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "growth.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <kiln.h>

/*
 * usage: kiln-growth SHAPE SIZE     one program of that size
 *        kiln-growth held COUNT     so many kernels, and dropping them
 *        kiln-growth rounds COUNT   so many kernels, defined again and again
 *
 * Prints a JSON object a line. Something small is compiled first, so that
 * opening the code generator is in no figure.
 */
#define ITEMS 8
#define ROUNDS 32

struct growth {
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
    fprintf(stderr, "kiln-growth: %s\n", kiln_status_name(status));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the context's memory ---- */

static atomic_uint_fast64_t live, most;

static void *counted(void *env, void *memory, size_t old_size, size_t new_size)
{
    uint64_t now, seen;
    void *grown = NULL;

    (void)env;
    if (new_size == 0)
        free(memory);
    else if (!(grown = realloc(memory, new_size)))
        return NULL;
    now = atomic_fetch_add(&live, new_size - old_size) + new_size - old_size;
    seen = atomic_load(&most);
    while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
        ;
    return grown;
}

/* The most that this process had in memory, with LLVM's. */
static long long resident_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (long long)usage.ru_maxrss * 1024;
}

/* ---- compiling ---- */

static void define(struct growth *g, const char *bytes, size_t size)
{
    need(kiln_package_define(g->package, "growth.kiln", bytes, size, NULL,
                             &error));
}

static const kiln_kernel *compile(struct growth *g, const char *name)
{
    kiln_signature signature = {NULL, &g->array, 1};
    const kiln_kernel *kernel = NULL;

    need(kiln_package_function(&signature.function, g->package, name, &error));
    need(
        kiln_compile(&kernel, g->context, &signature, g->config, NULL, &error));
    return kernel;
}

/* Each item has to become `sum`. */
static void check(struct growth *g, const kiln_kernel *kernel, int64_t sum)
{
    float items[ITEMS] = {0};
    const kiln_array array = {.data = items, .sizes = {ITEMS}, .strides = {1}};
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}};
    const void *const arguments[] = {&array};

    need(kiln_queue_launch(g->queue, kernel, &launch, arguments, 1, &error));
    need(kiln_queue_wait(g->queue, &error));
    for (int i = 0; i < ITEMS; i++)
        if ((int64_t)items[i] != sum) {
            fprintf(stderr, "kiln-growth: %g instead of %lld\n",
                    (double)items[i], (long long)sum);
            exit(1);
        }
}

static void open_all(struct growth *g)
{
    static const kiln_alloc alloc = {sizeof alloc, NULL, counted};
    static const char first[] = "kernel first(y)\n"
                                "    y[global_id(0)] = f32(3)\n"
                                "end\n";
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    options.alloc = &alloc;
    need(kiln_context_new(&g->context, &options, &error));
    need(kiln_config_new(&g->config, g->context, NULL, &error));
    need(kiln_device_open(&g->device, g->context, "host", 0, &error));
    need(kiln_queue_new(&g->queue, g->device, &error));
    need(kiln_package_new(&g->package, g->context, "growth", &error));
    need(kiln_type_array(&g->array, g->context,
                         kiln_type_scalar(g->context, KILN_TYPE_F32), 1, 0,
                         &error));
    define(g, first, sizeof first - 1);
    check(g, compile(g, "first"), 3);
}

static void close_all(struct growth *g)
{
    kiln_queue_free(g->queue);
    kiln_device_close(g->device);
    kiln_context_free(g->context);
}

/* ---- one program ---- */

static void print_stages(const kiln_statistics *before,
                         const kiln_statistics *after)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        KILN_STAGE_MAP(NAME)
#undef NAME
    };

    printf(", \"stages_ns\": {");
    for (int i = 0; i < KILN_STAGE_COUNT; i++)
        printf("%s\"%s\": %llu", i ? ", " : "", names[i],
               (unsigned long long)(after->stage_ns[i] - before->stage_ns[i]));
    printf("}");
}

static int measure_program(struct growth *g, const char *shape, int size)
{
    kiln_statistics before = {.size = sizeof before};
    kiln_statistics after = {.size = sizeof after};
    struct text text = {0};
    const int64_t sum = growth_text(&text, shape, size);
    uint64_t start, defined, compiled, base, resident;
    const kiln_kernel *kernel;

    if (sum < 0)
        return 0;
    kiln_statistics_get(&before, g->context);
    base = atomic_load(&live);
    atomic_store(&most, base);
    resident = (uint64_t)resident_bytes();
    start = now_ns();
    define(g, text.bytes, text.size);
    defined = now_ns();
    kernel = compile(g, "grown");
    compiled = now_ns();
    kiln_statistics_get(&after, g->context);
    check(g, kernel, sum);
    printf("{\"shape\": \"%s\", \"size\": %d, \"text_bytes\": %zu, "
           "\"define_ns\": %llu, \"compile_ns\": %llu, "
           "\"context_bytes\": %llu, \"context_most_bytes\": %llu, "
           "\"process_most_bytes\": %llu",
           shape, size, text.size, (unsigned long long)(defined - start),
           (unsigned long long)(compiled - defined),
           (unsigned long long)(atomic_load(&live) - base),
           (unsigned long long)(atomic_load(&most) - base),
           (unsigned long long)resident_bytes() - resident);
    print_stages(&before, &after);
    printf("}\n");
    free(text.bytes);
    return 1;
}

/* ---- what is held ---- */

static void print_held(struct growth *g, const char *when, int count,
                       uint64_t base, int round)
{
    static const char *const tiers[] = {
#define NAME(name, text) text,
        KILN_TIER_MAP(NAME)
#undef NAME
    };
    kiln_statistics s = {.size = sizeof s};

    kiln_statistics_get(&s, g->context);
    printf("{\"when\": \"%s\", \"round\": %d, \"kernels\": %d, "
           "\"context_bytes\": %lld",
           when, round, count, (long long)(atomic_load(&live) - base));
    for (int i = 0; i < KILN_TIER_COUNT; i++)
        printf(", \"%s_entries\": %llu, \"%s_bytes\": %llu", tiers[i],
               (unsigned long long)s.tiers[i].entries, tiers[i],
               (unsigned long long)s.tiers[i].bytes);
    printf("}\n");
}

static void compile_all(struct growth *g, int count, int step)
{
    for (int n = 0; n < count; n++) {
        char name[16];

        snprintf(name, sizeof name, "k%d", n);
        check(g, compile(g, name), n + step);
    }
}

static void define_all(struct growth *g, int count, int step)
{
    struct text text = {0};

    growth_kernels(&text, count, step);
    define(g, text.bytes, text.size);
    free(text.bytes);
}

/* Kernels are redefined, which makes the old ones outdated; then their package
   goes, and nothing is left that could ask for them. */
static void measure_held(struct growth *g, int count)
{
    const uint64_t base = atomic_load(&live);

    print_held(g, "before", count, base, 0);
    define_all(g, count, 1);
    print_held(g, "defined", count, base, 0);
    compile_all(g, count, 1);
    print_held(g, "compiled", count, base, 0);
    define_all(g, count, 2);
    print_held(g, "redefined", count, base, 0);
    kiln_context_collect(g->context);
    print_held(g, "redefined, collected", count, base, 0);
    need(kiln_package_unload(g->package, NULL, &error));
    kiln_context_collect(g->context);
    print_held(g, "unloaded, collected", count, base, 0);
}

/* The same kernels over and over with another meaning, as in a session of
   somebody who works on them: nothing old may stay. */
static void measure_rounds(struct growth *g, int count)
{
    const uint64_t base = atomic_load(&live);

    for (int round = 1; round <= ROUNDS; round++) {
        define_all(g, count, round);
        compile_all(g, count, round);
        kiln_context_collect(g->context);
        if ((round & (round - 1)) == 0)
            print_held(g, "round", count, base, round);
    }
}

int main(int argc, char **argv)
{
    const int size = argc == 3 ? atoi(argv[2]) : 0;
    struct growth g = {0};
    int is_known = 1;

    /* What is built is timed: nothing comes from the disk. */
    (void)setenv("KILN_CACHE", "off", 1);
    if (size < 1) {
        fputs("usage: kiln-growth SHAPE SIZE | held COUNT | rounds COUNT\n",
              stderr);
        return 2;
    }
    open_all(&g);
    if (strcmp(argv[1], "held") == 0)
        measure_held(&g, size);
    else if (strcmp(argv[1], "rounds") == 0)
        measure_rounds(&g, size);
    else
        is_known = measure_program(&g, argv[1], size);
    close_all(&g);
    return is_known ? 0 : 2;
}
