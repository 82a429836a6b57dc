/* entry.h - the form of an entry in stores: a self-describing envelope. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ENTRY_H
#define KILN_ENTRY_H

#include "base/data/memory.h"
#include "kiln/sys/store.h"

/*
 * Version 2, all numbers little-endian:
 *
 *     head      magic, version, kind, relocation class, sizes, build time,
 *               digest of the key, checksum of the payload, checksum of all
 *               of the head and of the sections up to the payload
 *     sections  encoded key, toolchain, log, meta
 *     payload   at a multiple of 64 bytes
 *
 * The encoding adds no time and no path: equal entries have equal bytes. The
 * digest has 32 bytes (digest.h). Checksums are XXH3-128: they detect damage,
 * not forgery. Version 1 had digests of 16 bytes, for which collisions can be
 * constructed: its entries are misses.
 */
#define KILN__ENTRY_VERSION 2
#define KILN__ENTRY_HEAD_SIZE ((size_t)144) /* the sections follow */
/* Larger entries are neither written to files nor read from them. */
#define KILN__ENTRY_LARGEST ((uint64_t)1 << 30)
/* In a file of at least this size, the head is read and checked before memory
   is allocated for the rest, because a sparse file may claim any size. */
#define KILN__ENTRY_LARGE ((uint64_t)1 << 20)

/*
 * How far an entry of each kind may travel. MACHINE: it concerns this machine,
 * names files of it, or is of unknown content; it stays in this user's folder
 * and is searched only there. ASKED: useful on an equal machine; it goes into a
 * pack if the caller asks for that kind. ANYWHERE: into packs, to stores of the
 * host, and to other ranks.
 */
#define KILN__ENTRY_KIND_MAP(X) \
    X(INSTANCE, 0, "instance", ANYWHERE) /* typed IR, queries it rests on */ \
    X(PROGRAM, 1, "program", ANYWHERE)   /* the typed digest under one text */ \
    X(RUNTIME, 2, "runtime", ANYWHERE)   /* bitcode of a runtime function */ \
    X(BINARY, 3, "binary", ANYWHERE)     /* an artifact */ \
    X(SOURCE, 4, "source", ANYWHERE)     /* what a text defines */ \
    X(ATTACHED, 5, "attached", ANYWHERE) /* of a consumer's, to an instance */ \
    X(RAW, 6, "raw", MACHINE)            /* bytes that were no envelope */ \
    X(TOOLCHAIN, 7, "toolchain", MACHINE) /* a tool that was seen */ \
    X(NATIVE, 8, "native", ASKED)     /* what a driver made of an artifact */ \
    X(SESSION, 9, "session", MACHINE) /* why an artifact is not kept */ \
    X(TRANSLATION, 10, "translation", ANYWHERE) /* of a text of OpenCL C */

#define KILN__ENTRY_KIND_ENUM(name, value, text, reach) \
    KILN__ENTRY_##name = value,
enum { KILN__ENTRY_KIND_MAP(KILN__ENTRY_KIND_ENUM) KILN__ENTRY_KIND_COUNT };
#undef KILN__ENTRY_KIND_ENUM

typedef enum kiln__entry_reach {
    KILN__REACH_MACHINE,
    KILN__REACH_ASKED,
    KILN__REACH_ANYWHERE
} kiln__entry_reach;

typedef struct kiln__entry {
    int32_t kind;
    int32_t relocation; /* KILN_RELOCATION_... */
    kiln_key key;
    uint64_t build_ns;     /* time that making it took */
    const char *toolchain; /* words NAME=IDENTITY in one line; "": none */
    size_t toolchain_size;
    const char *log; /* of the compilation, or "" */
    size_t log_size;
    const void *meta; /* content depends on the kind, in the encoding of
                         encoder.h */
    size_t meta_size;
    const void *payload;
    size_t payload_size;
} kiln__entry;

/* Why an envelope is rejected. */
#define KILN__ENTRY_FAULT_MAP(X) \
    X(NONE, "none") \
    X(TRUNCATED, "truncated") /* shorter than it says, or empty */ \
    X(FOREIGN, "foreign")     /* no envelope of Kiln's */ \
    X(VERSION, "version")     /* of a format that this build does not know */ \
    X(CHECKSUM, "checksum")   /* damaged */ \
    X(KEY, "key")             /* of another key */ \
    X(MALFORMED, "malformed") /* sums are right, what it says is not */ \
    X(STALE, "stale")         /* it was true of another program */ \
    X(TOOLCHAIN, "toolchain") /* another one is here than made it */ \
    X(DIFFERENT, "different") /* what is built again is not the same */ \
    X(UNTRUSTED, "untrusted") /* another user may have written it */

#define KILN__ENTRY_FAULT_ENUM(name, text) KILN__FAULT_##name,
typedef enum kiln__entry_fault {
    KILN__ENTRY_FAULT_MAP(KILN__ENTRY_FAULT_ENUM) KILN__FAULT_COUNT
} kiln__entry_fault;
#undef KILN__ENTRY_FAULT_ENUM

/* Makes the envelope, which the caller releases. KILN_ENOMEM. */
kiln_status kiln__entry_encode(kiln_blob *out, const kiln_alloc *alloc,
                               const kiln__entry *entry);
/* Reads and checks everything; `out` points into `bytes`. `key` may be NULL:
   any key. */
kiln__entry_fault kiln__entry_decode(kiln__entry *out, const void *bytes,
                                     size_t size, const kiln_key *key);
/* Given the first KILN__ENTRY_HEAD_SIZE of `size` bytes: checks that they begin
   an envelope of that size, and nothing else. */
kiln__entry_fault kiln__entry_begins(const void *head, uint64_t size);
const char *kiln__entry_fault_text(kiln__entry_fault fault);
const char *kiln__entry_kind_text(int32_t kind);
/* MACHINE for an unknown kind. */
kiln__entry_reach kiln__entry_reach_of(int32_t kind);
/* Returns the tier, KILN_TIER_..., that entries of the kind belong to. */
int32_t kiln__entry_tier(int32_t kind);

#endif /* KILN_ENTRY_H */
