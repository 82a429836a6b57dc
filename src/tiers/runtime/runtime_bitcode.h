/* runtime_bitcode.h - the inside of tier 2's entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_RUNTIME_RUNTIME_BITCODE_H
#define KILN_TIERS_RUNTIME_RUNTIME_BITCODE_H

#include "stores/lock.h"
#include "tiers/tiers_state.h"

typedef enum kiln__runtime_state {
    KILN__RUNTIME_BUILDING,
    KILN__RUNTIME_READY,
    KILN__RUNTIME_GIVEN_UP /* slower to read than to make */
} kiln__runtime_state;

struct kiln__runtime_entry {
    kiln__runtime_state state;
    int is_listed;
    int is_optional;
    int is_judged;
    unsigned pins; /* builds that read it, and its builder */
    unsigned reads;
    pthread_t builder;
    kiln_digest digest;
    kiln_digest asker;
    size_t work;
    uint64_t make_ns;
    uint64_t read_ns; /* the least */
    void *bitcode;
    size_t size;
    kiln__lock lock;                  /* of its builder, between processes */
    uint64_t order;                   /* in which they came; 0: not yet */
    int is_packed;                    /* from a pack that was inserted */
    int is_recalled;                  /* from a store */
    char *toolchain;                  /* that made it; NULL: today's */
    struct kiln__runtime_entry *next; /* of those that go */
    size_t encoded_size;
    unsigned char encoded[];
};

/* ---- stored_runtime.c: tier 2 and the stores ---- */
/* The entry keeps a copy of the bitcode, and is ready for all. */
kiln_status kiln__runtime_keep(kiln_context *context,
                               kiln__runtime_entry *entry, const void *bitcode,
                               size_t size, uint64_t make_ns);
/* By a builder: true when a store had it, and it need not be built. Else the
   builder may have the lock of the key, which other processes wait for. */
int kiln__runtime_recall(kiln_context *context, kiln__runtime_entry *entry);
void kiln__runtime_save(kiln_context *context,
                        const kiln__runtime_entry *entry);
/* Drops it wherever a store has it with that very bitcode. */
void kiln__runtime_unsave(kiln_context *context,
                          const kiln__runtime_entry *entry);

#endif /* KILN_TIERS_RUNTIME_RUNTIME_BITCODE_H */
