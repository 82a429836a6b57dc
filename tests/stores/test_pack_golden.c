/* test_pack_golden.c - packs that earlier versions wrote are read or refused.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: golden tiers */
#include "stores/pack/pack.h"

#include <stdio.h>
#include <string.h>

#include "base/system/file.h"
#include "support/harness.h"
#include "support/stores/packs.h"

/* The files hold the entries 0 to 8 of at most 200 bytes of payload. */
#define COUNT 9
#define SIZE ((size_t)200)
#define FOLDER KILN_TESTS_FOLDER "/golden/packs"

static void packs_of_version_2_are_read(void **state)
{
    kiln_pack *pack = NULL;

    (void)state;
    assert_ok(kiln_pack_open(&pack, FOLDER "/v2.kilnpack", &test_error));
    assert_int_equal(kiln__pack_count(pack), COUNT);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(pack_holds(pack, i, SIZE), 1);
    assert_ok(kiln__pack_verify(pack, &test_error));
    kiln_pack_close(pack);
}

static void packs_are_written_as_version_2_was(void **state)
{
    kiln_blob made = pack_bytes(COUNT, SIZE), kept = {0};

    (void)state;
    assert_ok(kiln__file_read(&kept, &kiln__malloc, FOLDER "/v2.kilnpack",
                              (size_t)1 << 20, &test_error));
    assert_blob_equal(made, kept.data, kept.size);
    kiln_blob_release(&kept);
    kiln_blob_release(&made);
}

/* Its digests are such that two contents can be made to share one. */
static void packs_of_version_1_are_refused(void **state)
{
    kiln_pack *pack = NULL;

    (void)state;
    assert_fails(KILN_ECORRUPT, "version",
                 kiln_pack_open(&pack, FOLDER "/v1.kilnpack", &test_error));
}

/* Of a version that is not known yet: refused, by name. */
static void packs_of_a_later_version_are_refused(void **state)
{
    kiln_blob bytes = pack_bytes(COUNT, SIZE);
    kiln_pack *pack = NULL;

    (void)state;
    ((unsigned char *)(uintptr_t)bytes.data)[8]++;
    assert_fails(
        KILN_ECORRUPT, "version",
        kiln_pack_open_memory(&pack, bytes.data, bytes.size, &test_error));
    kiln_blob_release(&bytes);
}

/* test_pack_golden [FILE]: writes the golden file there. */
int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_of_version_2_are_read),
        cmocka_unit_test(packs_of_version_1_are_refused),
        cmocka_unit_test(packs_are_written_as_version_2_was),
        cmocka_unit_test(packs_of_a_later_version_are_refused),
    };

    if (count > 1) {
        kiln__pack_writer *writer = NULL;

        assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
        assert_ok(pack_fill(writer, 0, COUNT, SIZE));
        assert_ok(kiln__pack_writer_to_file(writer, arguments[1], &test_error));
        kiln__pack_writer_free(writer);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
