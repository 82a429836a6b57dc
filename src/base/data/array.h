/* array.h - growing arrays and text buffers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ARRAY_H
#define KILN_ARRAY_H

#include "base/data/memory.h"

/*
 * A growing array of T: declare `kiln__array_of(T) names;`, zero it, then
 * append. `items` moves when it grows. Only for one thread at a time.
 */
#define kiln__array_of(T) \
    struct { \
        T *items; \
        size_t count; \
        size_t capacity; \
    }

/* Makes room for `extra` more; false when out of memory. */
#define kiln__array_reserve(alloc, array, extra) \
    kiln__array_grow((alloc), (void **)&(array)->items, (array)->count, \
                     &(array)->capacity, (extra), sizeof *(array)->items)

/* Appends `value`; false when out of memory. */
#define kiln__array_push(alloc, array, value) \
    (kiln__array_reserve((alloc), (array), 1) \
         ? ((array)->items[(array)->count++] = (value), 1) \
         : 0)

#define kiln__array_dispose(alloc, array) \
    (kiln__deallocate((alloc), (array)->items, \
                      (array)->capacity * sizeof *(array)->items), \
     (array)->items = NULL, (array)->count = 0, (array)->capacity = 0)

int kiln__array_grow(const kiln_alloc *alloc, void **items, size_t count,
                     size_t *capacity, size_t extra, size_t item_size);

/* Text that grows. It is always NUL-terminated once something was written.
   After a failed write `failed` stays set, and further writes do nothing. */
typedef struct kiln__text {
    const kiln_alloc *alloc;
    char *bytes;
    size_t size; /* without the NUL */
    size_t capacity;
    int failed;
} kiln__text;

void kiln__text_init(kiln__text *text, const kiln_alloc *alloc);
void kiln__text_dispose(kiln__text *text);
void kiln__text_add(kiln__text *text, const char *string);
void kiln__text_add_n(kiln__text *text, const char *bytes, size_t size);
void kiln__text_format(kiln__text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Moves the text into a blob, or returns KILN_ENOMEM. In both cases the text is
   disposed of. */
kiln_status kiln__text_to_blob(kiln__text *text, kiln_blob *out);

#endif /* KILN_ARRAY_H */
