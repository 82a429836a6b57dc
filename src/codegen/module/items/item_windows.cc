/* item_windows.cc - items whose windows are inside get a loop of their own. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/item_windows.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/llvm_gap.h"

/*
 *     for i in first..end
 *         for k in 0..taps
 *             if i + k - r is in 0..n    s += tap[k] * x[i + k - r]
 *     =>
 *     for both edges
 *         for i in those at the edge     body, as before
 *     for i in from..to
 *         for k in 0..taps               s += tap[k] * x[i + k - r]
 *
 * In between, no iteration of an inner loop asks anything, and windows that are
 * clipped by `max(i - r, 0)..min(i + r + 1, n)` are equally long. Which items
 * these are is computed from the bounds of the inner loops, before the loop.
 *
 * Items without loops have neighbours: what they ask about `i + 1` is the same.
 *
 * All numbers that questions are made of have to be so small that no sum wraps
 * around; where they are not, there are no items in between. Items are as in
 * item_edges.cc.
 */

#define LOOP_MOST 700u /* instructions */
#define LOOPS_MOST 32u /* of a function */
#define NEAR 64        /* items at an edge that are few */
/* What numbers are less than, also with a sign: no sum of so many of them, by
   such factors, wraps around in 64 bits or in 32. */
#define SMALL_BITS 40u
#define SMALL_BITS_OF_32 25u

using namespace item_windows;

/* ---- which items are in between ---- */

llvm::Value *windows::wide(llvm::IRBuilder<> &b, llvm::Value *value) const
{
    if (!llvm::isGuaranteedNotToBeUndefOrPoison(value))
        value = b.CreateFreeze(value);
    return b.CreateSExt(value, b.getInt64Ty());
}

void windows::keep_small(llvm::IRBuilder<> &b, llvm::Value *value)
{
    const uint64_t limit = uint64_t{1}
                           << (has_32_bits ? SMALL_BITS_OF_32 : SMALL_BITS);

    is_possible = b.CreateAnd(
        is_possible, b.CreateICmpULT(b.CreateAdd(value, b.getInt64(limit)),
                                     b.getInt64(2 * limit)));
}

/* Computes the least value of the sum without the items, or the greatest one,
   over all iterations. */
llvm::Value *windows::extreme(llvm::IRBuilder<> &b, const sum &of,
                              bool is_least)
{
    llvm::Value *all = b.getInt64(static_cast<uint64_t>(of.number));

    for (const term &t : of.terms) {
        llvm::Value *value;

        if (!l.loop->isLoopInvariant(t.value)) {
            const range r = range_of(*llvm::cast<llvm::PHINode>(t.value));
            llvm::Value *first = wide(b, r.first), *end = wide(b, r.end);

            keep_small(b, first);
            keep_small(b, end);
            if (r.is_unsigned)
                is_possible = b.CreateAnd(
                    is_possible, b.CreateIsNotNeg(b.CreateOr(first, end)));
            value =
                (t.factor > 0) == is_least
                    ? first
                    : b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first,
                                              b.CreateSub(end, b.getInt64(1)));
        } else {
            value = wide(b, t.value);
            keep_small(b, value);
        }
        all = b.CreateAdd(
            all,
            b.CreateMul(value, b.getInt64(static_cast<uint64_t>(t.factor))));
    }
    return all;
}

/* first <= from <= to <= end */
void windows::find_bounds(llvm::IRBuilder<> &b)
{
    is_possible = is_row_inside(b);
    from = l.first;
    to = l.end;
    keep_small(b, l.first);
    keep_small(b, l.end);
    for (const question &q : questions) {
        if (q.at_least)
            from = b.CreateBinaryIntrinsic(
                llvm::Intrinsic::smax, from,
                b.CreateNeg(extreme(b, *q.at_least, true)));
        if (q.below)
            to = b.CreateBinaryIntrinsic(
                llvm::Intrinsic::smin, to,
                b.CreateNeg(extreme(b, *q.below, false)));
    }
    for (level_question &q : levels)
        q.answer =
            b.CreateICmp(q.at->isTrueWhenEqual() ? llvm::CmpInst::ICMP_SGE
                                                 : llvm::CmpInst::ICMP_SGT,
                         extreme(b, q.difference, true), b.getInt64(0));
    from = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, from, l.end);
    to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, from, to);
    from = b.CreateSelect(is_possible, from, l.first);
    to = b.CreateSelect(is_possible, to, l.first);
}

/* ---- loops ---- */

/* True if edges are as near as constants, such as those of a mask. */
bool windows::are_near() const
{
    const auto is_near = [](const std::optional<sum> &of, size_t ends) {
        return !of || (of->terms.size() <= ends && std::abs(of->number) < NEAR);
    };

    return llvm::all_of(questions, [&](const question &q) {
        return is_near(q.at_least, 0) && is_near(q.below, 1);
    });
}

/* Adds a loop around a copy of the loop, for the items before and behind those
   in between, which are first..from and to..end. Returns its first block. */
llvm::BasicBlock *windows::add_edges(llvm::BasicBlock *after)
{
    llvm::BasicBlock *header = l.loop->getHeader();
    llvm::Function &function = *header->getParent();
    llvm::LLVMContext &context = function.getContext();
    auto *side = llvm::BasicBlock::Create(context, "edge", &function, header);
    auto *start = llvm::BasicBlock::Create(context, "", &function, header);
    auto *done = llvm::BasicBlock::Create(context, "", &function, header);
    llvm::ValueToValueMapTy map;
    llvm::IRBuilder<> b(side);
    llvm::PHINode *is_last = b.CreatePHI(b.getInt1Ty(), 2);
    llvm::Value *first = b.CreateSelect(is_last, to, l.first);
    llvm::Value *end = b.CreateSelect(is_last, l.end, from);

    b.CreateCondBr(b.CreateICmpULT(first, end), start, done);
    llvm::BranchInst *jump =
        kiln__trim_copy_part(l, {start, ".edge", first, end, done}, map);

    if (are_near())
        kiln__trim_leave_as_it_is(jump);
    b.SetInsertPoint(done);
    b.CreateCondBr(is_last, after, side);
    is_last->addIncoming(b.getFalse(), l.before);
    is_last->addIncoming(b.getTrue(), done);
    return side;
}

/* No sum in between wraps around. */
static void say_exact(const sum &of)
{
    for (llvm::BinaryOperator *step : of.steps)
        step->setHasNoSignedWrap(true);
}

/* Replaces what was asked in the loop in between. */
void windows::simplify()
{
    for (const question &q : questions) {
        if (q.at_least)
            say_exact(*q.at_least);
        if (q.below)
            say_exact(*q.below);
    }
    for (const level_question &q : levels)
        say_exact(q.difference);
    for (const question &q : questions) {
        q.at->replaceAllUsesWith(
            llvm::isa<llvm::ICmpInst>(q.at)
                ? llvm::ConstantInt::getBool(q.at->getContext(), q.truth)
                : q.moving);
        q.at->eraseFromParent();
    }
    for (const level_question &q : levels)
        q.at->replaceAllUsesWith(q.answer);
    for (const row_question &q : rows)
        q.at->replaceUsesWithIf(
            llvm::ConstantInt::getBool(q.at->getContext(), q.truth),
            [this](const llvm::Use &use) {
                return l.loop->contains(
                    llvm::cast<llvm::Instruction>(use.getUser()));
            });
}

void windows::split()
{
    llvm::BasicBlock *header = l.loop->getHeader();
    llvm::Function &function = *header->getParent();
    auto *middle =
        llvm::BasicBlock::Create(function.getContext(), "", &function, header);
    auto *inside =
        llvm::BasicBlock::Create(function.getContext(), "", &function, header);
    llvm::IRBuilder<> b(l.before->getTerminator());

    find_bounds(b);
    llvm::BasicBlock *edges = add_edges(middle);

    b.CreateBr(edges);
    l.before->getTerminator()->eraseFromParent();
    b.SetInsertPoint(middle);
    b.CreateCondBr(b.CreateICmpULT(from, to), inside, l.exit);
    b.SetInsertPoint(inside);
    b.CreateBr(header);
    l.counter->replaceIncomingBlockWith(l.before, inside);
    l.counter->setIncomingValueForBlock(inside, from);
    kiln__trim_end_at(l.jump, l.counter, to, l.exit);
    llvm::addStringMetadataToLoop(l.loop, KILN__SMALL_LOOP, 1);
    simplify();
}

/* ---- functions ---- */

static bool is_wanted(llvm::Loop &loop, trim_loop &out)
{
    return kiln__trim_size(loop) <= LOOP_MOST &&
           loop.getExitingBlock() != nullptr &&
           kiln__trim_is_item_loop(&loop, out);
}

static void split_if_it_has_windows(const trim_loop &l,
                                    const llvm::DominatorTree &dominators)
{
    llvm::LoopInfo loops(dominators);
    trim_loop own = l;

    own.loop = loops.getLoopFor(l.loop->getHeader());
    windows w(own, loops);

    if (w.find())
        w.split();
}

#include <llvm/Support/raw_ostream.h>
void kiln__llvm_split_windows(LLVMModuleRef module)
{
    kiln__trim_each(*llvm::unwrap(module), LOOPS_MOST, is_wanted,
                    split_if_it_has_windows);
}
