/* stores_fixture.c - a context with a disk store in a folder of a test. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/stores/stores_fixture.h"

#include <stdio.h>
#include <string.h>

#include "stores/pack/pack.h"
#include "support/harness.h"
#include "support/stores/list_store.h"

static void note_line(void *env, int32_t level, const char *line)
{
    stores_fixture *f = env;

    (void)level;
    (void)snprintf(f->lines + strlen(f->lines),
                   sizeof f->lines - strlen(f->lines), "%s\n", line);
}

void stores_reopen(stores_fixture *f)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    kiln_context_free(f->context);
    f->context = NULL;
    f->lines[0] = '\0';
    options.cache = &f->cache;
    options.host = &f->host;
    options.host_env = f;
    assert_ok(kiln_context_new(&f->context, &options, &test_error));
}

void stores_reopen_as(stores_fixture *f, uint8_t mode)
{
    f->cache.mode = mode;
    stores_reopen(f);
}

int stores_setup(void **state)
{
    static stores_fixture f;
    void *folder = NULL;

    memset(&f, 0, sizeof f);
    if (temporary_folder_setup(&folder) != 0)
        return -1;
    f.folder = folder;
    (void)snprintf(f.disk, sizeof f.disk, "%s/disk", f.folder);
    f.host = (kiln_host_ops){.size = sizeof f.host, .log = note_line};
    f.cache = (kiln_cache_options){.size = sizeof f.cache,
                                   .mode = KILN_CACHE_MODE_READ_WRITE,
                                   .directory = f.disk};
    stores_reopen(&f);
    loose_entry_make(&f.a, "a", 500);
    loose_entry_make(&f.b, "b", 500);
    *state = &f;
    return 0;
}

int stores_teardown(void **state)
{
    stores_fixture *f = *state;
    void *folder = f->folder;

    kiln_context_free(f->context);
    loose_entry_end(&f->a);
    loose_entry_end(&f->b);
    return temporary_folder_teardown(&folder);
}

void stores_put(stores_fixture *f, const loose_entry *e)
{
    kiln__stores_put(f->context, &e->entry, 0);
}

int stores_has(stores_fixture *f, const loose_entry *e)
{
    kiln__stored stored;
    int same;

    if (kiln__stores_get(&stored, f->context, e->entry.kind, &e->entry.key) !=
        KILN_OK)
        return 0;
    same = stored.entry.payload_size == e->entry.payload_size &&
           memcmp(stored.entry.payload, e->entry.payload,
                  e->entry.payload_size) == 0;
    kiln__stored_release(&stored);
    return same;
}

kiln_store_statistics stores_counts_of(const stores_fixture *f, int32_t tier)
{
    kiln_statistics all = {.size = sizeof all};

    kiln_statistics_get(&all, f->context);
    return all.stores[tier];
}

kiln_store_statistics stores_counts(const stores_fixture *f)
{
    return stores_counts_of(f, KILN_TIER_BINARY);
}

void stores_add_faulty(stores_fixture *f, faulty_store *faulty,
                       int32_t priority)
{
    faulty_store_init(faulty, &list_store_ops, list_store_new());
    assert_ok(kiln_context_add_store(f->context, &faulty_store_ops, faulty,
                                     priority, &test_error));
}

void stores_pack(char path[400], const stores_fixture *f)
{
    kiln__pack_writer *writer = NULL;

    (void)snprintf(path, 400, "%s/site.kilnpack", f->folder);
    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    assert_ok(kiln__pack_writer_add_entry(writer, &f->a.entry, &test_error));
    assert_ok(kiln__pack_writer_to_file(writer, path, &test_error));
    kiln__pack_writer_free(writer);
}
