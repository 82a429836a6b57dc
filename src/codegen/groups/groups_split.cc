/* groups_split.cc - makes splits: blocks at whose end all items wait. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "codegen/groups/groups_plan.h"

/* It is C++ because the C interface cannot split blocks. */

static bool is_wait(const llvm::Instruction &at)
{
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&at);

    return call != nullptr && call->getCalledFunction() != nullptr &&
           call->getCalledFunction()->getName().starts_with(KILN__GROUPS_WAIT);
}

/* Remembers what is to be done at the split. */
static void note_step(groups_plan &plan, const llvm::BasicBlock *split,
                      const llvm::CallBase *call)
{
    llvm::StringRef name = call->getCalledFunction()->getName();
    groups_step step;

    name.consume_front(KILN__GROUPS_WAIT);
    step.run = plan.function->getParent()->getFunction(
        (llvm::Twine(KILN__GROUPS_STEP) + name).str());
    if (step.run == nullptr)
        return;
    step.variables.assign(call->arg_begin() + 1, call->arg_end());
    plan.steps[split] = step;
}

void kiln__groups_split_barriers(groups_plan &plan)
{
    std::vector<llvm::CallBase *> calls;

    for (llvm::Instruction &at : llvm::instructions(*plan.function))
        if (is_wait(at))
            calls.push_back(llvm::cast<llvm::CallBase>(&at));
    for (llvm::CallBase *call : calls) {
        llvm::BasicBlock *before = call->getParent();

        llvm::SplitBlock(before, call->getNextNode());
        plan.barriers.push_back(before);
        note_step(plan, before, call);
        call->eraseFromParent();
    }
}

/* Puts a new block on edge `i` out of `from`. */
static llvm::BasicBlock *split_edge(llvm::BasicBlock *from, unsigned i)
{
    llvm::Instruction *jump = from->getTerminator();
    llvm::BasicBlock *to = jump->getSuccessor(i);
    llvm::BasicBlock *block =
        llvm::BasicBlock::Create(from->getContext(), "", from->getParent(), to);

    llvm::BranchInst::Create(to, block)->setDebugLoc(jump->getDebugLoc());
    jump->setSuccessor(i, block);
    for (llvm::PHINode &phi : to->phis())
        phi.setIncomingBlock(
            static_cast<unsigned>(phi.getBasicBlockIndex(from)), block);
    return block;
}

void kiln__groups_split_edges(groups_plan &plan, llvm::BasicBlock *block,
                              bool is_together)
{
    const unsigned count = block->getTerminator()->getNumSuccessors();

    plan.splits.insert(block);
    for (unsigned i = 0; i < count; i++)
        plan.entries[split_edge(block, i)] = is_together;
}

void kiln__groups_join(groups_plan &plan, llvm::BasicBlock *to,
                       llvm::ArrayRef<llvm::BasicBlock *> from)
{
    llvm::BasicBlock *block = llvm::SplitBlockPredecessors(to, from, ".meet");

    kiln__groups_split_edges(plan, block, true);
}
