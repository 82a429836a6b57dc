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
extern const kiln__dm_function kiln__dm_doubles[]; /* of f64 */

typedef struct kiln__dm_detour {
    LLVMBasicBlockRef before, rare, behind;
} kiln__dm_detour;

/* ---- devmath.c ---- */
/* Calls an intrinsic by its full name, of the type if it is overloaded. */
LLVMValueRef kiln__dm_call(const kiln__dm *d, const char *name,
                           LLVMValueRef *arguments, unsigned count);
/* Leaves for code that is hardly ever run, where the condition holds. */
kiln__dm_detour kiln__dm_leave(const kiln__dm *d, LLVMValueRef condition);
/* Ends that code. What is built from here on follows both ways. */
void kiln__dm_meet(const kiln__dm *d, kiln__dm_detour *detour);
/* Right behind kiln__dm_meet(): the value of the way that was taken. */
LLVMValueRef kiln__dm_either(const kiln__dm *d, const kiln__dm_detour *detour,
                             LLVMValueRef usual, LLVMValueRef rare);

/* ---- devmath_double.c ---- */
/* Builds 1 / a of a number that is far from the least and the greatest. `m` is
   that of a kiln__dm. */
LLVMValueRef kiln__dm_inverse(const kiln__vm *m, LLVMValueRef a);

static inline LLVMValueRef dm_one(const kiln__dm *d, const char *name,
                                  LLVMValueRef x)
{
    return kiln__dm_call(d, name, &x, 1);
}

#endif /* KILN_CODEGEN_DEVMATH_DEVMATH_BUILD_H */
