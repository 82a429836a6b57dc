/* decoder.c - reads the fields that encoder.c wrote, without trusting the
   bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/decoder.h"

#include <string.h>

#include "base/data/encoder.h"
#include "base/data/endian.h"

#define HEADER_SIZE ((size_t)9) /* tag and length */

void kiln__reader_init(kiln__reader *reader, const void *bytes, size_t size)
{
    *reader = (kiln__reader){.bytes = bytes, .size = size};
}

/* Returns the bytes of the next field, which must have one of the tags, else
   NULL. */
static const unsigned char *field(kiln__reader *reader, unsigned char *tag,
                                  size_t *size)
{
    const unsigned char *at = reader->bytes;
    uint64_t stated;

    if (reader->failed || reader->size < HEADER_SIZE) {
        reader->failed = 1;
        return NULL;
    }
    stated = kiln__le64_read(at + 1);
    if (stated > reader->size - HEADER_SIZE) {
        reader->failed = 1;
        return NULL;
    }
    *tag = at[0];
    *size = (size_t)stated;
    reader->bytes += HEADER_SIZE + *size;
    reader->size -= HEADER_SIZE + *size;
    return at + HEADER_SIZE;
}

static const unsigned char *field_of(kiln__reader *reader, unsigned char wanted,
                                     size_t wanted_size)
{
    unsigned char tag = 0;
    size_t size = 0;
    const unsigned char *at = field(reader, &tag, &size);

    if (at != NULL && (tag != wanted || size != wanted_size)) {
        reader->failed = 1;
        return NULL;
    }
    return at;
}

uint64_t kiln__read_u64(kiln__reader *reader)
{
    const unsigned char *at = field_of(reader, KILN__TAG_U64, 8);

    return at != NULL ? kiln__le64_read(at) : 0;
}

int64_t kiln__read_i64(kiln__reader *reader)
{
    const unsigned char *at = field_of(reader, KILN__TAG_I64, 8);

    return at != NULL ? (int64_t)kiln__le64_read(at) : 0;
}

kiln__span_of_bytes kiln__read_text(kiln__reader *reader)
{
    kiln__span_of_bytes out = {NULL, 0};
    unsigned char tag = 0;
    size_t size = 0;
    const unsigned char *at = field(reader, &tag, &size);

    if (at == NULL || (tag == KILN__TAG_NO_TEXT && size == 0))
        return out;
    if (tag != KILN__TAG_TEXT || memchr(at, '\0', size)) {
        reader->failed = 1;
        return out;
    }
    out.data = (const char *)at;
    out.size = size;
    return out;
}

kiln__span_of_bytes kiln__read_bytes(kiln__reader *reader)
{
    kiln__span_of_bytes out = {NULL, 0};
    unsigned char tag = 0;
    size_t size = 0;
    const unsigned char *at = field(reader, &tag, &size);

    if (at == NULL)
        return out;
    if (tag != KILN__TAG_BYTES) {
        reader->failed = 1;
        return out;
    }
    out.data = (const char *)at;
    out.size = size;
    return out;
}

kiln_digest kiln__read_digest(kiln__reader *reader)
{
    const unsigned char *at = field_of(reader, KILN__TAG_DIGEST, 32);
    kiln_digest digest = {0};

    if (at != NULL)
        memcpy(digest.bytes, at, sizeof digest.bytes);
    return digest;
}

size_t kiln__read_count(kiln__reader *reader, size_t least)
{
    const uint64_t count = kiln__read_u64(reader);

    if (!reader->failed && count <= reader->size / (least ? least : 1))
        return (size_t)count;
    reader->failed = 1;
    return 0;
}

int kiln__reader_is_done(const kiln__reader *reader)
{
    return !reader->failed && reader->size == 0;
}
