/* runtime_sources.h - the embedded texts of the runtime library. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_RUNTIME_SOURCES_H
#define KILN_RUNTIME_SOURCES_H

#include <stddef.h>

/* A file of src/runtime, or of its folder packages, as it was when the library
   was built. */
typedef struct kiln__runtime_source {
    const char *name; /* "math.kiln" */
    const char *text; /* followed by a NUL that `size` does not count */
    size_t size;      /* in bytes */
} kiln__runtime_source;

/* In the order of their names; a NULL name ends the list. */
extern const kiln__runtime_source kiln__runtime_sources[];
extern const size_t kiln__runtime_source_count;
/* Changes whenever the content of any of them does. */
extern const char kiln__runtime_version[];
/* Packages that an import finds without a file: "reduce.kiln", ... */
extern const kiln__runtime_source kiln__runtime_packages[];

#endif /* KILN_RUNTIME_SOURCES_H */
