/* test_file.c - whole files, temporary folders and opened libraries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/dynlib.h"
#include "base/system/file.h"
#include "base/system/temp_dir.h"
#include "kiln/common.h"
#include "support/harness.h"

#define LIMIT ((size_t)1 << 20)

static void a_file_is_read_whole(void **state)
{
    char path[600], bytes[70000];
    kiln_blob blob;

    memset(bytes, 'k', sizeof bytes);
    harness_write_file(path, sizeof path, *state, "f", bytes, sizeof bytes);

    assert_ok(kiln__file_read(&blob, &kiln__malloc, path, LIMIT, &test_error));
    assert_blob_equal(blob, bytes, sizeof bytes);
    assert_int_equal(((const char *)blob.data)[blob.size], 0);
    kiln_blob_release(&blob);
}

static void an_empty_file_is_an_empty_string(void **state)
{
    char path[600];
    kiln_blob blob;

    harness_write_file(path, sizeof path, *state, "f", "", 0);

    assert_ok(kiln__file_read(&blob, &kiln__malloc, path, LIMIT, &test_error));
    assert_int_equal(blob.size, 0);
    assert_string_equal(blob.data, "");
    kiln_blob_release(&blob);
}

static void a_missing_file_is_named_with_the_reason(void **state)
{
    kiln_blob blob;

    (void)state;
    assert_fails(KILN_EIO, "/no/such/file: No such file or directory",
                 kiln__file_read(&blob, &kiln__malloc, "/no/such/file", LIMIT,
                                 &test_error));
    assert_null(blob.data);
}

static void a_folder_is_no_file(void **state)
{
    kiln_blob blob;

    assert_fails(
        KILN_EIO, "Is a directory",
        kiln__file_read(&blob, &kiln__malloc, *state, LIMIT, &test_error));
}

static void a_pipe_that_nobody_writes_to_is_not_waited_for(void **state)
{
    kiln_blob blob;
    char path[600];

    (void)snprintf(path, sizeof path, "%s/pipe", (const char *)*state);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(
        KILN_EIO, "pipe: it is no regular file",
        kiln__file_read(&blob, &kiln__malloc, path, LIMIT, &test_error));
    assert_fails(
        KILN_EIO, "/dev/zero: it is no regular file",
        kiln__file_read(&blob, &kiln__malloc, "/dev/zero", LIMIT, &test_error));
}

static void a_file_beyond_the_limit_is_refused(void **state)
{
    char path[600];
    kiln_blob blob;

    harness_write_file(path, sizeof path, *state, "f", "12345", 5);

    assert_ok(kiln__file_read(&blob, &kiln__malloc, path, 5, &test_error));
    kiln_blob_release(&blob);
    assert_fails(KILN_EIO, "more than 4 bytes",
                 kiln__file_read(&blob, &kiln__malloc, path, 4, &test_error));
}

static kiln_status read_it(const kiln_alloc *alloc, void *env)
{
    kiln_error *error = NULL;
    kiln_blob blob;
    const kiln_status status =
        kiln__file_read(&blob, alloc, env, LIMIT, &error);

    kiln_error_free(error);
    kiln_blob_release(&blob);
    return status;
}

static void reading_survives_a_failing_allocator(void **state)
{
    char path[600];

    harness_write_file(path, sizeof path, *state, "f", "12345", 5);
    assert_survives_failing_alloc(read_it, path);
}

/* A process that has no descriptor left leaves no folder behind. */
static void an_empty_temporary_folder_goes_without_a_descriptor(void **state)
{
    struct rlimit before, none;
    char path[600];

    (void)state;
    assert_true(kiln__temporary_new(path, sizeof path, "kiln-test"));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    kiln__temporary_remove(path);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_library_is_opened_and_asked(void **state)
{
    void *library = NULL;

    (void)state;
    assert_ok(kiln__dynlib_open(&library, "libm.so.6", &test_error));
    assert_non_null(kiln__dynlib_symbol(library, "cos"));
    assert_null(kiln__dynlib_symbol(library, "no_such_symbol_anywhere"));
}

static void a_missing_library_is_named(void **state)
{
    void *library = NULL;

    (void)state;
    assert_fails(KILN_ENOTFOUND, "libno-such.so",
                 kiln__dynlib_open(&library, "libno-such.so", &test_error));
    assert_null(library);
}

static void an_objects_folder_is_found(void **state)
{
    static const char here = 0;
    char path[PATH_MAX];

    (void)state;
    assert_ok(kiln__dynlib_folder(path, &here));
    assert_int_equal(path[0], '/');
    assert_string_equal(strrchr(path, '/'), "/tests");
    assert_status(KILN_ENOTFOUND, kiln__dynlib_folder(path, NULL));
}

#define in_folder(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(a_file_is_read_whole),
        in_folder(an_empty_file_is_an_empty_string),
        cmocka_unit_test(a_missing_file_is_named_with_the_reason),
        in_folder(a_folder_is_no_file),
        in_folder(a_pipe_that_nobody_writes_to_is_not_waited_for),
        in_folder(a_file_beyond_the_limit_is_refused),
        in_folder(reading_survives_a_failing_allocator),
        cmocka_unit_test(an_empty_temporary_folder_goes_without_a_descriptor),
        cmocka_unit_test(a_library_is_opened_and_asked),
        cmocka_unit_test(a_missing_library_is_named),
        cmocka_unit_test(an_objects_folder_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
