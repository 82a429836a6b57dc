/* code_instance.c - makes, frees and reads code instances. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "tiers/typed/attachment.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/method_instance.h"

/*
 * A code instance is filled by one inference (inference.c, inference_report.c)
 * and immutable after it was published, except for the members named in
 * tiers_state.h. It owns its name, IR, queries and sites; code instances in its
 * lists belong to the tiers. Collections free it (collect.c).
 */

kiln_code *kiln__code_new(kiln_context *context, kiln__instance *instance,
                          const kiln_config *config, uint64_t world)
{
    kiln_code *code = kiln__allocate(&context->alloc, sizeof *code);

    if (code == NULL)
        return NULL;
    code->context = context;
    code->frontend = instance->function->frontend;
    code->instance = instance;
    code->config = config;
    code->inferred_world = world;
    code->min_world = world;
    atomic_init(&code->max_world, UINT64_MAX);
    return code;
}

kiln_status kiln__code_add_site(kiln_code *code, const char *name, int32_t kind)
{
    const kiln_alloc *alloc = &code->context->alloc;
    kiln__site_use site = {.kind = kind};

    for (size_t i = 0; i < code->sites.count; i++)
        if (code->sites.items[i].kind == kind &&
            strcmp(code->sites.items[i].name, name) == 0)
            return KILN_OK;
    site.name = kiln__string_copy(alloc, name);
    if (site.name != NULL && kiln__array_push(alloc, &code->sites, site))
        return KILN_OK;
    kiln__string_free(alloc, (char *)(uintptr_t)site.name);
    return KILN_ENOMEM;
}

void kiln__code_clear_sites(kiln_code *code)
{
    for (size_t i = 0; i < code->sites.count; i++)
        kiln__string_free(&code->context->alloc,
                          (char *)(uintptr_t)code->sites.items[i].name);
    code->sites.count = 0;
}

void kiln__code_clear_queries(kiln_code *code)
{
    for (size_t i = 0; i < code->queries.count; i++)
        kiln__deallocate(&code->context->alloc,
                         (void *)(uintptr_t)code->queries.items[i].data,
                         code->queries.items[i].size);
    code->queries.count = 0;
}

void kiln__code_free(kiln_code *code)
{
    const kiln_alloc *alloc = &code->context->alloc;

    kiln__attached_free(alloc, code->attached);
    kiln__code_clear_queries(code);
    kiln__array_dispose(alloc, &code->queries);
    kiln__array_dispose(alloc, &code->uses);
    kiln__code_clear_sites(code);
    kiln__array_dispose(alloc, &code->sites);
    kiln__array_dispose(alloc, &code->callees);
    kiln__array_dispose(alloc, &code->depends);
    kiln__array_dispose(alloc, &code->callers);
    kiln__array_dispose(alloc, &code->others);
    kiln__deallocate(alloc, code->ir, code->ir_size);
    kiln__string_free(alloc, code->name);
    kiln__deallocate(alloc, code, sizeof *code);
}

void kiln__code_list_remove(kiln__code_list *list, const kiln_code *code)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] != code)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

kiln_frontend *kiln__code_frontend(const kiln_code *code)
{
    return code->frontend;
}

const kiln_type *const *kiln__code_types(const kiln_code *code, size_t *count)
{
    *count = code->instance->count;
    return code->instance->types;
}

const kiln_code *const *kiln__code_callees(const kiln_code *code, size_t *count)
{
    *count = code->callees.count;
    return (const kiln_code *const *)code->callees.items;
}

int kiln__code_is_record(const kiln_code *code)
{
    return code->is_record;
}

int kiln__code_is_runtime(const kiln_code *code)
{
    return code->is_runtime;
}

const kiln__library_use *kiln__code_uses(const kiln_code *code, size_t *count)
{
    *count = code->uses.count;
    return code->uses.items;
}

const kiln__site_use *kiln__code_sites(const kiln_code *code, size_t *count)
{
    *count = code->sites.count;
    return code->sites.items;
}

/* ---- the public accessors ---- */

const char *kiln_code_name(const kiln_code *code)
{
    return code != NULL ? code->name : NULL;
}

kiln_signature kiln_code_signature(const kiln_code *code)
{
    kiln_signature signature = {0};

    if (code != NULL) {
        signature.function = code->instance->function;
        signature.types = code->instance->types;
        signature.count = code->instance->count;
    }
    return signature;
}

const kiln_code *kiln_code_callee(const kiln_code *code, size_t index)
{
    return code != NULL && index < code->callees.count
               ? kiln__code_as_lowered(code->callees.items[index])
               : NULL;
}

kiln_digest kiln_code_digest(const kiln_code *code)
{
    kiln_digest none = {0};

    return code != NULL ? code->digest : none;
}

const void *kiln_code_ir(const kiln_code *code, size_t *size)
{
    if (size != NULL)
        *size = code != NULL ? code->ir_size : 0;
    return code != NULL ? code->ir : NULL;
}

const kiln_type *kiln_code_result(const kiln_code *code)
{
    return code != NULL ? code->result : NULL;
}

void kiln_code_worlds(const kiln_code *code, uint64_t *minimum,
                      uint64_t *maximum)
{
    if (minimum != NULL)
        *minimum = code != NULL ? code->min_world : 0;
    if (maximum != NULL)
        *maximum = code != NULL ? atomic_load(&code->max_world) : 0;
}

int32_t kiln_code_is_valid(const kiln_code *code)
{
    return code != NULL && kiln__code_is_good(code);
}
