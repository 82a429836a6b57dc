/* method_instance.c - the table of method instances, and their code
   instances. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/digest/digest.h"
#include "base/error.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/method_instance.h"
#include "tiers/worlds.h"

/*
 * A method instance is a signature with an owner token. It has all its code
 * instances, in two lists: those that nothing has ended, and the others. It
 * also remembers a failure with the worlds of that failure. All functions are
 * called with the tiers' lock held.
 */

/* Types, functions and configs are interned, so within a context addresses
   identify them. What is stored uses the keys of key.h instead. */
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

    if (instance == NULL)
        return NULL;
    instance->function = signature->function;
    instance->count = signature->count;
    instance->owner = owner;
    if (bytes) {
        instance->types = kiln__allocate_copy(alloc, signature->types, bytes);
        if (instance->types == NULL) {
            kiln__deallocate(alloc, instance, sizeof *instance);
            return NULL;
        }
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
    for (kiln__instance *at = first; at != NULL; at = at->alias)
        if (is_same(at, signature, owner))
            return at;
    if (!create)
        return NULL;
    made = instance_new(alloc, signature, owner);
    if (made == NULL)
        return NULL;
    if (first != NULL) {
        made->alias = first->alias;
        first->alias = made;
    } else if (!kiln__map_set(&tiers->instances,
                              kiln__map_words(key.words, key.count), made)) {
        kiln__instance_free(alloc, made);
        return NULL;
    }
    return made;
}

/* ---- its code instances ---- */

/*
 * Code instances that have ended matter only to requests in old worlds, and
 * there may be many of them. `last_worlds` says for which worlds they need not
 * be searched. The one that was used last comes first in the list.
 */

static int may_have_ended(const kiln__instance *instance,
                          const kiln__worlds *worlds)
{
    for (size_t i = 0; i < instance->last_worlds.count; i++) {
        const kiln__world *last = &instance->last_worlds.items[i];
        const uint64_t world = kiln__worlds_of(worlds, last->frontend);

        if (world && world <= last->number)
            return 1;
    }
    return instance->is_vague;
}

/* Returns the link to a complete instance, else to a record, else NULL. */
static kiln_code **find_for(kiln_code **list, const kiln__worlds *worlds,
                            int or_record, kiln_frontend **untaken)
{
    kiln_code **record = NULL;
    kiln_frontend *of_record = NULL;

    for (kiln_code **link = list; *link != NULL; link = &(*link)->next) {
        if (((*link)->is_record && (record != NULL || !or_record)) ||
            !kiln__code_is_for(*link, worlds, untaken))
            continue;
        if (!(*link)->is_record)
            return link;
        record = link;
        of_record = *untaken;
    }
    *untaken = of_record;
    return record;
}

kiln_code *kiln__instance_code(kiln__instance *instance,
                               const kiln__worlds *worlds, int or_record,
                               kiln_frontend **untaken)
{
    kiln_code **link = find_for(&instance->codes, worlds, or_record, untaken);
    kiln_code *code;

    if (link != NULL || !may_have_ended(instance, worlds))
        return link != NULL ? *link : NULL;
    link = find_for(&instance->ended, worlds, or_record, untaken);
    if (link == NULL)
        return NULL;
    code = *link;
    *link = code->next;
    code->next = instance->ended;
    instance->ended = code;
    return code;
}

/* If there is no memory for the note, ended instances are searched each
   time. */
static void note_last(kiln__instance *instance, kiln_frontend *frontend,
                      uint64_t world)
{
    const kiln_alloc *alloc = &frontend->context->alloc;
    const kiln__world made = {frontend, world};

    if (world == UINT64_MAX)
        return;
    for (size_t i = 0; i < instance->last_worlds.count; i++) {
        kiln__world *last = &instance->last_worlds.items[i];

        if (last->frontend != frontend)
            continue;
        if (last->number < world)
            last->number = world;
        return;
    }
    instance->is_vague |=
        !kiln__array_push(alloc, &instance->last_worlds, made);
}

static void note_ranges(kiln__instance *instance, const kiln_code *code)
{
    note_last(instance, code->frontend, atomic_load(&code->max_world));
    for (size_t i = 0; i < code->others.count; i++)
        note_last(instance, code->others.items[i].frontend,
                  atomic_load(&code->others.items[i].maximum));
}

static void unlink_code(kiln_code **list, const kiln_code *code)
{
    while (*list != code)
        list = &(*list)->next;
    *list = code->next;
}

void kiln__instance_add(kiln__instance *instance, kiln_code *code)
{
    kiln_code **list = &instance->codes;

    if (!kiln__code_is_good(code)) {
        code->has_ended = 1;
        note_ranges(instance, code);
        list = &instance->ended;
    }
    code->next = *list;
    *list = code;
}

void kiln__instance_note_end(kiln__instance *instance, kiln_code *code)
{
    note_ranges(instance, code);
    if (code->has_ended)
        return;
    unlink_code(&instance->codes, code);
    code->has_ended = 1;
    code->next = instance->ended;
    instance->ended = code;
}

static void sweep(kiln_code **link)
{
    while (*link != NULL) {
        if (!(*link)->kept)
            *link = (*link)->next;
        else
            link = &(*link)->next;
    }
}

void kiln__instance_sweep(kiln__instance *instance)
{
    sweep(&instance->codes);
    sweep(&instance->ended);
    if (instance->ended != NULL)
        return;
    instance->last_worlds.count = 0;
    instance->is_vague = 0;
}

/* ---- failures ---- */

int kiln__instance_fails(const kiln__instance *instance,
                         const kiln__worlds *worlds, kiln_frontend **untaken)
{
    *untaken = NULL;
    for (size_t i = 0; i < instance->failed_worlds.count; i++) {
        const kiln__world *failed = &instance->failed_worlds.items[i];
        const uint64_t world = kiln__worlds_of(worlds, failed->frontend);

        if (world && world != failed->number)
            return 0;
        if (!world && !*untaken)
            *untaken = failed->frontend;
    }
    return instance->failed_worlds.count > 0;
}

void kiln__instance_remember(kiln__instance *instance,
                             const kiln__worlds *worlds, kiln_status status,
                             kiln_error *error)
{
    const size_t count = worlds->taken.count;

    instance->failed_worlds.count = 0;
    if (!kiln__array_reserve(worlds->alloc, &instance->failed_worlds, count))
        return;
    memcpy(instance->failed_worlds.items, worlds->taken.items,
           count * sizeof *worlds->taken.items);
    instance->failed_worlds.count = count;
    kiln_error_free(instance->failed_error);
    instance->failed_error = kiln__error_retain(error);
    instance->failed_status = status;
}

void kiln__instance_free(const kiln_alloc *alloc, kiln__instance *instance)
{
    kiln_error_free(instance->failed_error);
    kiln__array_dispose(alloc, &instance->failed_worlds);
    kiln__array_dispose(alloc, &instance->last_worlds);
    kiln__deallocate(alloc, instance->types,
                     instance->count * sizeof *instance->types);
    kiln__deallocate(alloc, instance, sizeof *instance);
}
