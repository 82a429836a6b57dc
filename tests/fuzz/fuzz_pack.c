/* fuzz_pack.c - any bytes as a pack. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* SEEDS: golden/packs */
#include <stdlib.h>
#include <string.h>

#include "base/data/sum.h"
#include "base/digest/digest.h"
#include "stores/pack/pack.h"

/*
 * Whatever an index says, what is found is an entry of the key that was asked
 * for. What can be read is written again, and is a pack then. Sums would keep
 * most inputs out at the door, so each is tried once more with its ends put
 * right.
 */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define LARGEST_INPUT 65536
#define HEADER 128
#define FOOTER 32
#define SUM 112 /* in the header, of what is before it */

static void require(int condition)
{
    if (!condition)
        abort();
}

static void write_again(kiln_pack *pack)
{
    kiln__pack_writer *writer = NULL;
    kiln_pack *again = NULL;
    kiln_blob bytes = {0};
    size_t damaged = 0;

    require(kiln__pack_writer_new(&writer, &kiln__malloc) == KILN_OK);
    if (kiln__pack_writer_add_pack(writer, pack, &damaged, NULL) == KILN_OK) {
        require(kiln__pack_writer_to_blob(&bytes, writer, NULL) == KILN_OK);
        require(kiln_pack_open_memory(&again, bytes.data, bytes.size, NULL) ==
                KILN_OK);
        require(kiln__pack_verify(again, NULL) == KILN_OK);
        kiln_pack_close(again);
        kiln_blob_release(&bytes);
    }
    kiln__pack_writer_free(writer);
}

static void look_at(kiln_pack *pack, size_t index)
{
    kiln__packed found, again;

    if (kiln__pack_at(&found, pack, index) != KILN_OK)
        return;
    if (kiln__pack_find(&again, pack, &found.entry.key) == KILN_OK)
        require(
            kiln__digest_equal(again.entry.key.digest, found.entry.key.digest));
    kiln_blob_release(&again.bytes);
    kiln_blob_release(&found.bytes);
}

static void try_pack(const uint8_t *bytes, size_t size)
{
    const kiln_key absent = {{{1, 2}}, "absent", 6};
    kiln_error *error = NULL;
    kiln_pack *pack = NULL;
    kiln__packed found;

    if (kiln_pack_open_memory(&pack, bytes, size, &error) != KILN_OK) {
        kiln_error_free(error);
        return;
    }
    for (size_t i = 0; i < kiln__pack_count(pack); i++)
        look_at(pack, i);
    require(kiln__pack_find(&found, pack, &absent) != KILN_OK);
    (void)kiln__pack_verify(pack, NULL);
    write_again(pack);
    kiln_pack_close(pack);
}

static void put(uint8_t *to, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static void seal(uint8_t *bytes, size_t size)
{
    uint8_t *footer = bytes + size - FOOTER;

    put(bytes + 16, size);
    kiln__sum_put(bytes + SUM, kiln__sum_bytes(bytes, SUM));
    memcpy(footer, bytes + SUM, 16);
    put(footer + 16, size);
    memcpy(footer + 24, "KILNEND\x1a", 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy;

    if (size > LARGEST_INPUT)
        return 0;
    try_pack(bytes, size);
    if (size < HEADER + FOOTER)
        return 0;
    copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, bytes, size);
    seal(copy, size);
    try_pack(copy, size);
    free(copy);
    return 0;
}
