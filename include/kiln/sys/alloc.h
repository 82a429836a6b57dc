/* kiln/sys/alloc.h - where the library's memory comes from. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SYS_ALLOC_H
#define KILN_SYS_ALLOC_H

#include "kiln/common.h"

KILN_BEGIN_DECLS

/**
 * One function allocates, grows and frees for a whole context.
 *
 * realloc(env, NULL, 0, n) allocates n bytes aligned for any C type;
 * realloc(env, p, old, n) grows or shrinks; realloc(env, p, old, 0) frees and
 * returns NULL. `old` is always the size that was asked for. NULL for n > 0
 * means out of memory and leaves `p` as it was. Called from any thread, at
 * times under a lock of Kiln's: it must not call back into Kiln.
 *
 * Objects that may outlive the context come from malloc() instead: errors and
 * their texts, artifacts, names in change reports, and generated code that
 * kiln_emit() gives. LLVM and GPU drivers allocate for themselves.
 */
typedef struct kiln_alloc {
    size_t size; /* sizeof(kiln_alloc) */
    void *env;
    void *(*realloc)(void *env, void *memory, size_t old_size, size_t new_size);
} kiln_alloc;

KILN_END_DECLS

#endif /* KILN_SYS_ALLOC_H */
