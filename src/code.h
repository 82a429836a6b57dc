/* code.h - the inside of code instances that other modules may read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODE_H
#define KILN_CODE_H

#include "core.h"

/* The frontend that inferred the instance. */
kiln_frontend *kiln__code_frontend(const kiln_code *code);
/* The argument types of its signature; live as long as the instance. */
const kiln_type *const *kiln__code_types(const kiln_code *code, size_t *count);

#endif /* KILN_CODE_H */
