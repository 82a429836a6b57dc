/* code_closure.h - a code instance with all that it calls. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_CODE_CLOSURE_H
#define KILN_TIERS_TYPED_CODE_CLOSURE_H

#include "context/context.h"

/* The call closure, root first, in call order. Each function and signature is
   in it once. The caller frees it. */
kiln_status kiln__code_closure(const kiln_code ***out, size_t *count,
                               const kiln_code *root);
/* The same with all dependencies of its members. */
kiln_status kiln__code_dependencies(const kiln_code ***out, size_t *count,
                                    const kiln_code *root);
/* True if the two are one function of a closure. */
int kiln__codes_are_one(const kiln_code *a, const kiln_code *b);
/* The same as a key of this process: equal for two that are one function. */
kiln_digest kiln__code_key(const kiln_code *code);
/* What lower() lowers while it runs on this thread. */
typedef struct kiln__lower_call {
    const kiln_code *const *codes;
    size_t count;
    const struct kiln__lower_call *around;
} kiln__lower_call;

void kiln__lower_call_begin(kiln__lower_call *out,
                            const kiln_code *const *codes, size_t count);
void kiln__lower_call_end(const kiln__lower_call *lowering);
/* Returns the member of what is being lowered that represents the code; else
   the code itself. */
const kiln_code *kiln__code_as_lowered(const kiln_code *code);

#endif /* KILN_TIERS_TYPED_CODE_CLOSURE_H */
