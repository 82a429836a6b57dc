/* memory.c - allocation through the context's allocator. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/memory.h"

#include <stdlib.h>
#include <string.h>

/*
 * Only this file calls an allocator's realloc(). A request for zero bytes
 * becomes one for one byte, so that NULL always means out of memory; the size
 * given when freeing is rounded the same way.
 */

static size_t asked(size_t size)
{
    return size == 0 ? 1 : size;
}

static void *malloc_realloc(void *env, void *memory, size_t old_size,
                            size_t new_size)
{
    (void)env;
    (void)old_size;
    if (new_size == 0) {
        free(memory);
        return NULL;
    }
    return realloc(memory, new_size);
}

const kiln_alloc kiln__malloc = {
    .size = sizeof(kiln_alloc),
    .env = NULL,
    .realloc = malloc_realloc,
};

void *kiln__allocate(const kiln_alloc *alloc, size_t size)
{
    void *memory = alloc->realloc(alloc->env, NULL, 0, asked(size));

    if (memory != NULL)
        memset(memory, 0, asked(size));
    return memory;
}

void *kiln__allocate_array(const kiln_alloc *alloc, size_t count,
                           size_t element_size)
{
    size_t size;

    if (__builtin_mul_overflow(count, element_size, &size))
        return NULL;
    return kiln__allocate(alloc, size);
}

void *kiln__resize(const kiln_alloc *alloc, void *memory, size_t old_size,
                   size_t new_size)
{
    if (memory == NULL)
        return alloc->realloc(alloc->env, NULL, 0, asked(new_size));
    return alloc->realloc(alloc->env, memory, asked(old_size), asked(new_size));
}

void kiln__deallocate(const kiln_alloc *alloc, void *memory, size_t size)
{
    if (memory != NULL)
        alloc->realloc(alloc->env, memory, asked(size), 0);
}

void *kiln__allocate_copy(const kiln_alloc *alloc, const void *bytes,
                          size_t size)
{
    void *copy = kiln__allocate(alloc, size);

    if (copy != NULL && size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

char *kiln__string_copy(const kiln_alloc *alloc, const char *text)
{
    return kiln__string_copy_n(alloc, text, strlen(text));
}

/* The size is found again by strlen() when freeing, so the copy ends at the
   first NUL of `text`. */
char *kiln__string_copy_n(const kiln_alloc *alloc, const char *text,
                          size_t size)
{
    const size_t length = size == 0 ? 0 : strnlen(text, size);
    char *copy = kiln__allocate(alloc, length + 1);

    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

kiln_status kiln__string_copy_optional(char **out, const kiln_alloc *alloc,
                                       const char *text)
{
    *out = text != NULL ? kiln__string_copy(alloc, text) : NULL;
    return text != NULL && *out == NULL ? KILN_ENOMEM : KILN_OK;
}

void kiln__string_free(const kiln_alloc *alloc, char *text)
{
    if (text != NULL)
        kiln__deallocate(alloc, text, strlen(text) + 1);
}

/* Stands before a blob's bytes. The allocator is copied, because a blob may
   outlive the object whose allocator made it. */
typedef struct blob_header {
    kiln_alloc alloc;
    size_t total;
} blob_header;

#define BLOB_OFFSET ((sizeof(blob_header) + 15) & ~(size_t)15)

static void blob_release(kiln_blob *blob)
{
    blob_header *header = blob->private_data;
    const kiln_alloc alloc = header->alloc;

    kiln__deallocate(&alloc, header, header->total);
}

void *kiln__blob_new(kiln_blob *out, const kiln_alloc *alloc, size_t size)
{
    blob_header *header;
    size_t total;

    *out = (kiln_blob){0};
    if (__builtin_add_overflow(size, BLOB_OFFSET + 1, &total))
        return NULL;
    header = kiln__allocate(alloc, total);
    if (header == NULL)
        return NULL;
    header->alloc = *alloc;
    header->total = total;

    char *bytes = (char *)header + BLOB_OFFSET;
    *out = (kiln_blob){
        .data = bytes,
        .size = size,
        .release = blob_release,
        .private_data = header,
    };
    return bytes;
}

kiln_status kiln__blob_copy(kiln_blob *out, const kiln_alloc *alloc,
                            const void *bytes, size_t size)
{
    void *copy = kiln__blob_new(out, alloc, size);

    if (copy == NULL)
        return KILN_ENOMEM;
    if (size > 0)
        memcpy(copy, bytes, size);
    return KILN_OK;
}
