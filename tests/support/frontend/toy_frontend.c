/* toy_frontend.c - a frontend whose programs are call graphs of numbers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/toy_frontend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct toy_version version_at(struct toy *toy, int id, uint64_t world)
{
    struct toy_version found = {0};

    pthread_mutex_lock(&toy->lock);
    for (int i = 0; i < toy->version_counts[id]; i++)
        if (toy->versions[id][i].world <= world)
            found = toy->versions[id][i];
    pthread_mutex_unlock(&toy->lock);
    return found;
}

static kiln_digest answer_for(struct toy *toy, int id, uint64_t world)
{
    struct toy_version version = version_at(toy, id, world);
    int words[2 + TOY_CALLEES] = {version.number, version.callee_count};

    for (int i = 0; i < version.callee_count; i++)
        words[2 + i] = version.callees[i];
    return kiln_digest_bytes(words, sizeof words);
}

static void free_text(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
    blob->release = NULL;
}

static uint64_t toy_world(void *self)
{
    struct toy *toy = self;
    uint64_t world;

    pthread_mutex_lock(&toy->lock);
    world = toy->world;
    pthread_mutex_unlock(&toy->lock);
    return world;
}

static int id_of(const struct toy *toy, const kiln_function *function)
{
    int id = 0;

    while (toy->functions[id] != function)
        id++;
    return id;
}

static kiln_status ask_callees(struct toy *toy, int id, kiln_inference *out,
                               const struct toy_version *version,
                               kiln_error **error)
{
    for (int i = 0; i < version->callee_count; i++) {
        kiln_signature callee = toy_signature(toy, version->callees[i]);
        const kiln_code *code;
        kiln_inference *head;
        kiln_status status =
            kiln_inference_callee(out, &callee, &code, NULL, &head, error);

        if (status == KILN_OK || status == KILN_ERECURSION)
            continue;
        if (!(toy->forgiving & (1u << id)))
            return status;
        if (error) {
            kiln_error_free(*error);
            *error = NULL;
        }
    }
    return KILN_OK;
}

static kiln_status use_sites(const struct toy *toy, int id, kiln_inference *out,
                             kiln_error **error)
{
    kiln_status status = KILN_OK;

    for (int i = 0; toy->sites[id][i] && status == KILN_OK; i++) {
        const char *text = toy->sites[id][i];
        const char *end = strstr(text, "()");
        char name[64];

        snprintf(name, sizeof name, "%.*s",
                 end ? (int)(end - text) : (int)strlen(text), text);
        status = kiln_inference_use_site(
            out, name, end ? KILN_SITE_FUNCTION : KILN_SITE_DATA, error);
    }
    return status;
}

static kiln_status toy_infer(void *self, const kiln_signature *signature,
                             const kiln_config *config, uint64_t world,
                             kiln_inference *out, kiln_error **error)
{
    struct toy *toy = self;
    int id = id_of(toy, signature->function);
    struct toy_version version = version_at(toy, id, world);
    kiln_query query = {(uint64_t)id, &id, sizeof id,
                        answer_for(toy, id, world)};
    kiln_status status = KILN_OK;

    (void)config;
    __atomic_fetch_add(&toy->inferred[id], 1, __ATOMIC_RELAXED);
    if (toy->hook)
        toy->hook(toy, id);
    if (toy->infer_callback)
        status = toy->infer_callback(toy, id, error);
    if (status != KILN_OK)
        return status;
    if (version.fails)
        return kiln_error_set(error, version.fails, "f%d fails", id);
    kiln_inference_set_root(out, query.answer);
    if (toy->uses[id])
        status = kiln_inference_use_runtime(out, toy->uses[id], error);
    if (status == KILN_OK)
        status = use_sites(toy, id, out, error);
    if (status == KILN_OK)
        status = kiln_inference_add_query(out, &query);
    query.subject = toy->second_subject[id];
    if (status == KILN_OK && query.subject)
        status = kiln_inference_add_query(out, &query);
    query.subject = (uint64_t)id;
    if (status == KILN_OK)
        status = ask_callees(toy, id, out, &version, error);
    if (status == KILN_OK && kiln_inference_is_cycle_head(out)) {
        /* Makes a second pass, as a frontend does after an assumption has
           changed. */
        kiln_inference_restart(out);
        status = kiln_inference_add_query(out, &query);
        if (status == KILN_OK)
            status = ask_callees(toy, id, out, &version, error);
    }
    if (status == KILN_OK)
        status =
            kiln_inference_set_ir(out, &version.number, sizeof version.number);
    return status;
}

static kiln_status toy_answer(void *self, const void *query, size_t size,
                              const kiln_config *config, uint64_t world,
                              kiln_digest *out)
{
    struct toy *toy = self;
    const kiln_status failed = toy->answer_fails;
    int id;

    (void)config;
    if (size != sizeof id)
        return KILN_EINVAL;
    toy->answer_fails = KILN_OK;
    if (failed != KILN_OK)
        return failed;
    memcpy(&id, query, sizeof id);
    *out = answer_for(self, id, world);
    return KILN_OK;
}

/* Lowers to a kernel that takes nothing and does nothing, unless the test sets
   one. */
static kiln_status toy_lower(void *self, const kiln_lower_request *request,
                             kiln_blob *out, kiln_error **error)
{
    struct toy *toy = self;
    int id = id_of(toy, kiln_code_signature(request->root).function);
    const char *head = toy->head ? toy->head : "";
    const char *body = toy->body ? toy->body : "";
    size_t capacity = 256 + strlen(head) + strlen(body);
    kiln_status status = KILN_OK;
    char *text;

    __atomic_fetch_add(&toy->lowered[id], 1, __ATOMIC_RELAXED);
    if (toy->lower_hook)
        toy->lower_hook(toy, request);
    if (toy->lower_callback)
        status = toy->lower_callback(toy, id, error);
    if (status != KILN_OK)
        return status;
    text = malloc(capacity);
    if (!text)
        return KILN_ENOMEM;
    snprintf(text, capacity,
             "%sdefine i32 @%s(ptr %%item) {\n%s  ret i32 0\n}\n", head,
             request->entry, body);
    *out = (kiln_blob){text, strlen(text), free_text, NULL};
    return KILN_OK;
}

static void toy_collect(void *self, uint64_t oldest_world)
{
    ((struct toy *)self)->collected = oldest_world;
}

static void toy_free(void *self)
{
    struct toy *toy = self;

    pthread_mutex_destroy(&toy->lock);
}

static const kiln_frontend_ops toy_ops = {
    .size = sizeof toy_ops,
    .world = toy_world,
    .infer = toy_infer,
    .answer = toy_answer,
    .free = toy_free,
    .lower = toy_lower,
    .collect = toy_collect,
};

/* ---- questions of other processes ---- */

static kiln_status toy_root(void *self, const kiln_signature *signature,
                            const kiln_config *config, uint64_t world,
                            kiln_digest *out)
{
    struct toy *toy = self;

    (void)config;
    *out = answer_for(toy, id_of(toy, signature->function), world);
    return KILN_OK;
}

/* The program is all functions: a change of any of them changes it. */
static kiln_status toy_program(void *self, const kiln_signature *signature,
                               const kiln_config *config, uint64_t world,
                               kiln_digest *out)
{
    struct toy *toy = self;
    void (*hook)(struct toy *) = toy->program_hook;
    kiln_digest all[TOY_FUNCTIONS];

    (void)signature;
    (void)config;
    toy->program_hook = NULL;
    if (hook)
        hook(toy);
    for (int id = 0; id < TOY_FUNCTIONS; id++)
        all[id] = answer_for(self, id, world);
    *out = kiln_digest_bytes(all, sizeof all);
    return KILN_OK;
}

static kiln_status toy_type(void *self, const char *text, uint64_t world,
                            const kiln_type **out)
{
    const struct toy *toy = self;

    (void)world;
    return kiln_type_parse(out, toy->context, NULL, text, NULL);
}

static kiln_status toy_function(void *self, const char *name,
                                const kiln_function **out)
{
    const struct toy *toy = self;

    for (int id = 0; id < TOY_FUNCTIONS; id++)
        if (strcmp(kiln_function_name(toy->functions[id]), name) == 0) {
            *out = toy->functions[id];
            return KILN_OK;
        }
    return KILN_ENOTFOUND;
}

/* ---- opening ---- */

kiln_status toy_open(struct toy *toy, kiln_context *context, kiln_error **error)
{
    return toy_open_as(toy, context, "toy", error);
}

kiln_status toy_open_as(struct toy *toy, kiln_context *context,
                        const char *name, kiln_error **error)
{
    return toy_open_with(toy, context, name, 0, error);
}

kiln_status toy_open_with(struct toy *toy, kiln_context *context,
                          const char *name, unsigned offers, kiln_error **error)
{
    kiln_frontend_ops ops = toy_ops;
    kiln_status status;

    ops.root = offers & TOY_ROOT ? toy_root : NULL;
    ops.program = offers & TOY_PROGRAM ? toy_program : NULL;
    ops.type = offers & TOY_TYPE ? toy_type : NULL;
    ops.function = offers & TOY_FUNCTION ? toy_function : NULL;
    memset(toy, 0, sizeof *toy);
    toy->context = context;
    toy->world = 1;
    pthread_mutex_init(&toy->lock, NULL);
    ops.name = name;
    status = kiln_frontend_add(&toy->frontend, context, &ops, toy, error);
    if (status != KILN_OK) {
        pthread_mutex_destroy(&toy->lock);
        return status;
    }
    for (int id = 0; id < TOY_FUNCTIONS; id++) {
        char function[64];

        snprintf(function, sizeof function, "%s.f%d", name, id);
        status = kiln_function_new(&toy->functions[id], toy->frontend, function,
                                   NULL, error);
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

/* A full history drops its oldest version. */
static void version_add(struct toy *toy, int id,
                        const struct toy_version *version)
{
    if (toy->version_counts[id] == TOY_HISTORY) {
        toy->version_counts[id]--;
        memmove(toy->versions[id], toy->versions[id] + 1,
                (TOY_HISTORY - 1) * sizeof *version);
    }
    toy->versions[id][toy->version_counts[id]++] = *version;
}

uint64_t toy_advance(struct toy *toy, int id, int number, const int *callees)
{
    struct toy_version version = {.number = number};

    while (callees && callees[version.callee_count] >= 0) {
        version.callees[version.callee_count] = callees[version.callee_count];
        version.callee_count++;
    }
    if (number < 0)
        version.fails = number;
    pthread_mutex_lock(&toy->lock);
    version.world = ++toy->world;
    version_add(toy, id, &version);
    pthread_mutex_unlock(&toy->lock);
    return version.world;
}

kiln_status toy_define(struct toy *toy, int id, int number, const int *callees,
                       kiln_change_report *report)
{
    uint64_t subject = (uint64_t)id;
    kiln_status status =
        toy->tells_before ? kiln_world_changing(toy->frontend) : KILN_OK;

    if (status != KILN_OK)
        return status;
    return kiln_world_changed(toy->frontend,
                              toy_advance(toy, id, number, callees), &subject,
                              1, report);
}

kiln_signature toy_signature(const struct toy *toy, int id)
{
    kiln_signature signature = {toy->functions[id], NULL, 0};

    return signature;
}
