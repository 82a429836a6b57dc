/* cache_settings.h - how a context uses stores: options, then variables. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CACHE_SETTINGS_H
#define KILN_CACHE_SETTINGS_H

#include <sys/types.h>

#include "base/data/memory.h"
#include "context/environment.h"
#include "kiln/cache.h"

/* Made once and never changed. */
typedef struct kiln__cache_settings {
    kiln_alloc alloc;
    int32_t mode; /* KILN_CACHE_MODE_..., never DEFAULT */
    int locks;
    int has_disk;       /* false: it is switched off */
    uint32_t tiers_off; /* bits 1 << KILN_TIER_... */
    uint64_t max_size;
    uint64_t max_entries;
    uint64_t max_age_s;
    uint64_t mem_size;
    uint64_t wait_ms;
    char *directory;       /* NULL: there is no disk store, and `why_not` gives
                              the reason */
    int is_given;          /* whether `directory` was given and is not the
                              default */
    const char *why_not;   /* a static string */
    char *local_directory; /* or NULL */
    int local_is_given;
    char *search_path; /* or NULL */
    uid_t *trusted;    /* users whose folders and packs on the search path are
                          used */
    size_t trusted_count;
    char *salt;       /* or NULL */
    char *name_space; /* or NULL */
    char *trace;      /* or NULL */
} kiln__cache_settings;

/* `options` may be NULL. KILN_EINVAL, with an error that names the member or
   variable whose value cannot be used. */
kiln_status kiln__cache_settings_new(kiln__cache_settings **out,
                                     const kiln_alloc *alloc,
                                     const kiln_cache_options *options,
                                     const kiln__cache_variables *variables,
                                     kiln_error **error);
void kiln__cache_settings_free(kiln__cache_settings *settings);

#endif /* KILN_CACHE_SETTINGS_H */
