/* item_hoist.cc - loads that are the same for all items of a loop. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/llvm_gap.h"

/*
 * What an item loads from an address that is the same for all of them may be
 * loaded once, in front of the loop: no other item writes there, since items of
 * a loop do not depend on each other. LLVM's own pass asks whether any store
 * in the loop might be to that address, and nearly always one might. Where the
 * value is an index or a pointer, as in `nodes[current[group]].keys[item]`, the
 * loop had no vectors for it, or gathers.
 *
 * The item itself may write there, too. So this ends at the first write, and at
 * the first branch: an item that does not come so far may have no such address.
 * The loop has at least one iteration.
 */

/* True for what the loop's metadata say depends on no other item. */
static bool is_of_one_item(const llvm::Loop &loop, const llvm::Instruction &at)
{
    const llvm::MDNode *parallel =
        llvm::findOptionMDForLoop(&loop, "llvm.loop.parallel_accesses");
    const llvm::MDNode *group =
        at.getMetadata(llvm::LLVMContext::MD_access_group);

    return parallel != nullptr && group != nullptr &&
           group->getNumOperands() == 0 &&
           llvm::is_contained(llvm::drop_begin(parallel->operands()), group);
}

static bool may_move(const llvm::Loop &loop, const llvm::Instruction &at)
{
    const auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);

    if (at.isTerminator() || !loop.hasLoopInvariantOperands(&at))
        return false;
    return load != nullptr ? load->isSimple() && is_of_one_item(loop, at)
                           : llvm::isSafeToSpeculativelyExecute(&at);
}

/* Returns whether the item goes on behind the block without having written. */
static bool hoist_from(const llvm::Loop &loop, llvm::BasicBlock &block)
{
    llvm::Instruction *before = loop.getLoopPreheader()->getTerminator();

    for (llvm::Instruction &at : llvm::make_early_inc_range(block)) {
        if (llvm::isa<llvm::PHINode>(at))
            continue;
        if (at.mayHaveSideEffects())
            return false;
        if (may_move(loop, at))
            at.moveBefore(before->getIterator());
    }
    return true;
}

static void hoist(const llvm::Loop &loop)
{
    llvm::BasicBlock *block = loop.getHeader();

    while (block != nullptr && hoist_from(loop, *block)) {
        block = block->getSingleSuccessor();
        if (block != nullptr &&
            (block->getSinglePredecessor() == nullptr || !loop.contains(block)))
            block = nullptr;
    }
}

static void hoist_in(llvm::Function &function)
{
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);

    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        if (loop->getLoopPreheader() != nullptr &&
            llvm::findOptionMDForLoop(loop, KILN__ITEM_LOOP) != nullptr)
            hoist(*loop);
}

void kiln__llvm_hoist_items(LLVMModuleRef module)
{
    for (llvm::Function &function : *llvm::unwrap(module))
        if (!function.isDeclaration())
            hoist_in(function);
}
