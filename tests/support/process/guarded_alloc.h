/* guarded_alloc.h - an allocator that catches uses of freed memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GUARDED_ALLOC_H
#define KILN_TESTS_GUARDED_ALLOC_H

#include "kiln/sys/alloc.h"

/*
 * Each block has its own pages and lies at their end. Reading or writing past a
 * block, or after it was freed, is SIGSEGV in every build. The last
 * GUARDED_KEPT freed blocks are not used again. This is slow, and takes much
 * address space.
 */
#define GUARDED_KEPT 8192

extern const kiln_alloc guarded_alloc;

#endif /* KILN_TESTS_GUARDED_ALLOC_H */
