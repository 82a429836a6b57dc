/* test_entry_golden.c - entries that earlier versions wrote are read or missed.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: golden tiers */
#include <stdio.h>
#include <string.h>

#include "base/system/file.h"
#include "kiln/kernel.h"
#include "support/harness.h"
#include "support/stores/packs.h"

/* One file of each kind, which is its number, too. Version 1 had fewer. */
#define KINDS_OF_1 9
#define SIZE ((size_t)200)
#define FOLDER KILN_TESTS_FOLDER "/golden/entries"
#define CURRENT "v2"

static kiln__entry entry_of(int32_t kind)
{
    kiln__entry entry = pack_entry((uint64_t)kind, SIZE);

    entry.kind = kind;
    return entry;
}

static void path_of(char path[512], const char *folder, const char *version,
                    int32_t kind)
{
    (void)snprintf(path, 512, "%s/%s/%s.e", folder, version,
                   kiln__entry_kind_text(kind));
}

static kiln_blob kept(const char *version, int32_t kind)
{
    kiln_blob bytes = {0};
    char path[512];

    path_of(path, FOLDER, version, kind);
    assert_ok(kiln__file_read(&bytes, &kiln__malloc, path, (size_t)1 << 20,
                              &test_error));
    return bytes;
}

static void entries_of_version_2_are_read(void **state)
{
    (void)state;
    for (int32_t kind = 0; kind < KILN__ENTRY_KIND_COUNT; kind++) {
        const kiln__entry made = entry_of(kind);
        kiln_blob bytes = kept(CURRENT, kind);
        kiln__entry read;

        assert_int_equal(
            kiln__entry_decode(&read, bytes.data, bytes.size, &made.key),
            KILN__FAULT_NONE);
        assert_int_equal(read.kind, kind);
        assert_int_equal(read.relocation, made.relocation);
        assert_int_equal(read.build_ns, made.build_ns);
        assert_int_equal(read.toolchain_size, made.toolchain_size);
        assert_memory_equal(read.toolchain, made.toolchain,
                            made.toolchain_size);
        assert_int_equal(read.log_size, made.log_size);
        assert_memory_equal(read.log, made.log, made.log_size);
        assert_int_equal(read.meta_size, made.meta_size);
        assert_memory_equal(read.meta, made.meta, made.meta_size);
        assert_int_equal(read.payload_size, made.payload_size);
        assert_memory_equal(read.payload, made.payload, made.payload_size);
        kiln_blob_release(&bytes);
    }
}

/* They were named by digests that two contents can be made to share. */
static void entries_of_version_1_are_missed(void **state)
{
    (void)state;
    for (int32_t kind = 0; kind < KINDS_OF_1; kind++) {
        kiln_blob bytes = kept("v1", kind);
        kiln__entry read;

        assert_int_equal(
            kiln__entry_decode(&read, bytes.data, bytes.size, NULL),
            KILN__FAULT_VERSION);
        kiln_blob_release(&bytes);
    }
}

static void entries_are_written_as_version_2_was(void **state)
{
    (void)state;
    for (int32_t kind = 0; kind < KILN__ENTRY_KIND_COUNT; kind++) {
        const kiln__entry entry = entry_of(kind);
        kiln_blob bytes = kept(CURRENT, kind), made = {0};

        assert_ok(kiln__entry_encode(&made, &kiln__malloc, &entry));
        assert_blob_equal(made, bytes.data, bytes.size);
        kiln_blob_release(&made);
        kiln_blob_release(&bytes);
    }
}

static int write_all(const char *folder)
{
    for (int32_t kind = 0; kind < KILN__ENTRY_KIND_COUNT; kind++) {
        const kiln__entry entry = entry_of(kind);
        kiln_blob made = {0};
        char path[512];
        FILE *file;

        assert_ok(kiln__entry_encode(&made, &kiln__malloc, &entry));
        path_of(path, folder, CURRENT, kind);
        file = fopen(path, "wb");
        if (!file || fwrite(made.data, 1, made.size, file) != made.size ||
            fclose(file) != 0)
            return 1;
        kiln_blob_release(&made);
    }
    return 0;
}

/* test_entry_golden [FOLDER]: writes the golden files there. */
int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_of_version_2_are_read),
        cmocka_unit_test(entries_of_version_1_are_missed),
        cmocka_unit_test(entries_are_written_as_version_2_was),
    };

    if (count > 1)
        return write_all(arguments[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
