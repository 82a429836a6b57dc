/* code.h - the inside of code instances that other modules may read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODE_H
#define KILN_CODE_H

#include "core.h"

/* The frontend that inferred the instance. */
kiln_frontend *kiln__code_frontend(const kiln_code *code);
/* The argument types of its signature; live as long as the instance. */
const kiln_type *const *kiln__code_types(const kiln_code *code, size_t *count);

/* A symbol that the code takes from a bitcode library. */
typedef struct kiln__library_use {
    const struct kiln__library *library;
    const char *symbol; /* the library's */
    kiln_digest digest; /* of library and symbol */
} kiln__library_use;

/* A host object or function that the code refers to. */
typedef struct kiln__site_use {
    const char *name;
    int32_t kind; /* KILN_SITE_... */
} kiln__site_use;

/* What the code was marked as. */
int kiln__code_is_runtime(const kiln_code *code);
/* In the order of use. */
const kiln__library_use *kiln__code_uses(const kiln_code *code, size_t *count);

/* In the order of use; the names are the code's. */
const kiln__site_use *kiln__code_sites(const kiln_code *code, size_t *count);

/* Finds which runtime functions of a call closure can be kept one by one:
   out[i] becomes true where closure[i] is marked and makes the same code
   wherever it is called. (ir/separable.c) */
kiln_status kiln__separable_find(uint8_t *out, const kiln_code *const *closure,
                                 size_t count, const kiln_config *config);

/* Checks what the items of a group do together in the kernel and all that it
   calls, which is typed IR of Kiln's own. (frontend/collective.c) */
kiln_status kiln__collective_check(const kiln_code *root,
                                   const kiln_alloc *alloc, kiln_error **error);

/* Checks a kernel of typed IR, and all that it calls, against what the config's
   target has. KILN_EUNSUPPORTED with a diagnostic for each finding.
   (frontend/device_findings.c) */
kiln_status kiln__device_findings(const kiln_code *root,
                                  const kiln_config *config,
                                  const kiln_alloc *alloc, kiln_error **error);

#endif /* KILN_CODE_H */
