/* bench_loose.c - loose files, in folders of any size. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench.h"
#include "entries.h"
#include "stores/loose/loose.h"

/*
 * A folder has `entries` files, the first of which are large and are asked for.
 * By default a cache is bounded to 65,536 entries. That bound is active here,
 * so a put into the full folder evicts from time to time. For more entries the
 * bound is lifted. Entries that are not asked for are then names of few files:
 * what matters is how full the folders are.
 */
#define BOUND 65536u
#define SMOKE_COUNT 512u

struct full {
    char path[64];
    kiln__loose *store;
    uint64_t count;
    uint64_t next; /* number of the next new entry */
    uint64_t random;
    uint64_t filled_ns; /* on all cores */
};

static kiln__entry entry_of(char bytes[ENTRIES_KEY_SIZE], uint64_t number)
{
    return entries_make(bytes, number,
                        number < ENTRIES_ASKED ? ENTRIES_LARGE : ENTRIES_SMALL);
}

static void put_entry(struct full *f, uint64_t number)
{
    char bytes[ENTRIES_KEY_SIZE];
    const kiln__entry entry = entry_of(bytes, number);
    kiln_blob envelope = {0};

    bench_check(kiln__entry_encode(&envelope, &kiln__malloc, &entry), NULL);
    bench_check(kiln__loose_put(f->store, entry.key.digest, envelope.data,
                                envelope.size, 0),
                NULL);
    kiln_blob_release(&envelope);
}

static void put_part(void *env, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++)
        put_entry(env, i);
}

/* Gives the file of an earlier entry the name of this one, which is much
   faster, as long as the file can take more names; otherwise makes a file. */
static void name_entry(struct full *f, char source[KILN__LOOSE_NAME_SIZE],
                       uint64_t number)
{
    const int folder = kiln__loose_folder(f->store, 1);
    char bytes[ENTRIES_KEY_SIZE], name[KILN__LOOSE_NAME_SIZE];

    kiln__loose_name(name, entries_key(bytes, number).digest);
    if (*source && linkat(folder, source, folder, name, 0) == 0)
        return;
    put_entry(f, number);
    memcpy(source, name, sizeof name);
}

static void name_entries(struct full *f)
{
    char source[KILN__LOOSE_NAME_SIZE] = "";

    for (uint64_t i = ENTRIES_ASKED; i < f->count; i++)
        name_entry(f, source, i);
}

/* Entries that are asked for are written last, and so are evicted last. */
static void fill(struct full *f, int is_bounded)
{
    const uint64_t start = bench_now_ns();

    if (is_bounded)
        bench_divide(ENTRIES_ASKED, f->count, put_part, f);
    else
        name_entries(f);
    put_part(f, 0, ENTRIES_ASKED);
    f->filled_ns = bench_now_ns() - start;
    f->next = f->count;
}

static void *setup(const struct bench *bench, const char **reason)
{
    struct full *f = calloc(1, sizeof *f);
    kiln__loose_options options = {
        .writes = 1,
        .max_size = KILN_CACHE_UNBOUNDED,
        .max_entries = KILN_CACHE_UNBOUNDED,
        .max_age_s = KILN_CACHE_UNBOUNDED,
    };

    (void)reason;
    if (!f)
        bench_check(KILN_ENOMEM, NULL);
    if (bench->size <= (int64_t)BOUND)
        options.max_entries = BOUND;
    f->count = (uint64_t)bench->size;
    if (bench_is_smoke() && f->count > SMOKE_COUNT)
        f->count = SMOKE_COUNT;
    snprintf(f->path, sizeof f->path, "/tmp/kiln-bench-full-%ld",
             (long)getpid());
    options.directory = f->path;
    bench_check(kiln__loose_new(&f->store, &kiln__malloc, NULL, &options),
                NULL);
    fill(f, options.max_entries == BOUND);
    return f;
}

static void teardown(void *state)
{
    struct full *f = state;

    kiln__loose_free(f->store);
    bench_folder_empty(f->path);
    free(f);
}

/* Gets the entry `number`, which may have been evicted. */
static kiln_status get_entry(struct full *f, uint64_t number)
{
    char bytes[ENTRIES_KEY_SIZE];
    const kiln_key key = entries_key(bytes, number);
    kiln__entry_fault fault;
    kiln__stored found;
    const kiln_status status = kiln__loose_get(&found, &fault, f->store, &key);

    if (status == KILN_OK)
        kiln_blob_release(&found.bytes);
    return status;
}

static void get(void *state, uint64_t iterations)
{
    struct full *f = state;

    for (uint64_t i = 0; i < iterations; i++) {
        f->random = (f->random + 97) % ENTRIES_ASKED;
        bench_check(get_entry(f, f->random), NULL);
    }
}

static void miss(void *state, uint64_t iterations)
{
    struct full *f = state;

    for (uint64_t i = 0; i < iterations; i++)
        if (get_entry(f, UINT64_MAX - i) != KILN_ENOTFOUND)
            abort();
}

static void put(void *state, uint64_t iterations)
{
    struct full *f = state;

    for (uint64_t i = 0; i < iterations; i++)
        put_entry(f, f->next++);
}

/* Writes the same envelope again and again. */
static void replace(void *state, uint64_t iterations)
{
    struct full *f = state;
    char bytes[ENTRIES_KEY_SIZE];
    const kiln__entry entry = entry_of(bytes, 0);
    kiln_blob envelope = {0};

    bench_check(kiln__entry_encode(&envelope, &kiln__malloc, &entry), NULL);
    for (uint64_t i = 0; i < iterations; i++)
        bench_check(kiln__loose_put(f->store, entry.key.digest, envelope.data,
                                    envelope.size, 1),
                    NULL);
    kiln_blob_release(&envelope);
}

static void tell_filling(void *state, char *json, size_t capacity)
{
    const struct full *f = state;

    snprintf(json, capacity,
             ", \"entries\": %llu, \"filled_ns_per_entry\": "
             "%.1f",
             (unsigned long long)f->count,
             (double)f->filled_ns / (double)f->count);
}

#define FULL(title, function, entries) \
    { \
        .name = "store/loose/" title "/entries=" #entries, .setup = setup, \
        .run = (function), .teardown = teardown, .size = (entries), \
        .extra = tell_filling \
    }

const struct bench bench_loose[] = {
    FULL("get", get, 256),   FULL("replace", replace, 256),
    FULL("get", get, 65536), FULL("miss", miss, 65536),
    FULL("put", put, 65536), FULL("get", get, 1000000),
    {.name = NULL},
};
