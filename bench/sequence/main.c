/* main.c - launches that follow each other in a fresh process, and OpenMP's. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sequence.h"

/*
 *     kiln-sequence [ROUNDS [FILTER]]
 *
 * For each case, processes of the two sides take turns. Each launches a kernel
 * so many times, with a pause in between in which the caller computes, and
 * tells how long each launch took. What is printed are the least times over all
 * rounds, in microseconds, and OpenMP's divided by Kiln's: of the first, the
 * second and the third launch, and of the median one of those behind. The last
 * pair is the sum over all launches.
 */
#define LAUNCHES 21
#define SHOWN 5

struct sequence {
    const char *name;
    enum kernel kernel;
    int64_t items, steps;
    int64_t pause_us;
    int one_core; /* the processes are held on one core */
    const char *threads;
};

static const struct sequence sequences[] = {
    {"saxpy/128Ki", SAXPY, 1 << 17, 0, 0, 0, "2"},
    {"saxpy/512Ki", SAXPY, 1 << 19, 0, 0, 0, "2"},
    {"saxpy/512Ki/pause=50us", SAXPY, 1 << 19, 0, 50, 0, "2"},
    {"saxpy/512Ki/pause=300us", SAXPY, 1 << 19, 0, 300, 0, "2"},
    {"saxpy/512Ki/pause=1ms", SAXPY, 1 << 19, 0, 1000, 0, "2"},
    {"saxpy/512Ki/pause=2ms", SAXPY, 1 << 19, 0, 2000, 0, "2"},
    {"orbits/2x1ms", ORBITS, 2, 300000, 0, 0, "2"},
    {"orbits/16x0.3ms", ORBITS, 16, 100000, 0, 0, "2"},
    {"orbits/64x0.01ms", ORBITS, 64, 3000, 0, 0, "2"},
    {"orbits/8192x0.1us", ORBITS, 8192, 30, 0, 0, "2"},
    {"saxpy/512Ki/one-core", SAXPY, 1 << 19, 0, 0, 1, "2"},
    {"orbits/16x0.3ms/one-core", ORBITS, 16, 100000, 0, 1, "2"},
    {"saxpy/512Ki/threads=4", SAXPY, 1 << 19, 0, 0, 0, "4"},
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* ---- a process of one side ---- */

static int fill(struct work *work, const struct sequence *s)
{
    const size_t size = (size_t)s->items * sizeof(float);

    *work = (struct work){.kernel = s->kernel,
                          .items = s->items,
                          .steps = s->steps,
                          .x = malloc(size),
                          .y = malloc(size)};
    if (!work->x || !work->y)
        return 0;
    for (int64_t i = 0; i < s->items; i++) {
        work->x[i] = (float)(i % 10) / 100;
        work->y[i] = 1;
    }
    return 1;
}

static int run_one(const struct side *side, const struct sequence *s)
{
    int64_t times[LAUNCHES];
    struct work work;

    if (!fill(&work, s) || !side->open(&work))
        return 1;
    for (int i = 0; i < LAUNCHES; i++) {
        const int64_t start = now_ns();

        if (!side->launch())
            return 1;
        times[i] = now_ns() - start;
        while (now_ns() - start - times[i] < s->pause_us * 1000)
            ;
    }
    side->close();
    return fwrite(times, sizeof times, 1, stdout) == 1 ? 0 : 1;
}

/* ---- all processes ---- */

static int spawn(const char *program, const char *side, size_t number,
                 int64_t times[LAUNCHES])
{
    char text[32];
    char command[4096];
    FILE *said;
    size_t got;

    snprintf(text, sizeof text, "%zu", number);
    snprintf(command, sizeof command,
             "KILN_THREADS=%s OMP_NUM_THREADS=%s %s %s --%s %s",
             sequences[number].threads, sequences[number].threads,
             sequences[number].one_core ? "taskset -c 0" : "", program, side,
             text);
    said = popen(command, "r");
    if (!said)
        return 0;
    got = fread(times, sizeof *times, LAUNCHES, said);
    return pclose(said) == 0 && got == LAUNCHES;
}

/* The figures of one process: launches one by one, the median of the others,
   and the sum. */
static void take(int64_t least[SHOWN], int64_t times[LAUNCHES])
{
    int64_t figures[SHOWN] = {times[0], times[1], times[2], 0, 0};

    for (int i = 0; i < LAUNCHES; i++)
        figures[4] += times[i];
    qsort(times + 3, LAUNCHES - 3, sizeof *times, compare);
    figures[3] = times[3 + (LAUNCHES - 3) / 2];
    for (int i = 0; i < SHOWN; i++)
        if (least[i] == 0 || figures[i] < least[i])
            least[i] = figures[i];
}

static int compare_sides(const char *program, size_t number, int rounds)
{
    int64_t ours[SHOWN] = {0}, theirs[SHOWN] = {0}, times[LAUNCHES];

    for (int i = 0; i < rounds; i++) {
        if (!spawn(program, "kiln", number, times))
            return 0;
        take(ours, times);
        if (!spawn(program, "openmp", number, times))
            return 0;
        take(theirs, times);
    }
    printf("%-26s", sequences[number].name);
    for (int i = 0; i < SHOWN; i++)
        printf("  %7.1f %7.1f %5.2f", (double)ours[i] / 1e3,
               (double)theirs[i] / 1e3, (double)theirs[i] / (double)ours[i]);
    printf("\n");
    return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    const char *filter = argc > 2 ? argv[2] : "";

    if (argc > 2 && strcmp(argv[1], "--kiln") == 0)
        return run_one(&side_kiln, &sequences[atoi(argv[2])]);
    if (argc > 2 && strcmp(argv[1], "--openmp") == 0)
        return run_one(&side_openmp, &sequences[atoi(argv[2])]);
    printf("%-26s  %-21s  %-21s  %-21s  %-21s  %s\n", "kiln, OpenMP, ratio",
           "first", "second", "third", "later", "all");
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
        if (strstr(sequences[i].name, filter) &&
            !compare_sides(argv[0], i, rounds))
            return 1;
    return 0;
}
