/* passing.h - which failures of the system are temporary. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PASSING_H
#define KILN_PASSING_H

#include <errno.h>
#include <string.h>

#include "kiln/error.h"

/*
 * A call that fails for want of descriptors, memory, processes or threads, or
 * because it was interrupted, may succeed the next time. So nothing is
 * concluded from it: code that remembers failures (a driver that is not there,
 * a job that cannot be built, a folder that is not used) does not remember
 * these.
 */

static inline int kiln__passes(int number)
{
    switch (number) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case EINTR:
    case ENOBUFS:
    case ETXTBSY: /* a program that is being replaced */
        return 1;
    default:
        return 0;
    }
}

/* True when something does not exist, or is not accessible to this user. */
static inline int kiln__is_absent(int number)
{
    return number == ENOENT || number == ENOTDIR || number == EACCES ||
           number == ELOOP || number == ENAMETOOLONG;
}

/* Returns the status for a failure of the system: KILN_ENOMEM or KILN_EIO if it
   is temporary, else `lasting`. */
static inline kiln_status kiln__passing_status(int number, kiln_status lasting)
{
    if (number == ENOMEM)
        return KILN_ENOMEM;
    return kiln__passes(number) ? KILN_EIO : lasting;
}

/* True when a message of LLVM, or of a program that ended, says that memory ran
   out. */
static inline int kiln__tells_of_memory(const char *words)
{
    return strstr(words, "out of memory") != NULL ||
           strstr(words, "bad_alloc") != NULL ||
           strstr(words, "Cannot allocate memory") != NULL;
}

/* The status of a fatal error of LLVM: the same input would cause it again,
   unless memory was short. */
static inline kiln_status kiln__fatal_status(const char *words)
{
    return kiln__tells_of_memory(words) ? KILN_ENOMEM : KILN_ECODEGEN;
}

#endif /* KILN_PASSING_H */
