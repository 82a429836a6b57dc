/* turn_main.c - takes turns: launches, and tells how long they took. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "turn.h"

#define LAUNCHES_LEAST 3
#define LAUNCHES_MOST 4096

static turn_case here;

double turn_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- arrays ---- */

static int reset(int all)
{
    for (size_t i = 0; i < here.count; i++) {
        turn_argument *a = &here.arguments[i];

        if (a->rank == 0 || (!all && !a->is_reset))
            continue;
        memcpy(a->data, a->initial, a->bytes);
        if (turn_side_here.write != NULL && !turn_side_here.write(i))
            return 0;
    }
    return 1;
}

static int save(const turn_argument *a, const char *folder, size_t number)
{
    char path[TURN_WORD_MAX + 32];
    FILE *file;
    int is_good;

    (void)snprintf(path, sizeof path, "%s/%zu", folder, number);
    file = fopen(path, "wb");
    if (file == NULL)
        return turn_complain(path, "cannot be written");
    is_good = fwrite(a->data, 1, a->bytes, file) == a->bytes;
    return (fclose(file) == 0 && is_good) ||
           turn_complain(path, "cannot be written");
}

/* What is filled with one number alone is an output, or grows without harm. */
static int is_uniform(const turn_argument *a)
{
    const char *bytes = a->initial;

    return a->bytes <= 8 || memcmp(bytes, bytes + 8, a->bytes - 8) == 0;
}

static int check(const char *folder)
{
    if (!reset(1) || !turn_side_here.launch())
        return 0;
    for (size_t i = 0; i < here.count; i++) {
        turn_argument *a = &here.arguments[i];

        if (a->rank == 0)
            continue;
        if (turn_side_here.read != NULL && !turn_side_here.read(i))
            return 0;
        if (!save(a, folder, i))
            return 0;
        a->is_reset =
            memcmp(a->data, a->initial, a->bytes) != 0 && !is_uniform(a);
    }
    (void)printf("checked\n");
    return 1;
}

/* ---- times ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The time of a launch; negative: it failed. */
static double launch(void)
{
    double start;

    if (!reset(0))
        return -1;
    start = turn_now_ns();
    return turn_side_here.launch() ? turn_now_ns() - start : -1;
}

static int measure(double wanted)
{
    static double times[LAUNCHES_MOST];
    double sum = 0, first = launch();
    size_t count = 0;

    if (first < 0)
        return 0;
    while ((sum < wanted || count < LAUNCHES_LEAST) && count < LAUNCHES_MOST) {
        times[count] = launch();
        if (times[count] < 0)
            return 0;
        sum += times[count++];
    }
    qsort(times, count, sizeof *times, compare);
    (void)printf("took %.0f\n", times[count / 2]);
    return 1;
}

/* ---- turns ---- */

static int take(const char *line)
{
    char folder[TURN_WORD_MAX];
    double ns;

    if (sscanf(line, "check %511s", folder) == 1)
        return check(folder);
    if (sscanf(line, "time %lf", &ns) == 1)
        return measure(ns);
    return turn_complain("what is", line);
}

int main(int count, char **words)
{
    char line[2 * TURN_WORD_MAX];
    double ms = 0;

    if (count < 2) {
        (void)fprintf(stderr, "usage: %s CASE %s\n", words[0],
                      turn_side_here.usage);
        return 2;
    }
    if (!turn_case_read(&here, words[1]) ||
        !turn_side_here.open(&here, count - 2, words + 2, &ms))
        return 1;
    (void)printf("ready %.3f %s\n", ms, turn_side_here.version());
    (void)fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (!take(line))
            return 1;
        (void)fflush(stdout);
    }
    return 0;
}
