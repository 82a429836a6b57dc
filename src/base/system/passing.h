/* passing.h - failures of the system that say something of the moment. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PASSING_H
#define KILN_PASSING_H

#include <errno.h>
#include <string.h>

#include "kiln/error.h"

/*
 * A call that fails for want of descriptors, memory, processes or threads, or
 * since it was interrupted, may succeed the next time. So nothing is concluded
 * from it: whoever remembers a failure (a driver that is not there, a job that
 * cannot be built, a folder that is not used) remembers none of these.
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

/* Does it say that something is not there, or not for this user? */
static inline int kiln__is_absent(int number)
{
    return number == ENOENT || number == ENOTDIR || number == EACCES ||
           number == ELOOP || number == ENAMETOOLONG;
}

/* Of a failure that may be remembered, `lasting`; else one that never is. */
static inline kiln_status kiln__passing_status(int number, kiln_status lasting)
{
    if (number == ENOMEM)
        return KILN_ENOMEM;
    return kiln__passes(number) ? KILN_EIO : lasting;
}

/* Do the words of LLVM, or of a program's end, say that memory ran out? */
static inline int kiln__tells_of_memory(const char *words)
{
    return strstr(words, "out of memory") != NULL ||
           strstr(words, "bad_alloc") != NULL ||
           strstr(words, "Cannot allocate memory") != NULL;
}

/* Of what LLVM cannot go on from: the same input brings it there again, unless
   memory was short. */
static inline kiln_status kiln__fatal_status(const char *words)
{
    return kiln__tells_of_memory(words) ? KILN_ENOMEM : KILN_ECODEGEN;
}

#endif /* KILN_PASSING_H */
