/* item_divide.cc - divisions of integers that vectors can do. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/llvm_gap.h"

using namespace llvm::PatternMatch;

/*
 * Processors divide vectors of floats, but not of integers, so a loop over
 * items that divides integers is not vectorised, or divides one element after
 * the other. A number of up to 32 bits is exact in f64, and the quotient of two
 * of them is, if it is no whole number, at least 1/b away from one. That is far
 * more than what rounding changes, so cutting off the fraction of a/b is right.
 *
 * Where the divisor b is the same for all items, 1/|b| is computed in front of
 * the loop, and the quotient is (a + 1/2) * (1/|b|), with the sign of a before
 * the 1/2. It is at least 1/(2|b|) away from the next whole number, and two
 * roundings change it by less. The sign of b is put on the whole number: that
 * of the least number by -1 wraps, and nothing is undefined.
 *
 * This is also quicker than a division of integers, so it is done in loops that
 * are not vectorised, too.
 *
 * So the question whether a pair has no quotient (foreign_divide.c) is left out
 * there, but for b = 0.
 */

#define WIDTH_MAX 32 /* of numbers whose quotients are exact so */

namespace
{

struct division {
    llvm::BinaryOperator *at;
    bool is_signed;
    /* They follow a division that was one's operand, when it is replaced. */
    llvm::WeakTrackingVH a;
    llvm::WeakTrackingVH b;
    bool is_guarded; /* the divisor was `b`, and 1 where there is no quotient */
};

} // namespace

/* ---- finding ---- */

static bool is_small_division(const llvm::Instruction &at)
{
    return at.isIntDivRem() && at.getType()->isIntegerTy() &&
           at.getType()->getIntegerBitWidth() <= WIDTH_MAX &&
           !llvm::isa<llvm::Constant>(at.getOperand(1));
}

/* Takes `b == 0 || (a == least && b == -1) ? 1 : b` apart. */
static llvm::Value *guarded(llvm::Value *divisor, llvm::Value *a)
{
    llvm::Value *is_bad, *b;

    if (match(divisor, m_Select(m_Value(is_bad), m_One(), m_Value(b))) &&
        match(is_bad,
              m_c_Or(m_SpecificICmp(llvm::CmpInst::ICMP_EQ, m_Specific(b),
                                    m_Zero()),
                     m_c_And(m_SpecificICmp(llvm::CmpInst::ICMP_EQ,
                                            m_Specific(a), m_SignMask()),
                             m_SpecificICmp(llvm::CmpInst::ICMP_EQ,
                                            m_Specific(b), m_AllOnes())))))
        return b;
    return nullptr;
}

static division division_of(const llvm::Loop &loop, llvm::Instruction &at)
{
    llvm::Value *a = at.getOperand(0), *b = guarded(at.getOperand(1), a);
    const bool is_signed = at.getOpcode() == llvm::Instruction::SDiv ||
                           at.getOpcode() == llvm::Instruction::SRem;
    const bool is_guarded = b != nullptr && loop.isLoopInvariant(b);

    return {llvm::cast<llvm::BinaryOperator>(&at), is_signed, a,
            is_guarded ? b : at.getOperand(1), is_guarded};
}

static bool has_same_divisor(const llvm::Loop &loop, const division &d)
{
    return d.is_guarded || loop.isLoopInvariant(d.b);
}

/* ---- replacing ---- */

static llvm::Value *as_float(llvm::IRBuilder<> &b, const division &d,
                             llvm::Value *value)
{
    return d.is_signed ? b.CreateSIToFP(value, b.getDoubleTy())
                       : b.CreateUIToFP(value, b.getDoubleTy());
}

static llvm::Value *as_integer(llvm::IRBuilder<> &b, const division &d,
                               llvm::Value *value)
{
    return d.is_signed ? b.CreateFPToSI(value, d.a->getType())
                       : b.CreateFPToUI(value, d.a->getType());
}

/* Returns the quotient by a divisor that is the same for all items. */
static llvm::Value *quotient_by_same(llvm::IRBuilder<> &builder,
                                     const division &d)
{
    llvm::Type *f64 = builder.getDoubleTy();
    llvm::Value *a = as_float(builder, d, d.a);
    llvm::Value *b = as_float(builder, d, d.b);
    llvm::Value *half = llvm::ConstantFP::get(f64, 0.5), *sign;

    if (d.is_signed) {
        half =
            builder.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, half, a);
        b = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, b);
    }
    b = builder.CreateFDiv(llvm::ConstantFP::get(f64, 1.0), b);
    a = as_integer(builder, d,
                   builder.CreateFMul(builder.CreateFAdd(a, half), b));
    if (!d.is_signed)
        return a;
    sign = builder.CreateAShr(d.b, d.b->getType()->getIntegerBitWidth() - 1);
    return builder.CreateSub(builder.CreateXor(a, sign), sign);
}

static void replace(const llvm::Loop &loop, division &d)
{
    const llvm::Instruction::BinaryOps opcode = d.at->getOpcode();
    llvm::IRBuilder<> builder(d.at);
    llvm::Value *value;

    if (d.is_guarded)
        d.b = builder.CreateSelect(builder.CreateIsNull(d.b),
                                   llvm::ConstantInt::get(d.b->getType(), 1),
                                   d.b);
    if (has_same_divisor(loop, d))
        value = quotient_by_same(builder, d);
    else
        value = as_integer(builder, d,
                           builder.CreateFDiv(as_float(builder, d, d.a),
                                              as_float(builder, d, d.b)));
    if (opcode == llvm::Instruction::SRem || opcode == llvm::Instruction::URem)
        value = builder.CreateSub(d.a, builder.CreateMul(value, d.b));
    d.at->replaceAllUsesWith(value);
    d.at->eraseFromParent();
}

static void divide_in_loop(const llvm::Loop &loop)
{
    llvm::SmallVector<division, 8> found;

    for (llvm::BasicBlock *block : loop.blocks())
        for (llvm::Instruction &at : *block)
            if (is_small_division(at))
                found.push_back(division_of(loop, at));
    for (division &each : found)
        if (loop.isInnermost() || has_same_divisor(loop, each))
            replace(loop, each);
}

static void divide_in(llvm::Function &function)
{
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);

    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        if (llvm::findOptionMDForLoop(loop, KILN__ITEM_LOOP) != nullptr)
            divide_in_loop(*loop);
}

static bool has_small_division(const llvm::Function &function)
{
    return llvm::any_of(llvm::instructions(function), is_small_division);
}

int kiln__llvm_has_divisions(LLVMModuleRef module)
{
    return llvm::any_of(*llvm::unwrap(module), has_small_division);
}

void kiln__llvm_divide_items(LLVMModuleRef module)
{
    for (llvm::Function &function : *llvm::unwrap(module))
        if (has_small_division(function))
            divide_in(function);
}
