/* exact_index.cc - what an index is made of. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>

#include "codegen/module/exact_index.h"

#define DEPTH_MAX 16                   /* of an index */
#define OFFSET_MOST (INT64_C(1) << 23) /* what instructions can add */

bool exact_index::is_fixed(const llvm::Value *value) const
{
    return loop != nullptr ? loop->isLoopInvariant(value)
                           : !llvm::isa<llvm::Instruction>(value);
}

/* Returns a value with 64 bits. What it is made of is not looked at, as that
   would be computed again. */
const llvm::SCEV *exact_index::number(llvm::Value *value, bool is_signed)
{
    llvm::Type *wide = llvm::Type::getInt64Ty(value->getContext());
    const auto *known = llvm::dyn_cast<llvm::ConstantInt>(value);
    const llvm::SCEV *s =
        known != nullptr
            ? evolution.getConstant(const_cast<llvm::ConstantInt *>(known))
            : evolution.getUnknown(value);

    return is_signed ? evolution.getNoopOrSignExtend(s, wide)
                     : evolution.getNoopOrZeroExtend(s, wide);
}

/* ---- indices ---- */

exact_line exact_index::plus(exact_line a, exact_line b, bool is_minus)
{
    if (a.start == nullptr || b.start == nullptr)
        return {};
    if (is_minus)
        return {evolution.getMinusSCEV(a.start, b.start),
                evolution.getMinusSCEV(a.step, b.step)};
    return {evolution.getAddExpr(a.start, b.start),
            evolution.getAddExpr(a.step, b.step)};
}

exact_line exact_index::times(exact_line a, exact_line b)
{
    if (a.start == nullptr || b.start == nullptr ||
        (!a.step->isZero() && !b.step->isZero()))
        return {};
    if (a.step->isZero())
        std::swap(a, b);
    return {evolution.getMulExpr(a.start, b.start),
            evolution.getMulExpr(a.step, b.start)};
}

/* With 64 bits, sums and products are exact modulo 2^64. An `or` is a sum only
   if it is said to be one, whatever its width. */
static bool is_exact(const llvm::Instruction &at, bool is_signed)
{
    if (const auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&at))
        return disjoint->isDisjoint();
    if (at.getType()->isIntegerTy(64))
        return true;
    return is_signed ? at.hasNoSignedWrap() : at.hasNoUnsignedWrap();
}

exact_line exact_index::of_counter(llvm::PHINode &phi, bool is_signed,
                                   unsigned depth)
{
    auto *next = llvm::dyn_cast<llvm::BinaryOperator>(
        phi.getIncomingValueForBlock(loop->getLoopLatch()));
    exact_line by;

    if (next == nullptr || next->getOpcode() != llvm::Instruction::Add ||
        next->getOperand(0) != &phi || !is_fixed(next->getOperand(1)) ||
        !is_exact(*next, is_signed))
        return {};
    by = of(next->getOperand(1), is_signed, depth + 1);
    return {number(phi.getIncomingValueForBlock(loop->getLoopPreheader()),
                   is_signed),
            by.start};
}

exact_line exact_index::of_operation(llvm::Instruction &at, bool is_signed,
                                     unsigned depth)
{
    exact_line a, b;

    if (!is_exact(at, is_signed))
        return {};
    a = of(at.getOperand(0), is_signed, depth + 1);
    if (at.getOpcode() == llvm::Instruction::Shl) {
        const auto *by = llvm::dyn_cast<llvm::ConstantInt>(at.getOperand(1));

        if (by == nullptr || by->getValue().uge(32))
            return {};
        b.start = evolution.getConstant(llvm::Type::getInt64Ty(at.getContext()),
                                        UINT64_C(1) << by->getZExtValue());
        b.step = evolution.getZero(b.start->getType());
        return times(a, b);
    }
    b = of(at.getOperand(1), is_signed, depth + 1);
    if (at.getOpcode() == llvm::Instruction::Mul)
        return times(a, b);
    return plus(a, b, at.getOpcode() == llvm::Instruction::Sub);
}

/* A number without a sign is the same with one in a wider type. */
exact_line exact_index::of_extended(llvm::Instruction &at, bool is_signed,
                                    unsigned depth)
{
    llvm::Value *from = at.getOperand(0);
    exact_line result;

    if (llvm::isa<llvm::SExtInst>(at))
        return is_signed || at.getType()->isIntegerTy(64)
                   ? of(from, true, depth + 1)
                   : exact_line();
    if (at.hasNonNeg())
        result = of(from, true, depth + 1);
    if (result.start == nullptr)
        result = of(from, false, depth + 1);
    return result;
}

exact_line exact_index::fixed(llvm::Value &value, bool is_signed)
{
    const llvm::SCEV *start = number(&value, is_signed);

    return {start, evolution.getZero(start->getType())};
}

/* Of a fixed number, only constants that are added are looked at. */
exact_line exact_index::of_fixed(llvm::Value *value, bool is_signed,
                                 unsigned depth)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    exact_line part;

    if (at != nullptr && depth < DEPTH_MAX &&
        (llvm::isa<llvm::ZExtInst>(at) || llvm::isa<llvm::SExtInst>(at)))
        part = of_extended(*at, is_signed, depth);
    else if (at != nullptr && depth < DEPTH_MAX &&
             (at->getOpcode() == llvm::Instruction::Add ||
              at->getOpcode() == llvm::Instruction::Or) &&
             llvm::isa<llvm::ConstantInt>(at->getOperand(1)))
        part = of_operation(*at, is_signed, depth);
    return part.start != nullptr ? part : fixed(*value, is_signed);
}

/* Without a loop, what cannot be looked into is a number as it is. So is a
   product: its parts have no known distance from each other. */
exact_line exact_index::of_straight(llvm::Instruction &at, bool is_signed,
                                    unsigned depth)
{
    exact_line parts;

    if (depth < DEPTH_MAX)
        switch (at.getOpcode()) {
        case llvm::Instruction::Add:
        case llvm::Instruction::Sub:
        case llvm::Instruction::Shl:
        case llvm::Instruction::Or:
            parts = of_operation(at, is_signed, depth);
            break;
        case llvm::Instruction::SExt:
        case llvm::Instruction::ZExt:
            parts = of_extended(at, is_signed, depth);
            break;
        default:
            break;
        }
    return parts.start != nullptr ? parts : fixed(at, is_signed);
}

exact_line exact_index::of(llvm::Value *value, bool is_signed, unsigned depth)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (!value->getType()->isIntegerTy() ||
        value->getType()->getIntegerBitWidth() > 64)
        return {};
    if (is_fixed(value))
        return of_fixed(value, is_signed, depth);
    if (loop == nullptr)
        return of_straight(*at, is_signed, depth);
    if (depth == DEPTH_MAX)
        return {};
    switch (at->getOpcode()) {
    case llvm::Instruction::PHI:
        return at->getParent() == loop->getHeader()
                   ? of_counter(llvm::cast<llvm::PHINode>(*at), is_signed,
                                depth)
                   : exact_line();
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
    case llvm::Instruction::Shl:
    case llvm::Instruction::Or:
        return of_operation(*at, is_signed, depth);
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
        return of_extended(*at, is_signed, depth);
    default:
        return {};
    }
}

/* ---- addresses ---- */

exact_line exact_index::constant(uint64_t value)
{
    llvm::Type *wide = llvm::Type::getInt64Ty(evolution.getContext());

    return {evolution.getConstant(wide, value), evolution.getZero(wide)};
}

/* Returns the bytes that an address is behind that of `gep`'s operand. */
exact_line exact_index::of_gep(llvm::GetElementPtrInst &gep)
{
    const llvm::DataLayout &layout = gep.getDataLayout();
    exact_line bytes = constant(0);

    for (auto at = llvm::gep_type_begin(gep), end = llvm::gep_type_end(gep);
         at != end; ++at) {
        if (llvm::StructType *type = at.getStructTypeOrNull())
            bytes =
                plus(bytes,
                     constant(layout.getStructLayout(type)->getElementOffset(
                         static_cast<unsigned>(
                             llvm::cast<llvm::ConstantInt>(at.getOperand())
                                 ->getZExtValue()))),
                     false);
        else
            bytes = plus(bytes,
                         times(of(at.getOperand(), true, 0),
                               constant(at.getSequentialElementStride(layout)
                                            .getFixedValue())),
                         false);
    }
    return bytes;
}

/* Finds which base an address is behind, and by how many bytes. */
bool exact_index::of_address(llvm::Value *address, llvm::Value *&base,
                             exact_line &bytes)
{
    bytes = constant(0);
    for (base = address; !is_fixed(base) && bytes.start != nullptr;) {
        auto *gep = llvm::dyn_cast<llvm::GetElementPtrInst>(base);

        if (gep == nullptr || !gep->getType()->isPointerTy())
            return loop == nullptr;
        bytes = plus(bytes, of_gep(*gep), false);
        base = gep->getPointerOperand();
    }
    return bytes.start != nullptr;
}

/* ---- memory ---- */

/* True for memory that is addressed by 64 bits. */
bool kiln__is_far(const llvm::Value *base)
{
    const unsigned space =
        base->stripPointerCasts()->getType()->getPointerAddressSpace();

    return space == 0 || space == 1;
}

bool kiln__is_near(const llvm::SCEV *bytes)
{
    const auto *known = llvm::dyn_cast<llvm::SCEVConstant>(bytes);

    return known != nullptr &&
           known->getAPInt().abs().ult(static_cast<uint64_t>(OFFSET_MOST));
}
