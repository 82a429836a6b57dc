/* bench_tools.c - the clock, failures, and folders. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "bench.h"

#include <errno.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

uint64_t bench_now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void bench_check(kiln_status status, kiln_error *const *error)
{
    kiln_blob text = {0};

    if (status == KILN_OK)
        return;
    if (error && *error && kiln_error_render(&text, *error, 0) == KILN_OK)
        fputs(text.data, stderr);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name,
            kiln_status_name(status));
    exit(1);
}

/* ---- on all cores ---- */

#define PARTS_MAX 64

struct part {
    void (*work)(void *env, uint64_t begin, uint64_t end);
    void *env;
    uint64_t begin;
    uint64_t end;
};

static void *do_part(void *argument)
{
    const struct part *part = argument;

    part->work(part->env, part->begin, part->end);
    return NULL;
}

void bench_divide(uint64_t begin, uint64_t end,
                  void (*work)(void *env, uint64_t begin, uint64_t end),
                  void *env)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t count = cores < 1           ? 1
                           : cores > PARTS_MAX ? PARTS_MAX
                                               : (uint64_t)cores;
    struct part parts[PARTS_MAX];
    pthread_t threads[PARTS_MAX];

    for (uint64_t i = 0; i < count; i++) {
        parts[i] = (struct part){work, env, begin + (end - begin) * i / count,
                                 begin + (end - begin) * (i + 1) / count};
        if (pthread_create(&threads[i], NULL, do_part, &parts[i]) != 0)
            bench_check(KILN_ENOMEM, NULL);
    }
    for (uint64_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- folders ---- */

const char *bench_folder(void)
{
    static char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);

    if (size <= 0)
        return ".";
    path[size] = '\0';
    return dirname(path);
}

int bench_folder_new(char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/bench-cache-XXXXXX", bench_folder());
    return mkdtemp(path) != NULL;
}

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void bench_folder_empty(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
