/* neighbours.cc - lets accesses to neighbouring elements share an address. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Local.h>

#include "codegen/module/addresses.h"
#include "codegen/module/exact_index.h"
#include "codegen/module/llvm_gap.h"

/*
 *     x[row + i], x[row + i + 1]
 *     =>
 *     p = x + (row + i);  *p, *(p + 4 bytes)
 *
 * An access finds an earlier one that is always run before it and whose address
 * is a known number of bytes away. That one has been run, so its index is
 * exact.
 */

#define LOOKED_AT 32u /* earlier accesses */

namespace
{

struct place {
    llvm::Instruction *at;
    const llvm::SCEV *bytes; /* behind the base */
};

class neighbours
{
  public:
    neighbours(llvm::ScalarEvolution &evolution,
               const llvm::DominatorTree &dominators)
        : evolution(evolution), dominators(dominators)
    {
    }

    void look_at(llvm::Instruction &at);
    void end();

  private:
    bool share(llvm::Instruction &at, const place &with,
               const llvm::SCEV *bytes);

    llvm::ScalarEvolution &evolution;
    const llvm::DominatorTree &dominators;
    llvm::DenseMap<llvm::Value *, llvm::SmallVector<place, 8>> places;
    llvm::SmallVector<llvm::WeakTrackingVH, 16> old;
};

} // namespace

static llvm::Use &pointer_of(llvm::Instruction &at)
{
    return at.getOperandUse(llvm::isa<llvm::StoreInst>(at) ? 1 : 0);
}

bool neighbours::share(llvm::Instruction &at, const place &with,
                       const llvm::SCEV *bytes)
{
    const llvm::SCEV *apart = evolution.getMinusSCEV(bytes, with.bytes);
    llvm::Value *pointer = pointer_of(*with.at).get();
    llvm::IRBuilder<> b(&at);

    if (!kiln__is_near(apart) || !dominators.dominates(with.at, &at))
        return false;
    old.push_back(pointer_of(at).get());
    if (!apart->isZero())
        pointer = b.CreateGEP(
            b.getInt8Ty(), pointer,
            b.getInt(llvm::cast<llvm::SCEVConstant>(apart)->getAPInt()));
    pointer_of(at).set(pointer);
    return true;
}

void neighbours::look_at(llvm::Instruction &at)
{
    llvm::Value *address = llvm::getLoadStorePointerOperand(&at), *base;
    exact_line bytes;

    if (address == nullptr || !llvm::isa<llvm::GetElementPtrInst>(address) ||
        !exact_index(evolution, nullptr).of_address(address, base, bytes) ||
        !kiln__is_far(base) || llvm::isa<llvm::SCEVConstant>(bytes.start))
        return;

    auto &all = places[base];
    const size_t first = all.size() > LOOKED_AT ? all.size() - LOOKED_AT : 0;

    for (size_t i = first; i < all.size(); i++)
        if (share(at, all[i], bytes.start))
            return;
    all.push_back({&at, bytes.start});
}

void neighbours::end()
{
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(old);
}

static void share_addresses(kiln__loop_analyses &known)
{
    neighbours all(known.evolution, known.dominators);

    for (const auto *node : llvm::depth_first(known.dominators.getRootNode()))
        for (llvm::Instruction &at : *node->getBlock())
            all.look_at(at);
    all.end();
}

/* Loops come first: what they walk through is not looked at again. */
extern "C" void kiln__llvm_shorten_addresses(LLVMValueRef value)
{
    kiln__loop_analyses known(*llvm::unwrap<llvm::Function>(value));

    kiln__walk_by_pointers(known);
    share_addresses(known);
}
