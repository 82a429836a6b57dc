/* test_stores_host.c - stores that a host adds, and what they may do. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault tiers */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/stores/list_store.h"
#include "support/stores/stores_fixture.h"

static void a_store_of_the_host_gets_what_is_put(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    stores_add_faulty(f, &faulty, 1000);
    stores_put(f, &f->a);
    assert_int_equal(faulty.puts, 1);
    assert_true(stores_has(f, &f->a));
    assert_int_equal(faulty.gets, 0);
    kiln_context_free(f->context);
    f->context = NULL;
    assert_int_equal(faulty.ended, 1);
}

static void a_hit_in_a_hosts_store_is_kept_on_the_disk(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    stores_add_faulty(f, &faulty, 1000);
    assert_ok(faulty.ops->put(faulty.self, &f->a.entry.key, f->a.envelope.data,
                              f->a.envelope.size, NULL));
    assert_true(stores_has(f, &f->a));
    assert_true(stores_has(f, &f->a));
    assert_int_equal(faulty.gets, 1);
    assert_int_equal(faulty.lent, 0);
    stores_reopen(f);
    assert_true(stores_has(f, &f->a));
}

static void without_the_disk_a_hosts_store_has_everything(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    f->cache.disk = KILN_SWITCH_OFF;
    stores_reopen(f);
    stores_add_faulty(f, &faulty, 1);
    stores_put(f, &f->a);

    assert_int_equal(faulty.puts, 1);
    assert_true(stores_has(f, &f->a));
    assert_int_equal(access(f->disk, F_OK), -1);
}

static void lower_priorities_are_asked_first(void **state)
{
    stores_fixture *f = *state;
    static faulty_store before, behind;

    stores_add_faulty(f, &behind, KILN_STORE_SEARCH_PATH + 1);
    stores_add_faulty(f, &before, KILN_STORE_DISK - 1);
    stores_put(f, &f->a);
    assert_true(stores_has(f, &f->a));
    assert_int_equal(before.gets, 1);
    assert_int_equal(behind.gets, 0);
    assert_false(stores_has(f, &f->b));
    assert_int_equal(behind.gets, 1);
}

static void a_priority_is_given_once(void **state)
{
    static const int32_t taken[] = {KILN_STORE_PACKS, KILN_STORE_DISK,
                                    KILN_STORE_SEARCH_PATH, 7};
    stores_fixture *f = *state;
    static faulty_store faulty, other;

    stores_add_faulty(f, &faulty, 7);
    faulty_store_init(&other, &list_store_ops, NULL);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        assert_fails(KILN_EINVAL, "has priority",
                     kiln_context_add_store(f->context, &faulty_store_ops,
                                            &other, taken[i], &test_error));
    assert_int_equal(other.ended, 0);
}

static void tables_without_what_is_required_are_refused(void **state)
{
    stores_fixture *f = *state;
    kiln_store_ops ops = faulty_store_ops;

    ops.get = NULL;
    assert_fails(KILN_EINVAL, "no name, get, put or free",
                 kiln_context_add_store(f->context, &ops, f, 1, &test_error));
    ops = faulty_store_ops;
    ops.name = "";
    assert_fails(KILN_EINVAL, "no name, get, put or free",
                 kiln_context_add_store(f->context, &ops, f, 1, &test_error));
    ops = faulty_store_ops;
    ops.size = offsetof(kiln_store_ops, free);
    assert_fails(KILN_EINVAL, "no name, get, put or free",
                 kiln_context_add_store(f->context, &ops, f, 1, &test_error));
    assert_status(KILN_EINVAL,
                  kiln_context_add_store(f->context, NULL, f, 1, &test_error));
}

/* It has neither remove nor stat. */
static void an_older_table_works(void **state)
{
    stores_fixture *f = *state;
    kiln_store_ops ops = faulty_store_ops;
    static faulty_store faulty;

    ops.size = offsetof(kiln_store_ops, remove);
    faulty_store_init(&faulty, &list_store_ops, list_store_new());
    assert_ok(
        kiln_context_add_store(f->context, &ops, &faulty, 1, &test_error));
    faulty.flips = 100;
    stores_put(f, &f->a);
    assert_true(stores_has(f, &f->a));
    assert_int_equal(faulty.removes, 0);
}

static void whatever_a_store_does_is_a_miss(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;
    const loose_entry *a = &f->a;

    f->cache.mode = KILN_CACHE_MODE_READ_WRITE;
    stores_reopen(f);
    stores_add_faulty(f, &faulty, 1);
    faulty.put_fails = KILN_EIO;
    stores_put(f, a);
    assert_int_equal(stores_counts(f).puts, 1);
    faulty.put_fails = 0;

    faulty.get_fails = KILN_EDEVICE;
    assert_true(stores_has(f, a));
    assert_int_equal(stores_counts(f).misses[KILN_MISS_FAILED], 1);
    faulty.get_fails = 0;

    faulty.empty = 1;
    assert_true(stores_has(f, a));
    assert_int_equal(stores_counts(f).misses[KILN_MISS_TRUNCATED], 1);
    faulty.empty = 0;

    stores_put(f, a);
    faulty.cuts = 1;
    assert_true(stores_has(f, a));
    assert_int_equal(stores_counts(f).misses[KILN_MISS_TRUNCATED], 2);
    faulty.cuts = 0;

    faulty.lies = 1;
    stores_put(f, &f->b);
    assert_true(stores_has(f, a));
    assert_int_equal(stores_counts(f).misses[KILN_MISS_KEY], 1);
    assert_int_equal(faulty.lent, 0);
}

static void every_bit_that_a_store_flips_is_noticed(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    f->cache.mode = KILN_CACHE_MODE_READ_ONLY;
    stores_reopen(f);
    stores_add_faulty(f, &faulty, 1);
    assert_ok(faulty.ops->put(faulty.self, &f->a.entry.key, f->a.envelope.data,
                              f->a.envelope.size, NULL));
    for (int bit = 1; bit <= (int)f->a.envelope.size * 8; bit += 3) {
        faulty.flips = bit;
        faulty.remove_fails = KILN_EIO;
        assert_false(stores_has(f, &f->a));
    }
    faulty.flips = 0;
    assert_true(stores_has(f, &f->a));
    assert_int_equal(faulty.lent, 0);
}

static void give(const faulty_store *faulty, const loose_entry *e)
{
    assert_ok(faulty->ops->put(faulty->self, &e->entry.key, e->envelope.data,
                               e->envelope.size, NULL));
}

static void what_may_not_write_removes_nothing(void **state)
{
    static const uint8_t modes[] = {KILN_CACHE_MODE_READ_ONLY,
                                    KILN_CACHE_MODE_MUST_HIT};
    stores_fixture *f = *state;
    static faulty_store faulty;

    for (size_t i = 0; i < sizeof modes; i++) {
        const int last = (int)f->a.envelope.size * 8;

        stores_reopen_as(f, modes[i]);
        stores_add_faulty(f, &faulty, 1);
        give(&faulty, &f->a);
        for (faulty.flips = 1; faulty.flips <= last; faulty.flips += 97)
            assert_false(stores_has(f, &f->a));
        faulty.flips = 0;
        faulty.cuts = 1;
        assert_false(stores_has(f, &f->a));
        faulty.cuts = 0;
        assert_true(stores_has(f, &f->a));
        assert_int_equal(faulty.removes, 0);
        assert_int_equal(faulty.puts, 0);
    }
}

/* Wherever the damage is: also where it hides the key. */
static void damage_is_removed(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;
    const int last = (int)f->a.envelope.size * 8;

    f->cache.disk = KILN_SWITCH_OFF;
    stores_reopen(f);
    stores_add_faulty(f, &faulty, 1);
    for (int bit = 1; bit <= last; bit += 29) {
        give(&faulty, &f->a);
        faulty.flips = bit;
        assert_false(stores_has(f, &f->a));
        faulty.flips = 0;
        assert_false(stores_has(f, &f->a));
    }
    give(&faulty, &f->a);
    faulty.cuts = (int)f->a.envelope.size - 3;
    assert_false(stores_has(f, &f->a));
    faulty.cuts = 0;
    assert_false(stores_has(f, &f->a));
    assert_int_equal(faulty.lent, 0);
}

/* A failure to answer says nothing about the entry. */
static void what_a_store_fails_to_give_is_not_removed(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    stores_add_faulty(f, &faulty, 1);
    give(&faulty, &f->a);
    faulty.get_fails = KILN_EIO;
    assert_false(stores_has(f, &f->a));
    assert_int_equal(faulty.removes, 0);
    faulty.get_fails = 0;
    assert_true(stores_has(f, &f->a));
}

static void an_entry_of_another_kind_is_removed(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;
    kiln__stored stored;

    stores_add_faulty(f, &faulty, 1);
    give(&faulty, &f->a);
    assert_int_not_equal(f->a.entry.kind, KILN__ENTRY_INSTANCE);
    assert_int_equal(kiln__stores_get(&stored, f->context, KILN__ENTRY_INSTANCE,
                                      &f->a.entry.key),
                     KILN_ENOTFOUND);
    assert_int_equal(faulty.removes, 1);
    assert_false(stores_has(f, &f->a));
}

static void a_store_that_takes_nothing_is_not_asked_again(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    stores_add_faulty(f, &faulty, 1);
    faulty.put_fails = KILN_EREADONLY;
    stores_put(f, &f->a);
    stores_put(f, &f->b);
    assert_int_equal(faulty.puts, 1);
    assert_int_equal(stores_counts(f).puts, 2);
    assert_int_equal(stores_counts(f).put_failures, 0);
}

static void an_entry_that_no_store_takes_is_a_failed_put(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    assert_int_equal(mkdir(f->disk, 0700), 0);
    assert_int_equal(chmod(f->disk, 0777), 0);
    stores_add_faulty(f, &faulty, 1);
    faulty.put_fails = KILN_EIO;
    stores_put(f, &f->a);
    assert_int_equal(stores_counts(f).puts, 0);
    assert_int_equal(stores_counts(f).put_failures, 1);
}

/* An old entry in front must not hide a good one behind. */
static void after_a_rejected_entry_the_next_store_is_asked(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;
    kiln__stored stored;
    loose_entry old;

    loose_entry_make(&old, "a", 20);
    stores_put(f, &f->a);
    stores_add_faulty(f, &faulty, 1);
    assert_ok(faulty.ops->put(faulty.self, &old.entry.key, old.envelope.data,
                              old.envelope.size, NULL));
    faulty.remove_fails = KILN_EIO;

    assert_ok(
        kiln__stores_get(&stored, f->context, old.entry.kind, &old.entry.key));
    assert_int_equal(stored.entry.payload_size, 20);
    kiln__stores_reject(f->context, &stored, KILN__FAULT_STALE);
    assert_int_equal(faulty.removes, 1);
    assert_ok(
        kiln__stores_next(&stored, f->context, old.entry.kind, &old.entry.key));
    assert_int_equal(stored.entry.payload_size, 500);
    assert_int_equal(
        kiln__stores_next(&stored, f->context, old.entry.kind, &old.entry.key),
        KILN_ENOTFOUND);
    assert_int_equal(faulty.lent, 0);
    loose_entry_end(&old);
}

/* ---- stores that call Kiln ---- */

static kiln_status get_and_end(void *self, const kiln_key *key, kiln_blob *out,
                               kiln_error **error)
{
    const stores_fixture *f = self;

    (void)key;
    (void)out;
    (void)error;
    kiln_context_free(f->context);
    return KILN_ENOTFOUND;
}

static kiln_status put_and_end(void *self, const kiln_key *key,
                               const void *bytes, size_t size,
                               kiln_error **error)
{
    (void)bytes;
    (void)size;
    return get_and_end(self, key, NULL, error) == KILN_OK ? KILN_OK : KILN_EIO;
}

static kiln_status remove_and_end(void *self, const kiln_key *key,
                                  kiln_error **error)
{
    return get_and_end(self, key, NULL, error);
}

static void free_and_end(void *self)
{
    const stores_fixture *f = self;

    kiln_context_free(f->context);
}

static void a_store_does_not_end_its_context(void **state)
{
    static const kiln_store_ops ending = {
        sizeof ending, "ending",       get_and_end, put_and_end,
        free_and_end,  remove_and_end, NULL};
    stores_fixture *f = *state;
    const char *at;
    int warnings = 0;

    assert_ok(kiln_context_add_store(f->context, &ending, f, 1, &test_error));
    assert_false(stores_has(f, &f->b));
    kiln__stores_put(f->context, &f->a.entry, 1);
    assert_true(stores_has(f, &f->a));
    for (at = f->lines; (at = strstr(at, "in a callback")) != NULL; at++)
        warnings++;
    assert_int_equal(warnings, 4);
}

/* ---- the host's log ---- */

static int answers;

/* Asks for what the warning is about to be given. */
static void ask_again(void *env, int32_t level, const char *line)
{
    stores_fixture *f = env;

    (void)level;
    (void)line;
    (void)kiln__stores_path(f->context);
    (void)stores_has(f, &f->a);
    answers++;
}

static void a_log_may_ask_for_the_stores(void **state)
{
    stores_fixture *f = *state;
    char pack[320];
    FILE *file;

    (void)snprintf(pack, sizeof pack, "%s/broken.kilnpack", f->folder);
    file = fopen(pack, "w");
    assert_non_null(file);
    (void)fputs("no pack", file);
    assert_int_equal(fclose(file), 0);
    answers = 0;
    f->host.log = ask_again;
    f->cache.search_path = pack;
    stores_reopen(f);
    assert_false(stores_has(f, &f->a));
    assert_true(answers > 0);
}

#define WITH_STORES(test) \
    cmocka_unit_test_setup_teardown(test, stores_setup, stores_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORES(a_store_of_the_host_gets_what_is_put),
        WITH_STORES(a_hit_in_a_hosts_store_is_kept_on_the_disk),
        WITH_STORES(without_the_disk_a_hosts_store_has_everything),
        WITH_STORES(lower_priorities_are_asked_first),
        WITH_STORES(a_priority_is_given_once),
        WITH_STORES(tables_without_what_is_required_are_refused),
        WITH_STORES(an_older_table_works),
        WITH_STORES(whatever_a_store_does_is_a_miss),
        WITH_STORES(every_bit_that_a_store_flips_is_noticed),
        WITH_STORES(what_may_not_write_removes_nothing),
        WITH_STORES(damage_is_removed),
        WITH_STORES(what_a_store_fails_to_give_is_not_removed),
        WITH_STORES(an_entry_of_another_kind_is_removed),
        WITH_STORES(a_store_that_takes_nothing_is_not_asked_again),
        WITH_STORES(an_entry_that_no_store_takes_is_a_failed_put),
        WITH_STORES(after_a_rejected_entry_the_next_store_is_asked),
        WITH_STORES(a_store_does_not_end_its_context),
        WITH_STORES(a_log_may_ask_for_the_stores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
