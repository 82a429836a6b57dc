/* item_windows.cc - items whose windows are inside get a loop of their own. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <optional>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/items/trim.h"
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
 * A *question* compares a sum with something fixed. The sum has the counter of
 * the items once, and counters of inner loops and fixed numbers with small
 * factors. All numbers have to be so small that no sum wraps around; where they
 * are not, there are no items in between. Items are as in item_edges.cc.
 */

#define LOOP_MOST 200u /* instructions */
#define LOOPS_MOST 32u /* of a function */
#define TERMS_MOST 8u  /* of a sum */
#define FACTOR_MOST 4
/* What numbers are less than, also with a sign: no sum of so many of them, by
   such factors, wraps around in 64 bits or in 32. */
#define SMALL_BITS 40u
#define SMALL_BITS_OF_32 25u

namespace
{

struct term {
    llvm::Value *value; /* fixed, or the counter of an inner loop */
    int64_t factor;
};

struct sum {
    llvm::SmallVector<term, TERMS_MOST> terms;
    llvm::SmallVector<llvm::BinaryOperator *, TERMS_MOST> steps;
    int64_t items = 0; /* factor of the counter of the items */
    int64_t number = 0;
    unsigned parts = 0; /* terms, numbers, counters */
};

struct range {
    llvm::Value *first;
    llvm::Value *end;
    bool is_unsigned; /* so it was compared */
};

/* A comparison of two sums that move alike. */
struct level_question {
    llvm::ICmpInst *at;
    sum difference; /* of what is to be greater, compared with 0 */
    llvm::Value *answer;
};

/* What an instruction is in between: where `at_least`, and `below`, are not
   less than 0, and less than 0. */
struct question {
    llvm::Instruction *at;
    llvm::WeakTrackingVH moving; /* it may be a question, too */
    bool truth = false;          /* of a comparison */
    std::optional<sum> at_least;
    std::optional<sum> below;
};

class windows
{
  public:
    windows(const trim_loop &of, llvm::LoopInfo &all) : l(of), loops(all)
    {
    }

    bool find();
    void split();

  private:
    bool add(llvm::Value *value, int64_t factor, sum &to, unsigned depth);
    bool is_counter(llvm::Value *value) const;
    range range_of(const llvm::PHINode &counter) const;
    void ask(llvm::ICmpInst &at);
    void ask(llvm::IntrinsicInst &at);
    void ask_level(llvm::ICmpInst &at);
    void note(const question &q, llvm::Value *fixed, int64_t more_at_least,
              int64_t more_below, unsigned which);
    llvm::Value *wide(llvm::IRBuilder<> &b, llvm::Value *value) const;
    void keep_small(llvm::IRBuilder<> &b, llvm::Value *value);
    llvm::Value *extreme(llvm::IRBuilder<> &b, const sum &of, bool is_least);
    void find_bounds(llvm::IRBuilder<> &b);
    llvm::BasicBlock *add_edges(llvm::BasicBlock *after);
    void simplify();

    const trim_loop &l;
    llvm::LoopInfo &loops;
    llvm::SmallVector<question, 8> questions;
    llvm::SmallVector<level_question, 4> levels;
    bool has_32_bits = false;
    llvm::Value *from = nullptr;
    llvm::Value *to = nullptr;
    llvm::Value *are_small = nullptr;
};

} // namespace

/* ---- sums ---- */

/* True for the counter of a loop inside that counts up by 1, between bounds
   that are the same for all items. */
bool windows::is_counter(llvm::Value *value) const
{
    const auto *phi = llvm::dyn_cast<llvm::PHINode>(value);
    const llvm::Loop *loop =
        phi != nullptr ? loops.getLoopFor(phi->getParent()) : nullptr;

    if (loop == nullptr || loop == l.loop || !l.loop->contains(loop) ||
        loop->getHeader() != phi->getParent() || !loop->isLoopSimplifyForm())
        return false;
    const llvm::BasicBlock *latch = loop->getLoopLatch();
    const auto *next = llvm::dyn_cast<llvm::BinaryOperator>(
        phi->getIncomingValueForBlock(latch));
    const auto *jump = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
    const auto *compare =
        jump != nullptr && jump->isConditional()
            ? llvm::dyn_cast<llvm::ICmpInst>(jump->getCondition())
            : nullptr;
    const auto *step =
        next != nullptr ? llvm::dyn_cast<llvm::ConstantInt>(next->getOperand(1))
                        : nullptr;

    return compare != nullptr && step != nullptr && step->isOne() &&
           next->getOpcode() == llvm::Instruction::Add &&
           next->getOperand(0) == phi && compare->getOperand(0) == next &&
           jump->getSuccessor(0) == loop->getHeader() &&
           (compare->getPredicate() == llvm::CmpInst::ICMP_ULT ||
            compare->getPredicate() == llvm::CmpInst::ICMP_SLT) &&
           l.loop->isLoopInvariant(compare->getOperand(1)) &&
           l.loop->isLoopInvariant(
               phi->getIncomingValueForBlock(loop->getLoopPreheader()));
}

/* Of a counter as above. */
range windows::range_of(const llvm::PHINode &counter) const
{
    const llvm::Loop *loop = loops.getLoopFor(counter.getParent());
    const auto *jump =
        llvm::cast<llvm::BranchInst>(loop->getLoopLatch()->getTerminator());

    const auto *compare = llvm::cast<llvm::ICmpInst>(jump->getCondition());

    return {counter.getIncomingValueForBlock(loop->getLoopPreheader()),
            compare->getOperand(1), compare->isUnsigned()};
}

/* Adds the value times a factor; false: it is no such sum. */
bool windows::add(llvm::Value *value, int64_t factor, sum &to, unsigned depth)
{
    const auto *number = llvm::dyn_cast<llvm::ConstantInt>(value);
    const unsigned width = value->getType()->getScalarSizeInBits();

    if (!value->getType()->isIntegerTy() || (width != 64 && width != 32) ||
        factor > FACTOR_MOST || factor < -FACTOR_MOST || depth > TERMS_MOST ||
        to.parts > TERMS_MOST)
        return false;
    has_32_bits |= width == 32;
    to.parts++;
    if (number != nullptr) {
        to.number += factor * number->getSExtValue();
        return number->getValue().getSignificantBits() < SMALL_BITS_OF_32;
    }
    if (value == l.counter) {
        to.items += factor;
        return true;
    }
    if (l.loop->isLoopInvariant(value) || is_counter(value)) {
        to.terms.push_back({value, factor});
        return true;
    }
    to.parts--;
    auto *at = llvm::cast<llvm::Instruction>(value);

    for (const question &q : questions) /* `max(i - r, 0)` is `i - r` */
        if (q.at == at && !llvm::isa<llvm::ICmpInst>(at))
            return add(q.moving, factor, to, depth + 1);
    if (auto *step = llvm::dyn_cast<llvm::BinaryOperator>(at))
        to.steps.push_back(step);
    switch (at->getOpcode()) {
    case llvm::Instruction::Add:
        return add(at->getOperand(0), factor, to, depth + 1) &&
               add(at->getOperand(1), factor, to, depth + 1);
    case llvm::Instruction::Sub:
        return add(at->getOperand(0), factor, to, depth + 1) &&
               add(at->getOperand(1), -factor, to, depth + 1);
    case llvm::Instruction::Mul:
        number = llvm::dyn_cast<llvm::ConstantInt>(at->getOperand(1));
        return number != nullptr && number->getValue().abs().ule(FACTOR_MOST) &&
               add(at->getOperand(0), factor * number->getSExtValue(), to,
                   depth + 1);
    case llvm::Instruction::SExt:
    case llvm::Instruction::Trunc:
        return add(at->getOperand(0), factor, to, depth + 1);
    default:
        return false;
    }
}

/* ---- questions ---- */

/* Adds the question, whose sum moves: `which` has 1 where it must be at least
   `fixed + more_at_least`, and 2 where it must be less than `fixed +
   more_below`. If both, `fixed` is the end only, and the sum is at least 0. */
void windows::note(const question &q, llvm::Value *fixed, int64_t more_at_least,
                   int64_t more_below, unsigned which)
{
    question all = q;
    sum moving, less;

    if (!add(q.moving, 1, moving, 0) || moving.items != 1)
        return;
    less = moving;
    if (!add(fixed, -1, less, 0) || less.items != 1)
        return;
    if (which & 1)
        all.at_least = which & 2 ? moving : less;
    if (which & 2)
        all.below = less;
    if (all.at_least)
        all.at_least->number -= more_at_least;
    if (all.below)
        all.below->number -= more_below;
    questions.push_back(all);
}

/* What is compared with a constant is asked at the first edge; with anything
   else, at the last one; without a sign, at both. */
void windows::ask(llvm::ICmpInst &at)
{
    const bool is_swapped = l.loop->isLoopInvariant(at.getOperand(0));
    llvm::Value *fixed = at.getOperand(is_swapped ? 0 : 1);
    const llvm::CmpInst::Predicate predicate =
        is_swapped ? at.getSwappedPredicate() : at.getPredicate();
    question q = {&at, at.getOperand(is_swapped ? 1 : 0), false, {}, {}};
    const bool is_less =
        llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);
    const int64_t more =
        llvm::ICmpInst::isLE(predicate) || llvm::ICmpInst::isGT(predicate);

    if (!at.isRelational() || !l.loop->isLoopInvariant(fixed))
        return;
    if (llvm::isa<llvm::ConstantInt>(fixed) && at.isSigned()) {
        q.truth = !is_less;
        note(q, fixed, more, 0, 1);
    } else {
        q.truth = is_less;
        note(q, fixed, 0, more, at.isSigned() ? 2 : 3);
    }
}

void windows::ask(llvm::IntrinsicInst &at)
{
    const llvm::Intrinsic::ID which = at.getIntrinsicID();

    if (which != llvm::Intrinsic::smax && which != llvm::Intrinsic::smin)
        return;
    const bool is_swapped = l.loop->isLoopInvariant(at.getArgOperand(0));
    llvm::Value *fixed = at.getArgOperand(is_swapped ? 0 : 1);

    if (l.loop->isLoopInvariant(fixed))
        note({&at, at.getArgOperand(is_swapped ? 1 : 0), false, {}, {}}, fixed,
             0, 1, which == llvm::Intrinsic::smax ? 1 : 2);
}

/* Compares what moves alike: the same for all items in between. */
void windows::ask_level(llvm::ICmpInst &at)
{
    const bool is_less = llvm::ICmpInst::isLT(at.getPredicate()) ||
                         llvm::ICmpInst::isLE(at.getPredicate());
    sum difference;

    if (at.isSigned() && add(at.getOperand(is_less), 1, difference, 0) &&
        add(at.getOperand(!is_less), -1, difference, 0) &&
        difference.items == 0 &&
        llvm::all_of(difference.terms, [this](const term &t) {
            return l.loop->isLoopInvariant(t.value);
        }))
        levels.push_back({&at, difference, nullptr});
}

/* True if some question is asked in an inner loop, or is about its bounds. */
bool windows::find()
{
    bool any = false;

    for (llvm::BasicBlock *block : l.loop->blocks())
        for (llvm::Instruction &at : *block) {
            const size_t before = questions.size();
            auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&at);
            auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&at);

            if (compare != nullptr && compare != l.jump->getCondition())
                ask(*compare);
            else if (call != nullptr)
                ask(*call);
            any |= questions.size() > before &&
                   (call != nullptr || loops.getLoopFor(block) != l.loop);
        }
    for (llvm::BasicBlock *block : l.loop->blocks())
        for (llvm::Instruction &at : *block)
            if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&at))
                ask_level(*compare);
    return any;
}

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

    are_small = b.CreateAnd(
        are_small, b.CreateICmpULT(b.CreateAdd(value, b.getInt64(limit)),
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
                are_small = b.CreateAnd(
                    are_small, b.CreateIsNotNeg(b.CreateOr(first, end)));
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
    are_small = b.getTrue();
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
    from = b.CreateSelect(are_small, from, l.first);
    to = b.CreateSelect(are_small, to, l.first);
}

/* ---- loops ---- */

/* Makes the latch with that branch end its loop at `end`. */
static void end_at(llvm::BranchInst *jump, llvm::Value *next, llvm::Value *end,
                   llvm::BasicBlock *after)
{
    llvm::IRBuilder<> b(jump);

    jump->setCondition(b.CreateICmpULT(next, end));
    jump->setSuccessor(1, after);
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
    llvm::SmallVector<llvm::BasicBlock *, 8> blocks;
    llvm::ValueToValueMapTy map;
    llvm::IRBuilder<> b(side);
    llvm::PHINode *is_last = b.CreatePHI(b.getInt1Ty(), 2);
    llvm::Value *first = b.CreateSelect(is_last, to, l.first);
    llvm::Value *end = b.CreateSelect(is_last, l.end, from);

    for (llvm::BasicBlock *block : l.loop->blocks()) {
        blocks.push_back(llvm::CloneBasicBlock(block, map, ".edge", &function));
        map[block] = blocks.back();
    }
    map[l.before] = start;
    llvm::remapInstructionsInBlocks(blocks, map);
    b.CreateCondBr(b.CreateICmpULT(first, end), start, done);
    b.SetInsertPoint(start);
    b.CreateBr(llvm::cast<llvm::BasicBlock>(map[header]));
    auto *counter = llvm::cast<llvm::PHINode>(map[l.counter]);
    auto *jump = llvm::cast<llvm::BranchInst>(map[l.jump]);

    counter->setIncomingValueForBlock(start, first);
    end_at(jump, counter->getIncomingValueForBlock(jump->getParent()), end,
           done);
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
    end_at(l.jump, l.counter->getIncomingValueForBlock(l.jump->getParent()), to,
           l.exit);
    llvm::addStringMetadataToLoop(l.loop, KILN__SMALL_LOOP, 1);
    simplify();
}

/* ---- functions ---- */

static bool is_wanted(llvm::Loop &loop, trim_loop &out)
{
    return !loop.isInnermost() && kiln__trim_size(loop) <= LOOP_MOST &&
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

void kiln__llvm_split_windows(LLVMModuleRef module)
{
    kiln__trim_each(*llvm::unwrap(module), LOOPS_MOST, is_wanted,
                    split_if_it_has_windows);
}
