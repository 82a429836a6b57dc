/* reclaim.c - frees texts whose methods are visible in no world any more. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/program/program_tables.h"

/*
 * A method is in its source, with the whole text that defined it, so a source
 * is freed as a whole. Two conditions must hold. It gave no name a meaning,
 * since types, constants and other names refer to it for ever. And each of its
 * methods was replaced or deleted before the oldest world that is still in use.
 * So redefining one function again and again keeps only as many texts as are in
 * use.
 */

static void mark_generic(kiln_digest key, void *value, void *env)
{
    const kiln__generic *generic = value;
    const uint64_t oldest = *(const uint64_t *)env;

    (void)key;
    for (kiln__method *m = generic->methods; m != NULL; m = m->next)
        m->source->needed = 1;
    for (kiln__method *m = generic->retired; m != NULL; m = m->next)
        if (atomic_load_explicit(&m->max_world, memory_order_relaxed) >= oldest)
            m->source->needed = 1;
}

static void unlink_methods(kiln_digest key, void *value, void *env)
{
    kiln__generic *generic = value;
    kiln__method **link = &generic->retired;

    (void)key;
    (void)env;
    while (*link != NULL)
        if ((*link)->source->needed)
            link = &(*link)->next;
        else
            *link = (*link)->next;
}

static kiln__source_node *take_unneeded(kiln__language *language)
{
    kiln__source_node **link = &language->sources;
    kiln__source_node *taken = NULL;

    while (*link != NULL) {
        kiln__source_node *node = *link;

        if (node->source->needed) {
            link = &node->next;
            continue;
        }
        *link = node->next;
        node->next = taken;
        taken = node;
    }
    return taken;
}

void kiln__language_reclaim(kiln__language *language, uint64_t oldest)
{
    kiln__source_node *unneeded;

    kiln__mutex_lock(&language->change);
    kiln__language_write(language);
    for (kiln__source_node *n = language->sources; n != NULL; n = n->next)
        n->source->needed = n->has_names;
    kiln__map_each(&language->generics, mark_generic, &oldest);
    kiln__map_each(&language->generics, unlink_methods, NULL);
    unneeded = take_unneeded(language);
    atomic_store_explicit(&language->reclaimed, oldest, memory_order_relaxed);
    kiln__language_unlock(language);
    kiln__mutex_unlock(&language->change);
    kiln__sources_free(language, unneeded);
}
