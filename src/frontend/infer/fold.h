/* fold.h - arithmetic on constants, which is exact or refused. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FOLD_H
#define KILN_FOLD_H

#include "ir/ir.h"

/* Wide enough for every integer type, and for sums and products of small
   integers. A result that exceeds even this range is an error. */
__extension__ typedef __int128 kiln__wide;

typedef struct kiln__constant {
    int32_t is_float;
    int32_t rest;       /* of a float literal: the sign of what `real` lacks */
    kiln__wide integer; /* also of a Bool */
    double real;
} kiln__constant;

typedef enum kiln__fold {
    KILN__FOLD_OK,
    KILN__FOLD_RANGE,  /* the result is out of the range of constants */
    KILN__FOLD_ZERO,   /* divides by zero */
    KILN__FOLD_REFUSED /* the operator is not for such constants */
} kiln__fold;

/* Classes of operators. */
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
    kiln__ir_op op; /* of POWER and UNARY: NONE */
    kiln__operator_class class;
} kiln__operator;

/* Untyped arithmetic, on exact integers and f64. Comparisons return 0 or 1. An
   integer beside a float must be one that f64 holds. */
kiln__fold kiln__fold_binary(kiln__constant *out,
                             const kiln__operator *operator,
                             const kiln__constant * a, const kiln__constant *b);
/* Folds "-" and "~". */
kiln__fold kiln__fold_unary(kiln__constant *out, char operator,
                            const kiln__constant * a);

/* True when the integer fits the integer kind. */
int kiln__fold_fits(kiln__wide value, int32_t kind);
/* Keeps as many low bits as the kind has. */
kiln__wide kiln__fold_wrap(kiln__wide value, int32_t kind);
kiln__wide kiln__fold_least(int32_t kind);
kiln__wide kiln__fold_most(int32_t kind);
/* Converts the constant to the scalar kind. An implicit conversion must be
   exact, except that floats are rounded; an explicit one also rounds integers.
   False: the constant does not fit. */
int kiln__fold_convert(kiln__constant *out, const kiln__constant *from,
                       int32_t kind, int is_explicit);
/* Returns the immediate of a CONST node. The constant must fit the kind. */
int64_t kiln__fold_bits(const kiln__constant *constant, int32_t kind);
/* True for a double that is an integer in this range; stores it. */
int kiln__fold_integral(double value, kiln__wide *out);
/* Writes any kiln__wide in decimal; the macro is the room that this takes. */
#define KILN__WIDE_TEXT 48
const char *kiln__wide_text(char text[KILN__WIDE_TEXT], kiln__wide value);

#endif /* KILN_FOLD_H */
