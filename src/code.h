/* code.h - the inside of code instances that other modules may read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODE_H
#define KILN_CODE_H

#include "core.h"

/* The frontend that inferred the instance. */
kiln_frontend *kiln__code_frontend(const kiln_code *code);
/* The argument types of its signature; live as long as the instance. */
const kiln_type *const *kiln__code_types(const kiln_code *code, size_t *count);

/* Checks what the items of a group do together in the kernel and all that it
   calls, which is typed IR of Kiln's own. (frontend/collective.c) */
kiln_status kiln__collective_check(const kiln_code *root,
                                   const kiln_alloc *alloc, kiln_error **error);

#endif /* KILN_CODE_H */
