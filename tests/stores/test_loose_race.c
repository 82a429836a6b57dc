/* test_loose_race.c - writers and readers of one entry in many processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: thread tiers */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/stores/loose_files.h"

/*
 * test_loose_race [ROUNDS [ENTRIES]]: each of two writers puts, replaces and
 * drops so often, while a reader reads; and so many entries are put and read.
 */
static long rounds = 100000;
static unsigned entries = 2000;

static loose_entry one, other;

static void write_often(const char *folder, const loose_entry *mine)
{
    kiln__loose *loose = loose_at(folder);

    for (long i = 0; i < rounds; i++) {
        const kiln_digest digest = mine->entry.key.digest;
        const int replace = i % 3 == 0;

        if (kiln__loose_put(loose, digest, mine->envelope.data,
                            mine->envelope.size, replace) != KILN_OK)
            _exit(1);
        if (i % 16 == 15 &&
            kiln__loose_ops.remove(loose, &mine->entry.key, NULL) != KILN_OK)
            _exit(2);
    }
    _exit(0);
}

/* 1: all of one writer's bytes; 0: nothing; -1: anything else. */
static int look(kiln__loose *loose)
{
    const kiln_key *key = &one.entry.key;
    kiln__entry_fault fault;
    kiln__stored stored;
    int is_one, is_other;

    if (kiln__loose_get(&stored, &fault, loose, key) != KILN_OK)
        return fault == KILN__FAULT_NONE ? 0 : -1;
    is_one =
        stored.bytes.size == one.envelope.size &&
        memcmp(stored.bytes.data, one.envelope.data, one.envelope.size) == 0;
    is_other = stored.bytes.size == other.envelope.size &&
               memcmp(stored.bytes.data, other.envelope.data,
                      other.envelope.size) == 0;
    kiln__stored_release(&stored);
    return is_one || is_other ? 1 : -1;
}

static void two_writers_and_a_reader_never_meet_half_an_entry(void **state)
{
    const loose_entry *const of[] = {&one, &other};
    kiln__loose *loose = loose_at(*state);
    pid_t writers[2];
    int running = 2;
    long found = 0;

    loose_entry_make(&one, "contended", 6000);
    loose_entry_make(&other, "contended", 300);
    for (int i = 0; i < 2; i++) {
        writers[i] = fork();
        assert_true(writers[i] >= 0);
        if (writers[i] == 0)
            write_often(*state, of[i]);
    }
    while (running > 0) {
        int status = -1;
        const int seen = look(loose);

        assert_int_not_equal(seen, -1);
        found += seen;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            assert_int_equal(status, 0);
            running--;
        }
    }
    assert_true(found > 0);
    assert_int_equal(loose_count(*state, KILN__LOOSE_TEMPORARY), 0);
    loose_entry_end(&one);
    loose_entry_end(&other);
    kiln__loose_free(loose);
}

/* A reader that meets damage must not drop what was put there since. */
static void a_repair_is_not_undone_by_who_saw_the_damage(void **state)
{
    kiln__loose *loose = loose_at(*state);
    kiln__entry_fault fault;
    char path[512];
    loose_entry e;
    pid_t reader;

    loose_entry_make(&e, "repaired", 100);
    loose_put(loose, &e);
    loose_path(path, sizeof path, *state, &e);
    reader = fork();
    assert_true(reader >= 0);
    if (reader == 0) {
        kiln__loose *mine = loose_at(*state);

        for (;;)
            (void)loose_has(mine, &e, &fault);
    }
    for (long i = 0; i < rounds / 20; i++) {
        (void)truncate(path, 10);
        assert_ok(kiln__loose_put(loose, e.entry.key.digest, e.envelope.data,
                                  e.envelope.size, 1));
    }
    assert_int_equal(kill(reader, SIGKILL), 0);
    assert_int_equal(waitpid(reader, NULL, 0), reader);
    assert_ok(kiln__loose_put(loose, e.entry.key.digest, e.envelope.data,
                              e.envelope.size, 0));
    assert_true(loose_has(loose, &e, &fault));
    loose_entry_end(&e);
    kiln__loose_free(loose);
}

static void as_many_entries_as_there_are_are_found(void **state)
{
    kiln__loose *loose = loose_at(*state), *later;
    uint64_t count = 0, bytes = 0;
    kiln__entry_fault fault;

    for (unsigned i = 0; i < entries; i++) {
        char name[24];
        loose_entry e;

        (void)snprintf(name, sizeof name, "%u", i);
        loose_entry_make(&e, name, 50);
        loose_put(loose, &e);
        loose_entry_end(&e);
    }
    later = loose_at(*state);
    for (unsigned i = 0; i < entries; i += 1 + entries / 5000) {
        char name[24];
        loose_entry e;

        (void)snprintf(name, sizeof name, "%u", i);
        loose_entry_make(&e, name, 50);
        assert_true(loose_has(later, &e, &fault));
        loose_entry_end(&e);
    }
    assert_ok(kiln__loose_ops.stat(later, &count, &bytes));
    assert_int_equal(count, entries);
    kiln__loose_free(later);
    kiln__loose_free(loose);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(two_writers_and_a_reader_never_meet_half_an_entry),
        IN_FOLDER(a_repair_is_not_undone_by_who_saw_the_damage),
        IN_FOLDER(as_many_entries_as_there_are_are_found),
    };

    if (argc > 1)
        rounds = strtol(argv[1], NULL, 10);
    if (argc > 2)
        entries = (unsigned)strtoul(argv[2], NULL, 10);
    loose_prefer_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
