/* method_abi.h - what an exception's method says beside its name. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ABI_METHOD_ABI_H
#define KILN_ABI_METHOD_ABI_H

#include <stdio.h>
#include <string.h>

#include "kiln/error.h"

/*
 * The method that an exception names is shown to people up to its first `#`.
 * What follows is the frontend's, or, after this mark, a place in the source
 * that code generation took from debug information: "f#@12:5:kernels.jl".
 */
#define KILN__PLACE_MARK "#@"

/* Stores the place, whose file is a part of `method`; false: there is none. */
static inline int kiln__method_place(const char *method, kiln_location *out)
{
    const char *mark = strchr(method, '#');
    unsigned line, column;
    int size = 0;

    if (mark == NULL ||
        strncmp(mark, KILN__PLACE_MARK, sizeof KILN__PLACE_MARK - 1) != 0 ||
        sscanf(mark + sizeof KILN__PLACE_MARK - 1, "%u:%u:%n", &line, &column,
               &size) != 2 ||
        size == 0)
        return 0;
    *out = (kiln_location){.file = mark + sizeof KILN__PLACE_MARK - 1 + size,
                           .line = line,
                           .column = column};
    return 1;
}

#endif /* KILN_ABI_METHOD_ABI_H */
