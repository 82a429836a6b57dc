/* wide_alone.cc - inner loops that items go through one after the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/wide/wide_emit.h"

#include <llvm/Analysis/LoopIterator.h>

/*
 *     for item { s = 0; for k { s += a[item][k]; } for k { y[item][k] = s; } }
 *     =>
 *     for item by 8 { for k { s0 += ...; ... s7 += ...; }
 *                     for k { y[item][k] = s0; } ... for k { ... = s7; } }
 *
 * Sums wait for each other in the first loop, so eight items go through it
 * together. The second one is vectorised if an item has it for itself. It gives
 * no value to what follows.
 */

llvm::Loop *wide_emitter::alone_around(const llvm::BasicBlock *block) const
{
    for (llvm::Loop *loop : body.alone)
        if (loop->contains(block))
            return loop;
    return nullptr;
}

/* Makes the loop for the item of the part that is to be made. */
void wide_emitter::make_copy(llvm::Loop &alone, llvm::BasicBlock *then)
{
    llvm::LoopBlocksRPO order(&alone);
    llvm::SmallVector<llvm::PHINode *, 8> others;

    std::swap(others, phis);
    order.perform(&values.loops);
    for (llvm::BasicBlock *block : order) {
        make_block(*block);
        end(*block, then);
    }
    fill_phis();
    std::swap(others, phis);
}

/* Each copy leads to the next one, and the last one goes on. */
void wide_emitter::make_alone(llvm::Loop &alone, llvm::BasicBlock *then)
{
    llvm::BasicBlock *header = alone.getHeader();
    llvm::BasicBlock *before = alone.getLoopPreheader();
    llvm::BasicBlock *exit = alone.getUniqueExitBlock();
    llvm::BasicBlock *first = blocks[before], *last = blocks[exit];

    for (unsigned part = 0; part < body.parts; part++) {
        llvm::BasicBlock *next =
            part + 1 < body.parts
                ? llvm::BasicBlock::Create(function.getContext(), "wide",
                                           &function, last)
                : last;

        from_part = part;
        to_part = part + 1;
        blocks[exit] = next;
        make_copy(alone, then);
        blocks[before] = blocks[alone.getExitingBlock()];
        for (llvm::BasicBlock *block : alone.blocks())
            blocks[block] =
                block == header
                    ? next
                    : llvm::BasicBlock::Create(function.getContext(), "wide",
                                               &function, last);
    }
    for (llvm::BasicBlock *block : alone.blocks())
        if (block != header)
            blocks[block]->eraseFromParent();
    from_part = 0;
    to_part = body.parts;
    blocks[before] = first;
    blocks[exit] = last;
}
