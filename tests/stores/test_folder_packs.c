/* test_folder_packs.c - packs in the cache's own folder. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault tiers */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kiln/sys/cache_tools.h"
#include "support/harness.h"
#include "support/stores/stores_fixture.h"

static void packs_folder(const stores_fixture *f, char path[400])
{
    (void)snprintf(path, 400, "%s/v2/packs", f->disk);
}

/* The path of the one pack that there is; "" when there is none. */
static size_t find_packs(const stores_fixture *f, char path[800])
{
    char folder[400];
    const struct dirent *found;
    size_t count = 0;
    DIR *opened;

    packs_folder(f, folder);
    path[0] = '\0';
    opened = opendir(folder);
    if (!opened)
        return 0;
    while ((found = readdir(opened)))
        if (found->d_name[0] != '.') {
            (void)snprintf(path, 800, "%s/%s", folder, found->d_name);
            count++;
        }
    closedir(opened);
    return count;
}

static kiln_cache_report compact(const stores_fixture *f)
{
    kiln_cache_report report = {.size = sizeof report};

    assert_ok(kiln_cache_compact(&report, f->context, 0, &test_error));
    return report;
}

/* Both entries are in a pack, and the next process has begun. */
static void pack_both(stores_fixture *f)
{
    stores_put(f, &f->a);
    stores_put(f, &f->b);
    assert_int_equal(compact(f).entries, 2);
    stores_reopen(f);
}

static void what_was_compacted_is_found(void **state)
{
    stores_fixture *f = *state;
    char path[800];

    pack_both(f);
    assert_int_equal(find_packs(f, path), 1);
    assert_int_equal(loose_count(f->disk, ""), 1); /* the pack */
    assert_true(stores_has(f, &f->a));
    assert_true(stores_has(f, &f->b));
}

static void entries_that_were_used_stay_loose(void **state)
{
    stores_fixture *f = *state;
    kiln_cache_report report = {.size = sizeof report};
    char path[400];

    stores_put(f, &f->a);
    stores_put(f, &f->b);
    loose_path(path, sizeof path, f->disk, &f->a);
    loose_set_age(path, 7200);
    assert_ok(kiln_cache_compact(&report, f->context, 3600, &test_error));
    assert_int_equal(report.entries, 1);
    assert_int_equal(report.dropped, 1);
    assert_int_equal(loose_count(f->disk, ""), 2); /* with the pack */
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
    assert_true(stores_has(f, &f->b));
}

/* A clock that was set back, or another machine's, or one rounded otherwise. */
static void entries_of_a_time_to_come_are_packed(void **state)
{
    stores_fixture *f = *state;
    char path[400];

    stores_put(f, &f->a);
    loose_path(path, sizeof path, f->disk, &f->a);
    loose_set_age(path, -7200);
    assert_int_equal(compact(f).entries, 1);
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
}

static void small_packs_are_merged(void **state)
{
    stores_fixture *f = *state;
    char path[800];

    stores_put(f, &f->a);
    assert_int_equal(compact(f).entries, 1);
    stores_put(f, &f->b);
    assert_int_equal(compact(f).entries, 2);
    assert_int_equal(find_packs(f, path), 1);
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
    assert_true(stores_has(f, &f->b));
    assert_int_equal(compact(f).entries, 0);
}

static void a_pack_of_a_damaged_entry_leaves_that_one_out(void **state)
{
    stores_fixture *f = *state;
    char path[400];
    int file;

    stores_put(f, &f->a);
    stores_put(f, &f->b);
    loose_path(path, sizeof path, f->disk, &f->a);
    file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "X", 1, 200), 1);
    (void)close(file);
    assert_int_equal(compact(f).entries, 1);
    stores_reopen(f);
    assert_true(stores_has(f, &f->b));
}

static void an_old_pack_goes_as_a_whole(void **state)
{
    stores_fixture *f = *state;
    kiln_cache_report report = {.size = sizeof report};
    char path[800];

    pack_both(f);
    assert_true(stores_has(f, &f->a));
    find_packs(f, path);
    loose_set_age(path, 31 * 86400);
    assert_ok(kiln_cache_prune(&report, f->context, &test_error));
    assert_int_equal(report.dropped, 2);
    assert_int_equal(find_packs(f, path), 0);
}

static void the_next_process_drops_an_old_pack(void **state)
{
    stores_fixture *f = *state;
    char path[800];

    pack_both(f);
    find_packs(f, path);
    loose_set_age(path, 31 * 86400);
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    assert_int_equal(find_packs(f, path), 0);
}

static void a_process_that_only_reads_drops_nothing(void **state)
{
    stores_fixture *f = *state;
    kiln_cache_report report = {.size = sizeof report};
    char path[800];

    pack_both(f);
    find_packs(f, path);
    loose_set_age(path, 31 * 86400);
    stores_reopen_as(f, KILN_CACHE_MODE_READ_ONLY);
    assert_true(stores_has(f, &f->a));
    assert_int_equal(find_packs(f, path), 1);
    assert_fails(KILN_EREADONLY, "not written",
                 kiln_cache_compact(&report, f->context, 0, &test_error));
}

static void a_use_makes_a_pack_young(void **state)
{
    stores_fixture *f = *state;
    struct stat facts;
    char path[800];

    pack_both(f);
    find_packs(f, path);
    loose_set_age(path, 20 * 86400);
    stores_reopen(f);
    assert_true(stores_has(f, &f->b));
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_mtime > time(NULL) - 3600);
}

static void packs_that_are_too_much_go(void **state)
{
    stores_fixture *f = *state;
    char path[800];

    pack_both(f);
    f->cache.max_size = 100;
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    assert_int_equal(find_packs(f, path), 0);
}

static void a_folder_that_others_may_write_to_is_not_used(void **state)
{
    stores_fixture *f = *state;
    char folder[400];

    pack_both(f);
    packs_folder(f, folder);
    assert_int_equal(chmod(folder, 0777), 0);
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    assert_contains(f->lines, "others may write");
    assert_int_equal(chmod(folder, 0700), 0);
}

static void what_is_no_pack_is_dropped(void **state)
{
    stores_fixture *f = *state;
    char folder[400], path[800];

    pack_both(f);
    packs_folder(f, folder);
    harness_write_file(path, sizeof path, folder, "x.kilnpack", "no pack", 7);
    harness_write_file(path, sizeof path, folder, "notes.txt", "no pack", 7);
    stores_reopen_as(f, KILN_CACHE_MODE_READ_ONLY);
    assert_true(stores_has(f, &f->a));
    assert_contains(f->lines, "a pack is left out");
    assert_int_equal(find_packs(f, path), 3);
    stores_reopen_as(f, KILN_CACHE_MODE_READ_WRITE);
    assert_true(stores_has(f, &f->a));
    assert_int_equal(find_packs(f, path), 2); /* and the notes */
    assert_int_equal(compact(f).entries, 0);
}

static void a_damaged_pack_is_written_anew(void **state)
{
    stores_fixture *f = *state;
    char path[800];
    int file, has_a, has_b;

    pack_both(f);
    find_packs(f, path);
    file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "XXXX", 4, 128 + 130), 4);
    (void)close(file);
    assert_int_equal(compact(f).entries, 1);
    stores_reopen(f);
    has_a = stores_has(f, &f->a);
    has_b = stores_has(f, &f->b);
    assert_int_equal(has_a + has_b, 1);
    assert_int_equal(compact(f).entries, 0);
}

static void clearing_drops_packs_too(void **state)
{
    stores_fixture *f = *state;
    kiln_cache_report report = {.size = sizeof report};
    char path[800];

    pack_both(f);
    stores_put(f, &f->a);
    assert_ok(kiln_cache_clear(&report, f->context, &test_error));
    assert_int_equal(find_packs(f, path), 0);
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    assert_false(stores_has(f, &f->b));
}

#define WITH_STORES(test) \
    cmocka_unit_test_setup_teardown(test, stores_setup, stores_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORES(what_was_compacted_is_found),
        WITH_STORES(entries_that_were_used_stay_loose),
        WITH_STORES(entries_of_a_time_to_come_are_packed),
        WITH_STORES(small_packs_are_merged),
        WITH_STORES(a_pack_of_a_damaged_entry_leaves_that_one_out),
        WITH_STORES(an_old_pack_goes_as_a_whole),
        WITH_STORES(the_next_process_drops_an_old_pack),
        WITH_STORES(a_process_that_only_reads_drops_nothing),
        WITH_STORES(a_use_makes_a_pack_young),
        WITH_STORES(packs_that_are_too_much_go),
        WITH_STORES(a_folder_that_others_may_write_to_is_not_used),
        WITH_STORES(what_is_no_pack_is_dropped),
        WITH_STORES(a_damaged_pack_is_written_anew),
        WITH_STORES(clearing_drops_packs_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
