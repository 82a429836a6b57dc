/* item_choices.cc - loads from one of two places become one of two loads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/item_choices.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/llvm_gap.h"

/*
 *     y[i] = c[i] != 0 ? a[i] : b[i]
 *
 * LLVM chooses the array and loads from that. In vectors, this gathers one
 * element after the other, where two loads under masks would do:
 *
 *     if c[i] != 0  t = a[i]  else  t = b[i]
 *     y[i] = t
 *
 * So that is made of it again before loops are vectorised.
 */

#define LOADS_MOST 32u /* of a function */

namespace
{

struct choice {
    llvm::LoadInst *load;
    llvm::SelectInst *place; /* of the first element */
    llvm::SmallVector<llvm::GetElementPtrInst *, 2> steps; /* the last first */
};

} // namespace

/* Finds the choice of a load's place; false: there is none that differs from
   item to item. */
static bool find(const llvm::Loop &loop, llvm::LoadInst &load, choice &out)
{
    llvm::Value *place = load.getPointerOperand();

    out = {&load, nullptr, {}};
    while (auto *step = llvm::dyn_cast<llvm::GetElementPtrInst>(place)) {
        out.steps.push_back(step);
        place = step->getPointerOperand();
    }
    out.place = llvm::dyn_cast<llvm::SelectInst>(place);
    return out.place != nullptr && load.isSimple() &&
           place->getType()->isPointerTy() &&
           !loop.isLoopInvariant(out.place->getCondition());
}

static llvm::Value *load_from(const choice &c, llvm::Value *place,
                              llvm::Instruction *before)
{
    for (llvm::GetElementPtrInst *step : llvm::reverse(c.steps)) {
        llvm::Instruction *copy = step->clone();

        copy->setOperand(0, place);
        copy->insertBefore(before->getIterator());
        place = copy;
    }
    llvm::Instruction *load = c.load->clone();

    load->setOperand(0, place);
    load->insertBefore(before->getIterator());
    return load;
}

static void split(const choice &c, llvm::LoopInfo &loops)
{
    llvm::Instruction *one, *other;

    llvm::SplitBlockAndInsertIfThenElse(c.place->getCondition(),
                                        c.load->getIterator(), &one, &other,
                                        nullptr, nullptr, &loops);
    llvm::IRBuilder<> b(c.load);
    llvm::PHINode *value = b.CreatePHI(c.load->getType(), 2);

    value->addIncoming(load_from(c, c.place->getTrueValue(), one),
                       one->getParent());
    value->addIncoming(load_from(c, c.place->getFalseValue(), other),
                       other->getParent());
    c.load->replaceAllUsesWith(value);
    c.load->eraseFromParent();
}

bool kiln__split_choices(llvm::Function &function,
                         llvm::FunctionAnalysisManager &analyses)
{
    auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    llvm::SmallVector<choice, 4> found;
    choice c;

    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        if (!loop->isInnermost() ||
            llvm::findOptionMDForLoop(loop, KILN__ITEM_LOOP) == nullptr)
            continue;
        for (llvm::BasicBlock *block : loop->blocks())
            for (llvm::Instruction &at : *block) {
                auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);

                if (load != nullptr && found.size() < LOADS_MOST &&
                    find(*loop, *load, c))
                    found.push_back(c);
            }
    }
    for (const choice &each : found)
        split(each, loops);
    return !found.empty();
}
