/* runtime_entry.h - the inside of tier 2's entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_RUNTIME_RUNTIME_ENTRY_H
#define KILN_TIERS_RUNTIME_RUNTIME_ENTRY_H

#include "base/system/thread.h"
#include "stores/lock.h"
#include "tiers/entry_writer.h"
#include "tiers/runtime/runtime_bitcode.h"

typedef enum kiln__runtime_state {
    KILN__RUNTIME_BUILDING,
    KILN__RUNTIME_READY,
    KILN__RUNTIME_GIVEN_UP /* it is slower to read than to make */
} kiln__runtime_state;

struct kiln__runtime_entry {
    kiln__runtime_state state;
    int is_listed;
    int is_optional;
    int is_judged;
    unsigned pins; /* builds that read it, and its builder */
    unsigned reads;
    kiln__thread builder;
    kiln_digest digest;
    kiln_digest asker;
    size_t work;
    uint64_t make_ns;
    uint64_t read_ns; /* the shortest of the readings */
    void *bitcode;
    size_t size;
    kiln__lock lock;                  /* of the builder, between processes */
    uint64_t order;                   /* number in the order of arrival; 0: none
                                         yet */
    int is_packed;                    /* it came from an inserted pack */
    int is_recalled;                  /* it came from a store */
    char *toolchain;                  /* the toolchain that made it; NULL: the
                                         current one */
    struct kiln__runtime_entry *next; /* in the list of entries to be dropped */
    size_t encoded_size;
    unsigned char encoded[];
};

/* ---- stored_runtime.c: tier 2 and the stores ---- */
/* Copies the bitcode into the entry, which other threads can use from now
   on. */
kiln_status kiln__runtime_keep(kiln_context *context,
                               kiln__runtime_entry *entry, const void *bitcode,
                               size_t size, uint64_t make_ns);
/* Called by a builder. True when a store had the bitcode, so that it need not
   be built. Otherwise the builder may have got the lock of the key, for which
   other processes wait. */
int kiln__runtime_recall(kiln_context *context, kiln__runtime_entry *entry);
void kiln__runtime_save(kiln_context *context,
                        const kiln__runtime_entry *entry);
/* Drops it from every store that has exactly this bitcode. */
void kiln__runtime_unsave(kiln_context *context,
                          const kiln__runtime_entry *entry);
kiln_status kiln__entry_writer_runtime(kiln__entry_writer *out,
                                       kiln_context *context,
                                       const kiln__runtime_entry *entry);

#endif /* KILN_TIERS_RUNTIME_RUNTIME_ENTRY_H */
