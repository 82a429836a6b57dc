/* item_checks_apart.cc - asks whether reads and writes of items are apart. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/ValueTracking.h>

#include "codegen/module/items/item_checks.h"

/*
 *     a[i] = u8(x[i])
 *     b[i] = u8(y[i])
 *
 * What the second check reads may be what the item has just written, if y is a.
 * So all bytes that are written by a piece of the items, and all that are read,
 * are compared before they are asked.
 *
 * An address that is a sum of multiples of the counter moves by the same number
 * of bytes from item to item. It is computed for the first item, the second one
 * and the last one. Where that number is small, and the last address is where
 * it ought to be, no address in between is anywhere else: nothing wrapped
 * around. That holds for a part in fewer bits, too, if there is one only, which
 * is not multiplied: of two, both might wrap, and be right again at the end. An
 * index that is checked is less than its end.
 */

#define DEPTH_MOST 12u
#define STEP_BITS 40u /* of a small number of bytes */

using namespace item_checks;

namespace
{

/* Bytes from `low` on, before `high`. */
struct extent {
    llvm::Value *low;
    llvm::Value *high;
    llvm::Value *is_known;
};

} // namespace

/* ---- addresses that move alike ---- */

/* True for the counter in fewer bits, plus or minus something fixed. */
static bool is_narrow_sum(const trim_loop &l, const llvm::Value *value,
                          unsigned depth)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (l.loop->isLoopInvariant(value))
        return true;
    if (depth >= DEPTH_MOST)
        return false;
    switch (at->getOpcode()) {
    case llvm::Instruction::Trunc:
        return at->getOperand(0) == l.counter;
    case llvm::Instruction::Add:
        return is_narrow_sum(l, at->getOperand(0), depth + 1) &&
               l.loop->isLoopInvariant(at->getOperand(1));
    case llvm::Instruction::Sub:
        return is_narrow_sum(l, at->getOperand(0), depth + 1) &&
               l.loop->isLoopInvariant(at->getOperand(1));
    default:
        return false;
    }
}

static bool moves_evenly(const trim_loop &l, const llvm::Value *value,
                         unsigned depth)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    const auto operand_moves = [&](unsigned which) {
        return moves_evenly(l, at->getOperand(which), depth + 1);
    };
    const auto operand_is_fixed = [&](unsigned which) {
        return l.loop->isLoopInvariant(at->getOperand(which));
    };

    if (value == l.counter || l.loop->isLoopInvariant(value))
        return true;
    if (depth >= DEPTH_MOST)
        return false;
    switch (at->getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
        return operand_moves(0) && operand_moves(1);
    case llvm::Instruction::Mul:
        return (operand_moves(0) && operand_is_fixed(1)) ||
               (operand_is_fixed(0) && operand_moves(1));
    case llvm::Instruction::Shl:
        return operand_moves(0) && operand_is_fixed(1);
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
        return is_narrow_sum(l, at->getOperand(0), 0);
    case llvm::Instruction::GetElementPtr:
        return llvm::all_of(at->operands(), [&](const llvm::Use &use) {
            const llvm::Type *type = use->getType();

            return (type->isPointerTy() || type->isIntegerTy(64)) &&
                   moves_evenly(l, use.get(), depth + 1);
        });
    default:
        return false;
    }
}

/* Returns how many parts in fewer bits a value has that moves evenly; a
   multiple of one counts as two. */
static unsigned count_narrow(const trim_loop &l, const llvm::Value *value)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    unsigned count = 0;

    if (value == l.counter || l.loop->isLoopInvariant(value))
        return 0;
    if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(at))
        return 1;
    for (const llvm::Value *operand : at->operands())
        count += count_narrow(l, operand);
    return at->getOpcode() == llvm::Instruction::Mul ||
                   at->getOpcode() == llvm::Instruction::Shl
               ? 2 * count
               : count;
}

/* True for an address that is computed thrice instead of for all items. */
static bool is_even(const trim_loop &l, const llvm::Value *place)
{
    return moves_evenly(l, place, 0) && count_narrow(l, place) <= 1;
}

using values = llvm::DenseMap<const llvm::Value *, llvm::Value *>;

/* Computes the value for the item that `known` has for the counter. */
static llvm::Value *compute(const trim_loop &l, llvm::Value *value,
                            values &known, llvm::IRBuilder<> &b)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (llvm::Value *before = known.lookup(value))
        return before;
    if (l.loop->isLoopInvariant(value))
        return value;
    llvm::Instruction *copy = at->clone();

    for (llvm::Use &use : copy->operands())
        use.set(compute(l, use.get(), known, b));
    copy->dropPoisonGeneratingFlags();
    known[value] = b.Insert(copy);
    return copy;
}

static llvm::Value *address_of(const trim_loop &l, llvm::Value *place,
                               llvm::Value *item, llvm::IRBuilder<> &b)
{
    values known;

    known[l.counter] = item;
    return b.CreateFreeze(
        b.CreatePtrToInt(compute(l, place, known, b), b.getInt64Ty()));
}

/* Of accesses to so many bytes each. */
static extent extent_of_all(const trim_loop &l, llvm::Value *place,
                            uint64_t bytes, llvm::IRBuilder<> &b)
{
    llvm::Value *more = b.CreateSub(b.CreateSub(l.end, l.first), b.getInt64(1));
    llvm::Value *first = address_of(l, place, l.first, b);
    llvm::Value *second =
        address_of(l, place, b.CreateAdd(l.first, b.getInt64(1)), b);
    llvm::Value *last =
        address_of(l, place, b.CreateSub(l.end, b.getInt64(1)), b);
    llvm::Value *step = b.CreateSelect(b.CreateIsNull(more), b.getInt64(0),
                                       b.CreateSub(second, first));
    llvm::Value *is_small =
        b.CreateICmpULT(b.CreateAdd(step, b.getInt64(uint64_t{1} << STEP_BITS)),
                        b.getInt64(uint64_t{2} << STEP_BITS));

    return {
        b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, first, last),
        b.CreateAdd(b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, first, last),
                    b.getInt64(bytes)),
        b.CreateAnd(
            is_small,
            b.CreateICmpEQ(last, b.CreateAdd(first, b.CreateMul(step, more))))};
}

/* ---- addresses of checked indices ---- */

/* Finds the check of the index of an element; NULL: there is none. */
static const check *check_of(const asker &a, const llvm::Instruction &access)
{
    const auto *place = llvm::dyn_cast<llvm::GetElementPtrInst>(
        llvm::getLoadStorePointerOperand(&access));

    if (place == nullptr || place->getNumIndices() != 1 ||
        !a.l.loop->isLoopInvariant(place->getPointerOperand()))
        return nullptr;
    for (const check &c : a.checks)
        if (c.index == place->getOperand(1) &&
            c.end->getType()->isIntegerTy(64) &&
            a.dominators.dominates(c.passed(), access.getParent()))
            return &c;
    return nullptr;
}

static extent extent_of_checked(const check &c, llvm::Value *place,
                                uint64_t bytes, llvm::IRBuilder<> &b)
{
    const auto *element = llvm::cast<llvm::GetElementPtrInst>(place);
    const uint64_t step = element->getDataLayout().getTypeAllocSize(
        element->getSourceElementType());
    llvm::Value *low = b.CreateFreeze(b.CreatePtrToInt(
        const_cast<llvm::Value *>(element->getPointerOperand()),
        b.getInt64Ty()));
    llvm::Value *end = b.CreateFreeze(c.end);

    return {low,
            b.CreateAdd(b.CreateAdd(low, b.CreateMul(end, b.getInt64(step))),
                        b.getInt64(bytes)),
            b.CreateICmpULT(end, b.getInt64(uint64_t{1} << STEP_BITS))};
}

/* ---- accesses ---- */

bool item_checks::is_extent_known(const asker &a,
                                  const llvm::Instruction &access)
{
    return is_even(a.l, llvm::getLoadStorePointerOperand(&access)) ||
           check_of(a, access) != nullptr;
}

static extent extent_of(const asker &a, const llvm::Instruction &access,
                        llvm::IRBuilder<> &b)
{
    auto *place =
        const_cast<llvm::Value *>(llvm::getLoadStorePointerOperand(&access));
    const uint64_t bytes = access.getDataLayout().getTypeStoreSize(
        llvm::getLoadStoreType(const_cast<llvm::Instruction *>(&access)));

    return is_even(a.l, place)
               ? extent_of_all(a.l, place, bytes, b)
               : extent_of_checked(*check_of(a, access), place, bytes, b);
}

llvm::Value *item_checks::ask_early_reads(const asker &a, llvm::IRBuilder<> &b)
{
    llvm::DenseMap<const llvm::Instruction *, extent> known;
    llvm::Value *bad = b.getFalse();
    const auto find = [&](const llvm::Instruction &access) {
        const auto [at, is_new] = known.try_emplace(&access);

        if (is_new)
            at->second = extent_of(a, access, b);
        return at->second;
    };

    for (const early_read &early : a.early_reads) {
        const extent write = find(*early.write), read = find(*early.read);
        llvm::Value *are_apart =
            b.CreateOr(b.CreateICmpULE(write.high, read.low),
                       b.CreateICmpULE(read.high, write.low));

        are_apart =
            b.CreateAnd(are_apart, b.CreateAnd(write.is_known, read.is_known));
        bad = b.CreateOr(bad, b.CreateNot(are_apart));
    }
    return bad;
}
