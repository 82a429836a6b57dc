/* growth.c - what compiling a program costs, and how much memory it keeps. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "growth.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../bench.h"
#include "kernels.h"

/*
 *
 * usage: kiln-growth SHAPE SIZE     one program of that shape and size
 *        kiln-growth held COUNT     COUNT kernels, and dropping them
 *        kiln-growth rounds COUNT   COUNT kernels, defined again and again
 *        kiln-growth edits COUNT    one kernel, edited COUNT times, without a
 *                                   collection
 *
 * Prints a JSON object on each line. Something small is compiled first, so that
 * no figure includes opening the code generator.
 *
 */
#define ITEMS GROWTH_ITEMS
#define ROUNDS 32

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

/* Returns the most memory that this process had, including LLVM's. */
static long long resident_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (long long)usage.ru_maxrss * 1024;
}

/* ---- compiling ---- */

/* Checks that each item has become `sum`. */
static void check(struct kernels *k, const kiln_kernel *kernel, int64_t sum)
{
    float items[ITEMS] = {0};

    kernels_run(k, kernel, items, ITEMS);
    kernels_check(items, ITEMS, 0, sum);
}

static void open_all(struct kernels *k)
{
    static const kiln_alloc alloc = {sizeof alloc, NULL, counted};
    static const char first[] = "kernel first(y)\n"
                                "    y[global_id(0)] = f32(3)\n"
                                "end\n";

    kernels_open(k, &alloc);
    kernels_define(k, first, sizeof first - 1);
    check(k, kernels_compile(k, "first", NULL), 3);
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

static int measure_program(struct kernels *k, const char *shape, int size)
{
    kiln_statistics before = {.size = sizeof before};
    kiln_statistics after = {.size = sizeof after};
    struct text text = {0};
    const int64_t sum = growth_text(&text, shape, size);
    uint64_t start, defined, compiled, base, resident;
    const kiln_kernel *kernel;

    if (sum < 0)
        return 0;
    kiln_statistics_get(&before, k->context);
    base = atomic_load(&live);
    atomic_store(&most, base);
    resident = (uint64_t)resident_bytes();
    start = bench_now_ns();
    kernels_define(k, text.bytes, text.size);
    defined = bench_now_ns();
    kernel = kernels_compile(k, "grown", NULL);
    compiled = bench_now_ns();
    kiln_statistics_get(&after, k->context);
    check(k, kernel, sum);
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

static void print_held(struct kernels *k, const char *when, int count,
                       uint64_t base, int round)
{
    static const char *const tiers[] = {
#define NAME(name, text) text,
        KILN_TIER_MAP(NAME)
#undef NAME
    };
    kiln_statistics s = {.size = sizeof s};

    kiln_statistics_get(&s, k->context);
    printf("{\"when\": \"%s\", \"round\": %d, \"kernels\": %d, "
           "\"context_bytes\": %lld",
           when, round, count, (long long)(atomic_load(&live) - base));
    for (int i = 0; i < KILN_TIER_COUNT; i++)
        printf(", \"%s_entries\": %llu, \"%s_bytes\": %llu", tiers[i],
               (unsigned long long)s.tiers[i].entries, tiers[i],
               (unsigned long long)s.tiers[i].bytes);
    printf("}\n");
}

static void compile_all(struct kernels *k, int count, int step)
{
    for (int n = 0; n < count; n++) {
        char name[16];

        snprintf(name, sizeof name, "k%d", n);
        check(k, kernels_compile(k, name, NULL), n + step);
    }
}

static void define_all(struct kernels *k, int count, int step)
{
    struct text text = {0};

    growth_kernels(&text, count, step);
    kernels_define(k, text.bytes, text.size);
    free(text.bytes);
}

/* Redefines the kernels, which makes the old ones outdated. Then unloads their
   package, after which nothing could ask for them. */
static void measure_held(struct kernels *k, int count)
{
    const uint64_t base = atomic_load(&live);
    kiln_error *error = NULL;

    print_held(k, "before", count, base, 0);
    define_all(k, count, 1);
    print_held(k, "defined", count, base, 0);
    compile_all(k, count, 1);
    print_held(k, "compiled", count, base, 0);
    define_all(k, count, 2);
    print_held(k, "redefined", count, base, 0);
    kiln_context_collect(k->context);
    print_held(k, "redefined, collected", count, base, 0);
    bench_check(kiln_package_unload(k->package, NULL, &error), &error);
    kiln_context_collect(k->context);
    print_held(k, "unloaded, collected", count, base, 0);
}

/* Gives the same kernels another meaning again and again, as in a session of a
   programmer who works on them: nothing old may be kept. */
static void measure_rounds(struct kernels *k, int count)
{
    const uint64_t base = atomic_load(&live);

    for (int round = 1; round <= ROUNDS; round++) {
        define_all(k, count, round);
        compile_all(k, count, round);
        kiln_context_collect(k->context);
        if ((round & (round - 1)) == 0)
            print_held(k, "round", count, base, round);
    }
}

/* Edits one kernel and looks at it again and again, up to the code generator,
   in a session without collections. */
static void measure_edits(struct kernels *k, int count)
{
    const int slice = count < 10 ? 1 : count / 10;
    kiln_signature signature = {NULL, &k->array, 1};
    kiln_error *error = NULL;
    uint64_t start;
    kiln_digest key;

    define_all(k, 1, 0);
    bench_check(
        kiln_package_function(&signature.function, k->package, "k0", &error),
        &error);
    start = bench_now_ns();
    for (int edit = 1; edit <= count; edit++) {
        define_all(k, 1, edit);
        bench_check(
            kiln_job_key(&key, k->context, &signature, k->config, 0, &error),
            &error);
        if (edit % slice != 0)
            continue;
        printf("{\"edits\": %d, \"edit_ns\": %llu}\n", edit,
               (unsigned long long)(bench_now_ns() - start) /
                   (unsigned long long)slice);
        start = bench_now_ns();
    }
    compile_all(k, 1, count);
}

int main(int argc, char **argv)
{
    const int size = argc == 3 ? atoi(argv[2]) : 0;
    struct kernels k = {0};
    int is_known = 1;

    /* Builds are timed, so nothing may come from the disk. */
    (void)setenv("KILN_CACHE", "off", 1);
    if (size < 1) {
        fputs("usage: kiln-growth SHAPE SIZE | held COUNT | rounds COUNT | "
              "edits COUNT\n",
              stderr);
        return 2;
    }
    open_all(&k);
    if (strcmp(argv[1], "held") == 0)
        measure_held(&k, size);
    else if (strcmp(argv[1], "rounds") == 0)
        measure_rounds(&k, size);
    else if (strcmp(argv[1], "edits") == 0)
        measure_edits(&k, size);
    else
        is_known = measure_program(&k, argv[1], size);
    kernels_close(&k);
    return is_known ? 0 : 2;
}
