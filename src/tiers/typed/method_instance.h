/* method_instance.h - a signature under an owner token, and its code. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_METHOD_INSTANCE_H
#define KILN_TIERS_TYPED_METHOD_INSTANCE_H

#include "tiers/typed/code_state.h"

/* A method instance: signature and owner token. */
struct kiln__instance {
    const kiln_function *function;
    const kiln_type **types;
    size_t count;
    kiln_digest owner;
    kiln_code *codes; /* those that nothing has ended, newest first */
    kiln_code *ended; /* the others, the latest used first */
    /* For each frontend the last world in which one of `ended` is valid. */
    kiln__array_of(kiln__world) last_worlds;
    int is_vague; /* `last_worlds` is incomplete */
    struct kiln__flight *flights;
    /* The worlds of the remembered failure; empty: there is none. */
    kiln__array_of(kiln__world) failed_worlds;
    kiln_status failed_status;
    kiln_error *failed_error;
    struct kiln__instance *alias; /* another one with the same digest */
};

struct kiln__tiers;

/* ---- with the lock held ---- */

kiln__instance *kiln__instance_get(struct kiln__tiers *tiers,
                                   const kiln_signature *signature,
                                   kiln_digest owner, int create);
/* Returns a code instance that is valid in the worlds, a complete one or, with
   `or_record`, also a record. For a frontend whose world has not been taken,
   the instance must have no end; the first such frontend is stored in
   `*untaken` (else NULL), and when its world is taken the caller asks again. */
kiln_code *kiln__instance_code(kiln__instance *instance,
                               const kiln__worlds *worlds, int or_record,
                               kiln_frontend **untaken);
/* True if the remembered failure applies to these worlds, too. */
int kiln__instance_fails(const kiln__instance *instance,
                         const kiln__worlds *worlds, kiln_frontend **untaken);
/* If there is no memory, nothing is remembered. */
void kiln__instance_remember(kiln__instance *instance,
                             const kiln__worlds *worlds, kiln_status status,
                             kiln_error *error);
void kiln__instance_add(kiln__instance *instance, kiln_code *code);
/* Called when the code's worlds get an end, or an earlier one. */
void kiln__instance_note_end(kiln__instance *instance, kiln_code *code);
/* Forgets the code instances that a collection does not keep. */
void kiln__instance_sweep(kiln__instance *instance);
void kiln__instance_free(const kiln_alloc *alloc, kiln__instance *instance);

#endif /* KILN_TIERS_TYPED_METHOD_INSTANCE_H */
