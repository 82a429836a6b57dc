/* codegen_floats.h - floats as code has them in registers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_CODEGEN_FLOATS_H
#define KILN_CODEGEN_MODULE_CODEGEN_FLOATS_H

#include "codegen/module/codegen_job.h"

/* Kinds are floats of the table (abi/scalars.h). A value is what
   kiln__job_scalar() makes of its kind, or a vector of that. */

LLVMValueRef kiln__float_constant(const kiln__codegen_job *job, int32_t kind,
                                  double value);
LLVMValueRef kiln__float_negate(LLVMBuilderRef builder, LLVMValueRef value,
                                int32_t kind);
/* Converts from one kind to another, with one rounding, halves to even. */
LLVMValueRef kiln__float_cast(const kiln__codegen_job *job,
                              LLVMBuilderRef builder, LLVMValueRef value,
                              int32_t from, int32_t to);
/* Converts an integer that is no vector, with one rounding. A Bool counts as an
   integer of one bit. */
LLVMValueRef kiln__float_from_integer(const kiln__codegen_job *job,
                                      LLVMBuilderRef builder,
                                      LLVMValueRef value, int32_t from,
                                      int32_t to);
/* Returns the value with the sign of the other one, and all its other bits. */
LLVMValueRef kiln__float_copysign(const kiln__codegen_job *job,
                                  LLVMBuilderRef builder, LLVMValueRef value,
                                  LLVMValueRef sign, int32_t kind);
/* Returns a * b + c of floats that are narrower than f32, and rounds it once.
   It takes some ten operations in f32 or, for bf16, in f64. */
LLVMValueRef kiln__float_fma(const kiln__codegen_job *job,
                             LLVMBuilderRef builder,
                             const LLVMValueRef arguments[3], int32_t kind);

#endif /* KILN_CODEGEN_MODULE_CODEGEN_FLOATS_H */
