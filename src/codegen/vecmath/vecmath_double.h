/* vecmath_double.h - what functions of f64 share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_VECMATH_VECMATH_DOUBLE_H
#define KILN_CODEGEN_VECMATH_VECMATH_DOUBLE_H

#include "codegen/vecmath/vecmath_build.h"

/* ln(2) in two parts: the product of the first one and an exponent is exact. */
#define KILN__LN_2_SHORT 6.93147180369123816490e-01
#define KILN__LN_2_REST 1.90821492927058770002e-10

/* Beyond this, C's functions compute sines. */
#define KILN__LARGE_ANGLE 1073741824.0

/* x = n pi / 2 + high + low, |high| <= pi / 4. */
typedef struct kiln__angle {
    LLVMValueRef high, low;
    LLVMValueRef k; /* the bits of n */
} kiln__angle;

/* (above + above_low) / (below + below_low) */
typedef struct kiln__ratio {
    LLVMValueRef above, above_low;
    LLVMValueRef below, below_low;
} kiln__ratio;

/* ---- vecmath_double.c ---- */
/* Returns high + low in two parts, where `low` may have been as large as half
   of `high`. */
LLVMValueRef kiln__double_join(const kiln__vm *m, LLVMValueRef high,
                               LLVMValueRef *low);
/* Divides, with a quotient in two parts. */
LLVMValueRef kiln__double_divide(const kiln__vm *m, const kiln__ratio *r,
                                 LLVMValueRef *low);
/* Returns e^(x + low); `low` may be NULL. */
LLVMValueRef kiln__double_exp(const kiln__vm *m, LLVMValueRef x,
                              LLVMValueRef low);
/* Returns (e^x - 1) / 2 in two parts; it is finite for all x up to 710.4. */
LLVMValueRef kiln__double_half_expm1(const kiln__vm *m, LLVMValueRef x,
                                     LLVMValueRef *low);
/* Returns log(x) + low; `low` is small, or NULL. */
LLVMValueRef kiln__double_log(const kiln__vm *m, LLVMValueRef x,
                              LLVMValueRef low);
/* Returns log(2^e (1 + f)) + low, |f| <= 1 / 3; `low` as above. It is `e` if
   that is infinite or no number, and `f` is 0. */
LLVMValueRef kiln__double_log_of(const kiln__vm *m, LLVMValueRef e,
                                 LLVMValueRef f, LLVMValueRef low);
/* x = 2^e (1 + f), |f| <= 1 / 3, x > 0; returns f. */
LLVMValueRef kiln__double_split(const kiln__vm *m, LLVMValueRef x,
                                LLVMValueRef *e);
/* Makes large angles hard. */
kiln__angle kiln__double_reduce(kiln__vm *m, LLVMValueRef x);
/* The sine and the cosine of high + low, without the rest. */
LLVMValueRef kiln__double_sine(const kiln__vm *m, const kiln__angle *a,
                               LLVMValueRef *rest);
LLVMValueRef kiln__double_cosine(const kiln__vm *m, const kiln__angle *a,
                                 LLVMValueRef *rest);

/* ---- vecmath_double_pow.c ---- */
LLVMValueRef kiln__double_pow(kiln__vm *m, LLVMValueRef const *x);

/* ---- vecmath_double_hyper.c ---- */
LLVMValueRef kiln__double_acosh(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_asinh(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_atanh(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_cosh(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_expm1(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_log1p(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_sinh(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_tanh(kiln__vm *m, LLVMValueRef const *x);

/* ---- vecmath_double_arcs.c ---- */
LLVMValueRef kiln__double_acos(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_asin(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_atan(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_atan2(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_hypot(kiln__vm *m, LLVMValueRef const *x);
LLVMValueRef kiln__double_tan(kiln__vm *m, LLVMValueRef const *x);

/* ---- vecmath_powers.c ---- */
LLVMValueRef kiln__double_cbrt(kiln__vm *m, LLVMValueRef const *x);
/* Returns x[0]^x[1], where `value` is |x[0]|^x[1] unless that is a special
   case. */
LLVMValueRef kiln__vm_pow_rest(kiln__vm *m, LLVMValueRef const *x,
                               LLVMValueRef value);

#endif /* KILN_CODEGEN_VECMATH_VECMATH_DOUBLE_H */
