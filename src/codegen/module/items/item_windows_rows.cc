/* item_windows_rows.cc - what items ask about their row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/PatternMatch.h>

#include "codegen/module/items/item_windows.h"

/*
 *     for j in rows
 *         for i in first..end
 *             if i + 1 < w && j + 1 < h    s += x[i + 1, j + 1]
 *
 * The items in between do not ask about i, but each of them asks about j. Such
 * questions have one answer in all rows but a few, so a row where it is another
 * one has no items in between: all are at the edge. Which rows these are is
 * asked in front of the loop over the row's items.
 */

#define NEAR 16 /* of what is added to a row's number */

using namespace item_windows;
using namespace llvm::PatternMatch;

/* True for the counter of a loop around the items, also in fewer bits. */
static bool is_row(const trim_loop &l, llvm::Value *value)
{
    (void)match(value, m_TruncOrSelf(m_Value(value)));
    const auto *phi = llvm::dyn_cast<llvm::PHINode>(value);
    const llvm::Loop *loop = l.loop->getParentLoop();

    while (phi != nullptr && loop != nullptr &&
           loop->getHeader() != phi->getParent())
        loop = loop->getParentLoop();
    return phi != nullptr && loop != nullptr;
}

/* Takes a row's number plus a small constant apart. */
static std::optional<int64_t> distance_of(const trim_loop &l,
                                          llvm::Value *value)
{
    const llvm::APInt *by = nullptr;

    (void)match(value, m_Add(m_Value(value), m_APInt(by)));
    if (!is_row(l, value) || (by != nullptr && by->abs().ugt(NEAR)))
        return std::nullopt;
    return by != nullptr ? by->getSExtValue() : 0;
}

/* Rows are greater than a small constant, and less than anything else. */
void windows::ask_row(llvm::ICmpInst &at)
{
    const bool is_swapped = !distance_of(l, at.getOperand(0));
    const std::optional<int64_t> by = distance_of(l, at.getOperand(is_swapped));
    llvm::Value *fixed = at.getOperand(!is_swapped);
    const auto *number = llvm::dyn_cast<llvm::ConstantInt>(fixed);
    const llvm::CmpInst::Predicate predicate =
        is_swapped ? at.getSwappedPredicate() : at.getPredicate();
    const bool is_less =
        llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);

    if (!by)
        return;
    if (number != nullptr && number->getValue().abs().ule(NEAR))
        rows.push_back(
            {&at, nullptr, 0,
             at.isEquality() ? predicate == llvm::CmpInst::ICMP_NE : !is_less});
    else if (at.isRelational())
        rows.push_back({&at, fixed, *by, is_less});
}

/* Which end the row itself is compared with is known by its neighbours, which
   are compared with it, too: any other may be half of the rows away. */
void windows::find_rows()
{
    llvm::SmallPtrSet<const llvm::Value *, 8> known, ends;

    for (llvm::BasicBlock *block : l.loop->blocks())
        for (llvm::Instruction &at : *block)
            for (llvm::Value *value : at.operands()) {
                auto *compare = llvm::dyn_cast<llvm::ICmpInst>(value);

                if (compare != nullptr && l.loop->isLoopInvariant(compare) &&
                    known.insert(compare).second)
                    ask_row(*compare);
            }
    ends.insert(nullptr);
    for (const row_question &q : rows)
        if (q.by != 0)
            ends.insert(q.end);
    llvm::erase_if(
        rows, [&](const row_question &q) { return !ends.contains(q.end); });
}

llvm::Value *windows::is_row_inside(llvm::IRBuilder<> &b)
{
    llvm::Value *all = b.getTrue();

    for (const row_question &q : rows) {
        llvm::Value *answer = b.CreateFreeze(q.at);

        all = b.CreateAnd(all, q.truth ? answer : b.CreateNot(answer));
    }
    return all;
}
