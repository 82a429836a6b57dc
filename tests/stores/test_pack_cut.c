/* test_pack_cut.c - packs that others cut or write over while they are open. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault tiers host */
#include "stores/pack/pack.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kiln.h>

#include "support/harness.h"
#include "support/stores/packs.h"

#define COUNT ((uint64_t)300)
#define SIZE ((size_t)3000)

/* ---- entries ---- */

static kiln_pack *open_pack(char *path, size_t capacity, const char *folder,
                            const kiln_blob *bytes)
{
    kiln_pack *pack = NULL;

    harness_write_file(path, capacity, folder, "some.kilnpack", bytes->data,
                       bytes->size);
    assert_ok(kiln__pack_open(&pack, &kiln__malloc, path, &test_error));
    return pack;
}

/* How many entries are there, each as it was made. */
static uint64_t count_found(kiln_pack *pack)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < COUNT; i++) {
        const int found = pack_holds(pack, i, SIZE);

        assert_true(found >= 0);
        count += (uint64_t)found;
    }
    return count;
}

/* All are asked for first, since who is asked often may look in other ways. */
static void a_pack_that_is_cut_while_it_is_open_loses_entries(void **state)
{
    kiln_blob bytes = pack_bytes(COUNT, SIZE);
    uint64_t last = COUNT;
    char path[4096];

    for (size_t kept = bytes.size - 1; kept > 0; kept /= 2) {
        kiln_pack *pack = open_pack(path, sizeof path, *state, &bytes);
        uint64_t left;

        assert_int_equal(count_found(pack), COUNT);
        assert_int_equal(truncate(path, (off_t)kept), 0);
        left = count_found(pack);
        assert_true(left <= last);
        last = left;
        assert_true(kiln__pack_verify(pack, NULL) != KILN_OK);
        kiln_pack_close(pack);
    }
    assert_int_equal(last, 0);
    kiln_blob_release(&bytes);
}

/* `cp new old` writes into the file that is open: another pack's bytes, and
   fewer of them. */
static void a_pack_that_is_written_over_gives_nothing_that_is_wrong(
    void **state)
{
    kiln_blob bytes = pack_bytes(COUNT, SIZE);

    for (uint64_t other = 0; other < COUNT; other += 23) {
        kiln_blob shorter = pack_bytes(other, SIZE);
        char path[4096];
        kiln_pack *pack = open_pack(path, sizeof path, *state, &bytes);

        assert_int_equal(count_found(pack), COUNT);
        harness_write_file(path, sizeof path, *state, "some.kilnpack",
                           shorter.data, shorter.size);
        assert_true(count_found(pack) < COUNT);
        assert_true(kiln__pack_verify(pack, NULL) != KILN_OK);
        kiln_pack_close(pack);
        kiln_blob_release(&shorter);
    }
    kiln_blob_release(&bytes);
}

/* What passed its checks is what is used. */
static void what_a_pack_gave_stays_as_it_was(void **state)
{
    kiln_blob bytes = pack_bytes(COUNT, SIZE);
    char path[4096], zeros[4096] = {0};
    kiln_pack *pack = open_pack(path, sizeof path, *state, &bytes);
    kiln__packed found[COUNT];
    int file;

    for (size_t i = 0; i < COUNT; i++)
        assert_ok(kiln__pack_at(&found[i], pack, i));
    file = open(path, O_WRONLY);
    assert_true(file >= 0);
    for (size_t at = 0; at < bytes.size; at += sizeof zeros)
        assert_int_equal(write(file, zeros, sizeof zeros), sizeof zeros);
    close(file);
    kiln_pack_close(pack);
    for (size_t i = 0; i < COUNT; i++) {
        kiln__entry entry;

        assert_int_equal(kiln__entry_decode(&entry, found[i].bytes.data,
                                            found[i].bytes.size, NULL),
                         KILN__FAULT_NONE);
        assert_int_equal((uintptr_t)entry.payload % 64, 0);
        kiln_blob_release(&found[i].bytes);
    }
    kiln_blob_release(&bytes);
}

/* ---- kernels ---- */

#define KERNELS 40u

typedef struct program {
    kiln_context *context;
    const kiln_config *config;
    kiln_package *package;
} program;

static void begin(program *p, uint8_t mode)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    char text[16384] = "";

    cache.mode = mode;
    cache.directory = "/dev/null/none";
    options.cache = &cache;
    options.workers = 2;
    settings.opt_level = KILN_OPT_0;
    assert_ok(kiln_context_new(&p->context, &options, &test_error));
    assert_ok(kiln_config_new(&p->config, p->context, &settings, &test_error));
    assert_ok(kiln_package_new(&p->package, p->context, "main", &test_error));
    for (unsigned i = 0; i < KERNELS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "kernel k%u(y)\n    y[global_id(0)] = f32(%u)\nend\n", i, i);
    assert_ok(kiln_package_define(p->package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
}

static void compile(program *p, unsigned number)
{
    const kiln_type *array;
    const kiln_kernel *kernel;
    kiln_signature signature = {.types = &array, .count = 1};
    char name[16];

    snprintf(name, sizeof name, "k%u", number);
    assert_ok(kiln_type_parse(&array, p->context, NULL, "f32[:]", &test_error));
    assert_ok(kiln_package_function(&signature.function, p->package, name,
                                    &test_error));
    assert_ok(kiln_compile(&kernel, p->context, &signature, p->config, NULL,
                           &test_error));
}

static void save(const char *path)
{
    program p;

    begin(&p, KILN_CACHE_MODE_OFF);
    for (unsigned i = 0; i < KERNELS; i++)
        compile(&p, i);
    assert_ok(kiln_delta_save(p.context, path, NULL, NULL, &test_error));
    kiln_context_free(p.context);
}

static void kernels_of_a_pack_that_is_cut_are_compiled(void **state)
{
    kiln_statistics statistics = {.size = sizeof statistics};
    kiln_pack *pack = NULL;
    char path[4096];
    program p;

    snprintf(path, sizeof path, "%s/main.kilnpack", (const char *)*state);
    save(path);
    assert_ok(kiln_pack_open(&pack, path, &test_error));
    begin(&p, KILN_CACHE_MODE_READ_WRITE);
    assert_ok(kiln_insert(p.context, pack, &test_error));
    for (unsigned i = 0; i < KERNELS - 3; i++)
        compile(&p, i);
    assert_int_equal(truncate(path, 1), 0);
    for (unsigned i = KERNELS - 3; i < KERNELS; i++)
        compile(&p, i);
    kiln_statistics_get(&statistics, p.context);
    assert_int_equal(statistics.tiers[KILN_TIER_BINARY].built, 3);
    kiln_context_free(p.context);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_pack_that_is_cut_while_it_is_open_loses_entries),
        IN_FOLDER(a_pack_that_is_written_over_gives_nothing_that_is_wrong),
        IN_FOLDER(what_a_pack_gave_stays_as_it_was),
        IN_FOLDER(kernels_of_a_pack_that_is_cut_are_compiled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
