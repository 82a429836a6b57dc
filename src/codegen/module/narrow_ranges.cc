/* narrow_ranges.cc - the least and the greatest value of integers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/module/narrow.h"

using namespace llvm::PatternMatch;

/*
 * Ranges begin empty and grow until nothing changes. A bound that still moves
 * after some rounds moves further each time. Then two more rounds take back
 * what was too much: a loop's counter has no bound of its own, but the branch
 * that ends the loop gives it one, and the next value is computed from that.
 */

#define GROWING 3     /* rounds before bounds move further */
#define ROUNDS 40     /* more than any kernel takes */
#define SHRINKING 2   /* rounds that take back */
#define FACTS_MAX 32u /* of a block */

/* ---- what branches say ---- */

void narrow_ranges::add_facts(const llvm::Value *condition, bool holds,
                              llvm::SmallVectorImpl<narrow_fact> &out) const
{
    llvm::CmpPredicate predicate;
    const llvm::Value *a, *b;

    if (out.size() >= FACTS_MAX)
        return;
    if (holds ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
              : match(condition, m_LogicalOr(m_Value(a), m_Value(b)))) {
        add_facts(a, holds, out);
        add_facts(b, holds, out);
    } else if (match(condition, m_ICmp(predicate, m_Value(a), m_Value(b))) &&
               a->getType()->isIntegerTy(64)) {
        const llvm::CmpInst::Predicate p =
            holds ? llvm::CmpInst::Predicate(predicate)
                  : llvm::CmpInst::getInversePredicate(predicate);

        out.push_back({a, p, b});
        out.push_back({b, llvm::CmpInst::getSwappedPredicate(p), a});
    }
}

void narrow_ranges::add_branch_facts(
    const llvm::BasicBlock *from, const llvm::BasicBlock *to,
    llvm::SmallVectorImpl<narrow_fact> &out) const
{
    const auto *jump = llvm::dyn_cast<llvm::BranchInst>(from->getTerminator());

    if (jump != nullptr && jump->isConditional() &&
        jump->getSuccessor(0) != jump->getSuccessor(1))
        add_facts(jump->getCondition(), jump->getSuccessor(0) == to, out);
}

/* Its dominators' facts are known. */
void narrow_ranges::find_facts(const llvm::BasicBlock *block)
{
    const llvm::DomTreeNode *node = dominators.getNode(block);
    const llvm::BasicBlock *above =
        node != nullptr && node->getIDom() != nullptr
            ? node->getIDom()->getBlock()
            : nullptr;
    llvm::SmallVector<narrow_fact, 4> mine;

    if (above == nullptr)
        return;
    for (const llvm::BasicBlock *next : llvm::successors(above))
        if (dominators.dominates(llvm::BasicBlockEdge(above, next), block))
            add_branch_facts(above, next, mine);
    for (const narrow_fact &fact : facts.lookup(above))
        if (mine.size() < FACTS_MAX)
            mine.push_back(fact);
    facts[block] = mine;
}

/* ---- ranges ---- */

static llvm::ConstantRange all_of(const llvm::Value *value)
{
    return llvm::ConstantRange::getFull(value->getType()->getIntegerBitWidth());
}

llvm::ConstantRange narrow_ranges::of(const llvm::Value *value) const
{
    const auto found = ranges.find(value);

    if (const auto *constant = llvm::dyn_cast<llvm::ConstantInt>(value))
        return llvm::ConstantRange(constant->getValue());
    if (const auto *argument = llvm::dyn_cast<llvm::Argument>(value))
        return argument->getRange().value_or(all_of(value));
    return found != ranges.end() ? found->second : all_of(value);
}

llvm::ConstantRange narrow_ranges::meet(
    llvm::ConstantRange range, const llvm::Value *value,
    const llvm::SmallVectorImpl<narrow_fact> &known) const
{
    for (const narrow_fact &fact : known)
        if (fact.value == value)
            range =
                range.intersectWith(llvm::ConstantRange::makeAllowedICmpRegion(
                                        fact.predicate, of(fact.than)),
                                    llvm::ConstantRange::Signed);
    return range;
}

llvm::ConstantRange narrow_ranges::at(const llvm::Value *value,
                                      const llvm::BasicBlock *block) const
{
    const auto found = facts.find(block);

    return found == facts.end() ? of(value)
                                : meet(of(value), value, found->second);
}

/* Returns what the value may be where control goes from one block to the
   other. */
llvm::ConstantRange narrow_ranges::behind(const llvm::Value *value,
                                          const llvm::BasicBlock *from,
                                          const llvm::BasicBlock *to) const
{
    llvm::SmallVector<narrow_fact, 4> known;

    add_branch_facts(from, to, known);
    return meet(at(value, from), value, known);
}

llvm::ConstantRange narrow_ranges::of_phi(const llvm::PHINode &phi) const
{
    llvm::ConstantRange range =
        llvm::ConstantRange::getEmpty(phi.getType()->getIntegerBitWidth());

    for (unsigned i = 0; i < phi.getNumIncomingValues(); i++)
        range =
            range.unionWith(behind(phi.getIncomingValue(i),
                                   phi.getIncomingBlock(i), phi.getParent()),
                            llvm::ConstantRange::Signed);
    return range;
}

llvm::ConstantRange narrow_ranges::of_call(const llvm::CallBase &call) const
{
    const auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call);
    const llvm::MDNode *known = call.getMetadata(llvm::LLVMContext::MD_range);
    llvm::SmallVector<llvm::ConstantRange, 2> operands;

    if (known != nullptr)
        return llvm::getConstantRangeFromMetadata(*known);
    if (const auto range = call.getRange())
        return *range;
    if (intrinsic == nullptr ||
        !llvm::ConstantRange::isIntrinsicSupported(intrinsic->getIntrinsicID()))
        return all_of(&call);
    for (const llvm::Value *operand : intrinsic->args())
        operands.push_back(at(operand, call.getParent()));
    return llvm::ConstantRange::intrinsic(intrinsic->getIntrinsicID(),
                                          operands);
}

llvm::ConstantRange narrow_ranges::of_binary(
    const llvm::BinaryOperator &inst) const
{
    const llvm::ConstantRange a = at(inst.getOperand(0), inst.getParent());
    const llvm::ConstantRange b = at(inst.getOperand(1), inst.getParent());
    const auto *wrapping =
        llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&inst);

    return wrapping != nullptr
               ? a.overflowingBinaryOp(inst.getOpcode(), b,
                                       wrapping->getNoWrapKind())
               : a.binaryOp(inst.getOpcode(), b);
}

llvm::ConstantRange narrow_ranges::compute(const llvm::Instruction &inst) const
{
    const llvm::BasicBlock *block = inst.getParent();
    const unsigned width = inst.getType()->getIntegerBitWidth();

    if (const auto *phi = llvm::dyn_cast<llvm::PHINode>(&inst))
        return of_phi(*phi);
    if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&inst))
        return of_call(*call);
    if (const auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&inst))
        return of_binary(*binary);
    if (llvm::isa<llvm::ZExtInst>(inst) || llvm::isa<llvm::SExtInst>(inst) ||
        llvm::isa<llvm::TruncInst>(inst))
        return at(inst.getOperand(0), block)
            .castOp(static_cast<llvm::Instruction::CastOps>(inst.getOpcode()),
                    width);
    if (const auto *select = llvm::dyn_cast<llvm::SelectInst>(&inst))
        return at(select->getTrueValue(), block)
            .unionWith(at(select->getFalseValue(), block),
                       llvm::ConstantRange::Signed);
    if (const llvm::MDNode *known =
            inst.getMetadata(llvm::LLVMContext::MD_range))
        return llvm::getConstantRangeFromMetadata(*known);
    return all_of(&inst);
}

/* Returns the next number away from zero at which a moving bound may rest: a
   branch may stop it there. */
static llvm::APInt rest(const llvm::APInt &bound)
{
    const unsigned width = bound.getBitWidth();
    const bool is_low = bound.isNegative();

    for (const unsigned bits : {0u, 30u, 31u, 40u})
        if (bits < width && bound.isSignedIntN(bits + 1))
            return is_low
                       ? llvm::APInt::getSignedMinValue(bits + 1).sext(width)
                       : llvm::APInt::getSignedMaxValue(bits + 1).sext(width);
    return is_low ? llvm::APInt::getSignedMinValue(width)
                  : llvm::APInt::getSignedMaxValue(width);
}

/* Moves the bounds that have moved further. */
static llvm::ConstantRange widen(const llvm::ConstantRange &old,
                                 const llvm::ConstantRange &next)
{
    llvm::APInt low = next.getSignedMin(), high = next.getSignedMax();

    if (old.isEmptySet() || next.isFullSet())
        return next;
    if (low.slt(old.getSignedMin()))
        low = rest(low);
    if (high.sgt(old.getSignedMax()))
        high = rest(high);
    return llvm::ConstantRange::getNonEmpty(low, high + 1);
}

bool narrow_ranges::update(const llvm::Instruction &inst, bool grows,
                           bool widens)
{
    const auto found = ranges.find(&inst);
    llvm::ConstantRange next = compute(inst);

    if (grows)
        next = next.unionWith(found->second, llvm::ConstantRange::Signed);
    if (widens)
        next = widen(found->second, next);
    if (next == found->second)
        return false;
    found->second = next;
    return true;
}

narrow_ranges::narrow_ranges(llvm::Function &of_function)
    : function(of_function), dominators(of_function)
{
    const llvm::ReversePostOrderTraversal<llvm::Function *> order(&function);
    llvm::SmallVector<llvm::Instruction *, 64> all;
    bool changed = true;

    for (llvm::BasicBlock *block : order) {
        find_facts(block);
        for (llvm::Instruction &inst : *block)
            if (inst.getType()->isIntegerTy()) {
                all.push_back(&inst);
                ranges.insert(
                    {&inst, llvm::ConstantRange::getEmpty(
                                inst.getType()->getIntegerBitWidth())});
            }
    }
    for (unsigned round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (const llvm::Instruction *inst : all)
            changed |= update(*inst, true, round >= GROWING);
    }
    if (changed)
        ranges.clear();
    for (unsigned round = 0; !changed && round < SHRINKING; round++)
        for (const llvm::Instruction *inst : all)
            (void)update(*inst, false, false);
}
