/* decoder.h - reads the fields that encoder.h writes, from bytes of any
   origin. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_DATA_DECODER_H
#define KILN_BASE_DATA_DECODER_H

#include "kiln/error.h"

/*
 * Fields are read in the order in which they were written. A field of another
 * kind, a field that goes beyond the end, or a text with a NUL inside sets
 * `failed`, which stays set. Reading then goes on with zeros, so that the
 * caller needs to check only once. Nothing is copied: texts and bytes point
 * into the input.
 *
 * A text of the encoding does not end in NUL: it is returned as a span.
 */
typedef struct kiln__reader {
    const unsigned char *bytes;
    size_t size; /* bytes left to read */
    int failed;
} kiln__reader;

typedef struct kiln__span_of_bytes {
    const char *data; /* NULL: no text, which differs from an empty text */
    size_t size;
} kiln__span_of_bytes;

void kiln__reader_init(kiln__reader *reader, const void *bytes, size_t size);
uint64_t kiln__read_u64(kiln__reader *reader);
int64_t kiln__read_i64(kiln__reader *reader);
kiln__span_of_bytes kiln__read_text(kiln__reader *reader);
kiln__span_of_bytes kiln__read_bytes(kiln__reader *reader);
kiln_digest kiln__read_digest(kiln__reader *reader);
/* Reads a count of things of which each takes at least `least` bytes. It fails
   if the input is too short for that many, so that nothing is allocated for
   them. */
size_t kiln__read_count(kiln__reader *reader, size_t least);
/* True when everything was read and nothing failed. */
int kiln__reader_is_done(const kiln__reader *reader);

#endif /* KILN_BASE_DATA_DECODER_H */
