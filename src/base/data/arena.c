/* arena.c - memory that is freed all at once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/arena.h"

#include <stdio.h>
#include <string.h>

/*
 * Chunks double from 1 KiB (an error object fits in one) up to 1 MiB. An
 * allocation larger than a quarter of the next chunk gets a chunk of its own,
 * which is linked after the current one, so that the rest of the current one
 * stays in use.
 */

#define ALIGNMENT ((size_t)16)
#define FIRST_CHUNK ((size_t)1024)
#define LAST_CHUNK ((size_t)1 << 20)

typedef struct kiln__arena_chunk {
    struct kiln__arena_chunk *next;
    size_t size; /* of the whole allocation */
} arena_chunk;

_Static_assert(sizeof(arena_chunk) % 16 == 0, "chunks keep the alignment");

void kiln__arena_init(kiln__arena *arena, const kiln_alloc *alloc)
{
    *arena = (kiln__arena){.alloc = alloc};
}

void kiln__arena_dispose(kiln__arena *arena)
{
    arena_chunk *chunk = arena->chunks;

    while (chunk != NULL) {
        arena_chunk *next = chunk->next;

        kiln__deallocate(arena->alloc, chunk, chunk->size);
        chunk = next;
    }
    *arena = (kiln__arena){.alloc = arena->alloc};
}

static size_t next_chunk_size(const kiln__arena *arena)
{
    const size_t last = arena->chunks == NULL ? 0 : arena->chunks->size;

    if (last < FIRST_CHUNK)
        return FIRST_CHUNK;
    return last < LAST_CHUNK / 2 ? last * 2 : LAST_CHUNK;
}

static arena_chunk *chunk_new(kiln__arena *arena, size_t size)
{
    arena_chunk *chunk = kiln__allocate(arena->alloc, size);

    if (chunk == NULL)
        arena->failed = 1;
    else
        chunk->size = size;
    return chunk;
}

static void *allocate_alone(kiln__arena *arena, size_t size)
{
    arena_chunk *chunk = chunk_new(arena, sizeof *chunk + size);

    if (chunk == NULL)
        return NULL;
    if (arena->chunks == NULL) {
        arena->chunks = chunk;
    } else {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    }
    return chunk + 1;
}

static void *allocate_in_new_chunk(kiln__arena *arena, size_t size)
{
    const size_t chunk_size = next_chunk_size(arena);
    arena_chunk *chunk;
    char *memory;

    if (size > chunk_size / 4)
        return allocate_alone(arena, size);
    chunk = chunk_new(arena, chunk_size);
    if (chunk == NULL)
        return NULL;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    memory = (char *)(chunk + 1);
    arena->next = memory + size;
    arena->end = (char *)chunk + chunk_size;
    return memory;
}

void *kiln__arena_allocate(kiln__arena *arena, size_t size)
{
    const size_t wanted = size == 0 ? 1 : size;
    size_t rounded;

    if (__builtin_add_overflow(wanted, ALIGNMENT - 1, &rounded) ||
        rounded > SIZE_MAX / 2) {
        arena->failed = 1;
        return NULL;
    }
    rounded &= ~(ALIGNMENT - 1);
    if (rounded <= (size_t)(arena->end - arena->next)) {
        char *memory = arena->next;

        arena->next += rounded;
        return memory;
    }
    return allocate_in_new_chunk(arena, rounded);
}

void *kiln__arena_allocate_array(kiln__arena *arena, size_t count,
                                 size_t element_size)
{
    size_t size;

    if (__builtin_mul_overflow(count, element_size, &size)) {
        arena->failed = 1;
        return NULL;
    }
    return kiln__arena_allocate(arena, size);
}

void *kiln__arena_copy(kiln__arena *arena, const void *bytes, size_t size)
{
    void *copy = kiln__arena_allocate(arena, size);

    if (copy != NULL && size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

char *kiln__arena_string(kiln__arena *arena, const char *text, size_t size)
{
    size_t with_nul;
    char *copy;

    if (__builtin_add_overflow(size, 1, &with_nul)) {
        arena->failed = 1;
        return NULL;
    }
    copy = kiln__arena_allocate(arena, with_nul);
    if (copy != NULL && size > 0)
        memcpy(copy, text, size);
    return copy;
}

char *kiln__arena_text(kiln__arena *arena, const char *text)
{
    return text != NULL ? kiln__arena_string(arena, text, strlen(text)) : NULL;
}

char *kiln__arena_vformat(kiln__arena *arena, const char *format,
                          va_list arguments)
{
    va_list again;
    char *text = NULL;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length >= 0)
        text = kiln__arena_allocate(arena, (size_t)length + 1);
    if (text == NULL) {
        arena->failed = 1;
        return NULL;
    }
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

char *kiln__arena_format(kiln__arena *arena, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = kiln__arena_vformat(arena, format, arguments);
    va_end(arguments);
    return text;
}
