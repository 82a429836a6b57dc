/* item_runs_length.cc - how long items' places grow like their numbers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/item_runs.h"

/*
 * As long as only low bits of a number change, `number & mask`, where these
 * bits of the mask are ones, grows like the number; and so do `|` and `^`,
 * where they are zeros, and an extension. A shift stays the same as long as
 * only bits change that it drops.
 *
 * A remainder grows, and a quotient stays, until the next multiple of the
 * divisor, which has to be positive. Of negative numbers, multiples are the
 * last of their runs and not the first.
 *
 * In a run, a number does not go beyond the greatest of its type.
 */

using namespace item_runs;

/* Returns the bits that may change in a run of the operation: a number that is
   one less than a power of two. If there is no end to it, all bits may. */
static llvm::Value *changing_bits(const operation &o, llvm::IRBuilder<> &b)
{
    llvm::Constant *one = llvm::ConstantInt::get(o.at->getType(), 1);
    llvm::Value *kept = o.frozen; /* the lowest 1 of it stays as it is */

    if (o.at->getOpcode() == llvm::Instruction::LShr)
        return b.CreateFreeze(b.CreateSub(b.CreateShl(one, kept), one));
    if (o.at->getOpcode() == llvm::Instruction::And)
        kept = b.CreateNot(kept);
    return b.CreateAnd(b.CreateNot(kept), b.CreateSub(kept, one));
}

static bool is_signed(const operation &o)
{
    return o.at->getOpcode() == llvm::Instruction::SDiv ||
           o.at->getOpcode() == llvm::Instruction::SRem;
}

/* The highest bit of a number does not change: a number with fewer bits that is
   extended would jump there. */
llvm::Value *item_runs::begin(operation &o, llvm::IRBuilder<> &b)
{
    llvm::Type *type = o.moving->getType();
    llvm::Value *most =
        b.getInt(llvm::APInt::getSignedMaxValue(type->getIntegerBitWidth()));

    if (o.fixed != nullptr)
        o.frozen = b.CreateFreeze(o.fixed);
    if (is_division(o))
        return b.CreateICmp(is_signed(o) ? llvm::CmpInst::ICMP_SGE
                                         : llvm::CmpInst::ICMP_UGE,
                            o.frozen, llvm::ConstantInt::get(type, shortest));
    o.low = most;
    if (o.fixed != nullptr)
        o.low = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, most,
                                        changing_bits(o, b));
    return b.CreateICmpUGE(o.low, llvm::ConstantInt::get(type, shortest - 1));
}

/* Computes what grows for that counter. */
static llvm::Value *value_for(const trim_loop &l, llvm::Value *value,
                              llvm::Value *counter, llvm::IRBuilder<> &b)
{
    if (value == l.counter)
        return counter;
    if (l.loop->isLoopInvariant(value))
        return b.CreateFreeze(value);
    const auto *at = llvm::cast<llvm::Instruction>(value);
    llvm::Value *first = value_for(l, at->getOperand(0), counter, b);

    if (at->getOpcode() == llvm::Instruction::Trunc)
        return b.CreateTrunc(first, at->getType());
    llvm::Value *second = value_for(l, at->getOperand(1), counter, b);

    return at->getOpcode() == llvm::Instruction::Add
               ? b.CreateAdd(first, second)
               : b.CreateSub(first, second);
}

/* Returns how many items may follow that with the number before there is
   another quotient. */
static llvm::Value *left_to_multiple(const operation &o, llvm::Value *number,
                                     llvm::IRBuilder<> &b)
{
    const unsigned width = number->getType()->getIntegerBitWidth();
    llvm::Value *rest = is_signed(o) ? b.CreateSRem(number, o.frozen)
                                     : b.CreateURem(number, o.frozen);
    llvm::Value *last =
        b.getInt(is_signed(o) ? llvm::APInt::getSignedMaxValue(width)
                              : llvm::APInt::getMaxValue(width));
    llvm::Value *left = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin,
        b.CreateSub(b.CreateSub(o.frozen, rest),
                    llvm::ConstantInt::get(number->getType(), 1)),
        b.CreateSub(last, number));

    if (!is_signed(o))
        return left;
    return b.CreateSelect(b.CreateIsNeg(number), b.CreateNeg(rest), left);
}

llvm::Value *item_runs::begin_run(const trim_loop &l, operation &o,
                                  llvm::Value *first, llvm::IRBuilder<> &b)
{
    llvm::Value *number = value_for(l, o.moving, first, b);
    llvm::Value *left = is_division(o)
                            ? left_to_multiple(o, number, b)
                            : b.CreateXor(b.CreateAnd(number, o.low), o.low);

    if (const auto *cast = llvm::dyn_cast<llvm::CastInst>(o.at))
        o.of_base = b.CreateCast(cast->getOpcode(), number, cast->getType());
    else
        o.of_base = b.CreateBinOp(
            static_cast<llvm::Instruction::BinaryOps>(o.at->getOpcode()),
            number, o.frozen);
    return b.CreateZExt(left, first->getType());
}

llvm::Value *item_runs::value_in_run(const operation &o, llvm::Value *more,
                                     llvm::IRBuilder<> &b)
{
    switch (o.at->getOpcode()) {
    case llvm::Instruction::LShr:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::UDiv:
        return o.of_base;
    case llvm::Instruction::SRem:
        return b.CreateNSWAdd(o.of_base, b.CreateTrunc(more, o.at->getType()));
    case llvm::Instruction::URem:
        return b.CreateNUWAdd(o.of_base, b.CreateTrunc(more, o.at->getType()));
    default: /* only low bits change, and none is carried */
        return b.CreateAdd(o.of_base, b.CreateTrunc(more, o.at->getType()), "",
                           true, true);
    }
}
