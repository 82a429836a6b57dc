/* peer.h - what every compared program does, and what it prints. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>

/*
 *     PROGRAM FOLDER [about|first|steady|all [START [VARIANTS]]]
 *
 * FOLDER is where the system keeps its cache, and nowhere else. START is the
 * monotonic clock, in nanoseconds, when the process was started; without it
 * the clock begins with main(). The program prints one line, a JSON object:
 *
 *     ready_ms      from START until the program, its libraries and its input
 *                   were there
 *     open_ms       then: until the system had its device
 *     execute_ms    then: the kernel compiled or found, its input handed over,
 *                   run, and its result in the program's own memory
 *     second_ms     once more, in place: the median of many
 *     dispatch_ns   a kernel that does nothing, with the arguments of the
 *                   first: of launches in hundreds, one wait for each hundred,
 *                   the median
 *     variants_ms   VARIANTS kernels that differ in a constant, each compiled
 *                   or found, run, and looked at
 *
 * "first" leaves out what comes after execute_ms, "steady" the variants.
 * "about" does none of it, and tells {"version": WHICH} or {"absent": WHY}.
 * Every element of every result is checked; a wrong one ends the program
 * with 1. protocol.py is the same in Python.
 */
#define PEER_SIZE ((size_t)1 << 20)
#define PEER_VARIANT_SIZE ((size_t)1 << 10)
#define PEER_A 2.0f

struct peer_about {
    char version[128];
    const char *absent; /* NULL: it is here */
};

/* The functions return 0 on failure, after printing the reason to standard
   error. */
struct peer {
    /* Sets the version, or why the system is not available. */
    void (*about)(struct peer_about *about);
    int (*open)(const char *folder);
    /* y = a * x + y, including compilation; the arrays are kept for again(). */
    int (*execute)(float *y, const float *x, size_t size);
    /* NULL: kernels cannot be run here, and nothing is checked. */
    int (*again)(void);
    int (*launch_nothing)(int count);
    /* y = constant * x + y. */
    int (*variant)(int constant, float *y, const float *x, size_t size);
    void (*close)(void);
};

int peer_main(int argc, char **argv, const struct peer *peer);

#endif
