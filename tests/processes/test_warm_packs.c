/* test_warm_packs.c - what a delta holds, and whom it serves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include "workers.h"

#include <unistd.h>

#include "base/digest/digest.h"
#include "stores/pack/pack.h"
#include "support/stores/packs.h"

#define TEXT(level) \
    "fn level(x) = " level "\n" \
    "kernel k(y)\n    y[global_id(0)] = f32(level(f32(1)))\nend\n" \
    "kernel other(y)\n    y[global_id(0)] = f32(level(f32(1))) * 2.0\nend\n"
#define MAIN(text) "text", "main", "main.kiln", text
#define PROGRAM MAIN(TEXT("x + 1.0"))
#define COMPILE(name) "compile", name, "f32[:]"
#define PACK workers_path("main.kpack")
#define NO_DISK "KILN_CACHE_DIR=/dev/null/none"

/* ---- what is in a pack ---- */

typedef struct contents {
    size_t count;
    size_t kinds[KILN__ENTRY_KIND_COUNT];
    size_t sessions;
    kiln_digest digests[64];
} contents;

static contents contents_of(const char *path)
{
    contents found = {.count = 0};
    kiln_pack *pack = NULL;

    assert_ok(kiln_pack_open(&pack, path, &test_error));
    assert_ok(kiln__pack_verify(pack, &test_error));
    found.count = kiln__pack_count(pack);
    assert_true(found.count <= 64);
    for (size_t i = 0; i < found.count; i++) {
        kiln__packed at = {0};

        assert_ok(kiln__pack_at(&at, pack, i));
        found.kinds[at.entry.kind]++;
        found.sessions += at.entry.relocation == KILN_RELOCATION_SESSION;
        found.digests[i] = at.entry.key.digest;
        kiln_blob_release(&at.bytes);
    }
    kiln_pack_close(pack);
    return found;
}

static void assert_contents(const char *path, size_t instances, size_t programs,
                            size_t binaries)
{
    const contents found = contents_of(path);

    assert_int_equal(found.kinds[KILN__ENTRY_INSTANCE], instances);
    assert_int_equal(found.kinds[KILN__ENTRY_PROGRAM], programs);
    assert_int_equal(found.kinds[KILN__ENTRY_BINARY], binaries);
    /* Texts that were defined are known as well. */
    assert_int_equal(found.count, instances + programs + binaries +
                                      found.kinds[KILN__ENTRY_SOURCE]);
    assert_int_equal(found.sessions, 0);
}

static size_t shared(const contents *a, const contents *b)
{
    size_t count = 0;

    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            count += (size_t)kiln__digest_equal(a->digests[i], b->digests[k]);
    return count;
}

/* ---- exactness ---- */

static void a_delta_is_what_was_added(void **state)
{
    (void)state;
    (void)WORKER(NO_DISK, PROGRAM, COMPILE("main.k"), "mark",
                 COMPILE("main.other"), "delta", PACK);
    assert_contents(PACK, 1, 1, 1);
    (void)WORKER(NO_DISK, PROGRAM, COMPILE("main.k"), COMPILE("main.other"),
                 "delta", PACK);
    assert_contents(PACK, 3, 2, 2);
    (void)WORKER(NO_DISK, PROGRAM, COMPILE("main.k"), "mark", COMPILE("main.k"),
                 "delta", PACK);
    assert_contents(PACK, 0, 0, 0);
}

/* Whether it was inferred now, or found in a store. */
static void what_the_disk_had_is_added_too(void **state)
{
    contents cold, warm;

    (void)state;
    (void)WORKER(PROGRAM, "mark", COMPILE("main.k"), "delta", PACK);
    cold = contents_of(PACK);
    assert_contains(WORKER(PROGRAM, "mark", COMPILE("main.k"), "delta",
                           workers_path("warm.kpack")),
                    "compile store");
    warm = contents_of(workers_path("warm.kpack"));
    assert_int_equal(warm.count, cold.count);
    assert_int_equal(shared(&warm, &cold), cold.count);
}

static void what_ended_is_left_out(void **state)
{
    (void)state;
    (void)WORKER(NO_DISK, PROGRAM, "mark", COMPILE("main.k"),
                 MAIN("fn level(x) = x + 5.0\n"), "delta", PACK);
    assert_contents(PACK, 0, 0, 0);
    (void)WORKER(NO_DISK, PROGRAM, "mark", COMPILE("main.k"),
                 MAIN("fn level(x) = x + 5.0\n"), COMPILE("main.k"), "delta",
                 PACK);
    assert_contents(PACK, 2, 1, 1);
}

static void equal_work_gives_equal_keys(void **state)
{
    contents first, second;

    (void)state;
    (void)WORKER(NO_DISK, PROGRAM, COMPILE("main.k"), COMPILE("main.other"),
                 "delta", PACK);
    first = contents_of(PACK);
    (void)WORKER(NO_DISK, PROGRAM, COMPILE("main.other"), COMPILE("main.k"),
                 "delta", PACK);
    second = contents_of(PACK);
    assert_int_equal(first.count, second.count);
    assert_int_equal(shared(&first, &second), first.count);
}

static void a_delta_over_an_inserted_pack_has_nothing_of_it(void **state)
{
    (void)state;
    (void)WORKER(NO_DISK, PROGRAM, COMPILE("main.k"), "delta", PACK);
    (void)WORKER(NO_DISK, PROGRAM, "insert", PACK, COMPILE("main.k"), "delta",
                 workers_path("second.kpack"));
    assert_contents(workers_path("second.kpack"), 0, 0, 0);
    (void)WORKER(NO_DISK, PROGRAM, "insert", PACK, COMPILE("main.k"),
                 COMPILE("main.other"), "delta", workers_path("third.kpack"));
    assert_contents(workers_path("third.kpack"), 1, 1, 1);
    /* Both together are as good as one. */
    assert_contains(WORKER("KILN_CACHE=must-hit", NO_DISK, PROGRAM, "insert",
                           PACK, "insert", workers_path("third.kpack"),
                           COMPILE("main.other"), COMPILE("main.k"), "mapped"),
                    "mapped no");
}

/* ---- packages ---- */

#define BASE "text", "base", "base.kiln", "fn shift(x) = x + 0.5\n"
#define USER(name) \
    "text", name, name ".kiln", \
        "import base: shift\n" \
        "fn own(x) = shift(x)\n" \
        "kernel k(y)\n    y[global_id(0)] = f32(own(f32(1)))\nend\n"

static void packs_of_packages_combine_without_duplicates(void **state)
{
    contents a, b;
    const char *said;

    (void)state;
    (void)WORKER(NO_DISK, BASE, "text", "warm", "warm.kiln",
                 "import base: shift\n"
                 "kernel k(y)\n    y[global_id(0)] = f32(shift(f32(1)))\nend\n",
                 COMPILE("warm.k"), "mark", USER("a"), COMPILE("a.k"), "delta",
                 workers_path("a.kpack"));
    (void)WORKER(NO_DISK, BASE, "text", "warm", "warm.kiln",
                 "import base: shift\n"
                 "kernel k(y)\n    y[global_id(0)] = f32(shift(f32(1)))\nend\n",
                 COMPILE("warm.k"), "mark", USER("b"), COMPILE("b.k"), "delta",
                 workers_path("b.kpack"));
    a = contents_of(workers_path("a.kpack"));
    b = contents_of(workers_path("b.kpack"));
    assert_int_equal(shared(&a, &b), 0);
    assert_int_equal(a.kinds[KILN__ENTRY_INSTANCE], 2);
    said = WORKER("KILN_CACHE=ro", NO_DISK, BASE, USER("a"), USER("b"),
                  "insert", workers_path("a.kpack"), "insert",
                  workers_path("b.kpack"), COMPILE("a.k"), COMPILE("b.k"));
    assert_int_equal(workers_count(said, "compile store"), 2);
}

static void a_changed_package_misses_only_what_changed(void **state)
{
#define TWO(level) \
    MAIN("fn first(x) = x + " level "\nfn second(x) = x + 2.0\n" \
         "kernel k(y)\n    y[global_id(0)] = f32(first(f32(1)))\nend\n" \
         "kernel other(y)\n    y[global_id(0)] = f32(second(f32(1)))\nend\n")
    const char *said;

    (void)state;
    (void)WORKER(NO_DISK, TWO("1.0"), COMPILE("main.k"), COMPILE("main.other"),
                 "delta", PACK);
    said = WORKER(NO_DISK, TWO("7.0"), "insert", PACK, COMPILE("main.k"),
                  COMPILE("main.other"), "run", "main.k", "counts");
    assert_contains(said, "compile built main.k");
    assert_contains(said, "compile store main.other");
    assert_contains(said, "run 8 8");
    assert_contains(said, "typed_stored=2 ");
#undef TWO
}

/* ---- inserting ---- */

/* The pack's instance of main.k is true of another program, and the disk has
   the right one behind it. */
static void a_stale_entry_in_a_pack_hides_nothing(void **state)
{
    static const char unrelated[] = "fn new() = 1\n" TEXT("x + 2.0");
    const char *said;

    (void)state;
    (void)WORKER(NO_DISK, PROGRAM, COMPILE("main.k"), "delta", PACK);
    (void)WORKER(MAIN(TEXT("x + 2.0")), COMPILE("main.k"));
    said = WORKER(MAIN(unrelated), "insert", PACK, COMPILE("main.k"), "run",
                  "main.k", "counts");
    assert_contains(said, "compile store");
    assert_contains(said, "run 3 3 3");
    assert_contains(said, "typed_stale=1 ");
    assert_contains(said, "inferred=0 ");
}

static void a_pack_may_come_in_the_middle_of_work(void **state)
{
    const char *said;

    (void)state;
    (void)WORKER(NO_DISK, PROGRAM, COMPILE("main.k"), COMPILE("main.other"),
                 "delta", PACK);
    said = WORKER(NO_DISK, PROGRAM, COMPILE("main.k"), "insert", PACK,
                  COMPILE("main.other"), "run", "main.other");
    assert_contains(said, "compile built main.k");
    assert_contains(said, "compile store main.other");
    assert_contains(said, "run 4 4 4");
}

#define MANY 10000

/* Its entries, and what the worker saved. */
static void write_large_pack(const char *saved, const char *path)
{
    kiln__pack_writer *writer = NULL;
    kiln_pack *pack = NULL;

    assert_ok(kiln_pack_open(&pack, saved, &test_error));
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_ok(pack_fill(writer, 0, MANY, 64));
    assert_ok(kiln__pack_writer_add_pack(writer, pack, NULL, &test_error));
    assert_ok(kiln__pack_writer_to_file(writer, path, &test_error));
    kiln__pack_writer_free(writer);
    kiln_pack_close(pack);
}

static void a_pack_of_ten_thousand_serves_like_a_small_one(void **state)
{
    const char *large = workers_path("large.kpack");
    const char *said;

    (void)state;
    (void)WORKER(NO_DISK, PROGRAM, COMPILE("main.k"), "delta", PACK);
    write_large_pack(PACK, large);
    said = WORKER(NO_DISK, PROGRAM, "insert", large, COMPILE("main.k"), "run",
                  "main.k", "counts", "mapped");
    assert_contains(said, "compile store");
    assert_contains(said, "inferred=0 ");
    assert_contains(said, "mapped no");
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, workers_setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_delta_is_what_was_added),
        TEST(what_the_disk_had_is_added_too),
        TEST(what_ended_is_left_out),
        TEST(equal_work_gives_equal_keys),
        TEST(a_delta_over_an_inserted_pack_has_nothing_of_it),
        TEST(packs_of_packages_combine_without_duplicates),
        TEST(a_changed_package_misses_only_what_changed),
        TEST(a_stale_entry_in_a_pack_hides_nothing),
        TEST(a_pack_may_come_in_the_middle_of_work),
        TEST(a_pack_of_ten_thousand_serves_like_a_small_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
