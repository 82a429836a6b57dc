/* instance.c - method instances, by the addresses of interned things. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "state.h"

/* Types, functions and configs are interned, so addresses are identity within
   a context. What is stored outside uses keys.h instead. */
typedef struct addresses {
    uint64_t words[2 + KILN_ARGUMENTS_MAX];
    size_t count;
} addresses;

static void read_addresses(addresses *out, const kiln_signature *signature,
                           kiln_digest owner)
{
    out->count = 2 + signature->count;
    out->words[0] = (uintptr_t)signature->function;
    out->words[1] = kiln__digest_word(owner);
    for (size_t i = 0; i < signature->count; i++)
        out->words[2 + i] = (uintptr_t)signature->types[i];
}

static int is_same(const kiln__instance *instance,
                   const kiln_signature *signature, kiln_digest owner)
{
    return instance->function == signature->function &&
           instance->count == signature->count &&
           kiln__digest_equal(instance->owner, owner) &&
           (signature->count == 0 ||
            memcmp(instance->types, signature->types,
                   signature->count * sizeof *signature->types) == 0);
}

static kiln__instance *instance_new(const kiln_alloc *alloc,
                                    const kiln_signature *signature,
                                    kiln_digest owner)
{
    kiln__instance *instance = kiln__allocate(alloc, sizeof *instance);
    size_t bytes = signature->count * sizeof *instance->types;

    if (!instance)
        return NULL;
    instance->function = signature->function;
    instance->count = signature->count;
    instance->owner = owner;
    if (bytes) {
        instance->types = kiln__allocate(alloc, bytes);
        if (!instance->types) {
            kiln__deallocate(alloc, instance, sizeof *instance);
            return NULL;
        }
        memcpy(instance->types, signature->types, bytes);
    }
    return instance;
}

kiln__instance *kiln__instance_get(struct kiln__tiers *tiers,
                                   const kiln_signature *signature,
                                   kiln_digest owner, int create)
{
    const kiln_alloc *alloc = &tiers->context->alloc;
    kiln__instance *first, *made;
    addresses key;

    read_addresses(&key, signature, owner);
    first = kiln__map_get_words(&tiers->instances, key.words, key.count);
    for (kiln__instance *at = first; at; at = at->alias)
        if (is_same(at, signature, owner))
            return at;
    if (!create)
        return NULL;
    made = instance_new(alloc, signature, owner);
    if (!made)
        return NULL;
    if (first) {
        made->alias = first->alias;
        first->alias = made;
    } else if (!kiln__map_set(&tiers->instances,
                              kiln__map_words(key.words, key.count), made)) {
        kiln__instance_free(alloc, made);
        return NULL;
    }
    return made;
}

kiln_code *kiln__instance_code(const kiln__instance *instance, uint64_t world,
                               int or_record)
{
    kiln_code *record = NULL;

    for (kiln_code *code = instance->codes; code; code = code->next) {
        if (world < code->min_world || world > atomic_load(&code->max_world))
            continue;
        if (!code->is_record)
            return code;
        if (!record)
            record = code;
    }
    return or_record ? record : NULL;
}

void kiln__instance_free(const kiln_alloc *alloc, kiln__instance *instance)
{
    kiln_error_free(instance->failed_error);
    kiln__deallocate(alloc, instance->types,
                     instance->count * sizeof *instance->types);
    kiln__deallocate(alloc, instance, sizeof *instance);
}
