/* ranks.c - each kernel is built by the rank that owns its key. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pipeline/ranks.h"

#include <string.h>
#include <time.h>

#include "base/data/arena.h"
#include "base/data/decoder.h"
#include "base/digest/digest.h"
#include "base/error.h"
#include "base/system/stack.h"
#include "base/system/thread.h"
#include "context/callback.h"
#include "context/host_ops.h"
#include "context/log.h"
#include "context/trace.h"
#include "tiers/binary/binary_table.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/frontends.h"
#include "tiers/worlds.h"

/*
 * The digest of a key determines the rank that owns it. A rank that needs the
 * kernel asks the owner and waits, on a thread that builds nothing. The owner
 * answers from its tiers, or compiles the kernel. Owners wait for no other
 * rank: so ranks may ask for kernels in any order, also for each other's, and
 * every wait ends.
 *
 * The request names the job, because the owner need not have met it itself. An
 * owner that does not know the program (yet) says so, and is asked again until
 * the time is over. An owner that gave no answer in time is not asked for a
 * while; in that time every rank builds that owner's kernels itself.
 *
 * Request: version, encoded key, frontend, function, types, settings. Reply:
 * version, status, an envelope (entry.h).
 *
 * tests/protocol/ranks.pml is a model of this: ASK is ask_owner() here, FLIGHT
 * is what kiln_compile() does for compile(), GIVE_UP is give_up() and the build
 * after it.
 */
#define VERSION 3
#define QUIET_NS ((uint64_t)30 * 1000000000)
#define PAUSE_LEAST_NS 2000000u
#define PAUSE_MOST_NS 50000000u

/* ---- owners ---- */

/* Returns the number of the owner; *self is this rank. If there are no other
   ranks, both are the same. */
static uint32_t owner_of(kiln_context *context, kiln_digest key, uint32_t *self)
{
    uint32_t count = 1;

    *self = 0;
    if (context->host.rank == NULL || context->host.fetch == NULL)
        return 0;
    *self = context->host.rank(context->host_env, &count);
    return count > 1 && *self < count
               ? (uint32_t)(kiln__digest_word(key) % count)
               : *self;
}

static _Atomic uint64_t *quiet_until(kiln_context *context, uint32_t rank)
{
    return &context->quiet_ranks[rank % KILN__QUIET_RANKS];
}

int kiln__ranks_apply(kiln_context *context, kiln_digest key)
{
    uint32_t self;
    const uint32_t owner = owner_of(context, key, &self);

    return owner != self &&
           kiln__clock_ns() >= atomic_load(quiet_until(context, owner));
}

/* ---- the request ---- */

#define NUMBER_MAP(X) \
    X(math) \
    X(maximum_group_size) \
    X(minimum_groups) \
    X(maximum_registers) \
    X(unroll) \
    X(opt_level) \
    X(debug_level) \
    X(bounds_checks) \
    X(fast_math) \
    X(contract) \
    X(entry_abi) \
    X(sites) \
    X(required_group_size[0]) \
    X(required_group_size[1]) \
    X(required_group_size[2])

static void encode_config(kiln__encoder *out, const kiln_config *config)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    kiln_config_get_options(&options, config);
    kiln__encode_text(out, options.target);
    kiln__encode_text(out, options.entry_name);
    kiln__encode_text(out, options.overlays);
#define ENCODE(member) kiln__encode_u64(out, options.member);
    NUMBER_MAP(ENCODE)
#undef ENCODE
}

static void encode_request(kiln__encoder *out, const kiln__rank_job *job)
{
    const kiln_signature signature = kiln_code_signature(job->code);

    kiln__encode_u64(out, VERSION);
    kiln__encode_bytes(out, job->key.encoded, job->key.encoded_size);
    kiln__encode_text(out, signature.function->frontend->name);
    kiln__encode_text(out, signature.function->name);
    kiln__encode_u64(out, signature.count);
    for (size_t i = 0; i < signature.count; i++)
        kiln__encode_text(out, kiln_type_text(signature.types[i]));
    encode_config(out, job->config);
}

/* ---- asking ---- */

/* KILN_OK with an artifact; KILN_ENOTFOUND: not yet; any other status:
   never. */
static kiln_status read_reply(const kiln_artifact **out, kiln_context *context,
                              const kiln_blob *reply, const kiln_key *key)
{
    kiln__span_of_bytes envelope;
    kiln__reader reader;
    int64_t status;

    kiln__reader_init(&reader, reply->data, reply->size);
    if (kiln__read_u64(&reader) != VERSION)
        return KILN_EMISMATCH;
    status = kiln__read_i64(&reader);
    envelope = kiln__read_bytes(&reader);
    if (!kiln__reader_is_done(&reader) || status > KILN_OK ||
        status < INT32_MIN)
        return KILN_ECORRUPT;
    if (status != KILN_OK)
        return (kiln_status)status;
    *out = kiln__artifact_receive(context, envelope.data, envelope.size, key);
    return *out != NULL ? KILN_OK : KILN_ECORRUPT;
}

static kiln_status ask_once(const kiln_artifact **out, kiln_context *context,
                            const kiln__encoder *request, uint32_t owner,
                            const kiln_key *key, uint64_t left_ns)
{
    const uint64_t left_ms = left_ns / 1000000 + 1;
    kiln_blob reply = {0};
    kiln__callback callback;
    kiln_status status;

    kiln__callback_begin(&callback, context);
    status = context->host.fetch(
        context->host_env, owner, request->bytes, request->size,
        left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX, &reply);
    kiln__callback_end(&callback);
    /* Any failure of the transport is KILN_EIO: only the owner itself may say
       KILN_ENOTFOUND. */
    if (status != KILN_OK)
        return KILN_EIO;
    status = read_reply(out, context, &reply, key);
    kiln_blob_release(&reply);
    return status;
}

static void sleep_ns(kiln_context *context, uint64_t nanoseconds)
{
    const struct timespec pause = {.tv_nsec = (long)nanoseconds};

    kiln__own_blocking_enter(context);
    (void)nanosleep(&pause, NULL);
    kiln__own_blocking_leave(context);
}

static kiln_status ask_owner(const kiln_artifact **out, kiln_context *context,
                             const kiln__encoder *request, uint32_t owner,
                             const kiln__rank_job *job)
{
    const uint64_t deadline = kiln__clock_ns() + job->patience_ns;
    uint64_t pause = PAUSE_LEAST_NS;

    for (;;) {
        uint64_t now = kiln__clock_ns();
        kiln_status status;

        if (now >= deadline)
            return KILN_EAGAIN;
        status =
            ask_once(out, context, request, owner, &job->key, deadline - now);
        if (status != KILN_ENOTFOUND)
            return status;
        now = kiln__clock_ns();
        if (now < deadline)
            sleep_ns(context, pause < deadline - now ? pause : deadline - now);
        pause = pause * 2 < PAUSE_MOST_NS ? pause * 2 : PAUSE_MOST_NS;
    }
}

/* An owner that does not answer is not asked for a while. */
static void give_up(kiln_context *context, uint32_t owner, kiln_status status,
                    const kiln__rank_job *job)
{
    if (status == KILN_EAGAIN || status == KILN_EIO)
        atomic_store(quiet_until(context, owner), kiln__clock_ns() + QUIET_NS);
    kiln__log(context, KILN_LOG_WARNING,
              "rank %u does not give %s (%s): it is built here", owner,
              kiln_code_name(job->code), kiln_status_name(status));
}

const kiln_artifact *kiln__ranks_fetch(kiln_context *context,
                                       const kiln__rank_job *job)
{
    const uint64_t begun = kiln__trace_begin(context);
    kiln__trace_note note = {.category = "wait",
                             .verb = "fetch from another rank",
                             .name = kiln_code_name(job->code)};
    const kiln_artifact *artifact = NULL;
    kiln_status status = KILN_ENOMEM;
    kiln__encoder request;
    uint32_t self;
    const uint32_t owner = owner_of(context, job->key.digest, &self);

    if (owner == self)
        return NULL;
    kiln__encoder_init(&request, &context->alloc);
    encode_request(&request, job);
    if (!request.failed)
        status = ask_owner(&artifact, context, &request, owner, job);
    kiln__encoder_dispose(&request);
    if (status != KILN_OK)
        give_up(context, owner, status, job);
    note.outcome = status == KILN_OK ? "hit" : "gave up";
    kiln__trace_end(context, begun, &note);
    return artifact;
}

/* ---- answering ---- */

typedef struct serving {
    kiln_context *context;
    kiln__reader reader;
    kiln__arena arena;
    kiln_key key;
    kiln_signature signature;
    const kiln_type *types[KILN_ARGUMENTS_MAX];
    const kiln_config *config;
} serving;

/* NULL: there was no text, or a failure. */
static const char *read_text(serving *s)
{
    const kiln__span_of_bytes text = kiln__read_text(&s->reader);

    return text.data != NULL
               ? kiln__arena_string(&s->arena, text.data, text.size)
               : NULL;
}

static void read_key(serving *s)
{
    const kiln__span_of_bytes encoded = kiln__read_bytes(&s->reader);

    if (encoded.data != NULL)
        s->key = (kiln_key){kiln__digest_bytes(encoded.data, encoded.size),
                            encoded.data, encoded.size};
    s->reader.failed |= encoded.data == NULL;
}

static const kiln_function *find_function(const kiln_frontend *frontend,
                                          const char *name)
{
    const kiln_function *function = NULL;

    if (frontend->ops.function != NULL)
        return frontend->ops.function(frontend->self, name, &function) ==
                       KILN_OK
                   ? function
                   : NULL;
    function = kiln__function_find(frontend->context, name);
    return function != NULL && function->frontend == frontend ? function : NULL;
}

static const kiln_type *find_type(const kiln_frontend *frontend,
                                  const char *text)
{
    const kiln_type *type = NULL;
    uint64_t world;
    kiln_status status;

    if (text == NULL || kiln__world_now(&world, frontend, NULL) != KILN_OK)
        return NULL;
    if (frontend->ops.type != NULL)
        status = frontend->ops.type(frontend->self, text, world, &type);
    else
        status = kiln_type_parse(&type, frontend->context, NULL, text, NULL);
    return status == KILN_OK ? type : NULL;
}

/* KILN_ENOTFOUND: this program does not have the function, or not yet. */
static kiln_status read_signature(serving *s)
{
    const char *name = read_text(s);
    const char *function = read_text(s);
    const size_t count = kiln__read_count(&s->reader, 1);
    const kiln_frontend *frontend =
        name != NULL ? kiln__frontend_find(s->context, name) : NULL;
    int found = frontend != NULL && function != NULL;

    if (s->reader.failed || count > KILN_ARGUMENTS_MAX)
        return KILN_ECORRUPT;
    if (found)
        s->signature.function = find_function(frontend, function);
    found = found && s->signature.function != NULL;
    for (size_t i = 0; i < count; i++) {
        const char *text = read_text(s);

        if (found)
            s->types[i] = find_type(frontend, text);
        found = found && s->types[i] != NULL;
    }
    s->signature.types = s->types;
    s->signature.count = count;
    return found ? KILN_OK : KILN_ENOTFOUND;
}

static kiln_status read_config(serving *s)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.target = read_text(s);
    options.entry_name = read_text(s);
    options.overlays = read_text(s);
#define READ(member) \
    options.member = (__typeof__(options.member))kiln__read_u64(&s->reader);
    NUMBER_MAP(READ)
#undef READ
    if (!kiln__reader_is_done(&s->reader) || s->arena.failed)
        return KILN_ECORRUPT;
    return kiln_config_new(&s->config, s->context, &options, NULL);
}

static const kiln_artifact *find_artifact(const serving *s)
{
    const kiln_artifact *artifact = kiln__artifact_find(
        s->context, s->key.digest, s->key.encoded, s->key.encoded_size);

    return artifact != NULL ? artifact
                            : kiln__artifact_recall(s->context, &s->key);
}

/* In this program the job must have the same key. If loading fails here, that
   says nothing about the rank that asked. */
static kiln_status compile(const serving *s)
{
    const kiln_kernel *kernel = NULL;
    kiln_digest key = {0};

    if (kiln_job_key(&key, s->context, &s->signature, s->config, 0, NULL) !=
            KILN_OK ||
        !kiln__digest_equal(key, s->key.digest))
        return KILN_ENOTFOUND;
    (void)!kiln_compile(&kernel, s->context, &s->signature, s->config, NULL,
                        NULL);
    return KILN_OK;
}

static kiln_status answer(const kiln_artifact **out, serving *s)
{
    kiln_status status;
    uint32_t self;

    if (kiln__read_u64(&s->reader) != VERSION)
        return KILN_EMISMATCH;
    read_key(s);
    if (s->reader.failed)
        return KILN_ECORRUPT;
    if (owner_of(s->context, s->key.digest, &self) != self)
        return KILN_EINVAL;
    *out = find_artifact(s);
    if (*out != NULL)
        return KILN_OK;
    status = read_signature(s);
    if (status == KILN_OK)
        status = read_config(s);
    if (status == KILN_OK)
        status = compile(s);
    if (status != KILN_OK)
        return status;
    *out = find_artifact(s);
    return *out != NULL ? KILN_OK : KILN_ECODEGEN;
}

static kiln_status write_reply(kiln_blob *out, const kiln_context *context,
                               kiln_status status,
                               const kiln_artifact *artifact)
{
    kiln_blob envelope = {0};
    kiln__encoder reply;

    if (artifact != NULL && artifact->relocation == KILN_RELOCATION_SESSION)
        status = KILN_EUNSUPPORTED;
    else if (artifact != NULL)
        status = kiln__artifact_envelope(&envelope, context, artifact);
    kiln__encoder_init(&reply, &context->alloc);
    kiln__encode_u64(&reply, VERSION);
    kiln__encode_i64(&reply, status);
    kiln__encode_bytes(&reply, envelope.data, envelope.size);
    kiln_blob_release(&envelope);
    status = reply.failed ? KILN_ENOMEM
                          : kiln__blob_copy(out, &context->alloc, reply.bytes,
                                            reply.size);
    kiln__encoder_dispose(&reply);
    return status;
}

kiln_status kiln_rank_serve(kiln_blob *reply, kiln_context *context,
                            const void *request, size_t size,
                            kiln_error **error)
{
    serving s = {.context = context};
    const kiln_artifact *artifact = NULL;
    kiln_status status;

    KILN_REQUIRE(reply != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(request != NULL || size == 0, error);
    kiln__stack_enter(context);
    kiln__arena_init(&s.arena, &context->alloc);
    kiln__reader_init(&s.reader, request, size);
    status = answer(&artifact, &s);
    kiln__arena_dispose(&s.arena);
    status = write_reply(reply, context, status, artifact);
    kiln_artifact_release(artifact);
    return status == KILN_OK ? KILN_OK : kiln__error_no_memory(error);
}
