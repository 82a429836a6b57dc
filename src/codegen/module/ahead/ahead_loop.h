/* ahead_loop.h - what the files share that make such loops, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_AHEAD_LOOP_H
#define KILN_CODEGEN_MODULE_AHEAD_LOOP_H

#include <deque>

#include <llvm/Analysis/LoopIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "codegen/module/ahead/ahead.h"

/* An index that has to be below each of the bounds. */
struct kiln__ahead_question {
    llvm::Value *index;
    const kiln__ahead_check *check;
    llvm::SmallVector<llvm::Value *, 4> bounds;
};

/* A loop that is made beside an old one. Iterations of a round are copied one
   after the other. */
class kiln__ahead
{
  public:
    kiln__ahead(const kiln__ahead_plan &plan, llvm::LoopInfo &loops)
        : plan(plan), loop(*plan.loop), order(plan.loop),
          function(*loop.getHeader()->getParent()), maps(plan.copies)
    {
        const llvm::Instruction *end = loop.getLoopLatch()->getTerminator();

        order.perform(&loops);
        exit = end->getSuccessor(end->getSuccessor(0) == loop.getHeader());
    }

    void run();

  private:
    llvm::BasicBlock *block(const llvm::Twine &name);
    void begin();
    void step(unsigned copy);
    void compute(unsigned copy, const kiln__ahead_check &check);
    void ask(unsigned stage);
    void gather(unsigned stage);
    void ask_indices(llvm::IRBuilder<> &b);
    llvm::Value *least_of(llvm::ArrayRef<llvm::Value *> bounds);
    llvm::Value *comes_to(llvm::IRBuilder<> &b, const kiln__ahead_check &check,
                          unsigned copy);
    llvm::Value *asked(llvm::IRBuilder<> &b, const kiln__ahead_question &q,
                       unsigned copy);
    void or_fails(llvm::IRBuilder<> &b, llvm::Value *one);
    llvm::Value *mapped(llvm::Value *value, unsigned copy);
    llvm::Instruction *copy_of(llvm::Instruction &at, unsigned copy);
    void copy_iteration(unsigned copy);
    void copy_block(llvm::BasicBlock &from, unsigned copy);
    void skip(const kiln__ahead_check &check, unsigned copy);
    void keep(const kiln__ahead_check &check, unsigned copy);
    void end(const llvm::MDNode *like);
    void end_round(llvm::BasicBlock *otherwise, const llvm::MDNode *like);
    void mark_walks();
    void go_to_exit(llvm::BasicBlock &from);
    llvm::MDNode *own_loop_id(const llvm::MDNode *like);
    void resume(llvm::BasicBlock &from, bool has_run);

    const kiln__ahead_plan &plan;
    llvm::Loop &loop;
    llvm::LoopBlocksRPO order;
    llvm::Function &function;
    /* What is what in which copy of an iteration. */
    std::deque<llvm::ValueToValueMapTy> maps;
    llvm::BasicBlock *before = nullptr; /* the loop's preheader */
    llvm::BasicBlock *exit = nullptr;   /* where it goes when it is done */
    llvm::BasicBlock *head = nullptr;
    llvm::BasicBlock *at = nullptr; /* where code is added */
    llvm::PHINode *left = nullptr;  /* iterations before the last one */
    /* Of the stage. */
    llvm::SmallVector<kiln__ahead_question, 4> indices;
    llvm::SmallVector<const kiln__ahead_check *, 4> others;
    llvm::Value *fails = nullptr;
};

/* Returns the branch with which the check's block ends. */
static inline llvm::BranchInst &kiln__branch_of(const kiln__ahead_check &check)
{
    return *llvm::cast<llvm::BranchInst>(check.block->getTerminator());
}

#endif /* KILN_CODEGEN_MODULE_AHEAD_LOOP_H */
