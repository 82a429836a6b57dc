/* ir_math_names.c - names of mathematical functions in devices' libraries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/ir_math_names.h"

#include <stdio.h>
#include <string.h>

#include "ir/ir.h"

/* C's name, from which the other names are made, and the number of operands. */
static const struct function {
    const char *name; /* NULL: there is no function */
    int operands;
} functions[KILN__MATH_COUNT] = {
    [KILN__MATH_CBRT] = {"cbrt", 1},     [KILN__MATH_EXP] = {"exp", 1},
    [KILN__MATH_EXP2] = {"exp2", 1},     [KILN__MATH_EXP10] = {"exp10", 1},
    [KILN__MATH_EXPM1] = {"expm1", 1},   [KILN__MATH_LOG] = {"log", 1},
    [KILN__MATH_LOG2] = {"log2", 1},     [KILN__MATH_LOG10] = {"log10", 1},
    [KILN__MATH_LOG1P] = {"log1p", 1},   [KILN__MATH_SIN] = {"sin", 1},
    [KILN__MATH_COS] = {"cos", 1},       [KILN__MATH_TAN] = {"tan", 1},
    [KILN__MATH_ASIN] = {"asin", 1},     [KILN__MATH_ACOS] = {"acos", 1},
    [KILN__MATH_ATAN] = {"atan", 1},     [KILN__MATH_ATAN2] = {"atan2", 2},
    [KILN__MATH_SINH] = {"sinh", 1},     [KILN__MATH_COSH] = {"cosh", 1},
    [KILN__MATH_TANH] = {"tanh", 1},     [KILN__MATH_ASINH] = {"asinh", 1},
    [KILN__MATH_ACOSH] = {"acosh", 1},   [KILN__MATH_ATANH] = {"atanh", 1},
    [KILN__MATH_ERF] = {"erf", 1},       [KILN__MATH_ERFC] = {"erfc", 1},
    [KILN__MATH_TGAMMA] = {"tgamma", 1}, [KILN__MATH_LGAMMA] = {"lgamma", 1},
    [KILN__MATH_POW] = {"pow", 2},       [KILN__MATH_HYPOT] = {"hypot", 2},
    [KILN__MATH_FMOD] = {"fmod", 2},
};

int kiln__device_math_name(char out[KILN__MATH_NAME_SIZE], int names,
                           uint32_t operation, int32_t kind)
{
    const struct function *f = &functions[operation];
    const int is_f32 = kind == KILN_TYPE_F32;
    const char *letters = is_f32 ? "ff" : "dd";

    if (f->name == NULL || names == KILN__NAMES_NONE)
        return 0;
    if (names == KILN__NAMES_LIBDEVICE)
        snprintf(out, KILN__MATH_NAME_SIZE, "__nv_%s%s", f->name,
                 is_f32 ? "f" : "");
    else if (names == KILN__NAMES_OCML)
        snprintf(out, KILN__MATH_NAME_SIZE, "__ocml_%s_f%d", f->name,
                 is_f32 ? 32 : 64);
    else
        snprintf(out, KILN__MATH_NAME_SIZE, "_Z%zu%s%.*s", strlen(f->name),
                 f->name, f->operands, letters);
    return 1;
}
