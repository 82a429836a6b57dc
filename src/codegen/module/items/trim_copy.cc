/* trim_copy.cc - copies loops over items. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/trim.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

void kiln__trim_copy(const trim_loop &loop, llvm::BasicBlock *start,
                     const char *name, llvm::ValueToValueMapTy &map)
{
    llvm::BasicBlock *header = loop.loop->getHeader();
    llvm::SmallVector<llvm::BasicBlock *, 8> blocks;

    for (llvm::BasicBlock *block : loop.loop->blocks()) {
        blocks.push_back(
            llvm::CloneBasicBlock(block, map, name, header->getParent()));
        map[block] = blocks.back();
    }
    map[loop.before] = start;
    llvm::remapInstructionsInBlocks(blocks, map);
    llvm::IRBuilder<>(start).CreateBr(
        llvm::cast<llvm::BasicBlock>(map[header]));
}

void kiln__trim_end_at(llvm::BranchInst *jump, llvm::PHINode *counter,
                       llvm::Value *end, llvm::BasicBlock *after)
{
    llvm::IRBuilder<> b(jump);

    jump->setCondition(b.CreateICmpULT(
        counter->getIncomingValueForBlock(jump->getParent()), end));
    jump->setSuccessor(1, after);
}

llvm::BranchInst *kiln__trim_copy_part(const trim_loop &loop,
                                       const trim_part &part,
                                       llvm::ValueToValueMapTy &map)
{
    kiln__trim_copy(loop, part.start, part.name, map);
    auto *counter = llvm::cast<llvm::PHINode>(map[loop.counter]);
    auto *jump = llvm::cast<llvm::BranchInst>(map[loop.jump]);

    counter->setIncomingValueForBlock(part.start, part.first);
    kiln__trim_end_at(jump, counter, part.end, part.after);
    return jump;
}
