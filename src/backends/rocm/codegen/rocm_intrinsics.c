/* rocm_intrinsics.c - what LLVM has for AMD's of its intrinsics. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/rocm/codegen/rocm_codegen.h"

/*
 * For whatever is not here it ends the process, or has instructions that are
 * far off for large operands. Mathematics comes from a library.
 */

#define FLOATS (KILN__HAS_F16 | KILN__HAS_BF16 | KILN__HAS_F32 | KILN__HAS_F64)
#define EXACT (KILN__HAS_F32 | KILN__HAS_F64)
#define APPROXIMATE \
    (KILN__HAS_F16 | KILN__HAS_BF16 | KILN__HAS_F32 | KILN__HAS_APPROXIMATE)

const kiln__foreign_limit kiln__rocm_limits[] = {
    {"acos", 0},
    {"arithmetic.fence", EXACT},
    {"asin", 0},
    {"atan", 0},
    {"atan2", 0},
    {"clmul", 0},
    {"cos", APPROXIMATE},
    {"cosh", 0},
    {"exp", FLOATS & ~KILN__HAS_F64},
    {"exp10", FLOATS & ~KILN__HAS_F64},
    {"exp2", FLOATS & ~KILN__HAS_F64},
    {"experimental.constrained.acos", 0},
    {"experimental.constrained.asin", 0},
    {"experimental.constrained.atan", 0},
    {"experimental.constrained.atan2", 0},
    {"experimental.constrained.cos", 0},
    {"experimental.constrained.cosh", 0},
    {"experimental.constrained.exp", 0},
    {"experimental.constrained.exp2", 0},
    {"experimental.constrained.fdiv", 0},
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
    {"fptosi.sat", FLOATS},
    {"fptoui.sat", FLOATS},
    {"llrint", FLOATS & ~KILN__HAS_BF16},
    {"llround", FLOATS & ~KILN__HAS_BF16},
    {"log", FLOATS & ~KILN__HAS_F64},
    {"log10", FLOATS & ~KILN__HAS_F64},
    {"log2", FLOATS & ~KILN__HAS_F64},
    {"lrint", FLOATS & ~KILN__HAS_BF16},
    {"lround", FLOATS & ~KILN__HAS_BF16},
    {"modf", 0},
    {"pow", APPROXIMATE},
    {"powi", APPROXIMATE},
    {"sdiv.fix", 0},
    {"sdiv.fix.sat", 0},
    {"sin", APPROXIMATE},
    {"sincos", APPROXIMATE},
    {"sinh", 0},
    {"stackrestore", 0},
    {"stacksave", 0},
    {"tan", 0},
    {"tanh", 0},
    {"udiv.fix", 0},
    {"udiv.fix.sat", 0},
    {NULL, 0},
};
