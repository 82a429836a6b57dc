/* cuda_intrinsics.c - what LLVM has for NVIDIA's of its intrinsics. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/cuda/codegen/cuda_codegen.h"

/*
 * For whatever is not here it ends the process. Mathematics comes from a
 * library.
 */

#define FLOATS (KILN__HAS_F16 | KILN__HAS_BF16 | KILN__HAS_F32 | KILN__HAS_F64)
#define EXACT (KILN__HAS_F32 | KILN__HAS_F64)
#define APPROXIMATE \
    (KILN__HAS_F16 | KILN__HAS_BF16 | KILN__HAS_F32 | KILN__HAS_APPROXIMATE)

const kiln__foreign_limit kiln__cuda_limits[] = {
    {"acos", 0},
    {"asin", 0},
    {"atan", 0},
    {"atan2", 0},
    {"canonicalize", EXACT},
    {"clmul", 0},
    {"cos", APPROXIMATE},
    {"cosh", 0},
    {"exp", 0},
    {"exp10", 0},
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
    {"frexp", EXACT},
    {"llrint", 0},
    {"llround", 0},
    {"log", 0},
    {"log10", 0},
    {"log2", 0},
    {"lrint", 0},
    {"lround", 0},
    {"modf", 0},
    {"pow", 0},
    {"powi", 0},
    {"sdiv.fix", 0},
    {"sdiv.fix.sat", 0},
    {"sin", APPROXIMATE},
    {"sincos", 0},
    {"sinh", 0},
    {"smul.fix", 0},
    {"tan", 0},
    {"tanh", KILN__HAS_F32 | KILN__HAS_APPROXIMATE},
    {"udiv.fix", 0},
    {"udiv.fix.sat", 0},
    {"umul.fix", 0},
    {NULL, 0},
};
