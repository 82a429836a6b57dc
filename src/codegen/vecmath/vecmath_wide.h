/* vecmath_wide.h - what functions of f32 that are computed in f64 share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_VECMATH_VECMATH_WIDE_H
#define KILN_CODEGEN_VECMATH_VECMATH_WIDE_H

#include "codegen/vecmath/vecmath_build.h"

/*
 * Where a function of f32 would need more than 24 bits on the way, it is
 * computed in f64, with polynomials as short as f32 allows: their relative
 * errors are 2^-31 at most. Then hardly anything but the final rounding is left
 * of the error. No number of f32 is subnormal in f64.
 */

#define KILN__LOG2_E 1.4426950408889634
#define KILN__LN_2 0.69314718055994531
#define KILN__PI 3.1415926535897931

/* ---- vecmath_wide.c ---- */
/* Returns m for f64, and as many elements. */
kiln__vm kiln__wide(const kiln__vm *m);
LLVMValueRef kiln__widen(const kiln__vm *w, LLVMValueRef x);
LLVMValueRef kiln__narrow(const kiln__vm *m, LLVMValueRef x);
/* Returns e^x and e^x - 1, for x within 700. */
LLVMValueRef kiln__wide_exp(const kiln__vm *w, LLVMValueRef x);
LLVMValueRef kiln__wide_expm1(const kiln__vm *w, LLVMValueRef x);
/* Returns the logarithm to the base e^(1 / scale). */
LLVMValueRef kiln__wide_log(const kiln__vm *w, LLVMValueRef x, double scale);

/* ---- vecmath_arcs.c ---- */
LLVMValueRef kiln__vm_acos(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__vm_asin(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__vm_atan(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__vm_atan2(kiln__vm *m, LLVMValueRef const *x);

/* ---- vecmath_angles.c ---- */
LLVMValueRef kiln__vm_cos(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__vm_sin(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__vm_tan(kiln__vm *m, LLVMValueRef const *x);

/* ---- vecmath_powers.c ---- */
LLVMValueRef kiln__vm_cbrt(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__vm_hypot(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__vm_pow(kiln__vm *m, LLVMValueRef const *x);

#endif /* KILN_CODEGEN_VECMATH_VECMATH_WIDE_H */
