/* host_memory.c - memory for groups, kept for the next launch. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/host_abi.h"
#include "backends/host/host_backend.h"
#include "base/data/memory.h"

/*
 * Each thread that runs groups of a kernel with local arrays or private memory
 * uses one block. Blocks are returned to a list, the last one first, and only
 * grow: a later launch of the same kernel allocates nothing.
 */

#define ALIGNMENT ((size_t)KILN__HOST_MEMORY_ALIGNMENT)

struct kiln__host_block {
    struct kiln__host_block *next;
    size_t size; /* without this header, from the next aligned address on */
};

kiln_status kiln__host_memory_init(kiln__host_memory *memory,
                                   kiln_context *context)
{
    *memory = (kiln__host_memory){.context = context};
    if (kiln__mutex_init(&memory->lock) != KILN_OK)
        return KILN_ENOMEM;
    memory->guard = (kiln__fork_guard){.mutex = &memory->lock};
    kiln__fork_add(&context->fork, &memory->guard);
    return KILN_OK;
}

static void free_block(kiln__host_memory *memory,
                       struct kiln__host_block *block)
{
    if (block != NULL)
        kiln__deallocate(&memory->context->alloc, block,
                         sizeof *block + block->size + ALIGNMENT);
}

void kiln__host_memory_dispose(kiln__host_memory *memory)
{
    while (memory->blocks != NULL) {
        struct kiln__host_block *block = memory->blocks;

        memory->blocks = block->next;
        free_block(memory, block);
    }
    kiln__fork_remove(&memory->context->fork, &memory->guard);
    kiln__mutex_dispose(&memory->lock);
}

kiln__host_block *kiln__host_memory_take(kiln__host_memory *memory, size_t size)
{
    kiln__host_block *block;

    kiln__mutex_lock(&memory->lock);
    block = memory->blocks;
    if (block != NULL)
        memory->blocks = block->next;
    kiln__mutex_unlock(&memory->lock);
    if (block != NULL && block->size >= size)
        return block;
    free_block(memory, block);
    block = kiln__allocate(&memory->context->alloc,
                           sizeof *block + size + ALIGNMENT);
    if (block != NULL)
        block->size = size;
    return block;
}

void kiln__host_memory_give(kiln__host_memory *memory, kiln__host_block *block)
{
    kiln__mutex_lock(&memory->lock);
    block->next = memory->blocks;
    memory->blocks = block;
    kiln__mutex_unlock(&memory->lock);
}

void *kiln__host_block_bytes(kiln__host_block *block)
{
    const uintptr_t end = (uintptr_t)(block + 1);
    const size_t pad = (size_t)(-end & (ALIGNMENT - 1));

    return (char *)(block + 1) + pad;
}
