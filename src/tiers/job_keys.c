/* job_keys.c - every key under which a job is looked for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "describe.h"
#include "keys.h"
#include "report.h"
#include "state.h"

typedef struct asking {
    kiln_context *context;
    const kiln_signature *signature;
    const kiln_config *config;
    uint64_t world;
    kiln__job_key_fn take;
    void *env;
} asking;

/* `made` is how making the key in the encoder went. */
static kiln_status give(const asking *a, kiln__encoder *key, int32_t kind,
                        kiln_status made)
{
    kiln__job_key given = {.kind = kind};

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

/* False when the frontend promises nothing. */
static int ask(kiln_digest *out, const asking *a, digest_fn function)
{
    const kiln_frontend *frontend = a->signature->function->frontend;

    *out = (kiln_digest){0, 0};
    return function &&
           function(frontend->self, a->signature, a->config, a->world, out) ==
               KILN_OK &&
           !kiln__digest_is_zero(*out);
}

static kiln_status give_program(const asking *a)
{
    kiln__encoder key;
    kiln_digest program;

    if (!ask(&program, a, a->signature->function->frontend->ops.program))
        return KILN_OK;
    kiln__encoder_init(&key, &a->context->alloc);
    return give(a, &key, KILN__ENTRY_PROGRAM,
                kiln__key_program(&key, a->signature, a->config, program));
}

static kiln_status give_instance(const asking *a)
{
    kiln__encoder key;
    kiln_digest root;

    if (!ask(&root, a, a->signature->function->frontend->ops.root))
        return KILN_OK;
    kiln__encoder_init(&key, &a->context->alloc);
    return give(a, &key, KILN__ENTRY_INSTANCE,
                kiln__key_instance(&key, a->signature, a->config, root));
}

static kiln_status give_binary(const asking *a, kiln_error **error)
{
    const kiln_code *code;
    kiln__encoder key;

    KILN_TRY(kiln_infer(&code, a->context, a->signature, a->config, 0,
                        error));
    kiln__encoder_init(&key, &a->context->alloc);
    return give(a, &key, KILN__ENTRY_BINARY,
                kiln__key_binary(&key, kiln_code_digest(code), a->config));
}

kiln_status kiln__job_keys(kiln_context *context,
                           const kiln_signature *signature,
                           const kiln_config *config, kiln__job_key_fn take,
                           void *env, kiln_error **error)
{
    const kiln_frontend *frontend = signature->function->frontend;
    const asking a = {.context = context,
                      .signature = signature,
                      .config = config,
                      .world = frontend->ops.world(frontend->self),
                      .take = take,
                      .env = env};
    kiln_error *fault = NULL;
    kiln_status status = give_program(&a);

    if (status == KILN_OK)
        status = give_instance(&a);
    if (status == KILN_OK)
        status = give_binary(&a, &fault);
    if (status != KILN_OK && !fault)
        (void)kiln__error_set(&fault, status, "%s", kiln_status_text(status));
    if (error)
        *error = fault;
    else
        kiln_error_free(fault);
    return status;
}
