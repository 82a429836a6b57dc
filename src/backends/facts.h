/* facts.h - whether the facts that a kernel's faster entry needs hold. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_FACTS_H
#define KILN_BACKENDS_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/facts_abi.h"

/* The shape of a launch, in the order of KILN__FACT_SHAPE. */
typedef struct kiln__facts_shape {
    uint64_t sizes[KILN__FACT_SHAPES];
} kiln__facts_shape;

/* Returns whether the program is well-formed, for arguments of that many packed
   bytes: evaluation reads nothing else. Artifacts may come from anywhere. */
int kiln__facts_fit(const void *facts, size_t size, uint32_t argument_bytes);
/* Evaluates a program that fits. */
int kiln__facts_hold(const void *facts, size_t size, const void *arguments,
                     const kiln__facts_shape *shape);

#endif /* KILN_BACKENDS_FACTS_H */
