/* runtime_separable.h - functions of the runtime that can be compiled apart. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_RUNTIME_SEPARABLE_H
#define KILN_PIPELINE_RUNTIME_SEPARABLE_H

#include "context/context.h"

/* Finds which runtime functions of a call closure can be kept one by one:
   out[i] becomes true where closure[i] is marked and makes the same code
   wherever it is called. */
kiln_status kiln__separable_find(uint8_t *out, const kiln_code *const *closure,
                                 size_t count, const kiln_config *config);

#endif /* KILN_PIPELINE_RUNTIME_SEPARABLE_H */
