/* builtins.h - the built-in functions, and the rules by which they are
   inferred. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BUILTINS_H
#define KILN_BUILTINS_H

#include "ir/ir.h"

/* X(text, least, most, operation, class). Operators are functions, and come
   first among the built-in ones. */
#define KILN__OPERATOR_MAP(X) \
    X("+", 2, 2, ADD, ARITHMETIC) \
    X("-", 1, 2, SUB, ARITHMETIC) \
    X("*", 2, 2, MUL, ARITHMETIC) \
    X("/", 2, 2, DIV, ARITHMETIC) \
    X("//", 2, 2, IDIV, ARITHMETIC) \
    X("%", 2, 2, IREM, ARITHMETIC) \
    X("**", 2, 2, NONE, POWER) \
    X("&", 2, 2, AND, BITS) \
    X("|", 2, 2, OR, BITS) \
    X("^", 2, 2, XOR, BITS) \
    X("<<", 2, 2, SHL, SHIFT) \
    X(">>", 2, 2, SHR, SHIFT) \
    X("==", 2, 2, EQ, EQUALITY) \
    X("!=", 2, 2, NE, EQUALITY) \
    X("<", 2, 2, LT, ORDER) \
    X("<=", 2, 2, LE, ORDER) \
    X(">", 2, 2, GT, ORDER) \
    X(">=", 2, 2, GE, ORDER) \
    X("!", 1, 1, NONE, UNARY) \
    X("~", 1, 1, NONE, UNARY)

#define KILN__OPERATOR_ONE(text, least, most, operation, class) +1
enum { KILN__OPERATOR_COUNT = 0 KILN__OPERATOR_MAP(KILN__OPERATOR_ONE) };
#undef KILN__OPERATOR_ONE

typedef enum kiln__builtin_rule {
    KILN__RULE_NONE,
    KILN__RULE_OPERATOR,
    KILN__RULE_QUERY, /* data: KILN__QUERY_ */
    KILN__RULE_LENGTH,
    KILN__RULE_SIZE,
    KILN__RULE_RANK,
    KILN__RULE_MATH, /* data: KILN__MATH_, on one type of its domain */
    KILN__RULE_TEST, /* data: KILN__MATH_, returns Bool */
    KILN__RULE_CLAMP,
    KILN__RULE_SIGN,
    KILN__RULE_SELECT,
    KILN__RULE_LIMIT,   /* data: KILN__LIMIT_ */
    KILN__RULE_CONVERT, /* data: KILN__IR_ */
    KILN__RULE_TRUNC,   /* trunc(x) and trunc(T, x) */
    KILN__RULE_TYPEOF,
    KILN__RULE_STATIC,
    KILN__RULE_VALUE,
    KILN__RULE_ATOMIC, /* data: KILN__ATOMIC_ */
    KILN__RULE_BARRIER,
    KILN__RULE_GROUP, /* data: KILN__GROUP_ */
    KILN__RULE_ALLOCATE,
    KILN__RULE_FREE,
    KILN__RULE_FENCE,
    KILN__RULE_HEAP /* on the heap's words, for package core */
} kiln__builtin_rule;

enum {
    KILN__LIMIT_ZERO,
    KILN__LIMIT_ONE,
    KILN__LIMIT_LEAST,
    KILN__LIMIT_MOST,
    KILN__LIMIT_EPS
};

typedef struct kiln__builtin {
    const char *name;
    kiln__builtin_rule rule;
    uint8_t least; /* least number of arguments */
    uint8_t most;
    int32_t data;
} kiln__builtin;

/* By index; 0 is unused. */
extern const char *const kiln__builtins[];
extern const uint32_t kiln__builtin_count;

/* Uses the same index as kiln__builtins. */
const kiln__builtin *kiln__builtin_at(uint32_t index);

#endif /* KILN_BUILTINS_H */
