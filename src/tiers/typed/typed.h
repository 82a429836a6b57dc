/* typed.h - tier 1: typed IR of method instances. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_TYPED_H
#define KILN_TIERS_TYPED_TYPED_H

#include "context/keys/settings.h"
#include "tiers/flight.h"
#include "tiers/worlds.h"

typedef struct kiln__typed_request {
    const kiln_signature *signature;
    const kiln_config *config;
    kiln__worlds *worlds; /* in which it is answered; that of its own frontend
                             is taken */
    int never_wait;       /* infer privately where others would wait */
    int for_job;          /* a record suffices: kiln__code_is_record() */
} kiln__typed_request;

/* Takes the worlds of a request, with `world` (0: the current one) of its
   function's own frontend, and lends the code instance. If a definition came
   between two questions, the request is restarted. On success the caller ends
   the worlds. */
kiln_status kiln__typed_begin(const kiln_code **out, kiln__call_chain *chain,
                              const kiln__typed_request *request,
                              uint64_t world, kiln_error **error);
/* As kiln__typed_begin(), in those worlds, which the caller does not end. */
kiln_status kiln__typed_around(const kiln_code **out, kiln__call_chain *chain,
                               const kiln__typed_request *request,
                               kiln_error **error);
/* Lends the code instance, inferring it if need be. */
kiln_status kiln__typed_get(const kiln_code **out, kiln_context *context,
                            kiln__call_chain *chain,
                            const kiln__typed_request *request,
                            kiln_error **error);

/* Lends a complete code instance that is valid in that world of its own
   frontend and in the current ones of all others, if there is one; without
   counting. */
const kiln_code *kiln__typed_find(kiln_context *context,
                                  const kiln_signature *signature,
                                  const kiln_config *config, uint64_t world);

#endif /* KILN_TIERS_TYPED_TYPED_H */
