/* devmath_build.h - what bodies of mathematics for devices are made of. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_DEVMATH_DEVMATH_BUILD_H
#define KILN_CODEGEN_DEVMATH_DEVMATH_BUILD_H

#include "codegen/module/codegen_job.h"
#include "codegen/vecmath/vecmath_build.h"

/* Instructions have no flags that allow other results, as in vecmath_build.h.
   The type is f32 or f64, never a vector. */
typedef struct kiln__dm {
    kiln__vm m;
    const kiln__codegen_approximate *has;
} kiln__dm;

typedef LLVMValueRef (*kiln__dm_body)(kiln__dm *d, LLVMValueRef const *x);

typedef struct kiln__dm_function {
    const char *name; /* C's, for f64 */
    kiln__dm_body body;
} kiln__dm_function;

/* Lists of functions; a NULL name ends them. */
extern const kiln__dm_function kiln__dm_powers[]; /* of f32 */
extern const kiln__dm_function kiln__dm_logs[];
extern const kiln__dm_function kiln__dm_angles[];
extern const kiln__dm_function kiln__dm_hyper[];
extern const kiln__dm_function kiln__dm_pows[];

/* ---- devmath.c ---- */
/* Calls an intrinsic by its full name, of the type if it is overloaded. */
LLVMValueRef kiln__dm_call(const kiln__dm *d, const char *name,
                           LLVMValueRef *arguments, unsigned count);
/* Adds a block to the function that is being built. */
LLVMBasicBlockRef kiln__dm_block(const kiln__dm *d);
/* Ends the block: code that is hardly ever run, or else what follows it. */
void kiln__dm_branch(const kiln__dm *d, LLVMValueRef condition,
                     LLVMBasicBlockRef cold, LLVMBasicBlockRef next);

static inline LLVMValueRef dm_one(const kiln__dm *d, const char *name,
                                  LLVMValueRef x)
{
    return kiln__dm_call(d, name, &x, 1);
}

#endif /* KILN_CODEGEN_DEVMATH_DEVMATH_BUILD_H */
