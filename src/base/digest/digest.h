/* digest.h - digests, which identify content. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_DIGEST_DIGEST_H
#define KILN_BASE_DIGEST_DIGEST_H

#include <string.h>

#include "base/data/encoder.h"
#include "base/data/endian.h"

/*
 * BLAKE3-256. A digest stands for a text, a tree, typed IR, a library or a key,
 * across processes and machines, and nobody can construct two contents with the
 * same digest. Checksums and hashes for tables are in sum.h; they take a tenth
 * of the time.
 */
kiln_digest kiln__digest_bytes(const void *bytes, size_t size);
kiln_digest kiln__digest_text(const char *text);
/* The digest of both texts, in this order. */
kiln_digest kiln__digest_texts(const char *first, const char *second);
kiln_digest kiln__digest_number(uint64_t number);
kiln_digest kiln__encoder_digest(const kiln__encoder *encoder);
/* Order matters. */
kiln_digest kiln__digest_combine(kiln_digest first, kiln_digest second);

static inline int kiln__digest_equal(kiln_digest a, kiln_digest b)
{
    uint64_t x[4], y[4];

    /* Compared as words, because a call of memcmp() takes longer. */
    memcpy(x, a.bytes, sizeof x);
    memcpy(y, b.bytes, sizeof y);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3])) == 0;
}

static inline int kiln__digest_is_zero(kiln_digest digest)
{
    return kiln__digest_equal(digest, (kiln_digest){0});
}

/* 64 bits of the digest, to choose among few things or to find a list of
   candidates. They do not identify content. */
static inline uint64_t kiln__digest_word(kiln_digest digest)
{
    return kiln__le64_read(digest.bytes);
}

#endif /* KILN_BASE_DIGEST_DIGEST_H */
