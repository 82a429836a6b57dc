/* test_loose_prune.c - a store of loose files stays within its bounds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers */
/* WRAPS: fstatvfs */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/digest/digest.h"
#include "support/harness.h"
#include "support/stores/loose_files.h"

static uint64_t filesystem_size; /* 0: what it is */

int __real_fstatvfs(int file, struct statvfs *facts);
int __wrap_fstatvfs(int file, struct statvfs *facts);
int __wrap_fstatvfs(int file, struct statvfs *facts)
{
    const int result = __real_fstatvfs(file, facts);

    if (filesystem_size)
        facts->f_blocks = filesystem_size / facts->f_frsize;
    return result;
}

/* What a file takes that holds a small entry. */
#define BLOCK 4096

static kiln_digest digest_of(unsigned i)
{
    return kiln__digest_bytes(&i, sizeof i);
}

/* Bytes are not looked at when they are put. */
static void put_number(kiln__loose *loose, unsigned i, size_t size)
{
    char *bytes = calloc(1, size);

    assert_non_null(bytes);
    assert_ok(kiln__loose_put(loose, digest_of(i), bytes, size, 0));
    free(bytes);
}

static void path_of(char path[512], const char *folder, unsigned i)
{
    char name[KILN__LOOSE_NAME_SIZE];

    kiln__loose_name(name, digest_of(i));
    (void)snprintf(path, 512, "%s/" KILN__LOOSE_FORMAT "/%s", folder, name);
}

static int is_there(const char *folder, unsigned i)
{
    struct stat facts;
    char path[512];

    path_of(path, folder, i);
    return stat(path, &facts) == 0;
}

static void age_number(const char *folder, unsigned i, long seconds)
{
    char path[512];

    path_of(path, folder, i);
    loose_set_age(path, seconds);
}

static size_t entry_count(const char *folder)
{
    return loose_count(folder, "");
}

/* ---- small stores ---- */

static void entries_beyond_their_number_go_the_oldest_first(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose;

    options.max_entries = 10;
    loose = loose_open(&options);
    for (unsigned i = 0; i < 10; i++) {
        put_number(loose, i, 100);
        age_number(*state, i, 1000 - (long)i);
    }
    assert_int_equal(entry_count(*state), 10);
    age_number(*state, 3, 5);

    put_number(loose, 10, 100);

    assert_int_equal(entry_count(*state), 8);
    assert_false(is_there(*state, 0));
    assert_false(is_there(*state, 1));
    assert_false(is_there(*state, 2));
    assert_true(is_there(*state, 3));
    assert_true(is_there(*state, 10));
    kiln__loose_free(loose);
}

static void bytes_beyond_their_number_go_the_oldest_first(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose;

    options.max_size = 10 * BLOCK;
    loose = loose_open(&options);
    for (unsigned i = 0; i < 5; i++) {
        put_number(loose, i, 2 * BLOCK);
        age_number(*state, i, 1000 - (long)i);
    }
    assert_int_equal(entry_count(*state), 5);
    put_number(loose, 5, 2 * BLOCK);
    assert_int_equal(entry_count(*state), 4);
    assert_false(is_there(*state, 0));
    assert_false(is_there(*state, 1));
    assert_true(is_there(*state, 5));
    kiln__loose_free(loose);
}

static void what_was_just_put_stays_however_large(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose;

    options.max_size = 4 * BLOCK;
    loose = loose_open(&options);
    put_number(loose, 1, 10 * BLOCK);
    assert_true(is_there(*state, 1));
    put_number(loose, 2, 100);
    assert_true(is_there(*state, 2));
    kiln__loose_free(loose);
}

static void the_store_takes_one_part_in_twenty_of_its_disk(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose;

    filesystem_size = (uint64_t)20 * 10 * BLOCK;
    options.max_size = (uint64_t)2 << 30;
    loose = loose_open(&options);
    for (unsigned i = 0; i < 50; i++)
        put_number(loose, i, 100);
    assert_in_range(entry_count(*state), 7, 10);
    kiln__loose_free(loose);
    filesystem_size = 0;
}

/* ---- age ---- */

#define DAY 86400L

static void what_was_unused_for_too_long_goes(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__store_report report;
    kiln__loose *loose;

    options.max_age_s = 30 * DAY;
    loose = loose_open(&options);
    for (unsigned i = 0; i < 10; i++) {
        put_number(loose, i, 100);
        age_number(*state, i, i < 4 ? 31 * DAY : 29 * DAY);
    }
    assert_ok(kiln__loose_prune(loose, &report));
    assert_int_equal(report.evicted, 4);
    assert_int_equal(report.evicted_bytes, 4 * BLOCK);
    assert_int_equal(report.entries, 6);
    assert_int_equal(report.bytes, 6 * BLOCK);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(is_there(*state, i), i >= 4);
    kiln__loose_free(loose);
}

/* Everything looks old; half of it goes at most, and what is used is young. */
static void a_clock_that_jumps_ahead_does_not_empty_the_store(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose;

    options.max_entries = 1000; /* small: looked at as a whole */
    options.max_age_s = 30 * DAY;
    loose = loose_open(&options);
    for (unsigned i = 0; i < 100; i++)
        put_number(loose, i, 100);
    loose_set_ages(*state, "", 1000 * DAY);
    for (unsigned i = 100; entry_count(*state) >= i && i < 2000; i++)
        put_number(loose, i, 100);
    assert_true(entry_count(*state) >= 50);
    kiln__loose_free(loose);
}

static void a_clock_that_jumps_back_keeps_nothing_for_ever(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__store_report report;
    struct stat facts;
    kiln__loose *loose;
    char path[512];

    options.max_age_s = 30 * DAY;
    loose = loose_open(&options);
    put_number(loose, 1, 100);
    age_number(*state, 1, -10000 * DAY);
    assert_ok(kiln__loose_prune(loose, &report));
    assert_int_equal(report.evicted, 0);
    path_of(path, *state, 1);
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_mtime <= time(NULL) + 10);

    age_number(*state, 1, 31 * DAY);
    assert_ok(kiln__loose_prune(loose, &report));
    assert_int_equal(report.evicted, 1);
    kiln__loose_free(loose);
}

/* ---- large stores, by folders ---- */

#define MANY 4096 /* the least that is not looked at as a whole */

static void fill(kiln__loose *loose, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        put_number(loose, i, 100);
}

static void a_large_store_stays_within_its_bound(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose;

    options.max_entries = MANY;
    loose = loose_open(&options);
    fill(loose, 0, 2 * MANY);
    assert_in_range(entry_count(*state), MANY * 9 / 10, MANY);
    assert_true(is_there(*state, 2 * MANY - 1));
    kiln__loose_free(loose);
}

static void a_store_that_nobody_counted_comes_within_its_bound(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose = loose_open(&options);
    char path[512];

    fill(loose, 0, MANY + 300);
    kiln__loose_free(loose);
    (void)snprintf(path, sizeof path, "%s/v2/usage", (char *)*state);
    (void)unlink(path);
    options.max_entries = MANY;
    loose = loose_open(&options);
    fill(loose, 2 * MANY, 2 * MANY + 100);
    assert_in_range(entry_count(*state), MANY * 7 / 10, MANY);
    kiln__loose_free(loose);
}

/* What the count does not know of is found when the fullest are looked at. */
static void what_somebody_else_dropped_makes_room(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose;

    options.max_entries = MANY;
    loose = loose_open(&options);
    fill(loose, 0, MANY);
    for (unsigned i = 0; i < MANY / 2; i++) {
        char path[512];

        path_of(path, *state, i);
        (void)unlink(path);
    }
    fill(loose, MANY, MANY + MANY / 2);
    assert_in_range(entry_count(*state), MANY * 9 / 10, MANY);
    kiln__loose_free(loose);
}

static void bytes_of_a_large_store_stay_within_their_bound(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__store_report report;
    kiln__loose *loose;

    options.max_size = (uint64_t)64 << 20;
    loose = loose_open(&options);
    for (unsigned i = 0; i < 500; i++)
        put_number(loose, i, (size_t)200 << 10);
    options.max_size = KILN_CACHE_UNBOUNDED;
    kiln__loose_free(loose);
    loose = loose_open(&options);
    assert_ok(kiln__loose_prune(loose, &report));
    assert_in_range(report.bytes, (uint64_t)40 << 20, (uint64_t)64 << 20);
    kiln__loose_free(loose);
}

static void many_processes_stay_within_it_together(void **state)
{
    kiln__loose_options options = loose_options(*state);
    pid_t children[4];
    int status = -1;

    options.max_entries = MANY;
    for (unsigned c = 0; c < 4; c++) {
        children[c] = fork();
        assert_true(children[c] >= 0);
        if (children[c] == 0) {
            fill(loose_open(&options), c * MANY / 2, (c + 1) * MANY / 2);
            _exit(0);
        }
    }
    for (unsigned c = 0; c < 4; c++) {
        assert_int_equal(waitpid(children[c], &status, 0), children[c]);
        assert_int_equal(status, 0);
    }
    assert_in_range(entry_count(*state), MANY * 9 / 10, MANY);
}

/* Two of them are more than the share of one folder in 256. */
static void large_entries_stay_while_there_is_room(void **state)
{
    kiln__loose_options options = loose_options(*state);
    const kiln_digest first = {{0, 1}}, second = {{0, 2}};
    const size_t size = (size_t)300 << 10;
    kiln__store_report report;
    kiln__loose *loose;
    char *bytes = calloc(1, size);

    assert_non_null(bytes);
    options.max_size = (uint64_t)64 << 20;
    loose = loose_open(&options);
    for (unsigned i = 0; i < 100; i++)
        put_number(loose, i, 100);
    assert_ok(kiln__loose_put(loose, first, bytes, size, 0));
    assert_ok(kiln__loose_put(loose, second, bytes, size, 0));
    assert_ok(kiln__loose_prune(loose, &report));
    assert_int_equal(report.entries, 102);
    assert_int_equal(entry_count(*state), 102);
    free(bytes);
    kiln__loose_free(loose);
}

static void a_damaged_note_of_what_is_there_does_no_harm(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose;
    char path[512];
    int file;

    options.max_entries = MANY;
    loose = loose_open(&options);
    fill(loose, 0, 10);
    (void)snprintf(path, sizeof path, "%s/v2/usage", (char *)*state);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    for (int i = 0; i < 4096 / 8; i++)
        assert_int_equal(write(file, "\xff\xff\xff\xff\xff\xff\xff\xff", 8), 8);
    fill(loose, 10, 3 * MANY);
    assert_in_range(entry_count(*state), MANY * 9 / 10, MANY);
    assert_int_equal(ftruncate(file, 7), 0);
    close(file);
    fill(loose, 3 * MANY, 5 * MANY);
    assert_in_range(entry_count(*state), MANY * 9 / 10, MANY);
    kiln__loose_free(loose);
}

/* ---- who prunes, and what ---- */

static void a_child_of_fork_keeps_a_small_bound(void **state)
{
    kiln__loose_options options = loose_options(*state);
    kiln__loose *loose;
    int status = -1;
    pid_t child;

    options.max_entries = 10;
    loose = loose_open(&options);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fill(loose, 0, 30);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_in_range(entry_count(*state), 8, 10);
    assert_true(is_there(*state, 29));
    kiln__loose_free(loose);
}

#define RACERS 8u
#define EACH 150u
#define SMALL_BOUND 600u

/* Whoever puts last sees what all others put. */
static void however_many_race_a_small_bound_holds_when_they_are_done(
    void **state)
{
    kiln__loose_options options = loose_options(*state);
    pid_t children[RACERS];
    int status = -1;

    options.max_entries = SMALL_BOUND;
    for (unsigned c = 0; c < RACERS; c++) {
        children[c] = fork();
        assert_true(children[c] >= 0);
        if (children[c] == 0) {
            fill(loose_open(&options), c * EACH, (c + 1) * EACH);
            _exit(0);
        }
    }
    for (unsigned c = 0; c < RACERS; c++) {
        assert_int_equal(waitpid(children[c], &status, 0), children[c]);
        assert_int_equal(status, 0);
    }
    assert_in_range(entry_count(*state), SMALL_BOUND / 2, SMALL_BOUND);
}

static void files_of_others_stay(void **state)
{
    static const char *const names[] = {
        "README", "0123456789abcdef0123456789abcd.E",
        "0123456789abcdef0123456789abc.e", "0123456789ABCDEF0123456789abcd.e",
        "0123456789abcdef0123456789abcd.e.orig"};
    kiln__loose_options options = loose_options(*state);
    kiln__store_report report;
    kiln__loose *loose;
    char path[512], folder[512];

    options.max_age_s = DAY;
    loose = loose_open(&options);
    fill(loose, 0, 50);
    (void)snprintf(folder, sizeof folder, "%s/v2/ab", (char *)*state);
    (void)mkdir(folder, 0700);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        harness_write_file(path, sizeof path, folder, names[i], "x", 1);
    loose_set_ages(*state, "", 100 * DAY);
    assert_ok(kiln__loose_prune(loose, &report));
    assert_int_equal(report.evicted, 50);
    assert_ok(kiln__loose_clear(loose, &report));
    assert_int_equal(loose_count(*state, ""), sizeof names / sizeof *names);
    kiln__loose_free(loose);
}

static void a_store_that_is_not_there_is_empty(void **state)
{
    kiln__loose_options options = loose_options(NULL);
    kiln__store_report report;
    kiln__loose *loose;
    char folder[300];

    (void)snprintf(folder, sizeof folder, "%s/none", (char *)*state);
    options.directory = folder;
    loose = loose_open(&options);
    assert_ok(kiln__loose_prune(loose, &report));
    assert_int_equal(report.entries, 0);
    assert_ok(kiln__loose_clear(loose, &report));
    assert_int_equal(loose_count(*state, ""), 0);
    kiln__loose_free(loose);
}

static kiln_status prune_all(const kiln_alloc *alloc, void *env)
{
    const kiln__loose_options options = loose_options(env);
    kiln__store_report report;
    kiln__loose *loose = NULL;
    kiln_status status;

    status = kiln__loose_new(&loose, alloc, NULL, &options);
    if (status != KILN_OK)
        return status;
    status = kiln__loose_prune(loose, &report);
    kiln__loose_free(loose);
    return status;
}

static void a_lack_of_memory_prunes_nothing(void **state)
{
    kiln__loose *loose = loose_at(*state);

    fill(loose, 0, 100);
    assert_survives_failing_alloc(prune_all, *state);
    assert_int_equal(entry_count(*state), 100);
    kiln__loose_free(loose);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(entries_beyond_their_number_go_the_oldest_first),
        IN_FOLDER(bytes_beyond_their_number_go_the_oldest_first),
        IN_FOLDER(what_was_just_put_stays_however_large),
        IN_FOLDER(the_store_takes_one_part_in_twenty_of_its_disk),
        IN_FOLDER(what_was_unused_for_too_long_goes),
        IN_FOLDER(a_clock_that_jumps_ahead_does_not_empty_the_store),
        IN_FOLDER(a_clock_that_jumps_back_keeps_nothing_for_ever),
        IN_FOLDER(a_large_store_stays_within_its_bound),
        IN_FOLDER(a_store_that_nobody_counted_comes_within_its_bound),
        IN_FOLDER(what_somebody_else_dropped_makes_room),
        IN_FOLDER(bytes_of_a_large_store_stay_within_their_bound),
        IN_FOLDER(many_processes_stay_within_it_together),
        IN_FOLDER(large_entries_stay_while_there_is_room),
        IN_FOLDER(a_damaged_note_of_what_is_there_does_no_harm),
        IN_FOLDER(a_child_of_fork_keeps_a_small_bound),
        IN_FOLDER(however_many_race_a_small_bound_holds_when_they_are_done),
        IN_FOLDER(files_of_others_stay),
        IN_FOLDER(a_store_that_is_not_there_is_empty),
        IN_FOLDER(a_lack_of_memory_prunes_nothing),
    };

    loose_prefer_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
