/* draft.c - entries on their way to the stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report.h"
#include "state.h"
#include "stores.h"

void kiln__draft_init(kiln__draft *draft, const kiln_alloc *alloc, int32_t kind)
{
    *draft = (kiln__draft){.entry = {.kind = kind}};
    kiln__encoder_init(&draft->key, alloc);
    kiln__encoder_init(&draft->meta, alloc);
}

kiln_status kiln__draft_finish(kiln__draft *draft, const kiln_key *key)
{
    if (draft->key.failed || draft->meta.failed)
        return KILN_ENOMEM;
    draft->entry.key = key ? *key
                           : (kiln_key){kiln__encoder_digest(&draft->key),
                                        draft->key.bytes, draft->key.size};
    draft->entry.meta = draft->meta.bytes;
    draft->entry.meta_size = draft->meta.size;
    return KILN_OK;
}

void kiln__draft_put(kiln_context *context, const kiln__draft *draft)
{
    kiln__stores_put(context, &draft->entry,
                     kiln__stores_mode(context) == KILN__CACHE_REFRESH);
}

void kiln__draft_dispose(kiln__draft *draft)
{
    kiln__encoder_dispose(&draft->key);
    kiln__encoder_dispose(&draft->meta);
}
