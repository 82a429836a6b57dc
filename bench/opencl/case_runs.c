/* case_runs.c - what both systems need to run a case. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cases.h"

double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int run_begin(case_run *run, const cl_case *c)
{
    memset(run, 0, sizeof *run);
    for (size_t i = 0; i < c->count; i++) {
        if (c->arguments[i].kind != CASE_BUFFER)
            continue;
        run->results[i] = malloc(c->arguments[i].size + 1);
        if (run->results[i] == NULL)
            return 0;
    }
    return 1;
}

void run_dispose(case_run *run)
{
    for (size_t i = 0; i < CASE_ARGUMENTS_MAX; i++)
        free(run->results[i]);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double median(double *times, size_t count)
{
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}

#define TIMES_MAX 101
#define TIME_ENOUGH_MS 300.0

double run_time(int (*reset)(void *env), int (*launch)(void *env), void *env)
{
    double times[TIMES_MAX], all = 0;
    size_t count = 0;

    while (count < TIMES_MAX && (count < 5 || all < TIME_ENOUGH_MS)) {
        double start;

        if (!reset(env))
            return -1;
        start = now_ms();
        if (!launch(env))
            return -1;
        times[count] = now_ms() - start;
        all += times[count++];
    }
    return median(times, count);
}
