/* facts_plan.h - facts as launches evaluate them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_FACTS_PLAN_H
#define KILN_BACKENDS_FACTS_PLAN_H

#include "backends/facts.h"

/* ---- facts_compute.c: instructions of the artifact ---- */

typedef struct kiln__fact {
    uint8_t operation;
    uint8_t width;
    uint16_t a, b, c;
} kiln__fact;

kiln__fact kiln__fact_at(const void *facts, size_t index);
uint32_t kiln__fact_immediate(const kiln__fact *f);
unsigned kiln__fact_operands(unsigned operation);
/* Computes any operation but those that read the launch, and CONSTANT. The
   second operand of HIGH and EXTEND is the number in the instruction. */
uint64_t kiln__fact_compute(unsigned operation, unsigned width,
                            const uint64_t operands[3]);

/* ---- steps ---- */

#define KILN__SIGNED(value) ((int64_t)(value))

/*
 * X(name, result of a, b and c): the steps of a plan. They compute with 64
 * bits. The first ones are instructions whose result needs no cutting; then
 * come pairs of such instructions, of which the first is used once.
 */
#define KILN__STEP_MAP(X) \
    X(ADD, a + b) \
    X(SUB, a - b) \
    X(MUL, (a * b)) \
    X(AND, (a & b)) \
    X(OR, a | b) \
    X(XOR, a ^ b) \
    X(UMIN, a < b ? a : b) \
    X(UMAX, a > b ? a : b) \
    X(SMIN, KILN__SIGNED(a) < KILN__SIGNED(b) ? a : b) \
    X(SMAX, KILN__SIGNED(a) > KILN__SIGNED(b) ? a : b) \
    X(EQ, a == b) \
    X(NE, a != b) \
    X(ULT, a < b) \
    X(ULE, a <= b) \
    X(SLT, KILN__SIGNED(a) < KILN__SIGNED(b)) \
    X(SLE, KILN__SIGNED(a) <= KILN__SIGNED(b)) \
    X(SELECT, a != 0 ? b : c) \
    X(AND_ULT, (uint64_t)(a < b) & c) \
    X(AND_ULE, (uint64_t)(a <= b) & c) \
    X(AND_SLT, (uint64_t)(KILN__SIGNED(a) < KILN__SIGNED(b)) & c) \
    X(AND_SLE, (uint64_t)(KILN__SIGNED(a) <= KILN__SIGNED(b)) & c) \
    X(OR_ULT, (uint64_t)(a < b) | c) \
    X(OR_ULE, (uint64_t)(a <= b) | c) \
    X(OR_SLT, (uint64_t)(KILN__SIGNED(a) < KILN__SIGNED(b)) | c) \
    X(OR_SLE, (uint64_t)(KILN__SIGNED(a) <= KILN__SIGNED(b)) | c) \
    X(MUL_MUL, (a * b * c)) \
    X(MUL_ADD, (a * b + c)) \
    X(OR_OR, a | b | c) \
    X(ADD_ULT, a + b < c) \
    X(MUL_ULT, (a * b < c)) \
    X(OR_ULT_ALL, (a | b) < c) \
    X(ADD_SLT, KILN__SIGNED(a + b) < KILN__SIGNED(c)) \
    X(ANY, any(at, a, b, c)) /* kiln__fact_compute() */

/* A step STORE_... stores its result. A step CHECK_... ends the evaluation when
   its result is 0: the facts do not hold. */
enum {
#define KILN__STEP_NUMBER(name, result) KILN__STORE_##name, KILN__CHECK_##name,
    KILN__STEP_MAP(KILN__STEP_NUMBER)
#undef KILN__STEP_NUMBER
        KILN__STEP_HOLD, /* the end: all facts hold */
    KILN__STEP_FAIL      /* the end: some fact never does */
};
#define KILN__STORE_TO_CHECK 1

typedef struct kiln__facts_step {
    uint8_t step;
    uint8_t operation, width; /* of ANY */
    uint16_t to, a, b, c;     /* numbers of slots */
} kiln__facts_step;

/*
 * A plan computes with *slots*. The first ones are the numbers of the launch
 * that the facts read: words of 8 bytes of the arguments, sizes of the shape,
 * and shorter words. Constants follow, then what is computed.
 */
#define KILN__FACTS_SLOTS (3 * KILN__FACTS_MOST)

typedef struct kiln__facts_input {
    uint32_t at; /* offset among the arguments, or number in the shape */
    uint32_t size;
} kiln__facts_input;

typedef struct kiln__facts_plan {
    kiln__facts_input *inputs;
    uint32_t word_count, shape_count, input_count; /* input_count: of all */
    uint32_t constant_count, step_count;
    uint64_t *constants;
    kiln__facts_step *steps;
} kiln__facts_plan;

/* ---- facts_plan.c ---- */

/* Makes the plan of a program that fits. */
kiln_status kiln__facts_plan_make(kiln__facts_plan *out,
                                  const kiln_alloc *alloc, const void *facts,
                                  size_t size);
void kiln__facts_plan_free(const kiln__facts_plan *plan,
                           const kiln_alloc *alloc);

#endif /* KILN_BACKENDS_FACTS_PLAN_H */
