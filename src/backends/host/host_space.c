/* host_space.c - memory for the images of a backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <sys/mman.h>
#include <unistd.h>

#include "backends/host/host_backend.h"

/*
 * Most images are a page or two. A mapping for each takes as long as reading
 * its entry from a store, so several are cut from one. The first mapping is as
 * large as the first image, and each later one as large as all images so far,
 * up to a bound: so at most half of what was mapped is not used yet.
 *
 * Whoever took a piece unmaps it alone, whatever became of the others. What is
 * left can be read and written and not executed, like a piece while it is
 * filled.
 */
/* Larger images have mappings of their own. */
#define SMALL ((size_t)32 << 10)
#define MAPPED_MAX ((size_t)64 << 10)

/* Small mappings are written at once. Each page would cost a fault, unless the
   system is told. */
static void *map(size_t size)
{
    const int flags =
        MAP_PRIVATE | MAP_ANONYMOUS | (size <= MAPPED_MAX ? MAP_POPULATE : 0);
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);

    return mapped != MAP_FAILED ? mapped : NULL;
}

static void drop_rest(kiln__host_space *space)
{
    if (space->left > 0)
        (void)munmap(space->rest, space->left);
    space->left = 0;
}

/* With the lock held. */
static void *cut(kiln__host_space *space, size_t size)
{
    unsigned char *piece;

    if (space->left < size) {
        const size_t known =
            space->taken < MAPPED_MAX ? space->taken : MAPPED_MAX;
        const size_t wanted = known > size ? known : size;

        piece = map(wanted);
        if (piece == NULL)
            return NULL;
        drop_rest(space);
        space->rest = piece;
        space->left = wanted;
    }
    piece = space->rest;
    space->rest += size;
    space->left -= size;
    space->taken += size;
    return piece;
}

void *kiln__host_space_take(kiln__host_space *space, size_t size)
{
    void *piece;

    if (space == NULL || size > SMALL)
        return map(size);
    kiln__mutex_lock(&space->lock);
    piece = cut(space, size);
    kiln__mutex_unlock(&space->lock);
    return piece;
}

kiln_status kiln__host_space_init(kiln__host_space *space,
                                  kiln_context *context)
{
    *space = (kiln__host_space){.context = context};
    if (kiln__mutex_init(&space->lock) != KILN_OK)
        return KILN_ENOMEM;
    space->guard = (kiln__fork_guard){.mutex = &space->lock};
    kiln__fork_add(&context->fork, &space->guard);
    return KILN_OK;
}

void kiln__host_space_dispose(kiln__host_space *space)
{
    kiln__fork_remove(&space->context->fork, &space->guard);
    kiln__mutex_dispose(&space->lock);
    drop_rest(space);
}
