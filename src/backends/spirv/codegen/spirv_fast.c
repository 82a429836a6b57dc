/* spirv_fast.c - fast, approximate functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/codegen/spirv_codegen.h"

#include "codegen/module/codegen_values.h"
#include "ir/ir.h"

/*
 * OpenCL's native_ functions are as fast and as near as the driver's device
 * allows: SPIR-V states no errors. Division stays an instruction, since drivers
 * see its flags.
 */

static const char *const names[KILN__MATH_COUNT] = {
    [KILN__MATH_SQRT] = "_Z11native_sqrtf",
    [KILN__MATH_RSQRT] = "_Z12native_rsqrtf",
    [KILN__MATH_SIN] = "_Z10native_sinf",
    [KILN__MATH_COS] = "_Z10native_cosf",
    [KILN__MATH_TAN] = "_Z10native_tanf",
    [KILN__MATH_EXP] = "_Z10native_expf",
    [KILN__MATH_EXP2] = "_Z11native_exp2f",
    [KILN__MATH_EXP10] = "_Z12native_exp10f",
    [KILN__MATH_LOG] = "_Z10native_logf",
    [KILN__MATH_LOG2] = "_Z11native_log2f",
    [KILN__MATH_LOG10] = "_Z12native_log10f",
    [KILN__MATH_POW] = "_Z11native_powrff",
};

LLVMValueRef kiln__spirv_fast(kiln__codegen_job *job, LLVMBuilderRef builder,
                              int64_t operation, LLVMValueRef *arguments)
{
    const unsigned count = operation == KILN__MATH_POW ? 2 : 1;
    LLVMTypeRef types[2];
    LLVMValueRef function;

    if (operation == KILN__FAST_DIVIDE || names[operation] == NULL)
        return NULL;
    types[0] = types[1] = LLVMTypeOf(arguments[0]);
    function =
        kiln__spirv_builtin(job, names[operation], types[0], types, count);
    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                          arguments, count, "");
}
