/* stacks.h - runs code on stacks of a given size. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_STACKS_H
#define KILN_TESTS_STACKS_H

#include <stddef.h>

/* Sizes are multiplied by this where a sanitizer makes frames larger. */
#include "base/system/stack.h"
#define STACKS_KIB ((size_t)1024 * KILN__STACK_SCALE)

/*
 * Each runs body(env) on a new stack of `size` bytes, above memory that ends
 * the process when it is touched, and returns when the body has.
 */

/* A thread's. */
void stacks_run_thread(size_t size, void (*body)(void *env), void *env);
/* A coroutine's of the calling thread, which stands in allocated memory. */
void stacks_run_coroutine(size_t size, void (*body)(void *env), void *env);
/* The lowest address of the coroutine that runs on this thread, or NULL. */
const void *stacks_coroutine_limit(void);

#endif /* KILN_TESTS_STACKS_H */
