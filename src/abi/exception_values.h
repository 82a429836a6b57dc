/* exception_values.h - which number says of which kind a reported value is. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ABI_EXCEPTION_VALUES_H
#define KILN_ABI_EXCEPTION_VALUES_H

#include "abi/scalars.h"
#include "kiln/error.h"

/*
 * Generated code reports the value of an inexact conversion as 64 bits, and
 * KILN_VALUE_... says how to read them. A float has its kind there; integers
 * are widened, so only their sign matters.
 */
#define KILN__FLOAT_VALUE_MAP(X) \
    X(F64) \
    X(F32) \
    X(F16) \
    X(BF16)

#define KILN__IS_FLOAT(name, category, ...) \
    +(KILN__SCALAR_##category == KILN__SCALAR_FLOAT)
#define KILN__ONE(name) +1
_Static_assert((0 KILN__SCALAR_MAP(KILN__IS_FLOAT)) ==
                   (0 KILN__FLOAT_VALUE_MAP(KILN__ONE)),
               "each float has a KILN_VALUE_...");
#undef KILN__ONE
#undef KILN__IS_FLOAT

/* Returns KILN_VALUE_... of values of the kind. */
static inline int64_t kiln__value_of_kind(int32_t kind)
{
    switch (kind) {
#define KILN__X(name) \
    case KILN_TYPE_##name: \
        return KILN_VALUE_##name;
        KILN__FLOAT_VALUE_MAP(KILN__X)
#undef KILN__X
    default:
        return kiln__kind_is_signed(kind) ? KILN_VALUE_I64 : KILN_VALUE_U64;
    }
}

/* Returns the kind of float that KILN_VALUE_... stands for, or KILN_TYPE_NONE:
   it is an integer. */
static inline int32_t kiln__float_of_value(int64_t value)
{
    switch (value) {
#define KILN__X(name) \
    case KILN_VALUE_##name: \
        return KILN_TYPE_##name;
        KILN__FLOAT_VALUE_MAP(KILN__X)
#undef KILN__X
    default:
        return KILN_TYPE_NONE;
    }
}

#endif /* KILN_ABI_EXCEPTION_VALUES_H */
