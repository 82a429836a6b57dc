/* inference.h - inferences under way. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_INFERENCE_H
#define KILN_TIERS_TYPED_INFERENCE_H

#include "tiers/flight.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/typed.h"

/* An inference under way: a frame of its thread's chain. */
struct kiln_inference {
    kiln_context *context;
    kiln__call_chain *chain;
    kiln_inference *parent;
    const kiln_inference *around; /* the parent, or the innermost frame of the
                                     chain around */
    kiln__instance *instance;
    kiln_signature signature;
    const kiln_config *config;
    kiln__worlds *worlds; /* of the whole chain */
    uint64_t world;       /* that of its own frontend */
    uint64_t sequence;    /* inferences that began under this one have greater
                             numbers */
    uint64_t recursions;  /* of the call chain, when this one began */
    uint32_t level;       /* number of frames above it, over all call scopes */
    uint32_t depth;       /* number of frames above it in its chain */
    uint32_t cycle_depth; /* of the outermost frame that it relies on */
    int is_head;
    int is_loading;          /* its result comes from a store's entry */
    kiln_code *code;         /* under construction; callees may point to it */
    kiln__code_list members; /* provisional results of the cycle that it
                                heads */
    kiln__flight *held;      /* flights of the members, which end with this
                                one */
    kiln__flight *flight;    /* NULL: private */
    kiln_error *refusal;     /* why kiln_inference_depend() last failed */
    kiln_status passing;     /* temporary failure further down, or KILN_OK */
    void *user;
};

#define KILN__INFERENCE_DEPTH_MAX 400

/* Notes that the frame relies on the assumption of the head, a frame above
   it. */
void kiln__inference_rely_on(kiln_inference *from, const kiln_inference *head);
/* Something that infer() asked for failed in these worlds with this status;
   `recursions` is the chain's count before. If infer() goes on without it, its
   result is valid in no other worlds; if the failure was temporary, in none at
   all. */
typedef struct kiln__lack {
    const kiln__worlds *worlds;
    kiln_status status;
    uint64_t recursions;
} kiln__lack;

void kiln__inference_goes_without(kiln_inference *inference,
                                  const kiln__lack *lack);
/* Frees the provisional results that began after the frame. */
void kiln__inference_forget_since(kiln_inference *inference);
/* Infers the instance or loads it from a store, and publishes it or parks it
   with the head of its cycle. Ends `flight` (NULL: private) in any case. A
   failure that the same request would meet again is remembered. */
kiln_status kiln__typed_infer(kiln_code **out, kiln__call_chain *chain,
                              kiln__instance *instance,
                              const kiln__typed_request *request,
                              kiln__flight *flight, kiln_error **error);

#endif /* KILN_TIERS_TYPED_INFERENCE_H */
