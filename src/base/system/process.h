/* process.h - programs as child processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PROCESS_H
#define KILN_PROCESS_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/system/kept.h"

/*
 * A child is waited for and signalled through a descriptor, where the system
 * has those: a host may wait for any child, and then its process number may
 * belong to another process.
 */
typedef struct kiln__process {
    pid_t pid;
    kiln__kept file; /* readable once the process has ended; none: the system
                        has no such files */
    int leads;       /* whether it leads a session, with all processes that it
                        starts */
} kiln__process;

#define KILN__PROCESS_NONE ((kiln__process){.file.number = -1})

typedef struct kiln__program {
    const char *path;
    char *const *arguments; /* its name first; NULL-terminated */
    /* Descriptors of this process, above all numbers that the child is given.
       In the child they become 1, 2, 3 and so on; 0 reads nothing, and no other
       descriptor is open. */
    const int *files;
    size_t file_count;
    int leads; /* whether it leads a session of its own */
} kiln__program;

/* Starts it with no signal blocked and default signal actions. Returns 0 or an
   errno. */
int kiln__process_start(kiln__process *out, const kiln__program *program);
/* Only closes the descriptor. */
void kiln__process_dispose(kiln__process *process);

typedef enum kiln__process_end {
    KILN__PROCESS_RUNS,
    KILN__PROCESS_ENDED,
    KILN__PROCESS_UNKNOWN /* the host has waited for it */
} kiln__process_end;

/* Waits, or only looks with WNOHANG; with WNOWAIT it can be waited for
   again. */
kiln__process_end kiln__process_wait(const kiln__process *process,
                                     siginfo_t *info, int options);
/* Ends it, and the processes that it started if it leads a session. */
void kiln__process_kill(const kiln__process *process);

#endif /* KILN_PROCESS_H */
