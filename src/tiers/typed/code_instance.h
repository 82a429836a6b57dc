/* code_instance.h - parts of code instances that other modules may read. */
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
    const char *symbol; /* belongs to the library */
    kiln_digest digest; /* covers library and symbol */
} kiln__library_use;

/* A host object or function that the code refers to. */
typedef struct kiln__site_use {
    const char *name;
    int32_t kind; /* KILN_SITE_... */
} kiln__site_use;

/* True if the code is marked as a runtime function. */
int kiln__code_is_runtime(const kiln_code *code);
/* Uses in their order. */
const kiln__library_use *kiln__code_uses(const kiln_code *code, size_t *count);

/* Sites in their order; the names belong to the code. */
const kiln__site_use *kiln__code_sites(const kiln_code *code, size_t *count);
/* A record has a digest, a name and all queries of its call closure, but no
   typed IR: no code can be generated from it. */
int kiln__code_is_record(const kiln_code *code);
/* Callees in call order; of two that are one function, either. */
const kiln_code *const *kiln__code_callees(const kiln_code *code,
                                           size_t *count);

#endif /* KILN_TIERS_TYPED_CODE_INSTANCE_H */
