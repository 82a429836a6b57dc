/* cache_entries.h - entries as the cache tools show them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_CACHE_TOOLS_CACHE_ENTRIES_H
#define KILN_PIPELINE_CACHE_TOOLS_CACHE_ENTRIES_H

#include "base/data/array.h"
#include "kiln/sys/cache_tools.h"
#include "stores/stores.h"

/* An entry that is shown, with the texts made for it. */
typedef struct kiln__cache_seen {
    kiln_cache_entry shown;
    const kiln__store_seen *seen;
    const kiln_alloc *alloc;
    kiln__text name;
    kiln__text target;
    kiln__text toolchain;
} kiln__cache_seen;

/* Fills it from an entry of a walk; KILN_ENOMEM. Dispose of it in any case. */
kiln_status kiln__cache_seen_init(kiln__cache_seen *out,
                                  const kiln_alloc *alloc,
                                  const kiln__store_seen *seen);
void kiln__cache_seen_dispose(kiln__cache_seen *seen);

/* Reads a filter from a caller of any version; NULL: all entries. */
kiln_status kiln__cache_filter_read(kiln_cache_filter *out,
                                    const kiln_cache_filter *given,
                                    kiln_error **error);

/* Called for each entry that passes a filter. Any result but KILN_OK ends
   the walk and is its result, except that KILN_ECANCELED ends it without a
   failure. */
typedef kiln_status (*kiln__cache_fn)(void *env, const kiln__cache_seen *seen,
                                      kiln_error **error);

typedef struct kiln__cache_walk {
    const kiln_alloc *alloc;
    const kiln_cache_filter *filter;
    kiln__cache_fn see;
    void *env;
} kiln__cache_walk;

kiln_status kiln__cache_walk_all(kiln_context *context,
                                 const kiln__cache_walk *walk,
                                 kiln_error **error);
kiln_status kiln__cache_walk_pack(kiln_pack *pack, const kiln__cache_walk *walk,
                                  kiln_error **error);

#endif /* KILN_PIPELINE_CACHE_TOOLS_CACHE_ENTRIES_H */
