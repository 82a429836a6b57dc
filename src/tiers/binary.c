/* binary.c - tier 3's artifacts, by binary key. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "state.h"

/*
 * Two jobs with one meaning share an artifact: a method redefined to what it
 * was before, or one function under two names. The full encoded key is
 * compared on every hit, so that a collision of digests is only a miss. One
 * that holds addresses of the host's objects is replaced: a newer one is made
 * only where those are out of date.
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
    const kiln_artifact *found;

    kiln__mutex_lock(&tiers->lock);
    found = kiln__map_get(&tiers->artifacts, key);
    if (found)
        found = key_is(found, encoded, encoded_size)
                    ? kiln_artifact_retain(found)
                    : NULL;
    kiln__mutex_unlock(&tiers->lock);
    return found;
}

kiln_status kiln__artifact_keep(kiln_context *context,
                                const kiln_artifact *artifact)
{
    struct kiln__tiers *tiers = context->tiers;
    const kiln_artifact *earlier, *dropped = NULL;
    kiln_status status = KILN_OK;
    int kept = 0;

    kiln__mutex_lock(&tiers->lock);
    earlier = kiln__map_get(&tiers->artifacts, artifact->key);
    if (!earlier || earlier->roots) {
        kept = kiln__map_set(&tiers->artifacts, artifact->key,
                             (void *)(uintptr_t)artifact);
        if (kept) {
            kiln_artifact_retain(artifact);
            dropped = earlier;
        } else {
            status = KILN_ENOMEM;
        }
    }
    kiln__mutex_unlock(&tiers->lock);
    if (kept)
        kiln__count_held(context, KILN_TIER_BINARY, 1, (int64_t)artifact->size);
    if (dropped)
        kiln__count_held(context, KILN_TIER_BINARY, -1,
                         -(int64_t)dropped->size);
    kiln_artifact_release(dropped);
    return status;
}
