/* runtime_sources.h - the device runtime library's texts, embedded. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_RUNTIME_SOURCES_H
#define KILN_RUNTIME_SOURCES_H

#include <stddef.h>

/* One file of src/runtime, or of its folder packages, as it was when the
   library was built. */
typedef struct kiln__runtime_source {
    const char *name; /* "math.kiln" */
    const char *text; /* ends in a NUL that `size` does not count */
    size_t size;      /* in bytes */
} kiln__runtime_source;

/* In the order of their names; ended by a NULL name. */
extern const kiln__runtime_source kiln__runtime_sources[];
extern const size_t kiln__runtime_source_count;
/* Another text for any other content of them. */
extern const char kiln__runtime_version[];
/* Packages that an import finds without a file: "reduce.kiln", .... */
extern const kiln__runtime_source kiln__runtime_packages[];

#endif /* KILN_RUNTIME_SOURCES_H */
