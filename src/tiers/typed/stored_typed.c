/* stored_typed.c - stores, loads and checks code instances. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/arena.h"
#include "base/data/decoder.h"
#include "base/error.h"
#include "base/system/stack.h"
#include "context/keys/key.h"
#include "context/types/types.h"
#include "stores/entry_versions.h"
#include "stores/stores.h"
#include "tiers/entry_writer.h"
#include "tiers/flight.h"
#include "tiers/frontends.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/inference.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/stored_typed.h"
#include "tiers/typed/typed.h"
#include "tiers/worlds.h"

/*
 * An entry is stored under the instance key, which contains the root digest
 * that the frontend gives. It has what inference reported: typed IR; queries
 * with their answers; and its edges, which are callees and dependencies without
 * a call, as signatures of their frontends with identities and result types.
 * The entry is valid now if every query has the same answer, what it takes from
 * libraries is unchanged, and the target of every edge, looked up through the
 * tier as in an inference, has the same identity and result type. So an edit is
 * detected by everything with a query about it, and by all that relies on that,
 * in any frontend.
 *
 * A type is written as its text and its id. The text says which type it would
 * be now. The id covers everything that makes up the type, including names and
 * order of fields: an edited type has the old text and another id. Typed IR has
 * no names of fields, so a caller may depend on names that its callee's digest
 * does not cover; comparing the id of the result type covers them.
 *
 * Loading is an inference whose result was written down: it has a frame of its
 * own, and recursion is handled as in any other. The digests of a cycle are
 * known only when it is sealed, and are compared then. Loaded code relies only
 * on loaded code, and no frontend sees a frame that is loading. A dependency
 * without a call was complete when the entry was inferred, so it is requested
 * in a call scope of its own, as the frontend did.
 *
 * Temporary failures say nothing about the entry, which stays. An entry that is
 * being loaded further up is not tried again: a request that needs its own
 * result finds that out as quickly as without entries.
 *
 * Meta, after a version: digest, identity, name, type of the result, mark of a
 * runtime function, queries {subject, data, answer}, uses {symbol, digest},
 * sites {name, kind}, callees and dependencies {frontend, function, types,
 * identity, type of the result}; a type is {text, id}. The payload is the typed
 * IR.
 */

/* ---- writing ---- */

static void encode_queries(kiln__encoder *out, const kiln_code *code)
{
    kiln__encode_u64(out, code->queries.count);
    for (size_t i = 0; i < code->queries.count; i++)
        kiln__query_encode(out, &code->queries.items[i]);
}

static void encode_uses(kiln__encoder *out, const kiln_code *code)
{
    kiln__encode_u64(out, code->uses.count);
    for (size_t i = 0; i < code->uses.count; i++) {
        kiln__encode_text(out, code->uses.items[i].symbol);
        kiln__encode_digest(out, code->uses.items[i].digest);
    }
}

static void encode_sites(kiln__encoder *out, const kiln_code *code)
{
    kiln__encode_u64(out, code->sites.count);
    for (size_t i = 0; i < code->sites.count; i++) {
        kiln__encode_text(out, code->sites.items[i].name);
        kiln__encode_u64(out, (uint64_t)code->sites.items[i].kind);
    }
}

/* NULL means no type. */
static void encode_type(kiln__encoder *out, const kiln_type *type)
{
    const kiln_digest none = {0};

    kiln__encode_text(out, type != NULL ? type->text : NULL);
    kiln__encode_digest(out, type != NULL ? type->id : none);
}

static void encode_edges(kiln__encoder *out, const kiln__code_list *edges)
{
    kiln__encode_u64(out, edges->count);
    for (size_t i = 0; i < edges->count; i++) {
        const kiln_code *code = edges->items[i];

        kiln__encode_text(out, code->frontend->name);
        kiln__encode_text(out, code->instance->function->name);
        kiln__encode_u64(out, code->instance->count);
        for (size_t k = 0; k < code->instance->count; k++)
            encode_type(out, code->instance->types[k]);
        kiln__encode_digest(out, code->identity);
        encode_type(out, code->result);
    }
}

static void encode_meta(kiln__encoder *out, const kiln_code *code)
{
    kiln__encode_u64(out, KILN__META_INSTANCE);
    kiln__encode_digest(out, code->digest);
    kiln__encode_digest(out, code->identity);
    kiln__encode_text(out, code->name);
    encode_type(out, code->result);
    kiln__encode_u64(out, code->is_runtime);
    encode_queries(out, code);
    encode_uses(out, code);
    encode_sites(out, code);
    encode_edges(out, &code->callees);
    encode_edges(out, &code->depends);
}

static int can_be_found(const kiln__code_list *edges)
{
    for (size_t i = 0; i < edges->count; i++)
        if (edges->items[i]->frontend->ops.function == NULL)
            return 0;
    return 1;
}

/* No entry is made if it refers to a frontend that cannot find functions or
   types of another process, or if the inference went on without something: no
   edge shows that. */
static int can_be_loaded(const kiln_code *code)
{
    return !code->is_record && !code->lacks && kiln__code_is_good(code) &&
           can_be_found(&code->callees) && can_be_found(&code->depends);
}

/* Only a frontend that gives roots in advance finds entries by them. */
static kiln_status make_key(kiln__encoder *out, const kiln_frontend *frontend,
                            const kiln_signature *signature,
                            const kiln_config *config, kiln_digest root)
{
    const kiln_digest none = {0};

    return kiln__key_instance(out, signature, config,
                              frontend->ops.root != NULL ? root : none);
}

kiln_status kiln__entry_writer_code(kiln__entry_writer *out,
                                    const kiln_code *code)
{
    const kiln_signature signature = kiln_code_signature(code);
    kiln_status status = KILN_ENOTFOUND;

    kiln__entry_writer_init(out, &code->context->alloc, KILN__ENTRY_INSTANCE);
    if (can_be_loaded(code))
        status = make_key(&out->key, code->frontend, &signature, code->config,
                          code->root);
    KILN_TRY(status);
    encode_meta(&out->meta, code);
    out->entry.payload = code->ir;
    out->entry.payload_size = code->ir_size;
    return kiln__entry_writer_finish(out, NULL);
}

static void save(kiln_context *context, const kiln_code *code)
{
    kiln__entry_writer writer;

    if (code->is_stored)
        return;
    if (kiln__entry_writer_code(&writer, code) == KILN_OK)
        kiln__entry_writer_put(context, &writer);
    kiln__entry_writer_dispose(&writer);
}

void kiln__codes_save(kiln_code *const *group, size_t count)
{
    kiln_context *context = group[0]->context;

    if (!kiln__stores_write(context, KILN__ENTRY_INSTANCE))
        return;
    for (size_t i = 0; i < count; i++)
        save(context, group[i]);
}

/* ---- reading ---- */

typedef struct loading {
    kiln_inference *inference;
    kiln__reader reader;
    kiln__arena arena;
    int is_stale;         /* the entry is well-formed but no longer valid */
    kiln_status shortage; /* memory or stack was short, so nothing is known */
    int is_unsure;        /* something else failed temporarily */
} loading;

/* Notes a lack of memory or stack, and other temporary failures (passing.h).
   True if there was none. */
static int went_well(loading *l, kiln_status status)
{
    if (kiln__is_shortage(status))
        l->shortage = status;
    l->is_unsure |= status == KILN_EIO;
    return status == KILN_OK;
}

static const char *read_text(loading *l)
{
    const kiln__span_of_bytes text = kiln__read_text(&l->reader);

    return text.data != NULL
               ? kiln__arena_string(&l->arena, text.data, text.size)
               : NULL;
}

/* The type as `frontend` reads the text; NULL: as the kernel language's
   text. */
static const kiln_type *type_of(loading *l, kiln_frontend *frontend,
                                const char *text)
{
    kiln_inference *inference = l->inference;
    const kiln_type *type = NULL;
    uint64_t world;
    kiln_status status;

    if (frontend == NULL || frontend->ops.type == NULL)
        status = kiln_type_parse(&type, inference->context, NULL, text, NULL);
    else
        status = kiln__worlds_take(&world, inference->worlds, frontend, NULL);
    if (status == KILN_OK && frontend != NULL && frontend->ops.type != NULL)
        status = frontend->ops.type(frontend->self, text, world, &type);
    if (!went_well(l, status) ||
        (type != NULL && type->context != inference->context))
        return NULL;
    return type;
}

/* A type as it was written: valid if its text still means a type with this
   id. */
typedef struct written_type {
    const char *text; /* NULL: there was no type */
    kiln_digest id;
} written_type;

static written_type read_type(loading *l)
{
    written_type written;

    written.text = read_text(l);
    written.id = kiln__read_digest(&l->reader);
    return written;
}

/* Notes if the type has changed; true if it has not. */
static int is_as_written(loading *l, const written_type *written,
                         const kiln_type *type)
{
    const int is_same =
        written->text != NULL
            ? type != NULL && kiln__digest_equal(type->id, written->id)
            : type == NULL;

    l->is_stale |= !is_same;
    return is_same;
}

/* A type of a signature may belong to the caller's or to the callee's frontend.
   NULL: there was no type, or the entry is stale. */
static const kiln_type *load_type(loading *l, kiln_frontend *asked)
{
    kiln_frontend *readers[] = {asked, l->inference->code->frontend, NULL};
    const written_type written = read_type(l);
    const kiln_type *type = NULL;

    if (l->reader.failed || written.text == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (i > 0 && readers[i] == readers[i - 1])
            continue;
        type = type_of(l, readers[i], written.text);
        if (type != NULL && kiln__digest_equal(type->id, written.id))
            return type;
    }
    l->is_stale = 1;
    return NULL;
}

/* Each of these functions returns false when the entry is of no use. */
static int load_head(loading *l)
{
    kiln_code *code = l->inference->code;
    const char *name;

    if (kiln__read_u64(&l->reader) != KILN__META_INSTANCE)
        return 0;
    code->stored_digest = kiln__read_digest(&l->reader);
    code->stored_identity = kiln__read_digest(&l->reader);
    name = read_text(l);
    code->result = load_type(l, code->frontend);
    code->is_runtime = kiln__read_u64(&l->reader) == 1;
    return !l->reader.failed && !l->is_stale && name != NULL &&
           went_well(l, kiln_inference_set_name(l->inference, name));
}

static int load_query(loading *l)
{
    kiln_inference *inference = l->inference;
    const kiln_frontend *frontend = inference->code->frontend;
    const kiln_query query = kiln__query_read(&l->reader);
    kiln_digest today = {0};

    if (l->reader.failed)
        return 0;
    l->is_stale =
        !went_well(l, frontend->ops.answer(frontend->self, query.data,
                                           query.size, inference->config,
                                           inference->world, &today)) ||
        !kiln__digest_equal(today, query.answer);
    return !l->is_stale &&
           went_well(l, kiln_inference_add_query(inference, &query));
}

static int load_use(loading *l)
{
    const char *symbol = read_text(l);
    const kiln_digest digest = kiln__read_digest(&l->reader);
    const kiln_code *code = l->inference->code;

    if (l->reader.failed || symbol == NULL)
        return 0;
    l->is_stale =
        !went_well(l, kiln_inference_use_runtime(l->inference, symbol, NULL)) ||
        code->uses.count == 0 ||
        !kiln__digest_equal(code->uses.items[code->uses.count - 1].digest,
                            digest);
    return !l->is_stale;
}

static int load_site(loading *l)
{
    const char *name = read_text(l);
    const uint64_t kind = kiln__read_u64(&l->reader);

    return !l->reader.failed && name != NULL && kind <= INT32_MAX &&
           went_well(l, kiln_inference_use_site(l->inference, name,
                                                (int32_t)kind, NULL));
}

/* An edge as it was written. */
typedef struct written_edge {
    kiln_signature signature;
    kiln_digest identity;
    written_type result;
} written_edge;

/* A frontend that is not registered now may be registered later, so the entry
   stays. */
static int find_function(loading *l, kiln_signature *out, const char *frontend,
                         const char *name)
{
    const kiln_frontend *of =
        kiln__frontend_find(l->inference->context, frontend);

    if (of == NULL || of->ops.function == NULL) {
        l->is_unsure = 1;
        return 0;
    }
    l->is_stale =
        !went_well(l, of->ops.function(of->self, name, &out->function)) ||
        out->function == NULL || out->function->frontend != of;
    return !l->is_stale;
}

static int read_signature(loading *l, kiln_signature *out)
{
    const char *frontend = read_text(l);
    const char *name = read_text(l);
    const size_t count = kiln__read_count(&l->reader, 1);
    const kiln_type **types =
        kiln__arena_allocate_array(&l->arena, count + 1, sizeof *types);

    if (l->reader.failed || frontend == NULL || name == NULL || types == NULL ||
        count > KILN_ARGUMENTS_MAX)
        return 0;
    *out = (kiln_signature){.types = types, .count = count};
    if (!find_function(l, out, frontend, name))
        return 0;
    for (size_t i = 0; i < count && !l->reader.failed; i++) {
        types[i] = load_type(l, out->function->frontend);
        l->reader.failed |= types[i] == NULL && !l->is_stale;
    }
    return !l->reader.failed && !l->is_stale;
}

static int read_edge(loading *l, written_edge *out)
{
    if (!read_signature(l, &out->signature))
        return 0;
    out->identity = kiln__read_digest(&l->reader);
    out->result = read_type(l);
    return !l->reader.failed;
}

/* True if the edge leads to what it led to when it was written. For a member of
   an open cycle the digest is not known yet. */
static int is_edge_as_written(loading *l, const written_edge *edge,
                              kiln_status status, const kiln_code *code)
{
    l->is_stale = !went_well(l, status) ||
                  (code->published &&
                   !kiln__digest_equal(code->identity, edge->identity));
    return !l->is_stale && is_as_written(l, &edge->result, code->result);
}

static int load_callee(loading *l)
{
    const kiln_code *callee = NULL;
    kiln_inference *head = NULL;
    written_edge edge;
    kiln_status status;

    if (!read_edge(l, &edge))
        return 0;
    status = kiln_inference_callee(l->inference, &edge.signature, &callee, NULL,
                                   &head, NULL);
    if (status == KILN_ERECURSION && head != NULL)
        return is_as_written(l, &edge.result, head->code->result);
    return is_edge_as_written(l, &edge, status, callee);
}

/* True if it is under way further up, in this chain or in one around it. */
static int is_under_way(const kiln_inference *inference,
                        const kiln__instance *instance)
{
    while (inference != NULL && inference->instance != instance)
        inference = inference->around;
    return inference != NULL;
}

static kiln_status get_finished(const kiln_code **out,
                                kiln_inference *inference,
                                const kiln_signature *signature)
{
    kiln_context *context = inference->context;
    const kiln__typed_request request = {signature, inference->config,
                                         inference->worlds,
                                         inference->chain->never_wait, 0};
    kiln_frontend *frontend = signature->function->frontend;
    uint64_t world;
    kiln__call_scope scope;
    kiln__call_chain *chain;
    kiln_status status;

    KILN_TRY(kiln__worlds_take(&world, inference->worlds, frontend, NULL));
    chain = kiln__call_scope_enter(&scope, context);
    status = kiln__typed_get(out, context, chain, &request, NULL);
    kiln__call_scope_leave(&scope);
    return status;
}

static int load_dependency(loading *l)
{
    kiln_inference *inference = l->inference;
    struct kiln__tiers *tiers = inference->context->tiers;
    const kiln_code *code = NULL;
    const kiln__instance *instance;
    written_edge edge;
    kiln_status status;

    if (!read_edge(l, &edge))
        return 0;
    kiln__mutex_lock(&tiers->lock);
    instance =
        kiln__instance_get(tiers, &edge.signature, inference->config->owner, 0);
    kiln__mutex_unlock(&tiers->lock);
    if (instance != NULL && is_under_way(inference, instance)) {
        l->is_unsure = 1;
        return 0;
    }
    status = get_finished(&code, inference, &edge.signature);
    return is_edge_as_written(l, &edge, status, code) &&
           went_well(l, kiln_inference_depend(inference, code));
}

static int load_each(loading *l, int (*one)(loading *l))
{
    const size_t count = kiln__read_count(&l->reader, 1);

    for (size_t i = 0; i < count; i++)
        if (!one(l))
            return 0;
    return !l->reader.failed;
}

static int load_all(loading *l, const kiln__entry *entry)
{
    return load_head(l) && load_each(l, load_query) && load_each(l, load_use) &&
           load_each(l, load_site) && load_each(l, load_callee) &&
           load_each(l, load_dependency) && kiln__reader_is_done(&l->reader) &&
           went_well(l, kiln_inference_set_ir(l->inference, entry->payload,
                                              entry->payload_size));
}

void kiln__inference_unload(kiln_inference *inference)
{
    const kiln_digest none = {0};
    kiln_code *code = inference->code;

    kiln_inference_restart(inference);
    inference->is_head = 0;
    inference->cycle_depth = inference->depth;
    code->result = NULL;
    code->is_runtime = 0;
    code->is_stored = 0;
    code->is_packed = 0;
    code->has_ir = 0;
    code->stored_digest = none;
    code->stored_identity = none;
    kiln__string_free(&inference->context->alloc, code->name);
    code->name = NULL;
}

/* Callees are looked up in the frame, as if the frontend ran. */
static kiln_status load_from(kiln_inference *inference,
                             const kiln__stored *stored)
{
    const uint64_t recursions = inference->chain->recursions;
    loading l = {.inference = inference};
    int loaded;

    kiln__arena_init(&l.arena, &inference->context->alloc);
    kiln__reader_init(&l.reader, stored->entry.meta, stored->entry.meta_size);
    inference->is_loading = 1;
    inference->chain->inference = inference;
    loaded = load_all(&l, &stored->entry);
    inference->chain->inference = inference->parent;
    inference->is_loading = 0;
    if (loaded) {
        inference->code->is_stored = 1;
        inference->code->is_packed = stored->is_packed != 0;
    } else {
        kiln__inference_unload(inference);
        l.is_unsure |= inference->chain->recursions != recursions;
        if (l.shortage == KILN_OK && !l.arena.failed && !l.is_unsure)
            kiln__stores_reject(inference->context, stored,
                                l.is_stale ? KILN__FAULT_STALE
                                           : KILN__FAULT_MALFORMED);
    }
    kiln__arena_dispose(&l.arena);
    if (loaded)
        return KILN_OK;
    return l.shortage == KILN_ESTACK ? KILN_ESTACK : KILN_ENOTFOUND;
}

static int is_loading_around(const kiln_inference *inference)
{
    const kiln_inference *at = inference->around;

    while (at != NULL &&
           !(at->is_loading && at->instance == inference->instance))
        at = at->around;
    return at != NULL;
}

static int may_load(const kiln_inference *inference)
{
    return inference->level < KILN__INFERENCE_DEPTH_MAX &&
           !is_loading_around(inference) &&
           kiln__stores_load(inference->context, KILN__ENTRY_INSTANCE);
}

/* False: there is no method, or this is not known. */
static int find_root(kiln_inference *inference)
{
    const kiln_frontend *frontend = inference->code->frontend;

    if (frontend->ops.root == NULL)
        return 1;
    return frontend->ops.root(frontend->self, &inference->signature,
                              inference->config, inference->world,
                              &inference->code->root) == KILN_OK &&
           !kiln__digest_is_zero(inference->code->root);
}

/* Loads the first of the stores' entries that is valid. */
static kiln_status load_first(kiln_inference *inference, const kiln_key *wanted)
{
    kiln_context *context = inference->context;
    kiln__stored stored = {0};
    kiln_status found =
        kiln__stores_get(&stored, context, KILN__ENTRY_INSTANCE, wanted);
    kiln_status status = KILN_ENOTFOUND;

    while (found == KILN_OK && status == KILN_ENOTFOUND) {
        status = load_from(inference, &stored);
        if (status == KILN_ENOTFOUND)
            found = kiln__stores_next(&stored, context, KILN__ENTRY_INSTANCE,
                                      wanted);
    }
    kiln__stored_release(&stored);
    return status;
}

kiln_status kiln__inference_load(kiln_inference *inference)
{
    kiln_status status = KILN_ENOTFOUND;
    kiln__encoder key;

    if (!may_load(inference) || !find_root(inference))
        return KILN_ENOTFOUND;
    kiln__encoder_init(&key, &inference->context->alloc);
    if (make_key(&key, inference->code->frontend, &inference->signature,
                 inference->config, inference->code->root) == KILN_OK) {
        const kiln_key wanted = {kiln__encoder_digest(&key), key.bytes,
                                 key.size};

        status = load_first(inference, &wanted);
    }
    kiln__encoder_dispose(&key);
    return status;
}

int kiln__codes_are_as_stored(kiln_code *const *group, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (group[i]->is_stored &&
            !(kiln__digest_equal(group[i]->digest, group[i]->stored_digest) &&
              kiln__digest_equal(group[i]->identity,
                                 group[i]->stored_identity)))
            return 0;
    return 1;
}
