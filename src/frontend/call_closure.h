/* call_closure.h - the typed IR of everything that a kernel calls. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_CALL_CLOSURE_H
#define KILN_FRONTEND_CALL_CLOSURE_H

#include "frontend/syntax/ast.h"
#include "ir/ir_uniform.h"
#include "tiers/typed/code_instance.h"

/*
 * A closure is read from a kernel's code instance. It serves one check and is
 * disposed of. Code instances are lent by the context and are not retained.
 */

typedef struct kiln__closure {
    const kiln_alloc *alloc;
    const kiln_code **codes; /* the kernel is the first */
    size_t count;
    kiln__arena arena;
    kiln__ir *irs;
    size_t decoded;
    kiln__uniform_function *functions;
} kiln__closure;

/* Call kiln__closure_dispose() after failures, too. */
kiln_status kiln__closure_read(kiln__closure *c, const kiln_code *root,
                               const kiln_alloc *alloc, kiln_error **error);
void kiln__closure_dispose(kiln__closure *c);

/* Only methods of the language have places; typed IR of other frontends has
   none. */
typedef struct kiln__closure_place {
    const kiln__source *source; /* NULL: the place is unknown */
    kiln__span span;
    kiln_location location;
} kiln__closure_place;

/* Finds the place of a node, or of the function itself for node 0. */
void kiln__closure_find(const kiln__closure *c, size_t function, uint32_t node,
                        kiln__closure_place *out);

#endif /* KILN_FRONTEND_CALL_CLOSURE_H */
