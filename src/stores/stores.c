/* stores.c - what stands behind the tiers: nothing yet. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores.h"

kiln__cache_mode kiln__stores_mode(const kiln_context *context)
{
    (void)context;
    return KILN__CACHE_OFF;
}

int kiln__stores_read(const kiln_context *context, int32_t kind)
{
    (void)context;
    (void)kind;
    return 0;
}

int kiln__stores_write(const kiln_context *context, int32_t kind)
{
    (void)context;
    (void)kind;
    return 0;
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
