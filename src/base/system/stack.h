/* stack.h - how much of the calling code's stack is left. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STACK_H
#define KILN_STACK_H

#include "kiln/context.h"

/*
 * Every recursive function asks before it goes deeper. It stops with
 * KILN_ESTACK while there is still room for code that does not recurse, so that
 * too small a stack is an error and never a signal. Such a failure is not
 * remembered: another thread may have more stack.
 *
 * Bounds of a thread's own stack are found once per thread. A stack that the
 * host switched to, such as a coroutine's, is known if the host reports it
 * (kiln_host_ops.stack_limit). A stack that is not reported is assumed to have
 * ASSUMED bytes below each public call.
 *
 * Frames are several times as large with sanitizers.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KILN__STACK_SCALE 6
#else
#define KILN__STACK_SCALE 1
#endif

/* The stack that code below a check may use: error messages, stores, the host's
   callbacks, a signal's frame. */
#define KILN__STACK_RESERVE ((size_t)24 * 1024 * KILN__STACK_SCALE)
#define KILN__STACK_ASSUMED ((size_t)40 * 1024 * KILN__STACK_SCALE)

/* Stack of a thread of Kiln's that compiles: LLVM recurses deeply. */
#define KILN__STACK_TO_COMPILE (((size_t)8 << 20) * KILN__STACK_SCALE)

/* Stack of a thread that runs kernels: enough for recursive ones. */
#define KILN__STACK_TO_RUN (((size_t)2 << 20) * KILN__STACK_SCALE)

/* Bytes between the caller's frame and the end of its stack. */
size_t kiln__stack_left(void);
/* True when no function may recurse any deeper. */
int kiln__stack_is_low(void);
/* Makes the error of KILN_ESTACK. */
kiln_status kiln__stack_error(kiln_error **error);
/* Makes the error of KILN_ENOMEM or KILN_ESTACK, and returns the status. */
kiln_status kiln__error_shortage(kiln_error **error, kiln_status status);

/* True for a failure that says nothing about the request itself. */
static inline int kiln__is_shortage(kiln_status status)
{
    return status == KILN_ENOMEM || status == KILN_ESTACK;
}

/*
 * Called at the beginning of each public call that may recurse. `limit` is the
 * end of the stack that the call runs on, or NULL if it is not reported.
 */
void kiln__stack_begin(const void *limit);
/* Between a call with 1 and one with -1, public calls of this thread come from
   callbacks: they have only what is left of the outer call's stack. */
void kiln__stack_nest(int by);

#endif /* KILN_STACK_H */
