/* narrow.cc - computes in 32 bits what fits there. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include "codegen/module/narrow.h"

/*
 * Indices have 64 bits, and the registers of most devices 32, so that each sum
 * takes two instructions and a product several. Where a launch's grid and
 * arrays are known to be small, nearly all indices fit into 32 bits, and this
 * finds out which. A value that fits is computed again in 32 bits, and extended
 * where something still needs all 64.
 *
 * Sums, products, masks and the like depend in their low half on the low halves
 * of their operands alone, so only the result has to fit. Comparisons,
 * quotients and shifts to the right need operands that fit.
 */

namespace
{

class narrower
{
  public:
    explicit narrower(llvm::Function &f) : function(f), ranges(f)
    {
    }
    void run();

  private:
    bool fits(const llvm::Value *value) const;
    bool fits_at(const llvm::Value *value, const llvm::BasicBlock *block) const;
    bool is_positive(const llvm::Value *value) const;
    bool can_narrow(const llvm::Instruction &at) const;
    llvm::Value *half_of(llvm::Value *value, llvm::IRBuilder<> &builder);
    llvm::Value *compute(llvm::Instruction &at);
    llvm::Value *compute_binary(llvm::BinaryOperator &at,
                                llvm::IRBuilder<> &builder);
    void fill_phi(llvm::PHINode &phi);
    void replace(llvm::Instruction &at);
    bool replace_user(llvm::Instruction &user);

    llvm::Function &function;
    narrow_ranges ranges;
    llvm::SmallVector<llvm::Instruction *, 64> found;
    llvm::DenseMap<const llvm::Value *, llvm::Value *> halves;
};

} // namespace

/* ---- what fits ---- */

static bool is_in_32(const llvm::ConstantRange &range)
{
    return !range.isEmptySet() && range.getSignedMin().isSignedIntN(32) &&
           range.getSignedMax().isSignedIntN(32);
}

bool narrower::fits(const llvm::Value *value) const
{
    return is_in_32(ranges.of(value));
}

bool narrower::fits_at(const llvm::Value *value,
                       const llvm::BasicBlock *block) const
{
    return is_in_32(ranges.at(value, block));
}

bool narrower::is_positive(const llvm::Value *value) const
{
    return ranges.of(value).getSignedMin().isNonNegative();
}

static bool is_any_half(unsigned opcode)
{
    switch (opcode) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
    case llvm::Instruction::And:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
        return true;
    default:
        return false;
    }
}

/* The result fits. */
bool narrower::can_narrow(const llvm::Instruction &at) const
{
    const llvm::BasicBlock *block = at.getParent();
    const auto *call = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&at);

    if (llvm::isa<llvm::PHINode>(at) || llvm::isa<llvm::SelectInst>(at) ||
        llvm::isa<llvm::SExtInst>(at) || llvm::isa<llvm::ZExtInst>(at) ||
        is_any_half(at.getOpcode()))
        return true;
    if (call != nullptr)
        return fits_at(call->getLHS(), block) && fits_at(call->getRHS(), block);
    if (!llvm::isa<llvm::BinaryOperator>(at))
        return false;
    const llvm::ConstantRange a = ranges.at(at.getOperand(0), block);
    const llvm::ConstantRange b = ranges.at(at.getOperand(1), block);
    if (at.getOpcode() == llvm::Instruction::Shl)
        return b.getUnsignedMax().ult(32);
    if (at.isShift())
        return is_in_32(a) && b.getUnsignedMax().ult(32) &&
               (at.getOpcode() == llvm::Instruction::AShr ||
                a.getSignedMin().isNonNegative());
    if (!is_in_32(a) || !is_in_32(b))
        return false;
    return at.getOpcode() == llvm::Instruction::SDiv ||
           at.getOpcode() == llvm::Instruction::SRem ||
           (a.getSignedMin().isNonNegative() &&
            b.getSignedMin().isNonNegative());
}

/* ---- halves ---- */

/* Returns the low half of any value of 64 bits. */
llvm::Value *narrower::half_of(llvm::Value *value, llvm::IRBuilder<> &builder)
{
    const auto made = halves.find(value);

    if (made != halves.end())
        return made->second;
    return builder.CreateTrunc(value, builder.getInt32Ty());
}

llvm::Value *narrower::compute_binary(llvm::BinaryOperator &at,
                                      llvm::IRBuilder<> &builder)
{
    llvm::Value *a = at.getOperand(0), *b = at.getOperand(1);
    llvm::Value *half = builder.CreateBinOp(at.getOpcode(), half_of(a, builder),
                                            half_of(b, builder));
    auto *made = llvm::dyn_cast<llvm::BinaryOperator>(half);
    const llvm::BasicBlock *block = at.getParent();

    if (made == nullptr || made->getOpcode() != at.getOpcode())
        return half;
    if (at.isExact() && llvm::isa<llvm::PossiblyExactOperator>(made))
        made->setIsExact();
    if (llvm::isa<llvm::OverflowingBinaryOperator>(made) && !at.isShift() &&
        fits_at(a, block) && fits_at(b, block)) {
        made->setHasNoSignedWrap();
        if (is_positive(&at) &&
            ranges.at(a, block).getSignedMin().isNonNegative() &&
            ranges.at(b, block).getSignedMin().isNonNegative())
            made->setHasNoUnsignedWrap();
    }
    return half;
}

llvm::Value *narrower::compute(llvm::Instruction &at)
{
    llvm::IRBuilder<> builder(&at);
    llvm::Type *i32 = builder.getInt32Ty();

    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&at))
        return builder.CreatePHI(i32, phi->getNumIncomingValues());
    if (llvm::isa<llvm::SExtInst>(at) || llvm::isa<llvm::ZExtInst>(at)) {
        llvm::Value *from = at.getOperand(0);

        return llvm::isa<llvm::SExtInst>(at)
                   ? builder.CreateSExtOrTrunc(from, i32)
                   : builder.CreateZExtOrTrunc(from, i32);
    }
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&at))
        return builder.CreateSelect(select->getCondition(),
                                    half_of(select->getTrueValue(), builder),
                                    half_of(select->getFalseValue(), builder));
    if (auto *call = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&at))
        return builder.CreateBinaryIntrinsic(call->getIntrinsicID(),
                                             half_of(call->getLHS(), builder),
                                             half_of(call->getRHS(), builder));
    return compute_binary(llvm::cast<llvm::BinaryOperator>(at), builder);
}

void narrower::fill_phi(llvm::PHINode &phi)
{
    auto *half = llvm::cast<llvm::PHINode>(halves[&phi]);

    for (unsigned i = 0; i < phi.getNumIncomingValues(); i++) {
        llvm::IRBuilder<> builder(phi.getIncomingBlock(i)->getTerminator());

        half->addIncoming(half_of(phi.getIncomingValue(i), builder),
                          phi.getIncomingBlock(i));
    }
}

/* ---- users ---- */

/* Lets a user that has no use for the high half take the low one. */
bool narrower::replace_user(llvm::Instruction &user)
{
    llvm::IRBuilder<> builder(&user);
    llvm::Value *value = user.getOperand(0);
    llvm::Value *made = nullptr;

    if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&user)) {
        llvm::Value *other = user.getOperand(1);

        if (!value->getType()->isIntegerTy(64) ||
            (halves.count(value) == 0 && halves.count(other) == 0) ||
            !fits_at(value, user.getParent()) ||
            !fits_at(other, user.getParent()))
            return false;
        made =
            builder.CreateICmp(compare->getPredicate(), half_of(value, builder),
                               half_of(other, builder));
    } else if (halves.count(value) == 0) {
        return false;
    } else if (llvm::isa<llvm::TruncInst>(user) &&
               user.getType()->getIntegerBitWidth() <= 32) {
        made = builder.CreateTrunc(halves[value], user.getType());
    } else if (llvm::isa<llvm::SIToFPInst>(user)) {
        made = builder.CreateSIToFP(halves[value], user.getType());
    } else if (llvm::isa<llvm::UIToFPInst>(user) && is_positive(value)) {
        made = builder.CreateUIToFP(halves[value], user.getType());
    }
    if (made == nullptr)
        return false;
    made->takeName(&user);
    user.replaceAllUsesWith(made);
    return true;
}

/* Extends the low half for the users that are left. */
void narrower::replace(llvm::Instruction &at)
{
    llvm::Value *half = halves[&at];
    auto *made = llvm::dyn_cast<llvm::Instruction>(half);
    llvm::IRBuilder<> builder(&at);
    llvm::Value *all;

    if (at.use_empty())
        return;
    if (llvm::isa<llvm::PHINode>(at))
        builder.SetInsertPoint(at.getParent(),
                               at.getParent()->getFirstInsertionPt());
    else if (made != nullptr)
        builder.SetInsertPoint(&at);
    all = is_positive(&at) ? builder.CreateZExt(half, at.getType(), "", true)
                           : builder.CreateSExt(half, at.getType());
    at.replaceAllUsesWith(all);
}

void narrower::run()
{
    llvm::SmallVector<llvm::WeakTrackingVH, 64> dead;

    for (llvm::BasicBlock *block :
         llvm::ReversePostOrderTraversal<llvm::Function *>(&function))
        for (llvm::Instruction &at : *block)
            if (at.getType()->isIntegerTy(64) && fits(&at) && can_narrow(at))
                found.push_back(&at);
    /* Phis first: others may use them before they are reached. */
    for (llvm::Instruction *at : found)
        if (llvm::isa<llvm::PHINode>(at))
            halves[at] = compute(*at);
    for (llvm::Instruction *at : found)
        if (!llvm::isa<llvm::PHINode>(at))
            halves[at] = compute(*at);
    for (llvm::Instruction *at : found)
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(at))
            fill_phi(*phi);
    for (llvm::Instruction &at :
         llvm::make_early_inc_range(llvm::instructions(function)))
        if (at.getNumOperands() > 0 && replace_user(at))
            dead.push_back(&at);
    for (llvm::Instruction *at : found)
        replace(*at);
    for (llvm::Instruction *at : found)
        dead.push_back(at);
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
}

void kiln__llvm_narrow(LLVMValueRef function)
{
    narrower(*llvm::unwrap<llvm::Function>(function)).run();
}

/* ---- ranges of what the module does not compute ---- */

static llvm::Attribute below(llvm::Type *type, uint64_t end)
{
    const unsigned width = type->getIntegerBitWidth();

    return llvm::Attribute::get(
        type->getContext(), llvm::Attribute::Range,
        llvm::ConstantRange(llvm::APInt(width, 0), llvm::APInt(width, end)));
}

void kiln__llvm_returns_below(LLVMValueRef function, uint64_t end)
{
    auto *f = llvm::unwrap<llvm::Function>(function);

    f->addRetAttr(below(f->getReturnType(), end));
}

void kiln__llvm_is_below(LLVMValueRef function, unsigned at, uint64_t end)
{
    auto *f = llvm::unwrap<llvm::Function>(function);

    f->addParamAttr(at, below(f->getArg(at)->getType(), end));
}
