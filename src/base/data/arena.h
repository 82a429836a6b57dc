/* arena.h - memory that is freed all at once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ARENA_H
#define KILN_ARENA_H

#include <stdarg.h>

#include "base/data/memory.h"

/*
 * Bump allocation in growing chunks. Belongs to one thread at a time. After a
 * failed allocation `failed` stays set, so a long builder may check once.
 */
typedef struct kiln__arena {
    const kiln_alloc *alloc;
    struct kiln__arena_chunk *chunks;
    char *next;
    char *end;
    int failed;
} kiln__arena;

void kiln__arena_init(kiln__arena *arena, const kiln_alloc *alloc);
void kiln__arena_dispose(kiln__arena *arena);
/* Returns zeroed memory aligned to 16, or NULL. */
void *kiln__arena_allocate(kiln__arena *arena, size_t size);
void *kiln__arena_allocate_array(kiln__arena *arena, size_t count,
                                 size_t element_size);
void *kiln__arena_copy(kiln__arena *arena, const void *bytes, size_t size);
char *kiln__arena_string(kiln__arena *arena, const char *text, size_t size);
/* Copies a whole text; NULL for NULL. */
char *kiln__arena_text(kiln__arena *arena, const char *text);
char *kiln__arena_format(kiln__arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *kiln__arena_vformat(kiln__arena *arena, const char *format,
                          va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif /* KILN_ARENA_H */
