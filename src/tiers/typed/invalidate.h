/* invalidate.h - how results end when their frontend changes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_INVALIDATE_H
#define KILN_TIERS_TYPED_INVALIDATE_H

#include "tiers/typed/code_state.h"

struct kiln__tiers;

typedef struct kiln__world_change {
    kiln_frontend *frontend;
    uint64_t world; /* may be older than the current one, or not yet current */
    const uint64_t *subjects;
    size_t count;
    /* May be NULL. Called when all results that the world ends have ended,
       before the host is told. */
    void (*invalidated)(void *env);
    void *env;
} kiln__world_change;

/* As kiln_world_changed(). Changes may be told in another order than they were
   made. */
kiln_status kiln__world_changed(const kiln__world_change *change,
                                kiln_change_report *report);

/* With the lock held. Ends the validity of a code instance and of its callers
   in the worlds of the frontend. Those that become invalid are appended to
   `list`, which may be NULL. */
void kiln__code_clip(struct kiln__tiers *tiers, kiln_code *code,
                     const kiln_frontend *frontend, uint64_t maximum,
                     kiln__code_list *list);
/* Without the lock held. Asks every query again as of `world`. */
int kiln__code_still_holds(const kiln_code *code, uint64_t world);
void kiln__invalidated_report(kiln_context *context,
                              const kiln__code_list *list,
                              kiln_change_report *report);

#endif /* KILN_TIERS_TYPED_INVALIDATE_H */
