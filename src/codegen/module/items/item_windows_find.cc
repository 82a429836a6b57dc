/* item_windows_find.cc - finds what items ask about their windows. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/Constants.h>

#include "codegen/module/items/item_windows.h"

/*
 * A question that is asked by a comparison, or by a minimum or a maximum, is
 * about the first edge or the last one. What it becomes in between is noted
 * with the sum that has to be at least 0 there, or less than 0.
 */

#define FACTOR_MOST 4
#define NUMBER_BITS 25u /* of a constant */

using namespace item_windows;

/* ---- sums ---- */

/* What the loop's last question compares with, where the counter of the next
   turn has to be less. Of constants, LLVM asks the counter of this turn. */
static llvm::Value *end_of(const llvm::ICmpInst &compare,
                           const llvm::Value *next, const llvm::PHINode *phi)
{
    llvm::Value *end = compare.getOperand(1);
    const auto *number = llvm::dyn_cast<llvm::ConstantInt>(end);

    if (compare.getOperand(0) == next)
        return end;
    if (compare.getOperand(0) != phi || number == nullptr ||
        number->getValue().getSignificantBits() >= NUMBER_BITS)
        return nullptr;
    return llvm::ConstantInt::get(end->getType(), number->getValue() + 1);
}

/* True for the counter of a loop inside that counts up by 1, between bounds
   that are the same for all items. Expensive items with constant bounds are
   left alone: their few loads from the edges cost less than a second copy. */
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
           next->getOperand(0) == phi &&
           end_of(*compare, next, phi) != nullptr &&
           !(is_expensive &&
             llvm::isa<llvm::ConstantInt>(compare->getOperand(1))) &&
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
    const llvm::BasicBlock *latch = loop->getLoopLatch();
    const auto *jump = llvm::cast<llvm::BranchInst>(latch->getTerminator());
    const auto *compare = llvm::cast<llvm::ICmpInst>(jump->getCondition());

    return {counter.getIncomingValueForBlock(loop->getLoopPreheader()),
            end_of(*compare, counter.getIncomingValueForBlock(latch), &counter),
            compare->isUnsigned()};
}

/* Adds the value times a factor; false: it is no such sum. */
bool windows::add(llvm::Value *value, int64_t factor, sum &to, unsigned depth)
{
    const auto *number = llvm::dyn_cast<llvm::ConstantInt>(value);
    const unsigned width = value->getType()->getScalarSizeInBits();

    if (!value->getType()->isIntegerTy() || (width != 64 && width != 32) ||
        factor > FACTOR_MOST || factor < -FACTOR_MOST || depth > parts_most ||
        to.parts > parts_most)
        return false;
    has_32_bits |= width == 32;
    to.parts++;
    if (number != nullptr) {
        to.number += factor * number->getSExtValue();
        return number->getValue().getSignificantBits() < NUMBER_BITS;
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

    if (which == llvm::Intrinsic::abs) /* what a mirror does at the edge */
        note({&at, at.getArgOperand(0), false, {}, {}},
             llvm::ConstantInt::get(at.getType(), 0), 0, 0, 1);
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

/* True for a question about a neighbour, at a constant distance. */
static bool is_about_neighbour(const question &q)
{
    const auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(q.moving);

    return sum != nullptr && sum->getOpcode() == llvm::Instruction::Add &&
           llvm::isa<llvm::ConstantInt>(sum->getOperand(1));
}

/* True if some question is asked in an inner loop, is about its bounds, or is
   about a neighbour. */
bool windows::find()
{
    bool any = false;

    for (llvm::BasicBlock *block : l.loop->blocks())
        for (llvm::Instruction &at : *block) {
            const size_t before = questions.size();
            auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&at);
            auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&at);

            if (at.use_empty()) /* trim.cc leaves some */
                continue;
            if (compare != nullptr && compare != l.jump->getCondition())
                ask(*compare);
            else if (call != nullptr)
                ask(*call);
            any |= questions.size() > before &&
                   (call != nullptr || loops.getLoopFor(block) != l.loop ||
                    (l.loop->isInnermost() &&
                     is_about_neighbour(questions.back())));
        }
    for (llvm::BasicBlock *block : l.loop->blocks())
        for (llvm::Instruction &at : *block)
            if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&at))
                ask_level(*compare);
    if (any && l.loop->isInnermost())
        find_rows();
    return any;
}
