/* test_cache_damaged.c - tools meet entries that are damaged. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault tiers host */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kiln.h>

#include "kiln/sys/cache_tools.h"
#include "support/harness.h"
#include "support/process/guarded_alloc.h"

/*
 * One bit of each part of each file is flipped in turn, and every tool that
 * looks at entries does so. Memory that was freed is out of reach of them.
 */
#define PARTS 4

static const char text[] = "fn scaled(a, x) = a * x\n"
                           "kernel k(y, a)\n"
                           "    y[global_id(0)] = scaled(a, y[0])\n"
                           "end\n";

typedef struct fixture {
    kiln_context *context;
    const kiln_type *types[2];
    kiln_signature signature;
    const kiln_config *config;
} fixture;

static void begin(fixture *f, const char *folder, uint8_t mode)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_package *package;

    cache.mode = mode;
    cache.directory = folder;
    options.alloc = &guarded_alloc;
    options.cache = &cache;
    f->signature = (kiln_signature){.types = f->types, .count = 2};
    assert_ok(kiln_context_new(&f->context, &options, &test_error));
    assert_ok(kiln_config_new(&f->config, f->context, NULL, &test_error));
    assert_ok(kiln_package_new(&package, f->context, "main", &test_error));
    assert_ok(kiln_package_define(package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
    assert_ok(kiln_package_function(&f->signature.function, package, "k",
                                    &test_error));
    f->types[1] = kiln_type_scalar(f->context, KILN_TYPE_F32);
    assert_ok(kiln_type_array(&f->types[0], f->context, f->types[1], 1, 0,
                              &test_error));
}

static void fill(const char *folder)
{
    const kiln_kernel *kernel;
    fixture f;

    begin(&f, folder, KILN_CACHE_MODE_READ_WRITE);
    assert_ok(kiln_compile(&kernel, f.context, &f.signature, f.config, NULL,
                           &test_error));
    kiln_context_free(f.context);
}

/* ---- what looks ---- */

typedef struct sight {
    size_t shown, bad;   /* entries */
    size_t fields;       /* of those that are good */
    size_t asked, found; /* keys of the job */
    size_t unbelieved;   /* keys whose entries are there */
    size_t unnamed;      /* entries without a digest */
    int is_whole;        /* the pack */
} sight;

static void take_field(void *env, const char *section, const char *name,
                       const char *value)
{
    sight *s = env;

    s->fields += section && name && value;
}

static int32_t take_entry(void *env, const kiln_cache_entry *entry)
{
    static const kiln_digest none;
    sight *s = env;

    s->shown++;
    s->bad += entry->fault != NULL;
    s->unnamed += memcmp(&entry->digest, &none, sizeof none) == 0;
    assert_ok(kiln_cache_describe(entry, take_field, s));
    return 1;
}

static void take_answer(void *env, const kiln_cache_answer *answer)
{
    sight *s = env;

    s->asked++;
    s->found += answer->found == KILN_CACHE_FOUND;
    if (answer->found != KILN_CACHE_BAD)
        return;
    s->unbelieved++;
    assert_non_null(answer->nearest);
    assert_non_null(answer->nearest->fault);
    assert_true(strlen(answer->nearest->path) > 0);
    assert_memory_equal(&answer->nearest->digest, &answer->wanted,
                        sizeof answer->wanted);
}

/* In a folder, and in a pack if there is one. */
static sight look(const char *folder, const char *pack_path)
{
    kiln_pack *pack = NULL;
    sight s = {0};
    fixture f;

    begin(&f, folder, KILN_CACHE_MODE_READ_ONLY);
    if (pack_path && kiln_pack_open(&pack, pack_path, NULL) == KILN_OK) {
        assert_ok(kiln_pack_each(pack, NULL, take_entry, &s, &test_error));
        s.is_whole = kiln_pack_verify(pack, NULL) == KILN_OK;
        assert_ok(kiln_insert(f.context, pack, &test_error));
    }
    assert_ok(kiln_cache_each(f.context, NULL, take_entry, &s, &test_error));
    assert_ok(kiln_cache_explain(f.context, &f.signature, f.config, take_answer,
                                 &s, &test_error));
    kiln_context_free(f.context);
    assert_int_equal(s.asked, 3);
    return s;
}

/* ---- damage ---- */

static void flip(const char *path, off_t at)
{
    const int file = open(path, O_RDWR);
    unsigned char byte;

    assert_true(file >= 0);
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    assert_int_equal(close(file), 0);
}

static char paths[32][512];
static size_t path_count;

static int take_path(const char *path, const struct stat *facts, int type,
                     struct FTW *place)
{
    (void)facts;
    (void)place;
    if (type == FTW_F && strcmp(path + strlen(path) - 2, ".e") == 0 &&
        path_count < 32)
        (void)snprintf(paths[path_count++], sizeof *paths, "%s", path);
    return 0;
}

static off_t size_of(const char *path)
{
    struct stat facts;

    assert_int_equal(stat(path, &facts), 0);
    return facts.st_size;
}

static void damaged_files_are_shown_and_not_looked_into(void **state)
{
    sight whole;

    fill(*state);
    whole = look(*state, NULL);
    assert_int_equal(whole.bad, 0);
    assert_int_equal(whole.found, 3);
    path_count = 0;
    assert_int_equal(nftw(*state, take_path, 8, FTW_PHYS), 0);
    assert_int_equal(path_count, whole.shown);
    for (size_t i = 0; i < path_count * (PARTS + 1); i++) {
        const char *path = paths[i / (PARTS + 1)];
        const off_t at = (off_t)(i % (PARTS + 1)) * (size_of(path) - 1) / PARTS;
        sight s;

        flip(path, at);
        s = look(*state, NULL);
        assert_int_equal(s.shown, whole.shown);
        assert_int_equal(s.bad, 1);
        assert_true(s.fields < whole.fields);
        assert_true(s.found == 3 || s.found == 2);
        assert_int_equal(s.found + s.unbelieved, 3);
        flip(path, at);
    }
    assert_int_equal(look(*state, NULL).found, 3);
}

static void damaged_packs_are_shown_and_not_looked_into(void **state)
{
    kiln_cache_report report = {.size = sizeof report};
    char full[300], empty[300], path[300];
    fixture f;

    (void)snprintf(full, sizeof full, "%s/full", (char *)*state);
    (void)snprintf(empty, sizeof empty, "%s/empty", (char *)*state);
    (void)snprintf(path, sizeof path, "%s/x.kilnpack", (char *)*state);
    fill(full);
    begin(&f, full, KILN_CACHE_MODE_READ_ONLY);
    assert_ok(
        kiln_cache_export(&report, f.context, path, NULL, NULL, &test_error));
    kiln_context_free(f.context);
    assert_true(look(empty, path).is_whole);
    for (off_t at = 0; at < size_of(path); at += size_of(path) / 25) {
        sight s;

        flip(path, at);
        s = look(empty, path);
        assert_false(s.is_whole);
        assert_int_equal(s.unnamed, 0);
        flip(path, at);
    }
    assert_int_equal(look(empty, path).found, 3);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(damaged_files_are_shown_and_not_looked_into),
        IN_FOLDER(damaged_packs_are_shown_and_not_looked_into),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
