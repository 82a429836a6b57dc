/* test_loose.c - loose files: damage, folders, and who may write there. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault tiers */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "context/context.h"
#include "support/harness.h"
#include "support/stores/loose_files.h"

static void write_file(const char *path, const void *bytes, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

static int exists(const char *path)
{
    struct stat facts;

    return lstat(path, &facts) == 0;
}

/* ---- damage ---- */

/* The entry's file holds these bytes: a miss for that reason, and the file is
   gone. */
static void assert_bad(kiln__loose *loose, const loose_entry *e,
                       const char *path, const void *bytes, size_t size,
                       kiln__entry_fault expected)
{
    kiln__entry_fault fault = KILN__FAULT_NONE;

    write_file(path, bytes, size);
    assert_false(loose_has(loose, e, &fault));
    if (expected != KILN__FAULT_NONE)
        assert_string_equal(kiln__entry_fault_text(fault),
                            kiln__entry_fault_text(expected));
    assert_int_not_equal(fault, KILN__FAULT_NONE);
    assert_false(exists(path));
}

static void an_entry_with_any_byte_flipped_is_a_miss_and_goes(void **state)
{
    kiln__loose *loose = loose_at(*state);
    char path[512], *bytes;
    kiln__entry_fault fault;
    loose_entry e;

    loose_entry_make(&e, "flipped", 300);
    loose_put(loose, &e);
    loose_path(path, sizeof path, *state, &e);
    bytes = malloc(e.envelope.size);
    assert_non_null(bytes);
    for (size_t i = 0; i < e.envelope.size; i++) {
        memcpy(bytes, e.envelope.data, e.envelope.size);
        bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
        assert_bad(loose, &e, path, bytes, e.envelope.size, KILN__FAULT_NONE);
    }
    loose_put(loose, &e);
    assert_true(loose_has(loose, &e, &fault));
    free(bytes);
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

static void an_entry_cut_at_any_length_is_a_miss_and_goes(void **state)
{
    kiln__loose *loose = loose_at(*state);
    kiln__entry_fault fault;
    char path[512];
    loose_entry e;

    loose_entry_make(&e, "cut", 300);
    loose_put(loose, &e);
    loose_path(path, sizeof path, *state, &e);
    for (size_t i = 0; i < e.envelope.size; i++)
        assert_bad(loose, &e, path, e.envelope.data, i, KILN__FAULT_NONE);
    assert_bad(loose, &e, path, "", 0, KILN__FAULT_TRUNCATED);
    loose_put(loose, &e);
    assert_true(loose_has(loose, &e, &fault));
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

static void what_is_no_entry_of_ours_is_counted_as_such(void **state)
{
    kiln__loose *loose = loose_at(*state);
    char path[512], zeros[4096] = {0}, *bytes;
    loose_entry e, other;

    loose_entry_make(&e, "one", 10);
    loose_entry_make(&other, "another", 10);
    loose_put(loose, &e);
    loose_path(path, sizeof path, *state, &e);
    bytes = malloc(e.envelope.size);
    assert_non_null(bytes);
    memcpy(bytes, e.envelope.data, e.envelope.size);
    bytes[8] = 99;

    assert_bad(loose, &e, path, "#!/bin/sh\n", 10, KILN__FAULT_FOREIGN);
    assert_bad(loose, &e, path, zeros, sizeof zeros, KILN__FAULT_FOREIGN);
    assert_bad(loose, &e, path, bytes, e.envelope.size, KILN__FAULT_VERSION);
    assert_bad(loose, &e, path, other.envelope.data, other.envelope.size,
               KILN__FAULT_KEY);
    free(bytes);
    loose_entry_end(&e);
    loose_entry_end(&other);
    kiln__loose_free(loose);
}

static void bytes_after_an_entry_make_it_malformed(void **state)
{
    kiln__loose *loose = loose_at(*state);
    char path[512], *bytes;
    loose_entry e;

    loose_entry_make(&e, "longer", 10);
    loose_put(loose, &e);
    loose_path(path, sizeof path, *state, &e);
    bytes = calloc(1, e.envelope.size + 1);
    assert_non_null(bytes);
    memcpy(bytes, e.envelope.data, e.envelope.size);
    assert_bad(loose, &e, path, bytes, e.envelope.size + 1,
               KILN__FAULT_MALFORMED);
    free(bytes);
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

/* As if there was no more memory than that. */
static void *give_little(void *env, void *memory, size_t old, size_t size)
{
    (void)env;
    return size > (size_t)16 << 20
               ? NULL
               : kiln__malloc.realloc(kiln__malloc.env, memory, old, size);
}

/* A file may be large and have nothing in it. */
static void a_file_that_is_larger_than_it_says_is_not_read(void **state)
{
    static const kiln_alloc little = {.size = sizeof little,
                                      .realloc = give_little};
    static const off_t sizes[] = {(off_t)1 << 21, (off_t)1000 << 20,
                                  (off_t)1 << 40};
    const kiln__loose_options options = loose_options(*state);
    kiln__entry_fault fault = KILN__FAULT_NONE;
    kiln__loose *loose = NULL;
    char path[512];
    loose_entry e;

    assert_ok(kiln__loose_new(&loose, &little, NULL, &options));
    loose_entry_make(&e, "larger", 300);
    loose_path(path, sizeof path, *state, &e);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        loose_put(loose, &e);
        assert_int_equal(truncate(path, sizes[i]), 0);
        assert_false(loose_has(loose, &e, &fault));
        assert_int_not_equal(fault, KILN__FAULT_NONE);
        assert_false(exists(path));
    }
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

static void a_link_is_no_entry(void **state)
{
    kiln__loose *loose = loose_at(*state);
    char path[512], aside[600];
    kiln__entry_fault fault;
    loose_entry e;

    loose_entry_make(&e, "linked", 10);
    loose_put(loose, &e);
    loose_path(path, sizeof path, *state, &e);
    (void)snprintf(aside, sizeof aside, "%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(symlink(aside, path), 0);

    assert_false(loose_has(loose, &e, &fault));
    assert_int_equal(fault, KILN__FAULT_FOREIGN);
    assert_false(exists(path));
    assert_true(exists(aside));
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

static void a_pipe_or_a_folder_in_an_entrys_place_is_a_miss(void **state)
{
    kiln__loose *loose = loose_at(*state);
    kiln__entry_fault fault;
    char path[512];
    loose_entry e;

    loose_entry_make(&e, "pipe", 10);
    loose_put(loose, &e);
    loose_path(path, sizeof path, *state, &e);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(loose_has(loose, &e, &fault));
    assert_int_equal(fault, KILN__FAULT_FOREIGN);
    assert_false(exists(path));

    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(loose_has(loose, &e, &fault));
    assert_true(exists(path));
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

/* A bad file that was read and has meanwhile been replaced by a good one. */
static void only_the_file_that_was_read_is_dropped(void **state)
{
    kiln__loose *loose = loose_at(*state);
    uint64_t identity[2];
    kiln__entry_fault fault;
    struct stat facts;
    char path[512];
    loose_entry e;

    loose_entry_make(&e, "newer", 10);
    loose_put(loose, &e);
    loose_path(path, sizeof path, *state, &e);
    assert_int_equal(stat(path, &facts), 0);
    identity[0] = facts.st_dev;
    identity[1] = facts.st_ino + 1;
    kiln__loose_drop(loose, e.entry.key.digest, identity);
    assert_true(loose_has(loose, &e, &fault));

    identity[1] = facts.st_ino;
    kiln__loose_drop(loose, e.entry.key.digest, identity);
    assert_false(loose_has(loose, &e, &fault));
    assert_int_equal(fault, KILN__FAULT_NONE);
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

/* ---- what is written ---- */

static void files_and_folders_are_the_users_alone(void **state)
{
    kiln__loose_options options = loose_options(NULL);
    kiln__loose *loose;
    char folder[256], path[512];
    struct stat facts;
    loose_entry e;

    (void)snprintf(folder, sizeof folder, "%s/.cache/kiln", (char *)*state);
    options.directory = folder;
    options.name_space = "site";
    loose = loose_open(&options);
    loose_entry_make(&e, "mine", 10);
    loose_put(loose, &e);

    (void)snprintf(path, sizeof path, "%s/site", folder);
    loose_path(path, sizeof path, path, &e);
    (void)snprintf(folder + strlen(folder), 8, "/site");
    loose_path(path, sizeof path, folder, &e);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    while (strlen(path) > strlen(*state) + 1) {
        *strrchr(path, '/') = '\0';
        assert_int_equal(stat(path, &facts), 0);
        assert_int_equal(facts.st_mode & 0777, 0700);
    }
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

static void the_first_writer_wins_and_a_replacement_does_not(void **state)
{
    kiln__loose *loose = loose_at(*state);
    kiln__entry_fault fault;
    loose_entry first, second;

    loose_entry_make(&first, "same", 10);
    loose_entry_make(&second, "same", 20);
    loose_put(loose, &first);
    loose_put(loose, &second);
    assert_true(loose_has(loose, &first, &fault));
    assert_ok(kiln__loose_put(loose, second.entry.key.digest,
                              second.envelope.data, second.envelope.size, 1));
    assert_true(loose_has(loose, &second, &fault));
    assert_int_equal(loose_count(*state, KILN__LOOSE_TEMPORARY), 0);
    loose_entry_end(&first);
    loose_entry_end(&second);
    kiln__loose_free(loose);
}

static void a_use_is_noted_once_an_hour(void **state)
{
    kiln__loose *loose = loose_at(*state);
    kiln__loose_options options = loose_options(*state);
    kiln__loose *reader;
    kiln__entry_fault fault;
    struct stat facts;
    char path[512];
    loose_entry e;

    options.writes = 0;
    reader = loose_open(&options);
    loose_entry_make(&e, "used", 10);
    loose_put(loose, &e);
    loose_path(path, sizeof path, *state, &e);

    loose_set_age(path, 1800);
    assert_true(loose_has(loose, &e, &fault));
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_mtime < time(NULL) - 1700);

    loose_set_age(path, 7200);
    assert_true(loose_has(reader, &e, &fault));
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_mtime < time(NULL) - 7100);
    assert_true(loose_has(loose, &e, &fault));
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_mtime > time(NULL) - 100);

    loose_set_age(path, -1000000);
    assert_true(loose_has(loose, &e, &fault));
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_mtime < time(NULL) + 100);
    loose_entry_end(&e);
    kiln__loose_free(reader);
    kiln__loose_free(loose);
}

static void a_folder_that_vanishes_is_made_again(void **state)
{
    char folder[256], command[300];
    kiln__entry_fault fault;
    kiln__loose *loose;
    loose_entry e;

    (void)snprintf(folder, sizeof folder, "%s/kiln", (char *)*state);
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    loose = loose_at(folder);
    loose_entry_make(&e, "again", 10);
    for (int i = 0; i < 4; i++) {
        loose_put(loose, &e);
        assert_true(loose_has(loose, &e, &fault));
        assert_int_equal(system(command), 0);
        assert_false(loose_has(loose, &e, &fault));
    }
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

static void a_child_of_fork_reads_and_writes(void **state)
{
    kiln__loose *loose = loose_at(*state);
    kiln__entry_fault fault;
    loose_entry before, in_child;
    int status = -1;
    pid_t child;

    loose_entry_make(&before, "before", 10);
    loose_entry_make(&in_child, "in child", 10);
    loose_put(loose, &before);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(!loose_has(loose, &before, &fault) ||
              kiln__loose_put(loose, in_child.entry.key.digest,
                              in_child.envelope.data, in_child.envelope.size,
                              0) != KILN_OK);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(loose_has(loose, &in_child, &fault));
    loose_entry_end(&before);
    loose_entry_end(&in_child);
    kiln__loose_free(loose);
}

/* ---- folders that are not used ---- */

static void note_line(void *env, int32_t level, const char *line)
{
    char *all = env;

    (void)level;
    (void)snprintf(all + strlen(all), 1000 - strlen(all), "%s\n", line);
}

/* Nothing is put or found; one line says why. */
static void assert_refused(const kiln__loose_options *options,
                           const char *reason)
{
    char lines[1000] = "";
    kiln_context context;
    kiln__entry_fault fault;
    kiln__loose *loose = NULL;
    loose_entry e;

    memset(&context, 0, sizeof context);
    context.host.log = note_line;
    context.host_env = lines;
    loose_entry_make(&e, "refused", 10);
    assert_ok(kiln__loose_new(&loose, &kiln__malloc, &context, options));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kiln__loose_put(loose, e.entry.key.digest,
                                         e.envelope.data, e.envelope.size, 0),
                         KILN_EREADONLY);
        assert_false(loose_has(loose, &e, &fault));
    }
    assert_contains(lines, reason);
    assert_ptr_equal(strchr(lines, '\n'), lines + strlen(lines) - 1);
    kiln__loose_free(loose);
    loose_entry_end(&e);
}

static void a_folder_that_others_may_write_to_is_refused(void **state)
{
    const kiln__loose_options options = loose_options(*state);

    assert_int_equal(chmod(*state, 0770), 0);
    assert_refused(&options, "others may write to it");
    assert_int_equal(chmod(*state, 0707), 0);
    assert_refused(&options, "others may write to it");
    assert_int_equal(chmod(*state, 0755), 0);
    kiln__loose_free(loose_at(*state));
}

static void a_folder_of_ours_in_the_folder_is_looked_at_too(void **state)
{
    const kiln__loose_options options = loose_options(*state);
    char path[512];

    (void)snprintf(path, sizeof path, "%s/v2", (char *)*state);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0777), 0);
    assert_refused(&options, "others may write to it");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/tmp", path), 0);
    assert_refused(&options, "");
}

static void a_folder_of_another_user_is_refused(void **state)
{
    kiln__loose_options options = loose_options(*state);

    if (geteuid() != 0)
        test_skip(SKIP_MACHINE, "not run as root");
    assert_int_equal(chown(*state, 12345, 12345), 0);
    assert_refused(&options, "it is another user's");

    /* Read as part of a search path, it may be. */
    options.writes = 0;
    options.trust.is_shared = 1;
    kiln__loose_free(loose_open(&options));
    assert_int_equal(chown(*state, 0, 0), 0);
}

static void a_file_in_the_folders_place_is_refused(void **state)
{
    kiln__loose_options options = loose_options(NULL);
    char path[512];

    harness_write_file(path, sizeof path, *state, "kiln", "x", 1);
    options.directory = path;
    assert_refused(&options, "Not a directory");
}

/* Root may write where it is not allowed to, so another user tries. */
static void a_read_only_folder_is_read(void **state)
{
    int status = -1;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        const char *folder = *state;
        kiln__loose *loose;
        kiln__entry_fault fault;
        loose_entry e, other;
        char path[512];

        if (geteuid() == 0 &&
            (chown(folder, 12345, 12345) != 0 || setuid(12345) != 0))
            _exit(10);
        loose_entry_make(&e, "there", 10);
        loose_entry_make(&other, "not there", 10);
        loose = loose_at(folder);
        loose_put(loose, &e);
        loose_path(path, sizeof path, folder, &e);
        *strrchr(path, '/') = '\0';
        (void)chmod(path, 0500);
        *strrchr(path, '/') = '\0';
        (void)chmod(path, 0500);
        if (kiln__loose_put(loose, other.entry.key.digest, other.envelope.data,
                            other.envelope.size, 0) != KILN_EREADONLY)
            _exit(11);
        if (!loose_has(loose, &e, &fault))
            _exit(12);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- memory ---- */

static kiln_status use_it(const kiln_alloc *alloc, void *env)
{
    const kiln__loose_options options = loose_options(env);
    kiln__loose *loose = NULL;
    kiln__entry_fault fault;
    kiln__stored stored;
    loose_entry e;
    kiln_status status;

    status = kiln__loose_new(&loose, alloc, NULL, &options);
    if (status != KILN_OK)
        return status;
    loose_entry_make(&e, "scarce", 100);
    status = kiln__loose_put(loose, e.entry.key.digest, e.envelope.data,
                             e.envelope.size, 1);
    if (status == KILN_EIO)
        status = KILN_ENOMEM;
    if (status == KILN_OK)
        status = kiln__loose_get(&stored, &fault, loose, &e.entry.key);
    if (status == KILN_OK)
        kiln__stored_release(&stored);
    loose_entry_end(&e);
    kiln__loose_free(loose);
    return status;
}

static void a_lack_of_memory_is_a_miss(void **state)
{
    assert_survives_failing_alloc(use_it, *state);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(an_entry_with_any_byte_flipped_is_a_miss_and_goes),
        IN_FOLDER(an_entry_cut_at_any_length_is_a_miss_and_goes),
        IN_FOLDER(what_is_no_entry_of_ours_is_counted_as_such),
        IN_FOLDER(bytes_after_an_entry_make_it_malformed),
        IN_FOLDER(a_file_that_is_larger_than_it_says_is_not_read),
        IN_FOLDER(a_link_is_no_entry),
        IN_FOLDER(a_pipe_or_a_folder_in_an_entrys_place_is_a_miss),
        IN_FOLDER(only_the_file_that_was_read_is_dropped),
        IN_FOLDER(files_and_folders_are_the_users_alone),
        IN_FOLDER(the_first_writer_wins_and_a_replacement_does_not),
        IN_FOLDER(a_use_is_noted_once_an_hour),
        IN_FOLDER(a_folder_that_vanishes_is_made_again),
        IN_FOLDER(a_child_of_fork_reads_and_writes),
        IN_FOLDER(a_folder_that_others_may_write_to_is_refused),
        IN_FOLDER(a_folder_of_ours_in_the_folder_is_looked_at_too),
        IN_FOLDER(a_folder_of_another_user_is_refused),
        IN_FOLDER(a_file_in_the_folders_place_is_refused),
        IN_FOLDER(a_read_only_folder_is_read),
        IN_FOLDER(a_lack_of_memory_is_a_miss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
