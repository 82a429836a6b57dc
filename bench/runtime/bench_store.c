/* bench_store.c - stores: packs and loose files, opened and looked into. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench.h"
#include "hasher.h"
#include "pack.h"
#include "stores/loose.h"

/*
 * A pack file of so many entries, a few of which hold 16 KiB and are those
 * that are asked for, in no order. The file is in the page cache. Each get
 * checks all of the entry: key, sums, sizes.
 */

#define ASKED 256u /* entries that are asked for */
#define KEY_SIZE 200
#define SMOKE_COUNT 10000u
#define LARGE_SIZE ((size_t)16 << 10)
#define SMALL_SIZE ((size_t)64)

struct fixture {
    char path[64];
    kiln_pack *pack;
    kiln__pack_may_map may_map;
    size_t count;
    char keys[ASKED][KEY_SIZE];
    kiln_key asked[ASKED];
    kiln_key absent;
    unsigned next;
};

static int always(int descriptor)
{
    return descriptor >= 0;
}

static int never(int descriptor)
{
    return descriptor < 0;
}

static void check(kiln_status status)
{
    bench_check(status, NULL);
}

/* As long as the keys of real jobs. */
static kiln_key key_of(char bytes[KEY_SIZE], uint64_t number)
{
    memset(bytes, 'k', KEY_SIZE);
    memcpy(bytes, &number, sizeof number);
    return (kiln_key){kiln__digest_bytes(bytes, KEY_SIZE), bytes, KEY_SIZE};
}

static void add(kiln__pack_writer *writer, uint64_t number, size_t size)
{
    static unsigned char payload[LARGE_SIZE];
    char bytes[KEY_SIZE];
    const kiln__entry entry = {
        .kind = KILN__ENTRY_BINARY,
        .key = key_of(bytes, number),
        .payload = payload,
        .payload_size = size,
    };

    check(kiln__pack_writer_add_entry(writer, &entry, NULL));
}

/* Those that are asked for lie among the others as their digests do. */
static void write_pack(struct fixture *f)
{
    const uint64_t step = f->count > ASKED ? f->count / ASKED : 1;
    kiln__pack_writer *writer = NULL;
    unsigned asked = 0;

    check(kiln__pack_writer_new(&writer, &kiln__malloc));
    for (uint64_t i = 0; i < f->count; i++) {
        const int is_asked = i % step == 0 && asked < ASKED;

        if (is_asked) {
            f->asked[asked] = key_of(f->keys[asked], i);
            asked++;
        }
        add(writer, i, is_asked ? LARGE_SIZE : SMALL_SIZE);
    }
    for (unsigned i = asked; i < ASKED; i++)
        f->asked[i] = f->asked[i % asked];
    check(kiln__pack_writer_to_file(writer, f->path, NULL));
    kiln__pack_writer_free(writer);
}

static void get_from(struct fixture *f, kiln_pack *pack)
{
    kiln__packed found;

    f->next = (f->next + 97) % ASKED;
    check(kiln__pack_find(&found, pack, &f->asked[f->next]));
    BENCH_KEEP(found.entry.payload);
    kiln_blob_release(&found.bytes);
}

static void *setup(const struct bench *bench, kiln__pack_may_map may_map)
{
    static char absent[KEY_SIZE];
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        bench_check(KILN_ENOMEM, NULL);
    snprintf(f->path, sizeof f->path, "/tmp/kiln-bench-%ld.kilnpack",
             (long)getpid());
    f->count = (size_t)bench->size;
    if (bench_is_smoke() && f->count > SMOKE_COUNT)
        f->count = SMOKE_COUNT;
    f->may_map = may_map;
    f->absent = key_of(absent, UINT64_MAX);
    write_pack(f);
    check(kiln__pack_open(&f->pack, &kiln__malloc, f->path, may_map, NULL));
    for (unsigned i = 0; i < ASKED; i++) /* it is mapped by now, if at all */
        get_from(f, f->pack);
    return f;
}

static void *setup_mapped(const struct bench *bench, const char **reason)
{
    (void)reason;
    return setup(bench, always);
}

static void *setup_read(const struct bench *bench, const char **reason)
{
    (void)reason;
    return setup(bench, never);
}

static void teardown(void *state)
{
    struct fixture *f = state;

    kiln_pack_close(f->pack);
    (void)unlink(f->path);
    free(f);
}

static void get(void *state, uint64_t iterations)
{
    struct fixture *f = state;

    for (uint64_t i = 0; i < iterations; i++)
        get_from(f, f->pack);
}

static void miss(void *state, uint64_t iterations)
{
    struct fixture *f = state;
    kiln__packed found;

    for (uint64_t i = 0; i < iterations; i++)
        if (kiln__pack_find(&found, f->pack, &f->absent) != KILN_ENOTFOUND)
            abort();
}

static void open_and_get(void *state, uint64_t iterations)
{
    struct fixture *f = state;

    for (uint64_t i = 0; i < iterations; i++) {
        kiln_pack *pack = NULL;

        check(kiln__pack_open(&pack, &kiln__malloc, f->path, f->may_map, NULL));
        get_from(f, pack);
        kiln_pack_close(pack);
    }
}

/* ---- loose files ---- */

struct loose {
    char path[64];
    kiln__loose *store;
    char keys[ASKED][KEY_SIZE];
    kiln_key asked[ASKED];
    kiln_key absent;
    kiln_blob envelope; /* of the last key */
    uint64_t next;
};

static void loose_fill(struct loose *f)
{
    static unsigned char payload[LARGE_SIZE];

    for (unsigned i = 0; i < ASKED; i++) {
        kiln__entry entry = {
            .kind = KILN__ENTRY_BINARY,
            .payload = payload,
            .payload_size = sizeof payload,
        };

        entry.key = f->asked[i] = key_of(f->keys[i], i);
        kiln_blob_release(&f->envelope);
        check(kiln__entry_encode(&f->envelope, &kiln__malloc, &entry));
        check(kiln__loose_put(f->store, entry.key.digest, f->envelope.data,
                              f->envelope.size, 0));
    }
}

static void *loose_setup(const struct bench *bench, const char **reason)
{
    static char absent[KEY_SIZE];
    struct loose *f = calloc(1, sizeof *f);
    kiln__loose_options options = {
        .writes = 1,
        .max_size = KILN_CACHE_UNBOUNDED,
        .max_entries = KILN_CACHE_UNBOUNDED,
        .max_age_s = KILN_CACHE_UNBOUNDED,
    };

    (void)bench;
    (void)reason;
    if (!f)
        bench_check(KILN_ENOMEM, NULL);
    snprintf(f->path, sizeof f->path, "/tmp/kiln-bench-%ld", (long)getpid());
    options.directory = f->path;
    f->absent = key_of(absent, UINT64_MAX);
    check(kiln__loose_new(&f->store, &kiln__malloc, NULL, &options));
    loose_fill(f);
    return f;
}

static int drop_path(const char *path, const struct stat *facts, int type,
                     struct FTW *level)
{
    (void)facts;
    (void)type;
    (void)level;
    return remove(path);
}

static void loose_teardown(void *state)
{
    struct loose *f = state;

    kiln__loose_free(f->store);
    kiln_blob_release(&f->envelope);
    (void)nftw(f->path, drop_path, 8, FTW_DEPTH | FTW_PHYS);
    free(f);
}

static void loose_get(void *state, uint64_t iterations)
{
    struct loose *f = state;

    for (uint64_t i = 0; i < iterations; i++) {
        kiln__entry_fault fault;
        kiln__stored found;

        f->next = (f->next + 97) % ASKED;
        check(kiln__loose_get(&found, &fault, f->store, &f->asked[f->next]));
        BENCH_KEEP(found.entry.payload);
        kiln_blob_release(&found.bytes);
    }
}

static void loose_miss(void *state, uint64_t iterations)
{
    struct loose *f = state;

    for (uint64_t i = 0; i < iterations; i++) {
        kiln__entry_fault fault;
        kiln__stored found;

        if (kiln__loose_get(&found, &fault, f->store, &f->absent) !=
            KILN_ENOTFOUND)
            abort();
    }
}

/* Files the same envelope over and over, so that the folder does not grow. */
static void loose_put(void *state, uint64_t iterations)
{
    struct loose *f = state;

    for (uint64_t i = 0; i < iterations; i++)
        check(kiln__loose_put(f->store, f->asked[ASKED - 1].digest,
                              f->envelope.data, f->envelope.size, 1));
}

#define LOOSE(title, function) \
    { \
        .name = "store/loose/" title, .setup = loose_setup, .run = (function), \
        .teardown = loose_teardown \
    }

#define PACK(title, way, function, count) \
    { \
        .name = "store/pack/" title, .setup = (way), .run = (function), \
        .teardown = teardown, .size = (count) \
    }

const struct bench bench_stores[] = {
    PACK("get/entries=10", setup_mapped, get, 10),
    PACK("get/entries=1000000", setup_mapped, get, 1000000),
    PACK("get/read/entries=10", setup_read, get, 10),
    PACK("miss/entries=10", setup_mapped, miss, 10),
    PACK("open+get+close/entries=10", setup_mapped, open_and_get, 10),
    PACK("open+get+close/entries=1000000", setup_mapped, open_and_get, 1000000),
    PACK("open+get+close/read/entries=10", setup_read, open_and_get, 10),
    LOOSE("get", loose_get),
    LOOSE("miss", loose_miss),
    LOOSE("put/replace", loose_put),
    {.name = NULL},
};
