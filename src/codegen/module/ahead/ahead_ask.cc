/* ahead_ask.cc - asks checks for a few iterations of a loop together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/module/ahead/ahead_loop.h"

/* The widest numbers of which devices choose the greater one at once. */
#define GREATEST_BITS 32u

/* True for a check that an index is below a bound that the loop does not
   change. */
static bool is_below(const llvm::Loop &loop, const kiln__ahead_check &check,
                     llvm::Value *&index, llvm::Value *&bound)
{
    const auto *compare =
        llvm::dyn_cast<llvm::ICmpInst>(kiln__branch_of(check).getCondition());
    llvm::CmpInst::Predicate holds;

    if (compare == nullptr)
        return false;
    holds = check.raise == 1 ? compare->getPredicate()
                             : compare->getInversePredicate();
    index = compare->getOperand(0);
    bound = compare->getOperand(1);
    if (holds == llvm::CmpInst::ICMP_UGT) {
        std::swap(index, bound);
        holds = llvm::CmpInst::ICMP_ULT;
    }
    return holds == llvm::CmpInst::ICMP_ULT && loop.isLoopInvariant(bound) &&
           index->getType()->isIntegerTy();
}

void kiln__ahead::gather(unsigned stage)
{
    llvm::Value *index, *bound;

    indices.clear();
    others.clear();
    for (const kiln__ahead_check &check : plan.checks) {
        if (check.turns != nullptr || check.stays || check.stage != stage)
            continue;
        if (!is_below(loop, check, index, bound)) {
            others.push_back(&check);
            continue;
        }
        auto *same = llvm::find_if(indices, [&](const kiln__ahead_question &q) {
            return q.index == index && q.check->behind == check.behind;
        });
        if (same == indices.end())
            indices.push_back({index, &check, {bound}});
        else if (!llvm::is_contained(same->bounds, bound))
            same->bounds.push_back(bound);
    }
}

llvm::Value *kiln__ahead::least_of(llvm::ArrayRef<llvm::Value *> bounds)
{
    llvm::IRBuilder<> b(before->getTerminator());
    llvm::Value *least = bounds[0];

    for (llvm::Value *other : bounds.drop_front())
        least = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, least, other);
    return least;
}

/* Returns whether this iteration comes to the check; null: it always does. */
llvm::Value *kiln__ahead::comes_to(llvm::IRBuilder<> &b,
                                   const kiln__ahead_check &check,
                                   unsigned copy)
{
    llvm::Value *all = nullptr;

    for (auto [condition, truth] : check.behind) {
        llvm::Value *one = mapped(condition, copy);

        one = truth ? one : b.CreateNot(one);
        all = all == nullptr ? one : b.CreateLogicalAnd(all, one);
    }
    return all;
}

/* Returns the index, or 0 in an iteration that does not come to the check. It
   is frozen: an iteration that is never done, since one before it raises, may
   compute poison, and that must not reach the answer for the one before. */
llvm::Value *kiln__ahead::asked(llvm::IRBuilder<> &b,
                                const kiln__ahead_question &q, unsigned copy)
{
    llvm::Value *index = mapped(q.index, copy);
    llvm::Value *comes = comes_to(b, *q.check, copy);

    return b.CreateFreeze(
        comes == nullptr
            ? index
            : b.CreateSelect(comes, index,
                             llvm::Constant::getNullValue(index->getType())));
}

void kiln__ahead::or_fails(llvm::IRBuilder<> &b, llvm::Value *one)
{
    fails = fails == nullptr ? one : b.CreateOr(fails, one);
}

/* An index into several arrays is compared once. Of all indices with the same
   bounds, only the greatest one is. */
void kiln__ahead::ask_indices(llvm::IRBuilder<> &b)
{
    for (size_t i = 0; i < indices.size(); i++) {
        llvm::Value *least, *most = nullptr;

        if (indices[i].bounds.empty()) /* it went with one before */
            continue;
        least = least_of(indices[i].bounds);
        const auto bounds = indices[i].bounds;
        for (size_t j = i; j < indices.size(); j++) {
            if (indices[j].bounds != bounds)
                continue;
            indices[j].bounds.clear();
            for (unsigned copy = 0; copy < plan.copies; copy++) {
                llvm::Value *one = asked(b, indices[j], copy);

                if (one->getType()->getIntegerBitWidth() > GREATEST_BITS)
                    or_fails(b, b.CreateICmpUGE(one, least));
                else
                    most = most == nullptr
                               ? one
                               : b.CreateBinaryIntrinsic(llvm::Intrinsic::umax,
                                                         most, one);
            }
        }
        if (most != nullptr)
            or_fails(b, b.CreateICmpUGE(most, least));
    }
}

/* AMD's processors keep masks for each way out of a loop that only some items
   take. So there, all items that run together go on in the old loop if one of
   them has to. */
static llvm::Value *of_any_lane(llvm::IRBuilder<> &b, llvm::Value *fails)
{
    if (!b.GetInsertBlock()->getModule()->getTargetTriple().isAMDGCN())
        return fails;
    return b.CreateIsNotNull(b.CreateIntrinsic(
        llvm::Intrinsic::amdgcn_icmp, {b.getInt64Ty(), b.getInt32Ty()},
        {b.CreateZExt(fails, b.getInt32Ty()), b.getInt32(0),
         b.getInt32(llvm::CmpInst::ICMP_NE)}));
}

/* Asks the checks of a stage for all copies. Where one fails, the old loop goes
   on with the first of these iterations. */
void kiln__ahead::ask(unsigned stage)
{
    llvm::BasicBlock *fine = block("ahead.fine");

    for (const kiln__ahead_check &check : plan.checks)
        if (check.turns == nullptr && !check.stays && check.stage == stage)
            for (unsigned copy = 0; copy < plan.copies; copy++)
                compute(copy, check);
    gather(stage);
    llvm::IRBuilder<> b(at);
    fails = nullptr;
    ask_indices(b);
    for (const kiln__ahead_check *check : others)
        for (unsigned copy = 0; copy < plan.copies; copy++) {
            llvm::Value *one =
                mapped(kiln__branch_of(*check).getCondition(), copy);
            llvm::Value *comes = comes_to(b, *check, copy);

            one = check->raise == 1 ? b.CreateNot(one) : one;
            if (comes != nullptr)
                one = b.CreateLogicalAnd(comes, one);
            or_fails(b, b.CreateFreeze(one));
        }
    b.CreateCondBr(
        of_any_lane(b, fails), loop.getHeader(), fine,
        llvm::MDBuilder(function.getContext()).createUnlikelyBranchWeights());
    resume(*at, false);
    at = fine;
}
