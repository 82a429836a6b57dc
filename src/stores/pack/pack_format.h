/* pack_format.h - the layout of a pack. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PACK_FORMAT_H
#define KILN_PACK_FORMAT_H

#include "base/data/sum.h"
#include "stores/pack/pack.h"

/*
 * Version 2, all numbers little-endian:
 *
 *     header    128 bytes, by the offsets below
 *     entries   envelopes (entry.h), each at a multiple of 64 bytes, sorted
 *               by the bytes of the key's digest, then by the encoded key;
 *               gaps are zeros
 *     index     starts: for each bucket, and once more at the end, the number
 *                   of the first entry in it (4 bytes each); then zeros up to
 *                   a multiple of 64
 *               slots: for each entry digest, offset and size (48 bytes), in
 *                   the order of the entries
 *     footer    32 bytes: sum of the header, size of the file, magic
 *
 * Digests have 32 bytes (digest.h); in version 1 they had 16, for which
 * collisions can be constructed. Sums are XXH3-128.
 *
 * A digest's bucket is given by its highest bits. Each bucket has about four
 * entries, so a look-up costs the same for any number of entries. If digests
 * are spread unevenly, a look-up is a binary search.
 */
#define KILN__PACK_VERSION 2
#define KILN__PACK_ALIGNMENT 64u
#define KILN__PACK_HEADER_SIZE 128u
#define KILN__PACK_FOOTER_SIZE 32u
#define KILN__PACK_SLOT_SIZE 48u
#define KILN__PACK_BUCKET_ENTRIES 4u /* about */
#define KILN__PACK_BITS_MAX 30u

enum {
    KILN__PACK_AT_MAGIC = 0,
    KILN__PACK_AT_VERSION = 8,  /* 4 bytes */
    KILN__PACK_AT_BITS = 12,    /* 4 bytes: there are 2^bits buckets */
    KILN__PACK_AT_SIZE = 16,    /* of the file */
    KILN__PACK_AT_COUNT = 24,   /* of entries */
    KILN__PACK_AT_INDEX = 32,   /* offset; the entries end before it */
    KILN__PACK_AT_PAYLOAD = 40, /* sum of the sizes of all envelopes */
    KILN__PACK_AT_INDEX_SUM = 48,
    KILN__PACK_AT_RESERVED = 64, /* zeros */
    KILN__PACK_AT_SUM = 112      /* sum of the header before it */
};

enum {
    KILN__PACK_FOOT_SUM = 0, /* equal to the header's */
    KILN__PACK_FOOT_SIZE = 16,
    KILN__PACK_FOOT_MAGIC = 24
};

/* A header as numbers; other values are computed from it. */
typedef struct kiln__pack_layout {
    uint64_t size;
    uint64_t count;
    uint64_t index; /* offset of the starts */
    uint64_t payload;
    uint64_t slots; /* offset */
    uint32_t bits;
    kiln__sum index_sum;
    kiln__sum sum;
} kiln__pack_layout;

typedef struct kiln__pack_slot {
    kiln_digest digest;
    uint64_t offset;
    uint64_t size;
} kiln__pack_slot;

/* Fills everything but the sums, from the count and the end of the entries,
   where the index begins. */
void kiln__pack_layout_fill(kiln__pack_layout *layout, uint64_t count,
                            uint64_t payload, uint64_t entries_end);
/* Writes header and footer, and stores the header's sum in `layout`. */
void kiln__pack_header_write(unsigned char *header, unsigned char *footer,
                             kiln__pack_layout *layout);
/* Reads both and checks them against the size of the whole. NULL, or what is
   wrong with them. */
const char *kiln__pack_header_read(kiln__pack_layout *out,
                                   const unsigned char *header,
                                   const unsigned char *footer, uint64_t size);
void kiln__pack_slot_write(unsigned char *to, const kiln__pack_slot *slot);
void kiln__pack_slot_read(kiln__pack_slot *out, const unsigned char *from);
uint64_t kiln__pack_bucket(kiln_digest digest, uint32_t bits);
/* Compares byte by byte; the result is below 0, 0 or above. */
int kiln__pack_compare(kiln_digest a, kiln_digest b);

static inline uint64_t kiln__pack_align(uint64_t offset)
{
    return (offset + KILN__PACK_ALIGNMENT - 1) &
           ~(uint64_t)(KILN__PACK_ALIGNMENT - 1);
}

#endif /* KILN_PACK_FORMAT_H */
