/* test_pack_write.c - a pack is written whole, or not at all. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault tiers */
/* WRAPS: write fallocate fsync close renameat */
#include "stores/pack/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/stores/packs.h"

/*
 * The system calls of writing, each of which may fail, do less than it was
 * asked for, or be the last that the process ever does.
 */

ssize_t __real_write(int descriptor, const void *bytes, size_t size);
int __real_fallocate(int descriptor, int mode, off_t offset, off_t size);
int __real_fsync(int descriptor);
int __real_close(int descriptor);
int __real_renameat(int from_folder, const char *from, int to_folder,
                    const char *to);
ssize_t __wrap_write(int descriptor, const void *bytes, size_t size);
int __wrap_fallocate(int descriptor, int mode, off_t offset, off_t size);
int __wrap_fsync(int descriptor);
int __wrap_close(int descriptor);
int __wrap_renameat(int from_folder, const char *from, int to_folder,
                    const char *to);

typedef struct faults {
    int write, fallocate, fsync, close, rename; /* errno, or 0 */
    size_t largest;      /* that one write does; 0: all of it */
    int interrupts;      /* writes that are interrupted first */
    int calls_until_end; /* of the process, before the call; 0: never */
} faults;

static faults fault;

static void count_call(void)
{
    if (fault.calls_until_end > 0 && --fault.calls_until_end == 0)
        _exit(0);
}

static int failing(int number)
{
    errno = number;
    return -1;
}

ssize_t __wrap_write(int descriptor, const void *bytes, size_t size)
{
    count_call();
    if (fault.interrupts > 0) {
        fault.interrupts--;
        return failing(EINTR);
    }
    if (fault.write)
        return failing(fault.write);
    if (fault.largest && size > fault.largest)
        size = fault.largest;
    return __real_write(descriptor, bytes, size);
}

int __wrap_fallocate(int descriptor, int mode, off_t offset, off_t size)
{
    count_call();
    return fault.fallocate ? failing(fault.fallocate)
                           : __real_fallocate(descriptor, mode, offset, size);
}

int __wrap_fsync(int descriptor)
{
    count_call();
    return fault.fsync ? failing(fault.fsync) : __real_fsync(descriptor);
}

int __wrap_close(int descriptor)
{
    const int done = __real_close(descriptor);

    count_call();
    return fault.close ? failing(fault.close) : done;
}

int __wrap_renameat(int from_folder, const char *from, int to_folder,
                    const char *to)
{
    count_call();
    return fault.rename ? failing(fault.rename)
                        : __real_renameat(from_folder, from, to_folder, to);
}

#define SIZE ((size_t)40000)

static kiln_status write_pack(const char *path, uint64_t count,
                              const faults *faulty, kiln_error **error)
{
    kiln__pack_writer *writer = NULL;
    kiln_status status;

    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_ok(pack_fill(writer, 0, count, SIZE));
    fault = *faulty;
    status = kiln__pack_writer_to_file(writer, path, error);
    fault = (faults){.write = 0};
    kiln__pack_writer_free(writer);
    return status;
}

static void assert_is_whole(const char *path, uint64_t count)
{
    kiln_pack *pack = NULL;

    assert_ok(kiln_pack_open(&pack, path, &test_error));
    assert_int_equal(kiln__pack_count(pack), count);
    assert_ok(kiln__pack_verify(pack, &test_error));
    kiln_pack_close(pack);
}

static int count_files(const char *folder)
{
    DIR *stream = opendir(folder);
    int count = 0;

    assert_non_null(stream);
    for (const struct dirent *e = readdir(stream); e; e = readdir(stream))
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(stream);
    return count;
}

/* The old pack stays, and nothing else. */
static void what_fails_leaves_what_was_there(void **state)
{
    const faults none = {.write = 0};
    const faults all[] = {
        {.write = ENOSPC},     {.write = EDQUOT},     {.write = EIO},
        {.fallocate = ENOSPC}, {.fallocate = EDQUOT}, {.fsync = EIO},
        {.close = EIO},        {.rename = EROFS},     {.rename = EACCES},
    };
    const char *folder = *state;
    char path[4096];

    snprintf(path, sizeof path, "%s/some.kilnpack", folder);
    assert_ok(write_pack(path, 3, &none, &test_error));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_fails(KILN_EIO, "cannot be written",
                     write_pack(path, 40, &all[i], &test_error));
        assert_int_equal(count_files(folder), 1);
        assert_is_whole(path, 3);
    }
}

static void what_cannot_be_reserved_is_written_all_the_same(void **state)
{
    const faults unknown = {.fallocate = EOPNOTSUPP};
    char path[4096];

    snprintf(path, sizeof path, "%s/some.kilnpack", (const char *)*state);
    assert_ok(write_pack(path, 40, &unknown, &test_error));
    assert_is_whole(path, 40);
}

static void short_and_interrupted_writes_go_on(void **state)
{
    const faults slow = {.largest = 777, .interrupts = 5};
    const faults interrupted = {.close = EINTR};
    char path[4096];

    snprintf(path, sizeof path, "%s/some.kilnpack", (const char *)*state);
    assert_ok(write_pack(path, 40, &slow, &test_error));
    assert_is_whole(path, 40);
    assert_ok(write_pack(path, 41, &interrupted, &test_error));
    assert_is_whole(path, 41);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    const faults none = {.write = 0};
    char path[4096];

    snprintf(path, sizeof path, "%s/none/some.kilnpack", (const char *)*state);
    assert_fails(KILN_EIO, "cannot be written",
                 write_pack(path, 2, &none, &test_error));
}

/* Ends between any two calls. Returns whether the writer came to its end. */
static int write_and_die(const char *path, int calls)
{
    const pid_t child = fork();
    int ended = 0;

    assert_true(child >= 0);
    if (child == 0) {
        const faults dying = {.calls_until_end = calls};

        (void)write_pack(path, 40, &dying, NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    return WEXITSTATUS(ended) == 1;
}

static void a_writer_that_is_killed_leaves_one_pack_or_the_other(void **state)
{
    const faults none = {.write = 0};
    const char *folder = *state;
    int calls = 0, done = 0, old = 0, new = 0;
    char path[4096];

    snprintf(path, sizeof path, "%s/some.kilnpack", folder);
    while (!done) {
        kiln_pack *pack = NULL;

        assert_ok(write_pack(path, 3, &none, &test_error));
        done = write_and_die(path, ++calls);
        assert_ok(kiln_pack_open(&pack, path, &test_error));
        assert_ok(kiln__pack_verify(pack, &test_error));
        if (kiln__pack_count(pack) == 3)
            old++;
        else
            new ++;
        kiln_pack_close(pack);
    }
    assert_true(old >= 4); /* before writing, syncing, closing, renaming */
    assert_true(new >= 2); /* after renaming, and at the end */
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_fails_leaves_what_was_there),
        IN_FOLDER(what_cannot_be_reserved_is_written_all_the_same),
        IN_FOLDER(short_and_interrupted_writes_go_on),
        IN_FOLDER(a_folder_that_is_not_there_is_an_error),
        IN_FOLDER(a_writer_that_is_killed_leaves_one_pack_or_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
