/* test_pack_sparse.c - packs that say large sizes, and hold nothing. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault tiers */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/endian.h"
#include "base/digest/digest.h"
#include "stores/pack/pack_format.h"
#include "support/harness.h"
#include "support/stores/packs.h"

/*
 * Sealed packs: header and footer are right, as whoever makes such a file
 * would make them. All slots have the digest of one key, and lead into a hole.
 */

#define MIB ((uint64_t)1 << 20)

/* Counts requests, and remembers the largest. */
typedef struct counted {
    size_t count, largest;
} counted;

static void *count_and_take(void *env, void *memory, size_t old_size,
                            size_t new_size)
{
    counted *c = env;

    (void)old_size;
    c->count += new_size > 0;
    if (new_size > c->largest)
        c->largest = new_size;
    if (new_size > 0)
        return realloc(memory, new_size);
    free(memory);
    return NULL;
}

static void write_at(int file, const void *bytes, size_t size, uint64_t offset)
{
    assert_int_equal(pwrite(file, bytes, size, (off_t)offset), size);
}

static void write_slots(int file, const kiln__pack_layout *layout,
                        kiln_digest digest, uint64_t size)
{
    const kiln__pack_slot slot = {digest, KILN__PACK_HEADER_SIZE, size};
    unsigned char bytes[KILN__PACK_SLOT_SIZE], starts[4];
    const uint64_t first = kiln__pack_bucket(digest, layout->bits);

    kiln__pack_slot_write(bytes, &slot);
    for (uint64_t i = 0; i < layout->count; i++)
        write_at(file, bytes, sizeof bytes,
                 layout->slots + i * KILN__PACK_SLOT_SIZE);
    kiln__le32_write(starts, (uint32_t)layout->count);
    for (uint64_t i = first + 1; i <= (uint64_t)1 << layout->bits; i++)
        write_at(file, starts, sizeof starts, layout->index + 4 * i);
}

/* A pack of `count` slots of `size` bytes each, which is `bits` wide. */
static void make_pack(char path[4096], const char *folder, kiln_digest digest,
                      uint64_t count, uint64_t size)
{
    unsigned char header[KILN__PACK_HEADER_SIZE];
    unsigned char footer[KILN__PACK_FOOTER_SIZE];
    kiln__pack_layout layout;
    int file;

    (void)snprintf(path, 4096, "%s/sparse.kilnpack", folder);
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    kiln__pack_layout_fill(&layout, count, count * size,
                           KILN__PACK_HEADER_SIZE + size);
    kiln__pack_header_write(header, footer, &layout);
    assert_int_equal(ftruncate(file, (off_t)layout.size), 0);
    write_at(file, header, sizeof header, 0);
    write_slots(file, &layout, digest, size);
    write_at(file, footer, sizeof footer, layout.size - sizeof footer);
    assert_int_equal(close(file), 0);
}

/* What a look-up of the key took. */
static counted look(const char *path, const kiln_key *key)
{
    counted c = {0};
    const kiln_alloc alloc = {sizeof alloc, &c, count_and_take};
    kiln_pack *pack = NULL;
    kiln__packed found;

    assert_ok(kiln__pack_open(&pack, &alloc, path, &test_error));
    c = (counted){0};
    assert_status(KILN_ECORRUPT, kiln__pack_find(&found, pack, key));
    assert_null(found.bytes.data);
    assert_status(KILN_ECORRUPT, kiln__pack_at(&found, pack, 0));
    assert_fails(KILN_ECORRUPT, "", kiln__pack_verify(pack, &test_error));
    kiln__pack_release(pack);
    return c;
}

static void what_is_a_hole_is_not_read(void **state)
{
    static const uint64_t sizes[] = {2 * MIB, 900 * MIB, 3000 * MIB};
    const kiln__entry entry = pack_entry(1, 100);
    char path[4096];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_pack(path, *state, entry.key.digest, 1, sizes[i]);
        assert_true(look(path, &entry.key).largest < MIB);
    }
}

static void of_many_slots_of_one_digest_few_are_looked_at(void **state)
{
    const kiln__entry entry = pack_entry(1, 100);
    char path[4096];

    make_pack(path, *state, entry.key.digest, 20000, 100000);
    assert_true(look(path, &entry.key).count < 100);
}

/* Where an envelope of that size begins, all of it is read, but not again and
   again. */
static void nor_is_much_read_of_what_begins_right(void **state)
{
    const uint64_t size = 600 * MIB;
    kiln__entry entry = pack_entry(1, 100);
    kiln_blob envelope = {0};
    char path[4096];
    int file;

    make_pack(path, *state, entry.key.digest, 50, size);
    assert_ok(kiln__entry_encode(&envelope, &kiln__malloc, &entry));
    file = open(path, O_WRONLY);
    assert_true(file >= 0);
    write_at(file, envelope.data, KILN__ENTRY_HEAD_SIZE,
             KILN__PACK_HEADER_SIZE);
    kiln__le64_write((unsigned char *)(uintptr_t)envelope.data, size);
    write_at(file, envelope.data, 8, KILN__PACK_HEADER_SIZE + 24);
    assert_int_equal(close(file), 0);
    kiln_blob_release(&envelope);
    assert_true(look(path, &entry.key).count <= 4);
}

/* The number of buckets follows from the number of entries: an index is not
   wider than what it leads to. */
static void an_index_that_is_too_wide_is_refused(void **state)
{
    unsigned char header[KILN__PACK_HEADER_SIZE];
    unsigned char footer[KILN__PACK_FOOTER_SIZE];
    kiln__pack_layout layout;

    (void)state;
    kiln__pack_layout_fill(&layout, 0, 0, KILN__PACK_HEADER_SIZE);
    layout.bits = KILN__PACK_BITS_MAX;
    layout.size = layout.index +
                  kiln__pack_align(4 * (((uint64_t)1 << layout.bits) + 1)) +
                  KILN__PACK_FOOTER_SIZE;
    kiln__pack_header_write(header, footer, &layout);
    assert_string_equal(
        kiln__pack_header_read(&layout, header, footer, layout.size),
        "its header makes no sense");
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_is_a_hole_is_not_read),
        IN_FOLDER(of_many_slots_of_one_digest_few_are_looked_at),
        IN_FOLDER(nor_is_much_read_of_what_begins_right),
        cmocka_unit_test(an_index_that_is_too_wide_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
