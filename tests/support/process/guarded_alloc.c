/* guarded_alloc.c - an allocator that catches uses of freed memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/process/guarded_alloc.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT ((size_t)16) /* of any C type */

typedef struct region {
    void *pages;
    size_t size;
} region;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static region kept[GUARDED_KEPT]; /* the last freed ones, in a ring */
static size_t next_kept;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns where the pages of a block of that size begin, and their size with
   the guard page after them. */
static region region_of(void *block, size_t size)
{
    const size_t page = page_size();
    const size_t used = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    const size_t pages = (used + page - 1) & ~(page - 1);

    return (region){block ? (char *)block + used - pages : NULL, pages + page};
}

static void *block_new(size_t size)
{
    const size_t used = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    region made = region_of(NULL, size);
    char *guard;

    made.pages = mmap(NULL, made.size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made.pages == MAP_FAILED)
        return NULL;
    guard = (char *)made.pages + made.size - page_size();
    (void)mprotect(guard, page_size(), PROT_NONE);
    return guard - used;
}

static void block_free(void *block, size_t size)
{
    const region freed = region_of(block, size);
    region old;

    (void)mprotect(freed.pages, freed.size, PROT_NONE);
    (void)madvise(freed.pages, freed.size, MADV_DONTNEED);
    pthread_mutex_lock(&lock);
    old = kept[next_kept];
    kept[next_kept] = freed;
    next_kept = (next_kept + 1) % GUARDED_KEPT;
    pthread_mutex_unlock(&lock);
    if (old.pages)
        (void)munmap(old.pages, old.size);
}

static void *guarded_realloc(void *env, void *memory, size_t old_size,
                             size_t new_size)
{
    void *made = NULL;

    (void)env;
    if (new_size > 0) {
        made = block_new(new_size);
        if (!made)
            return NULL;
        if (memory)
            memcpy(made, memory, old_size < new_size ? old_size : new_size);
    }
    if (memory)
        block_free(memory, old_size);
    return made;
}

const kiln_alloc guarded_alloc = {
    .size = sizeof guarded_alloc,
    .realloc = guarded_realloc,
};
