/* facts_abi.h - conditions on a launch, as a kernel's artifact holds them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ABI_FACTS_ABI_H
#define KILN_ABI_FACTS_ABI_H

#include <stdint.h>

/*
 * A kernel for a device may have two entries: one for any launch, which has the
 * kernel's name, and a faster one with this suffix, for launches of which the
 * artifact's facts hold. *Facts* are a straight-line program that
 * libkiln-codegen makes and libkiln evaluates at each launch: KILN__FACT_BYTES
 * for each instruction,
 *
 *   operation, width in bits, a, b, c    1, 1, 2, 2 and 2 bytes, little-endian
 *
 * Instruction i computes value i. Operands are numbers of values before it. A
 * value is an unsigned number of the operation's width, and operations wrap.
 * The facts hold if the last value is 1.
 */
#define KILN__FACT_BYTES 8u
#define KILN__FACTS_MOST 512u /* instructions */
#define KILN__FACTS_SUFFIX "_known"

/* A launch's shape, for KILN__FACT_SHAPE: 3 sizes of the grid in items, 3 of a
   group, 3 of the grid in groups. */
#define KILN__FACT_SHAPES 9u

/* X(name, operands): a, then b, then c. Comparisons give 0 or 1; their width is
   that of the operands, and so is that of the questions whether an operation
   overflows. */
#define KILN__FACT_MAP(X) \
    X(CONSTANT, 0) /* b and c: the low 32 bits, with their sign */ \
    X(HIGH, 1)     /* the low half of a; b and c: the high half */ \
    X(WORD, 0)     /* a bytes at b + 65536 c of the packed arguments */ \
    X(SHAPE, 0)    /* number a of the launch's shape */ \
    X(ADD, 2) \
    X(SUB, 2) \
    X(MUL, 2) \
    X(AND, 2) \
    X(OR, 2) \
    X(XOR, 2) \
    X(SHL, 2) \
    X(LSHR, 2) \
    X(ASHR, 2) \
    X(UDIV, 2) \
    X(UREM, 2) \
    X(SDIV, 2) \
    X(SREM, 2) \
    X(UMIN, 2) \
    X(UMAX, 2) \
    X(SMIN, 2) \
    X(SMAX, 2) \
    X(EQ, 2) \
    X(NE, 2) \
    X(ULT, 2) \
    X(ULE, 2) \
    X(SLT, 2) \
    X(SLE, 2) \
    X(UADD_WRAPS, 2) \
    X(USUB_WRAPS, 2) \
    X(UMUL_WRAPS, 2) \
    X(SADD_WRAPS, 2) \
    X(SSUB_WRAPS, 2) \
    X(SMUL_WRAPS, 2) \
    X(SELECT, 3) /* b where a is not 0, else c */ \
    X(CUT, 1)    /* the low bits */ \
    X(EXTEND, 1) /* a number of b bits, with its sign */

enum {
#define KILN__FACT_NUMBER(name, operands) KILN__FACT_##name,
    KILN__FACT_MAP(KILN__FACT_NUMBER)
#undef KILN__FACT_NUMBER
        KILN__FACT_COUNT
};

#endif /* KILN_ABI_FACTS_ABI_H */
