/* wide_begins.cc - whether loops of items begin before they end. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/wide/wide_bounds.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/SimplifyQuery.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/llvm_gap.h"

/*
 * The end of a loop is asked for behind an iteration. Masks of vectors ask
 * before it. Both are the same only where items that go through the loop begin
 * before its end. LLVM knows this of most loops from the branch in front of
 * them. Where that has become bounds of the loop over items, or has moved to
 * before it, it is found out here.
 */

namespace
{

class beginning
{
  public:
    beginning(const wide_start &start, llvm::DominatorTree &tree,
              llvm::ScalarEvolution &numbers)
        : of(start), dominators(tree), evolution(numbers)
    {
    }

    bool is_before_end() const;

  private:
    bool limits(const llvm::SCEV *value, const llvm::SCEV *limit) const;
    bool is_below_items(const llvm::SCEV *end) const;
    bool is_exact(const llvm::Value *value) const;
    bool is_apart() const;

    const wide_start &of;
    llvm::DominatorTree &dominators;
    llvm::ScalarEvolution &evolution;
};

} // namespace

/* True if each number from 0 on that is less than the value, unsigned, is less
   than the limit: the value is that, or a minimum that has it. */
bool beginning::limits(const llvm::SCEV *value, const llvm::SCEV *limit) const
{
    const auto *least = llvm::dyn_cast<llvm::SCEVMinMaxExpr>(value);
    const llvm::SCEV *zero = evolution.getZero(value->getType());
    const auto is_limit = [&](const llvm::SCEV *operand) {
        return operand == limit || limits(operand, limit);
    };

    if (value == evolution.getSMaxExpr(zero, limit))
        return true;
    if (least != nullptr && llvm::isa<llvm::SCEVUMinExpr>(least))
        return llvm::any_of(least->operands(), [&](const llvm::SCEV *operand) {
            return limits(operand, limit);
        });
    if (!evolution.isKnownNonNegative(value))
        return false;
    return value == limit ||
           (least != nullptr && llvm::isa<llvm::SCEVSMinExpr>(least) &&
            llvm::any_of(least->operands(), is_limit));
}

/* True if the start is the number of the item, which is less than the end of
   the loop over items, and that is at most this end: a guard, `i < n`, has
   become bounds of items. */
bool beginning::is_below_items(const llvm::SCEV *end) const
{
    const auto *number =
        llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(of.start));
    const llvm::DataLayout &layout = of.items.getHeader()->getDataLayout();
    const auto *jump = llvm::dyn_cast<llvm::BranchInst>(
        of.items.getLoopLatch()->getTerminator());
    const auto *compare =
        jump != nullptr && jump->isConditional()
            ? llvm::dyn_cast<llvm::ICmpInst>(jump->getCondition())
            : nullptr;

    if (number == nullptr || number->getLoop() != &of.items ||
        compare == nullptr || !compare->isUnsigned() ||
        !of.items.isLoopInvariant(compare->getOperand(1)) ||
        !llvm::isKnownNonNegative(of.start, {layout, &dominators}))
        return false;
    const llvm::SCEV *most = evolution.getSCEV(compare->getOperand(1));

    return most->getType() == end->getType() && limits(most, end) &&
           evolution.isKnownOnEveryIteration(llvm::CmpInst::ICMP_ULT, number,
                                             most);
}

/* True for a sum that does not wrap around, in a loop where such sums are
   small. */
bool beginning::is_exact(const llvm::Value *value) const
{
    const auto *at = llvm::dyn_cast<llvm::BinaryOperator>(value);

    if (at == nullptr || !of.items.contains(at))
        return true;
    return (at->getOpcode() == llvm::Instruction::Add ||
            at->getOpcode() == llvm::Instruction::Sub) &&
           at->hasNoSignedWrap() && is_exact(at->getOperand(0)) &&
           is_exact(at->getOperand(1));
}

/* True if the end is as far behind the start for all items, and that was asked
   before: the bounds of a window that moves with the item. */
bool beginning::is_apart() const
{
    const llvm::SCEV *distance = evolution.getMinusSCEV(
        evolution.getSCEV(of.end), evolution.getSCEV(of.start));

    return llvm::findOptionMDForLoop(&of.items, KILN__SMALL_LOOP) != nullptr &&
           of.compare.isSigned() && is_exact(of.start) && is_exact(of.end) &&
           evolution.isLoopInvariant(distance, &of.items) &&
           evolution.isLoopEntryGuardedByCond(
               &of.loop, llvm::CmpInst::ICMP_SGT, distance,
               evolution.getZero(distance->getType()));
}

/* True if the first number of an item that goes through the loop is less than
   its end. Otherwise it has an iteration all the same. */
bool beginning::is_before_end() const
{
    const llvm::SCEV *start = evolution.getSCEV(of.start);
    const llvm::SCEV *end = evolution.getSCEV(of.end);
    const llvm::CmpInst::Predicate less = of.compare.isSigned()
                                              ? llvm::CmpInst::ICMP_SLT
                                              : llvm::CmpInst::ICMP_ULT;

    return evolution.isKnownPredicate(less, start, end) ||
           evolution.isLoopEntryGuardedByCond(&of.loop, less, start, end) ||
           is_below_items(end) || is_apart();
}

bool kiln__wide_begins(const wide_start &of, llvm::DominatorTree &dominators,
                       llvm::ScalarEvolution &evolution)
{
    return beginning(of, dominators, evolution).is_before_end();
}
