/* attachment.c - results that consumers attach to code instances. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/attachment.h"
#include "tiers/typed/code_state.h"

/*
 * Each code instance has a list of attached values, by config and consumer.
 * Under the tiers' lock the first value of a consumer wins: the value of a
 * later put, or one that a store had, is destroyed, and the caller gets the
 * first one. Values are freed with their code instance; stored_attachment.c
 * saves and loads them.
 */

/* With the lock held. */
static kiln__attached *find_attached(const kiln_code *code,
                                     const kiln_config *config,
                                     const char *consumer)
{
    kiln__attached *at = code->attached;

    while (at != NULL &&
           (at->config != config || strcmp(at->consumer, consumer)))
        at = at->next;
    return at;
}

static void attached_free_one(const kiln_alloc *alloc, kiln__attached *attached,
                              int destroy)
{
    if (destroy && attached->attachment.destroy != NULL)
        attached->attachment.destroy(attached->attachment.value);
    kiln__string_free(alloc, attached->consumer);
    kiln__deallocate(alloc, attached, sizeof *attached);
}

void kiln__attached_free(const kiln_alloc *alloc, kiln__attached *attached)
{
    while (attached != NULL) {
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

    if (made == NULL)
        return NULL;
    made->config = config;
    made->attachment = *attachment;
    made->consumer = kiln__string_copy(alloc, consumer);
    if (made->consumer == NULL) {
        kiln__deallocate(alloc, made, sizeof *made);
        return NULL;
    }
    return made;
}

/* Attaches the value unless there is one already, which is returned. NULL:
   `made` now belongs to the code instance. */
static kiln__attached *attach(const kiln_code *code, kiln__attached *made)
{
    struct kiln__tiers *tiers = code->context->tiers;
    kiln_code *owner = (kiln_code *)(uintptr_t)code;
    kiln__attached *earlier;

    kiln__mutex_lock(&tiers->lock);
    earlier = find_attached(code, made->config, made->consumer);
    if (earlier == NULL) {
        made->order = ++tiers->order;
        made->next = owner->attached;
        owner->attached = made;
    }
    kiln__mutex_unlock(&tiers->lock);
    return earlier;
}

kiln_status kiln_attachment_put(void **out, const kiln_code *code,
                                const kiln_config *config, const char *consumer,
                                const kiln_attachment *attachment)
{
    kiln_attachment given;
    kiln__attached *made;
    kiln__attached *earlier;

    if (code == NULL || consumer == NULL || attachment == NULL ||
        KILN__OPTIONS_READ(&given, attachment, kiln_attachment, NULL) !=
            KILN_OK)
        return KILN_EINVAL;
    made = attached_new(&code->context->alloc, config, consumer, &given);
    if (made == NULL)
        return KILN_ENOMEM;
    earlier = attach(code, made);
    if (earlier != NULL)
        attached_free_one(&code->context->alloc, made, 1);
    else
        kiln__attached_save(code, made);
    if (out != NULL)
        *out = earlier != NULL ? earlier->attachment.value : given.value;
    return KILN_OK;
}

/* Attaches what a store has; here, too, the first value wins. */
static kiln_status bring_in(void **out, const kiln_code *code,
                            const kiln_config *config, const char *consumer)
{
    kiln_attachment found;
    kiln__attached *made, *earlier;
    int is_packed = 0;

    KILN_TRY(kiln__attached_recall(&found, &is_packed, code, config, consumer));
    made = attached_new(&code->context->alloc, config, consumer, &found);
    if (made == NULL) {
        if (found.destroy != NULL)
            found.destroy(found.value);
        return KILN_ENOMEM;
    }
    made->is_packed = is_packed;
    earlier = attach(code, made);
    if (earlier != NULL)
        attached_free_one(&code->context->alloc, made, 1);
    *out = earlier != NULL ? earlier->attachment.value : found.value;
    return KILN_OK;
}

kiln_status kiln_attachment_get(void **out, const kiln_code *code,
                                const kiln_config *config, const char *consumer)
{
    const kiln__attached *found;

    if (out == NULL || code == NULL || consumer == NULL)
        return KILN_EINVAL;
    kiln__mutex_lock(&code->context->tiers->lock);
    found = find_attached(code, config, consumer);
    kiln__mutex_unlock(&code->context->tiers->lock);
    if (found == NULL)
        return bring_in(out, code, config, consumer);
    *out = found->attachment.value;
    return KILN_OK;
}
