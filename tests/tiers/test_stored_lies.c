/* test_stored_lies.c - entries whose sums are right and that say nonsense. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers fault host */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kiln.h>

#include "base/system/file.h"
#include "stores/entry.h"
#include "support/harness.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/entry_writer.h"

/*
 * Sums find damage. An entry that another program wrote wrongly has right sums
 * and is read on: whatever it says, nothing may crash, and a kernel that comes
 * of it must be the right one. Payloads of binaries are left alone: those are
 * code, and who may write them may do anything.
 */
static const char program[] = "fn fact(n)\n"
                              "    if n < 2\n"
                              "        return n\n"
                              "    end\n"
                              "    return n * fact(n - 1)\n"
                              "end\n"
                              "fn scaled(a, x) = a * x\n"
                              "kernel fill(y, a)\n"
                              "    i = global_id(0)\n"
                              "    if i < length(y)\n"
                              "        y[i] = scaled(a, f64(fact(i)))\n"
                              "    end\n"
                              "end\n";

#define ITEMS 8
#define FILES_MAX 64
#define ROUNDS 150

typedef struct stored {
    char path[256];
    kiln_blob bytes;
} stored;

static const char *folder;
static stored files[FILES_MAX];
static size_t file_count;

/* ---- one process ---- */

static void launch(kiln_context *context, const kiln_config *config,
                   const kiln_kernel *kernel)
{
    static const double expected[ITEMS] = {0, 2, 4, 12, 48, 240, 1440, 10080};
    const kiln_launch grid = {.grid = {ITEMS}};
    double y[ITEMS] = {0}, a = 2;
    const kiln_array array = {.data = y, .sizes = {ITEMS}};
    const void *arguments[2] = {&array, &a};
    kiln_device *device;
    kiln_queue *queue;

    assert_ok(kiln_device_open(&device, context, kiln_config_backend(config), 0,
                               &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    assert_ok(
        kiln_queue_launch(queue, kernel, &grid, arguments, 2, &test_error));
    assert_ok(kiln_queue_wait(queue, &test_error));
    for (int i = 0; i < ITEMS; i++)
        assert_true(y[i] == expected[i]);
    kiln_queue_free(queue);
    kiln_device_close(device);
}

/* `comment` makes it another program of the same meaning. */
static void run_process(int comment)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_type *types[2] = {NULL, NULL};
    kiln_signature signature = {NULL, types, 2};
    const kiln_kernel *kernel = NULL;
    const kiln_config *config;
    kiln_package *package;
    kiln_context *context;
    char text[600];

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    (void)snprintf(text, sizeof text, "%s%s", comment ? "# other\n" : "",
                   program);
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(kiln_package_define(package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
    types[1] = kiln_type_scalar(context, KILN_TYPE_F64);
    assert_ok(kiln_type_array(&types[0], context, types[1], 1, 0, &test_error));
    assert_ok(kiln_package_function(&signature.function, package, "fill",
                                    &test_error));
    assert_ok(
        kiln_compile(&kernel, context, &signature, config, NULL, &test_error));
    launch(context, config, kernel);
    kiln_context_free(context);
}

/* ---- the folder ---- */

static int take_file(const char *path, const struct stat *status, int kind,
                     struct FTW *place)
{
    const size_t size = strlen(path);

    (void)status;
    (void)place;
    if (kind != FTW_F || size < 2 || strcmp(path + size - 2, ".e") != 0)
        return 0;
    assert_true(file_count < FILES_MAX && size < sizeof files->path);
    (void)snprintf(files[file_count].path, sizeof files->path, "%s", path);
    assert_ok(kiln__file_read(&files[file_count].bytes, &kiln__malloc, path,
                              (size_t)1 << 24, &test_error));
    file_count++;
    return 0;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file;

    (void)unlink(path);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void restore(void)
{
    for (size_t i = 0; i < file_count; i++)
        write_file(files[i].path, files[i].bytes.data, files[i].bytes.size);
}

static int setup(void **state)
{
    file_count = 0;
    if (temporary_folder_setup(state) != 0)
        return -1;
    folder = *state;
    run_process(0);
    run_process(1);
    return nftw(folder, take_file, 8, FTW_PHYS);
}

static int teardown(void **state)
{
    for (size_t i = 0; i < file_count; i++)
        kiln_blob_release(&files[i].bytes);
    return temporary_folder_teardown(state);
}

/* ---- lies ---- */

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void spoil(unsigned char *bytes, size_t size, uint32_t *seed)
{
    const uint32_t times = 1 + next(seed) % 3;

    for (uint32_t i = 0; size && i < times; i++)
        bytes[next(seed) % size] = (unsigned char)next(seed);
}

static int is_typed(int32_t kind)
{
    return kind == KILN__ENTRY_INSTANCE || kind == KILN__ENTRY_PROGRAM ||
           kind == KILN__ENTRY_SOURCE;
}

/* Writes the entry again with another meta or, of typed IR, another payload,
   or with less of them. */
static void lie(const stored *file, int32_t kind, uint32_t *seed)
{
    unsigned char *meta, *payload;
    kiln_blob envelope = {0};
    kiln__entry entry;

    assert_int_equal(
        kiln__entry_decode(&entry, file->bytes.data, file->bytes.size, NULL),
        KILN__FAULT_NONE);
    if (entry.kind != kind)
        return;
    meta = malloc(entry.meta_size + 1);
    payload = malloc(entry.payload_size + 1);
    assert_true(meta && payload);
    memcpy(meta, entry.meta, entry.meta_size);
    if (entry.payload_size)
        memcpy(payload, entry.payload, entry.payload_size);
    entry.meta = meta;
    entry.payload = payload;
    if (is_typed(kind) && entry.payload_size && next(seed) % 2)
        spoil(payload, entry.payload_size, seed);
    else if (next(seed) % 4 == 0)
        entry.meta_size = next(seed) % (entry.meta_size + 1);
    else
        spoil(meta, entry.meta_size, seed);
    assert_ok(kiln__entry_encode(&envelope, &kiln__malloc, &entry));
    write_file(file->path, envelope.data, envelope.size);
    kiln_blob_release(&envelope);
    free(meta);
    free(payload);
}

static void drop(int32_t kind)
{
    for (size_t i = 0; i < file_count; i++) {
        kiln__entry entry;

        if (kiln__entry_decode(&entry, files[i].bytes.data, files[i].bytes.size,
                               NULL) == KILN__FAULT_NONE &&
            entry.kind == kind)
            (void)unlink(files[i].path);
    }
}

static void lies_about_code_instances_are_found(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        restore();
        drop(KILN__ENTRY_PROGRAM);
        for (size_t i = 0; i < file_count; i++)
            lie(&files[i], KILN__ENTRY_INSTANCE, &seed);
        run_process(round % 2);
    }
}

static void lies_about_programs_are_found(void **state)
{
    uint32_t seed = 3;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        restore();
        for (size_t i = 0; i < file_count; i++)
            lie(&files[i], KILN__ENTRY_PROGRAM, &seed);
        run_process(round % 2);
    }
}

static void lies_about_binaries_are_found(void **state)
{
    uint32_t seed = 4;

    (void)state;
    for (int round = 0; round < ROUNDS / 5; round++) {
        restore();
        for (size_t i = 0; i < file_count; i++)
            lie(&files[i], KILN__ENTRY_BINARY, &seed);
        run_process(round % 2);
    }
}

/* ---- numbers that no target allows ---- */

static const kiln_artifact *artifact_at(const char *path, kiln_blob *bytes)
{
    const kiln_artifact *artifact = NULL;
    kiln__entry entry;

    assert_ok(kiln__file_read(bytes, &kiln__malloc, path, (size_t)1 << 24,
                              &test_error));
    assert_int_equal(kiln__entry_decode(&entry, bytes->data, bytes->size, NULL),
                     KILN__FAULT_NONE);
    if (entry.kind == KILN__ENTRY_BINARY)
        assert_ok(kiln__artifact_decode(&artifact, &kiln__malloc, &entry));
    return artifact;
}

/* The members are numbers of 32 bits, one behind the other in no order. */
static uint32_t *member_of(const kiln_artifact *artifact, size_t offset)
{
    return (uint32_t *)((uintptr_t)&artifact->kernels[0] + offset);
}

/* False: the file has no artifact. */
static int say(const char *path, size_t offset, uint32_t value)
{
    kiln_blob bytes = {0}, envelope = {0};
    const kiln_artifact *artifact = artifact_at(path, &bytes);
    kiln__entry_writer writer;

    if (artifact) {
        *member_of(artifact, offset) = value;
        assert_ok(
            kiln__entry_writer_artifact(&writer, &kiln__malloc, artifact));
        assert_ok(kiln__entry_encode(&envelope, &kiln__malloc, &writer.entry));
        kiln__entry_writer_dispose(&writer);
        write_file(path, envelope.data, envelope.size);
        kiln_blob_release(&envelope);
        kiln_artifact_release(artifact);
    }
    kiln_blob_release(&bytes);
    return artifact != NULL;
}

static uint32_t said(const char *path, size_t offset)
{
    kiln_blob bytes = {0};
    const kiln_artifact *artifact = artifact_at(path, &bytes);
    const uint32_t value = *member_of(artifact, offset);

    kiln_artifact_release(artifact);
    kiln_blob_release(&bytes);
    return value;
}

/* A launch would fail, and so it would in each process that finds the entry. */
static void numbers_that_no_target_allows_are_dropped_and_built_again(
    void **state)
{
#define AT(member) offsetof(kiln_kernel_info, member)
    static const struct {
        size_t offset;
        uint32_t value;
    } lies[] = {
        {AT(static_local_bytes), UINT32_MAX},
        {AT(static_local_bytes), 64u << 20},
        {AT(private_bytes), UINT32_MAX},
        {AT(required_group_size[0]), 1u << 31},
        {AT(required_group_size[1]), 3},
        {AT(required_group_size[2]), UINT32_MAX},
        {AT(maximum_group_size), 1},
        {AT(stack_bytes), UINT32_MAX},
        {AT(registers), UINT32_MAX},
        {AT(spill_bytes), UINT32_MAX},
        {AT(sub_group_size), UINT32_MAX},
    };
    size_t tried = 0;

    (void)state;
    for (size_t l = 0; l < sizeof lies / sizeof *lies; l++)
        for (size_t i = 0; i < file_count; i++) {
            restore();
            if (!say(files[i].path, lies[l].offset, lies[l].value))
                continue;
            run_process(0);
            assert_int_not_equal(said(files[i].path, lies[l].offset),
                                 lies[l].value);
            tried++;
        }
    assert_true(tried >= sizeof lies / sizeof *lies);
}

static void lies_about_texts_are_found(void **state)
{
    uint32_t seed = 2;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        restore();
        for (size_t i = 0; i < file_count; i++)
            lie(&files[i], KILN__ENTRY_SOURCE, &seed);
        run_process(round % 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lies_about_code_instances_are_found,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(lies_about_texts_are_found, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(lies_about_programs_are_found, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(lies_about_binaries_are_found, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            numbers_that_no_target_allows_are_dropped_and_built_again, setup,
            teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
