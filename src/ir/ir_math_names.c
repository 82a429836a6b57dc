/* ir_math_names.c - names of mathematical functions in devices' libraries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/ir_math_names.h"

#include <stdio.h>
#include <string.h>

#include "ir/ir.h"
#include "ir/ir_tables.h"

/* True for what is no function of a library on any device: LLVM has code for
   it. */
static int is_code(uint32_t operation)
{
    switch (operation) {
    case KILN__MATH_SQRT:
    case KILN__MATH_RSQRT:
    case KILN__MATH_FMA:
    case KILN__MATH_FLOOR:
    case KILN__MATH_CEIL:
    case KILN__MATH_ROUND:
    case KILN__MATH_RINT:
    case KILN__MATH_TRUNC:
    case KILN__MATH_COPYSIGN:
    case KILN__MATH_ISNAN:
    case KILN__MATH_ISINF:
    case KILN__MATH_ISFINITE:
        return 1;
    default:
        return kiln__ir_math[operation].domain != KILN__DOMAIN_FLOAT;
    }
}

int kiln__device_math_name(char out[KILN__MATH_NAME_SIZE], int names,
                           uint32_t operation, int32_t kind)
{
    const char *name = kiln__ir_math[operation].text; /* which is C's, too */
    const int is_f32 = kind == KILN_TYPE_F32;
    const char *letters = is_f32 ? "fff" : "ddd";

    if (is_code(operation) || names == KILN__NAMES_NONE)
        return 0;
    if (names == KILN__NAMES_LIBDEVICE)
        snprintf(out, KILN__MATH_NAME_SIZE, "__nv_%s%s", name,
                 is_f32 ? "f" : "");
    else if (names == KILN__NAMES_OCML)
        snprintf(out, KILN__MATH_NAME_SIZE, "__ocml_%s_f%d", name,
                 is_f32 ? 32 : 64);
    else
        snprintf(out, KILN__MATH_NAME_SIZE, "_Z%zu%s%.*s", strlen(name), name,
                 (int)kiln__ir_math[operation].count, letters);
    return 1;
}
