/* memory_store.c - stores that keep entries in this process, for tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/stores/memory_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest/digest.h"

typedef struct kept {
    int32_t kind;
    kiln_key key;
    unsigned char *meta;
    size_t meta_size;
    struct kept *next;
} kept;

kiln__cache_mode memory_store_mode;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept *entries;
static memory_store_counts counts;

static void *copy_of(const void *bytes, size_t size)
{
    void *copy = malloc(size + 1);

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

static void drop(kept **link)
{
    kept *k = *link;

    *link = k->next;
    free((void *)(uintptr_t)k->key.encoded);
    free(k->meta);
    free(k);
}

static kept **find(int32_t kind, const kiln_key *key)
{
    kept **link = &entries;

    while (*link != NULL &&
           ((*link)->kind != kind ||
            (*link)->key.encoded_size != key->encoded_size ||
            memcmp((*link)->key.encoded, key->encoded, key->encoded_size) != 0))
        link = &(*link)->next;
    return link;
}

void memory_store_clear(void)
{
    while (entries != NULL)
        drop(&entries);
    memset(&counts, 0, sizeof counts);
}

memory_store_counts memory_store_counted(void)
{
    memory_store_counts copy;

    pthread_mutex_lock(&lock);
    copy = counts;
    pthread_mutex_unlock(&lock);
    return copy;
}

static void release(kiln_blob *blob)
{
    kept *k = blob->private_data;

    blob->release = NULL;
    drop(&k);
}

/* What is lent is a copy, so that it outlives a reject. */
static void lend(kiln__stored *out, const kept *k)
{
    kept *copy = copy_of(k, sizeof *k);

    copy->next = NULL;
    copy->key.encoded = copy_of(k->key.encoded, k->key.encoded_size);
    copy->meta = copy_of(k->meta, k->meta_size);
    *out = (kiln__stored){.entry = {.kind = copy->kind,
                                    .key = copy->key,
                                    .meta = copy->meta,
                                    .meta_size = copy->meta_size},
                          .bytes = {.data = copy->meta,
                                    .size = copy->meta_size,
                                    .release = release,
                                    .private_data = copy}};
}

static kiln_status get(kiln__stored *out, int32_t kind, const kiln_key *key)
{
    const kept *k;

    pthread_mutex_lock(&lock);
    counts.gets++;
    k = *find(kind, key);
    if (k != NULL) {
        counts.hits++;
        lend(out, k);
    }
    pthread_mutex_unlock(&lock);
    return k != NULL ? KILN_OK : KILN_ENOTFOUND;
}

static void put(const kiln__entry *entry, int replace)
{
    kept **link;
    kept *k;

    pthread_mutex_lock(&lock);
    link = find(entry->kind, &entry->key);
    if (*link != NULL && replace) {
        drop(link);
        counts.replaced++;
    }
    if (*find(entry->kind, &entry->key) == NULL) {
        k = copy_of(&(kept){.kind = entry->kind, .key = entry->key}, sizeof *k);
        k->key.encoded = copy_of(entry->key.encoded, entry->key.encoded_size);
        k->meta = copy_of(entry->meta, entry->meta_size);
        k->meta_size = entry->meta_size;
        k->next = entries;
        entries = k;
        counts.puts++;
    }
    pthread_mutex_unlock(&lock);
}

static void reject(const kiln__stored *stored)
{
    kept **link;

    pthread_mutex_lock(&lock);
    link = find(stored->entry.kind, &stored->entry.key);
    if (*link != NULL)
        drop(link);
    counts.rejects++;
    pthread_mutex_unlock(&lock);
}

void memory_store_alter(void (*change)(unsigned char *meta, size_t size,
                                       void *env),
                        void *env)
{
    pthread_mutex_lock(&lock);
    for (kept *k = entries; k != NULL; k = k->next)
        change(k->meta, k->meta_size, env);
    pthread_mutex_unlock(&lock);
}

/* ---- replacements for functions of stores.h ---- */

kiln__cache_mode __wrap_kiln__stores_mode(const kiln_context *context);
int __wrap_kiln__stores_read(const kiln_context *context, int32_t kind);
int __wrap_kiln__stores_load(const kiln_context *context, int32_t kind);
int __wrap_kiln__stores_write(const kiln_context *context, int32_t kind);
kiln_status __wrap_kiln__stores_get(kiln__stored *out, kiln_context *context,
                                    int32_t kind, const kiln_key *key);
void __wrap_kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                             int replace);
void __wrap_kiln__stores_reject(kiln_context *context,
                                const kiln__stored *stored,
                                kiln__entry_fault fault);

kiln__cache_mode __wrap_kiln__stores_mode(const kiln_context *context)
{
    (void)context;
    return memory_store_mode;
}

/* Results of inference are not kept: these tests are about texts only. */
int __wrap_kiln__stores_read(const kiln_context *context, int32_t kind)
{
    (void)context;
    return kind == KILN__ENTRY_SOURCE && memory_store_mode != KILN__CACHE_OFF &&
           memory_store_mode != KILN__CACHE_REFRESH;
}

int __wrap_kiln__stores_load(const kiln_context *context, int32_t kind)
{
    return __wrap_kiln__stores_read(context, kind) &&
           memory_store_mode != KILN__CACHE_VERIFY;
}

int __wrap_kiln__stores_write(const kiln_context *context, int32_t kind)
{
    (void)context;
    return kind == KILN__ENTRY_SOURCE && memory_store_mode != KILN__CACHE_OFF &&
           memory_store_mode != KILN__CACHE_READ_ONLY &&
           memory_store_mode != KILN__CACHE_MUST_HIT;
}

kiln_status __wrap_kiln__stores_get(kiln__stored *out, kiln_context *context,
                                    int32_t kind, const kiln_key *key)
{
    (void)context;
    return get(out, kind, key);
}

void __wrap_kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                             int replace)
{
    (void)context;
    put(entry, replace);
}

void __wrap_kiln__stores_reject(kiln_context *context,
                                const kiln__stored *stored,
                                kiln__entry_fault fault)
{
    (void)context;
    (void)fault;
    reject(stored);
}
