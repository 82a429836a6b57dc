/* trim_widths.cc - spells out how numbers of items are cut and extended. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/module/items/trim.h"

using namespace llvm::PatternMatch;

/*
 * LLVM writes a number that is cut to 32 bits and extended again without either
 * operation: as bits that are masked, or as a shift to the left and one back to
 * the right, which may also multiply. What cuts and extends says when it wraps,
 * and what moves is made of that.
 */

static bool is_width(uint64_t bits)
{
    return bits == 8 || bits == 16 || bits == 32;
}

/* Of a number that has a sign and is known not to be negative, LLVM also leaves
   out the bit of the sign. */
static bool is_mask_width(uint64_t bits)
{
    return is_width(bits) || is_width(bits + 1);
}

/* How an instruction cuts a number: to how many bits, and by how many it then
   shifts the extended number to the left. */
struct cut {
    llvm::Instruction *at;
    llvm::Value *value;
    unsigned bits;
    unsigned shift;
    bool is_signed;
};

static bool takes_cut(llvm::Instruction &at, cut &out)
{
    const llvm::APInt *mask, *left, *right;
    llvm::Value *value;
    uint64_t bits;

    if (!at.getType()->isIntegerTy())
        return false;
    if (match(&at, m_And(m_Value(value), m_APInt(mask))) && mask->isMask() &&
        is_mask_width(mask->popcount())) {
        out = {&at, value, mask->popcount(), 0, false};
        return true;
    }
    if (!match(&at,
               m_AShr(m_Shl(m_Value(value), m_APInt(left)), m_APInt(right))) ||
        left->uge(left->getBitWidth()) || left->ult(*right))
        return false;
    bits = left->getBitWidth() - left->getZExtValue();
    out = {&at, value, static_cast<unsigned>(bits),
           static_cast<unsigned>((*left - *right).getZExtValue()), true};
    return is_width(bits);
}

static void spell_out(const cut &c)
{
    llvm::IRBuilder<> b(c.at);
    llvm::Type *wide = c.at->getType();
    llvm::Value *number = b.CreateTrunc(c.value, b.getIntNTy(c.bits));

    number =
        c.is_signed ? b.CreateSExt(number, wide) : b.CreateZExt(number, wide);
    if (c.shift > 0)
        number = b.CreateShl(number, c.shift);
    c.at->replaceAllUsesWith(number);
    c.at->eraseFromParent();
}

void kiln__trim_spell_out(const trim_loop &loop)
{
    llvm::SmallVector<llvm::Instruction *, 8> found;
    cut c;

    for (llvm::BasicBlock *block : loop.loop->blocks())
        for (llvm::Instruction &at : *block)
            if (takes_cut(at, c) && kiln__trim_moves(loop, c.value))
                found.push_back(&at);
    for (llvm::Instruction *at : found)
        if (takes_cut(*at, c)) /* what it cuts may be another one by now */
            spell_out(c);
}
