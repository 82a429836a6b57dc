/* groups_unroll.cc - makes values of arrays that short loops index. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "codegen/groups/groups_plan.h"
#include "codegen/module/loop_unroll.h"

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
static unsigned turns_of(kiln__loop_unroller &unroller, const llvm::Loop &loop)
{
    const unsigned turns = loop.isInnermost() ? unroller.turns_of(loop) : 0;
    unsigned size = 0;
    bool indexes = false;

    if (turns > TURNS_MAX)
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

/* Unrolls inner loops first. */
static bool unroll_all(llvm::Function &function)
{
    kiln__loop_unroller unroller(function);
    llvm::SmallVector<llvm::Loop *, 4> order =
        unroller.known.loops.getLoopsInPreorder();
    bool unrolled = false;

    while (!order.empty()) {
        llvm::Loop *loop = order.pop_back_val();
        const unsigned turns = turns_of(unroller, *loop);

        unrolled |= turns > 0 && unroller.unroll(loop, turns);
    }
    return unrolled;
}

bool kiln__groups_unroll(llvm::Function &function)
{
    return llvm::any_of(llvm::instructions(function), is_index) &&
           unroll_all(function);
}
