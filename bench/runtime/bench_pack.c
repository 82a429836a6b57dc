/* bench_pack.c - opens packs and looks entries up. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../bench.h"
#include "entries.h"
#include "stores/pack/pack.h"

/*
 * A pack has many entries, a few of which are large and are asked for, in no
 * order. The file is in the page cache. Each get checks the whole entry: key,
 * sums, sizes.
 */
#define SMOKE_COUNT 10000u

struct fixture {
    char path[64];
    kiln_pack *pack;
    size_t count;
    char keys[ENTRIES_ASKED][ENTRIES_KEY_SIZE];
    kiln_key asked[ENTRIES_ASKED];
    kiln_key absent;
    unsigned next;
};

static void check(kiln_status status)
{
    bench_check(status, NULL);
}

static void add(kiln__pack_writer *writer, uint64_t number, size_t size)
{
    char bytes[ENTRIES_KEY_SIZE];
    const kiln__entry entry = entries_make(bytes, number, size);

    check(kiln__pack_writer_add_entry(writer, &entry, NULL));
}

/* The entries that are asked for are among the others, as their digests order
   them. */
static void write_pack(struct fixture *f)
{
    const uint64_t step =
        f->count > ENTRIES_ASKED ? f->count / ENTRIES_ASKED : 1;
    kiln__pack_writer *writer = NULL;
    unsigned asked = 0;

    check(kiln__pack_writer_new(&writer, &kiln__malloc));
    for (uint64_t i = 0; i < f->count; i++) {
        const int is_asked = i % step == 0 && asked < ENTRIES_ASKED;

        if (is_asked) {
            f->asked[asked] = entries_key(f->keys[asked], i);
            asked++;
        }
        add(writer, i, is_asked ? ENTRIES_LARGE : ENTRIES_SMALL);
    }
    for (unsigned i = asked; i < ENTRIES_ASKED; i++)
        f->asked[i] = f->asked[i % asked];
    check(kiln__pack_writer_to_file(writer, f->path, NULL));
    kiln__pack_writer_free(writer);
}

static void get_from(struct fixture *f, kiln_pack *pack)
{
    kiln__packed found;

    f->next = (f->next + 97) % ENTRIES_ASKED;
    check(kiln__pack_find(&found, pack, &f->asked[f->next]));
    BENCH_KEEP(found.entry.payload);
    kiln_blob_release(&found.bytes);
}

static void *setup(const struct bench *bench, const char **reason)
{
    static char absent[ENTRIES_KEY_SIZE];
    struct fixture *f = calloc(1, sizeof *f);

    (void)reason;
    if (!f)
        bench_check(KILN_ENOMEM, NULL);
    snprintf(f->path, sizeof f->path, "/tmp/kiln-bench-%ld.kilnpack",
             (long)getpid());
    f->count = (size_t)bench->size;
    if (bench_is_smoke() && f->count > SMOKE_COUNT)
        f->count = SMOKE_COUNT;
    f->absent = entries_key(absent, UINT64_MAX);
    write_pack(f);
    check(kiln__pack_open(&f->pack, &kiln__malloc, f->path, NULL));
    return f;
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

        check(kiln__pack_open(&pack, &kiln__malloc, f->path, NULL));
        get_from(f, pack);
        kiln_pack_close(pack);
    }
}

#define PACK(title, function, count) \
    { \
        .name = "store/pack/" title, .setup = setup, .run = (function), \
        .teardown = teardown, .size = (count) \
    }

const struct bench bench_packs[] = {
    PACK("get/entries=10", get, 10),
    PACK("get/entries=1000000", get, 1000000),
    PACK("miss/entries=10", miss, 10),
    PACK("open+get+close/entries=10", open_and_get, 10),
    PACK("open+get+close/entries=1000000", open_and_get, 1000000),
    {.name = NULL},
};
