/* facts_graph.h - facts of a launch while they are simplified. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_FACTS_FACTS_GRAPH_H
#define KILN_CODEGEN_FACTS_FACTS_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "abi/facts_abi.h"
#include "base/data/arena.h"
#include "codegen/facts/facts_writer.h"

/*
 * A graph holds instructions of abi/facts_abi.h, each of them once. Whoever
 * adds one gets the number of a value that is the same for every launch: often
 * that of a simpler instruction, or of one that is there already. Operands come
 * before what uses them.
 *
 * Everything wraps here, as in the program that a launch evaluates. Nothing is
 * assumed beyond what the graph was told by kiln__graph_limit(). It stands for
 * terms that the caller keeps beside the graph's own result.
 */

#define KILN__FACT_NONE UINT32_MAX /* the number of no value */

/* That x + distance < y, as integers that do not wrap. x or y may be NONE,
   which is 0. */
typedef struct kiln__fact_less {
    uint32_t x, y;
    int64_t distance;
} kiln__fact_less;

typedef struct kiln__fact_node {
    uint8_t operation;
    uint8_t width; /* of the operation; a truth has one bit all the same */
    uint32_t operands[3];
    uint64_t number; /* of a CONSTANT; where a WORD or a SHAPE is read */
    /* What the value can be: a signed number if it has 64 bits, else an
       unsigned one. */
    int64_t least, most;
    kiln__fact_less less; /* what SLT and SLE say, if has_less */
    uint8_t has_less;
    uint32_t opposite; /* of a truth, once it was asked for; or NONE */
    uint32_t chain;    /* the next node of the same hash, or NONE */
} kiln__fact_node;

typedef struct kiln__facts_graph {
    kiln__arena *arena;
    kiln__fact_node *at;
    uint32_t count, room;
    uint32_t *buckets;
    int failed; /* memory lacked, or there were too many nodes */
} kiln__facts_graph;

/* ---- facts_graph.c: the nodes ---- */
/* A graph whose memory is the arena's. Failing shows in `failed`, and then each
   value is NONE. */
kiln__facts_graph kiln__graph_new(kiln__arena *arena);
unsigned kiln__graph_operands(unsigned operation);
/* True for a value that is 0 or 1. */
int kiln__graph_is_truth(const kiln__facts_graph *g, uint32_t value);
/* True for a signed number of 64 bits. */
int kiln__graph_is_whole(const kiln__facts_graph *g, uint32_t value);
/* Tells whether the value is a constant, and which. */
int kiln__graph_constant_of(const kiln__facts_graph *g, uint32_t value,
                            uint64_t *out);
uint32_t kiln__graph_constant(kiln__facts_graph *g, unsigned width,
                              uint64_t number);
/* Adds a WORD of `size` bytes at an offset, or a SHAPE's number. */
uint32_t kiln__graph_word(kiln__facts_graph *g, unsigned width, uint32_t size,
                          uint32_t offset);
uint32_t kiln__graph_shape(kiln__facts_graph *g, unsigned width,
                           uint32_t number);
/* Adds an instruction as it stands. */
uint32_t kiln__graph_add(kiln__facts_graph *g, unsigned operation,
                         unsigned width, const uint32_t operands[3]);
/* Tells that the value is from `least` to `most`. What was made of it before
   knows nothing of that. */
void kiln__graph_limit(kiln__facts_graph *g, uint32_t value, int64_t least,
                       int64_t most);

/* ---- facts_range.c ---- */
/* Sets what a node can be, from its operands. */
void kiln__graph_find_range(const kiln__facts_graph *g, kiln__fact_node *n);

/* ---- facts_fold.c ---- */
/* Adds an instruction, or finds a value that is the same. Of EXTEND the second
   operand is a number of bits. NONE if an operand is NONE. */
uint32_t kiln__graph_make(kiln__facts_graph *g, unsigned operation,
                          unsigned width, const uint32_t operands[3]);
/* The same for two operands. */
static inline uint32_t kiln__graph_binary(kiln__facts_graph *g,
                                          unsigned operation, unsigned width,
                                          uint32_t a, uint32_t b)
{
    return kiln__graph_make(g, operation, width, (const uint32_t[]){a, b, 0});
}

/* ---- facts_compare.c: signed numbers of 64 bits ---- */
/* A value that is `base` plus a number, which never wraps. Without a base it is
   the number. */
typedef struct kiln__fact_sum {
    uint32_t base;
    int64_t plus;
} kiln__fact_sum;

kiln__fact_sum kiln__graph_sum_of(const kiln__facts_graph *g, uint32_t value);
/* Sets what a comparison says. */
void kiln__graph_find_less(const kiln__facts_graph *g, kiln__fact_node *n);
/* Makes SLT or SLE of two values, or NONE where there is nothing better than
   the instruction itself. */
uint32_t kiln__graph_compare(kiln__facts_graph *g, unsigned operation,
                             uint32_t a, uint32_t b);
/* The same for SMIN and SMAX. */
uint32_t kiln__graph_extreme(kiln__facts_graph *g, unsigned operation,
                             uint32_t a, uint32_t b);

/* ---- facts_truth.c ---- */
uint32_t kiln__graph_not(kiln__facts_graph *g, uint32_t truth);
/* Makes AND or OR of truths. */
uint32_t kiln__graph_join(kiln__facts_graph *g, unsigned operation, uint32_t a,
                          uint32_t b);

/* ---- facts_read.c ---- */
/* Adds the instructions of a program, in which operands have the width of what
   uses them. Returns the value of the last one. */
uint32_t kiln__graph_read(kiln__facts_graph *g, const void *facts,
                          size_t count);

/* ---- facts_terms.c ---- */
/* Writes a short program that is 1 where the truth `result` is. It may be too
   long: then the writer has failed. */
void kiln__graph_write(kiln__facts_graph *g, uint32_t result,
                       kiln__facts_writer *out);

#endif /* KILN_CODEGEN_FACTS_FACTS_GRAPH_H */
