/* test_stores.c - the stores behind the tiers: order, modes and counters. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault tiers */
/* WRAPS: fstatfs */
#include "stores/stores.h"

#include "stores/pack/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest/digest.h"
#include "kiln/kernel.h"
#include "support/harness.h"
#include "support/stores/stores_fixture.h"

/* What file systems say they are, if not 0. */
static uint32_t magic;

int __real_fstatfs(int file, struct statfs *facts);
int __wrap_fstatfs(int file, struct statfs *facts);
int __wrap_fstatfs(int file, struct statfs *facts)
{
    const int result = __real_fstatfs(file, facts);

    if (magic)
        facts->f_type = (__typeof__(facts->f_type))magic;
    return result;
}

static int setup(void **state)
{
    magic = 0;
    return stores_setup(state);
}

static int teardown(void **state)
{
    magic = 0;
    return stores_teardown(state);
}

/* ---- the disk ---- */

static void what_one_process_put_another_gets(void **state)
{
    stores_fixture *f = *state;
    kiln_store_statistics c;

    assert_false(stores_has(f, &f->a));
    stores_put(f, &f->a);
    c = stores_counts(f);
    assert_int_equal(c.misses[KILN_MISS_ABSENT], 1);
    assert_int_equal(c.puts, 1);
    assert_int_equal(c.bytes_written, f->a.envelope.size);
    assert_true(c.put_ns > 0);

    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
    c = stores_counts(f);
    assert_int_equal(c.hits, 1);
    assert_int_equal(c.bytes_read, f->a.envelope.size);
    assert_true(c.get_ns > 0);
    assert_string_equal(f->lines, "");
}

static void nothing_is_made_before_something_is_put(void **state)
{
    stores_fixture *f = *state;
    struct stat facts;

    assert_false(stores_has(f, &f->a));
    assert_int_not_equal(stat(f->disk, &facts), 0);
    stores_put(f, &f->a);
    assert_int_equal(stat(f->disk, &facts), 0);
}

static void kinds_and_name_spaces_do_not_meet(void **state)
{
    stores_fixture *f = *state;
    kiln__stored stored;

    stores_put(f, &f->a);
    assert_int_equal(kiln__stores_get(&stored, f->context, KILN__ENTRY_INSTANCE,
                                      &f->a.entry.key),
                     KILN_ENOTFOUND);
    f->cache.name_space = "other";
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    stores_put(f, &f->a);
    assert_true(stores_has(f, &f->a));
}

static void entries_that_hold_addresses_are_refused_and_counted(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    stores_add_faulty(f, &faulty, 1000);
    f->a.entry.relocation = KILN_RELOCATION_SESSION;
    stores_put(f, &f->a);
    assert_int_equal(stores_counts(f).refused, 1);
    assert_int_equal(stores_counts(f).puts, 0);
    assert_int_equal(faulty.puts, 0);
    assert_int_equal(loose_count(f->disk, ""), 0);
}

static void one_that_was_stored_in_spite_of_it_is_not_believed(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;
    kiln_blob bytes;

    stores_add_faulty(f, &faulty, 1000);
    f->a.entry.relocation = KILN_RELOCATION_SESSION;
    assert_ok(kiln__entry_encode(&bytes, &kiln__malloc, &f->a.entry));
    assert_ok(faulty.ops->put(faulty.self, &f->a.entry.key, bytes.data,
                              bytes.size, NULL));
    kiln_blob_release(&bytes);
    assert_false(stores_has(f, &f->a));
    assert_int_equal(stores_counts(f).misses[KILN_MISS_MALFORMED], 1);
    assert_int_equal(faulty.lent, 0);
}

static void damage_is_counted_by_its_reason(void **state)
{
    stores_fixture *f = *state;
    char path[600];

    stores_put(f, &f->a);
    loose_path(path, sizeof path, f->disk, &f->a);
    assert_int_equal(truncate(path, 200), 0);
    assert_false(stores_has(f, &f->a));
    assert_int_equal(stores_counts(f).misses[KILN_MISS_TRUNCATED], 1);
    assert_int_equal(stores_counts(f).misses[KILN_MISS_ABSENT], 0);
    assert_false(stores_has(f, &f->a));
    assert_int_equal(stores_counts(f).misses[KILN_MISS_ABSENT], 1);
    stores_put(f, &f->a);
    assert_true(stores_has(f, &f->a));
}

static void what_a_tier_rejects_is_no_hit_and_goes(void **state)
{
    stores_fixture *f = *state;
    kiln__stored stored;

    stores_put(f, &f->a);
    assert_ok(kiln__stores_get(&stored, f->context, f->a.entry.kind,
                               &f->a.entry.key));
    kiln__stores_reject(f->context, &stored, KILN__FAULT_STALE);
    kiln__stored_release(&stored);
    assert_int_equal(stores_counts(f).hits, 0);
    assert_int_equal(stores_counts(f).misses[KILN_MISS_STALE], 1);
    assert_false(stores_has(f, &f->a));
}

/* ---- modes ---- */

static void each_mode_reads_and_writes_what_it_says(void **state)
{
    static const struct {
        uint8_t mode;
        int reads, writes;
    } cases[] = {
        {KILN_CACHE_MODE_OFF, 0, 0},      {KILN_CACHE_MODE_READ_ONLY, 1, 0},
        {KILN_CACHE_MODE_MUST_HIT, 1, 0}, {KILN_CACHE_MODE_REFRESH, 0, 1},
        {KILN_CACHE_MODE_VERIFY, 1, 1},   {KILN_CACHE_MODE_READ_WRITE, 1, 1},
    };
    stores_fixture *f = *state;

    stores_put(f, &f->a);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[16];
        loose_entry e;

        (void)snprintf(name, sizeof name, "mode %zu", i);
        loose_entry_make(&e, name, 10);
        stores_reopen_as(f, cases[i].mode);
        assert_int_equal(stores_has(f, &f->a), cases[i].reads);
        assert_int_equal(stores_counts(f).misses[KILN_MISS_OFF],
                         !cases[i].reads);
        stores_put(f, &e);
        stores_reopen_as(f, KILN_CACHE_MODE_READ_ONLY);
        assert_int_equal(stores_has(f, &e), cases[i].writes);
        loose_entry_end(&e);
    }
}

static void refresh_replaces_what_is_there(void **state)
{
    stores_fixture *f = *state;
    loose_entry newer;

    loose_entry_make(&newer, "a", 77);
    stores_put(f, &f->a);
    stores_put(f, &newer);
    assert_true(stores_has(f, &f->a));
    stores_reopen_as(f, KILN_CACHE_MODE_REFRESH);
    stores_put(f, &newer);
    stores_reopen_as(f, KILN_CACHE_MODE_READ_ONLY);
    assert_true(stores_has(f, &newer));
    loose_entry_end(&newer);
}

static void a_mode_that_reads_changes_nothing(void **state)
{
    stores_fixture *f = *state;
    kiln__store_report report;
    kiln__stored stored;
    char path[600];

    stores_put(f, &f->a);
    stores_put(f, &f->b);
    loose_path(path, sizeof path, f->disk, &f->b);
    assert_int_equal(truncate(path, 100), 0);
    stores_reopen_as(f, KILN_CACHE_MODE_READ_ONLY);
    assert_false(stores_has(f, &f->b));
    assert_ok(kiln__stores_get(&stored, f->context, f->a.entry.kind,
                               &f->a.entry.key));
    kiln__stores_reject(f->context, &stored, KILN__FAULT_STALE);
    kiln__stored_release(&stored);
    assert_int_equal(kiln__stores_prune(f->context, &report), KILN_EREADONLY);
    assert_int_equal(kiln__stores_clear(f->context, &report), KILN_EREADONLY);
    assert_int_equal(loose_count(f->disk, ""), 2);
    assert_int_equal(kiln__stores_lock_folder(f->context), -1);
}

static void a_tier_that_is_off_leaves_the_others_alone(void **state)
{
    static const int32_t kinds[] = {KILN__ENTRY_INSTANCE, KILN__ENTRY_RUNTIME,
                                    KILN__ENTRY_BINARY};
    stores_fixture *f = *state;

    for (int32_t off = 0; off < KILN_TIER_COUNT; off++) {
        char name[16];
        loose_entry e;

        (void)snprintf(name, sizeof name, "off %d", (int)off);
        f->cache.tiers_off = UINT32_C(1) << off;
        stores_reopen(f);
        for (int32_t tier = 0; tier < KILN_TIER_COUNT; tier++) {
            (void)snprintf(name, sizeof name, "%d %d", (int)off, (int)tier);
            loose_entry_make(&e, name, 10);
            e.entry.kind = kinds[tier];
            stores_put(f, &e);
            assert_int_equal(stores_has(f, &e), tier != off);
            assert_int_equal(stores_counts_of(f, tier).puts, tier != off);
            assert_int_equal(stores_counts_of(f, tier).misses[KILN_MISS_OFF],
                             tier == off);
            loose_entry_end(&e);
        }
    }
}

/* ---- no disk ---- */

static void without_a_home_nothing_fails(void **state)
{
    stores_fixture *f = *state;
    const char *home = getenv("HOME");
    char *kept = home ? strdup(home) : NULL;

    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    f->cache.directory = NULL;
    stores_reopen(f);
    stores_put(f, &f->a);
    assert_false(stores_has(f, &f->a));
    assert_contains(f->lines, "no disk store: HOME is not set");
    assert_int_equal(stores_counts(f).put_failures, 0);
    assert_int_equal(stores_counts(f).misses[KILN_MISS_ABSENT], 1);
    assert_null(kiln__stores_path(f->context));
    if (kept)
        setenv("HOME", kept, 1);
    free(kept);
}

static void a_folder_that_others_may_write_to_is_one_warning(void **state)
{
    stores_fixture *f = *state;

    assert_int_equal(mkdir(f->disk, 0700), 0);
    assert_int_equal(chmod(f->disk, 0777), 0);
    for (int i = 0; i < 3; i++) {
        stores_put(f, &f->a);
        assert_false(stores_has(f, &f->a));
    }
    assert_contains(f->lines, "others may write to it");
    assert_ptr_equal(strchr(f->lines, '\n'), f->lines + strlen(f->lines) - 1);
    assert_int_equal(stores_counts(f).put_failures, 3);
}

static void an_unknown_variable_is_warned_about(void **state)
{
    stores_fixture *f = *state;

    setenv("KILN_CACHE_DRI", "/x", 1);
    stores_reopen(f);
    unsetenv("KILN_CACHE_DRI");
    assert_contains(f->lines, "nothing reads the variable KILN_CACHE_DRI");
}

/* ---- network file systems ---- */

static void a_default_folder_on_a_network_is_only_read(void **state)
{
    stores_fixture *f = *state;
    char home[320], local[320], entry[800];
    struct stat facts;

    (void)snprintf(home, sizeof home, "%s/kiln", f->folder);
    (void)snprintf(local, sizeof local, "%s/local", f->folder);
    setenv("XDG_CACHE_HOME", f->folder, 1);
    f->cache.directory = NULL;
    stores_reopen(f);
    stores_put(f, &f->a);
    loose_path(entry, sizeof entry, home, &f->a);
    assert_int_equal(stat(entry, &facts), 0);

    magic = 0x6969;
    f->cache.local_directory = local;
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
    stores_put(f, &f->b);
    assert_true(stores_has(f, &f->b));
    assert_contains(f->lines, "network file system (nfs) and is only read");
    loose_path(entry, sizeof entry, home, &f->b);
    assert_int_not_equal(stat(entry, &facts), 0);
    loose_path(entry, sizeof entry, local, &f->b);
    assert_int_equal(stat(entry, &facts), 0);
    assert_int_equal(stat(local, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0700);
    unsetenv("XDG_CACHE_HOME");
}

static void a_local_folder_of_others_is_not_written(void **state)
{
    stores_fixture *f = *state;
    char local[320];

    (void)snprintf(local, sizeof local, "%s/local", f->folder);
    assert_int_equal(mkdir(local, 0700), 0);
    assert_int_equal(chmod(local, 0777), 0);
    setenv("XDG_CACHE_HOME", f->folder, 1);
    magic = 0x0bd00bd0;
    f->cache.directory = NULL;
    f->cache.local_directory = local;
    stores_reopen(f);
    stores_put(f, &f->a);
    assert_int_equal(loose_count(local, ""), 0);
    assert_contains(f->lines, "others may write to it");
    unsetenv("XDG_CACHE_HOME");
}

static void a_folder_that_is_named_is_written_on_any_file_system(void **state)
{
    stores_fixture *f = *state;

    assert_true(kiln__stores_lock_folder(f->context) >= 0);
    magic = 0x65735546;
    stores_reopen(f);
    stores_put(f, &f->a);
    assert_true(stores_has(f, &f->a));
    assert_int_equal(kiln__stores_lock_folder(f->context), -1);
    magic = 0;
    f->cache.lock = KILN_CACHE_LOCK_NONE;
    stores_reopen(f);
    assert_int_equal(kiln__stores_lock_folder(f->context), -1);
}

/* ---- the search path ---- */

static void folders_of_the_search_path_are_read_in_order(void **state)
{
    stores_fixture *f = *state;
    char first[320], second[320], path[700];
    loose_entry shadowed;

    loose_entry_make(&shadowed, "a", 33);
    (void)snprintf(first, sizeof first, "%s/first", f->folder);
    (void)snprintf(second, sizeof second, "%s/second", f->folder);
    f->cache.directory = first;
    stores_reopen(f);
    stores_put(f, &f->a);
    f->cache.directory = second;
    stores_reopen(f);
    stores_put(f, &shadowed);
    stores_put(f, &f->b);

    f->cache.directory = f->disk;
    (void)snprintf(path, sizeof path, "%s::/nowhere:%s:", first, second);
    f->cache.search_path = path;
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
    assert_true(stores_has(f, &f->b));
    assert_int_equal(loose_count(f->disk, ""), 0);
    assert_int_equal(stores_counts(f).hits, 2);
    loose_entry_end(&shadowed);
}

static void a_search_path_folder_that_all_may_write_to_is_not_read(void **state)
{
    stores_fixture *f = *state;
    char site[320];

    (void)snprintf(site, sizeof site, "%s/site", f->folder);
    f->cache.directory = site;
    stores_reopen(f);
    stores_put(f, &f->a);
    assert_int_equal(chmod(site, 0777), 0);
    f->cache.directory = f->disk;
    f->cache.search_path = site;
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    assert_contains(f->lines, "others may write to it");
}

static void write_pack(const char *path, const loose_entry *e)
{
    kiln__pack_writer *writer = NULL;

    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_ok(kiln__pack_writer_add_entry(writer, &e->entry, &test_error));
    assert_ok(kiln__pack_writer_to_file(writer, path, &test_error));
    kiln__pack_writer_free(writer);
}

static void a_pack_in_the_search_path_is_read(void **state)
{
    stores_fixture *f = *state;
    kiln__stored stored;
    char pack[320];

    (void)snprintf(pack, sizeof pack, "%s/site.kilnpack", f->folder);
    write_pack(pack, &f->a);
    f->cache.search_path = pack;
    stores_reopen(f);
    assert_ok(kiln__stores_get(&stored, f->context, f->a.entry.kind,
                               &f->a.entry.key));
    assert_false(stored.is_packed); /* by nobody who inserted it */
    kiln__stored_release(&stored);
    assert_false(stores_has(f, &f->b));
    assert_string_equal(f->lines, "");
}

static void a_damaged_pack_is_left_out_with_a_warning(void **state)
{
    stores_fixture *f = *state;
    char pack[320];

    (void)snprintf(pack, sizeof pack, "%s/site.kilnpack", f->folder);
    write_pack(pack, &f->a);
    assert_int_equal(truncate(pack, 100), 0);
    f->cache.search_path = pack;
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    stores_put(f, &f->a);
    assert_true(stores_has(f, &f->a));
    assert_contains(f->lines, "a pack is left out");
}

/* ---- tools ---- */

static int count_item(void *env, const kiln__store_item *item)
{
    int *count = env;

    *count += item->size > 0 && item->disk_size > 0 && item->used_s > 0;
    return 1;
}

static void tools_list_show_and_clear(void **state)
{
    stores_fixture *f = *state;
    kiln__store_report report;
    kiln__entry_fault fault;
    kiln__stored stored;
    int count = 0;

    stores_put(f, &f->a);
    stores_put(f, &f->b);
    assert_ok(kiln__stores_each(f->context, count_item, &count));
    assert_int_equal(count, 2);
    assert_string_equal(kiln__stores_path(f->context), f->disk);
    assert_ok(
        kiln__stores_peek(&stored, &fault, f->context, f->a.entry.key.digest));
    assert_memory_equal(stored.entry.key.encoded, "a", 1);
    kiln__stored_release(&stored);
    assert_ok(kiln__stores_clear(f->context, &report));
    assert_int_equal(report.evicted, 2);
    assert_int_equal(report.entries, 0);
    assert_int_equal(loose_count(f->disk, ""), 0);
    stores_put(f, &f->a);
    assert_true(stores_has(f, &f->a));
}

/* ---- several at once ---- */

static void *use_both(void *argument)
{
    stores_fixture *f = argument;

    for (int i = 0; i < 200; i++) {
        stores_put(f, i % 2 ? &f->a : &f->b);
        (void)stores_has(f, i % 2 ? &f->b : &f->a);
    }
    return NULL;
}

static void threads_and_contexts_share_a_folder(void **state)
{
    stores_fixture *f = *state;
    kiln_context *first = f->context;

    f->context = NULL;
    stores_reopen(f);
    harness_run_threads(4, use_both, f);
    assert_true(stores_has(f, &f->a));
    kiln_context_free(f->context);
    f->context = first;
    assert_true(stores_has(f, &f->a));
    assert_true(stores_has(f, &f->b));
    assert_int_equal(loose_count(f->disk, ""), 2);
}

static void a_child_of_fork_has_the_same_stores(void **state)
{
    stores_fixture *f = *state;
    int status = -1;
    pid_t child;

    stores_put(f, &f->a);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        stores_put(f, &f->b);
        _exit(!stores_has(f, &f->a) || !stores_has(f, &f->b));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(stores_has(f, &f->b));
}

#define WITH_STORES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORES(what_one_process_put_another_gets),
        WITH_STORES(nothing_is_made_before_something_is_put),
        WITH_STORES(kinds_and_name_spaces_do_not_meet),
        WITH_STORES(entries_that_hold_addresses_are_refused_and_counted),
        WITH_STORES(one_that_was_stored_in_spite_of_it_is_not_believed),
        WITH_STORES(damage_is_counted_by_its_reason),
        WITH_STORES(what_a_tier_rejects_is_no_hit_and_goes),
        WITH_STORES(each_mode_reads_and_writes_what_it_says),
        WITH_STORES(refresh_replaces_what_is_there),
        WITH_STORES(a_mode_that_reads_changes_nothing),
        WITH_STORES(a_tier_that_is_off_leaves_the_others_alone),
        WITH_STORES(without_a_home_nothing_fails),
        WITH_STORES(a_folder_that_others_may_write_to_is_one_warning),
        WITH_STORES(an_unknown_variable_is_warned_about),
        WITH_STORES(a_default_folder_on_a_network_is_only_read),
        WITH_STORES(a_local_folder_of_others_is_not_written),
        WITH_STORES(a_folder_that_is_named_is_written_on_any_file_system),
        WITH_STORES(folders_of_the_search_path_are_read_in_order),
        WITH_STORES(a_search_path_folder_that_all_may_write_to_is_not_read),
        WITH_STORES(a_pack_in_the_search_path_is_read),
        WITH_STORES(a_damaged_pack_is_left_out_with_a_warning),
        WITH_STORES(tools_list_show_and_clear),
        WITH_STORES(threads_and_contexts_share_a_folder),
        WITH_STORES(a_child_of_fork_has_the_same_stores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
