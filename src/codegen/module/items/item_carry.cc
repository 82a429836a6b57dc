/* item_carry.cc - elements that an iteration reads and the last one wrote. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/item_carry.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "codegen/module/llvm_gap.h"

/*
 *     for k in 1..n                     last = y[0]
 *         y[k] = y[k - 1] + x[k]   =>   for k in 1..n
 *                                           last = last + x[k]
 *                                           y[k] = last
 *
 * So an iteration waits for an addition only, not for memory, and items can go
 * through the loop together (item_jam.cc, wide.cc).
 *
 * The loop has no other write, no atomic access, and one exit, at its end. So
 * what an iteration has written is what the next one reads, and the first one
 * certainly reads the element before the loop. This is for loops inside of
 * items: a loop over items that reads what another item writes is a race.
 */

namespace
{

/* A loop's only store, and how its place moves. */
struct writing {
    llvm::StoreInst *store;
    const llvm::SCEVAddRecExpr *place;
    const llvm::SCEV *step;
};

} // namespace

static bool has_shape(const llvm::Loop &loop)
{
    const llvm::Loop *around = loop.getParentLoop();

    while (around != nullptr &&
           llvm::findOptionMDForLoop(around, KILN__ITEM_LOOP) == nullptr)
        around = around->getParentLoop();
    return around != nullptr && loop.isInnermost() &&
           loop.getLoopLatch() != nullptr &&
           loop.getExitingBlock() == loop.getLoopLatch() &&
           llvm::findOptionMDForLoop(&loop, KILN__ITEM_LOOP) == nullptr;
}

/* Returns the only instruction of the loop that may write, if that is a store
   of each iteration; or NULL. */
static llvm::StoreInst *find_store(const llvm::Loop &loop,
                                   const llvm::DominatorTree &dominators)
{
    llvm::StoreInst *found = nullptr;

    for (llvm::BasicBlock *block : loop.blocks())
        for (llvm::Instruction &at : *block) {
            auto *store = llvm::dyn_cast<llvm::StoreInst>(&at);

            if (!at.mayWriteToMemory())
                continue;
            if (store == nullptr || !store->isSimple() || found != nullptr ||
                !dominators.dominates(block, loop.getLoopLatch()))
                return nullptr;
            found = store;
        }
    return found;
}

static const llvm::SCEVAddRecExpr *place_in(const llvm::Loop &loop,
                                            llvm::ScalarEvolution &numbers,
                                            llvm::Value *pointer)
{
    const auto *place =
        llvm::dyn_cast<llvm::SCEVAddRecExpr>(numbers.getSCEV(pointer));

    return place != nullptr && place->getLoop() == &loop && place->isAffine()
               ? place
               : nullptr;
}

/* Iterations write elements that do not overlap. */
static bool read_writing(const llvm::Loop &loop, llvm::ScalarEvolution &numbers,
                         llvm::StoreInst *store, writing &out)
{
    out.store = store;
    out.place = place_in(loop, numbers, store->getPointerOperand());
    if (out.place == nullptr)
        return false;
    out.step = out.place->getStepRecurrence(numbers);
    const auto *bytes = llvm::dyn_cast<llvm::SCEVConstant>(out.step);

    return bytes != nullptr &&
           bytes->getAPInt().abs().uge(store->getDataLayout().getTypeStoreSize(
               store->getValueOperand()->getType()));
}

/* True for a load of each iteration from where the one before has written. */
static bool reads_again(const llvm::Loop &loop, llvm::ScalarEvolution &numbers,
                        const llvm::DominatorTree &dominators,
                        llvm::LoadInst &load, const writing &of)
{
    if (!load.isSimple() ||
        load.getType() != of.store->getValueOperand()->getType() ||
        !dominators.dominates(load.getParent(), loop.getLoopLatch()))
        return false;
    const llvm::SCEVAddRecExpr *place =
        place_in(loop, numbers, load.getPointerOperand());

    return place != nullptr && place->getStepRecurrence(numbers) == of.step &&
           numbers.getPointerBase(place) == numbers.getPointerBase(of.place) &&
           numbers.getMinusSCEV(of.place, place) == of.step;
}

/* Returns where the load's first iteration loads, in front of the loop; or
   NULL. */
static llvm::Value *first_place(const llvm::Loop &loop,
                                llvm::ScalarEvolution &numbers,
                                llvm::LoadInst &load)
{
    const llvm::SCEV *start =
        place_in(loop, numbers, load.getPointerOperand())->getStart();
    llvm::SCEVExpander expander(numbers, "carry");
    llvm::Instruction *before = loop.getLoopPreheader()->getTerminator();

    return expander.isSafeToExpandAt(start, before)
               ? expander.expandCodeFor(start, load.getPointerOperandType(),
                                        before)
               : nullptr;
}

static bool carry(const llvm::Loop &loop, llvm::ScalarEvolution &numbers,
                  llvm::LoadInst &load, const writing &of)
{
    llvm::BasicBlock *before = loop.getLoopPreheader();
    llvm::Value *place = first_place(loop, numbers, load);

    if (place == nullptr)
        return false;
    auto *first = llvm::cast<llvm::LoadInst>(load.clone());
    auto *last = llvm::PHINode::Create(load.getType(), 2, "");

    first->setOperand(0, place);
    first->insertBefore(before->getTerminator()->getIterator());
    last->insertBefore(loop.getHeader()->begin());
    last->addIncoming(first, before);
    last->addIncoming(of.store->getValueOperand(), loop.getLoopLatch());
    load.replaceAllUsesWith(last);
    load.eraseFromParent();
    return true;
}

/* The loads that read again what the loop has written. */
static llvm::SmallVector<llvm::LoadInst *, 4> find_loads(
    const llvm::Loop &loop, llvm::ScalarEvolution &numbers,
    const llvm::DominatorTree &dominators, writing &of)
{
    llvm::StoreInst *store =
        has_shape(loop) ? find_store(loop, dominators) : nullptr;
    llvm::SmallVector<llvm::LoadInst *, 4> found;

    if (store == nullptr || !read_writing(loop, numbers, store, of))
        return found;
    for (llvm::BasicBlock *block : loop.blocks())
        for (llvm::Instruction &at : *block) {
            auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);

            if (load != nullptr &&
                reads_again(loop, numbers, dominators, *load, of))
                found.push_back(load);
        }
    return found;
}

bool kiln__carry_elements(llvm::Function &function,
                          llvm::FunctionAnalysisManager &analyses)
{
    auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto &numbers = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto &dominators =
        analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    bool changed = false;

    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        writing of;
        const auto found = find_loads(*loop, numbers, dominators, of);

        if (found.empty())
            continue;
        if (loop->getLoopPreheader() == nullptr) {
            changed = true;
            if (llvm::InsertPreheaderForLoop(loop, &dominators, &loops, nullptr,
                                             false) == nullptr)
                continue;
        }
        for (llvm::LoadInst *load : found)
            changed |= carry(*loop, numbers, *load, of);
    }
    return changed;
}
