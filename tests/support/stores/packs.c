/* packs.c - makes entries and packs for tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/stores/packs.h"

#include <stdio.h>
#include <string.h>

#include "base/digest/digest.h"
#include "support/harness.h"

#define LARGEST ((size_t)64 << 10)

kiln__entry pack_entry(uint64_t number, size_t size)
{
    static char key[64], log[64];
    static unsigned char payload[LARGEST];
    kiln__entry entry = {
        .kind = KILN__ENTRY_BINARY,
        .key = {.encoded = key},
        .build_ns = number * 1000,
        .toolchain = "llvm=22 lld=22",
        .toolchain_size = 14,
        .log = log,
        .meta = "meta",
        .meta_size = number % 5,
        .payload = payload,
        .payload_size = size ? number * 37 % size : 0,
    };

    assert_true(size <= LARGEST);
    entry.key.encoded_size = (size_t)snprintf(
        key, sizeof key, "the key of entry %llu", (unsigned long long)number);
    entry.key.digest = kiln__digest_bytes(key, entry.key.encoded_size);
    entry.log_size = (size_t)snprintf(log, sizeof log, "log %llu",
                                      (unsigned long long)number % 3);
    for (size_t i = 0; i < entry.payload_size; i++)
        payload[i] = (unsigned char)(number + i * 13 + i / 256);
    return entry;
}

kiln_status pack_fill(kiln__pack_writer *writer, uint64_t first, uint64_t end,
                      size_t size)
{
    kiln_status status = KILN_OK;

    for (uint64_t i = first; i < end && status == KILN_OK; i++) {
        const kiln__entry entry = pack_entry(i, size);

        status = kiln__pack_writer_add_entry(writer, &entry, NULL);
    }
    return status;
}

kiln_blob pack_bytes(uint64_t count, size_t size)
{
    kiln__pack_writer *writer = NULL;
    kiln_blob bytes = {0};

    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_ok(pack_fill(writer, 0, count, size));
    assert_ok(kiln__pack_writer_to_blob(&bytes, writer, &test_error));
    kiln__pack_writer_free(writer);
    return bytes;
}

static int is_equal(const void *a, size_t a_size, const void *b, size_t b_size)
{
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

int pack_holds(kiln_pack *pack, uint64_t number, size_t size)
{
    const kiln__entry made = pack_entry(number, size);
    kiln__packed found;
    int same;

    if (kiln__pack_find(&found, pack, &made.key) != KILN_OK)
        return 0;
    same = found.entry.kind == made.kind &&
           found.entry.build_ns == made.build_ns &&
           is_equal(found.entry.key.encoded, found.entry.key.encoded_size,
                    made.key.encoded, made.key.encoded_size) &&
           is_equal(found.entry.log, found.entry.log_size, made.log,
                    made.log_size) &&
           is_equal(found.entry.payload, found.entry.payload_size, made.payload,
                    made.payload_size);
    kiln_blob_release(&found.bytes);
    return same ? 1 : -1;
}
