/* crowd.c - one of many processes that need the same kernels at the same
   time. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../bench.h"
#include "kernels.h"

/*
 * usage: kiln-crowd KERNELS
 *
 * The program prints "ready", and begins when its standard input ends: so
 * whoever starts many of these processes can let all of them go at once. It
 * compiles KERNELS kernels, one after the other, runs each over a few items and
 * checks the result. It prints a line for each kernel that this process built
 * itself, and finally the time that all took.
 */
#define ITEMS 64
#define KERNELS_MAX 256

static void wait_for_the_others(void)
{
    char byte;

    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
}

/* Kernel N gives item I the value 2 * I + N. */
static void define(struct kernels *k, int count)
{
    const size_t room = (size_t)count * 160 + 1;
    char *text = malloc(room);
    size_t size = 0;

    if (!text)
        bench_check(KILN_ENOMEM, NULL);
    for (int n = 0; n < count; n++)
        size += (size_t)snprintf(text + size, room - size,
                                 "kernel k%d(y)\n"
                                 "    i = global_id(0)\n"
                                 "    if i < length(y)\n"
                                 "        y[i] = 2 * y[i] + %d\n"
                                 "    end\n"
                                 "end\n",
                                 n, n);
    kernels_define(k, text, size);
    free(text);
}

static void run_kernel(struct kernels *k, int n)
{
    int32_t source = KILN_SOURCE_NONE;
    float items[ITEMS];
    char name[16];

    snprintf(name, sizeof name, "k%d", n);
    for (int i = 0; i < ITEMS; i++)
        items[i] = (float)i;
    kernels_run(k, kernels_compile(k, name, &source), items, ITEMS);
    kernels_check(items, ITEMS, 2, n);
    if (source == KILN_SOURCE_BUILT)
        printf("built %s\n", name);
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 1;
    struct kernels k = {0};
    uint64_t start;

    if (count < 1 || count > KERNELS_MAX) {
        fputs("usage: kiln-crowd KERNELS\n", stderr);
        return 2;
    }
    wait_for_the_others();
    start = bench_now_ns();
    kernels_open(&k, NULL);
    define(&k, count);
    for (int n = 0; n < count; n++)
        run_kernel(&k, n);
    printf("took_ns %llu\n", (unsigned long long)(bench_now_ns() - start));
    kernels_close(&k);
    return 0;
}
