/* trim_find.cc - finds the guards of loops over items. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/codegen_job.h"
#include "codegen/module/items/trim.h"
#include "codegen/module/llvm_gap.h"

using namespace llvm::PatternMatch;

#define WIDTH_MAX 64
#define DEPTH_MAX 16
#define BLOCKS_MAX 64 /* of a guard, and from a question to the latch */

/* ---- loops ---- */

bool kiln__trim_raises(const llvm::BasicBlock &block)
{
    return llvm::any_of(block, [](const llvm::Instruction &at) {
        const auto *call = llvm::dyn_cast<llvm::CallInst>(&at);

        return call != nullptr && call->getCalledFunction() != nullptr &&
               call->getCalledFunction()->getName() == KILN__RAISE;
    });
}

/* True when only the loop itself uses what it computes, and exceptions, to
   which no item comes that the loop leaves out. */
static bool keeps_values(const llvm::Loop &loop)
{
    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &at : *block)
            for (const llvm::User *user : at.users()) {
                const auto *use = llvm::cast<llvm::Instruction>(user);

                if (!loop.contains(use) &&
                    !kiln__trim_raises(*use->getParent()))
                    return false;
            }
    return true;
}

/* Takes apart the latch's branch: `if counter + 1 < end` goes on. The end is
   greater than the first counter, which is not negative, so both orders of
   numbers are the same for it. */
static bool read_latch(trim_loop &l, llvm::BasicBlock *latch)
{
    llvm::Value *next = l.counter->getIncomingValueForBlock(latch);
    llvm::CmpPredicate predicate;

    l.jump = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
    if (l.jump == nullptr || !l.jump->isConditional() ||
        l.jump->getSuccessor(0) != l.loop->getHeader() ||
        l.loop->contains(l.jump->getSuccessor(1)) ||
        !match(next, m_Add(m_Specific(l.counter), m_One())) ||
        !match(l.jump->getCondition(),
               m_c_ICmp(predicate, m_Specific(next), m_Value(l.end))))
        return false;
    l.exit = l.jump->getSuccessor(1);
    return (predicate == llvm::CmpInst::ICMP_ULT ||
            predicate == llvm::CmpInst::ICMP_SLT) &&
           l.loop->isLoopInvariant(l.end);
}

/* Passes leave phis behind loops for what was computed before the loop. */
static void fold_phis(const llvm::Loop &loop, llvm::BasicBlock &exit)
{
    for (llvm::PHINode &phi : llvm::make_early_inc_range(exit.phis()))
        if (phi.getNumIncomingValues() == 1 &&
            loop.isLoopInvariant(phi.getIncomingValue(0))) {
            phi.replaceAllUsesWith(phi.getIncomingValue(0));
            phi.eraseFromParent();
        }
}

bool kiln__trim_is_item_loop(llvm::Loop *loop, trim_loop &out)
{
    llvm::BasicBlock *header = loop->getHeader();
    llvm::BasicBlock *latch = loop->getLoopLatch();
    const auto phis = header->phis();

    out.loop = loop;
    out.before = loop->getLoopPreheader();
    if (llvm::findOptionMDForLoop(loop, KILN__ITEM_LOOP) == nullptr ||
        out.before == nullptr || latch == nullptr || phis.empty() ||
        std::next(phis.begin()) != phis.end())
        return false;
    out.counter = &*phis.begin();
    if (!out.counter->getType()->isIntegerTy(WIDTH_MAX))
        return false;
    out.first = out.counter->getIncomingValueForBlock(out.before);
    if (!read_latch(out, latch))
        return false;
    fold_phis(*loop, *out.exit);
    return out.exit->phis().empty() && keeps_values(*loop);
}

/* ---- values ---- */

static bool moves(const trim_loop &l, const llvm::Value *value, unsigned depth)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (value == l.counter)
        return true;
    if (at == nullptr || depth == DEPTH_MAX || !l.loop->contains(at) ||
        !at->getType()->isIntegerTy() ||
        at->getType()->getIntegerBitWidth() > WIDTH_MAX)
        return false;
    switch (at->getOpcode()) {
    case llvm::Instruction::Trunc:
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
        return moves(l, at->getOperand(0), depth + 1);
    case llvm::Instruction::Add:
        if (l.loop->isLoopInvariant(at->getOperand(0)))
            return moves(l, at->getOperand(1), depth + 1);
        [[fallthrough]];
    case llvm::Instruction::Sub:
        return l.loop->isLoopInvariant(at->getOperand(1)) &&
               moves(l, at->getOperand(0), depth + 1);
    default:
        return false;
    }
}

bool kiln__trim_moves(const trim_loop &loop, const llvm::Value *value)
{
    return moves(loop, value, 0);
}

/* ---- conditions ---- */

static bool add_comparison(const trim_loop &l, llvm::Value *condition,
                           bool truth, trim_guard &guard)
{
    const auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
    llvm::CmpInst::Predicate predicate;
    llvm::Value *a, *b;

    if (compare == nullptr)
        return false;
    predicate =
        truth ? compare->getPredicate() : compare->getInversePredicate();
    a = compare->getOperand(0);
    b = compare->getOperand(1);
    if (l.loop->isLoopInvariant(a)) {
        std::swap(a, b);
        predicate = llvm::CmpInst::getSwappedPredicate(predicate);
    }
    /* LLVM writes `i > 0` so, of what is never negative. */
    if (predicate == llvm::CmpInst::ICMP_NE && match(b, m_Zero()))
        predicate = llvm::CmpInst::ICMP_UGT;
    if (predicate == llvm::CmpInst::ICMP_NE)
        return false;
    if (!l.loop->isLoopInvariant(b) || !kiln__trim_moves(l, a))
        return false;
    guard.comparisons.push_back({predicate, a, b});
    return true;
}

/* Adds the factors of a condition to the guard, and those that bounds cannot
   replace to `rest`, in their order. */
static void take_apart(const trim_loop &l, trim_factor factor,
                       trim_guard &guard, std::vector<trim_factor> &rest,
                       unsigned depth)
{
    auto [condition, truth] = factor;
    llvm::Value *a, *b;

    if (l.loop->isLoopInvariant(condition)) {
        guard.fixed.push_back(factor);
    } else if (depth < DEPTH_MAX && match(condition, m_Not(m_Value(a)))) {
        take_apart(l, {a, !truth}, guard, rest, depth + 1);
    } else if (depth < DEPTH_MAX &&
               (truth
                    ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
                    : match(condition, m_LogicalOr(m_Value(a), m_Value(b))))) {
        take_apart(l, {a, truth}, guard, rest, depth + 1);
        take_apart(l, {b, truth}, guard, rest, depth + 1);
    } else if (!add_comparison(l, condition, truth, guard)) {
        rest.push_back(factor);
    }
}

/* ---- what has no effect ---- */

using block_path = llvm::SmallVector<const llvm::BasicBlock *, 8>;

/* Returns what the value is where control came along the path. */
static const llvm::Value *value_on(const block_path &path,
                                   const llvm::Value *value)
{
    for (size_t i = path.size(); i-- > 1;) {
        const auto *phi = llvm::dyn_cast<llvm::PHINode>(value);

        if (phi != nullptr && phi->getParent() == path[i])
            value = phi->getIncomingValueForBlock(path[i - 1]);
    }
    return value;
}

/* True for a store of what was read from there on the path. Everything else
   that the path stores is of this kind, too, so it is still there. */
static bool is_silent(const block_path &path, const llvm::Instruction &at)
{
    const auto *store = llvm::dyn_cast<llvm::StoreInst>(&at);
    const llvm::LoadInst *load;

    if (store == nullptr || !store->isSimple())
        return false;
    load = llvm::dyn_cast<llvm::LoadInst>(
        value_on(path, store->getValueOperand()));
    return load != nullptr && load->isSimple() &&
           load->getPointerOperand() == store->getPointerOperand() &&
           llvm::is_contained(path, load->getParent());
}

static bool has_effect(const llvm::Instruction &at)
{
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&at);

    return at.mayHaveSideEffects() &&
           (call == nullptr || !call->isAssumeLikeIntrinsic());
}

/* True when nobody can tell whether the path was taken. */
static bool is_idle(const block_path &path)
{
    for (const llvm::BasicBlock *block : path)
        for (const llvm::Instruction &at : *block)
            if (has_effect(at) && !is_silent(path, at))
                return false;
    return true;
}

static bool is_pure(const llvm::BasicBlock &block)
{
    return llvm::none_of(block, has_effect);
}

/* True when the way from the block to the next iteration has no effect. The
   path leads to the question before it. */
static bool leads_on(const trim_loop &l, block_path path,
                     const llvm::BasicBlock *block)
{
    const llvm::BasicBlock *latch = l.jump->getParent();

    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        path.push_back(block);
        if (block == latch)
            return is_idle(path);
        block = block->getSingleSuccessor();
        if (block == nullptr || block == l.counter->getParent() ||
            !l.loop->contains(block))
            return false;
    }
    return false;
}

/* ---- guards ---- */

/* Adds the branch to the guard; false: it does not belong there. */
static bool take_branch(const trim_loop &l, const block_path &path,
                        llvm::BranchInst *branch, trim_guard &guard)
{
    for (unsigned body = 0; body < 2; body++) {
        std::vector<trim_factor> rest;

        if (!leads_on(l, path, branch->getSuccessor(1 - body)))
            continue;
        take_apart(l, {branch->getCondition(), body == 0}, guard, rest, 0);
        guard.branches.push_back({branch, body, rest});
        return true;
    }
    return false;
}

bool kiln__trim_find(const trim_loop &l, trim_guard &guard)
{
    const llvm::BasicBlock *latch = l.jump->getParent();
    llvm::BasicBlock *block = l.counter->getParent();
    block_path path;

    for (size_t i = 0; i < BLOCKS_MAX && block != latch && is_pure(*block);
         i++) {
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());

        path.push_back(block);
        if (branch == nullptr)
            break;
        if (branch->isUnconditional())
            block = branch->getSuccessor(0);
        else if (branch->getSuccessor(0) != branch->getSuccessor(1) &&
                 take_branch(l, path, branch, guard))
            block = branch->getSuccessor(guard.branches.back().body);
        else
            break;
        if (block->getSinglePredecessor() == nullptr)
            break;
    }
    return !guard.comparisons.empty() || !guard.fixed.empty();
}
