/* attachment.c - results that other consumers attach to a code instance. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "options.h"
#include "state.h"

/* With the lock held. */
static kiln__attached *find(const kiln_code *code, const kiln_config *config,
                            const char *consumer)
{
    kiln__attached *at = code->attached;

    while (at && (at->config != config || strcmp(at->consumer, consumer)))
        at = at->next;
    return at;
}

kiln_status kiln_attachment_get(void **out, const kiln_code *code,
                                const kiln_config *config, const char *consumer)
{
    const kiln__attached *found;

    if (!out || !code || !consumer)
        return KILN_EINVAL;
    kiln__mutex_lock(&code->context->tiers->lock);
    found = find(code, config, consumer);
    kiln__mutex_unlock(&code->context->tiers->lock);
    if (!found)
        return KILN_ENOTFOUND;
    *out = found->attachment.value;
    return KILN_OK;
}

static void attached_free_one(const kiln_alloc *alloc, kiln__attached *attached,
                              int destroy)
{
    if (destroy && attached->attachment.destroy)
        attached->attachment.destroy(attached->attachment.value);
    kiln__string_free(alloc, attached->consumer);
    kiln__deallocate(alloc, attached, sizeof *attached);
}

void kiln__attached_free(const kiln_alloc *alloc, kiln__attached *attached)
{
    while (attached) {
        kiln__attached *next = attached->next;

        attached_free_one(alloc, attached, 1);
        attached = next;
    }
}

static kiln__attached *attached_new(const kiln_alloc *alloc,
                                    const kiln_config *config,
                                    const char *consumer,
                                    const kiln_attachment *attachment)
{
    kiln__attached *made = kiln__allocate(alloc, sizeof *made);

    if (!made)
        return NULL;
    made->config = config;
    made->attachment = *attachment;
    made->consumer = kiln__string_copy(alloc, consumer);
    if (!made->consumer) {
        kiln__deallocate(alloc, made, sizeof *made);
        return NULL;
    }
    return made;
}

kiln_status kiln_attachment_put(void **out, const kiln_code *code,
                                const kiln_config *config, const char *consumer,
                                const kiln_attachment *attachment)
{
    kiln_code *owner = (kiln_code *)(uintptr_t)code;
    kiln_attachment given;
    kiln__attached *made;
    kiln__attached *earlier;
    void *value;

    if (!code || !consumer || !attachment ||
        kiln__options_read(&given, sizeof given, attachment) != KILN_OK)
        return KILN_EINVAL;
    made = attached_new(&code->context->alloc, config, consumer, &given);
    if (!made)
        return KILN_ENOMEM;

    kiln__mutex_lock(&code->context->tiers->lock);
    earlier = find(code, config, consumer);
    if (!earlier) {
        made->next = owner->attached;
        owner->attached = made;
    }
    value = earlier ? earlier->attachment.value : given.value;
    kiln__mutex_unlock(&code->context->tiers->lock);
    if (earlier)
        attached_free_one(&code->context->alloc, made, 1);
    if (out)
        *out = value;
    return KILN_OK;
}
