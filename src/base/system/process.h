/* process.h - programs as child processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PROCESS_H
#define KILN_PROCESS_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/system/kept.h"

/*
 * A child is waited for and signalled by a descriptor where the system has
 * such: a host may wait for any child, and then its number is another's.
 */
typedef struct kiln__process {
    pid_t pid;
    kiln__kept file; /* readable once it has ended; none: not the system's */
    int leads;       /* a session of its own, with all that it starts */
} kiln__process;

#define KILN__PROCESS_NONE ((kiln__process){.file.number = -1})

typedef struct kiln__program {
    const char *path;
    char *const *arguments; /* its name first; NULL-terminated */
    /* Descriptors of this process, above all numbers that the child is given;
       they become 1, 2, 3 and so on there. 0 reads nothing, and no other one
       is open. */
    const int *files;
    size_t file_count;
    int leads; /* a session of its own */
} kiln__program;

/* Starts it with no signal blocked and each as the system has it. 0, or
   errno. */
int kiln__process_start(kiln__process *out, const kiln__program *program);
/* Closes the descriptor alone. */
void kiln__process_dispose(kiln__process *process);

typedef enum kiln__process_end {
    KILN__PROCESS_RUNS,
    KILN__PROCESS_ENDED,
    KILN__PROCESS_UNKNOWN /* somebody else has waited for it */
} kiln__process_end;

/* Waits, or looks with WNOHANG; WNOWAIT leaves it to be waited for again. */
kiln__process_end kiln__process_wait(const kiln__process *process,
                                     siginfo_t *info, int options);
/* Ends it, and what it started if it leads. */
void kiln__process_kill(const kiln__process *process);

#endif /* KILN_PROCESS_H */
