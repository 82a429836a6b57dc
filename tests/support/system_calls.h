/* system_calls.h - system calls of this process that fail. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_SYSTEM_CALLS_H
#define KILN_TESTS_SYSTEM_CALLS_H

#include <stddef.h>

/*
 * Whoever makes them: Kiln, the C library, the loader, LLVM; on any thread, and
 * in processes that these start. The kernel asks a thread of ours about each
 * call that is watched (seccomp's user notification), and that thread lets it
 * happen or says what it fails with. This stays so until the process ends.
 */

/* Watches calls of these numbers, by threads that are started from now on and
   by the caller. Once, before other threads are. 0 where the kernel cannot. */
int system_calls_watch(const int *numbers, size_t count);

/* Calls `number` fail with `reason`: from the one on that is the `at`-th from
   now on, `times` of them; -1: all. Those whose path does not begin with `path`
   are not concerned; NULL: all are. A call that is interrupted counts again. */
typedef struct system_fault {
    int number;
    int reason;
    long at;
    long times;
    const char *path; /* of openat() and its kind: the second argument */
} system_fault;

/* NULL: none fails. */
void system_calls_fail(const system_fault *fault);
/* How many have failed since then. */
long system_calls_failed(void);

#endif /* KILN_TESTS_SYSTEM_CALLS_H */
