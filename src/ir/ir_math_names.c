/* ir_math_names.c - names of mathematical functions in devices' libraries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/ir_math_names.h"

#include <stdio.h>
#include <string.h>

#include "ir/ir.h"
#include "ir/ir_tables.h"

/* Functions that Kiln has for devices: of f32, and of f64. */
static const char *const own[2][40] = {
    {"cos", "exp", "exp10", "exp2", "log", "log10", "log2", "pow", "rsqrt",
     "sin", "tan", "tanh"},
    {"exp", "exp10", "exp2", "log", "log10", "log2", "pow", "rsqrt"},
};

int kiln__math_is_own(const char *name, int is_f64)
{
    for (const char *const *at = own[is_f64 != 0]; *at != NULL; at++)
        if (strcmp(*at, name) == 0)
            return 1;
    return 0;
}

int kiln__strict_math_names(int names)
{
    return names == KILN__NAMES_OWN ? KILN__NAMES_OPENCL : names;
}

int kiln__device_math_name(char out[KILN__MATH_NAME_SIZE], int names,
                           uint32_t operation, int32_t kind)
{
    const char *name = kiln__ir_math[operation].text; /* which is C's, too */
    const int is_f32 = kind == KILN_TYPE_F32;
    const char *letters = is_f32 ? "fff" : "ddd";

    if (names == KILN__NAMES_OWN && kiln__math_is_own(name, !is_f32)) {
        snprintf(out, KILN__MATH_NAME_SIZE, KILN__OWN_PREFIX "%s.f%d", name,
                 is_f32 ? 32 : 64);
        return KILN__FROM_KILN;
    }
    if (kiln__ir_math[operation].home == KILN__HOME_CODE ||
        names == KILN__NAMES_NONE)
        return KILN__FROM_CODE;
    if (names == KILN__NAMES_LIBDEVICE)
        snprintf(out, KILN__MATH_NAME_SIZE, "__nv_%s%s", name,
                 is_f32 ? "f" : "");
    else if (names == KILN__NAMES_OCML)
        snprintf(out, KILN__MATH_NAME_SIZE, "__ocml_%s_f%d", name,
                 is_f32 ? 32 : 64);
    else
        snprintf(out, KILN__MATH_NAME_SIZE, "_Z%zu%s%.*s", strlen(name), name,
                 (int)kiln__ir_math[operation].count, letters);
    return KILN__FROM_LIBRARY;
}
