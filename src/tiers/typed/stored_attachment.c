/* stored_attachment.c - stores and loads attached results. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/decoder.h"
#include "base/error.h"
#include "base/options.h"
#include "context/keys/key.h"
#include "stores/entry_versions.h"
#include "stores/stores.h"
#include "tiers/entry_writer.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/attachment.h"
#include "tiers/typed/code_state.h"

/*
 * A consumer that is registered in the context finds what it attached in
 * another process to an instance with the same identity; the identity is used
 * because the result may depend on anything that is visible of an instance.
 * Stored are the bytes that save() wrote of a PORTABLE result; other results
 * stay in their process.
 *
 * The meta is a version; the payload belongs to the consumer.
 */

typedef struct kiln__consumer {
    char *name;
    kiln_attachment_consumer ops;
    struct kiln__consumer *next;
} kiln__consumer;

/* ---- consumers ---- */

static const kiln__consumer *find_consumer(struct kiln__tiers *tiers,
                                           const char *name)
{
    const kiln__consumer *at;

    kiln__mutex_lock(&tiers->lock);
    at = tiers->consumers;
    while (at != NULL && strcmp(at->name, name) != 0)
        at = at->next;
    kiln__mutex_unlock(&tiers->lock);
    return at;
}

static void free_consumer(const kiln_alloc *alloc, kiln__consumer *consumer)
{
    kiln__string_free(alloc, consumer->name);
    kiln__deallocate(alloc, consumer, sizeof *consumer);
}

/* Consumers are never removed while the tiers live, so readers may keep
   pointers to them. */
static kiln_status add_consumer(struct kiln__tiers *tiers,
                                kiln__consumer *consumer)
{
    kiln__consumer *at;

    kiln__mutex_lock(&tiers->lock);
    at = tiers->consumers;
    while (at != NULL && strcmp(at->name, consumer->name) != 0)
        at = at->next;
    if (at == NULL) {
        consumer->next = tiers->consumers;
        tiers->consumers = consumer;
    }
    kiln__mutex_unlock(&tiers->lock);
    return at != NULL ? KILN_EINVAL : KILN_OK;
}

kiln_status kiln_attachment_consumer_add(kiln_context *context,
                                         const kiln_attachment_consumer *given,
                                         kiln_error **error)
{
    kiln_attachment_consumer ops;
    kiln__consumer *consumer;
    kiln_status status;

    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(given != NULL, error);
    KILN_TRY(KILN__OPTIONS_READ(&ops, given, kiln_attachment_consumer, error));
    KILN_REQUIRE(ops.name != NULL && ops.load != NULL, error);
    consumer = kiln__allocate(&context->alloc, sizeof *consumer);
    if (consumer == NULL)
        return kiln__error_no_memory(error);
    consumer->name = kiln__string_copy(&context->alloc, ops.name);
    if (consumer->name == NULL) {
        free_consumer(&context->alloc, consumer);
        return kiln__error_no_memory(error);
    }
    consumer->ops = ops;
    consumer->ops.name = consumer->name;
    status = add_consumer(context->tiers, consumer);
    if (status == KILN_OK)
        return KILN_OK;
    free_consumer(&context->alloc, consumer);
    return kiln__error_set(error, status, "a consumer %s is there already",
                           ops.name);
}

void kiln__consumers_free(struct kiln__tiers *tiers)
{
    while (tiers->consumers != NULL) {
        kiln__consumer *next = tiers->consumers->next;

        free_consumer(&tiers->context->alloc, tiers->consumers);
        tiers->consumers = next;
    }
}

/* ---- writing ---- */

static int travels(const kiln__attached *attached)
{
    return attached->attachment.save != NULL &&
           attached->attachment.relocation == KILN_RELOCATION_PORTABLE;
}

kiln_status kiln__attached_give(
    const kiln_code *code, const kiln__attached *attached, void *env,
    kiln_status (*take)(void *env, const kiln__entry_writer *writer))
{
    const kiln_attachment *attachment = &attached->attachment;
    kiln_blob bytes = {0};
    kiln__entry_writer writer;
    kiln_status status;

    if (!travels(attached) ||
        attachment->save(attachment->value, &bytes) != KILN_OK)
        return KILN_OK;
    if (bytes.data == NULL && bytes.size) {
        kiln_blob_release(&bytes);
        return KILN_OK;
    }
    kiln__entry_writer_init(&writer, &code->context->alloc,
                            KILN__ENTRY_ATTACHED);
    status = kiln__key_attached(&writer.key, code->context, code->identity,
                                attached->consumer, attached->config);
    kiln__encode_u64(&writer.meta, KILN__META_ATTACHED);
    writer.entry.relocation = KILN_RELOCATION_PORTABLE;
    writer.entry.payload = bytes.data;
    writer.entry.payload_size = bytes.size;
    if (status == KILN_OK)
        status = kiln__entry_writer_finish(&writer, NULL);
    if (status == KILN_OK)
        status = take(env, &writer);
    kiln__entry_writer_dispose(&writer);
    kiln_blob_release(&bytes);
    return status;
}

static kiln_status put(void *env, const kiln__entry_writer *writer)
{
    kiln__entry_writer_put(env, writer);
    return KILN_OK;
}

void kiln__attached_save(const kiln_code *code, const kiln__attached *attached)
{
    kiln_context *context = code->context;

    /* If there is no memory, the result is not stored. */
    if (kiln__stores_write(context, KILN__ENTRY_ATTACHED))
        (void)kiln__attached_give(code, attached, context, put);
}

/* ---- reading ---- */

/* Makes the value from the entry; false: the entry is of no use. */
static int load_value(kiln_attachment *out, const kiln__consumer *consumer,
                      const kiln__entry *entry)
{
    kiln__reader reader;
    void *value = NULL;

    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if (kiln__read_u64(&reader) != KILN__META_ATTACHED ||
        !kiln__reader_is_done(&reader) ||
        consumer->ops.load(entry->payload, entry->payload_size, &value) !=
            KILN_OK)
        return 0;
    *out = (kiln_attachment){.size = sizeof *out,
                             .value = value,
                             .destroy = consumer->ops.destroy,
                             .relocation = KILN_RELOCATION_PORTABLE,
                             .save = consumer->ops.save,
                             .load = consumer->ops.load};
    return 1;
}

static kiln_status recall(kiln_attachment *out, int *is_packed,
                          const kiln__consumer *consumer, kiln_context *context,
                          const kiln_key *key)
{
    kiln__stored stored = {0};
    kiln_status status =
        kiln__stores_get(&stored, context, KILN__ENTRY_ATTACHED, key);

    while (status == KILN_OK && !load_value(out, consumer, &stored.entry)) {
        kiln__stores_reject(context, &stored, KILN__FAULT_MALFORMED);
        status = kiln__stores_next(&stored, context, KILN__ENTRY_ATTACHED, key);
    }
    if (status == KILN_OK)
        *is_packed = stored.is_packed;
    kiln__stored_release(&stored);
    return status;
}

kiln_status kiln__attached_recall(kiln_attachment *out, int *is_packed,
                                  const kiln_code *code,
                                  const kiln_config *config, const char *name)
{
    kiln_context *context = code->context;
    const kiln__consumer *consumer = find_consumer(context->tiers, name);
    kiln_status status;
    kiln__encoder key;

    if (consumer == NULL || !kiln__stores_load(context, KILN__ENTRY_ATTACHED))
        return KILN_ENOTFOUND;
    kiln__encoder_init(&key, &context->alloc);
    status = kiln__key_attached(&key, context, code->identity, name, config);
    if (status == KILN_OK) {
        const kiln_key wanted = {kiln__encoder_digest(&key), key.bytes,
                                 key.size};

        status = recall(out, is_packed, consumer, context, &wanted);
    }
    kiln__encoder_dispose(&key);
    return status;
}
