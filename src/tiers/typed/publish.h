/* publish.h - how code instances come into tier 1. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_PUBLISH_H
#define KILN_TIERS_TYPED_PUBLISH_H

#include "tiers/typed/code_state.h"

struct kiln__tiers;

/* The code instances with queries about one subject of a frontend. */
typedef struct kiln__subject {
    uint64_t changed; /* the last world that changed the subject */
    kiln__code_list codes;
    kiln__code_list ended; /* most of those whose worlds have an end */
    uint64_t last_ended;   /* the last of these ends */
} kiln__subject;

/* Adds a sealed group to tier 1 and checks it against the current worlds. If
   another thread has published `own` in the meantime, and with it what it
   calls, that one replaces the group. */
kiln_status kiln__codes_publish(kiln_context *context,
                                const kiln__worlds *worlds, kiln_code **group,
                                size_t count, kiln_code *own, kiln_code **out);
kiln__subject *kiln__subject_find(struct kiln__tiers *tiers,
                                  const kiln_frontend *frontend,
                                  uint64_t subject);
/* With the lock held. Makes the subject if need be; NULL when out of memory. */
kiln__subject *kiln__subject_get(struct kiln__tiers *tiers,
                                 const kiln_frontend *frontend,
                                 uint64_t subject);

#endif /* KILN_TIERS_TYPED_PUBLISH_H */
