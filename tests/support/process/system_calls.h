/* system_calls.h - lets system calls of this process fail. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_SYSTEM_CALLS_H
#define KILN_TESTS_SYSTEM_CALLS_H

#include <stddef.h>

/*
 * Calls are watched whoever makes them: Kiln, the C library, the loader or
 * LLVM; on any thread, and in processes that these start. The kernel asks a
 * thread of ours about each watched call (seccomp's user notification), and
 * that thread lets it proceed or returns an error. This lasts until the process
 * ends.
 */

/* Watches calls of these numbers, made by the caller and by threads that are
   started from now on. Call it once, before other threads are started. Returns
   0 where the kernel cannot do this. */
int system_calls_watch(const int *numbers, size_t count);

/* Lets `times` calls of `number` fail with `reason`, beginning with the `at`-th
   from now on; -1: all of them. Only calls whose path begins with `path` count;
   NULL: all do. A call that is interrupted counts again. */
typedef struct system_fault {
    int number;
    int reason;
    long at;
    long times;
    const char *path; /* of openat() and similar calls: the second argument */
} system_fault;

/* NULL: no call fails. */
void system_calls_fail(const system_fault *fault);
/* Returns how many have failed since then. */
long system_calls_failed(void);

#endif /* KILN_TESTS_SYSTEM_CALLS_H */
