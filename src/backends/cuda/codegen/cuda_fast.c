/* cuda_fast.c - fast, approximate instructions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "backends/cuda/codegen/cuda_codegen.h"
#include "codegen/module/codegen_values.h"
#include "ir/ir.h"

/*
 * The tables of the PTX ISA give the errors: division 2 units in the last
 * place, the square root about 1, sine and cosine 2^-20.5 near zero, the
 * exponential 2 units, the logarithm 2^-22. Where all floats of the config are
 * fast, subnormal numbers become zeros in these instructions. Where only a
 * block of the program asks for fast floats, they do not.
 */

typedef struct quick {
    const char *names[2]; /* the second one flushes subnormal numbers */
    int operands;
    int is_overloaded;
    double before; /* factor of the operand; 0: none */
    double after;  /* factor of the result; 0: none */
} quick;

#define SINE \
    { \
        "llvm.nvvm.sin.approx.f", "llvm.nvvm.sin.approx.ftz.f" \
    }
#define COSINE \
    { \
        "llvm.nvvm.cos.approx.f", "llvm.nvvm.cos.approx.ftz.f" \
    }
#define POWER \
    { \
        "llvm.nvvm.ex2.approx", "llvm.nvvm.ex2.approx.ftz" \
    }
#define LOGARITHM \
    { \
        "llvm.nvvm.lg2.approx.f", "llvm.nvvm.lg2.approx.ftz.f" \
    }

static const quick divide = {
    {"llvm.nvvm.div.full", "llvm.nvvm.div.full.ftz"}, 2, 0, 0, 0};

static const quick functions[KILN__MATH_COUNT] = {
    [KILN__MATH_SQRT] = {{"llvm.nvvm.sqrt.approx.f",
                          "llvm.nvvm.sqrt.approx.ftz.f"},
                         1,
                         0,
                         0,
                         0},
    [KILN__MATH_RSQRT] = {{"llvm.nvvm.rsqrt.approx.f",
                           "llvm.nvvm.rsqrt.approx.ftz.f"},
                          1,
                          0,
                          0,
                          0},
    [KILN__MATH_SIN] = {SINE, 1, 0, 0, 0},
    [KILN__MATH_COS] = {COSINE, 1, 0, 0, 0},
    [KILN__MATH_EXP2] = {POWER, 1, 1, 0, 0},
    [KILN__MATH_EXP] = {POWER, 1, 1, 1.4426950408889634, 0},
    [KILN__MATH_EXP10] = {POWER, 1, 1, 3.3219280948873623, 0},
    [KILN__MATH_LOG2] = {LOGARITHM, 1, 0, 0, 0},
    [KILN__MATH_LOG] = {LOGARITHM, 1, 0, 0, 0.6931471805599453},
    [KILN__MATH_LOG10] = {LOGARITHM, 1, 0, 0, 0.3010299956639812},
};

static LLVMValueRef scaled(LLVMBuilderRef builder, LLVMValueRef value,
                           double factor)
{
    if (factor == 0)
        return value;
    return LLVMBuildFMul(builder, value,
                         LLVMConstReal(LLVMTypeOf(value), factor), "");
}

LLVMValueRef kiln__cuda_fast(kiln__codegen_job *job, LLVMBuilderRef builder,
                             int64_t operation, LLVMValueRef *arguments)
{
    const quick *q =
        operation == KILN__FAST_DIVIDE ? &divide : &functions[operation];
    const char *name = q->names[job->settings->fast_math != 0];
    LLVMTypeRef type = q->is_overloaded ? LLVMTypeOf(arguments[0]) : NULL;
    LLVMValueRef operands[2] = {arguments[0], NULL};

    if (name == NULL)
        return NULL;
    operands[0] = scaled(builder, arguments[0], q->before);
    if (q->operands == 2)
        operands[1] = arguments[1];
    return scaled(builder,
                  kiln__call_intrinsic(builder, name, type, operands,
                                       (unsigned)q->operands),
                  q->after);
}
