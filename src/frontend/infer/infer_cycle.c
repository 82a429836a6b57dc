/* infer_cycle.c - assumptions about methods that call themselves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/infer/infer.h"

/*
 * The head of a cycle infers its body again until two things hold: its
 * assumption about itself is the result, and so is the assumption of every
 * other member that calls itself. Members end after one attempt, and the root
 * of the chain keeps their results for the next one. So the attempts of nested
 * cycles do not multiply.
 */

static kiln__recalled *find_recalled(const kiln__infer *in)
{
    kiln__infer *root = in->chain.root;
    const kiln_signature *own = in->task.signature;

    for (size_t i = 0; i < root->chain.recalled.count; i++) {
        kiln__recalled *at = &root->chain.recalled.items[i];

        if (at->signature.function == own->function &&
            at->signature.count == own->count &&
            (own->count == 0 || memcmp(at->signature.types, own->types,
                                       own->count * sizeof *own->types) == 0))
            return at;
    }
    return NULL;
}

const kiln_type *kiln__infer_recall(const kiln__infer *in)
{
    const kiln__recalled *found = find_recalled(in);

    return found == NULL ? NULL : found->result;
}

kiln_status kiln__infer_remember(kiln__infer *in, const kiln_type *result)
{
    kiln__infer *root = in->chain.root;
    kiln__recalled *found = find_recalled(in);
    kiln__recalled recalled = {*in->task.signature, result};

    if (found != NULL) {
        found->result = result;
        return KILN_OK;
    }
    recalled.signature.types = kiln__allocate_array(
        in->alloc, in->task.signature->count + 1, sizeof(kiln_type *));
    if (recalled.signature.types == NULL)
        return KILN_ENOMEM;
    if (in->task.signature->count > 0)
        memcpy((void *)(uintptr_t)recalled.signature.types,
               in->task.signature->types,
               in->task.signature->count * sizeof(kiln_type *));
    if (kiln__array_push(root->alloc, &root->chain.recalled, recalled))
        return KILN_OK;
    kiln__deallocate(in->alloc, (void *)(uintptr_t)recalled.signature.types,
                     (in->task.signature->count + 1) * sizeof(kiln_type *));
    return KILN_ENOMEM;
}

void kiln__infer_forget(kiln__infer *in)
{
    for (size_t i = 0; i < in->chain.recalled.count; i++) {
        const kiln_signature *s = &in->chain.recalled.items[i].signature;

        kiln__deallocate(in->alloc, (void *)(uintptr_t)s->types,
                         (s->count + 1) * sizeof(kiln_type *));
    }
    kiln__array_dispose(in->alloc, &in->chain.recalled);
}
