/* stores.c - what stands behind the tiers: nothing yet. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores.h"

#include "cache_settings.h"

kiln__cache_mode kiln__stores_mode(const kiln_context *context)
{
    static const kiln__cache_mode modes[] = {
        [KILN_CACHE_MODE_OFF] = KILN__CACHE_OFF,
        [KILN_CACHE_MODE_READ_ONLY] = KILN__CACHE_READ_ONLY,
        [KILN_CACHE_MODE_READ_WRITE] = KILN__CACHE_READ_WRITE,
        [KILN_CACHE_MODE_MUST_HIT] = KILN__CACHE_MUST_HIT,
        [KILN_CACHE_MODE_REFRESH] = KILN__CACHE_REFRESH,
        [KILN_CACHE_MODE_VERIFY] = KILN__CACHE_VERIFY,
    };

    return modes[context->cache->mode];
}

const char *kiln__stores_salt(const kiln_context *context)
{
    return context->cache->salt;
}

const char *kiln__stores_trace(const kiln_context *context)
{
    return context->cache->trace;
}

uint64_t kiln__stores_mem_size(const kiln_context *context)
{
    return context->cache->mem_size;
}

uint64_t kiln__stores_wait_ms(const kiln_context *context)
{
    return context->cache->wait_ms;
}

int kiln__stores_locks(const kiln_context *context)
{
    return context->cache->locks;
}

static int tier_is_on(const kiln_context *context, int32_t kind)
{
    return !(context->cache->tiers_off & 1u << kiln__entry_tier(kind));
}

int kiln__stores_read(const kiln_context *context, int32_t kind)
{
    const kiln__cache_mode mode = kiln__stores_mode(context);

    return mode != KILN__CACHE_OFF && mode != KILN__CACHE_REFRESH &&
           tier_is_on(context, kind);
}

int kiln__stores_write(const kiln_context *context, int32_t kind)
{
    const kiln__cache_mode mode = kiln__stores_mode(context);

    return (mode == KILN__CACHE_READ_WRITE || mode == KILN__CACHE_REFRESH ||
            mode == KILN__CACHE_VERIFY) &&
           tier_is_on(context, kind);
}

kiln_status kiln__stores_get(kiln__stored *out, kiln_context *context,
                             int32_t kind, const kiln_key *key)
{
    (void)out;
    (void)context;
    (void)kind;
    (void)key;
    return KILN_ENOTFOUND;
}

void kiln__stored_release(kiln__stored *stored)
{
    kiln_blob_release(&stored->bytes);
}

void kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                      int replace)
{
    (void)context;
    (void)entry;
    (void)replace;
}

void kiln__stores_reject(kiln_context *context, const kiln__stored *stored,
                         kiln__entry_fault fault)
{
    (void)context;
    (void)stored;
    (void)fault;
}

kiln_status kiln__stores_new(kiln_context *context, kiln_error **error)
{
    (void)context;
    (void)error;
    return KILN_OK;
}

void kiln__stores_free(kiln_context *context)
{
    (void)context;
}
