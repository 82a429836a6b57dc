/* delta.c - lists the entries that were added since a mark. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiers/delta.h"
#include "base/error.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/binary/binary_table.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/entry_writer.h"
#include "tiers/flight.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/runtime/runtime_entry.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/attachment.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/stored_program.h"
#include "tiers/typed/stored_typed.h"
#include "tiers/typed/typed.h"
#include "tiers/worlds.h"

/*
 * Everything that enters a tier gets the next number, and a mark is such a
 * number. A delta has everything with a greater number that did not come from a
 * pack and is valid in all worlds from now on: code instances, what is known
 * about those that jobs asked for, their artifacts, what consumers attached to
 * them and can save, and bitcode of runtime functions. An artifact counts by
 * its own number, because a kernel of an old code instance may have been
 * compiled for a new config.
 *
 * Records are incomplete: the code instances that they stand for are first
 * loaded from the stores or inferred.
 */

typedef kiln__array_of(const kiln_artifact *) artifact_list;

typedef struct attachment_of {
    const kiln_code *code;
    const kiln__attached *attached;
} attachment_of;

typedef struct delta {
    kiln_context *context;
    uint64_t since;
    kiln__code_list codes;                     /* the call scope keeps them from
                                                  collection */
    artifact_list artifacts;                   /* one reference each */
    kiln__runtime_list runtime;                /* lent */
    kiln__array_of(attachment_of) attachments; /* of these code instances */
} delta;

uint64_t kiln__tiers_order(kiln_context *context)
{
    struct kiln__tiers *tiers = context->tiers;
    uint64_t order;

    kiln__mutex_lock(&tiers->lock);
    order = tiers->order;
    kiln__mutex_unlock(&tiers->lock);
    return order;
}

uint64_t kiln__tiers_next(kiln_context *context)
{
    struct kiln__tiers *tiers = context->tiers;
    uint64_t order;

    kiln__mutex_lock(&tiers->lock);
    order = ++tiers->order;
    kiln__mutex_unlock(&tiers->lock);
    return order;
}

/* ---- records ---- */

static kiln_status list_records(delta *d, kiln__code_list *out)
{
    struct kiln__tiers *tiers = d->context->tiers;
    kiln_status status = KILN_OK;

    kiln__mutex_lock(&tiers->lock);
    for (kiln_code *code = tiers->codes; code != NULL; code = code->next_all)
        if (code->is_record && !code->is_packed && code->order > d->since &&
            kiln__code_is_good(code) &&
            !kiln__array_push(&d->context->alloc, out, code))
            status = KILN_ENOMEM;
    kiln__mutex_unlock(&tiers->lock);
    return status;
}

static kiln_status complete(delta *d, kiln__call_chain *chain,
                            kiln_code *record, kiln_error **error)
{
    const kiln_signature signature = kiln_code_signature(record);
    kiln__worlds worlds;
    const kiln__typed_request request = {
        .signature = &signature, .config = record->config, .worlds = &worlds};
    const kiln_code *code = NULL;

    KILN_TRY(kiln__typed_begin(&code, chain, &request, 0, error));
    kiln__worlds_end(&worlds);
    kiln__mutex_lock(&d->context->tiers->lock);
    ((kiln_code *)(uintptr_t)code)->is_root |= record->is_root;
    kiln__mutex_unlock(&d->context->tiers->lock);
    return KILN_OK;
}

static kiln_status complete_records(delta *d, kiln__call_chain *chain,
                                    kiln_error **error)
{
    kiln__code_list records = {0};
    kiln_status status = list_records(d, &records);

    for (size_t i = 0; status == KILN_OK && i < records.count; i++)
        status = complete(d, chain, records.items[i], error);
    kiln__array_dispose(&d->context->alloc, &records);
    return status;
}

/* ---- listing ---- */

static int has_artifact(const delta *d, const kiln_artifact *artifact)
{
    for (size_t i = 0; i < d->artifacts.count; i++)
        if (d->artifacts.items[i] == artifact)
            return 1;
    return 0;
}

/* With the lock held. */
static kiln_status list_artifacts(delta *d, const kiln_code *code)
{
    const kiln__map *map = &d->context->tiers->artifacts;
    const kiln_kernel *kernel = code->kernels;

    for (; kernel != NULL; kernel = kernel->next_of_code) {
        const kiln__kept_artifact *kept =
            kiln__map_get(map, kernel->artifact->key);

        if (kept == NULL || kept->artifact != kernel->artifact ||
            kept->is_packed || kept->order <= d->since ||
            has_artifact(d, kept->artifact))
            continue;
        if (!kiln__array_push(&d->context->alloc, &d->artifacts,
                              kept->artifact))
            return KILN_ENOMEM;
        kiln_artifact_retain(kept->artifact);
    }
    return KILN_OK;
}

/* With the lock held. */
static kiln_status list_attachments(delta *d, const kiln_code *code)
{
    const kiln__attached *at = code->attached;

    for (; at != NULL; at = at->next) {
        const attachment_of one = {code, at};

        if (!at->is_packed && at->order > d->since &&
            !kiln__array_push(&d->context->alloc, &d->attachments, one))
            return KILN_ENOMEM;
    }
    return KILN_OK;
}

static kiln_status list_all(delta *d, int binaries)
{
    struct kiln__tiers *tiers = d->context->tiers;
    kiln_status status;

    kiln__mutex_lock(&tiers->lock);
    status = kiln__runtime_since(&d->runtime, tiers, d->since);
    for (kiln_code *code = tiers->codes; status == KILN_OK && code != NULL;
         code = code->next_all) {
        if (!kiln__code_is_good(code))
            continue;
        if (binaries)
            status = list_artifacts(d, code);
        if (status == KILN_OK)
            status = list_attachments(d, code);
        if (!code->is_record && !code->is_packed && code->order > d->since &&
            !kiln__array_push(&d->context->alloc, &d->codes, code))
            status = KILN_ENOMEM;
    }
    kiln__mutex_unlock(&tiers->lock);
    return status;
}

/* ---- giving ---- */

/* Gives the entry. One that cannot be saved for another process is left out. */
static kiln_status give(kiln__entry_writer *writer, kiln_status made,
                        const kiln__delta_taker *taker)
{
    kiln_status status = made;

    if (made == KILN_OK)
        status = taker->take(taker->env, &writer->entry);
    kiln__entry_writer_dispose(writer);
    return status == KILN_ENOTFOUND ? KILN_OK : status;
}

static kiln_status give_code(const kiln_code *code,
                             const kiln__delta_taker *taker)
{
    kiln__entry_writer writer;
    uint64_t world;

    KILN_TRY(give(&writer, kiln__entry_writer_code(&writer, code), taker));
    if (!code->is_root ||
        kiln__world_now(&world, code->frontend, NULL) != KILN_OK)
        return KILN_OK;
    return give(&writer, kiln__entry_writer_record(&writer, code, world),
                taker);
}

static kiln_status give_attached(void *env, const kiln__entry_writer *writer)
{
    const kiln__delta_taker *taker = env;

    return taker->take(taker->env, &writer->entry);
}

static kiln_status give_attachments(const delta *d,
                                    const kiln__delta_taker *taker)
{
    kiln__delta_taker to = *taker;

    for (size_t i = 0; i < d->attachments.count; i++) {
        const attachment_of *at = &d->attachments.items[i];

        KILN_TRY(
            kiln__attached_give(at->code, at->attached, &to, give_attached));
    }
    return KILN_OK;
}

static kiln_status give_all(const delta *d, const kiln__delta_taker *taker)
{
    const kiln_alloc *alloc = &d->context->alloc;
    kiln__entry_writer writer;

    for (size_t i = 0; i < d->codes.count; i++)
        KILN_TRY(give_code(d->codes.items[i], taker));
    for (size_t i = 0; i < d->runtime.count; i++)
        KILN_TRY(give(&writer,
                      kiln__entry_writer_runtime(&writer, d->context,
                                                 d->runtime.items[i]),
                      taker));
    for (size_t i = 0; i < d->artifacts.count; i++)
        if (d->artifacts.items[i]->relocation != KILN_RELOCATION_SESSION)
            KILN_TRY(give(&writer,
                          kiln__entry_writer_artifact(&writer, alloc,
                                                      d->artifacts.items[i]),
                          taker));
    return give_attachments(d, taker);
}

static void dispose(delta *d)
{
    const kiln_alloc *alloc = &d->context->alloc;

    for (size_t i = 0; i < d->artifacts.count; i++)
        kiln_artifact_release(d->artifacts.items[i]);
    for (size_t i = 0; i < d->runtime.count; i++)
        kiln__runtime_release(d->context, d->runtime.items[i]);
    kiln__array_dispose(alloc, &d->codes);
    kiln__array_dispose(alloc, &d->artifacts);
    kiln__array_dispose(alloc, &d->runtime);
    kiln__array_dispose(alloc, &d->attachments);
}

kiln_status kiln__tiers_delta(kiln_context *context, uint64_t since,
                              int binaries, const kiln__delta_taker *taker,
                              kiln_error **error)
{
    delta d = {.context = context, .since = since};
    kiln__call_scope scope;
    kiln__call_chain *chain = kiln__call_scope_enter(&scope, context);
    kiln_status status = complete_records(&d, chain, error);

    if (status == KILN_OK)
        status = list_all(&d, binaries);
    if (status == KILN_OK)
        status = give_all(&d, taker);
    dispose(&d);
    kiln__call_scope_leave(&scope);
    return status;
}
