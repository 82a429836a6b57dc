/* cuda_fast.c - fast, approximate instructions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "backends/cuda/codegen/cuda_codegen.h"
#include "codegen/module/codegen_values.h"
#include "ir/ir.h"

/*
 * These are the instructions that NVIDIA's compiler uses with --use_fast_math.
 * The tables of the PTX ISA give the errors: division 2 units in the last place
 * for divisors up to 2^126, the square root about 1, sine and cosine 2^-20.5
 * near zero, the exponential 2 units, the logarithm 2^-22, the hyperbolic
 * tangent 2^-11. Where all floats of the config are fast, subnormal numbers
 * become zeros in these instructions. Where only a block of the program asks
 * for fast floats, they do not.
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
    {"llvm.nvvm.div.approx.f", "llvm.nvvm.div.approx.ftz.f"}, 2, 0, 0, 0};

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

static LLVMValueRef build(const kiln__codegen_job *job, LLVMBuilderRef builder,
                          const quick *q, LLVMValueRef *arguments)
{
    const char *name = q->names[job->settings->fast_math != 0];
    LLVMTypeRef type = q->is_overloaded ? LLVMTypeOf(arguments[0]) : NULL;
    LLVMValueRef operands[2] = {scaled(builder, arguments[0], q->before), NULL};

    if (q->operands == 2)
        operands[1] = arguments[1];
    return scaled(builder,
                  kiln__call_intrinsic(builder, name, type, operands,
                                       (unsigned)q->operands),
                  q->after);
}

/* ---- what takes several ---- */

static LLVMValueRef tangent(const kiln__codegen_job *job,
                            LLVMBuilderRef builder, LLVMValueRef *arguments)
{
    LLVMValueRef both[2];

    both[0] = build(job, builder, &functions[KILN__MATH_SIN], arguments);
    both[1] = build(job, builder, &functions[KILN__MATH_COS], arguments);
    return build(job, builder, &divide, both);
}

/* x^y = 2^(y log2(x)), for positive x. */
static LLVMValueRef power(const kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef *arguments)
{
    LLVMValueRef log =
        build(job, builder, &functions[KILN__MATH_LOG2], arguments);

    log = LLVMBuildFMul(builder, arguments[1], log, "");
    return build(job, builder, &functions[KILN__MATH_EXP2], &log);
}

/* With this flag, it is one instruction. */
static LLVMValueRef hyperbolic(LLVMBuilderRef builder, LLVMValueRef *arguments)
{
    const LLVMValueRef call = kiln__call_intrinsic(
        builder, "llvm.tanh", LLVMTypeOf(arguments[0]), arguments, 1);

    LLVMSetFastMathFlags(call, LLVMFastMathApproxFunc);
    return call;
}

/* The reciprocal takes no multiplication; it has only a form that flushes. */
static LLVMValueRef quotient(const kiln__codegen_job *job,
                             LLVMBuilderRef builder, LLVMValueRef *arguments)
{
    LLVMBool lost;

    if (job->settings->fast_math && LLVMIsAConstantFP(arguments[0]) != NULL &&
        LLVMConstRealGetDouble(arguments[0], &lost) == 1)
        return kiln__call_intrinsic(builder, "llvm.nvvm.rcp.approx.ftz.f", NULL,
                                    &arguments[1], 1);
    return build(job, builder, &divide, arguments);
}

LLVMValueRef kiln__cuda_fast(kiln__codegen_job *job, LLVMBuilderRef builder,
                             int64_t operation, LLVMValueRef *arguments)
{
    switch (operation) {
    case KILN__FAST_DIVIDE:
        return quotient(job, builder, arguments);
    case KILN__MATH_TAN:
        return tangent(job, builder, arguments);
    case KILN__MATH_TANH:
        return hyperbolic(builder, arguments);
    case KILN__MATH_POW:
        return power(job, builder, arguments);
    default:
        return functions[operation].names[0] == NULL
                   ? NULL
                   : build(job, builder, &functions[operation], arguments);
    }
}
