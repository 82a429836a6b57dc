/* item_interleave.cc - items that read what others wrote just before. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/item_interleave.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/llvm_gap.h"

/*
 *     if (colour of item) x[item] = f(x[item - 1], x[item + 1]);
 *
 * In vectors, the store is under a mask, and the next load overlaps it. No
 * processor forwards what is stored under a mask, so the load waits until the
 * store is in the cache. Where vectors of several iterations are loaded before
 * they are stored, that happens once for them all. Other loops gain nothing
 * from this: processors overlap their iterations.
 */

#define TOGETHER 4u

/* True for a block that not every iteration runs. */
static bool is_conditional(const llvm::Loop &loop,
                           const llvm::BasicBlock &block,
                           const llvm::DominatorTree &dominators)
{
    return !dominators.dominates(&block, loop.getLoopLatch());
}

/* True if the loop also loads, from another place, what the store may have
   written for the item before. */
static bool loads_around(const llvm::Loop &loop, const llvm::StoreInst &store)
{
    const llvm::Value *array =
        llvm::getUnderlyingObject(store.getPointerOperand());

    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &at : *block) {
            const auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);

            if (load != nullptr &&
                load->getPointerOperand() != store.getPointerOperand() &&
                !loop.isLoopInvariant(load->getPointerOperand()) &&
                llvm::getUnderlyingObject(load->getPointerOperand()) == array)
                return true;
        }
    return false;
}

static bool waits_for_stores(const llvm::Loop &loop,
                             const llvm::DominatorTree &dominators)
{
    for (const llvm::BasicBlock *block : loop.blocks()) {
        if (!is_conditional(loop, *block, dominators))
            continue;
        for (const llvm::Instruction &at : *block) {
            const auto *store = llvm::dyn_cast<llvm::StoreInst>(&at);

            if (store != nullptr && loads_around(loop, *store))
                return true;
        }
    }
    return false;
}

void kiln__interleave_items(llvm::Function &function,
                            llvm::FunctionAnalysisManager &analyses)
{
    auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    const auto &dominators =
        analyses.getResult<llvm::DominatorTreeAnalysis>(function);

    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        if (loop->isInnermost() && loop->getLoopLatch() != nullptr &&
            llvm::findOptionMDForLoop(loop, KILN__ITEM_LOOP) != nullptr &&
            waits_for_stores(*loop, dominators))
            llvm::addStringMetadataToLoop(loop, "llvm.loop.interleave.count",
                                          TOGETHER);
}
