/* list_store.c - the smallest possible store: a list in memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/stores/list_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* An entry of the list; it counts the blobs that show it. */
typedef struct entry {
    kiln_digest digest;
    size_t key_size;
    size_t size;
    int references;
    struct entry *next;
    char bytes[]; /* bytes of the key, then those of the value */
} entry;

typedef struct list {
    pthread_mutex_t lock;
    entry *entries;
} list;

static void entry_drop(entry *e)
{
    if (__atomic_sub_fetch(&e->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(e);
}

static void blob_end(kiln_blob *blob)
{
    entry_drop(blob->private_data);
}

/* Called with the lock held. Returns the link to the entry, or the end of the
   list. */
static entry **find(list *l, const kiln_key *key)
{
    entry **at = &l->entries;

    while (*at &&
           (memcmp(&(*at)->digest, &key->digest, sizeof key->digest) != 0 ||
            (*at)->key_size != key->encoded_size ||
            memcmp((*at)->bytes, key->encoded, key->encoded_size) != 0))
        at = &(*at)->next;
    return at;
}

static kiln_status get(void *self, const kiln_key *key, kiln_blob *out,
                       kiln_error **error)
{
    list *l = self;
    entry *e;

    (void)error;
    pthread_mutex_lock(&l->lock);
    e = *find(l, key);
    if (e)
        __atomic_add_fetch(&e->references, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&l->lock);
    if (!e)
        return KILN_ENOTFOUND;
    *out = (kiln_blob){e->bytes + e->key_size, e->size, blob_end, e};
    return KILN_OK;
}

static kiln_status put(void *self, const kiln_key *key, const void *bytes,
                       size_t size, kiln_error **error)
{
    list *l = self;
    entry *e = malloc(sizeof *e + key->encoded_size + size);
    entry **at;

    (void)error;
    if (!e)
        return KILN_ENOMEM;
    *e = (entry){key->digest, key->encoded_size, size, 1, NULL};
    memcpy(e->bytes, key->encoded, key->encoded_size);
    if (size)
        memcpy(e->bytes + key->encoded_size, bytes, size);
    pthread_mutex_lock(&l->lock);
    at = find(l, key);
    if (*at)
        free(e);
    else
        *at = e;
    pthread_mutex_unlock(&l->lock);
    return KILN_OK;
}

static kiln_status drop(void *self, const kiln_key *key, kiln_error **error)
{
    list *l = self;
    entry **at, *e;

    (void)error;
    pthread_mutex_lock(&l->lock);
    at = find(l, key);
    e = *at;
    if (e)
        *at = e->next;
    pthread_mutex_unlock(&l->lock);
    if (e)
        entry_drop(e);
    return KILN_OK;
}

static kiln_status count(void *self, uint64_t *entries, uint64_t *bytes)
{
    list *l = self;

    *entries = *bytes = 0;
    pthread_mutex_lock(&l->lock);
    for (const entry *e = l->entries; e; e = e->next) {
        *entries += 1;
        *bytes += e->size;
    }
    pthread_mutex_unlock(&l->lock);
    return KILN_OK;
}

static void end(void *self)
{
    list *l = self;

    while (l->entries) {
        entry *e = l->entries;

        l->entries = e->next;
        entry_drop(e);
    }
    pthread_mutex_destroy(&l->lock);
    free(l);
}

const kiln_store_ops list_store_ops = {
    .size = sizeof list_store_ops,
    .name = "list",
    .get = get,
    .put = put,
    .free = end,
    .remove = drop,
    .stat = count,
};

void *list_store_new(void)
{
    list *l = calloc(1, sizeof *l);

    if (l)
        pthread_mutex_init(&l->lock, NULL);
    return l;
}
