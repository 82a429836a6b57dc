/* compile.h - the slow path of a request: to a flight, and to its kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_COMPILE_H
#define KILN_PIPELINE_COMPILE_H

#include "tiers/flight.h"

typedef struct kiln__compile_request {
    kiln_context *context;
    kiln_signature signature;
    const kiln_config *config;
    uint64_t world; /* 0: the current one */
    int never_wait;
    uint64_t deadline_ns; /* for waiting for a build; 0: none */
    /* A kernel that was found and loaded before, or NULL. */
    kiln_kernel *kernel;
    int32_t kernel_source; /* KILN_SOURCE_... */
} kiln__compile_request;

/* What a request got: a kernel at once, or a flight to wait for. */
typedef struct kiln__compile_answer {
    const kiln_kernel *kernel;
    int32_t source;       /* where the kernel came from: KILN_SOURCE_... */
    kiln__flight *flight; /* holds a reference; NULL: `kernel` is set */
    int owned;            /* true if this request began the flight */
} kiln__compile_answer;

/* The slow path of kiln_compile. Counts the request unless it answers with a
   flight; then kiln__compile_take_result() does. */
kiln_status kiln__compile_begin(kiln__compile_answer *out,
                                kiln__call_chain *chain,
                                const kiln__compile_request *request,
                                kiln_error **error);
/* Takes the result of a flight that is done, counts the request, and releases
   the flight. */
kiln_status kiln__compile_take_result(const kiln_kernel **out, int32_t *source,
                                      kiln_context *context,
                                      kiln__flight *flight, int owned,
                                      kiln_error **error);
/* Called instead of kiln__compile_take_result() when the call chain would wait
   for the flight for ever. */
kiln_status kiln__compile_break_cycle(const kiln_kernel **out, int32_t *source,
                                      kiln__call_chain *chain,
                                      const kiln__compile_request *request,
                                      kiln__flight *flight, kiln_error **error);

#endif /* KILN_PIPELINE_COMPILE_H */
