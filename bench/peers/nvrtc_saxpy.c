/* nvrtc_saxpy.c - a saxpy from CUDA C++ to a cubin, for its compile time. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "nvrtc.h"

/*
 * What `kiln-bench --filter cubin` does, through NVRTC: the time of the first
 * compile in the process, then the median of N more. As a whole process it is
 * what `kiln compile --emit binary` is.
 *
 *     nvrtc-saxpy [N [ARCHITECTURE [LIBRARY]]]
 */

static double now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 21;
    const char *architecture = argc > 2 ? argv[2] : "sm_90";
    double *times = calloc((size_t)count + 1, sizeof *times), first;
    char option[64];
    size_t size;

    snprintf(option, sizeof option, "-arch=%s", architecture);
    if (!times || !nvrtc_open(argc > 3 ? argv[3] : NULL)) {
        fprintf(stderr, "NVRTC is not here\n");
        return 1;
    }
    first = now_ms();
    size = nvrtc_compile(option, "-DFACTOR=a");
    first = now_ms() - first;
    for (int i = 0; size && i < count; i++) {
        const double start = now_ms();

        size = nvrtc_compile(option, "-DFACTOR=a");
        times[i] = now_ms() - start;
    }
    qsort(times, (size_t)count, sizeof *times, compare);
    printf("%zu bytes; first %.2f ms, then %.2f ms (median of %d)\n", size,
           first, count > 0 ? times[count / 2] : 0, count);
    free(times);
    return size == 0;
}
