/* groups_strides.cc - parts what loops count into the item's and the group's.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/groups/groups_plan.h"

/*
 * Each item may begin such a loop somewhere else, but all go on in the same
 * steps:
 *
 *     p = start;  loop { ...; p += step; }
 *     =>
 *     way = 0;    loop { p = start + way; ...; way += step; }
 *
 * Where items wait in the loop, p would be in an array over the items. On the
 * right `way` is one variable of the group, and `start` is often computed
 * again, from which LLVM sees what neighbours have in neighbouring places.
 *
 * Of a number that never wraps the way has 64 bits, as it may be further than
 * such a number can count: from the least one to the greatest.
 */

#define CHAIN_MAX 16 /* steps in one iteration */

namespace
{

struct groups_stride {
    llvm::PHINode *counter = nullptr;
    llvm::Value *start = nullptr;
    llvm::BasicBlock *from = nullptr; /* in front of the loop */
    llvm::BasicBlock *latch = nullptr;
    llvm::SmallVector<llvm::Instruction *, 4> chain; /* the last step first */
    llvm::Type *type = nullptr;                      /* of the way */
    bool never_wraps = true;
};

} // namespace

static bool is_uniform(const groups_plan &plan, const llvm::Value *value)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    return at == nullptr || plan.uniform.contains(at);
}

/* Returns what `at` adds a step of the group to, or null. */
static llvm::Value *stepped(const groups_plan &plan, llvm::Instruction *at)
{
    const auto is_of_group = [&](const llvm::Use &use) {
        return is_uniform(plan, use.get());
    };

    if (auto *gep = llvm::dyn_cast<llvm::GetElementPtrInst>(at))
        return gep->getType()->isPointerTy() &&
                       llvm::all_of(gep->indices(), is_of_group)
                   ? gep->getPointerOperand()
                   : nullptr;
    if (at->getOpcode() == llvm::Instruction::Add &&
        is_uniform(plan, at->getOperand(0)))
        return at->getOperand(1);
    if ((at->getOpcode() == llvm::Instruction::Add ||
         at->getOpcode() == llvm::Instruction::Sub) &&
        is_uniform(plan, at->getOperand(1)))
        return at->getOperand(0);
    return nullptr;
}

static bool fits_type(const llvm::Type *type)
{
    return type->isPointerTy() ||
           (type->isIntegerTy() && type->getIntegerBitWidth() <= 64);
}

/* Follows the steps back from the end of an iteration to its beginning. */
static bool find_chain(const groups_plan &plan, const llvm::Loop &loop,
                       groups_stride &s)
{
    llvm::Value *value = s.counter->getIncomingValueForBlock(s.latch);

    while (value != s.counter) {
        auto *at = llvm::dyn_cast<llvm::Instruction>(value);

        if (at == nullptr || !loop.contains(at) ||
            s.chain.size() == CHAIN_MAX || is_uniform(plan, at))
            return false;
        value = stepped(plan, at);
        if (value == nullptr)
            return false;
        s.never_wraps &= llvm::isa<llvm::GetElementPtrInst>(at)
                             ? llvm::cast<llvm::GEPOperator>(at)->isInBounds()
                             : at->hasNoSignedWrap();
        s.chain.push_back(at);
    }
    return !s.chain.empty();
}

/* ---- the way ---- */

static void choose_type(groups_stride &s)
{
    llvm::Type *type = s.counter->getType();

    s.never_wraps &= !type->isIntegerTy(64);
    s.type = type->isIntegerTy() && !s.never_wraps
                 ? type
                 : llvm::Type::getInt64Ty(type->getContext());
}

/* Returns what the step adds. */
static llvm::Value *length_of(const groups_plan &plan, const groups_stride &s,
                              llvm::Instruction *at)
{
    llvm::IRBuilder<> builder(at);
    llvm::Value *by;

    if (auto *gep = llvm::dyn_cast<llvm::GEPOperator>(at))
        return builder.CreateSExtOrTrunc(
            llvm::emitGEPOffset(&builder, at->getDataLayout(), gep), s.type);
    by = at->getOperand(is_uniform(plan, at->getOperand(1)) ? 1 : 0);
    by = builder.CreateSExt(by, s.type);
    return at->getOpcode() == llvm::Instruction::Sub ? builder.CreateNeg(by)
                                                     : by;
}

/* Returns where an item is after the way. */
static llvm::Value *place(const groups_stride &s, llvm::IRBuilder<> &builder,
                          llvm::Value *way)
{
    llvm::Type *type = s.counter->getType();
    llvm::Value *sum;

    if (type->isPointerTy())
        return builder.CreateGEP(builder.getInt8Ty(), s.start, way, "",
                                 s.never_wraps
                                     ? llvm::GEPNoWrapFlags::inBounds()
                                     : llvm::GEPNoWrapFlags::none());
    sum = builder.CreateAdd(builder.CreateSExt(s.start, s.type), way, "", false,
                            s.never_wraps);
    return s.type == type
               ? sum
               : builder.CreateTrunc(sum, type, "", false, s.never_wraps);
}

static void part(const groups_plan &plan, groups_stride &s)
{
    llvm::IRBuilder<> builder(s.counter);
    llvm::PHINode *way = builder.CreatePHI(s.type, 2);
    llvm::Value *sum = way;

    builder.SetInsertPoint(s.counter->getParent(),
                           s.counter->getParent()->getFirstInsertionPt());
    s.counter->replaceAllUsesWith(place(s, builder, way));
    for (llvm::Instruction *at : llvm::reverse(s.chain)) {
        llvm::Value *by = length_of(plan, s, at);

        builder.SetInsertPoint(at);
        sum = builder.CreateAdd(sum, by, "", false, s.never_wraps);
        at->replaceAllUsesWith(place(s, builder, sum));
    }
    way->addIncoming(llvm::ConstantInt::get(s.type, 0), s.from);
    way->addIncoming(sum, s.latch);
    s.counter->eraseFromParent();
    for (llvm::Instruction *at : s.chain)
        at->eraseFromParent();
}

/* ---- loops ---- */

/* True for a loop that all items leave at the same time. */
static bool is_together(const groups_plan &plan, const llvm::Loop &loop)
{
    llvm::SmallVector<llvm::BasicBlock *, 4> exiting;

    loop.getExitingBlocks(exiting);
    return llvm::none_of(exiting, [&](const llvm::BasicBlock *block) {
        return plan.divergent.contains(block->getTerminator());
    });
}

static bool part_counters(const groups_plan &plan, const llvm::Loop &loop)
{
    llvm::BasicBlock *from = loop.getLoopPredecessor();
    llvm::BasicBlock *latch = loop.getLoopLatch();
    bool parted = false;

    if (from == nullptr || latch == nullptr || !is_together(plan, loop))
        return false;
    for (llvm::PHINode &phi :
         llvm::make_early_inc_range(loop.getHeader()->phis())) {
        groups_stride s;

        if (!fits_type(phi.getType()) || is_uniform(plan, &phi))
            continue;
        s.counter = &phi;
        s.from = from;
        s.latch = latch;
        s.start = phi.getIncomingValueForBlock(from);
        if (!find_chain(plan, loop, s))
            continue;
        choose_type(s);
        part(plan, s);
        parted = true;
    }
    return parted;
}

bool kiln__groups_part_counters(groups_plan &plan)
{
    llvm::DominatorTree dominators(*plan.function);
    llvm::LoopInfo loops(dominators);
    bool parted = false;

    for (const llvm::Loop *loop : loops.getLoopsInPreorder())
        if (plan.barriers.empty() ||
            llvm::any_of(plan.barriers, [&](const llvm::BasicBlock *block) {
                return loop->contains(block);
            }))
            parted |= part_counters(plan, *loop);
    return parted;
}
