/* guarded_alloc.h - an allocator that ends whoever uses what he freed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GUARDED_ALLOC_H
#define KILN_TESTS_GUARDED_ALLOC_H

#include "kiln/sys/alloc.h"

/*
 * Each block has pages of its own, at whose end it lies: what is read or
 * written past it, or after it was freed, is SIGSEGV in every build. The last
 * GUARDED_KEPT blocks that were freed stay out of use. Slow, and greedy of
 * address space.
 */
#define GUARDED_KEPT 8192

extern const kiln_alloc guarded_alloc;

#endif /* KILN_TESTS_GUARDED_ALLOC_H */
