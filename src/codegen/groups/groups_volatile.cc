/* groups_volatile.cc - volatile accesses to the memory of a group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/InstIterator.h>

#include "codegen/groups/groups_distance.h"

/*
 * Kernels say `volatile` of a group's memory for items that run in lockstep and
 * read what others have just written. On the host a thread runs the whole
 * group, so nobody else looks at this memory, and all that `volatile` does is
 * to keep LLVM from making vectors.
 *
 * It stays where several items may access one element at the same place of the
 * code: they race for it, as in a histogram that is written until the item's
 * own number is read back, and vectors would lose what the order of the items
 * keeps. So it is dropped only if in each such access neighbours in the
 * innermost loop have different elements.
 */

static bool is_volatile(const llvm::Instruction &at)
{
    const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at);

    return pointer != nullptr && at.isVolatile() && !at.isAtomic() &&
           pointer->getType()->getPointerAddressSpace() == KILN__SHARED_SPACE;
}

/* True if no two items of a row access the same bytes here. */
static bool is_apart(const groups_neighbours &n, const llvm::Instruction &at)
{
    const groups_distance d =
        kiln__groups_distance(n, llvm::getLoadStorePointerOperand(&at));
    const uint64_t size = n.layout->getTypeAllocSize(
        llvm::getLoadStoreType(const_cast<llvm::Instruction *>(&at)));

    return d && static_cast<uint64_t>(*d < 0 ? -*d : *d) >= size;
}

void kiln__groups_drop_volatile(const groups_plan &plan, unsigned dimension)
{
    const groups_neighbours n = {&plan, &plan.function->getDataLayout(),
                                 dimension, true};
    llvm::SmallVector<llvm::Instruction *, 16> found;

    for (llvm::Instruction &at : llvm::instructions(*plan.function))
        if (is_volatile(at)) {
            if (!is_apart(n, at))
                return;
            found.push_back(&at);
        }
    for (llvm::Instruction *at : found)
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(at))
            load->setVolatile(false);
        else
            llvm::cast<llvm::StoreInst>(at)->setVolatile(false);
}
