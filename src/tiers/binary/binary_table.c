/* binary_table.c - the artifacts of tier 3, by binary key. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "context/counters.h"
#include "tiers/binary/binary_table.h"
#include "tiers/memory_bounds.h"
#include "tiers/tiers_state.h"

/*
 * Two jobs with the same meaning share an artifact: for example a method that
 * was redefined to an earlier version, or one function under two names. The
 * full encoded key is compared on every hit, so that a collision of digests is
 * only a miss. An artifact that contains addresses of the host's objects is
 * replaced by a newer one, which is made only when the addresses are out of
 * date.
 */

static int key_is(const kiln_artifact *artifact, const void *encoded,
                  size_t encoded_size)
{
    return artifact->encoded_key_size == encoded_size &&
           memcmp(artifact->encoded_key, encoded, encoded_size) == 0;
}

const kiln_artifact *kiln__artifact_find(kiln_context *context, kiln_digest key,
                                         const void *encoded,
                                         size_t encoded_size)
{
    struct kiln__tiers *tiers = context->tiers;
    const kiln_artifact *found = NULL;
    const kiln__kept_artifact *kept;

    kiln__mutex_lock(&tiers->lock);
    kept = kiln__map_get(&tiers->artifacts, key);
    if (kept != NULL && key_is(kept->artifact, encoded, encoded_size))
        found = kiln_artifact_retain(kept->artifact);
    kiln__mutex_unlock(&tiers->lock);
    return found;
}

/* With the lock held. False when out of memory. A resolved artifact whose
   constants may be out of date is replaced, and given to the caller, which
   releases it. */
static int keep_artifact(struct kiln__tiers *tiers,
                         const kiln_artifact *artifact, int is_packed,
                         const kiln_artifact **dropped)
{
    kiln__kept_artifact *kept = kiln__map_get(&tiers->artifacts, artifact->key);

    if (kept != NULL) {
        *dropped = kept->artifact;
    } else {
        kept = kiln__allocate(&tiers->context->alloc, sizeof *kept);
        if (kept == NULL)
            return 0;
        if (!kiln__map_set(&tiers->artifacts, artifact->key, kept)) {
            kiln__deallocate(&tiers->context->alloc, kept, sizeof *kept);
            return 0;
        }
    }
    *kept = (kiln__kept_artifact){kiln_artifact_retain(artifact),
                                  ++tiers->order, is_packed};
    kiln__tiers_grew(tiers, artifact->size);
    return 1;
}

/* With the lock held. */
static int is_wanted(const struct kiln__tiers *tiers,
                     const kiln_artifact *artifact)
{
    const kiln__kept_artifact *earlier =
        kiln__map_get(&tiers->artifacts, artifact->key);

    return earlier == NULL || earlier->artifact->roots != NULL;
}

kiln_status kiln__artifact_keep(kiln_context *context,
                                const kiln_artifact *artifact, int is_packed)
{
    struct kiln__tiers *tiers = context->tiers;
    const kiln_artifact *dropped = NULL;
    kiln_status status = KILN_OK;
    int wanted;

    kiln__mutex_lock(&tiers->lock);
    wanted = is_wanted(tiers, artifact);
    if (wanted && !keep_artifact(tiers, artifact, is_packed, &dropped))
        status = KILN_ENOMEM;
    kiln__mutex_unlock(&tiers->lock);
    if (wanted && status == KILN_OK)
        kiln__count_held(context, KILN_TIER_BINARY, 1, (int64_t)artifact->size);
    if (dropped != NULL)
        kiln__count_held(context, KILN_TIER_BINARY, -1,
                         -(int64_t)dropped->size);
    kiln_artifact_release(dropped);
    return status;
}

void kiln__artifact_exchange(kiln_context *context, const kiln_artifact *old,
                             const kiln_artifact *artifact)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__kept_artifact *kept;
    int is_kept;

    kiln__mutex_lock(&tiers->lock);
    kept = kiln__map_get(&tiers->artifacts, old->key);
    is_kept = kept != NULL && kept->artifact == old;
    if (is_kept)
        kept->artifact = kiln_artifact_retain(artifact);
    kiln__mutex_unlock(&tiers->lock);
    if (is_kept)
        kiln_artifact_release(old);
}

/* ---- artifacts that are not in use ---- */

typedef struct listing {
    kiln__idle_list *out;
    const kiln_alloc *alloc;
    int failed;
} listing;

/* If the table's reference is the only one, no kernel uses the artifact, and
   nobody can take a reference without the lock. An artifact with roots is not
   dropped under a lock, because the host is called for it. */
static void list_idle(kiln_digest key, void *value, void *env)
{
    kiln__kept_artifact *kept = value;
    listing *l = env;
    const kiln__idle idle = {
        .order = kept->order, .size = kept->artifact->size, .artifact = kept};

    (void)key;
    if (atomic_load(&kept->artifact->references) == 1 &&
        kept->artifact->roots == NULL)
        l->failed |= !kiln__array_push(l->alloc, l->out, idle);
}

kiln_status kiln__artifacts_idle(kiln__idle_list *out,
                                 struct kiln__tiers *tiers)
{
    listing l = {.out = out, .alloc = &tiers->context->alloc};

    kiln__map_each(&tiers->artifacts, list_idle, &l);
    return l.failed ? KILN_ENOMEM : KILN_OK;
}

void kiln__artifact_drop(struct kiln__tiers *tiers, kiln__kept_artifact *kept)
{
    kiln__count_held(tiers->context, KILN_TIER_BINARY, -1,
                     -(int64_t)kept->artifact->size);
    (void)kiln__map_remove(&tiers->artifacts, kept->artifact->key);
    kiln_artifact_release(kept->artifact);
    kiln__deallocate(&tiers->context->alloc, kept, sizeof *kept);
}

void kiln__artifact_forget(kiln_context *context, const kiln_artifact *artifact)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__kept_artifact *kept;

    kiln__mutex_lock(&tiers->lock);
    kept = kiln__map_get(&tiers->artifacts, artifact->key);
    if (kept != NULL && kept->artifact == artifact)
        kiln__map_remove(&tiers->artifacts, artifact->key);
    else
        kept = NULL;
    kiln__mutex_unlock(&tiers->lock);
    if (kept == NULL)
        return;
    kiln__count_held(context, KILN_TIER_BINARY, -1, -(int64_t)artifact->size);
    kiln_artifact_release(kept->artifact);
    kiln__deallocate(&context->alloc, kept, sizeof *kept);
}

static void free_kept(kiln_digest key, void *value, void *env)
{
    kiln__kept_artifact *kept = value;

    (void)key;
    kiln_artifact_release(kept->artifact);
    kiln__deallocate(env, kept, sizeof *kept);
}

void kiln__artifacts_free(struct kiln__tiers *tiers)
{
    kiln_alloc alloc = tiers->context->alloc;

    kiln__map_each(&tiers->artifacts, free_kept, &alloc);
    kiln__map_dispose(&tiers->artifacts);
}
