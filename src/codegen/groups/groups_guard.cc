/* groups_guard.cc - takes a kernel's guard out of its control flow. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/groups/groups_plan.h"

/*
 * Most kernels begin by asking whether their item is in range, and end where it
 * is not:
 *
 *     ids; if (!in) return; body     =>     ids; wait; body, for items with
 * `in`
 *
 * As long as nothing before has had an effect, it does not matter when the
 * question is asked. So on the right, every loop over items asks again, and no
 * array says who has ended. Then the bounds of these loops can answer
 * (codegen/module/items/trim.h). There may be several questions in a row.
 */

#define GUARDS_MAX 8

/* True when an item that gets to `block` from `from` ends there without doing
   anything. */
static bool just_ends(const llvm::BasicBlock *from,
                      const llvm::BasicBlock *block)
{
    const llvm::ReturnInst *leave;
    const llvm::Value *result;

    for (unsigned i = 0; i < GUARDS_MAX; i++) {
        for (const llvm::Instruction &at : *block)
            if (at.mayHaveSideEffects())
                return false;
        leave = llvm::dyn_cast<llvm::ReturnInst>(block->getTerminator());
        if (leave != nullptr) {
            result = leave->getReturnValue();
            if (const auto *phi = llvm::dyn_cast<llvm::PHINode>(result))
                if (phi->getParent() == block)
                    result = phi->getIncomingValueForBlock(from);
            return llvm::isa<llvm::ConstantInt>(result) &&
                   llvm::cast<llvm::ConstantInt>(result)->isZero();
        }
        from = block;
        block = block->getSingleSuccessor();
        if (block == nullptr)
            return false;
    }
    return false;
}

/* True when all of the block, or what is in front of its branch, may run for
   any item. */
static bool is_harmless(const llvm::BasicBlock *block, bool is_first)
{
    for (const llvm::Instruction &at : *block)
        if (!at.isTerminator() && !llvm::isa<llvm::AllocaInst>(at) &&
            !kiln__groups_is_query(&at) &&
            (is_first ? at.mayHaveSideEffects()
                      : llvm::isa<llvm::PHINode>(at) ||
                            !llvm::isSafeToSpeculativelyExecute(&at)))
            return false;
    return true;
}

/* Returns which successor of the question the body is in, or -1. */
static int body_of(const llvm::BranchInst *question)
{
    const llvm::BasicBlock *here = question->getParent();

    for (unsigned i = 0; i < 2; i++)
        if (just_ends(here, question->getSuccessor(1 - i)))
            return static_cast<int>(i);
    return -1;
}

/* Appends the next block's code to the entry block, which leads there. */
static void append(llvm::BasicBlock *entry, llvm::BasicBlock *next)
{
    entry->getTerminator()->eraseFromParent();
    entry->splice(entry->end(), next);
    next->replaceSuccessorsPhiUsesWith(next, entry);
    next->eraseFromParent();
}

/* Replaces the entry block's question by a jump to the body; returns what the
   question was. */
static llvm::Value *take_question(llvm::BranchInst *question, unsigned body)
{
    llvm::BasicBlock *here = question->getParent();
    llvm::BasicBlock *to = question->getSuccessor(body);
    llvm::IRBuilder<> builder(question);
    llvm::Value *in = question->getCondition();

    if (body == 1)
        in = builder.CreateNot(in);
    question->getSuccessor(1 - body)->removePredecessor(here);
    builder.CreateBr(to);
    question->eraseFromParent();
    return in;
}

static llvm::BranchInst *question_of(llvm::BasicBlock *block)
{
    auto *jump = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());

    return jump != nullptr && jump->isConditional() &&
                   jump->getSuccessor(0) != jump->getSuccessor(1)
               ? jump
               : nullptr;
}

void kiln__groups_take_guard(groups_plan &plan)
{
    llvm::BasicBlock *entry = &plan.function->getEntryBlock();
    llvm::Value *all = nullptr;

    if (!is_harmless(entry, true))
        return;
    for (unsigned i = 0; i < GUARDS_MAX; i++) {
        llvm::BranchInst *question = question_of(entry);
        const int body = question != nullptr ? body_of(question) : -1;
        llvm::BasicBlock *next;
        llvm::Value *in;

        if (body < 0)
            break;
        in = take_question(question, static_cast<unsigned>(body));
        llvm::IRBuilder<> builder(entry->getTerminator());
        all = all == nullptr ? in : builder.CreateLogicalAnd(all, in);
        next = entry->getSingleSuccessor();
        if (next->getSinglePredecessor() == nullptr ||
            !is_harmless(next, false) || question_of(next) == nullptr ||
            body_of(question_of(next)) < 0)
            break;
        append(entry, next);
    }
    plan.guard = llvm::dyn_cast_or_null<llvm::Instruction>(all);
    if (all != nullptr && plan.guard == nullptr) { /* an argument */
        plan.guard = new llvm::FreezeInst(
            all, "", entry->getTerminator()->getIterator());
    }
}
