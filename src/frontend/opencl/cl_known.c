/* cl_known.c - entries that are written to packs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/map.h"
#include "frontend/opencl/cl_program.h"
#include "stores/stores.h"
#include "tiers/delta.h"

/*
 * A pack that saves a process from clang needs the entries about its texts,
 * beside what was compiled from them. All that were found or made are kept as
 * long as the frontend lives.
 */

typedef struct known {
    kiln__arena arena; /* for what `entry` points to */
    kiln__entry entry;
    uint64_t order; /* position among everything that came into the tiers */
} known;

static void known_free(const kiln_alloc *alloc, known *k)
{
    kiln__arena_dispose(&k->arena);
    kiln__deallocate(alloc, k, sizeof *k);
}

static known *copy(kiln__cl *cl, const kiln__entry *entry)
{
    known *k = kiln__allocate(cl->alloc, sizeof *k);

    if (k == NULL)
        return NULL;
    kiln__arena_init(&k->arena, cl->alloc);
    k->entry = (kiln__entry){.kind = entry->kind,
                             .relocation = entry->relocation,
                             .key = entry->key,
                             .meta_size = entry->meta_size,
                             .payload_size = entry->payload_size};
    k->entry.key.encoded = kiln__arena_copy(&k->arena, entry->key.encoded,
                                            entry->key.encoded_size);
    k->entry.meta = kiln__arena_copy(&k->arena, entry->meta, entry->meta_size);
    k->entry.payload =
        kiln__arena_copy(&k->arena, entry->payload, entry->payload_size);
    k->order = kiln__tiers_next(cl->context);
    if (k->arena.failed) {
        known_free(cl->alloc, k);
        return NULL;
    }
    return k;
}

static int is_same(const kiln__entry *a, const kiln__entry *b)
{
    return a->meta_size == b->meta_size && a->payload_size == b->payload_size &&
           memcmp(a->meta, b->meta, a->meta_size) == 0 &&
           (a->payload_size == 0 ||
            memcmp(a->payload, b->payload, a->payload_size) == 0);
}

static int is_known(kiln__cl *cl, const kiln__entry *entry)
{
    const known *k;
    int is_equal;

    kiln__mutex_lock(&cl->lock);
    k = kiln__map_get(&cl->known, entry->key.digest);
    is_equal = k != NULL && is_same(&k->entry, entry);
    kiln__mutex_unlock(&cl->lock);
    return is_equal;
}

/* An entry that was known with another content is replaced. */
void kiln__cl_known_add(kiln__cl *cl, const kiln__entry *entry)
{
    known *old, *k = is_known(cl, entry) ? NULL : copy(cl, entry);

    if (k == NULL)
        return;
    kiln__mutex_lock(&cl->lock);
    old = kiln__map_get(&cl->known, entry->key.digest);
    if (!kiln__map_set(&cl->known, entry->key.digest, k))
        old = k;
    kiln__mutex_unlock(&cl->lock);
    if (old != NULL)
        known_free(cl->alloc, old);
}

static void free_one(kiln_digest key, void *value, void *env)
{
    (void)key;
    known_free(env, value);
}

void kiln__cl_known_free(kiln__cl *cl)
{
    kiln__map_each(&cl->known, free_one, (void *)(uintptr_t)cl->alloc);
    kiln__map_dispose(&cl->known);
}

typedef struct giving {
    uint64_t since;
    const kiln__delta_taker *taker;
    kiln_status status;
} giving;

static void give_one(kiln_digest key, void *value, void *env)
{
    const known *k = value;
    giving *g = env;

    (void)key;
    if (g->status == KILN_OK && k->order > g->since)
        g->status = g->taker->take(g->taker->env, &k->entry);
}

/* The taker writes into memory, and calls nothing of the frontend's. */
kiln_status kiln__cl_delta(void *self, uint64_t since,
                           const kiln__delta_taker *taker)
{
    kiln__cl *cl = self;
    giving g = {.since = since, .taker = taker};

    kiln__mutex_lock(&cl->lock);
    kiln__map_each(&cl->known, give_one, &g);
    kiln__mutex_unlock(&cl->lock);
    return g.status;
}
