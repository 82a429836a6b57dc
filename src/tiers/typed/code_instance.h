/* code_instance.h - the inside of code instances that other modules may read.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_CODE_INSTANCE_H
#define KILN_TIERS_TYPED_CODE_INSTANCE_H

#include "context/context.h"

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

#endif /* KILN_TIERS_TYPED_CODE_INSTANCE_H */
