/* kiln/sys/store.h - write your own store behind the tiers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SYS_STORE_H
#define KILN_SYS_STORE_H

#include "kiln/error.h"

KILN_BEGIN_DECLS

/*
 * A store keeps bytes under keys. It may lose any entry at any time; it must
 * never make one up. Functions are called from any thread, without a lock held.
 * They may call Kiln as callbacks may (kiln/host.h).
 * Members past the end of an older table count as NULL.
 *
 * kiln_context_add_store() puts a store behind a context's tiers. The tiers
 * keep envelopes there, which name their key and carry checksums. So a store
 * need not protect the bytes against damage, and Kiln checks that they belong
 * to the key. Kiln drops an error that a function makes, and treats it as a
 * miss, or as an entry that is not kept.
 */

/** The key of an entry: a digest and the full encoded key. */
typedef struct kiln_key {
    kiln_digest digest;
    const void *encoded; /* compared in full on every hit */
    size_t encoded_size; /* in bytes */
} kiln_key;

typedef struct kiln_store_ops {
    size_t size;      /* sizeof(kiln_store_ops), as the implementer compiled
                         it */
    const char *name; /* for statistics and logs: "memory", "disk" */

    /** Lends the entry of `key`, or returns KILN_ENOTFOUND and no error. */
    kiln_status (*get)(void *self, const kiln_key *key, kiln_blob *out,
                       kiln_error **error);
    /** Keeps a copy of `bytes`. The first writer wins; storing a key twice is
        no error. KILN_EREADONLY from a store that takes no entries. */
    kiln_status (*put)(void *self, const kiln_key *key, const void *bytes,
                       size_t size, kiln_error **error);
    /** Frees the store. Kiln has released all blobs that it lent. */
    void (*free)(void *self);
    /* The functions above are required, since 0.1. */

    /** Optional. Drops the entry of `key`; another writer may store it again at
        any time. Kiln calls it for an entry that is damaged or outdated, before
        it puts the new one; never in a mode that does not write. Without it the
       old entry stays, since the first writer wins: a process that finds the
       result in no other store compiles it again. */
    kiln_status (*remove)(void *self, const kiln_key *key, kiln_error **error);
    /** Optional. Stores how many entries and bytes the store holds. */
    kiln_status (*stat)(void *self, uint64_t *entries, uint64_t *bytes);
} kiln_store_ops;

KILN_END_DECLS

#endif /* KILN_SYS_STORE_H */
