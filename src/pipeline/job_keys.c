/* job_keys.c - lists the keys under which a job is looked up. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pipeline/job_keys.h"
#include "base/error.h"
#include "context/keys/key.h"
#include "pipeline/debug_lines.h"
#include "tiers/entry_describe.h"
#include "tiers/worlds.h"

typedef struct asking {
    kiln_context *context;
    const kiln_signature *signature;
    const kiln_config *config;
    uint64_t world;
    const kiln_code *code;
    kiln_digest typed;
    kiln__job_key_fn take;
    void *env;
} asking;

/* `made` is the status of making the key in the encoder. */
static kiln_status give(const asking *a, kiln__encoder *key, int32_t kind,
                        kiln_status made)
{
    kiln__job_key given = {.kind = kind, .typed = a->typed};

    if (made == KILN_OK) {
        given.key =
            (kiln_key){kiln__encoder_digest(key), key->bytes, key->size};
        made = a->take(a->env, &given);
    }
    kiln__encoder_dispose(key);
    return made;
}

typedef kiln_status (*digest_fn)(void *self, const kiln_signature *signature,
                                 const kiln_config *config, uint64_t world,
                                 kiln_digest *out);

/* False when the frontend gives no digest. */
static int ask_frontend(kiln_digest *out, const asking *a, digest_fn function)
{
    const kiln_frontend *frontend = a->signature->function->frontend;

    *out = (kiln_digest){0};
    return function != NULL &&
           function(frontend->self, a->signature, a->config, a->world, out) ==
               KILN_OK &&
           !kiln__digest_is_zero(*out);
}

static kiln_status give_program(const asking *a)
{
    kiln__encoder key;
    kiln_digest program;

    if (!ask_frontend(&program, a,
                      a->signature->function->frontend->ops.program))
        return KILN_OK;
    kiln__encoder_init(&key, &a->context->alloc);
    return give(a, &key, KILN__ENTRY_PROGRAM,
                kiln__key_program(&key, a->signature, a->config, program));
}

static kiln_status give_instance(const asking *a)
{
    kiln__encoder key;
    kiln_digest root;

    if (!ask_frontend(&root, a, a->signature->function->frontend->ops.root))
        return KILN_OK;
    kiln__encoder_init(&key, &a->context->alloc);
    return give(a, &key, KILN__ENTRY_INSTANCE,
                kiln__key_instance(&key, a->signature, a->config, root));
}

static kiln_status give_binary(const asking *a)
{
    kiln_digest digest;
    kiln__encoder key;

    KILN_TRY(kiln__job_digest(&digest, a->code, a->config));
    kiln__encoder_init(&key, &a->context->alloc);
    return give(a, &key, KILN__ENTRY_BINARY,
                kiln__key_binary(&key, digest, a->config));
}

static kiln_status give_all(const asking *a)
{
    KILN_TRY(give_program(a));
    KILN_TRY(give_instance(a));
    return give_binary(a);
}

kiln_status kiln__job_keys(kiln_context *context,
                           const kiln_signature *signature,
                           const kiln_config *config, kiln__job_key_fn take,
                           void *env, kiln_error **error)
{
    const kiln_frontend *frontend = signature->function->frontend;
    asking a = {.context = context,
                .signature = signature,
                .config = config,
                .take = take,
                .env = env};
    const kiln_code *code;
    kiln_status status;

    KILN_TRY(kiln_infer(&code, context, signature, config, 0, error));
    a.code = code;
    a.typed = kiln_code_digest(code);
    KILN_TRY(kiln__world_now(&a.world, frontend, error));
    status = give_all(&a);
    return status == KILN_OK
               ? KILN_OK
               : kiln__error_set(error, status, "the cache cannot be read: %s",
                                 kiln_status_text(status));
}
