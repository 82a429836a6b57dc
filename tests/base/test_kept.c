/* test_kept.c - descriptors that may be somebody else's by now. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault */
#include "base/system/kept.h"

#include <stdio.h>
#include <unistd.h>

#include "support/harness.h"

/* A file that is gone gives its inode to one of the next, on most file
   systems to the very next. */
#define TURNS 20

static int make(const char *path)
{
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);

    assert_true(file >= 0);
    return file;
}

static void a_new_file_of_the_same_number_is_another_one(void **state)
{
    char path[600];

    (void)snprintf(path, sizeof path, "%s/file", (const char *)*state);
    for (int turn = 0; turn < TURNS; turn++) {
        kiln__kept kept = kiln__kept_of(make(path));
        int file;

        assert_true(kiln__kept_is_ours(&kept));
        assert_int_equal(close(kept.number), 0);
        assert_false(kiln__kept_is_ours(&kept));
        assert_int_equal(unlink(path), 0);
        file = make(path);
        if (file != kept.number) {
            assert_int_equal(dup2(file, kept.number), kept.number);
            assert_int_equal(close(file), 0);
        }
        assert_false(kiln__kept_is_ours(&kept));
        file = kept.number;
        kiln__kept_close(&kept);
        assert_int_equal(close(file), 0); /* it was not Kiln's to close */
        assert_int_equal(unlink(path), 0);
    }
}

static void inodes_of_another_birth_or_type_are_others(void **state)
{
    kiln__kept kept = kiln__kept_of(open(*state, O_RDONLY | O_DIRECTORY));
    kiln__kept other = kept;

    assert_true(kiln__kept_is_ours(&other));
    other.facts.type = S_IFREG;
    assert_false(kiln__kept_is_ours(&other));
    other = kept;
    other.facts.born_ns ^= 1;
    assert_int_equal(kiln__kept_is_ours(&other), !kept.facts.has_birth);
    other.facts.has_birth = 0; /* as on a file system that has none */
    assert_true(kiln__kept_is_ours(&other));
    kiln__kept_close(&kept);
    assert_int_equal(kept.number, -1);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_new_file_of_the_same_number_is_another_one),
        IN_FOLDER(inodes_of_another_birth_or_type_are_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
