/* vecmath.h - mathematical functions as code that works on vectors. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_VECMATH_VECMATH_H
#define KILN_CODEGEN_VECMATH_VECMATH_H

#include "codegen/module/codegen_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * C's mathematical functions take one number, so a loop over items that calls
 * one is not vectorised. On processors with fused multiply-add, Kiln has
 * functions of its own: LLVM IR without branches, for numbers and for vectors
 * of any length, made by one and the same code. So an item gets the same bits
 * whether it was in a vector or in what remained of a loop, and also in the
 * checked module of a proof.
 *
 * Before the passes, calls are marked: an attribute tells LLVM's vectorisers
 * which functions on vectors stand for a call. After the passes, marked calls
 * that are left become calls of Kiln's function, and all functions that are
 * called get their bodies, which are inlined.
 */

/* Marks the calls of both modules. Does nothing where C's functions are to be
   called. */
void kiln__vecmath_mark(kiln__codegen_job *job);
/* Gives the module the functions that its marked calls stand for, and forgets
   the others. Nothing is inlined yet. Returns whether there were any. */
int kiln__vecmath_expand(kiln__codegen_job *job, LLVMModuleRef module);

/* ---- llvm_gap_vecmath.cc ---- */
/* Keeps a declaration that nothing calls yet. */
void kiln__llvm_keep(LLVMValueRef function);
/* Ends the keeping of all functions whose names begin like this. */
void kiln__llvm_keep_no_more(LLVMModuleRef module, const char *prefix);

#ifdef __cplusplus
}
#endif

#endif /* KILN_CODEGEN_VECMATH_VECMATH_H */
