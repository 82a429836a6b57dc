/* runtime_bitcode.h - tier 2: bitcode by runtime key. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_RUNTIME_RUNTIME_BITCODE_H
#define KILN_TIERS_RUNTIME_RUNTIME_BITCODE_H

#include "context/context.h"
#include "tiers/memory_bounds.h"

typedef struct kiln__runtime_entry kiln__runtime_entry;

/* A request for bitcode. */
typedef struct kiln__runtime_query {
    kiln_digest digest; /* of the encoded key */
    const void *encoded;
    size_t encoded_size;
    kiln_digest asker; /* zero: everybody; else the typed digest or the use
                          (kiln__library_use) that asks: the entry is dropped
                          when no code has it any more */
    /* True if it can also be lowered with the kernel; then it is not kept if
       that takes less time than reading it. */
    int is_optional;
    size_t work; /* the work of making it, in any unit; if an entry is given up,
                    so are all that take no more work */
    int is_anew; /* do not ask the stores: their entry was unusable */
} kiln__runtime_query;

typedef enum kiln__runtime_outcome {
    KILN__RUNTIME_FOUND,    /* the entry is lent until it is released */
    KILN__RUNTIME_OWN,      /* the caller builds it, then finishes or fails */
    KILN__RUNTIME_IN_PLACE, /* not worth keeping: lower it with the kernel */
    KILN__RUNTIME_NO_MEMORY
} kiln__runtime_outcome;

/* Finds the entry, waits for its builder, or makes the caller its builder. A
   builder makes no other request until it is done, so that waiting always ends.
   Counts an entry that is found. */
kiln__runtime_outcome kiln__runtime_claim(kiln__runtime_entry **out,
                                          kiln_context *context,
                                          const kiln__runtime_query *query);
/* Copies the builder's bitcode into the entry, which is on loan to the builder
   from now on. After a failure the entry is gone. Counts the request. */
kiln_status kiln__runtime_finish(kiln_context *context,
                                 kiln__runtime_entry *entry,
                                 const void *bitcode, size_t size,
                                 uint64_t make_ns);
/* The builder gives up; threads that wait build for themselves. Counts the
   request. */
void kiln__runtime_fail(kiln_context *context, kiln__runtime_entry *entry);
/* The bitcode of an entry on loan. */
const void *kiln__runtime_bitcode(const kiln__runtime_entry *entry,
                                  size_t *size);
/* Reports how long reading and linking took. An entry that has been read often
   enough is judged; if it is slower to read than to make, it is given up. */
void kiln__runtime_was_read(kiln_context *context, kiln__runtime_entry *entry,
                            uint64_t read_ns);
#define KILN__RUNTIME_READS 3 /* before an entry is judged, by the shortest */
void kiln__runtime_release(kiln_context *context, kiln__runtime_entry *entry);
/* A build failed that read the entry. If a store gave it, it is dropped there,
   and for later requests; it stays on loan. False: no store gave it. */
int kiln__runtime_reject(kiln_context *context, kiln__runtime_entry *entry);

/* ---- for the tiers ---- */

struct kiln__tiers;

typedef kiln__array_of(kiln__runtime_entry *) kiln__runtime_list;
/* With the lock held. Lends the entries that came after `since`, except those
   from packs. The caller releases each, also after a failure. */
kiln_status kiln__runtime_since(kiln__runtime_list *out,
                                struct kiln__tiers *tiers, uint64_t since);
void kiln__runtime_free(struct kiln__tiers *tiers);
/* With the lock held. The first function lists entries that no build reads; the
   second drops such a one. */
kiln_status kiln__runtime_idle(kiln__idle_list *out, struct kiln__tiers *tiers);
void kiln__runtime_drop(struct kiln__tiers *tiers, kiln__runtime_entry *entry);
/* With the lock held. Drops entries that no remaining code asks for. */
void kiln__runtime_sweep(struct kiln__tiers *tiers);
/* In a child of fork(): forgets what other threads were building. */
void kiln__runtime_forget(struct kiln__tiers *tiers);

#endif /* KILN_TIERS_RUNTIME_RUNTIME_BITCODE_H */
