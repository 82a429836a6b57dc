/* groups_copy.cc - copies the code of a region into its loop over items. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "codegen/groups/groups_emit.h"

/*
 * Each region has a copy of its blocks. Values that come from other regions are
 * still those of the old function afterwards; groups_carry.cc replaces them.
 * It is C++ because the C interface cannot copy blocks.
 */

static llvm::BasicBlock *copy_of(const groups_emitter &e,
                                 const llvm::BasicBlock *block)
{
    return llvm::cast<llvm::BasicBlock>(&*e.map->lookup(block));
}

/* ---- ways out of the region ---- */

/* True when the items say what they wait for. */
static bool says_next(const groups_emitter &e)
{
    return !e.region->is_together || e.region->splits.size() > 1 ||
           (e.region->splits.size() == 1 &&
            !e.plan->regions[e.region->next[0]].is_together);
}

static void leave_at_split(groups_emitter &e, llvm::BasicBlock *copy)
{
    llvm::Instruction *jump = copy->getTerminator();
    const bool decides = jump->getNumSuccessors() > 1;

    e.builder->SetInsertPoint(jump);
    if (decides) {
        llvm::Value *by = kiln__groups_decided_by(jump);

        e.decision =
            e.builder->CreateStore(by, kiln__groups_variable(e, by->getType()));
    } else if (says_next(e)) {
        kiln__groups_wait(e, e.plan->region_of.lookup(jump->getSuccessor(0)));
    }
    e.builder->CreateBr(e.item_end);
    jump->eraseFromParent();
}

static void end_item(groups_emitter &e)
{
    if (e.keeps_waiting)
        kiln__groups_wait(e, GROUPS_ENDED);
    e.builder->CreateBr(e.item_end);
}

/* A return of 0 ends the item, any other one the group. */
static void leave_at_return(groups_emitter &e, llvm::ReturnInst *leave)
{
    llvm::Value *value = leave->getReturnValue();
    const auto *constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    llvm::BasicBlock *ends;

    e.builder->SetInsertPoint(leave);
    if (constant != nullptr && !constant->isZero()) {
        e.builder->CreateBr(e.failed);
    } else if (constant != nullptr) {
        end_item(e);
    } else {
        ends = llvm::BasicBlock::Create(e.out->getContext(), "", e.out);
        e.builder->CreateCondBr(e.builder->CreateIsNull(value), ends, e.failed);
        e.builder->SetInsertPoint(ends);
        end_item(e);
    }
    leave->eraseFromParent();
}

/* ---- blocks ---- */

/* Removes the incoming values of blocks that are not in the region. */
static void trim_phis(const groups_emitter &e, const llvm::BasicBlock *block)
{
    for (llvm::PHINode &phi :
         llvm::make_early_inc_range(copy_of(e, block)->phis()))
        for (unsigned i = phi.getNumIncomingValues(); i-- > 0;)
            if (!e.region->has.contains(phi.getIncomingBlock(i)))
                phi.removeIncomingValue(i, false);
}

/* Variables of items have places of their own, and always live. */
static void drop_variables(llvm::BasicBlock *copy)
{
    for (llvm::Instruction &at : llvm::make_early_inc_range(*copy))
        if (llvm::isa<llvm::AllocaInst>(at) ||
            llvm::isa<llvm::LifetimeIntrinsic>(at))
            at.eraseFromParent();
}

static void copy_block(groups_emitter &e, llvm::BasicBlock *block)
{
    llvm::BasicBlock *copy = llvm::CloneBasicBlock(block, *e.map, "", e.out);

    (*e.map)[block] = copy;
    drop_variables(copy);
}

/* Forgets descriptions of variables by values of the old function. */
static void drop_descriptions(const groups_emitter &e, llvm::Instruction &at)
{
    for (llvm::DbgVariableRecord &record :
         llvm::filterDbgVars(at.getDbgRecordRange()))
        for (const llvm::Value *value : record.location_ops()) {
            const auto *from = llvm::dyn_cast<llvm::Instruction>(value);

            if (from != nullptr && from->getFunction() == e.plan->function)
                record.setKillLocation();
        }
}

static void remap(groups_emitter &e, llvm::BasicBlock *copy)
{
    const llvm::RemapFlags flags =
        llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals;

    for (llvm::Instruction &at : *copy) {
        llvm::RemapInstruction(&at, *e.map, flags);
        llvm::RemapDbgRecordRange(e.out->getParent(), at.getDbgRecordRange(),
                                  *e.map, flags);
        drop_descriptions(e, at);
    }
}

void kiln__groups_copy(groups_emitter &e)
{
    for (llvm::BasicBlock *block : e.region->blocks)
        copy_block(e, block);
    for (const auto &[variable, address] : e.brought)
        if (llvm::isa<llvm::AllocaInst>(variable))
            (*e.map)[variable] = address;
    for (llvm::BasicBlock *block : e.region->blocks) {
        llvm::BasicBlock *copy = copy_of(e, block);

        trim_phis(e, block);
        if (e.plan->splits.contains(block))
            leave_at_split(e, copy);
        else if (auto *leave =
                     llvm::dyn_cast<llvm::ReturnInst>(copy->getTerminator()))
            leave_at_return(e, leave);
    }
    for (llvm::BasicBlock *block : e.region->blocks)
        remap(e, copy_of(e, block));
    e.builder->SetInsertPoint(e.item_start);
    e.builder->CreateBr(copy_of(e, e.region->entry));
}
