/* kiln_cache.h - what the parts of kiln cache share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_CACHE_H
#define KILN_TOOLS_CACHE_H

#include "kiln/sys/cache_tools.h"
#include "kiln_json.h"
#include "kiln_tool.h"

/* A command of kiln cache, with its options and a context. */
typedef struct cache_command {
    const tool_options *options;
    kiln_context *context;
    kiln_cache_filter filter; /* from --kind and --name */
    json json;                /* for output if options->json is set */
} cache_command;

/* Each function reports its errors and returns TOOL_... */

/* kiln_cache_list.c */
int cache_stat(cache_command *c);
int cache_ls(cache_command *c);
/* kiln_cache_show.c */
int cache_show(cache_command *c);
int cache_explain(cache_command *c);
/* kiln_cache_care.c */
int cache_verify(cache_command *c);
int cache_prune(cache_command *c);
int cache_clear(cache_command *c);
int cache_compact(cache_command *c);
int cache_export(cache_command *c);
int cache_import(cache_command *c);
/* kiln_cache_places.c */
int cache_locate(cache_command *c);
int cache_doctor(cache_command *c);
/* kiln_vendors.c: the caches of drivers and of other compilers */
void cache_show_vendors(cache_command *c);

/* kiln_cache.c: writes numbers for people to `out` */
#define CACHE_TEXT_SIZE 32
const char *cache_bytes(char out[CACHE_TEXT_SIZE], uint64_t bytes);
const char *cache_seconds(char out[CACHE_TEXT_SIZE], int64_t seconds);
const char *cache_nanoseconds(char out[CACHE_TEXT_SIZE], uint64_t ns);
/* Reads "15m" or "1d"; false: it is no time. */
int cache_read_time(uint64_t *seconds, const char *text);
int64_t cache_unused_s(const kiln_cache_entry *entry);

#endif /* KILN_TOOLS_CACHE_H */
