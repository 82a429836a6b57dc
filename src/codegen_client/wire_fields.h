/* wire_fields.h - the fields of messages to and from a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_WIRE_FIELDS_H
#define KILN_CODEGEN_CLIENT_WIRE_FIELDS_H

#include "base/data/arena.h"
#include "base/data/decoder.h"
#include "base/data/encoder.h"

/*
 * For the files that know messages (codegen_wire.c, source_wire.c). Reading
 * goes on after a fault, with zeros and empty texts, and is judged at the end.
 */
#define KILN__WIRE_FIELD ((size_t)9) /* the least bytes of a field */
#define KILN__WIRE_NUMBER (KILN__WIRE_FIELD + 8)

typedef struct kiln__wire_reading {
    kiln__reader reader;
    kiln__arena *arena;
    int no_memory;
} kiln__wire_reading;

void kiln__wire_begin(kiln__wire_reading *r, kiln__arena *arena,
                      const void *bytes, size_t size);
/* KILN_ECORRUPT, KILN_ENOMEM. */
kiln_status kiln__wire_end(const kiln__wire_reading *r);

const char *kiln__wire_get_text_or_none(kiln__wire_reading *r);
const char *kiln__wire_get_text(kiln__wire_reading *r);
/* Bytes that may be NULL, which differs from none. */
void kiln__wire_put_bytes(kiln__encoder *out, const void *bytes, size_t size);
const void *kiln__wire_get_bytes(kiln__wire_reading *r, size_t *size);
uint64_t kiln__wire_get_at_most(kiln__wire_reading *r, uint64_t most);
int32_t kiln__wire_get_i32(kiln__wire_reading *r);
/* Allocates an array for as many things as the message has, each of at least
   `least` bytes. */
void *kiln__wire_get_array(kiln__wire_reading *r, size_t *count, size_t least,
                           size_t size);

#endif /* KILN_CODEGEN_CLIENT_WIRE_FIELDS_H */
