/* bench_store.c - packs: opened, and looked into. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench.h"
#include "hasher.h"
#include "pack.h"

/*
 * A pack file of so many entries, a few of which hold 16 KiB and are those
 * that are asked for, in no order. The file is in the page cache. Each get
 * checks all of the entry: key, sums, sizes.
 */

#define ASKED 256 /* entries that are asked for */
#define KEY_SIZE 200
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
    {.name = NULL},
};
