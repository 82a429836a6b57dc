/* store_chain.h - the list of stores, in the order in which they are asked. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_STORE_CHAIN_H
#define KILN_STORES_STORE_CHAIN_H

#include <stdatomic.h>

#include "stores/loose/loose.h"

/*
 * Links are only ever added, under the lock, and live as long as the context,
 * so that readers walk the list without the lock.
 */
typedef struct kiln__store_link kiln__store_link;
struct kiln__store_link {
    const kiln_context *context;
    kiln_store_ops ops; /* missing members are NULL */
    void *self;
    kiln__store_find find; /* NULL: ops.get */
    int32_t priority;
    int is_packed;
    int is_host;        /* the host added it: it takes puts, and is not
                           trusted */
    kiln__loose *loose; /* if it is the disk store */
    kiln_pack *pack;    /* if it is a pack */
    atomic_int takes_none;
    /* Released when a link is added; acquired by readers. */
    _Atomic(kiln__store_link *) next;
};

struct kiln__stores {
    kiln__mutex lock; /* held while a link is added */
    kiln__fork_guard guard;
    atomic_int is_ready; /* whether all built-in links have been added */
    /* Which have been added so far; under the lock. */
    int has_network, has_disk, has_packs;
    size_t searched; /* how many parts of the search path have been added */
    _Atomic(kiln__store_link *) first;
    kiln__loose *disk;          /* or NULL; its link is also in the list */
    atomic_int disk_is_network; /* whether nothing can be locked there; -1: not
                                   asked */
};

/* Returns the first link. The first call finds out which stores there are. */
kiln__store_link *kiln__chain_first(kiln_context *context);
static inline kiln__store_link *kiln__chain_next(const kiln__store_link *link)
{
    return atomic_load_explicit(&link->next, memory_order_acquire);
}

/* Adds a link, under the lock. KILN_ENOMEM. */
kiln_status kiln__chain_add(kiln_context *context,
                            const kiln__store_source *source);
/* KILN_OK or KILN_ENOTFOUND. `fault` tells why an entry was rejected; for a
   store that could not answer it is KILN__FAULT_COUNT. A rejected entry is
   removed from a store of the host if it `drops`; the disk store knows by
   itself whether it may. */
kiln_status kiln__link_find(kiln__stored *out, kiln__entry_fault *fault,
                            kiln__store_link *link, const kiln_key *key,
                            int drops);
/* KILN_OK; KILN_EREADONLY; or another failure. */
kiln_status kiln__link_put(kiln__store_link *link, const kiln_key *key,
                           const kiln_blob *envelope, int replace);
/* Shows packs of the search path that are not used. */
void kiln__chain_refused(kiln_context *context, kiln__refused_see see,
                         void *env);
/* Shows a pack that is not used because it is no pack or damaged. Closes the
   file. */
void kiln__refused_pack(const kiln_alloc *alloc, int file, const char *path,
                        kiln__refused_see see, void *env);
/* The disk store, or NULL. */
kiln__loose *kiln__stores_disk(kiln_context *context);
void kiln__link_drop(kiln__store_link *link, const kiln__stored *stored);

#endif /* KILN_STORES_STORE_CHAIN_H */
