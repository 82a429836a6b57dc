/* scalars.h - the table of scalar kinds, and what follows from it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ABI_SCALARS_H
#define KILN_ABI_SCALARS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/data/float_bits.h"
#include "base/data/float_text.h"
#include "kiln/type.h"

/*
 * The table has a line for each scalar kind. Sizes, alignments, abstract types,
 * limits, the rounding of constants, LLVM's types, printing and .npy files
 * follow from it. Code that compares with one kind by name is about that kind
 * alone. docs/extending-types.md says how a kind is added.
 *
 *   category     Bool, signed or unsigned integer, or float
 *   bits         the width of a value, at most 64; its size and its alignment
 *                in memory are the same number of whole bytes
 *   significand  for a float: the bits of its significand, with the bit that is
 *                not stored
 *   exponent     for a float: the bits of its exponent
 *   carried      the kind whose LLVM type holds a value in a register: the kind
 *                itself, or an integer where a target may lack the float
 *   arithmetic   the kind in which + - * / and comparisons are computed; each
 *                result is rounded back
 *   mathematics  the same for mathematical functions
 *   npy          the name in .npy files, without the byte order
 */
#define KILN__SCALAR_MAP(X) \
    X(BOOL, BOOL, 1, 0, 0, BOOL, BOOL, BOOL, "b1") \
    X(I8, SIGNED, 8, 0, 0, I8, I8, I8, "i1") \
    X(I16, SIGNED, 16, 0, 0, I16, I16, I16, "i2") \
    X(I32, SIGNED, 32, 0, 0, I32, I32, I32, "i4") \
    X(I64, SIGNED, 64, 0, 0, I64, I64, I64, "i8") \
    X(U8, UNSIGNED, 8, 0, 0, U8, U8, U8, "u1") \
    X(U16, UNSIGNED, 16, 0, 0, U16, U16, U16, "u2") \
    X(U32, UNSIGNED, 32, 0, 0, U32, U32, U32, "u4") \
    X(U64, UNSIGNED, 64, 0, 0, U64, U64, U64, "u8") \
    X(F16, FLOAT, 16, 11, 5, F16, F16, F32, "f2") \
    X(F32, FLOAT, 32, 24, 8, F32, F32, F32, "f4") \
    X(F64, FLOAT, 64, 53, 11, F64, F64, F64, "f8") \
    X(BF16, FLOAT, 16, 8, 8, U16, F32, F32, "V2")

/* The kinds that are no scalars. */
#define KILN__NO_SCALAR_MAP(X) \
    X(NONE) \
    X(TUPLE) \
    X(VECTOR) \
    X(STRUCT) \
    X(ARRAY) \
    X(STATIC) \
    X(FUNCTION) \
    X(TYPE) \
    X(FOREIGN)

typedef enum kiln__scalar_category {
    KILN__NO_SCALAR,
    KILN__SCALAR_BOOL,
    KILN__SCALAR_SIGNED,
    KILN__SCALAR_UNSIGNED,
    KILN__SCALAR_FLOAT
} kiln__scalar_category;

typedef struct kiln__scalar {
    const char *npy;
    uint8_t category; /* kiln__scalar_category */
    uint8_t bits;
    uint8_t significand;
    uint8_t exponent;
    uint8_t carried; /* a kind, as are the next two */
    uint8_t arithmetic;
    uint8_t mathematics;
} kiln__scalar;

#define KILN__ONE(...) +1
_Static_assert((0 KILN__SCALAR_MAP(KILN__ONE) KILN__NO_SCALAR_MAP(KILN__ONE)) ==
                   (0 KILN_TYPE_KIND_MAP(KILN__ONE)),
               "a kind of kiln/type.h is in neither of the two maps");
_Static_assert((0 KILN_TYPE_KIND_MAP(KILN__ONE)) == KILN_TYPE_KIND_COUNT,
               "the kinds have no gap, and the last has the highest number");
#undef KILN__ONE

#define KILN__FITS(name, category, bits, ...) &&(bits) <= 64
_Static_assert(1 KILN__SCALAR_MAP(KILN__FITS),
               "a scalar has at most 64 bits: constants, loops and immediates "
               "are computed in a uint64_t");
#undef KILN__FITS

/* Returns the kind's line. For a kind that is no scalar, all members are 0. */
static inline const kiln__scalar *kiln__scalar_of(int32_t kind)
{
    static const kiln__scalar scalars[KILN_TYPE_KIND_COUNT] = {
#define KILN__X(name, category, bits, significand, exponent, carried, \
                arithmetic, mathematics, npy) \
    [KILN_TYPE_##name] = {npy, \
                          KILN__SCALAR_##category, \
                          bits, \
                          significand, \
                          exponent, \
                          KILN_TYPE_##carried, \
                          KILN_TYPE_##arithmetic, \
                          KILN_TYPE_##mathematics},
        KILN__SCALAR_MAP(KILN__X)
#undef KILN__X
    };

    return &scalars[kind >= 0 && kind < KILN_TYPE_KIND_COUNT ? kind : 0];
}

static inline int kiln__kind_is_scalar(int32_t kind)
{
    return kiln__scalar_of(kind)->category != KILN__NO_SCALAR;
}

static inline int kiln__kind_is_signed(int32_t kind)
{
    return kiln__scalar_of(kind)->category == KILN__SCALAR_SIGNED;
}

static inline int kiln__kind_is_integer(int32_t kind)
{
    const int category = kiln__scalar_of(kind)->category;

    return category == KILN__SCALAR_SIGNED || category == KILN__SCALAR_UNSIGNED;
}

static inline int kiln__kind_is_float(int32_t kind)
{
    return kiln__scalar_of(kind)->category == KILN__SCALAR_FLOAT;
}

static inline int kiln__kind_is_number(int32_t kind)
{
    return kiln__kind_is_integer(kind) || kiln__kind_is_float(kind);
}

/* Returns the width in bits: 1 for Bool, 0 for a kind that is no scalar. */
static inline uint32_t kiln__kind_width(int32_t kind)
{
    return kiln__scalar_of(kind)->bits;
}

/* Returns the size of a value in memory, which is also its alignment. */
static inline uint32_t kiln__kind_bytes(int32_t kind)
{
    return (kiln__kind_width(kind) + 7) / 8;
}

/* Returns the bit of the kind in a set of kinds. */
static inline uint32_t kiln__kind_bit(int32_t kind)
{
    return UINT32_C(1) << kind;
}

_Static_assert(KILN_TYPE_KIND_COUNT <= 32, "a set of kinds is 32 bits");

/* Returns the set of all scalars. */
static inline uint32_t kiln__scalar_kinds(void)
{
#define KILN__X(name, ...) | UINT32_C(1) << KILN_TYPE_##name
    return 0 KILN__SCALAR_MAP(KILN__X);
#undef KILN__X
}

/* Returns the name of a kind. A scalar's name is that of the language. */
static inline const char *kiln__kind_name(int32_t kind)
{
    static const char *const names[KILN_TYPE_KIND_COUNT] = {
#define KILN__X(name, number, text) [number] = text,
        KILN_TYPE_KIND_MAP(KILN__X)
#undef KILN__X
    };

    return names[kind];
}

/* Returns the scalar of that name, or KILN_TYPE_NONE. "bool" means Bool. */
static inline int32_t kiln__scalar_named(const char *name, size_t size)
{
    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++)
        if (kiln__kind_is_scalar(kind) &&
            strlen(kiln__kind_name(kind)) == size &&
            memcmp(kiln__kind_name(kind), name, size) == 0)
            return kind;
    return size == 4 && memcmp(name, "bool", size) == 0 ? KILN_TYPE_BOOL
                                                        : KILN_TYPE_NONE;
}

/* ---- values of floats (float_bits.h) ---- */

static inline int kiln__float_bias(int32_t kind)
{
    return kiln__float_bias_of(kiln__scalar_of(kind)->exponent);
}

static inline int kiln__float_scale(int32_t kind, double value)
{
    return kiln__float_scale_of(kiln__scalar_of(kind)->exponent, value);
}

/* Rounds to the nearest value of the kind, ties to even. */
static inline double kiln__float_round(int32_t kind, double value)
{
    return kind == KILN_TYPE_F64
               ? value
               : kiln__float_nearest(kiln__scalar_of(kind)->significand,
                                     kiln__scalar_of(kind)->exponent, value);
}

/* Writes a value of the kind with the fewest digits; returns `out`. */
static inline const char *kiln__float_print(char out[KILN__FLOAT_TEXT],
                                            int32_t kind, double value)
{
    return kiln__float_text(out, value, kiln__scalar_of(kind)->significand,
                            kiln__scalar_of(kind)->exponent);
}

/* Returns the bits of the nearest value of the kind. */
static inline uint64_t kiln__float_bits(int32_t kind, double value)
{
    const int stored = kiln__scalar_of(kind)->significand - 1;
    const uint64_t sign = signbit(value) ? UINT64_C(1) : 0;
    uint64_t bits = (UINT64_C(1) << kiln__scalar_of(kind)->exponent) - 1;
    int scale;

    if (kind == KILN_TYPE_F64) {
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    value = fabs(kiln__float_round(kind, value));
    bits <<= stored;
    if (isnan(value)) {
        bits |= UINT64_C(1) << (stored - 1);
    } else if (isfinite(value)) {
        /* Adding the significand with its leading bit, which is not stored,
           carries into the exponent. */
        scale = kiln__float_scale(kind, value);
        bits = (uint64_t)(scale - 2 + kiln__float_bias(kind)) << stored;
        bits += (uint64_t)ldexp(value, stored + 1 - scale);
    }
    return bits | sign << (kiln__kind_width(kind) - 1);
}

/* Returns the value of the kind that has these bits. */
static inline double kiln__float_value(int32_t kind, uint64_t bits)
{
    const int stored = kiln__scalar_of(kind)->significand - 1;
    const int most = (1 << kiln__scalar_of(kind)->exponent) - 1;
    const int exponent = (int)(bits >> stored) & most;
    const double fraction = (double)(bits & ((UINT64_C(1) << stored) - 1));
    double size;

    if (exponent == most)
        size = fraction > 0 ? (double)NAN : (double)INFINITY;
    else
        size = ldexp(exponent == 0 ? fraction : fraction + ldexp(1, stored),
                     (exponent == 0 ? 1 : exponent) - kiln__float_bias(kind) -
                         stored);
    return bits >> (kiln__kind_width(kind) - 1) & 1 ? -size : size;
}

#endif /* KILN_ABI_SCALARS_H */
