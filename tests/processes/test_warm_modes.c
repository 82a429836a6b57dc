/* test_warm_modes.c - modes, tiers and toolchains of the processes that follow.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include "workers.h"

#include <dirent.h>

#include "base/system/file.h"
#include "stores/entry.h"

#define PROGRAM \
    "text", "main", "main.kiln", \
        "fn level(x) = x + 1.0\n" \
        "kernel k(y)\n" \
        "    y[global_id(0)] = f32(level(f32(1)))\n" \
        "end\n"
#define USE "compile", "main.k", "f32[:]", "run", "main.k", "counts"
#define RESULT "run 2 2 2 2 2 2 2 2"

/* ---- tiers ---- */

static void each_tier_is_off_alone(void **state)
{
    const char *said;

    (void)state;
    (void)WORKER(PROGRAM, USE);
    said = WORKER("KILN_CACHE_TIERS=runtime,binary", PROGRAM, USE);
    assert_contains(said, "compile store");
    assert_contains(said, "typed_stored=0 ");
    said = WORKER("KILN_CACHE_TIERS=typed_ir,runtime", PROGRAM, USE);
    assert_contains(said, "compile built");
    assert_contains(said, "inferred=0 ");
    said = WORKER("KILN_CACHE_TIERS=typed_ir,binary", PROGRAM, USE);
    assert_contains(said, "compile store");
    assert_contains(said, "inferred=0 ");
    said = WORKER("KILN_CACHE_TIERS=none", PROGRAM, USE);
    assert_contains(said, "compile built");
    assert_contains(said, "typed_stored=0 ");
    assert_contains(said, RESULT);
    assert_contains(WORKER(PROGRAM, USE), "compile store");
}

/* ---- modes ---- */

static worker w;

static void must_hit_turns_a_build_into_an_error(void **state)
{
    (void)state;
    WORKER_START(&w, "KILN_CACHE=must-hit", PROGRAM, USE);
    assert_int_not_equal(worker_wait(&w), 0);
    assert_contains(w.text, "compile fails KILN_ENOTFOUND");
    assert_contains(w.text, "must-hit");
    (void)WORKER(PROGRAM, USE);
    assert_contains(WORKER("KILN_CACHE=must-hit", PROGRAM, USE), RESULT);
}

static void refresh_builds_and_replaces(void **state)
{
    const char *said;

    (void)state;
    (void)WORKER(PROGRAM, USE);
    said = WORKER("KILN_CACHE=refresh", PROGRAM, USE);
    assert_contains(said, "compile built");
    assert_contains(said, "typed_stored=0 ");
    assert_contains(WORKER(PROGRAM, USE), "compile store");
}

/* ---- damage that no checksum finds ---- */

static void write_changed(const char *path, kiln__entry *entry)
{
    char *payload = malloc(entry->payload_size);
    FILE *file = fopen(path, "w");
    kiln_blob made = {0};

    assert_true(payload && file);
    memcpy(payload, entry->payload, entry->payload_size);
    payload[entry->payload_size - 1] ^= 1;
    entry->payload = payload;
    assert_ok(kiln__entry_encode(&made, &kiln__malloc, entry));
    assert_int_equal(fwrite(made.data, 1, made.size, file), made.size);
    assert_int_equal(fclose(file), 0);
    kiln_blob_release(&made);
    free(payload);
}

/* Changes a byte of the payload, and makes the checksums right again. */
static size_t tamper_file(const char *path, int32_t kind)
{
    kiln_blob bytes = {0};
    kiln__entry entry;
    size_t found = 0;

    assert_ok(kiln__file_read(&bytes, &kiln__malloc, path, (size_t)1 << 24,
                              &test_error));
    if (kiln__entry_decode(&entry, bytes.data, bytes.size, NULL) ==
            KILN__FAULT_NONE &&
        entry.kind == kind) {
        write_changed(path, &entry);
        found = 1;
    }
    kiln_blob_release(&bytes);
    return found;
}

/* The same for each entry of the kind below the folder. */
static size_t tamper(const char *folder, int32_t kind)
{
    struct dirent **list = NULL;
    const int count = scandir(folder, &list, NULL, alphasort);
    size_t found = 0;

    for (int i = 0; i < count; i++) {
        char path[400];

        (void)snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        if (list[i]->d_type == DT_DIR && list[i]->d_name[0] != '.')
            found += tamper(path, kind);
        else if (list[i]->d_type == DT_REG)
            found += tamper_file(path, kind);
        free(list[i]);
    }
    free(list);
    return found;
}

static void verify_finds_what_checksums_do_not(void **state)
{
    const char *said;

    (void)state;
    (void)WORKER(PROGRAM, USE);
    said = WORKER("KILN_CACHE=verify", PROGRAM, USE);
    assert_contains(said, "compile built");
    assert_contains(said, "binary_different=0 ");
    assert_contains(said, "typed_different=0 ");
    assert_int_equal(tamper(workers_path("cache"), KILN__ENTRY_BINARY), 1);
    assert_int_equal(tamper(workers_path("cache"), KILN__ENTRY_INSTANCE), 2);
    said = WORKER("KILN_CACHE=verify", PROGRAM, USE);
    assert_contains(said, "compile built");
    assert_contains(said, "binary_different=1 ");
    assert_contains(said, "typed_different=2 ");
    assert_contains(said, RESULT);
    /* What was wrong was replaced. */
    said = WORKER("KILN_CACHE=verify", PROGRAM, USE);
    assert_contains(said, "binary_different=0 ");
    assert_contains(said, "typed_different=0 ");
    assert_contains(WORKER(PROGRAM, USE), "compile store");
}

#define LEVELS(changed) \
    "text", "main", "main.kiln", \
        "fn level(x) = x + " changed "\n" \
        "fn plain(x) = x * 1.0\n" \
        "kernel k(y)\n" \
        "    y[global_id(0)] = f32(level(plain(f32(1))))\n" \
        "end\n"

/* The kernel's entry is what the last of these programs left. */
static void verify_tells_another_program_from_another_result(void **state)
{
    const char *said;

    (void)state;
    (void)WORKER(LEVELS("1.0"), USE);
    (void)WORKER(LEVELS("2.0"), USE);
    said = WORKER("KILN_CACHE=verify", LEVELS("1.0"), USE);
    assert_contains(said, RESULT);
    assert_contains(said, "typed_different=0 ");
    assert_contains(said, "typed_stale=1 ");
    assert_contains(WORKER(LEVELS("1.0"), USE), "inferred=0 ");
}

/* ---- other toolchains ---- */

/* Copies the code generator; the copy has another GNU build id. */
static void rebuild_codegen(const char *path)
{
    static const char head[] = {4, 0, 0, 0, 20,  0,   0,   0,
                                3, 0, 0, 0, 'G', 'N', 'U', 0};
    kiln_blob bytes = {0};
    FILE *file = fopen(path, "w");
    char *note;

    assert_non_null(file);
    assert_ok(kiln__file_read(&bytes, &kiln__malloc, CODEGEN_LIBRARY,
                              (size_t)1 << 30, &test_error));
    note = memmem(bytes.data, bytes.size, head, sizeof head);
    assert_non_null(note);
    note[sizeof head] ^= 0x55;
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    assert_int_equal(fclose(file), 0);
    kiln_blob_release(&bytes);
}

static void a_rebuilt_code_generator_takes_nothing_of_the_old_one(void **state)
{
    char rebuilt[160];
    const char *said;

    (void)state;
    (void)snprintf(rebuilt, sizeof rebuilt, "KILN_CODEGEN_PATH=%s",
                   workers_path("rebuilt.so"));
    rebuild_codegen(workers_path("rebuilt.so"));
    (void)WORKER(PROGRAM, USE);
    said = WORKER(rebuilt, PROGRAM, USE);
    assert_contains(said, "compile built");
    assert_contains(said, "binary_toolchain=1 ");
    assert_contains(said, "inferred=0 ");
    /* It replaced the entry, so the old one builds again. */
    assert_contains(WORKER(rebuilt, PROGRAM, USE), "compile store");
    said = WORKER(PROGRAM, USE);
    assert_contains(said, "binary_toolchain=1 ");
    assert_contains(said, "compile built");
}

static void without_a_code_generator_every_entry_serves(void **state)
{
    const char *said;

    (void)state;
    (void)WORKER(PROGRAM, USE);
    said =
        WORKER("KILN_CODEGEN_PATH=/nowhere/libkiln-codegen.so", PROGRAM, USE);
    assert_contains(said, "compile store");
    assert_contains(said, RESULT);
    assert_contains(said, "binary_toolchain=0 ");
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, workers_setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_tier_is_off_alone),
        TEST(must_hit_turns_a_build_into_an_error),
        TEST(refresh_builds_and_replaces),
        TEST(verify_finds_what_checksums_do_not),
        TEST(verify_tells_another_program_from_another_result),
        TEST(a_rebuilt_code_generator_takes_nothing_of_the_old_one),
        TEST(without_a_code_generator_every_entry_serves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
