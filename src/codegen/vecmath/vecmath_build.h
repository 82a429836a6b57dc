/* vecmath_build.h - instructions for numbers and for vectors alike. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_VECMATH_VECMATH_BUILD_H
#define KILN_CODEGEN_VECMATH_VECMATH_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "codegen/module/codegen_values.h"

/*
 * What builds a function works on one type: f32, f64 or vectors of these.
 * Instructions have no flags that allow other results, and a multiplication is
 * fused with an addition exactly where the code says so. So the bits of a
 * result do not depend on the length of the vector.
 */

typedef struct kiln__vm {
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef type;
    LLVMTypeRef bits; /* integers of the same size and number */
    LLVMTypeRef truth;
    int is_f64;
    LLVMValueRef hard; /* elements that C's function is to compute; NULL: none
                        */
    /* NULL, or builds 1 / a of f64 to a unit or two in the last place, where
       that is shorter than a division, of numbers between 2^-100 and 2^100. */
    LLVMValueRef (*inverse)(const struct kiln__vm *m, LLVMValueRef a);
} kiln__vm;

/* Builds the function's value. */
typedef LLVMValueRef (*kiln__vm_body)(kiln__vm *m, LLVMValueRef const *x);

/* ---- vecmath_build.c ---- */
void kiln__vm_init(kiln__vm *m, LLVMModuleRef module, LLVMBuilderRef builder,
                   LLVMTypeRef type);
/* Calls the intrinsic "llvm.NAME" of the type. */
LLVMValueRef kiln__vm_call(const kiln__vm *m, const char *name,
                           LLVMValueRef *arguments, unsigned count);
/* Returns c[0] + c[1] x + c[2] x² + ... */
LLVMValueRef kiln__vm_sum(const kiln__vm *m, LLVMValueRef x, const double *c,
                          size_t count);
/* Rounds x * factor + offset to a whole number, below 2^21 in size; `k` gets
   its bits, of which the low ones are those of the integer. */
LLVMValueRef kiln__vm_whole(const kiln__vm *m, LLVMValueRef x, double factor,
                            double offset, LLVMValueRef *k);
/* Returns 2^k, for `k` of kiln__vm_whole(), if that is a normal number. */
LLVMValueRef kiln__vm_power(const kiln__vm *m, LLVMValueRef k);

/* Returns value * 2^k, also if that is subnormal or infinite. */
LLVMValueRef kiln__vm_scale(const kiln__vm *m, LLVMValueRef value,
                            LLVMValueRef k);
/* Returns log(x), which is `value` unless x is 0, negative, infinite or no
   number. */
LLVMValueRef kiln__vm_log_rest(const kiln__vm *m, LLVMValueRef x,
                               LLVMValueRef value);

#define KILN__VM_SUM(m, x, list) \
    kiln__vm_sum((m), (x), (list), sizeof(list) / sizeof(list)[0])

/* ---- one instruction each ---- */

static inline LLVMValueRef vm_number(const kiln__vm *m, double value)
{
    return kiln__spread_constant(
        m->type, LLVMConstReal(kiln__lane_type(m->type), value));
}

static inline LLVMValueRef vm_integer(const kiln__vm *m, uint64_t value)
{
    return kiln__spread_constant(
        m->bits, LLVMConstInt(kiln__lane_type(m->bits), value, 0));
}

static inline LLVMValueRef vm_add(const kiln__vm *m, LLVMValueRef a,
                                  LLVMValueRef b)
{
    return LLVMBuildFAdd(m->builder, a, b, "");
}

static inline LLVMValueRef vm_sub(const kiln__vm *m, LLVMValueRef a,
                                  LLVMValueRef b)
{
    return LLVMBuildFSub(m->builder, a, b, "");
}

static inline LLVMValueRef vm_mul(const kiln__vm *m, LLVMValueRef a,
                                  LLVMValueRef b)
{
    return LLVMBuildFMul(m->builder, a, b, "");
}

static inline LLVMValueRef vm_div(const kiln__vm *m, LLVMValueRef a,
                                  LLVMValueRef b)
{
    return LLVMBuildFDiv(m->builder, a, b, "");
}

/* a * b + c, rounded once. */
static inline LLVMValueRef vm_fma(const kiln__vm *m, LLVMValueRef a,
                                  LLVMValueRef b, LLVMValueRef c)
{
    LLVMValueRef arguments[] = {a, b, c};

    return kiln__vm_call(m, "llvm.fma", arguments, 3);
}

/* a * factor + c, rounded once. */
static inline LLVMValueRef vm_scaled(const kiln__vm *m, LLVMValueRef a,
                                     double factor, LLVMValueRef c)
{
    return vm_fma(m, a, vm_number(m, factor), c);
}

static inline LLVMValueRef vm_times(const kiln__vm *m, LLVMValueRef a,
                                    double factor)
{
    return vm_mul(m, a, vm_number(m, factor));
}

static inline LLVMValueRef vm_plus(const kiln__vm *m, LLVMValueRef a, double b)
{
    return vm_add(m, a, vm_number(m, b));
}

static inline LLVMValueRef vm_square(const kiln__vm *m, LLVMValueRef a)
{
    return vm_mul(m, a, a);
}

static inline LLVMValueRef vm_negative(const kiln__vm *m, LLVMValueRef a)
{
    return LLVMBuildFNeg(m->builder, a, "");
}

static inline LLVMValueRef vm_size(const kiln__vm *m, LLVMValueRef a)
{
    return kiln__vm_call(m, "llvm.fabs", &a, 1);
}

static inline LLVMValueRef vm_root(const kiln__vm *m, LLVMValueRef a)
{
    return kiln__vm_call(m, "llvm.sqrt", &a, 1);
}

static inline LLVMValueRef vm_signed_as(const kiln__vm *m, LLVMValueRef a,
                                        LLVMValueRef sign)
{
    LLVMValueRef arguments[] = {a, sign};

    return kiln__vm_call(m, "llvm.copysign", arguments, 2);
}

/* Comparisons are false for NaN. */
static inline LLVMValueRef vm_is_greater(const kiln__vm *m, LLVMValueRef a,
                                         double b)
{
    return LLVMBuildFCmp(m->builder, LLVMRealOGT, a, vm_number(m, b), "");
}

static inline LLVMValueRef vm_is_less(const kiln__vm *m, LLVMValueRef a,
                                      double b)
{
    return LLVMBuildFCmp(m->builder, LLVMRealOLT, a, vm_number(m, b), "");
}

static inline LLVMValueRef vm_is(const kiln__vm *m, LLVMValueRef a, double b)
{
    return LLVMBuildFCmp(m->builder, LLVMRealOEQ, a, vm_number(m, b), "");
}

static inline LLVMValueRef vm_choose(const kiln__vm *m, LLVMValueRef condition,
                                     LLVMValueRef yes, LLVMValueRef no)
{
    return LLVMBuildSelect(m->builder, condition, yes, no, "");
}

/* Not above `most`; NaN stays. */
static inline LLVMValueRef vm_at_most(const kiln__vm *m, LLVMValueRef a,
                                      double most)
{
    return vm_choose(m, vm_is_greater(m, a, most), vm_number(m, most), a);
}

static inline LLVMValueRef vm_at_least(const kiln__vm *m, LLVMValueRef a,
                                       double least)
{
    return vm_choose(m, vm_is_less(m, a, least), vm_number(m, least), a);
}

static inline LLVMValueRef vm_within(const kiln__vm *m, LLVMValueRef a,
                                     double least, double most)
{
    return vm_at_least(m, vm_at_most(m, a, most), least);
}

static inline LLVMValueRef vm_to_bits(const kiln__vm *m, LLVMValueRef a)
{
    return LLVMBuildBitCast(m->builder, a, m->bits, "");
}

static inline LLVMValueRef vm_from_bits(const kiln__vm *m, LLVMValueRef bits)
{
    return LLVMBuildBitCast(m->builder, bits, m->type, "");
}

/* Negates `a` where the lowest bit of `k` is set. */
static inline LLVMValueRef vm_flip(const kiln__vm *m, LLVMValueRef a,
                                   LLVMValueRef k)
{
    LLVMValueRef sign =
        LLVMBuildShl(m->builder, k, vm_integer(m, m->is_f64 ? 63 : 31), "");

    return vm_from_bits(m,
                        LLVMBuildXor(m->builder, vm_to_bits(m, a), sign, ""));
}

/* ---- the functions ---- */

/* Returns what builds the function of C of that name (without an f), or NULL.
   `operands` gets the number of its arguments. */
kiln__vm_body kiln__vm_find(const char *name, int is_f64, unsigned *operands);

typedef struct kiln__vm_function {
    const char *name;
    unsigned operands;
    kiln__vm_body body;
} kiln__vm_function;

/* Lists of functions of f32 and of f64; a NULL name ends them. */
extern const kiln__vm_function kiln__vm_singles[];
extern const kiln__vm_function kiln__vm_wide_singles[]; /* computed in f64 */
extern const kiln__vm_function kiln__vm_doubles[];

#endif /* KILN_CODEGEN_VECMATH_VECMATH_BUILD_H */
