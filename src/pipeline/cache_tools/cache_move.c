/* cache_move.c - moves entries from stores to packs and back, and drops
   entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "context/log.h"
#include "pipeline/cache_tools/cache_entries.h"
#include "pipeline/complete.h"
#include "pipeline/pack_export.h"
#include "stores/pack/pack.h"

static void give_report(kiln_cache_report *out, const kiln_cache_report *report)
{
    const size_t size = out->size;
    kiln_cache_report copy = *report;

    copy.size = size;
    memcpy(out, &copy, size < sizeof copy ? size : sizeof copy);
}

/* ---- bounds ---- */

static kiln_status end_care(kiln_cache_report *out, kiln_status status,
                            const kiln__store_report *report,
                            kiln_error **error)
{
    const kiln_cache_report given = {.entries = report->entries,
                                     .bytes = report->bytes,
                                     .dropped = report->evicted,
                                     .dropped_bytes = report->evicted_bytes,
                                     .swept = report->swept};

    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status != KILN_OK)
        return kiln__error_set(error, status, "the cache is not written: %s",
                               kiln_status_text(status));
    give_report(out, &given);
    return KILN_OK;
}

kiln_status kiln_cache_prune(kiln_cache_report *out, kiln_context *context,
                             kiln_error **error)
{
    kiln__store_report report;
    kiln_status status;

    KILN_TRY(kiln__sized_check(out, "kiln_cache_report", error));
    KILN_REQUIRE(context != NULL, error);
    status = kiln__stores_prune(context, &report);
    return end_care(out, status, &report, error);
}

kiln_status kiln_cache_clear(kiln_cache_report *out, kiln_context *context,
                             kiln_error **error)
{
    kiln__store_report report;
    kiln_status status;

    KILN_TRY(kiln__sized_check(out, "kiln_cache_report", error));
    KILN_REQUIRE(context != NULL, error);
    status = kiln__stores_clear(context, &report);
    return end_care(out, status, &report, error);
}

kiln_status kiln_cache_compact(kiln_cache_report *out, kiln_context *context,
                               uint64_t unused_s, kiln_error **error)
{
    kiln__store_report report;

    KILN_TRY(kiln__sized_check(out, "kiln_cache_report", error));
    KILN_REQUIRE(context != NULL, error);
    KILN_TRY(kiln__stores_compact(context, unused_s, &report, error));
    return end_care(out, KILN_OK, &report, error);
}

/* ---- to a pack ---- */

typedef struct exporting {
    kiln_context *context;
    const kiln_alloc *alloc;
    kiln__pack_writer *writer;
    kiln_cache_export_options options;
    kiln_cache_report report;
    const char *kind; /* the kind that the caller asked for, or NULL */
} exporting;

/* A kind that leaves the machine only on request is exported only if the filter
   names it. */
static int is_left_out(const exporting *e, int32_t kind)
{
    const kiln__entry_reach reach = kiln__entry_reach_of(kind);

    return reach == KILN__REACH_MACHINE ||
           (reach == KILN__REACH_ASKED &&
            (e->kind == NULL ||
             strcmp(e->kind, kiln__entry_kind_text(kind)) != 0));
}

/* Who uses the pack may have no code generator. Here there may be none,
   either. */
static kiln_status add_complete(exporting *e, kiln__entry *entry,
                                kiln_error **error)
{
    kiln_error *cause = NULL;
    kiln_blob meta = {0};
    kiln_status status = kiln__entry_complete(entry, &meta, e->context, &cause);

    if (status != KILN_OK)
        kiln__log(e->context, KILN_LOG_WARNING,
                  "an entry is exported without its deferred body: %s",
                  cause != NULL ? kiln_error_message(cause)
                                : kiln_status_text(status));
    kiln_error_free(cause);
    status = kiln__pack_writer_add_entry(e->writer, entry, error);
    kiln_blob_release(&meta);
    return status;
}

static kiln_status export_one(void *env, const kiln__cache_seen *seen,
                              kiln_error **error)
{
    exporting *e = env;
    kiln__entry entry = seen->seen->stored.entry;

    if (seen->shown.fault != NULL || is_left_out(e, entry.kind)) {
        e->report.skipped++;
        return KILN_OK;
    }
    if (e->options.tiers_off & 1u << kiln__entry_tier(entry.kind))
        return KILN_OK;
    if (e->options.reproducible == KILN_SWITCH_ON &&
        !kiln__pack_reproducible(&entry))
        return KILN_OK;
    return add_complete(e, &entry, error);
}

static kiln_status write_pack(exporting *e, const char *path,
                              kiln_error **error)
{
    kiln_pack *pack = NULL;

    KILN_TRY(kiln__pack_writer_to_file(e->writer, path, error));
    KILN_TRY(kiln__pack_open(&pack, e->alloc, path, error));
    e->report.entries = kiln__pack_count(pack);
    e->report.bytes = kiln__pack_size(pack);
    kiln__pack_release(pack);
    return KILN_OK;
}

static kiln_status read_export(exporting *e,
                               const kiln_cache_export_options *given,
                               kiln_error **error)
{
    KILN_TRY(KILN__OPTIONS_READ(&e->options, given, kiln_cache_export_options,
                                error));
    if (e->options.reproducible > KILN_SWITCH_OFF)
        return kiln__error_argument(error, "options");
    if (kiln__pack_writer_new(&e->writer, e->alloc) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

kiln_status kiln_cache_export(kiln_cache_report *out, kiln_context *context,
                              const char *path, const kiln_cache_filter *given,
                              const kiln_cache_export_options *options,
                              kiln_error **error)
{
    kiln_cache_filter filter;
    exporting e = {0};
    kiln__cache_walk walk = {.filter = &filter, .see = export_one, .env = &e};
    kiln_status status;

    KILN_TRY(kiln__sized_check(out, "kiln_cache_report", error));
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(path != NULL, error);
    e.context = context;
    walk.alloc = e.alloc = &context->alloc;
    KILN_TRY(kiln__cache_filter_read(&filter, given, error));
    filter.disk_only = 1;
    e.kind = filter.kind;
    KILN_TRY(read_export(&e, options, error));
    status = kiln__cache_walk_all(context, &walk, error);
    if (status == KILN_OK)
        status = write_pack(&e, path, error);
    kiln__pack_writer_free(e.writer);
    if (status == KILN_OK)
        give_report(out, &e.report);
    return status;
}

/* ---- from a pack ---- */

typedef struct importing {
    kiln_context *context;
    kiln_cache_report report;
} importing;

static int is_there(kiln_context *context, kiln_digest digest)
{
    kiln__entry_fault fault;
    kiln__stored stored;
    const int found =
        kiln__stores_peek(&stored, &fault, context, digest) == KILN_OK;

    kiln__stored_release(&stored);
    return found;
}

static kiln_status import_one(void *env, const kiln__cache_seen *seen,
                              kiln_error **error)
{
    importing *i = env;
    const kiln__entry *entry = &seen->seen->stored.entry;

    (void)error;
    if (seen->shown.fault != NULL ||
        kiln__entry_reach_of(entry->kind) == KILN__REACH_MACHINE ||
        is_there(i->context, entry->key.digest)) {
        i->report.skipped++;
        return KILN_OK;
    }
    kiln__stores_put(i->context, entry, 0);
    if (!is_there(i->context, entry->key.digest))
        return kiln__error_set(error, KILN_EREADONLY,
                               "the cache takes no entries");
    i->report.entries++;
    i->report.bytes += seen->shown.bytes;
    return KILN_OK;
}

kiln_status kiln_cache_import(kiln_cache_report *out, kiln_context *context,
                              kiln_pack *pack, const kiln_cache_filter *given,
                              kiln_error **error)
{
    kiln_cache_filter filter;
    importing i = {.context = context};
    kiln__cache_walk walk = {.filter = &filter, .see = import_one, .env = &i};

    KILN_TRY(kiln__sized_check(out, "kiln_cache_report", error));
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(pack != NULL, error);
    walk.alloc = &context->alloc;
    KILN_TRY(kiln__cache_filter_read(&filter, given, error));
    KILN_TRY(kiln__cache_walk_pack(pack, &walk, error));
    give_report(out, &i.report);
    return KILN_OK;
}
