/* memory.h - allocation through the context's allocator. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_MEMORY_H
#define KILN_MEMORY_H

#include "kiln/error.h"
#include "kiln/sys/alloc.h"

/* The allocator over malloc. */
extern const kiln_alloc kiln__malloc;

/* Returns zeroed memory, or NULL. The caller passes the size again when
   freeing. */
void *kiln__allocate(const kiln_alloc *alloc, size_t size);
void *kiln__allocate_array(const kiln_alloc *alloc, size_t count,
                           size_t element_size); /* NULL on overflow */
/* Grows or shrinks; new bytes are not cleared. */
void *kiln__resize(const kiln_alloc *alloc, void *memory, size_t old_size,
                   size_t new_size);
void kiln__deallocate(const kiln_alloc *alloc, void *memory, size_t size);
/* Returns memory with a copy of the bytes, or NULL. */
void *kiln__allocate_copy(const kiln_alloc *alloc, const void *bytes,
                          size_t size);

/* Copies a NUL-terminated string; freed with kiln__string_free. */
char *kiln__string_copy(const kiln_alloc *alloc, const char *text);
char *kiln__string_copy_n(const kiln_alloc *alloc, const char *text,
                          size_t size);
/* Like kiln__string_copy(), but `text` may be NULL, which gives NULL. */
kiln_status kiln__string_copy_optional(char **out, const kiln_alloc *alloc,
                                       const char *text);
void kiln__string_free(const kiln_alloc *alloc, char *text);

/* Fills `out` with `size` zeroed bytes plus a NUL that is not counted, and
   returns them for writing, or NULL. */
void *kiln__blob_new(kiln_blob *out, const kiln_alloc *alloc, size_t size);

/* Fills `out` with a copy of the bytes plus a NUL that is not counted. */
kiln_status kiln__blob_copy(kiln_blob *out, const kiln_alloc *alloc,
                            const void *bytes, size_t size);

#endif /* KILN_MEMORY_H */
