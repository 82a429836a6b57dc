/* fold.h - arithmetic on constants, exact or refused. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FOLD_H
#define KILN_FOLD_H

#include "ir/ir.h"

/* Wide enough for every integer type and the sum or product of small ones;
   what leaves even this range is an error. */
__extension__ typedef __int128 kiln__wide;

typedef struct kiln__constant {
    int32_t is_float;
    kiln__wide integer; /* also Bool */
    double real;
} kiln__constant;

typedef enum kiln__fold {
    KILN__FOLD_OK,
    KILN__FOLD_RANGE,  /* leaves the range of constants */
    KILN__FOLD_ZERO,   /* divides by zero */
    KILN__FOLD_REFUSED /* not for such constants */
} kiln__fold;

/* What an operator does. */
typedef enum kiln__operator_class {
    KILN__OPERATOR_ARITHMETIC, /* + - * / // % */
    KILN__OPERATOR_BITS,       /* & | ^ */
    KILN__OPERATOR_SHIFT,
    KILN__OPERATOR_EQUALITY,
    KILN__OPERATOR_ORDER,
    KILN__OPERATOR_POWER,
    KILN__OPERATOR_UNARY /* ! and ~; a sign is ARITHMETIC */
} kiln__operator_class;

typedef struct kiln__operator {
    const char *text;
    kiln__ir_op op; /* POWER and UNARY: NONE */
    kiln__operator_class class;
} kiln__operator;

/* Untyped arithmetic: exact integers, f64. Comparisons give 0 or 1. */
kiln__fold kiln__fold_binary(kiln__constant *out,
                             const kiln__operator *operator,
                             const kiln__constant * a, const kiln__constant *b);
/* "-" and "~". */
kiln__fold kiln__fold_unary(kiln__constant *out, char operator,
                            const kiln__constant * a);

/* Does the integer fit the integer kind? */
int kiln__fold_fits(kiln__wide value, int32_t kind);
/* Keeps the low bits that the kind has. */
kiln__wide kiln__fold_wrap(kiln__wide value, int32_t kind);
kiln__wide kiln__fold_least(int32_t kind);
kiln__wide kiln__fold_most(int32_t kind);
/* The constant as one of the scalar kind. An implicit conversion must be
   exact, except that floats are rounded; an explicit one rounds integers too.
   False: it does not fit. */
int kiln__fold_convert(kiln__constant *out, const kiln__constant *from,
                       int32_t kind, int is_explicit);
/* The immediate of a CONST node; the constant fits the kind. */
int64_t kiln__fold_bits(const kiln__constant *constant, int32_t kind);
/* A double that is an integer of this range. */
int kiln__fold_integral(double value, kiln__wide *out);
/* Room for any kiln__wide in decimal, and its text. */
#define KILN__WIDE_TEXT 48
const char *kiln__wide_text(char text[KILN__WIDE_TEXT], kiln__wide value);

#endif /* KILN_FOLD_H */
