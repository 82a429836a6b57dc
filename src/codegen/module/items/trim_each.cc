/* trim_each.cc - goes through the loops over items of a module. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/trim.h"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

size_t kiln__trim_size(const llvm::Loop &loop)
{
    size_t size = 0;

    for (const llvm::BasicBlock *block : loop.blocks())
        size += block->size();
    return size;
}

bool kiln__trim_gives_nothing(const llvm::Loop &loop)
{
    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &at : *block)
            for (const llvm::User *user : at.users())
                if (!loop.contains(llvm::cast<llvm::Instruction>(user)))
                    return false;
    return true;
}

static bool is_mathematics(const llvm::Instruction &at)
{
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&at);

    if (call == nullptr)
        return false;
    switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::cos:
    case llvm::Intrinsic::exp:
    case llvm::Intrinsic::exp2:
    case llvm::Intrinsic::log:
    case llvm::Intrinsic::log2:
    case llvm::Intrinsic::pow:
    case llvm::Intrinsic::sin:
        return true;
    default:
        return false;
    }
}

bool kiln__trim_has_mathematics(const llvm::Loop &loop)
{
    return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock *block) {
        return llvm::any_of(*block, is_mathematics);
    });
}

using headers = std::vector<const llvm::BasicBlock *>;

static headers find(llvm::Function &function, trim_wants wants)
{
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    headers found;
    trim_loop l;

    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        if (wants(*loop, l))
            found.push_back(loop->getHeader());
    return found;
}

/* Changes the loop with this header. A change makes the analyses invalid, and
   another loop may be gone with it. */
static void change_at(llvm::Function &function, const llvm::BasicBlock *header,
                      trim_wants wants, trim_change change)
{
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    llvm::Loop *loop = loops.getLoopFor(header);
    trim_loop l;

    if (loop != nullptr && loop->getHeader() == header && wants(*loop, l))
        change(l, dominators);
}

void kiln__trim_each(llvm::Module &module, size_t loops_most, trim_wants wants,
                     trim_change change)
{
    for (llvm::Function &function : module) {
        const headers found =
            function.isDeclaration() ? headers() : find(function, wants);

        if (found.size() > loops_most)
            continue;
        for (const llvm::BasicBlock *header : found)
            change_at(function, header, wants, change);
    }
}

void kiln__trim_merge(llvm::Module &module)
{
    for (llvm::Function &function : module)
        for (llvm::BasicBlock &block : llvm::make_early_inc_range(function)) {
            if (block.getSinglePredecessor() != nullptr)
                llvm::FoldSingleEntryPHINodes(&block);
            llvm::MergeBlockIntoPredecessor(&block);
        }
}
