/* rocm_intrinsics.c - LLVM's intrinsics that its target for AMD lacks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/rocm/codegen/rocm_codegen.h"

#include <string.h>

#include "codegen/module/codegen_values.h"

/*
 * For these, LLVM ends the process, or uses instructions that are far off for
 * large operands. Mathematical functions come from a library.
 */

const kiln__foreign_limit kiln__rocm_limits[] = {
    {"acos", 0},
    {"arithmetic.fence", KILN__HAS_SINGLE_AND_DOUBLE},
    {"asin", 0},
    {"atan", 0},
    {"atan2", 0},
    {"clmul", 0},
    {"cos", KILN__HAS_QUICK_FLOATS},
    {"cosh", 0},
    {"exp", KILN__HAS_FLOATS & ~KILN__HAS_F64},
    {"exp10", KILN__HAS_FLOATS & ~KILN__HAS_F64},
    {"exp2", KILN__HAS_FLOATS & ~KILN__HAS_F64},
    {"experimental.constrained.acos", 0},
    {"experimental.constrained.asin", 0},
    {"experimental.constrained.atan", 0},
    {"experimental.constrained.atan2", 0},
    {"experimental.constrained.cos", 0},
    {"experimental.constrained.cosh", 0},
    {"experimental.constrained.exp", 0},
    {"experimental.constrained.exp2", 0},
    {"experimental.constrained.fdiv", 0},
    {"experimental.constrained.fma", KILN__HAS_FLOATS & ~KILN__HAS_BF16},
    {"experimental.constrained.fmuladd", KILN__HAS_FLOATS & ~KILN__HAS_BF16},
    {"experimental.constrained.fpext", 0},
    {"experimental.constrained.fptosi", 0},
    {"experimental.constrained.fptoui", 0},
    {"experimental.constrained.fptrunc", 0},
    {"experimental.constrained.frem", 0},
    {"experimental.constrained.log", 0},
    {"experimental.constrained.log10", 0},
    {"experimental.constrained.log2", 0},
    {"experimental.constrained.maxnum", 0},
    {"experimental.constrained.minnum", 0},
    {"experimental.constrained.nearbyint", 0},
    {"experimental.constrained.pow", 0},
    {"experimental.constrained.rint", 0},
    {"experimental.constrained.round", 0},
    {"experimental.constrained.roundeven", 0},
    {"experimental.constrained.sin", 0},
    {"experimental.constrained.sinh", 0},
    {"experimental.constrained.sitofp", 0},
    {"experimental.constrained.sqrt", 0},
    {"experimental.constrained.tan", 0},
    {"experimental.constrained.tanh", 0},
    {"experimental.constrained.uitofp", 0},
    {"fptosi.sat", KILN__HAS_FLOATS},
    {"fptoui.sat", KILN__HAS_FLOATS},
    {"llrint", KILN__HAS_FLOATS & ~KILN__HAS_BF16},
    {"llround", KILN__HAS_FLOATS & ~KILN__HAS_BF16},
    {"log", KILN__HAS_FLOATS & ~KILN__HAS_F64},
    {"log10", KILN__HAS_FLOATS & ~KILN__HAS_F64},
    {"log2", KILN__HAS_FLOATS & ~KILN__HAS_F64},
    {"lrint", KILN__HAS_FLOATS & ~KILN__HAS_BF16},
    {"lround", KILN__HAS_FLOATS & ~KILN__HAS_BF16},
    {"modf", 0},
    {"pow", KILN__HAS_QUICK_FLOATS},
    {"powi", KILN__HAS_QUICK_FLOATS},
    {"sdiv.fix", 0},
    {"sdiv.fix.sat", 0},
    {"sin", KILN__HAS_QUICK_FLOATS},
    {"sincos", KILN__HAS_QUICK_FLOATS},
    {"sincospi", 0},
    {"sinh", 0},
    {"stackrestore", 0},
    {"stacksave", 0},
    {"tan", 0},
    {"tanh", 0},
    {"udiv.fix", 0},
    {"udiv.fix.sat", 0},
    {NULL, 0},
};

/* ---- the target's own ---- */

/* A name ends, or goes on with a type after a dot. */
static int is_named_in(const char *const *list, const char *name)
{
    for (; *list != NULL; list++) {
        const size_t size = strlen(*list);

        if (strncmp(name, *list, size) == 0 &&
            (name[size] == '\0' || name[size] == '.'))
            return 1;
    }
    return 0;
}

/* Formatted accesses are of words, or of half words in some processors. */
static int is_narrow_format(LLVMValueRef call, const char *name)
{
    LLVMTypeRef type = LLVMTypeOf(call);

    if (strstr(name, "tbuffer.") == NULL)
        return 0;
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        type = LLVMTypeOf(LLVMGetOperand(call, 0));
    type = kiln__lane_type(type);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(type) < 16;
}

const char *kiln__rocm_refuse_own(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name)
{
    static const char *const shaders[] = {
        "image", "interp",  "exp", "lds.direct", "lds.param",
        "kill",  "ps.live", "wqm", "softwqm",    NULL};
    static const char *const internal[] = {
        "if",       "else",           "loop", "end.cf", "lds.kernel.id",
        "cs.chain", "reloc.constant", NULL};

    if (is_narrow_format(call, name))
        return "LLVM has no code for it on this type and target";
    if (is_named_in(shaders, name))
        return "it is for shaders of graphics";
    if (is_named_in(internal, name))
        return "LLVM or a linker uses it after kernels are made";
    return kiln__rocm_has_intrinsic(job, call, name)
               ? NULL
               : "the processor has no such instruction";
}
