/* buffer.c - memory for the bytes that are read from a file. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/buffer.h"

#define ALIGNMENT ((size_t)64) /* of an envelope and its payload */

/* Stands before the bytes. */
typedef struct head {
    kiln_alloc alloc;
    void *memory;
    size_t total;
} head;

_Static_assert(ALIGNMENT % _Alignof(head) == 0 &&
                   sizeof(head) % _Alignof(head) == 0,
               "a head lies right in front of its bytes");

static void release(kiln_blob *blob)
{
    const head *of = blob->private_data;
    const kiln_alloc alloc = of->alloc;

    kiln__deallocate(&alloc, of->memory, of->total);
}

char *kiln__buffer_new(kiln_blob *out, const kiln_alloc *alloc, size_t size)
{
    char *memory = NULL;
    uintptr_t bytes;
    size_t total;
    head *made;

    *out = (kiln_blob){0};
    if (!__builtin_add_overflow(size, sizeof(head) + ALIGNMENT, &total))
        memory = kiln__resize(alloc, NULL, 0, total);
    if (memory == NULL)
        return NULL;
    bytes = ((uintptr_t)memory + sizeof(head) + ALIGNMENT - 1) &
            ~(uintptr_t)(ALIGNMENT - 1);
    made = (head *)(bytes - sizeof(head));
    *made = (head){*alloc, memory, total};
    *out = (kiln_blob){(void *)bytes, size, release, made};
    return (char *)bytes;
}

int kiln__buffer_is_of_malloc(const kiln_blob *blob)
{
    return blob->release == release &&
           ((const head *)blob->private_data)->alloc.realloc ==
               kiln__malloc.realloc;
}
