/* test_pack_chain.c - a pack among the stores behind the tiers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers */
#include <stdio.h>
#include <string.h>

#include "base/system/file.h"
#include "context/context.h"
#include "stores/pack/pack.h"
#include "support/harness.h"
#include "support/stores/packs.h"

#define COUNT 20
#define SIZE ((size_t)300)

static char trace[4096];

static kiln_context *context_open(const char *folder)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;

    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    cache.trace = trace;
    options.cache = &cache;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    return context;
}

/* The context has the pack from here on. */
static void insert(kiln_context *context, const kiln_blob *bytes)
{
    kiln__store_source source = {
        .ops = &kiln__pack_store_ops,
        .find = kiln__pack_store_find,
        .priority = KILN_STORE_PACKS,
        .is_packed = 1,
    };
    kiln_pack *pack = NULL;

    assert_ok(
        kiln_pack_open_memory(&pack, bytes->data, bytes->size, &test_error));
    source.self = kiln__pack_store(pack);
    assert_ok(kiln__stores_add(context, &source));
    kiln_pack_close(pack);
}

static kiln_status get(kiln__stored *out, kiln_context *context,
                       uint64_t number)
{
    const kiln__entry entry = pack_entry(number, SIZE);

    return kiln__stores_get(out, context, entry.kind, &entry.key);
}

static kiln_store_statistics statistics_of(const kiln_context *context)
{
    kiln_statistics all = {.size = sizeof all};

    kiln_statistics_get(&all, context);
    return all.stores[KILN_TIER_BINARY];
}

static void assert_traced(const char *part)
{
    kiln_blob text = {0};

    assert_ok(kiln__file_read(&text, &kiln__malloc, trace, (size_t)1 << 20,
                              &test_error));
    assert_contains(text.data, part);
    kiln_blob_release(&text);
}

static void entries_of_a_pack_are_found(void **state)
{
    kiln_context *context = context_open(*state);
    kiln_blob bytes = pack_bytes(COUNT, SIZE);
    kiln__stored stored;

    insert(context, &bytes);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_ok(get(&stored, context, i));
        assert_true(stored.is_packed);
        assert_int_equal(stored.entry.build_ns, i * 1000);
        kiln__stored_release(&stored);
    }
    assert_status(KILN_ENOTFOUND, get(&stored, context, COUNT));
    assert_int_equal(statistics_of(context).hits, COUNT);
    assert_int_equal(statistics_of(context).misses[KILN_MISS_ABSENT], 1);
    assert_traced("\"name\": \"get binary\", \"cat\": \"store\"");
    assert_traced("\"tier\": \"binary\", \"outcome\": \"hit\"");
    assert_traced("\"outcome\": \"miss\"");
    kiln_context_free(context);
    kiln_blob_release(&bytes);
}

/* A damaged pack behind a sound one, and before it. */
static void a_damaged_entry_is_looked_for_further_on(void **state)
{
    kiln_blob bad = pack_bytes(COUNT, SIZE), good = pack_bytes(COUNT, SIZE);
    kiln_context *context = context_open(*state);
    kiln__stored stored;

    /* Behind the header: every entry's checksum. */
    for (size_t at = 128; at + 112 < bad.size; at += 64)
        if (memcmp((const char *)bad.data + at, "KILNENT", 7) == 0)
            ((unsigned char *)(uintptr_t)bad.data)[at + 112] ^= 1;
    insert(context, &bad);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_status(KILN_ENOTFOUND, get(&stored, context, i));
    assert_int_equal(statistics_of(context).misses[KILN_MISS_CHECKSUM], COUNT);
    insert(context, &good);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_ok(get(&stored, context, i));
        kiln__stored_release(&stored);
    }
    kiln_context_free(context);
    kiln_blob_release(&bad);
    kiln_blob_release(&good);
}

/* What is put goes to the disk, not into packs, and is found there. */
static void packs_take_no_puts(void **state)
{
    kiln_context *context = context_open(*state);
    kiln_blob bytes = pack_bytes(COUNT, SIZE);
    const kiln__entry entry = pack_entry(COUNT + 5, SIZE);
    kiln__stored stored;

    insert(context, &bytes);
    kiln__stores_put(context, &entry, 0);
    assert_ok(get(&stored, context, COUNT + 5));
    assert_false(stored.is_packed);
    kiln__stored_release(&stored);
    assert_traced("\"name\": \"put binary\"");
    kiln_context_free(context);
    kiln_blob_release(&bytes);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(entries_of_a_pack_are_found),
        IN_FOLDER(a_damaged_entry_is_looked_for_further_on),
        IN_FOLDER(packs_take_no_puts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
