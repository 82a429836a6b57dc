/* raise_loops.cc - unrolls loops whose iterations may end in an exception. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/ahead/ahead.h"
#include "codegen/module/llvm_gap.h"

/*
 * A check in a loop is a second way out of it, and LLVM unrolls no such loop
 * where the number of iterations is not known. So for the time of that pass the
 * call that raises is said to return: behind it, the item goes on as if nothing
 * had happened. That keeps what the code does, since the call does not return,
 * and leaves the loop with one way out. Nothing may be concluded from a check
 * meanwhile, but all conclusions were drawn before.
 */

#define UNROLL_COUNT "llvm.loop.unroll.count"

/* An unrolled loop has at most so many instructions, checks not counted. */
#define UNROLLED_MOST 96u
#define COUNT_MOST 4u

llvm::CallInst *kiln__raise_of(llvm::BasicBlock &block,
                               const llvm::Function &raise)
{
    auto *call = llvm::dyn_cast_or_null<llvm::CallInst>(
        block.getTerminator()->getPrevNode());

    return block.getSinglePredecessor() != nullptr && call != nullptr &&
                   call->getCalledFunction() == &raise
               ? call
               : nullptr;
}

bool kiln__ends_or_raises(const llvm::Loop &loop, const llvm::Function &raise)
{
    llvm::BasicBlock *latch = loop.getLoopLatch();
    llvm::SmallVector<llvm::Loop::Edge, 8> edges;

    loop.getExitEdges(edges);
    if (!loop.isInnermost() || edges.size() < 2 || latch == nullptr ||
        !loop.isLoopExiting(latch) ||
        llvm::findOptionMDForLoop(&loop, KILN__UNROLL_DISABLED) != nullptr)
        return false;
    for (auto [from, to] : edges)
        if ((kiln__raise_of(*to, raise) == nullptr) != (from == latch))
            return false;
    return true;
}

unsigned kiln__unrolled_size(const llvm::Loop &loop)
{
    unsigned size = 0;

    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &one : *block) {
            const auto *call = llvm::dyn_cast<llvm::CallBase>(&one);

            if (call != nullptr &&
                (call->isConvergent() || call->cannotDuplicate()))
                return 0;
            size += !llvm::isa<llvm::PHINode>(one);
        }
    return size;
}

unsigned kiln__unrolled_count(unsigned size)
{
    unsigned count = size > 0 ? COUNT_MOST : 0;

    while (count > 1 && count * size > UNROLLED_MOST)
        count /= 2;
    return count;
}

/* Lets the block, which raises, go on where items do that do not. */
static void go_on(llvm::BasicBlock &raises)
{
    llvm::BasicBlock *from = raises.getSinglePredecessor();
    const llvm::Instruction *jump = from->getTerminator();
    llvm::BasicBlock *fine =
        jump->getSuccessor(jump->getSuccessor(0) == &raises ? 1 : 0);

    raises.getTerminator()->eraseFromParent();
    llvm::BranchInst::Create(fine, &raises);
    for (llvm::PHINode &phi : fine->phis())
        phi.addIncoming(phi.getIncomingValueForBlock(from), &raises);
}

static bool prepare(llvm::Loop &loop, const llvm::Function &raise)
{
    const unsigned count = kiln__ends_or_raises(loop, raise)
                               ? kiln__unrolled_count(kiln__unrolled_size(loop))
                               : 0;
    llvm::SmallVector<llvm::Loop::Edge, 8> edges;

    if (count < 2)
        return false;
    loop.getExitEdges(edges);
    for (auto [from, to] : edges)
        if (kiln__raise_of(*to, raise) != nullptr)
            go_on(*to);
    llvm::addStringMetadataToLoop(&loop, UNROLL_COUNT, count);
    return true;
}

static bool prepare_in(llvm::Function &function, const llvm::Function &raise)
{
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    bool any = false;

    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        any |= prepare(*loop, raise);
    return any;
}

int kiln__llvm_raises_return(LLVMModuleRef module, const char *name)
{
    llvm::Function *raise = llvm::unwrap(module)->getFunction(name);
    bool any = false;

    if (raise == nullptr)
        return 0;
    for (llvm::Function &function : *llvm::unwrap(module))
        if (!function.isDeclaration())
            any |= prepare_in(function, *raise);
    if (any)
        raise->removeFnAttr(llvm::Attribute::NoReturn);
    return any;
}

void kiln__llvm_end_at(LLVMValueRef instruction)
{
    llvm::changeToUnreachable(llvm::unwrap<llvm::Instruction>(instruction));
}
