/* processes.c - measures whole processes, cold and warm. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "processes.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COLD_RUNS 5
#define WARM_RUNS 21
#define PATH_SIZE 1024

enum { KILN, PEER, SIDES };

static const struct {
    const char *program, *variable;
} sides[SIDES] = {{"kiln-opencl-kiln", "KILN_CACHE_DIR"},
                  {"kiln-opencl-peer", "POCL_CACHE_DIR"}};

/* Of all cases: logarithms of the ratios. */
static double cold_sum, warm_sum;
static int measured;

/* The program lies beside this one. */
static int find_program(char *out, int side)
{
    char own[PATH_SIZE];
    const ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    char *slash;

    if (size <= 0)
        return 0;
    own[size] = '\0';
    slash = strrchr(own, '/');
    if (slash == NULL)
        return 0;
    *slash = '\0';
    (void)snprintf(out, 2 * PATH_SIZE, "%s/%s", own, sides[side].program);
    return 1;
}

/* Returns the time of one process in milliseconds, or a negative number. */
static double run_process(int side, const char *cases, const char *name,
                          const char *folder)
{
    char program[2 * PATH_SIZE];
    char *words[] = {program, (char *)(uintptr_t)cases, (char *)(uintptr_t)name,
                     NULL};
    double start;
    pid_t child;
    int status;

    if (!find_program(program, side) ||
        setenv(sides[side].variable, folder, 1) != 0)
        return -1;
    start = now_ms();
    if (posix_spawn(&child, program, NULL, NULL, words, environ) != 0) {
        (void)fprintf(stderr, "%s cannot be started\n", program);
        return -1;
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        return -1;
    return now_ms() - start;
}

static int remove_folder(const char *folder)
{
    static char name[] = "rm", option[] = "-rf";
    char *words[] = {name, option, (char *)(uintptr_t)folder, NULL};
    pid_t child;
    int status;

    return posix_spawnp(&child, "rm", NULL, NULL, words, environ) == 0 &&
           waitpid(child, &status, 0) == child && status == 0;
}

/* The times of one case. */
typedef struct times {
    double cold[SIDES][COLD_RUNS], warm[SIDES][WARM_RUNS];
} times;

static int measure_cold(times *t, const cl_case *c, const char *cases,
                        char folders[SIDES][64])
{
    for (int run = 0; run < COLD_RUNS; run++)
        for (int side = 0; side < SIDES; side++) {
            if (!remove_folder(folders[side]))
                return 0;
            t->cold[side][run] =
                run_process(side, cases, c->name, folders[side]);
            if (t->cold[side][run] < 0)
                return 0;
        }
    return 1;
}

static int measure_warm(times *t, const cl_case *c, const char *cases,
                        char folders[SIDES][64])
{
    for (int run = 0; run < WARM_RUNS; run++)
        for (int side = 0; side < SIDES; side++) {
            t->warm[side][run] =
                run_process(side, cases, c->name, folders[side]);
            if (t->warm[side][run] < 0)
                return 0;
        }
    return 1;
}

static void tell_case(const cl_case *c, times *t)
{
    const double cold[] = {median(t->cold[KILN], COLD_RUNS),
                           median(t->cold[PEER], COLD_RUNS)};
    const double warm[] = {median(t->warm[KILN], WARM_RUNS),
                           median(t->warm[PEER], WARM_RUNS)};

    measured++;
    cold_sum += log(cold[PEER] / cold[KILN]);
    warm_sum += log(warm[PEER] / warm[KILN]);
    (void)printf("%-24s cold %.1f times faster (%.1f and %.1f ms), warm %.1f "
                 "(%.2f and %.2f ms)\n",
                 c->name, cold[PEER] / cold[KILN], cold[KILN], cold[PEER],
                 warm[PEER] / warm[KILN], warm[KILN], warm[PEER]);
}

int measure_processes(const cl_case *c, const char *cases)
{
    char folders[SIDES][64] = {"/tmp/kiln-opencl-XXXXXX",
                               "/tmp/kiln-opencl-XXXXXX"};
    times t;
    int is_right;

    if (mkdtemp(folders[KILN]) == NULL || mkdtemp(folders[PEER]) == NULL)
        return 0;
    is_right = measure_cold(&t, c, cases, folders) &&
               measure_warm(&t, c, cases, folders);
    if (is_right)
        tell_case(c, &t);
    else
        (void)printf("%-24s failed\n", c->name);
    (void)remove_folder(folders[KILN]);
    (void)remove_folder(folders[PEER]);
    return is_right;
}

void tell_processes(void)
{
    if (measured > 0)
        (void)printf("geometric means: cold %.1f, warm %.1f\n",
                     exp(cold_sum / measured), exp(warm_sum / measured));
}
