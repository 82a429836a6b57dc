/* groups_unroll.cc - makes values of arrays that short loops index. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "codegen/groups/groups_plan.h"
#include "codegen/module/loop_analyses.h"

/*
 * An array of an item that lives across barriers is one piece of memory for
 * each item, and its elements are far from those of the neighbours. Many such
 * arrays are only indexed by counters of loops whose length is a constant,
 * which LLVM unrolls later. If that is done before the kernel is cut, the
 * elements are values, and each of them has an array over the items.
 *
 * Loops in which items wait stay: each copy would be one more place to wait at.
 */

#define TURNS_MAX 64
#define SIZE_MAX_ALL 3000 /* instructions of all turns of one loop */

namespace
{

struct groups_unroller {
    llvm::LoopInfo *loops = nullptr;
    llvm::ScalarEvolution *evolution = nullptr;
    llvm::DominatorTree *dominators = nullptr;
    llvm::AssumptionCache *assumptions = nullptr;
    llvm::TargetTransformInfo *target = nullptr;
    llvm::OptimizationRemarkEmitter *remarks = nullptr;
};

} // namespace

/* True for an address in a variable of the item whose index is no constant. */
static bool is_index(const llvm::Instruction &at)
{
    const auto *gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&at);

    return gep != nullptr && !gep->hasAllConstantIndices() &&
           llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(gep));
}

static bool waits(const llvm::Instruction &at)
{
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&at);

    return call != nullptr && !llvm::isa<llvm::IntrinsicInst>(call) &&
           !kiln__groups_is_query(call);
}

/* Returns how many turns the loop has, or 0 if it is to stay. */
static unsigned turns_of(const groups_unroller &u, const llvm::Loop &loop)
{
    const unsigned turns = u.evolution->getSmallConstantTripCount(&loop);
    unsigned size = 0;
    bool indexes = false;

    if (turns == 0 || turns > TURNS_MAX || !loop.isInnermost() ||
        !loop.isLoopSimplifyForm() ||
        turns != u.evolution->getSmallConstantMaxTripCount(&loop))
        return 0;
    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &at : *block) {
            if (waits(at))
                return 0;
            indexes |= is_index(at);
            size++;
        }
    return indexes && size * turns <= SIZE_MAX_ALL ? turns : 0;
}

static bool unroll(const groups_unroller &u, llvm::Loop *loop)
{
    llvm::UnrollLoopOptions options = {};

    options.Count = turns_of(u, *loop);
    return options.Count != 0 &&
           llvm::UnrollLoop(loop, options, u.loops, u.evolution, u.dominators,
                            u.assumptions, u.target, u.remarks,
                            true) != llvm::LoopUnrollResult::Unmodified;
}

/* Unrolls inner loops first. */
static bool unroll_all(llvm::Function &function)
{
    kiln__loop_analyses known(function);
    llvm::TargetTransformInfo target(function.getDataLayout());
    llvm::OptimizationRemarkEmitter remarks(&function);
    llvm::SmallVector<llvm::Loop *, 4> order = known.loops.getLoopsInPreorder();
    groups_unroller u;
    bool unrolled = false;

    u.loops = &known.loops;
    u.evolution = &known.evolution;
    u.dominators = &known.dominators;
    u.assumptions = &known.assumptions;
    u.target = &target;
    u.remarks = &remarks;
    while (!order.empty())
        unrolled |= unroll(u, order.pop_back_val());
    return unrolled;
}

bool kiln__groups_unroll(llvm::Function &function)
{
    return llvm::any_of(llvm::instructions(function), is_index) &&
           unroll_all(function);
}
