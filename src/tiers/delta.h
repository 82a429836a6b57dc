/* delta.h - what came into the tiers since a moment. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_DELTA_H
#define KILN_TIERS_DELTA_H

#include "context/context.h"
#include "stores/entry.h"

/* Returns the number of the last addition to a tier; the second function
   returns a new one. */
uint64_t kiln__tiers_order(kiln_context *context);
uint64_t kiln__tiers_next(kiln_context *context);

typedef struct kiln__delta_taker kiln__delta_taker;
struct kiln__delta_taker {
    kiln_status (*take)(void *env, const kiln__entry *entry);
    void *env;
};

/* Gives the entries of frontends' own. */
kiln_status kiln__frontends_delta(const kiln_context *context, uint64_t since,
                                  const kiln__delta_taker *taker);
/* Gives every entry that was added since then, as delta.c says. */
kiln_status kiln__tiers_delta(kiln_context *context, uint64_t since,
                              int binaries, const kiln__delta_taker *taker,
                              kiln_error **error);

#endif /* KILN_TIERS_DELTA_H */
