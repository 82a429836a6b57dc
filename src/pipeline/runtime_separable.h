/* runtime_separable.h - finds runtime functions that can be compiled
   separately. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_RUNTIME_SEPARABLE_H
#define KILN_PIPELINE_RUNTIME_SEPARABLE_H

#include "context/context.h"

/* Finds which functions of a call closure can be kept separately: out[i]
   becomes true if closure[i] is marked as a runtime function and gives the same
   code wherever it is called. */
kiln_status kiln__separable_find(uint8_t *out, const kiln_code *const *closure,
                                 size_t count, const kiln_config *config);

#endif /* KILN_PIPELINE_RUNTIME_SEPARABLE_H */
