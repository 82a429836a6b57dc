/* peer.c - the measurements that the compared programs in C share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peer.h"

#define AGAIN 21     /* samples of the second execution */
#define HUNDREDS 51  /* samples of launches */
#define LAUNCHES 100 /* launches in each sample */

struct arrays {
    float *x;
    float *y;
    size_t size;
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

static double median(int64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return (double)values[count / 2];
}

/* x counts from 0, and y is all ones. */
static int fill(struct arrays *arrays, size_t size)
{
    arrays->size = size;
    arrays->x = malloc(size * sizeof *arrays->x);
    arrays->y = malloc(size * sizeof *arrays->y);
    if (!arrays->x || !arrays->y)
        return 0;
    for (size_t i = 0; i < size; i++) {
        arrays->x[i] = (float)i;
        arrays->y[i] = 1;
    }
    return 1;
}

static void drop(struct arrays *arrays)
{
    free(arrays->x);
    free(arrays->y);
}

/* All values are whole numbers below 2^24, and therefore exact. */
static int check(const struct arrays *arrays, float a)
{
    size_t wrong = 0;

    for (size_t i = 0; i < arrays->size; i++)
        wrong += (int64_t)arrays->y[i] != (int64_t)a * (int64_t)i + 1;
    if (wrong > 0)
        fprintf(stderr, "%zu of %zu elements are wrong\n", wrong, arrays->size);
    return wrong == 0;
}

static int tell_second(const struct peer *peer, struct arrays *arrays)
{
    int64_t times[AGAIN];

    for (int i = 0; i < AGAIN; i++) {
        const int64_t start = now_ns();

        if (!peer->again())
            return 0;
        times[i] = now_ns() - start;
    }
    for (size_t i = 0; i < arrays->size; i++)
        arrays->y[i] = 1;
    if (!peer->execute(arrays->y, arrays->x, arrays->size) ||
        !check(arrays, PEER_A))
        return 0;
    printf(", \"second_ms\": %.6f", median(times, AGAIN) / 1e6);
    return 1;
}

static int tell_dispatch(const struct peer *peer)
{
    int64_t times[HUNDREDS];

    if (!peer->launch_nothing(LAUNCHES))
        return 0;
    for (int i = 0; i < HUNDREDS; i++) {
        const int64_t start = now_ns();

        if (!peer->launch_nothing(LAUNCHES))
            return 0;
        times[i] = now_ns() - start;
    }
    printf(", \"dispatch_ns\": %.2f", median(times, HUNDREDS) / LAUNCHES);
    return 1;
}

static int tell_variants(const struct peer *peer, int count)
{
    int64_t took = 0;

    for (int i = 0; i < count; i++) {
        const int constant = 3 + i;
        struct arrays arrays;
        int good = fill(&arrays, PEER_VARIANT_SIZE);
        const int64_t start = now_ns();

        good = good && peer->variant(constant, arrays.y, arrays.x, arrays.size);
        took += now_ns() - start;
        good = good && (!peer->again || check(&arrays, (float)constant));
        drop(&arrays);
        if (!good)
            return 0;
    }
    printf(", \"variants_ms\": %.6f", (double)took / 1e6);
    return 1;
}

static int tell_first(const struct peer *peer, const char *folder,
                      int64_t start, struct arrays *arrays)
{
    int64_t ready, opened, executed;

    if (!fill(arrays, PEER_SIZE))
        return 0;
    ready = now_ns();
    if (!peer->open(folder))
        return 0;
    opened = now_ns();
    if (!peer->execute(arrays->y, arrays->x, arrays->size))
        return 0;
    executed = now_ns();
    if (peer->again && !check(arrays, PEER_A))
        return 0;
    printf("{\"ready_ms\": %.6f, \"open_ms\": %.6f, \"execute_ms\": %.6f",
           (double)(ready - start) / 1e6, (double)(opened - ready) / 1e6,
           (double)(executed - opened) / 1e6);
    return 1;
}

static int tell_about(const struct peer *peer)
{
    struct peer_about about = {.absent = NULL};

    peer->about(&about);
    printf("{\"%s\": \"%s\"}\n", about.absent ? "absent" : "version",
           about.absent ? about.absent : about.version);
    return 0;
}

static int measure(const struct peer *peer, const char *folder, int64_t start,
                   int steady, int variants)
{
    struct arrays arrays = {0};
    int good = tell_first(peer, folder, start, &arrays);

    if (steady && peer->again)
        good = good && tell_second(peer, &arrays) && tell_dispatch(peer);
    if (variants > 0)
        good = good && tell_variants(peer, variants);
    if (good)
        printf("}\n");
    peer->close();
    drop(&arrays);
    return good ? 0 : 1;
}

int peer_main(int argc, char **argv, const struct peer *peer)
{
    const char *mode = argc > 2 ? argv[2] : "all";
    const int64_t start = argc > 3 ? strtoll(argv[3], NULL, 10) : now_ns();
    const int variants = argc > 4 ? atoi(argv[4]) : 50;

    if (argc < 2) {
        fprintf(
            stderr,
            "usage: %s FOLDER [about|first|steady|all [START [VARIANTS]]]\n",
            argv[0]);
        return 2;
    }
    if (strcmp(mode, "about") == 0)
        return tell_about(peer);
    return measure(peer, argv[1], start, strcmp(mode, "first") != 0,
                   strcmp(mode, "all") == 0 ? variants : 0);
}
