/* stack.h - what is left of the stack that the calling code runs on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STACK_H
#define KILN_STACK_H

#include "kiln/context.h"

/*
 * Whatever recurs asks before it goes deeper. It stops with KILN_ESTACK while
 * there is still room for what does not recur, so that a stack which is too
 * small is an error and never a signal. Nothing remembers such a failure:
 * another thread may have more.
 *
 * Bounds of a thread's own stack are found once per thread. A stack that the
 * host switched to, a coroutine's, is known if the host tells of it
 * (kiln_host_ops.stack_limit). Of one that nobody tells of, ASSUMED bytes below
 * each public call are taken for granted.
 *
 * Frames are several times as large with sanitizers.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KILN__STACK_SCALE 6
#else
#define KILN__STACK_SCALE 1
#endif

/* What code below a check may use: error messages, stores, the host's
   callbacks, a signal's frame. */
#define KILN__STACK_RESERVE ((size_t)24 * 1024 * KILN__STACK_SCALE)
#define KILN__STACK_ASSUMED ((size_t)40 * 1024 * KILN__STACK_SCALE)

/* Of a thread of Kiln's own that compiles: LLVM recurses deeply. */
#define KILN__STACK_TO_COMPILE (((size_t)8 << 20) * KILN__STACK_SCALE)

/* Of one that runs kernels: enough for those that recur. */
#define KILN__STACK_TO_RUN (((size_t)2 << 20) * KILN__STACK_SCALE)

/* Bytes between the caller's frame and the end of its stack. */
size_t kiln__stack_left(void);
/* True when nothing may recur from here. */
int kiln__stack_is_low(void);
/* Says so: KILN_ESTACK. */
kiln_status kiln__stack_error(kiln_error **error);
/* The error of KILN_ENOMEM or KILN_ESTACK, which it returns. */
kiln_status kiln__error_shortage(kiln_error **error, kiln_status status);

/* True of a failure that says nothing about what was asked for. */
static inline int kiln__is_shortage(kiln_status status)
{
    return status == KILN_ENOMEM || status == KILN_ESTACK;
}

/*
 * At the beginning of each public call that may recur. `limit` is where the
 * stack ends that the call is on, or NULL: nobody tells. The first asks the
 * host of the context for it.
 */
void kiln__stack_enter(const kiln_context *context); /* host_ops.c */
void kiln__stack_begin(const void *limit);
/* Between 1 and -1 the calls of this thread are made by callbacks: they have
   no more than what is left of the outer call's. */
void kiln__stack_nest(int by);

#endif /* KILN_STACK_H */
