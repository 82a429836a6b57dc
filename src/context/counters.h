/* counters.h - requests, stages and bytes, counted per thread. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_COUNTERS_H
#define KILN_CONTEXT_COUNTERS_H

#include "context/context.h"

typedef enum kiln__count {
    KILN__COUNT_REQUEST,
    KILN__COUNT_HIT,
    KILN__COUNT_STORE_HIT,
    KILN__COUNT_WAITED,
    KILN__COUNT_BUILT,
    KILN__COUNT_FAILED,
    KILN__COUNT_END
} kiln__count;

kiln_status kiln__counters_new(kiln_context *context);
void kiln__counters_free(kiln_context *context);
/* Adds one request and its outcome in the calling thread's own block, without a
   lock or a shared cache line. A thread's first call may allocate; if that
   fails, a shared atomic block is used. */
void kiln__count_request(kiln_context *context, int32_t tier,
                         kiln__count outcome);
void kiln__count_stage(kiln_context *context, int32_t stage,
                       uint64_t nanoseconds);
void kiln__count_invalidated(kiln_context *context, uint64_t count);
/* Adds to the entries and bytes held; deltas may be negative. */
void kiln__count_held(kiln_context *context, int32_t tier, int64_t entries,
                      int64_t bytes);
/* Counts whether an entry that was read several times was found worth keeping,
   and the time that one reading saved. */
void kiln__count_judged(kiln_context *context, int32_t tier, int is_kept);
void kiln__count_saved(kiln_context *context, int32_t tier,
                       uint64_t nanoseconds);
/* Counters of a tier's use of stores. */
enum {
    KILN__STORE_HITS,
    KILN__STORE_PUTS,
    KILN__STORE_PUT_FAILURES,
    KILN__STORE_REFUSED,
    KILN__STORE_BYTES_READ,
    KILN__STORE_BYTES_WRITTEN,
    KILN__STORE_GET_NS,
    KILN__STORE_PUT_NS,
    KILN__STORE_MISSES, /* + KILN_MISS_... */
    KILN__STORE_COUNT_END = KILN__STORE_MISSES + KILN_MISS_COUNT
};
/* Adds to two of these counters; values may be negative. */
void kiln__count_store(kiln_context *context, int32_t tier, int first,
                       int64_t first_value, int second, int64_t second_value);
/* Counts the stage and tells the host's event callback. */
void kiln__stage_ended(kiln_context *context, int32_t stage, const char *name,
                       uint64_t nanoseconds);

#endif /* KILN_CONTEXT_COUNTERS_H */
