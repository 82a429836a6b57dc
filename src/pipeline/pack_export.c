/* pack_export.c - saves what a package adds as a pack, and inserts packs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pipeline/pack_export.h"
#include "base/error.h"
#include "base/options.h"
#include "context/keys/key.h"
#include "pipeline/complete.h"
#include "stores/pack/pack.h"
#include "stores/stores.h"
#include "tiers/delta.h"

/*
 * A mark is the number of the last addition to a tier. A delta is written by
 * the pack writer, whose bytes depend only on the entries: the same workload
 * gives the same bytes in each process.
 */

struct kiln_mark {
    kiln_context *context;
    uint64_t order;
};

kiln_status kiln_snapshot(kiln_mark **out, kiln_context *context,
                          kiln_error **error)
{
    kiln_mark *mark;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    mark = kiln__allocate(&context->alloc, sizeof *mark);
    if (mark == NULL)
        return kiln__error_no_memory(error);
    mark->context = context;
    mark->order = kiln__tiers_order(context);
    *out = mark;
    return KILN_OK;
}

void kiln_mark_free(kiln_mark *mark)
{
    if (mark != NULL)
        kiln__deallocate(&mark->context->alloc, mark, sizeof *mark);
}

/* ---- deltas ---- */

typedef struct writing {
    kiln_context *context;
    kiln__pack_writer *writer;
    int is_reproducible;
    kiln_error **error;
} writing;

int kiln__pack_reproducible(kiln__entry *entry)
{
    entry->build_ns = 0;
    return entry->kind != KILN__ENTRY_RUNTIME ||
           !kiln__key_is_named(&entry->key, "runtime");
}

static kiln_status take_entry(void *env, const kiln__entry *given)
{
    writing *w = env;
    kiln__entry entry = *given;
    kiln_blob meta = {0};
    kiln_status status;

    if (kiln__entry_reach_of(entry.kind) != KILN__REACH_ANYWHERE ||
        (w->is_reproducible && !kiln__pack_reproducible(&entry)))
        return KILN_OK;
    status = kiln__entry_complete(&entry, &meta, w->context, w->error);
    if (status == KILN_OK)
        status = kiln__pack_writer_add_entry(w->writer, &entry, w->error);
    kiln_blob_release(&meta);
    return status;
}

static kiln_status write_delta(kiln__pack_writer **out, kiln_context *context,
                               const kiln_mark *since,
                               const kiln_delta_options *options,
                               kiln_error **error)
{
    kiln_error *fault = NULL;
    writing w = {.context = context,
                 .is_reproducible = options->reproducible == KILN_SWITCH_ON,
                 .error = &fault};
    const kiln__delta_taker taker = {take_entry, &w};
    kiln_status status = kiln__pack_writer_new(&w.writer, &context->alloc);

    if (status == KILN_OK)
        status = kiln__tiers_delta(context, since != NULL ? since->order : 0,
                                   options->binaries != KILN_SWITCH_OFF, &taker,
                                   &fault);
    if (status == KILN_OK)
        status = kiln__frontends_delta(
            context, since != NULL ? since->order : 0, &taker);
    if (status == KILN_OK) {
        *out = w.writer;
        return KILN_OK;
    }
    kiln__pack_writer_free(w.writer);
    if (fault == NULL)
        kiln__error_set(&fault, status, "a delta cannot be made: %s",
                        kiln_status_text(status));
    if (error != NULL)
        *error = fault;
    else
        kiln_error_free(fault);
    return status;
}

static kiln_status read_options(kiln_delta_options *out, kiln_context *context,
                                const kiln_mark *since,
                                const kiln_delta_options *given,
                                kiln_error **error)
{
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(since == NULL || since->context == context, error);
    KILN_TRY(KILN__OPTIONS_READ(out, given, kiln_delta_options, error));
    if (out->binaries > KILN_SWITCH_OFF || out->reproducible > KILN_SWITCH_OFF)
        return kiln__error_argument(error, "options");
    return KILN_OK;
}

kiln_status kiln_delta(kiln_blob *out, kiln_context *context,
                       const kiln_mark *since, const kiln_delta_options *given,
                       kiln_error **error)
{
    kiln__pack_writer *writer = NULL;
    kiln_delta_options options;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_TRY(read_options(&options, context, since, given, error));
    KILN_TRY(write_delta(&writer, context, since, &options, error));
    status = kiln__pack_writer_to_blob(out, writer, error);
    kiln__pack_writer_free(writer);
    return status;
}

kiln_status kiln_delta_save(kiln_context *context, const char *path,
                            const kiln_mark *since,
                            const kiln_delta_options *given, kiln_error **error)
{
    kiln__pack_writer *writer = NULL;
    kiln_delta_options options;
    kiln_status status;

    KILN_REQUIRE(path != NULL, error);
    KILN_TRY(read_options(&options, context, since, given, error));
    KILN_TRY(write_delta(&writer, context, since, &options, error));
    status = kiln__pack_writer_to_file(writer, path, error);
    kiln__pack_writer_free(writer);
    return status;
}

/* ---- packs ---- */

kiln_status kiln_pack_open(kiln_pack **out, const char *path,
                           kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(path != NULL, error);
    return kiln__pack_open(out, &kiln__malloc, path, error);
}

kiln_status kiln_pack_open_memory(kiln_pack **out, const void *bytes,
                                  size_t size, kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(bytes != NULL, error);
    return kiln__pack_open_memory(out, &kiln__malloc, bytes, size, error);
}

void kiln_pack_close(kiln_pack *pack)
{
    kiln__pack_release(pack);
}

kiln_status kiln_insert(kiln_context *context, kiln_pack *pack,
                        kiln_error **error)
{
    const kiln__store_source source = kiln__pack_source(pack, KILN_STORE_PACKS);
    kiln_status status;

    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(pack != NULL, error);
    status = kiln__stores_add(context, &source);
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status != KILN_OK)
        return kiln__error_set(error, status, "pack %s cannot be inserted",
                               kiln__pack_name(pack));
    return KILN_OK;
}
