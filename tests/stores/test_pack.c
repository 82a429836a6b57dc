/* test_pack.c - packs give what was put into them, or nothing. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers */
#include "stores/pack/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest/digest.h"
#include "kiln/kernel.h"
#include "support/harness.h"
#include "support/stores/packs.h"

static kiln_pack *open_bytes(const kiln_blob *bytes)
{
    kiln_pack *pack = NULL;

    assert_ok(
        kiln_pack_open_memory(&pack, bytes->data, bytes->size, &test_error));
    return pack;
}

static void assert_whole(kiln_pack *pack, uint64_t count, size_t size)
{
    assert_int_equal(kiln__pack_count(pack), count);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(pack_holds(pack, i, size), 1);
    assert_int_equal(pack_holds(pack, count, size), 0);
    assert_ok(kiln__pack_verify(pack, &test_error));
}

/* ---- what goes in comes out ---- */

static void an_empty_pack_holds_nothing(void **state)
{
    kiln_blob bytes = pack_bytes(0, 0);
    kiln_pack *pack = open_bytes(&bytes);

    (void)state;
    assert_whole(pack, 0, 0);
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
}

static void packs_of_any_number_of_entries_are_whole(void **state)
{
    (void)state;
    for (uint64_t count = 1; count < 70; count++) {
        kiln_blob bytes = pack_bytes(count, 200);
        kiln_pack *pack = open_bytes(&bytes);

        assert_whole(pack, count, 200);
        kiln_pack_close(pack);
        kiln_blob_release(&bytes);
    }
}

static void payloads_lie_at_multiples_of_64(void **state)
{
    kiln_blob bytes = pack_bytes(50, 300);
    kiln_pack *pack = open_bytes(&bytes);
    const char *base = bytes.data;

    (void)state;
    for (size_t i = 0; i < 50; i++) {
        kiln__packed found;

        assert_ok(kiln__pack_at(&found, pack, i));
        assert_int_equal(((const char *)found.entry.payload - base) % 64, 0);
        kiln_blob_release(&found.bytes);
    }
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
}

static void entries_come_in_the_order_of_their_digests(void **state)
{
    kiln_blob bytes = pack_bytes(500, 40);
    kiln_pack *pack = open_bytes(&bytes);
    kiln_digest last = {0};
    kiln__packed found;

    (void)state;
    for (size_t i = 0; i < 500; i++) {
        assert_ok(kiln__pack_at(&found, pack, i));
        assert_true(memcmp(&found.entry.key.digest, &last, sizeof last) > 0);
        last = found.entry.key.digest;
        kiln_blob_release(&found.bytes);
    }
    assert_status(KILN_ENOTFOUND, kiln__pack_at(&found, pack, 500));
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
}

static void a_file_gives_what_was_put_into_it(void **state)
{
    kiln__pack_writer *writer = NULL;
    kiln_pack *pack = NULL;
    char path[4096];

    snprintf(path, sizeof path, "%s/some.kilnpack", (const char *)*state);
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_ok(pack_fill(writer, 0, 300, 3000));
    assert_ok(kiln__pack_writer_to_file(writer, path, &test_error));
    kiln__pack_writer_free(writer);
    assert_ok(kiln__pack_open(&pack, &kiln__malloc, path, &test_error));
    assert_string_equal(kiln__pack_name(pack), path);
    assert_true(kiln__pack_is_file(pack));
    assert_whole(pack, 300, 3000);
    kiln_pack_close(pack);
}

static void a_file_has_the_bytes_of_the_memory(void **state)
{
    kiln__pack_writer *writer = NULL;
    kiln_blob bytes = pack_bytes(100, 9000);
    char path[4096], *file = malloc(bytes.size + 1);
    FILE *stream;

    snprintf(path, sizeof path, "%s/some.kilnpack", (const char *)*state);
    assert_non_null(file);
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_ok(pack_fill(writer, 0, 100, 9000));
    assert_ok(kiln__pack_writer_to_file(writer, path, &test_error));
    kiln__pack_writer_free(writer);
    stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fread(file, 1, bytes.size + 1, stream), bytes.size);
    fclose(stream);
    assert_memory_equal(file, bytes.data, bytes.size);
    free(file);
    kiln_blob_release(&bytes);
}

/* ---- writing ---- */

static void the_order_of_adding_does_not_matter(void **state)
{
    kiln__pack_writer *writer = NULL;
    kiln_blob bytes = pack_bytes(64, 500), other = {0};

    (void)state;
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    for (uint64_t i = 0; i < 64; i++)
        assert_ok(pack_fill(writer, i * 37 % 64, i * 37 % 64 + 1, 500));
    assert_int_equal(kiln__pack_writer_count(writer), 64);
    assert_ok(kiln__pack_writer_to_blob(&other, writer, &test_error));
    assert_blob_equal(other, bytes.data, bytes.size);
    kiln_blob_release(&other);
    kiln_blob_release(&bytes);
    kiln__pack_writer_free(writer);
}

static void add_raw(kiln__pack_writer *writer, kiln_key key, const char *text)
{
    const kiln__entry entry = {
        .kind = KILN__ENTRY_RAW,
        .key = key,
        .payload = text,
        .payload_size = strlen(text),
    };

    assert_ok(kiln__pack_writer_add_entry(writer, &entry, &test_error));
}

static void assert_raw(kiln_pack *pack, kiln_key key, const char *text)
{
    kiln__packed found;

    assert_ok(kiln__pack_find(&found, pack, &key));
    assert_int_equal(found.entry.payload_size, strlen(text));
    assert_memory_equal(found.entry.payload, text, strlen(text));
    kiln_blob_release(&found.bytes);
}

static kiln_pack *finish(kiln_blob *bytes, kiln__pack_writer *writer)
{
    assert_ok(kiln__pack_writer_to_blob(bytes, writer, &test_error));
    kiln__pack_writer_free(writer);
    return open_bytes(bytes);
}

static void of_equal_keys_the_first_stays(void **state)
{
    const kiln_key key = {{{1, 2}}, "key", 3}, other = {{{5, 6}}, "other", 5};
    kiln__pack_writer *writer = NULL;
    kiln_blob bytes = {0};
    kiln_pack *pack;

    (void)state;
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    add_raw(writer, key, "first");
    add_raw(writer, key, "second");
    assert_int_equal(kiln__pack_writer_count(writer), 1);
    add_raw(writer, other, "another");
    add_raw(writer, key, "third");
    assert_int_equal(kiln__pack_writer_count(writer), 2);
    pack = finish(&bytes, writer);
    assert_int_equal(kiln__pack_count(pack), 2);
    assert_raw(pack, key, "first");
    assert_raw(pack, other, "another");
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
}

static kiln_key key_in_bucket(uint64_t number, const char *text)
{
    return (kiln_key){harness_digest(7, number), text, strlen(text)};
}

/* Sixty keys of one digest, and digests that all fall into one bucket. */
static void digests_that_are_alike_are_told_apart(void **state)
{
    kiln__pack_writer *writer = NULL;
    kiln_blob bytes = {0};
    char text[16], keys[60][4];
    kiln_pack *pack;

    (void)state;
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    for (unsigned i = 0; i < 60; i++) {
        snprintf(keys[i], sizeof keys[i], "k%u", i);
        snprintf(text, sizeof text, "value %u", i);
        add_raw(writer, key_in_bucket(0, keys[i]), text);
        add_raw(writer, key_in_bucket(i + 1, keys[i]), text);
    }
    pack = finish(&bytes, writer);
    assert_int_equal(kiln__pack_count(pack), 120);
    for (unsigned i = 0; i < 60; i++) {
        snprintf(text, sizeof text, "value %u", i);
        assert_raw(pack, key_in_bucket(0, keys[i]), text);
        assert_raw(pack, key_in_bucket(i + 1, keys[i]), text);
    }
    assert_ok(kiln__pack_verify(pack, &test_error));
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
}

static void what_is_damaged_or_of_this_process_is_refused(void **state)
{
    kiln__pack_writer *writer = NULL;
    kiln__entry entry = pack_entry(1, 100);
    kiln_blob envelope = {0};

    (void)state;
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    entry.relocation = KILN_RELOCATION_SESSION;
    assert_fails(KILN_EINVAL, "session",
                 kiln__pack_writer_add_entry(writer, &entry, &test_error));
    entry.relocation = KILN_RELOCATION_PORTABLE;
    assert_ok(kiln__entry_encode(&envelope, &kiln__malloc, &entry));
    ((unsigned char *)(uintptr_t)envelope.data)[envelope.size - 1] ^= 1;
    assert_fails(KILN_ECORRUPT, "checksum",
                 kiln__pack_writer_add(writer, &envelope, &test_error));
    assert_non_null(envelope.data);
    envelope.size = KILN__ENTRY_LARGEST + 1;
    assert_fails(KILN_EINVAL, "too large",
                 kiln__pack_writer_add(writer, &envelope, &test_error));
    assert_int_equal(kiln__pack_writer_count(writer), 0);
    kiln_blob_release(&envelope);
    kiln__pack_writer_free(writer);
}

/* Packs of several packages in one, without duplicates, nothing copied: the
   packs may be closed first. */
static void packs_are_merged(void **state)
{
    kiln_blob first = pack_bytes(30, 100), second = pack_bytes(50, 100);
    kiln_pack *packs[2] = {open_bytes(&first), open_bytes(&second)}, *pack;
    kiln__pack_writer *writer = NULL;
    kiln_blob bytes = {0};

    (void)state;
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    for (int i = 0; i < 2; i++) {
        assert_ok(
            kiln__pack_writer_add_pack(writer, packs[i], NULL, &test_error));
        kiln_pack_close(packs[i]);
    }
    assert_int_equal(kiln__pack_writer_count(writer), 50);
    pack = finish(&bytes, writer);
    assert_blob_equal(bytes, second.data, second.size);
    assert_whole(pack, 50, 100);
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
    kiln_blob_release(&second);
    kiln_blob_release(&first);
}

static void merging_leaves_out_what_is_damaged(void **state)
{
    kiln_blob bytes = pack_bytes(20, 100);
    unsigned char *raw = (unsigned char *)(uintptr_t)bytes.data;
    kiln__pack_writer *writer = NULL;
    kiln_pack *pack;
    size_t damaged = 0;

    (void)state;
    raw[128] ^= 1; /* the first entry's magic */
    pack = open_bytes(&bytes);
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_fails(KILN_ECORRUPT, "foreign",
                 kiln__pack_writer_add_pack(writer, pack, NULL, &test_error));
    assert_ok(kiln__pack_writer_add_pack(writer, pack, &damaged, &test_error));
    assert_int_equal(damaged, 1);
    assert_int_equal(kiln__pack_writer_count(writer), 19);
    assert_fails(KILN_ECORRUPT, "foreign",
                 kiln__pack_verify(pack, &test_error));
    kiln__pack_writer_free(writer);
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
}

/* ---- holding ---- */

static void what_is_lent_outlives_the_pack(void **state)
{
    kiln__pack_writer *writer = NULL;
    kiln_pack *pack = NULL;
    kiln__packed found;
    kiln__entry entry;
    char path[4096];

    snprintf(path, sizeof path, "%s/some.kilnpack", (const char *)*state);
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_ok(pack_fill(writer, 0, 10, 2000));
    assert_ok(kiln__pack_writer_to_file(writer, path, &test_error));
    kiln__pack_writer_free(writer);
    assert_ok(kiln__pack_open(&pack, &kiln__malloc, path, &test_error));
    entry = pack_entry(3, 2000);
    assert_ok(kiln__pack_find(&found, pack, &entry.key));
    kiln_pack_close(pack);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(found.entry.payload_size, entry.payload_size);
    assert_memory_equal(found.entry.payload, entry.payload, entry.payload_size);
    kiln_blob_release(&found.bytes);
}

typedef struct readers {
    kiln_pack *pack;
    kiln_key keys[50];
    char texts[50][40];
    thread_report report;
} readers;

static void *read_all(void *argument)
{
    readers *r = argument;

    for (int i = 0; i < 100; i++) {
        kiln__packed found;

        thread_assert(&r->report, kiln__pack_find(&found, r->pack,
                                                  &r->keys[i % 50]) == KILN_OK);
        kiln_blob_release(&found.bytes);
    }
    return NULL;
}

static void threads_look_at_one_file(void **state)
{
    readers r = {.report = THREAD_REPORT_INIT};
    kiln_blob bytes = pack_bytes(50, 2000);
    char path[4096];

    harness_write_file(path, sizeof path, *state, "some", bytes.data,
                       bytes.size);
    for (uint64_t i = 0; i < 50; i++) {
        const kiln_key key = pack_entry(i, 2000).key;

        memcpy(r.texts[i], key.encoded, key.encoded_size);
        r.keys[i] = (kiln_key){key.digest, r.texts[i], key.encoded_size};
    }
    assert_ok(kiln__pack_open(&r.pack, &kiln__malloc, path, &test_error));
    harness_run_threads(4, read_all, &r);
    assert_threads_ok(&r.report);
    kiln_pack_close(r.pack);
    kiln_blob_release(&bytes);
}

static void a_store_holds_the_pack(void **state)
{
    kiln_blob bytes = pack_bytes(10, 2000), blob = {0};
    kiln_pack *pack = open_bytes(&bytes);
    const kiln__entry entry = pack_entry(3, 2000);
    void *self = kiln__pack_store(pack);
    kiln__entry read;

    (void)state;
    kiln_pack_close(pack);
    assert_ok(kiln__pack_store_ops.get(self, &entry.key, &blob, &test_error));
    kiln__pack_store_ops.free(self);
    assert_int_equal(
        kiln__entry_decode(&read, blob.data, blob.size, &entry.key),
        KILN__FAULT_NONE);
    kiln_blob_release(&blob);
    kiln_blob_release(&bytes);
}

/* ---- what is no pack, or is one no more ---- */

#define COUNT 6
#define SIZE ((size_t)90)

/* With a copy of exactly that size, for a sanitizer to see. */
static kiln_status open_copy(kiln_pack **out, unsigned char **copy,
                             const void *bytes, size_t size)
{
    *copy = malloc(size ? size : 1);
    assert_non_null(*copy);
    memcpy(*copy, bytes, size);
    return kiln_pack_open_memory(out, *copy, size, NULL);
}

static void a_pack_that_was_cut_is_refused(void **state)
{
    kiln_blob bytes = pack_bytes(COUNT, SIZE);

    (void)state;
    for (size_t size = 0; size < bytes.size; size++) {
        kiln_pack *pack = NULL;
        unsigned char *copy;

        assert_status(KILN_ECORRUPT, open_copy(&pack, &copy, bytes.data, size));
        free(copy);
    }
    kiln_blob_release(&bytes);
}

static void something_after_the_end_is_refused(void **state)
{
    kiln_blob bytes = pack_bytes(COUNT, SIZE);
    unsigned char *longer = calloc(1, bytes.size + 64);
    kiln_pack *pack = NULL;

    (void)state;
    assert_non_null(longer);
    memcpy(longer, bytes.data, bytes.size);
    assert_fails(
        KILN_ECORRUPT, "follows its end",
        kiln_pack_open_memory(&pack, longer, bytes.size + 64, &test_error));
    free(longer);
    kiln_blob_release(&bytes);
}

/* Either the pack is refused, or each entry is there or is missed; never is
   there another one. A full check finds every bit. */
static void a_flipped_bit_is_a_miss_at_most(void **state)
{
    kiln_blob bytes = pack_bytes(COUNT, SIZE);
    int refused = 0, misses = 0;

    (void)state;
    for (size_t bit = 0; bit < bytes.size * 8; bit++) {
        kiln_pack *pack = NULL;
        unsigned char *copy;
        kiln_status status;

        ((unsigned char *)(uintptr_t)bytes.data)[bit / 8] ^=
            (unsigned char)(1u << bit % 8);
        status = open_copy(&pack, &copy, bytes.data, bytes.size);
        if (status == KILN_OK) {
            for (uint64_t i = 0; i < COUNT; i++) {
                const int found = pack_holds(pack, i, SIZE);

                assert_true(found >= 0);
                misses += !found;
            }
            assert_status(KILN_ECORRUPT, kiln__pack_verify(pack, NULL));
        } else {
            assert_int_equal(status, KILN_ECORRUPT);
            refused++;
        }
        kiln_pack_close(pack);
        free(copy);
        ((unsigned char *)(uintptr_t)bytes.data)[bit / 8] ^=
            (unsigned char)(1u << bit % 8);
    }
    assert_int_equal(refused, 8 * (128 + 32)); /* header and footer */
    assert_true(misses > 0);
    kiln_blob_release(&bytes);
}

static void what_is_no_pack_says_so(void **state)
{
    const char *folder = *state;
    kiln_pack *pack = NULL;
    char path[4096], text[300];

    memset(text, 'x', sizeof text);
    assert_fails(KILN_ECORRUPT, "no file",
                 kiln_pack_open(&pack, folder, &test_error));
    snprintf(path, sizeof path, "%s/none", folder);
    assert_fails(KILN_ENOTFOUND, "none",
                 kiln_pack_open(&pack, path, &test_error));
    harness_write_file(path, sizeof path, folder, "empty", "", 0);
    assert_fails(KILN_ECORRUPT, "size",
                 kiln_pack_open(&pack, path, &test_error));
    harness_write_file(path, sizeof path, folder, "text", text, sizeof text);
    assert_fails(KILN_ECORRUPT, "no pack",
                 kiln_pack_open(&pack, path, &test_error));
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(KILN_ECORRUPT, "no file",
                 kiln_pack_open(&pack, path, &test_error));
    assert_null(pack);
}

/* ---- out of memory ---- */

static kiln_status write_and_read(const kiln_alloc *alloc, void *env)
{
    const char *path = env;
    kiln__pack_writer *writer = NULL;
    kiln_blob bytes = {0};
    kiln_pack *pack = NULL;
    kiln_status status = kiln__pack_writer_new(&writer, alloc);

    if (status == KILN_OK)
        status = pack_fill(writer, 0, 9, 200);
    if (status == KILN_OK)
        status = kiln__pack_writer_to_blob(&bytes, writer, NULL);
    if (status == KILN_OK)
        status = kiln__pack_writer_to_file(writer, path, NULL);
    if (status == KILN_OK)
        status = kiln__pack_open(&pack, alloc, path, NULL);
    if (status == KILN_OK)
        status = kiln__pack_verify(pack, NULL);
    if (status == KILN_OK)
        status = kiln__pack_writer_add_pack(writer, pack, NULL, NULL);
    kiln__pack_release(pack);
    kiln_blob_release(&bytes);
    kiln__pack_writer_free(writer);
    return status;
}

static void packs_survive_failing_allocations(void **state)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/some.kilnpack", (const char *)*state);
    assert_survives_failing_alloc(write_and_read, path);
}

/* ---- many ---- */

static uint64_t many = 10000;

static void many_entries_are_found(void **state)
{
    kiln__pack_writer *writer = NULL;
    kiln_pack *pack = NULL;
    char path[4096];

    snprintf(path, sizeof path, "%s/many.kilnpack", (const char *)*state);
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_ok(pack_fill(writer, 0, many, 500));
    assert_ok(kiln__pack_writer_to_file(writer, path, &test_error));
    kiln__pack_writer_free(writer);
    assert_ok(kiln_pack_open(&pack, path, &test_error));
    assert_whole(pack, many, 500);
    kiln_pack_close(pack);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

/* test_pack [ENTRIES]: how many are many. */
int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_pack_holds_nothing),
        cmocka_unit_test(packs_of_any_number_of_entries_are_whole),
        cmocka_unit_test(payloads_lie_at_multiples_of_64),
        cmocka_unit_test(entries_come_in_the_order_of_their_digests),
        IN_FOLDER(a_file_gives_what_was_put_into_it),
        IN_FOLDER(a_file_has_the_bytes_of_the_memory),
        cmocka_unit_test(the_order_of_adding_does_not_matter),
        cmocka_unit_test(of_equal_keys_the_first_stays),
        cmocka_unit_test(digests_that_are_alike_are_told_apart),
        cmocka_unit_test(what_is_damaged_or_of_this_process_is_refused),
        cmocka_unit_test(packs_are_merged),
        cmocka_unit_test(merging_leaves_out_what_is_damaged),
        IN_FOLDER(what_is_lent_outlives_the_pack),
        IN_FOLDER(threads_look_at_one_file),
        cmocka_unit_test(a_store_holds_the_pack),
        cmocka_unit_test(a_pack_that_was_cut_is_refused),
        cmocka_unit_test(something_after_the_end_is_refused),
        cmocka_unit_test(a_flipped_bit_is_a_miss_at_most),
        IN_FOLDER(what_is_no_pack_says_so),
        IN_FOLDER(packs_survive_failing_allocations),
        IN_FOLDER(many_entries_are_found),
    };

    if (count > 1)
        many = strtoull(arguments[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
