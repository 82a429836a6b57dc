/* stored_program.c - finds a job's digest under one program text, without
 * inference. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "tiers/typed/stored_program.h"
#include "base/data/arena.h"
#include "base/data/decoder.h"
#include "base/data/map.h"
#include "base/error.h"
#include "base/system/stack.h"
#include "context/keys/key.h"
#include "stores/entry_versions.h"
#include "stores/stores.h"
#include "tiers/entry_writer.h"
#include "tiers/runtime/bitcode_library.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/invalidate.h"
#include "tiers/typed/publish.h"
#include "tiers/typed/typed.h"
#include "tiers/worlds.h"

/*
 * If a frontend gives a digest of everything that matters to a signature, there
 * is a shortcut: the same text gives the same typed digest, and with it the
 * binary key. What is found is a record: it has the queries of its whole call
 * closure and of all dependencies, so that a definition ends it like any other
 * code instance. It has no typed IR; callers that need it ask tier 1 for the
 * complete instance.
 *
 * Libraries are not part of the text: each use is looked up again. Other
 * frontends are not part of it either: code that reaches into another frontend
 * has no record.
 *
 * What was inferred in an older world may have ended without a
 * kiln_world_changed() so far. A record would keep that error for ever, so the
 * queries are asked again before it is written.
 *
 * Meta, after a version: digest, root, name, queries {subject, data, answer},
 * uses {symbol, digest}. There is no payload.
 */

/* ---- the key ---- */

static kiln_status make_key(kiln__encoder *out, const kiln_signature *signature,
                            const kiln_config *config, uint64_t world)
{
    const kiln_frontend *frontend = signature->function->frontend;
    kiln_digest program = {0};

    if (frontend->ops.program == NULL)
        return KILN_ENOTFOUND;
    KILN_TRY(frontend->ops.program(frontend->self, signature, config, world,
                                   &program));
    if (kiln__digest_is_zero(program))
        return KILN_ENOTFOUND;
    return kiln__key_program(out, signature, config, program);
}

/* ---- writing ---- */

typedef struct gathering {
    kiln__encoder *out;
    kiln__map seen;
    size_t count;
    int failed;
} gathering;

/* True when the key was not seen before. */
static int is_new(gathering *g, kiln_digest key)
{
    if (kiln__map_get(&g->seen, key) != NULL)
        return 0;
    g->failed |= !kiln__map_set(&g->seen, key, g);
    g->count++;
    return 1;
}

static void gather_queries(gathering *g, const kiln_code *code)
{
    for (size_t i = 0; i < code->queries.count; i++) {
        const kiln_query *query = &code->queries.items[i];

        /* with another subject it is another query */
        if (is_new(g, kiln__digest_combine(
                          kiln__digest_number(query->subject),
                          kiln__digest_bytes(query->data, query->size))))
            kiln__query_encode(g->out, query);
    }
}

static void gather_uses(gathering *g, const kiln_code *code)
{
    for (size_t i = 0; i < code->uses.count; i++) {
        const kiln__library_use *use = &code->uses.items[i];

        if (!is_new(g, kiln__digest_text(use->symbol)))
            continue;
        kiln__encode_text(g->out, use->symbol);
        kiln__encode_digest(g->out, use->digest);
    }
}

/* Writes each part of each code instance once, after the number of parts. */
static kiln_status encode_parts(kiln__encoder *out, const kiln_alloc *alloc,
                                const kiln_code *const *closure, size_t count,
                                void (*gather)(gathering *g,
                                               const kiln_code *code))
{
    kiln__encoder parts;
    gathering g = {.out = &parts};
    kiln_status status;

    kiln__encoder_init(&parts, alloc);
    kiln__map_init(&g.seen, alloc);
    for (size_t i = 0; i < count; i++)
        gather(&g, closure[i]);
    kiln__encode_u64(out, g.count);
    kiln__encode_bytes(out, parts.bytes, parts.size);
    status = g.failed || parts.failed ? KILN_ENOMEM : KILN_OK;
    kiln__map_dispose(&g.seen);
    kiln__encoder_dispose(&parts);
    return status;
}

/* Checks the closure in the world that the key belongs to. */
static kiln_status check_closure(const kiln_code *const *closure, size_t count,
                                 uint64_t world)
{
    for (size_t i = 0; i < count; i++)
        if (closure[i]->frontend != closure[0]->frontend || closure[i]->lacks ||
            (closure[i]->inferred_world != world &&
             !kiln__code_still_holds(closure[i], world)))
            return KILN_ENOTFOUND;
    return KILN_OK;
}

static kiln_status encode_meta(kiln__encoder *out, const kiln_code *code,
                               uint64_t world)
{
    const kiln_alloc *alloc = &code->context->alloc;
    const kiln_code **closure = NULL;
    size_t count = 0;
    kiln_status status = kiln__code_dependencies(&closure, &count, code);

    if (status == KILN_OK)
        status = check_closure(closure, count, world);
    kiln__encode_u64(out, KILN__META_PROGRAM);
    kiln__encode_digest(out, code->digest);
    kiln__encode_digest(out, code->root);
    kiln__encode_text(out, code->name);
    if (status == KILN_OK)
        status = encode_parts(out, alloc, closure, count, gather_queries);
    if (status == KILN_OK)
        status = encode_parts(out, alloc, closure, count, gather_uses);
    kiln__deallocate(alloc, closure, count * sizeof *closure);
    return out->failed ? KILN_ENOMEM : status;
}

kiln_status kiln__entry_writer_record(kiln__entry_writer *out,
                                      const kiln_code *code, uint64_t world)
{
    const kiln_signature signature = kiln_code_signature(code);

    kiln__entry_writer_init(out, &code->context->alloc, KILN__ENTRY_PROGRAM);
    KILN_TRY(make_key(&out->key, &signature, code->config, world));
    KILN_TRY(encode_meta(&out->meta, code, world));
    return kiln__entry_writer_finish(out, NULL);
}

void kiln__code_remember(const kiln_code *code, uint64_t world)
{
    kiln_context *context = code->context;
    kiln__entry_writer writer;

    if (!kiln__stores_write(context, KILN__ENTRY_PROGRAM) ||
        !kiln__code_is_good(code))
        return;
    if (kiln__entry_writer_record(&writer, code, world) == KILN_OK)
        kiln__entry_writer_put(context, &writer);
    kiln__entry_writer_dispose(&writer);
}

/* ---- reading ---- */

/* Each function sets `*is_unsure` if it failed for a temporary reason, such as
   want of memory. */
static int read_queries(kiln_code *code, kiln__reader *reader, int *is_unsure)
{
    const kiln_alloc *alloc = &code->context->alloc;
    const size_t count = (size_t)kiln__read_u64(reader);
    const kiln__span_of_bytes parts = kiln__read_bytes(reader);
    kiln__reader inner;

    kiln__reader_init(&inner, parts.data, parts.size);
    for (size_t i = 0; !inner.failed && i < count; i++) {
        kiln_query query = kiln__query_read(&inner);
        void *copy;

        if (inner.failed)
            return 0;
        copy = kiln__allocate_copy(alloc, query.data, query.size);
        *is_unsure |= copy == NULL;
        if (copy == NULL)
            return 0;
        query.data = copy;
        if (!kiln__array_push(alloc, &code->queries, query)) {
            kiln__deallocate(alloc, copy, query.size);
            *is_unsure = 1;
            return 0;
        }
    }
    return kiln__reader_is_done(&inner);
}

static int read_use(kiln_code *code, const char *symbol, kiln_digest digest,
                    int *is_unsure)
{
    kiln__library_use use;
    const kiln_status status =
        kiln__library_find(&use, code->context, code->config, symbol, NULL);

    *is_unsure |= kiln__is_shortage(status) || status == KILN_EIO;
    if (status != KILN_OK || !kiln__digest_equal(use.digest, digest))
        return 0;
    if (kiln__array_push(&code->context->alloc, &code->uses, use))
        return 1;
    *is_unsure = 1;
    return 0;
}

/* True if each symbol comes from a library with unchanged content. */
static int read_uses(kiln_code *code, kiln__reader *reader, int *is_unsure)
{
    const size_t count = (size_t)kiln__read_u64(reader);
    const kiln__span_of_bytes parts = kiln__read_bytes(reader);
    int good = 1;
    kiln__reader inner;
    kiln__arena arena;

    kiln__reader_init(&inner, parts.data, parts.size);
    kiln__arena_init(&arena, &code->context->alloc);
    for (size_t i = 0; good && i < count; i++) {
        const kiln__span_of_bytes text = kiln__read_text(&inner);
        const kiln_digest digest = kiln__read_digest(&inner);
        const char *symbol =
            text.data != NULL ? kiln__arena_string(&arena, text.data, text.size)
                              : NULL;

        good = !inner.failed && symbol != NULL &&
               read_use(code, symbol, digest, is_unsure);
    }
    *is_unsure |= arena.failed;
    kiln__arena_dispose(&arena);
    return good && kiln__reader_is_done(&inner);
}

static int read_record(kiln_code *code, const kiln__entry *entry,
                       int *is_unsure)
{
    kiln__reader reader;
    kiln__span_of_bytes name;

    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if (kiln__read_u64(&reader) != KILN__META_PROGRAM)
        return 0;
    code->digest = kiln__read_digest(&reader);
    code->root = kiln__read_digest(&reader);
    name = kiln__read_text(&reader);
    if (reader.failed || name.data == NULL)
        return 0;
    code->name =
        kiln__string_copy_n(&code->context->alloc, name.data, name.size);
    *is_unsure = code->name == NULL;
    return code->name != NULL && read_queries(code, &reader, is_unsure) &&
           !reader.failed && read_uses(code, &reader, is_unsure) &&
           kiln__reader_is_done(&reader);
}

static kiln_code *make_record(kiln_context *context, kiln__instance *instance,
                              const kiln__typed_request *request,
                              const kiln__stored *stored)
{
    kiln_code *code = kiln__code_new(
        context, instance, request->config,
        kiln__worlds_of(request->worlds, instance->function->frontend));
    kiln_code *published = NULL;
    int is_unsure = 0;

    if (code == NULL)
        return NULL;
    code->is_record = 1;
    code->is_stored = 1;
    code->is_packed = stored->is_packed != 0;
    if (!read_record(code, &stored->entry, &is_unsure)) {
        if (!is_unsure)
            kiln__stores_reject(context, stored, KILN__FAULT_STALE);
    } else if (kiln__codes_publish(context, request->worlds, &code, 1, code,
                                   &published) == KILN_OK)
        return published;
    kiln__code_free(code);
    return NULL;
}

kiln_code *kiln__code_recall(kiln_context *context, kiln__instance *instance,
                             const kiln__typed_request *request)
{
    kiln__stored stored = {0};
    kiln_code *record = NULL;
    kiln__encoder key;

    if (!kiln__stores_load(context, KILN__ENTRY_PROGRAM))
        return NULL;
    kiln__encoder_init(&key, &context->alloc);
    if (make_key(&key, request->signature, request->config,
                 kiln__worlds_of(request->worlds,
                                 instance->function->frontend)) == KILN_OK) {
        const kiln_key wanted = {kiln__encoder_digest(&key), key.bytes,
                                 key.size};

        kiln_status status =
            kiln__stores_get(&stored, context, KILN__ENTRY_PROGRAM, &wanted);

        while (status == KILN_OK && record == NULL) {
            record = make_record(context, instance, request, &stored);
            if (record == NULL)
                status = kiln__stores_next(&stored, context,
                                           KILN__ENTRY_PROGRAM, &wanted);
        }
        kiln__stored_release(&stored);
    }
    kiln__encoder_dispose(&key);
    return record;
}
