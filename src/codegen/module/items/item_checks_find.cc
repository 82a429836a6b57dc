/* item_checks_find.cc - finds checks that can be asked before items run. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/module/items/item_checks.h"
#include "kiln/error.h"

#define NEEDS_MOST 600u /* instructions of the loop that asks */
#define EARLY_MOST 24u  /* pairs of a write and a read */
#define SITE 4u         /* argument of what raises: where, and how */

using namespace llvm::PatternMatch;
using namespace item_checks;

/* What was looked at: operands may share a lot. */
using seen = llvm::SmallPtrSet<const llvm::Value *, 16>;

/* ---- checks ---- */

/* Reads the condition on which an item goes on, where it is about an index. */
static void read_index(const trim_loop &l, check &c)
{
    llvm::Value *a, *b;
    llvm::CmpPredicate given;

    if (!match(c.branch->getCondition(), m_ICmp(given, m_Value(a), m_Value(b))))
        return;
    llvm::CmpInst::Predicate predicate =
        c.raise == 1 ? llvm::CmpInst::Predicate(given)
                     : llvm::CmpInst::getInversePredicate(given);

    if (l.loop->isLoopInvariant(a)) {
        std::swap(a, b);
        predicate = llvm::CmpInst::getSwappedPredicate(predicate);
    }
    if (predicate != llvm::CmpInst::ICMP_ULT || !l.loop->isLoopInvariant(b))
        return;
    c.index = a;
    c.end = b;
}

/* Takes `counter + fixed` and `counter - fixed` apart. */
static bool read_reach(const trim_loop &l, llvm::Value *index, reach &out)
{
    if (index == l.counter) {
        out = {};
    } else if (match(index,
                     m_c_Add(m_Specific(l.counter), m_Value(out.more)))) {
        out.is_less = false;
    } else if (match(index, m_Sub(m_Specific(l.counter), m_Value(out.more)))) {
        out.is_less = true;
    } else {
        return false;
    }
    return out.more == nullptr || l.loop->isLoopInvariant(out.more);
}

/* True for an exception about bounds: of an index and a size. */
static bool raises_bounds(const llvm::BasicBlock &block)
{
    for (const llvm::Instruction &at : block) {
        const auto *call = llvm::dyn_cast<llvm::CallInst>(&at);
        const auto *site = call != nullptr && call->arg_size() > SITE
                               ? llvm::dyn_cast<llvm::GlobalVariable>(
                                     call->getArgOperand(SITE))
                               : nullptr;
        const auto *kind =
            site != nullptr && site->hasInitializer()
                ? llvm::dyn_cast_or_null<llvm::ConstantInt>(
                      site->getInitializer()->getAggregateElement(0u))
                : nullptr;

        if (kind != nullptr)
            return kind->equalsInt(KILN_EXCEPTION_BOUNDS);
    }
    return false;
}

static check read(const asker &a, llvm::BranchInst &branch, unsigned raise)
{
    check c = {&branch, raise};

    read_index(a.l, c);
    c.is_of_bounds = raises_bounds(*branch.getSuccessor(raise));
    c.is_certain =
        a.dominators.dominates(branch.getParent(), a.l.jump->getParent());
    c.is_fixed = a.l.loop->isLoopInvariant(branch.getCondition()) ||
                 (c.index != nullptr && a.l.loop->isLoopInvariant(c.index));
    c.has_reach = c.index != nullptr && read_reach(a.l, c.index, c.numbers);
    return c;
}

/* Finds the ways out of the loop, those that come first in front; false: there
   are others than checks. */
static bool find_checks(asker &a)
{
    const llvm::BasicBlock *latch = a.l.jump->getParent();

    for (llvm::BasicBlock *block : a.l.loop->blocks()) {
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());

        if (branch == nullptr)
            return false;
        if (block == latch || !a.l.loop->isLoopExiting(block))
            continue;
        const unsigned raise =
            a.l.loop->contains(branch->getSuccessor(0)) ? 1u : 0u;

        if (!a.l.loop->contains(branch->getSuccessor(1 - raise)) ||
            !kiln__trim_raises(*branch->getSuccessor(raise)))
            return false;
        a.checks.push_back(read(a, *branch, raise));
    }
    llvm::stable_sort(a.checks, [&a](const check &x, const check &y) {
        return a.dominators.getNode(x.branch->getParent())->getLevel() <
               a.dominators.getNode(y.branch->getParent())->getLevel();
    });
    return !a.checks.empty();
}

/* ---- places ---- */

/* True if the condition says something of the value. */
static bool is_about(const llvm::Value *condition, const llvm::Value *value,
                     seen &before)
{
    const auto *made = llvm::dyn_cast<llvm::Instruction>(condition);

    if (condition == value)
        return true;
    return made != nullptr && !made->mayReadFromMemory() &&
           before.insert(made).second &&
           llvm::any_of(made->operands(), [&](const llvm::Use &use) {
               return is_about(use.get(), value, before);
           });
}

/* True if the item asserts something of the value. Then its place may be inside
   by that alone, and the check that is there may be of a larger array. */
static bool is_asserted(const asker &a, const llvm::Value *value)
{
    return llvm::any_of(a.checks, [value](const check &c) {
        seen before;

        return !c.is_of_bounds &&
               is_about(c.branch->getCondition(), value, before);
    });
}

/* Notes the checks of the value that the instruction comes after; false: there
   is none that keeps it inside of an array. */
static bool keep_inside(asker &a, const llvm::Value *value,
                        const llvm::Instruction &at)
{
    bool any = false;

    if (is_asserted(a, value))
        return false;
    for (check &c : a.checks)
        if (c.index == value && c.is_of_bounds &&
            a.dominators.dominates(c.passed(), at.getParent())) {
            c.keeps_inside = true;
            any = true;
        }
    return any;
}

/* True if nothing that was read decides about the value at that instruction,
   but indices that were checked. */
static bool is_bounded(asker &a, const llvm::Value *value,
                       const llvm::Instruction &at, seen &before)
{
    const auto *made = llvm::dyn_cast<llvm::Instruction>(value);

    if (made == nullptr || !a.l.loop->contains(made) ||
        keep_inside(a, value, at) || made == a.l.counter)
        return true;
    if (made->mayReadFromMemory() || llvm::isa<llvm::PHINode>(made))
        return false;
    return !before.insert(made).second ||
           llvm::all_of(made->operands(), [&](const llvm::Use &use) {
               return is_bounded(a, use.get(), at, before);
           });
}

/* True for a value that nothing read decides about. */
static bool is_computed(const asker &a, const llvm::Value *value, seen &before)
{
    const auto *made = llvm::dyn_cast<llvm::Instruction>(value);

    if (made == nullptr || !a.l.loop->contains(made) || made == a.l.counter)
        return true;
    if (made->mayReadFromMemory() || llvm::isa<llvm::PHINode>(made))
        return false;
    return !before.insert(made).second ||
           llvm::all_of(made->operands(), [&](const llvm::Use &use) {
               return is_computed(a, use.get(), before);
           });
}

/* True for a division that traps nowhere, or does for the items as they are,
   too. */
static bool is_plain_division(const asker &a, const llvm::Instruction &at)
{
    seen before;

    return llvm::isSafeToSpeculativelyExecute(&at) ||
           (a.dominators.dominates(at.getParent(), a.l.jump->getParent()) &&
            is_computed(a, &at, before));
}

/* True for an instruction that only reads, computes or stores, whatever was
   read. */
static bool is_plain(asker &a, const llvm::Instruction &at)
{
    const llvm::Value *place = llvm::getLoadStorePointerOperand(&at);
    seen before;

    if (place != nullptr)
        return !at.isAtomic() && !at.isVolatile() &&
               is_bounded(a, place, at, before);
    if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&at))
        if (call->isAssumeLikeIntrinsic())
            return true;
    if (at.isIntDivRem())
        return is_plain_division(a, at);
    return !at.mayHaveSideEffects();
}

static bool are_all_plain(asker &a)
{
    return llvm::all_of(a.l.loop->blocks(), [&](const llvm::BasicBlock *block) {
        return llvm::all_of(*block, [&](const llvm::Instruction &at) {
            return is_plain(a, at);
        });
    });
}

/* ---- what the checks need ---- */

/* True if an item may come to the one and then to the other. The loop's head
   begins another item. */
static bool may_lead_to(const asker &a, const llvm::Instruction &from,
                        const llvm::Instruction &to)
{
    llvm::SmallVector<const llvm::BasicBlock *, 16> left = {from.getParent()};
    llvm::SmallPtrSet<const llvm::BasicBlock *, 16> known;

    if (from.getParent() == to.getParent())
        return from.comesBefore(&to);
    while (!left.empty())
        for (const llvm::BasicBlock *next :
             llvm::successors(left.pop_back_val())) {
            if (next == a.l.loop->getHeader() || !a.l.loop->contains(next))
                continue;
            if (next == to.getParent())
                return true;
            if (known.insert(next).second)
                left.push_back(next);
        }
    return false;
}

/* Notes the writes of an item that may come before the read; false: they might
   be to the same place. */
static bool note_early_read(asker &a, const llvm::LoadInst &read)
{
    for (const llvm::BasicBlock *block : a.l.loop->blocks())
        for (const llvm::Instruction &at : *block) {
            if (!at.mayWriteToMemory() || !may_lead_to(a, at, read))
                continue;
            const auto *write = llvm::dyn_cast<llvm::StoreInst>(&at);

            if (write == nullptr || a.early_reads.size() == EARLY_MOST ||
                !is_extent_known(a, *write) || !is_extent_known(a, read))
                return false;
            a.early_reads.push_back({write, &read});
        }
    return true;
}

/* True for what may be computed once more, and in vectors. */
static bool can_be_asked(asker &a, const llvm::Instruction &at)
{
    if (llvm::isa<llvm::PHINode>(at))
        return at.getParent() != a.l.loop->getHeader();
    if (const auto *read = llvm::dyn_cast<llvm::LoadInst>(&at))
        return note_early_read(a, *read);
    return !at.mayReadOrWriteMemory() && (!llvm::isa<llvm::CallBase>(at) ||
                                          llvm::isa<llvm::IntrinsicInst>(at));
}

static void need(asker &a, const llvm::Value *value)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (at != nullptr && at != a.l.counter && a.l.loop->contains(at))
        a.needs.insert(at);
}

/* Branches decide about phis, and about checks to which not all items come. */
static void need_branches(asker &a)
{
    for (const llvm::BasicBlock *block : a.l.loop->blocks()) {
        const auto *branch =
            llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());

        if (branch != nullptr && branch->isConditional() &&
            branch != a.l.jump && !a.l.loop->isLoopExiting(block))
            need(a, branch->getCondition());
    }
}

/* Adds what the needs need, from that one on; false: some cannot be asked. */
static bool close_needs(asker &a, size_t from)
{
    for (size_t i = from; i < a.needs.size(); i++) {
        const llvm::Instruction *at = a.needs[i];

        if (a.needs.size() > NEEDS_MOST || !can_be_asked(a, *at))
            return false;
        for (const llvm::Value *operand : at->operands())
            need(a, operand);
        if (llvm::isa<llvm::PHINode>(at) && !a.needs_branches) {
            a.needs_branches = true;
            need_branches(a);
        }
    }
    return true;
}

static bool find_needs(asker &a)
{
    for (const check &c : a.checks) {
        if (c.is_asked_once())
            continue;
        need(a, c.branch->getCondition());
        a.needs_branches |= !c.is_certain;
    }
    if (a.needs_branches)
        need_branches(a);
    return close_needs(a, 0);
}

/* Keeps what items write, if all of it can be asked. */
static void keep_if_possible(asker &a)
{
    const size_t needs = a.needs.size(), early_reads = a.early_reads.size();
    const bool needs_branches = a.needs_branches;
    bool can = needs > 0 && find_kept(a);

    for (const llvm::StoreInst *store : a.kept)
        need(a, store->getValueOperand());
    if (can && close_needs(a, needs))
        return;
    a.kept.clear();
    while (a.needs.size() > needs)
        a.needs.pop_back();
    a.early_reads.truncate(early_reads);
    a.needs_branches = needs_branches;
}

bool item_checks::find(asker &a)
{
    if (!find_checks(a) || !are_all_plain(a) || !find_needs(a))
        return false;
    keep_if_possible(a);
    return true;
}
