/* test_warm_places.c - keys and artifacts know no place, locale or address. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include "workers.h"

#include <dirent.h>

#include "base/system/file.h"
#include "stores/entry.h"

#define TEXT \
    "fn level(x) = sqrt(x) + 0.25\n" \
    "kernel k(y)\n" \
    "    i = global_id(0)\n" \
    "    if i < length(y)\n" \
    "        y[i] = level(y[i]) + 1.5\n" \
    "    end\n" \
    "end\n"
#define PROGRAM "text", "main", "main.kiln", TEXT
#define DIGEST "digest", "main.k", "f32[:]"

/* ---- one process is like another ---- */

/* It has the same key, and builds the same bytes; and what the first process
   stored serves it, too. */
static void check_variant(const char *digest, const char *const *environment)
{
    static const char *const program[] = {PROGRAM, DIGEST, "counts", NULL};
    const char *arguments[32] = {"KILN_CACHE=off"};
    size_t count = 1;

    while (*environment)
        arguments[count++] = *environment++;
    memcpy(arguments + count, program, sizeof program);
    assert_contains(worker_said(arguments), digest);
    assert_contains(worker_said(arguments), "emitted=1");
    arguments[0] = "KILN_CACHE=must-hit";
    assert_contains(worker_said(arguments), digest);
    assert_contains(worker_said(arguments), "emitted=0");
}

#define VARIANT(...) \
    check_variant(digest, (const char *const[]){__VA_ARGS__, NULL})

static const char *first_digest(void)
{
    static char digest[128];

    (void)snprintf(digest, sizeof digest, "%s", WORKER(PROGRAM, DIGEST));
    assert_contains(digest, "digest ");
    return digest;
}

static void addresses_do_not_matter(void **state)
{
    const char *digest = first_digest();

    (void)state;
    VARIANT("FIXED=1");
    VARIANT("LD_BIND_NOW=1");
    /* A sanitizer wants to be first. */
    if (HARNESS_MALLOC_AFTER_FORK && HARNESS_THREADS_AFTER_FORK) {
        VARIANT("LD_PRELOAD=" BALLAST_LIBRARY);
        VARIANT("LD_PRELOAD=" BALLAST_LIBRARY, "FIXED=1");
    }
}

static void folders_users_and_times_do_not_matter(void **state)
{
    const char *digest = first_digest();

    (void)state;
    VARIANT("FOLDER=/");
    VARIANT("HOME=/nowhere", "USER=nobody", "TZ=Asia/Tokyo");
    VARIANT("KILN_WORKERS=1", "KILN_THREADS=1");
    VARIANT("TMPDIR=/nowhere");
}

/* Whichever there are. */
static void locales_do_not_matter(void **state)
{
    static const char *const names[] = {"C", "C.UTF-8", "de_DE", "de_DE.UTF-8",
                                        "tr_TR.UTF-8"};
    const char *digest = first_digest();

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char assignment[64];

        (void)snprintf(assignment, sizeof assignment, "LC_ALL=%s", names[i]);
        VARIANT(assignment);
    }
}

static void copy_file(const char *from, const char *to)
{
    char command[600];

    (void)snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* The worker has all of libkiln in its own image there, so it is linked in
   another order, too. */
static void another_build_path_and_link_order_do_not_matter(void **state)
{
    const char *digest = first_digest();
    char codegen[160], program[160];

    (void)state;
    copy_file(CODEGEN_LIBRARY, workers_path("elsewhere.so"));
    copy_file(STATIC_PROGRAM, workers_path("worker"));
    (void)snprintf(codegen, sizeof codegen, "KILN_CODEGEN_PATH=%s",
                   workers_path("elsewhere.so"));
    (void)snprintf(program, sizeof program, "PROGRAM=%s",
                   workers_path("worker"));
    VARIANT(codegen);
    VARIANT(codegen, program);
    VARIANT(codegen, program, "FOLDER=/", "FIXED=1");
}

static void the_names_of_files_do_not_matter(void **state)
{
    const char *digest = first_digest();
    const char *said = WORKER("text", "main", "/another/path/other.kiln", TEXT,
                              DIGEST, "counts");

    (void)state;
    assert_contains(said, digest);
    assert_contains(said, "emitted=0");
}

/* ---- every entry of a corpus is the same bytes ---- */

static const char *const corpus[] = {
    "aggregates", "arithmetic",  "arrays",      "bounds",  "checked",
    "control",    "conversions", "dispatch",    "effects", "grids",
    "groups",     "imports",     "mathematics", "scans",   "switches",
};
#define CORPUS (sizeof corpus / sizeof corpus[0])

/* What each argument of a kernel may be. */
static const char *const elements[] = {"f32[:]", "i32[:]", "f64[:]"};
#define ELEMENTS (sizeof elements / sizeof elements[0])

#define TRIES_MAX 96

typedef struct trial {
    char function[96];
    char types[256];
} trial;

/* Every kernel of the file, with arguments of each kind. */
static size_t list_trials(trial *trials, const char *name, const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");
    size_t count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) && count + ELEMENTS <= TRIES_MAX) {
        char kernel[64];

        if (sscanf(line, "kernel %63[a-z_0-9](", kernel) != 1 ||
            strstr(line, "()"))
            continue;
        for (size_t i = 0; i < ELEMENTS; i++, count++) {
            trial *t = &trials[count];

            (void)snprintf(t->function, sizeof t->function, "%s.%s", name,
                           kernel);
            (void)snprintf(t->types, sizeof t->types, "%s", elements[i]);
            for (const char *at = line; (at = strchr(at, ',')); at++)
                (void)snprintf(t->types + strlen(t->types),
                               sizeof t->types - strlen(t->types), ";%s",
                               elements[i]);
        }
    }
    (void)fclose(file);
    return count;
}

/* Fills the cache that is the folder of the name; gives how many kernels. */
static size_t fill(const char *cache, const char *name)
{
    static trial trials[TRIES_MAX];
    const char *arguments[4 + 3 * TRIES_MAX];
    char directory[160], path[512];
    size_t count = 3, tried;

    (void)snprintf(directory, sizeof directory, "KILN_CACHE_DIR=%s",
                   workers_path(cache));
    (void)snprintf(path, sizeof path, "%s/tests/language/%s.kiln",
                   KILN_SOURCE_FOLDER, name);
    arguments[0] = directory;
    arguments[1] = "load";
    arguments[2] = path;
    tried = list_trials(trials, name, path);
    for (size_t i = 0; i < tried; i++) {
        arguments[count++] = "try";
        arguments[count++] = trials[i].function;
        arguments[count++] = trials[i].types;
    }
    arguments[count] = NULL;
    return workers_count(worker_said(arguments), "try KILN_OK");
}

static int is_entry(const struct dirent *at)
{
    return strlen(at->d_name) == 64;
}

/* How long building took is no part of what was built. */
static void assert_same_entry(const char *first, const char *second)
{
    kiln_blob bytes[2] = {{0}, {0}}, again[2] = {{0}, {0}};

    for (int i = 0; i < 2; i++) {
        kiln__entry entry;

        assert_ok(kiln__file_read(&bytes[i], &kiln__malloc, i ? second : first,
                                  (size_t)1 << 24, &test_error));
        assert_int_equal(
            kiln__entry_decode(&entry, bytes[i].data, bytes[i].size, NULL),
            KILN__FAULT_NONE);
        entry.build_ns = 0;
        assert_ok(kiln__entry_encode(&again[i], &kiln__malloc, &entry));
    }
    if (again[0].size != again[1].size ||
        memcmp(again[0].data, again[1].data, again[0].size) != 0)
        fail_msg("%s and %s differ", first, second);
    for (int i = 0; i < 2; i++) {
        kiln_blob_release(&again[i]);
        kiln_blob_release(&bytes[i]);
    }
}

/* Compares what lies in both folders; gives how many entries. */
static size_t compare_folders(const char *first, const char *second)
{
    struct dirent **list = NULL;
    const int count = scandir(first, &list, NULL, alphasort);
    size_t entries = 0;

    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        char a[400], b[400];

        (void)snprintf(a, sizeof a, "%s/%s", first, list[i]->d_name);
        (void)snprintf(b, sizeof b, "%s/%s", second, list[i]->d_name);
        if (list[i]->d_type == DT_DIR && list[i]->d_name[0] != '.') {
            entries += compare_folders(a, b);
        } else if (list[i]->d_type == DT_REG && is_entry(list[i])) {
            assert_same_entry(a, b);
            entries++;
        }
        free(list[i]);
    }
    free(list);
    return entries;
}

static void fresh_processes_make_the_same_bytes(void **state)
{
    size_t kernels = 0, entries;

    (void)state;
    for (size_t i = 0; i < CORPUS; i++) {
        kernels += fill("one", corpus[i]);
        (void)fill("two", corpus[i]);
    }
    entries = compare_folders(workers_path("one"), workers_path("two"));
    assert_int_equal(entries,
                     compare_folders(workers_path("two"), workers_path("one")));
    assert_true(kernels >= 40);
    assert_true(entries >= 2 * kernels);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, workers_setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(addresses_do_not_matter),
        TEST(folders_users_and_times_do_not_matter),
        TEST(locales_do_not_matter),
        TEST(another_build_path_and_link_order_do_not_matter),
        TEST(the_names_of_files_do_not_matter),
        TEST(fresh_processes_make_the_same_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
