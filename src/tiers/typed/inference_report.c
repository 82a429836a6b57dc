/* inference_report.c - records what a frontend reports about an inference. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <string.h>

#include "base/data/array.h"
#include "base/digest/digest.h"
#include "base/error.h"
#include "tiers/frontends.h"
#include "tiers/runtime/bitcode_library.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_instance.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/inference.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/typed.h"
#include "tiers/worlds.h"

/*
 * The functions that infer() calls: they record results, queries, uses, sites,
 * callees and dependencies in the code instance that is being inferred. Callees
 * are looked up through tier 1, in the worlds of the whole chain.
 *
 * Loading an entry uses the same functions, in a frame of its own
 * (stored_typed.c). What is loaded may rely only on what is loaded as well, and
 * an inference does not see frames that are loading.
 */

void kiln_inference_set_root(kiln_inference *inference, kiln_digest method)
{
    if (inference == NULL)
        return;
    inference->code->root = method;
}

kiln_status kiln_inference_set_name(kiln_inference *inference, const char *name)
{
    const kiln_alloc *alloc;
    char *copy;

    KILN_REQUIRE(inference != NULL, NULL);
    KILN_REQUIRE(name != NULL, NULL);
    alloc = &inference->context->alloc;
    copy = kiln__string_copy(alloc, name);
    if (copy == NULL)
        return KILN_ENOMEM;
    kiln__string_free(alloc, inference->code->name);
    inference->code->name = copy;
    return KILN_OK;
}

void kiln_inference_set_result(kiln_inference *inference, const kiln_type *type)
{
    if (inference == NULL)
        return;
    inference->code->result = type;
}

void kiln_inference_set_worlds(kiln_inference *inference, uint64_t minimum,
                               uint64_t maximum)
{
    if (inference == NULL)
        return;
    inference->code->min_world = minimum;
    atomic_store(&inference->code->max_world, maximum);
}

kiln_status kiln_inference_set_ir(kiln_inference *inference, const void *bytes,
                                  size_t size)
{
    const kiln_alloc *alloc;
    kiln_code *code;
    void *copy;

    KILN_REQUIRE(inference != NULL, NULL);
    KILN_REQUIRE(bytes != NULL || size == 0, NULL);
    alloc = &inference->context->alloc;
    code = inference->code;
    copy = size ? kiln__allocate_copy(alloc, bytes, size) : NULL;
    if (size && copy == NULL)
        return KILN_ENOMEM;
    kiln__deallocate(alloc, code->ir, code->ir_size);
    code->ir = copy;
    code->ir_size = size;
    code->has_ir = 1;
    return KILN_OK;
}

void kiln_inference_set_runtime(kiln_inference *inference)
{
    if (inference == NULL)
        return;
    inference->code->is_runtime = 1;
}

static int use_is_known(const kiln_code *code, kiln_digest digest)
{
    for (size_t i = 0; i < code->uses.count; i++)
        if (kiln__digest_equal(code->uses.items[i].digest, digest))
            return 1;
    return 0;
}

kiln_status kiln_inference_use_runtime(kiln_inference *inference,
                                       const char *symbol, kiln_error **error)
{
    kiln_code *code;
    kiln__library_use use;

    KILN_REQUIRE(inference != NULL, error);
    KILN_REQUIRE(symbol != NULL, error);
    code = inference->code;
    KILN_TRY(kiln__library_find(&use, inference->context, inference->config,
                                symbol, error));
    if (use_is_known(code, use.digest) ||
        kiln__array_push(&inference->context->alloc, &code->uses, use))
        return KILN_OK;
    return kiln__error_no_memory(error);
}

kiln_status kiln_inference_use_site(kiln_inference *inference, const char *name,
                                    int32_t kind, kiln_error **error)
{
    KILN_REQUIRE(inference != NULL, error);
    KILN_REQUIRE(name != NULL, error);
    KILN_REQUIRE(*name != '\0' && strlen(name) <= KILN_SITE_NAME_MAX, error);
    KILN_REQUIRE(kind == KILN_SITE_DATA || kind == KILN_SITE_FUNCTION, error);
    if (kiln__code_add_site(inference->code, name, kind) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

static int query_is_known(const kiln_code *code, const kiln_query *query)
{
    for (size_t i = 0; i < code->queries.count; i++) {
        const kiln_query *known = &code->queries.items[i];

        if (known->subject == query->subject && known->size == query->size &&
            memcmp(known->data, query->data, query->size) == 0)
            return 1;
    }
    return 0;
}

kiln_status kiln_inference_add_query(kiln_inference *inference,
                                     const kiln_query *query)
{
    const kiln_alloc *alloc;
    kiln_code *code;
    kiln_query copy;
    void *data;

    KILN_REQUIRE(inference != NULL, NULL);
    KILN_REQUIRE(query != NULL, NULL);
    KILN_REQUIRE(query->data != NULL && query->size > 0, NULL);
    alloc = &inference->context->alloc;
    code = inference->code;
    copy = *query;
    if (query_is_known(code, query))
        return KILN_OK;
    data = kiln__allocate_copy(alloc, query->data, query->size);
    if (data == NULL)
        return KILN_ENOMEM;
    copy.data = data;
    if (!kiln__array_push(alloc, &code->queries, copy)) {
        kiln__deallocate(alloc, data, query->size);
        return KILN_ENOMEM;
    }
    return KILN_OK;
}

/* Returns the position of the code in the list, or the list's count. */
static size_t position(const kiln__code_list *list, const kiln_code *code)
{
    size_t at = 0;

    while (at < list->count && list->items[at] != code)
        at++;
    return at;
}

/* Records a callee once; `index` receives its first position in call order. */
static kiln_status add_callee(kiln_inference *inference, kiln_code *callee,
                              uint32_t *index)
{
    kiln_code *code = inference->code;
    const size_t at = position(&code->callees, callee);

    if (at == code->callees.count &&
        !kiln__array_push(&inference->context->alloc, &code->callees, callee))
        return KILN_ENOMEM;
    if (index != NULL)
        *index = (uint32_t)at;
    return KILN_OK;
}

/* No frontend runs for a frame that is loading: an inference does not see such
   a frame, and infers what it needs itself. */
static kiln_inference *find_running(kiln_inference *inference,
                                    const kiln__instance *instance)
{
    kiln_inference *at = inference;

    while (at != NULL && (at->instance != instance ||
                          (at->is_loading && !inference->is_loading)))
        at = at->parent;
    return at;
}

static kiln_code *member_of(const kiln_inference *head,
                            const kiln__instance *instance)
{
    for (size_t i = 0; i < head->members.count; i++)
        if (head->members.items[i]->instance == instance)
            return head->members.items[i];
    return NULL;
}

/* Finds a provisional result of a frame above: it is valid for its cycle only,
   and one of a loading frame only for what is loaded. KILN_ENOTFOUND: loaded
   code would rely on code that is not. */
static kiln_status find_member(kiln_code **out, kiln_inference *inference,
                               const kiln__instance *instance)
{
    kiln_inference *at = inference;

    *out = NULL;
    while (at != NULL && ((at->is_loading && !inference->is_loading) ||
                          member_of(at, instance) == NULL))
        at = at->parent;
    if (at == NULL)
        return KILN_OK;
    if (inference->is_loading && !at->is_loading)
        return KILN_ENOTFOUND;
    kiln__inference_rely_on(inference, at);
    *out = member_of(at, instance);
    return KILN_OK;
}

static kiln__instance *callee_instance(const kiln_inference *inference,
                                       const kiln_signature *callee)
{
    struct kiln__tiers *tiers = inference->context->tiers;
    kiln__instance *instance;

    kiln__mutex_lock(&tiers->lock);
    instance = kiln__instance_get(tiers, callee, inference->config->owner, 1);
    kiln__mutex_unlock(&tiers->lock);
    return instance;
}

/* Lends the callee that is valid in the worlds of the chain. */
static kiln_status get_callee(const kiln_code **out, kiln_inference *inference,
                              const kiln_signature *callee, kiln_error **error)
{
    kiln_frontend *frontend = callee->function->frontend;
    const kiln__typed_request request = {callee, inference->config,
                                         inference->worlds,
                                         inference->chain->never_wait, 0};
    kiln__lack lack = {inference->worlds, KILN_OK,
                       inference->chain->recursions};
    uint64_t world;

    lack.status = kiln__worlds_take(&world, inference->worlds, frontend, error);
    if (lack.status == KILN_OK)
        lack.status = kiln__typed_get(out, inference->context, inference->chain,
                                      &request, error);
    if (lack.status != KILN_OK)
        kiln__inference_goes_without(inference, &lack);
    return lack.status;
}

kiln_status kiln_inference_callee(kiln_inference *inference,
                                  const kiln_signature *callee,
                                  const kiln_code **out, uint32_t *index,
                                  kiln_inference **head, kiln_error **error)
{
    const kiln_code *code = NULL;
    kiln_code *member;
    kiln_inference *running;
    kiln__instance *instance;

    KILN_REQUIRE(inference != NULL, error);
    KILN_REQUIRE(out != NULL && head != NULL, error);
    KILN_TRY(kiln__request_check(inference->context, callee, inference->config,
                                 error));
    instance = callee_instance(inference, callee);
    if (instance == NULL)
        return kiln__error_no_memory(error);
    running = find_running(inference, instance);
    if (running != NULL) {
        /* Loaded code may rely on loaded code only. */
        if (inference->is_loading && !running->is_loading)
            return KILN_ENOTFOUND;
        running->is_head = 1;
        kiln__inference_rely_on(inference, running);
        KILN_TRY(add_callee(inference, running->code, index));
        *head = running;
        return KILN_ERECURSION;
    }
    KILN_TRY(find_member(&member, inference, instance));
    code = member;
    if (code == NULL)
        KILN_TRY(get_callee(&code, inference, callee, error));
    /* nor on inferred code that relies on something further up */
    if (inference->is_loading && !code->published && !code->is_stored)
        return KILN_ENOTFOUND;
    *out = code;
    if (add_callee(inference, (kiln_code *)(uintptr_t)code, index) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

/* ---- edges without a call ---- */

static kiln_status refuse_dependency(const kiln_inference *inference,
                                     const kiln_code *code, kiln_status status,
                                     const char *why, kiln_error **error)
{
    return kiln__error_set(error, status, "%s cannot depend on %s: %s",
                           inference->signature.function->name, code->name,
                           why);
}

/* A dependency belongs to the program that the chain sees: to one world of each
   frontend concerned, whether the chain has reached that frontend or not. */
static kiln_status take_worlds_of(const kiln_code *code, kiln__worlds *worlds,
                                  kiln_error **error)
{
    uint64_t world;

    KILN_TRY(kiln__worlds_take(&world, worlds, code->frontend, error));
    for (size_t i = 0; i < code->others.count; i++)
        KILN_TRY(kiln__worlds_take(&world, worlds,
                                   code->others.items[i].frontend, error));
    return KILN_OK;
}

static kiln_status check_worlds(kiln_inference *inference,
                                const kiln_code *code, kiln_error **error)
{
    kiln__worlds *worlds = inference->worlds;
    kiln_frontend *untaken;

    KILN_TRY(take_worlds_of(code, worlds, error));
    if (kiln__code_is_for(code, worlds, &untaken))
        return KILN_OK;
    worlds->is_torn = 1;
    return refuse_dependency(inference, code, KILN_EINVAL,
                             "it is not valid in the worlds of this inference",
                             error);
}

static kiln_status check_dependency(kiln_inference *inference,
                                    const kiln_code *code, kiln_error **error)
{
    KILN_REQUIRE(code != NULL, error);
    if (code->context != inference->context)
        return refuse_dependency(inference, code, KILN_EINVAL,
                                 "it is of another context", error);
    if (!code->published)
        return refuse_dependency(
            inference, code, KILN_ERECURSION,
            "it is part of a recursion whose inference has not ended", error);
    if (code->is_record)
        return refuse_dependency(inference, code, KILN_EINVAL,
                                 "it has no typed IR", error);
    if (!kiln__digest_equal(code->instance->owner, inference->config->owner))
        return refuse_dependency(inference, code, KILN_EINVAL,
                                 "it was inferred under other settings", error);
    return check_worlds(inference, code, error);
}

kiln_status kiln_inference_depend(kiln_inference *inference,
                                  const kiln_code *code)
{
    kiln__code_list *list;
    kiln_error *why = NULL;
    kiln_status status;

    KILN_REQUIRE(inference != NULL, NULL);
    list = &inference->code->depends;
    status = check_dependency(inference, code, &why);
    if (status == KILN_OK && position(list, code) == list->count &&
        !kiln__array_push(&inference->context->alloc, list,
                          (kiln_code *)(uintptr_t)code))
        status = kiln__error_no_memory(&why);
    kiln_error_free(inference->refusal);
    inference->refusal = why;
    return status;
}

kiln_status kiln_inference_world(uint64_t *out, kiln_inference *inference,
                                 kiln_frontend *frontend, kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(inference != NULL, error);
    KILN_REQUIRE(frontend != NULL, error);
    KILN_REQUIRE(frontend->context == inference->context, error);
    return kiln__worlds_take(out, inference->worlds, frontend, error);
}

/* ---- restarting, and reading the chain ---- */

void kiln_inference_restart(kiln_inference *inference)
{
    kiln_code *code;

    if (inference == NULL)
        return;
    code = inference->code;
    kiln__inference_forget_since(inference);
    kiln__code_clear_queries(code);
    code->callees.count = 0;
    code->depends.count = 0;
    code->uses.count = 0;
    kiln__code_clear_sites(code);
    code->lacks = KILN__LACKS_NOTHING;
    inference->passing = KILN_OK;
    code->others.count = 0;
}

int32_t kiln_inference_is_cycle_head(const kiln_inference *inference)
{
    return inference != NULL && inference->is_head;
}

int32_t kiln_inference_is_provisional(const kiln_inference *inference)
{
    return inference != NULL && inference->cycle_depth < inference->depth;
}

kiln_inference *kiln_inference_parent(const kiln_inference *inference)
{
    return inference != NULL ? inference->parent : NULL;
}

const kiln_signature *kiln_inference_signature(const kiln_inference *inference)
{
    return inference != NULL ? &inference->signature : NULL;
}

void kiln_inference_set_user(kiln_inference *inference, void *user)
{
    if (inference == NULL)
        return;
    inference->user = user;
}

void *kiln_inference_user(const kiln_inference *inference)
{
    return inference != NULL ? inference->user : NULL;
}
