/* stacks.h - runs code on stacks of a given size. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_STACKS_H
#define KILN_TESTS_STACKS_H

#include <stddef.h>

/* A sanitizer makes frames larger, so sizes are multiplied by this. */
#include "base/system/stack.h"
#define STACKS_KIB ((size_t)1024 * KILN__STACK_SCALE)

/*
 * Each of these runs body(env) on a new stack of `size` bytes and returns when
 * the body has. Touching the memory below that stack ends the process.
 */

/* Uses the stack of a new thread. */
void stacks_run_thread(size_t size, void (*body)(void *env), void *env);
/* Uses the stack of a coroutine of the calling thread, in allocated memory. */
void stacks_run_coroutine(size_t size, void (*body)(void *env), void *env);
/* Returns the lowest address of the coroutine's stack that runs on this thread,
   or NULL. */
const void *stacks_coroutine_limit(void);

#endif /* KILN_TESTS_STACKS_H */
