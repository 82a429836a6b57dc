/* map.c - a hash map from digests to pointers, over uthash. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/map.h"

#include <string.h>

#include "base/data/sum.h"
#include "base/digest/digest.h"

/*
 * uthash ends the process when out of memory unless it is told otherwise. It
 * allocates by macros, which find the map and the failure flag as `map` and
 * `failed` in the function that uses them.
 */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) (failed = 1)
#define uthash_malloc(size) kiln__allocate(map->alloc, (size))
#define uthash_free(memory, size) kiln__deallocate(map->alloc, (memory), (size))
/* Keys are digests: any four bytes of one are a hash. */
#define HASH_FUNCTION(key, size, hash) \
    do { \
        unsigned first_; \
        (void)(size); \
        memcpy(&first_, (key), sizeof first_); \
        (hash) = first_; \
    } while (0)

#define HASH_KEYCMP(a, b, size) keys_differ((a), (b))

#include <uthash.h>

static int keys_differ(const void *a, const void *b)
{
    kiln_digest first, second;

    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return !kiln__digest_equal(first, second);
}

struct kiln__map_entry {
    kiln_digest key;
    void *value;
    UT_hash_handle hh;
};

kiln_digest kiln__map_bytes(const void *bytes, size_t size)
{
    kiln_digest key = {0};

    kiln__sum_put(key.bytes, kiln__hash_bytes(bytes, size));
    return key;
}

kiln_digest kiln__map_text(const char *text)
{
    return kiln__map_bytes(text, strlen(text));
}

kiln_digest kiln__map_words(const uint64_t *words, size_t count)
{
    const uint64_t hash = kiln__hash_words(words, count);
    kiln_digest key = {0};

    memcpy(key.bytes, &hash, sizeof hash);
    return key;
}

/* The key is a hash for the table, then the numbers themselves. */
kiln_digest kiln__map_key(uint64_t first, uint64_t second)
{
    const uint64_t numbers[2] = {first, second};
    const uint64_t words[3] = {kiln__hash_words(numbers, 2), first, second};
    kiln_digest key = {0};

    memcpy(key.bytes, words, sizeof words);
    return key;
}

void kiln__map_init(kiln__map *map, const kiln_alloc *alloc)
{
    *map = (kiln__map){.alloc = alloc};
}

static struct kiln__map_entry *entry_find(const kiln__map *map, kiln_digest key)
{
    struct kiln__map_entry *entry;

    HASH_FIND(hh, map->entries, &key, sizeof key, entry);
    return entry;
}

void *kiln__map_get(const kiln__map *map, kiln_digest key)
{
    const struct kiln__map_entry *entry = entry_find(map, key);

    return entry == NULL ? NULL : entry->value;
}

/* The key is written and read as words here: if it were passed as a struct, the
   load would have to wait for its own stores. */
void *kiln__map_get_words(const kiln__map *map, const uint64_t *words,
                          size_t count)
{
    const uint64_t key[4] = {kiln__hash_words(words, count)};
    struct kiln__map_entry *entry;

    HASH_FIND(hh, map->entries, key, sizeof(kiln_digest), entry);
    return entry == NULL ? NULL : entry->value;
}

int kiln__map_set(kiln__map *map, kiln_digest key, void *value)
{
    struct kiln__map_entry *entry = entry_find(map, key);
    int failed = 0;

    if (entry != NULL) {
        entry->value = value;
        return 1;
    }
    entry = kiln__allocate(map->alloc, sizeof *entry);
    if (entry == NULL)
        return 0;
    entry->key = key;
    entry->value = value;
    HASH_ADD(hh, map->entries, key, sizeof entry->key, entry);
    if (failed)
        kiln__deallocate(map->alloc, entry, sizeof *entry);
    return !failed;
}

void *kiln__map_remove(kiln__map *map, kiln_digest key)
{
    struct kiln__map_entry *entry = entry_find(map, key);
    void *value;

    if (entry == NULL)
        return NULL;
    value = entry->value;
    HASH_DELETE(hh, map->entries, entry);
    kiln__deallocate(map->alloc, entry, sizeof *entry);
    return value;
}

void kiln__map_dispose(kiln__map *map)
{
    struct kiln__map_entry *entry = map->entries;

    HASH_CLEAR(hh, map->entries);
    while (entry != NULL) {
        struct kiln__map_entry *next = entry->hh.next;

        kiln__deallocate(map->alloc, entry, sizeof *entry);
        entry = next;
    }
}

size_t kiln__map_count(const kiln__map *map)
{
    return HASH_COUNT(map->entries);
}

void kiln__map_each(const kiln__map *map,
                    void (*visit)(kiln_digest key, void *value, void *env),
                    void *env)
{
    const struct kiln__map_entry *entry = map->entries;

    for (; entry != NULL; entry = entry->hh.next)
        visit(entry->key, entry->value, env);
}
