/* memory_store.c - stores that keep entries in this process, for tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "memory_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hasher.h"

typedef struct kept {
    int32_t kind;
    kiln_key key;
    unsigned char *meta;
    size_t meta_size;
    struct kept *next;
} kept;

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

kiln_status memory_store_get(kiln__stored *out, int32_t kind,
                             const kiln_key *key)
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

void memory_store_put(const kiln__entry *entry, int replace)
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

void memory_store_reject(const kiln__stored *stored)
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
