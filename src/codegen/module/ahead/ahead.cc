/* ahead.cc - asks checks ahead in the loops of a function. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/ahead/ahead.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/llvm_gap.h"

static bool raises(const llvm::Loop &loop, const llvm::Function &raise)
{
    llvm::SmallVector<llvm::BasicBlock *, 8> exits;

    loop.getExitBlocks(exits);
    return loop.isInnermost() && llvm::any_of(exits, [&](auto *block) {
               return kiln__raise_of(*block, raise) != nullptr;
           });
}

/* Returns the number in front of the loop, and without poison: branches that
   come to depend on it did not before. */
static llvm::Value *place(llvm::IRBuilder<> &b, llvm::SCEVExpander &expander,
                          const llvm::SCEV *number)
{
    llvm::Value *made =
        expander.expandCodeFor(number, number->getType(), b.GetInsertPoint());

    return llvm::isGuaranteedNotToBeUndefOrPoison(made) ? made
                                                        : b.CreateFreeze(made);
}

/* Returns whether a counter by one begins at zero or above and does not wrap,
   not even behind the last iteration. */
static llvm::Value *stays_positive(llvm::IRBuilder<> &b,
                                   const kiln__ahead_plan &plan,
                                   const llvm::PHINode &walk)
{
    llvm::Value *start = b.CreateFreeze(
        walk.getIncomingValueForBlock(plan.loop->getLoopPreheader()));
    llvm::Constant *most = llvm::ConstantInt::get(
        start->getType(),
        llvm::APInt::getSignedMaxValue(start->getType()->getIntegerBitWidth()));
    llvm::Type *word = b.getInt64Ty();

    return b.CreateAnd(
        b.CreateICmpSGE(start, llvm::Constant::getNullValue(start->getType())),
        b.CreateICmpULT(b.CreateZExtOrTrunc(plan.left, word),
                        b.CreateZExt(b.CreateSub(most, start), word)));
}

/* Computes whether the loop ends before a check fails that counters decide. */
static void place_numbers(kiln__ahead_analyses &known, kiln__ahead_plan &plan)
{
    llvm::IRBuilder<> b(plan.loop->getLoopPreheader()->getTerminator());
    llvm::SCEVExpander expander(known.evolution, "ahead");
    llvm::Type *word = b.getInt64Ty();

    plan.left = place(b, expander, plan.turns);
    plan.enough =
        b.CreateICmpUGE(plan.left, llvm::ConstantInt::get(plan.left->getType(),
                                                          plan.copies - 1));
    for (const kiln__ahead_check &check : plan.checks)
        if (check.turns != nullptr)
            plan.enough = b.CreateAnd(
                plan.enough,
                b.CreateICmpUGT(
                    b.CreateZExt(place(b, expander, check.turns), word),
                    b.CreateZExt(plan.left, word)));
    for (const llvm::PHINode *walk : plan.walks)
        plan.enough = b.CreateAnd(plan.enough, stays_positive(b, plan, *walk));
}

kiln__ahead_analyses::kiln__ahead_analyses(llvm::Function &function,
                                           kiln__loop_analyses &known,
                                           const llvm::Function &raise,
                                           unsigned most)
    : loops(known.loops), dominators(known.dominators),
      evolution(known.evolution), raise(raise), most(most),
      basic(function.getDataLayout(), function, known.library,
            known.assumptions, &known.dominators),
      aliases(known.library), target(function.getDataLayout())
{
    aliases.addAAResult(basic);
    aliases.addAAResult(scopes);
}

static void ask_in(kiln__ahead_analyses &all, kiln__loop_analyses &known,
                   llvm::SmallVectorImpl<kiln__ahead_plan> &plans)
{
    for (llvm::Loop *loop : known.loops.getLoopsInPreorder()) {
        kiln__ahead_plan plan;

        if (!raises(*loop, all.raise))
            continue;
        llvm::simplifyLoop(loop, &known.dominators, &known.loops,
                           &known.evolution, &known.assumptions, nullptr,
                           false);
        if (kiln__ahead_plan_of(all, *loop, plan))
            plans.push_back(std::move(plan));
    }
    /* While LLVM still knows the loops. */
    for (kiln__ahead_plan &plan : plans) {
        llvm::formLCSSA(*plan.loop, known.dominators, &known.loops,
                        &known.evolution);
        place_numbers(all, plan);
    }
}

int kiln__llvm_ask_ahead(LLVMModuleRef module, const char *name, unsigned most)
{
    const llvm::Function *raise = llvm::unwrap(module)->getFunction(name);
    bool any = false;

    for (llvm::Function &function : *llvm::unwrap(module)) {
        llvm::SmallVector<kiln__ahead_plan, 2> plans;

        if (raise == nullptr || function.isDeclaration())
            continue;
        kiln__loop_analyses known(function);
        kiln__ahead_analyses all(function, known, *raise, most);
        ask_in(all, known, plans);
        for (const kiln__ahead_plan &plan : plans)
            kiln__ahead_apply(plan, known.loops);
        any |= !plans.empty();
    }
    return any;
}
