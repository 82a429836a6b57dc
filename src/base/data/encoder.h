/* encoder.h - canonical encoding of fields. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ENCODER_H
#define KILN_ENCODER_H

#include "base/data/memory.h"

/*
 * Every field is written as tag (one byte), length (u64, little-endian) and
 * bytes, so that two different lists of fields never give the same bytes.
 * Numbers are fixed-width little-endian. After a failed allocation `failed`
 * stays set.
 *
 * Everything that is stored uses this encoding: tags may be added, but tags and
 * layout must never change their meaning. decoder.h reads it back.
 */
enum {
    KILN__TAG_U64 = 1,
    KILN__TAG_I64 = 2,
    KILN__TAG_TEXT = 3,
    KILN__TAG_NO_TEXT = 4, /* a NULL differs from an empty text */
    KILN__TAG_BYTES = 5,
    KILN__TAG_DIGEST = 6
};

typedef struct kiln__encoder {
    const kiln_alloc *alloc;
    unsigned char *bytes;
    size_t size;
    size_t capacity;
    int failed;
} kiln__encoder;

void kiln__encoder_init(kiln__encoder *encoder, const kiln_alloc *alloc);
void kiln__encoder_dispose(kiln__encoder *encoder);
void kiln__encode_u64(kiln__encoder *encoder, uint64_t value);
void kiln__encode_i64(kiln__encoder *encoder, int64_t value);
void kiln__encode_text(kiln__encoder *encoder, const char *text); /* or NULL */
void kiln__encode_bytes(kiln__encoder *encoder, const void *bytes, size_t size);
void kiln__encode_digest(kiln__encoder *encoder, kiln_digest digest);

#endif /* KILN_ENCODER_H */
