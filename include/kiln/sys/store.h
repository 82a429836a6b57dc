/* kiln/sys/store.h - write your own store behind the tiers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SYS_STORE_H
#define KILN_SYS_STORE_H

#include "kiln/error.h"

KILN_BEGIN_DECLS

/*
 * A store keeps bytes under keys. It may lose anything at any time; it must
 * never invent. Functions are called from any thread, without a lock held.
 * Members behind the end of an older table count as NULL.
 *
 * kiln_context_add_store() puts one behind a context's tiers. What these keep
 * there are envelopes that name their key and carry checksums: a store need
 * not protect bytes against damage, and it is checked that they are those of
 * the key. An error that a function makes is dropped: it is a miss, or an
 * entry that is not kept.
 */

/** What an entry is filed under: a digest and the full encoded key. */
typedef struct kiln_key {
    kiln_digest digest;
    const void *encoded; /* compared in full on every hit */
    size_t encoded_size; /* in bytes */
} kiln_key;

typedef struct kiln_store_ops {
    size_t size;      /* sizeof(kiln_store_ops), as the implementer compiled */
    const char *name; /* for statistics and logs: "memory", "disk" */

    /** Lends the entry of `key`, or returns KILN_ENOTFOUND and no error. */
    kiln_status (*get)(void *self, const kiln_key *key, kiln_blob *out,
                       kiln_error **error);
    /** Keeps a copy of `bytes`. The first writer wins; twice is no error.
        KILN_EREADONLY from a store that takes none. */
    kiln_status (*put)(void *self, const kiln_key *key, const void *bytes,
                       size_t size, kiln_error **error);
    /** Ends the store. Blobs that it lent were released before. */
    void (*free)(void *self);
    /* The functions above are required, since 0.1. */

    /** Optional. Drops `key`; it may be back at any time. */
    kiln_status (*remove)(void *self, const kiln_key *key, kiln_error **error);
    /** Optional. Counts entries and bytes held. */
    kiln_status (*stat)(void *self, uint64_t *entries, uint64_t *bytes);
} kiln_store_ops;

KILN_END_DECLS

#endif /* KILN_SYS_STORE_H */
