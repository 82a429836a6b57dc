/* encoder.c - canonical encoding of fields. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/encoder.h"

#include <string.h>

#include "base/data/array.h"
#include "base/data/endian.h"

#define HEADER_SIZE ((size_t)9)  /* tag and length */
#define FIRST_SIZE ((size_t)256) /* most keys fit without growing */

void kiln__encoder_init(kiln__encoder *encoder, const kiln_alloc *alloc)
{
    *encoder = (kiln__encoder){.alloc = alloc};
}

void kiln__encoder_dispose(kiln__encoder *encoder)
{
    kiln__deallocate(encoder->alloc, encoder->bytes, encoder->capacity);
    *encoder = (kiln__encoder){.alloc = encoder->alloc};
}

static int make_room(kiln__encoder *encoder, size_t size)
{
    if (encoder->capacity == 0 && size < FIRST_SIZE)
        size = FIRST_SIZE;
    return kiln__array_grow(encoder->alloc, (void **)&encoder->bytes,
                            encoder->size, &encoder->capacity, size, 1);
}

/* Writes a field's header and returns where its `size` bytes must go, or
   NULL. */
static unsigned char *field_begin(kiln__encoder *encoder, unsigned char tag,
                                  size_t size)
{
    unsigned char *field;
    size_t total;

    if (encoder->failed)
        return NULL;
    if (__builtin_add_overflow(size, HEADER_SIZE, &total) ||
        (total > encoder->capacity - encoder->size &&
         !make_room(encoder, total))) {
        encoder->failed = 1;
        return NULL;
    }
    field = encoder->bytes + encoder->size;
    field[0] = tag;
    kiln__le64_write(field + 1, size);
    encoder->size += total;
    return field + HEADER_SIZE;
}

static void encode_number(kiln__encoder *encoder, unsigned char tag,
                          uint64_t value)
{
    unsigned char *field = field_begin(encoder, tag, 8);

    if (field != NULL)
        kiln__le64_write(field, value);
}

static void encode_field(kiln__encoder *encoder, unsigned char tag,
                         const void *bytes, size_t size)
{
    unsigned char *field = field_begin(encoder, tag, size);

    if (field != NULL && size > 0)
        memcpy(field, bytes, size);
}

void kiln__encode_u64(kiln__encoder *encoder, uint64_t value)
{
    encode_number(encoder, KILN__TAG_U64, value);
}

void kiln__encode_i64(kiln__encoder *encoder, int64_t value)
{
    encode_number(encoder, KILN__TAG_I64, (uint64_t)value);
}

void kiln__encode_text(kiln__encoder *encoder, const char *text)
{
    if (text == NULL)
        encode_field(encoder, KILN__TAG_NO_TEXT, NULL, 0);
    else
        encode_field(encoder, KILN__TAG_TEXT, text, strlen(text));
}

void kiln__encode_bytes(kiln__encoder *encoder, const void *bytes, size_t size)
{
    encode_field(encoder, KILN__TAG_BYTES, bytes, size);
}

void kiln__encode_digest(kiln__encoder *encoder, kiln_digest digest)
{
    encode_field(encoder, KILN__TAG_DIGEST, digest.bytes, sizeof digest.bytes);
}
