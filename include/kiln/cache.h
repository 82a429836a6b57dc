/* kiln/cache.h - the tiers' counters, stores, snapshots and packs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CACHE_H
#define KILN_CACHE_H

#include "kiln/compile.h"
#include "kiln/sys/store.h"

KILN_BEGIN_DECLS

/** The tiers, and what each remembers. */
#define KILN_TIER_MAP(X) \
    X(TYPED, "typed_ir")  /* typed IR per method instance and owner token */ \
    X(RUNTIME, "runtime") /* renamed bitcode per runtime function */ \
    X(BINARY, "binary")   /* linked binaries per job and full config */

#define KILN__TIER_ENUM(name, text) KILN_TIER_##name,
enum { KILN_TIER_MAP(KILN__TIER_ENUM) KILN_TIER_COUNT };
#undef KILN__TIER_ENUM

/**
 * One tier's counters since the context began. At rest (no request under way)
 * requests = hits + store_hits + waited + built + failed. Hits through
 * kiln_call_site_get() make no request.
 */
typedef struct kiln_tier_statistics {
    uint64_t requests;
    uint64_t hits;       /* found in memory */
    uint64_t store_hits; /* found in a store */
    uint64_t waited;     /* answered by a build that was under way */
    uint64_t built;
    uint64_t failed;  /* remembered failures included */
    uint64_t entries; /* held in memory now */
    uint64_t bytes;   /* of their payloads */
} kiln_tier_statistics;

typedef struct kiln_statistics {
    size_t size; /* set by the caller */
    kiln_tier_statistics tiers[KILN_TIER_COUNT];
    uint64_t stage_ns[KILN_STAGE_COUNT]; /* summed over all threads */
    uint64_t stage_count[KILN_STAGE_COUNT];
    uint64_t invalidated; /* code instances that lost their validity */
} kiln_statistics;

/** Stores the counters' sums. Cheap, but not for a hit path. */
KILN_API void kiln_statistics_get(kiln_statistics *out,
                                  const kiln_context *context);

/**
 * Renders the counters as one JSON object without newline:
 * {"tiers": {"typed_ir": {"requests": …}, …}, "stages_ns": {"parse": …}}.
 * The caller releases `*out`; its bytes are NUL-terminated.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_statistics_json(kiln_blob *out, const kiln_context *context);

/**
 * Adds a store behind the tiers. Lower `priority` is asked first; equal ones
 * are refused. On success the context owns `self` and calls ops->free.
 * KILN_EUNSUPPORTED in this version: tiers live in memory.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_context_add_store(kiln_context *context, const kiln_store_ops *ops,
                       void *self, int32_t priority, kiln_error **error);

KILN_END_DECLS

#endif /* KILN_CACHE_H */
