/* bench.c - the timer: calibrates, takes samples, prints. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MAX 64
#define SAMPLES 15
#define SAMPLE_NS 50000000u

static const char usage[] =
    "usage: kiln-bench [--json] [--filter TEXT] [--smoke] [--list]\n";

static int json;
static int smoke;
static uint64_t own_time;

int bench_is_smoke(void)
{
    return smoke;
}

void bench_set_time(uint64_t nanoseconds)
{
    own_time = nanoseconds;
}

/* ---- one sample, on one thread or several ---- */

struct sample {
    const struct bench *bench;
    void *state;
    uint64_t iterations;
    pthread_barrier_t *start;
    uint64_t ns;
};

static void *sample_thread(void *argument)
{
    struct sample *sample = argument;
    uint64_t start;

    pthread_barrier_wait(sample->start);
    start = bench_now_ns();
    sample->bench->run(sample->state, sample->iterations);
    sample->ns = bench_now_ns() - start;
    return NULL;
}

/* Returns the mean over the threads, each of which does all iterations. */
static uint64_t sample_threads(const struct bench *bench, void *state,
                               uint64_t iterations)
{
    pthread_t threads[64];
    struct sample samples[64];
    pthread_barrier_t start;
    uint64_t total = 0;

    pthread_barrier_init(&start, NULL, (unsigned)bench->threads);
    for (int i = 0; i < bench->threads; i++) {
        samples[i] = (struct sample){bench, state, iterations, &start, 0};
        if (pthread_create(&threads[i], NULL, sample_thread, &samples[i]))
            bench_check(KILN_ENOMEM, NULL);
    }
    for (int i = 0; i < bench->threads; i++) {
        pthread_join(threads[i], NULL);
        total += samples[i].ns;
    }
    pthread_barrier_destroy(&start);
    return total / (uint64_t)bench->threads;
}

static uint64_t sample_once(const struct bench *bench, void *state,
                            uint64_t iterations)
{
    uint64_t start;

    if (bench->threads > 1)
        return sample_threads(bench, state, iterations);
    own_time = 0;
    start = bench_now_ns();
    bench->run(state, iterations);
    return own_time ? own_time : bench_now_ns() - start;
}

static uint64_t calibrate(const struct bench *bench, void *state)
{
    uint64_t iterations = 1;

    if (bench->whole || smoke)
        return 1;
    for (;;) {
        uint64_t ns = sample_once(bench, state, iterations);

        if (ns >= SAMPLE_NS || iterations > UINT64_MAX / 16)
            return iterations;
        iterations = ns > SAMPLE_NS / 64 ? iterations * SAMPLE_NS / ns + 1
                                         : iterations * 8;
    }
}

/* ---- results ---- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return (a > b) - (a < b);
}

static void print_result(const struct bench *bench, void *state, double *values,
                         int count, uint64_t iterations)
{
    char extra[1024] = "";
    double median, spread;

    qsort(values, (size_t)count, sizeof *values, by_value);
    median = values[count / 2];
    /* The spread is the distance between the quartiles, as a share of the
       median. */
    spread =
        median > 0 ? (values[3 * count / 4] - values[count / 4]) / median : 0;
    if (bench->extra)
        bench->extra(state, extra, sizeof extra);
    if (json)
        printf("{\"name\": \"%s\", \"median_ns\": %.2f, \"min_ns\": %.2f, "
               "\"max_ns\": %.2f, \"spread\": %.4f, \"samples\": %d, "
               "\"iterations\": %llu%s}\n",
               bench->name, median, values[0], values[count - 1], spread, count,
               (unsigned long long)iterations, extra);
    else
        printf("%-36s %14.1f ns  min %14.1f  spread %5.1f%%%s\n", bench->name,
               median, values[0], 100 * spread, extra);
    fflush(stdout);
}

static void measure(const struct bench *bench)
{
    const char *reason = "not here";
    void *state = bench->setup(bench, &reason);
    double values[SAMPLES_MAX];
    int count = smoke ? 1 : bench->samples ? bench->samples : SAMPLES;
    uint64_t iterations;

    if (!state) {
        fprintf(stderr, "%s: skipped: %s\n", bench->name, reason);
        return;
    }
    iterations = calibrate(bench, state);
    for (int i = 0; i < count; i++)
        values[i] =
            (double)sample_once(bench, state, iterations) / (double)iterations;
    print_result(bench, state, values, count, iterations);
    bench->teardown(state);
}

int main(int argc, char **argv)
{
    static const struct bench *const tables[] = {BENCH_TABLES};
    const char *filter = "";
    int list = 0;

    /* Builds are counted and timed, so nothing may come from the disk. */
    (void)setenv("KILN_CACHE", "off", 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = 1;
        } else if (strcmp(argv[i], "--smoke") == 0) {
            smoke = 1;
        } else if (strcmp(argv[i], "--list") == 0) {
            list = 1;
        } else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc) {
            filter = argv[++i];
        } else {
            fputs(usage, stderr);
            return 2;
        }
    }
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct bench *at = tables[t]; at->name; at++) {
            if (!strstr(at->name, filter))
                continue;
            if (list)
                puts(at->name);
            else
                measure(at);
        }
    return 0;
}
