/* wire_fields.c - the fields of messages to and from a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/wire_fields.h"

void kiln__wire_begin(kiln__wire_reading *r, kiln__arena *arena,
                      const void *bytes, size_t size)
{
    *r = (kiln__wire_reading){.arena = arena};
    kiln__reader_init(&r->reader, bytes, size);
}

kiln_status kiln__wire_end(const kiln__wire_reading *r)
{
    if (r->no_memory)
        return KILN_ENOMEM;
    return kiln__reader_is_done(&r->reader) ? KILN_OK : KILN_ECORRUPT;
}

/* Reads a text that may be NULL. */
const char *kiln__wire_get_text_or_none(kiln__wire_reading *r)
{
    const kiln__span_of_bytes span = kiln__read_text(&r->reader);
    const char *text;

    if (span.data == NULL)
        return NULL;
    text = kiln__arena_string(r->arena, span.data, span.size);
    r->no_memory |= text == NULL;
    return text;
}

const char *kiln__wire_get_text(kiln__wire_reading *r)
{
    const char *text = kiln__wire_get_text_or_none(r);

    if (text != NULL)
        return text;
    r->reader.failed |= !r->no_memory;
    return "";
}

/* A number tells NULL from an empty list of bytes. */
void kiln__wire_put_bytes(kiln__encoder *out, const void *bytes, size_t size)
{
    kiln__encode_u64(out, bytes != NULL);
    kiln__encode_bytes(out, bytes, bytes != NULL ? size : 0);
}

const void *kiln__wire_get_bytes(kiln__wire_reading *r, size_t *size)
{
    const uint64_t is_there = kiln__read_u64(&r->reader);
    const kiln__span_of_bytes span = kiln__read_bytes(&r->reader);

    *size = span.size;
    r->reader.failed |= is_there > 1 || (!is_there && span.size > 0);
    return is_there ? span.data : NULL;
}

uint64_t kiln__wire_get_at_most(kiln__wire_reading *r, uint64_t most)
{
    const uint64_t value = kiln__read_u64(&r->reader);

    if (value <= most)
        return value;
    r->reader.failed = 1;
    return 0;
}

int32_t kiln__wire_get_i32(kiln__wire_reading *r)
{
    const int64_t value = kiln__read_i64(&r->reader);

    if (value >= INT32_MIN && value <= INT32_MAX)
        return (int32_t)value;
    r->reader.failed = 1;
    return 0;
}

/* Allocates an array for as many things as the message has, each of at least
   `least` bytes. */
void *kiln__wire_get_array(kiln__wire_reading *r, size_t *count, size_t least,
                           size_t size)
{
    void *array;

    *count = kiln__read_count(&r->reader, least);
    array = kiln__arena_allocate_array(r->arena, *count + 1, size);
    if (array == NULL) {
        r->no_memory = 1;
        *count = 0;
    }
    return array;
}
