/* neutral_meet.h - where items that raised meet the others of their group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_FOREIGN_NEUTRAL_MEET_H
#define KILN_CODEGEN_FOREIGN_NEUTRAL_MEET_H

#include "codegen/module/codegen_job.h"

/*
 * Targets with `converge` (codegen_job.h) give no meaning to a barrier that an
 * item of the group never reaches. There, an item that raised says so to its
 * group and goes on to the next *meeting*: a barrier after which all items ask
 * whether anyone has raised. If so the group is *over*, and its items go from
 * meeting to meeting without doing anything in between.
 *
 * A meeting is at each barrier, and before other calls that all items execute
 * together. Where a branch decides whether items come to a meeting, all items
 * decide alike, or the kernel would be wrong. So a meeting before the branch is
 * right, too, and is added where one may have raised: then nothing is decided
 * on behalf of an item that raised.
 *
 * So the next meeting after a block is found on the chain of its
 * post-dominators, the blocks through which every item comes that goes on from
 * there. It is at the beginning of the first of them that begins with one, or
 * at the end of the first whose branch may lead to a meeting before the
 * following one. Paths that end in an exception do not count.
 */

/*
 * Drivers that compile groups into loops over items need paths that branch and
 * join as those of a program with `if` and `while` do. So an item does not go
 * to a meeting behind the place where its path joins others, or into the middle
 * of a loop. It goes to the block that joins them, or the loop's first one,
 * which sends it on.
 */

typedef enum kiln__meeting_kind {
    KILN__MEETING_NONE,  /* the item is done */
    KILN__MEETING_START, /* at the block's beginning */
    KILN__MEETING_END,   /* before the branch that ends the block */
    KILN__MEETING_JOIN   /* none, but paths join at the block */
} kiln__meeting_kind;

/* Where an item goes that raised, or whose group is over. */
typedef struct kiln__meeting {
    kiln__meeting_kind kind;
    uint32_t block;
} kiln__meeting;

typedef struct kiln__meet_job {
    kiln__codegen_job *job;
    LLVMValueRef function;
    LLVMBuilderRef builder;
    LLVMValueRef meet;   /* KILN__DEVICE_MEET */
    LLVMValueRef raised; /* KILN__DEVICE_RAISED */
} kiln__meet_job;

typedef struct kiln__meet_block {
    LLVMBasicBlockRef block;
    uint32_t number;
} kiln__meet_block;

typedef struct kiln__meet_graph {
    LLVMBasicBlockRef *blocks; /* by number, in the function's order */
    kiln__meet_block *sorted;  /* by address */
    uint32_t count;
    uint32_t *first;      /* by block: the first of its `successors` */
    uint32_t *successors; /* of a block that is not doomed: those that
                             are not; `count` is the end */
    uint32_t *next;       /* by block: its post-dominator */
    uint32_t *loop;       /* by block: the first block of the innermost loop
                             around it; `count`: there is none */
    uint32_t *outer;      /* the same, for a loop around that loop */
    uint8_t *meets;       /* by block: it begins with a meeting */
    uint8_t *joins;       /* by block: it has several predecessors */
    uint8_t *doomed;      /* by block: it raises, and meets nobody before */
    uint8_t *leads;       /* by block: 0 if nobody asked, 1: a meeting may come
                             between the block and `next`, 2: none may */
    uint32_t *stack;
    uint8_t *seen;
} kiln__meet_graph;

/* ---- neutral_meet.c ---- */
/* Puts a meeting into a block of its own before the instruction. Returns the
   block, which begins with the call of `meet` and ends with a jump. */
LLVMBasicBlockRef kiln__meet_add(const kiln__meet_job *m, LLVMValueRef before);

/* Returns the block's first instruction that is no phi. */
LLVMValueRef kiln__meet_after_phis(LLVMBasicBlockRef block);

/* ---- neutral_meet_paths.c ---- */
/* Leads items that raised to meetings, and from each to the next one. Meetings
   begin the blocks that they are in, and `function` returns an i1 that is true
   after it raised. */
kiln_status kiln__meet_add_paths(const kiln__meet_job *meetings);

/* ---- neutral_meet_graph.c ---- */
/* Describes a function whose blocks begin with a call of `meet` where there is
   a meeting, and return true where they raised. Fails with the job. */
kiln_status kiln__meet_graph_make(kiln__meet_graph *out, kiln__codegen_job *job,
                                  LLVMValueRef function, LLVMValueRef meet);
/* Returns the number of one of the blocks. */
uint32_t kiln__meet_number(const kiln__meet_graph *g, LLVMBasicBlockRef block);
/* True if the branch that ends the block decides about a meeting. */
int kiln__meet_decides(kiln__meet_graph *g, uint32_t block);
/* Returns where an item meets the others that leaves the block for one that is
   doomed. */
kiln__meeting kiln__meet_after_raise(kiln__meet_graph *g, uint32_t block);
/* Returns where items go on after one of these places. */
kiln__meeting kiln__meet_after(kiln__meet_graph *g, kiln__meeting place);

#endif /* KILN_CODEGEN_FOREIGN_NEUTRAL_MEET_H */
