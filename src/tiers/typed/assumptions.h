/* assumptions.h - what two entries of one code instance rest on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_ASSUMPTIONS_H
#define KILN_TIERS_TYPED_ASSUMPTIONS_H

#include "stores/entry.h"

/* True if two entries of one code instance have different answers to the same
   questions. False if they cannot be read, or without memory. */
int kiln__entries_of_two_programs(const kiln_alloc *alloc, const kiln__entry *a,
                                  const kiln__entry *b);

#endif /* KILN_TIERS_TYPED_ASSUMPTIONS_H */
