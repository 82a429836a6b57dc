/* tiers.h - the three tiers of a context, made and ended together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TIERS_H
#define KILN_TIERS_TIERS_H

#include "context/context.h"

/*
 * The tiers' own lock guards everything here except the hit path. It is never
 * held while a callback, a store, a backend or the code generator runs.
 */

/* `unload` is called for each kernel before it is freed. */
kiln_status kiln__tiers_new(kiln_context *context,
                            void (*unload)(kiln_kernel *kernel));
void kiln__tiers_free(kiln_context *context);
void kiln__tiers_collect(kiln_context *context);

/* The locks between processes; NULL: there are none. */
struct kiln__locks *kiln__tiers_locks(kiln_context *context);
/* How long the longest build took that this context made or got. */
void kiln__tiers_note_build(kiln_context *context, uint64_t nanoseconds);
uint64_t kiln__tiers_longest_build_ns(kiln_context *context);

/* True for failures that the same input gives again. */
int kiln__status_is_final(kiln_status status);

#endif /* KILN_TIERS_TIERS_H */
