/* item_checks.cc - asks what data decide for all items, before they run. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/items/trim.h"
#include "codegen/module/llvm_gap.h"

/*
 * The proof of a group knows nothing of numbers in memory, so indices that are
 * read stay checked. A check is a way out of the loop over items, and such a
 * loop is not vectorised:
 *
 *     for i in first..end
 *         j = column[i]
 *         if j >= n raise
 *         y[i] = x[j]
 *     =>
 *     bad = 0
 *     for i in first..end
 *         bad |= column[i] >= n
 *     if bad == 0
 *         for i in first..end
 *             j = min(column[i], n - 1)
 *             y[i] = x[j]
 *     else
 *         the loop as it was
 *
 * An item must come to each check, unless it raises, and what decides must be
 * read from places that depend on its number only, before the item writes
 * anything, and behind no check of its number. So the loop that asks reads what
 * the items would read. Items are independent, hence none writes what another
 * one reads. A check of the counter itself is asked for the last item.
 *
 * A program might break that rule, and another thread might write at the same
 * time. The minimum is there for this: then a result may be wrong, but no
 * access is out of bounds. Each place that depends on something read has to
 * depend on such minima only.
 */

#define LOOP_MOST 400u /* instructions */
#define NEEDS_MOST 64u /* of the loop that asks */
#define LOOPS_MOST 64u /* of a function */

using namespace llvm::PatternMatch;

namespace
{

/* A branch to a block that raises unless index < end, as unsigned numbers. */
struct check {
    llvm::BranchInst *branch;
    unsigned raise; /* number of that successor */
    llvm::Value *index;
    llvm::Value *end;   /* the same for all items */
    bool reads = false; /* memory decides about the index */
};

struct asker {
    asker(const trim_loop &of, const llvm::DominatorTree &tree)
        : l(of), dominators(tree)
    {
    }

    const trim_loop &l;
    const llvm::DominatorTree &dominators;
    llvm::SmallVector<check, 4> checks;
    /* What the indices need, operands first. */
    llvm::SmallSetVector<llvm::Instruction *, 16> needs;
};

} // namespace

/* ---- what is found ---- */

/* Reads the condition on which an item goes on. */
static bool read_condition(const trim_loop &l, llvm::Value *condition,
                           bool truth, check &out)
{
    llvm::Value *a, *b;
    llvm::CmpPredicate given;

    if (!match(condition, m_ICmp(given, m_Value(a), m_Value(b))))
        return false;
    llvm::CmpInst::Predicate predicate =
        truth ? llvm::CmpInst::Predicate(given)
              : llvm::CmpInst::getInversePredicate(given);

    if (l.loop->isLoopInvariant(a)) {
        std::swap(a, b);
        predicate = llvm::CmpInst::getSwappedPredicate(predicate);
    }
    out.index = a;
    out.end = b;
    return predicate == llvm::CmpInst::ICMP_ULT && l.loop->isLoopInvariant(b);
}

/* Finds the ways out of the loop; false: there are others than checks. */
static bool find_checks(asker &a)
{
    const llvm::BasicBlock *latch = a.l.jump->getParent();

    for (llvm::BasicBlock *block : a.l.loop->blocks()) {
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());

        if (branch == nullptr)
            return false;
        if (block == latch || !a.l.loop->isLoopExiting(block))
            continue;
        check c = {branch,
                   a.l.loop->contains(branch->getSuccessor(0)) ? 1u : 0u,
                   nullptr, nullptr};

        if (!a.l.loop->contains(branch->getSuccessor(1 - c.raise)) ||
            !kiln__trim_raises(*branch->getSuccessor(c.raise)) ||
            !a.dominators.dominates(block, latch) ||
            !read_condition(a.l, branch->getCondition(), c.raise == 1, c))
            return false;
        a.checks.push_back(c);
    }
    llvm::sort(a.checks, [&](const check &x, const check &y) {
        return a.dominators.properlyDominates(x.branch->getParent(),
                                              y.branch->getParent());
    });
    return !a.checks.empty();
}

/* ---- what the checks need ---- */

/* Adds an instruction that may be computed for each item, after what it needs.
   `reads`: whether that reads memory already. */
static bool add_need(asker &a, llvm::Value *value, bool &reads)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    bool read_before = false;

    if (at == nullptr || at == a.l.counter || !a.l.loop->contains(at))
        return true;
    if (llvm::isa<llvm::PHINode>(at) || a.needs.size() > NEEDS_MOST ||
        !a.dominators.dominates(at->getParent(), a.l.jump->getParent()))
        return false;
    for (llvm::Value *operand : at->operands())
        if (!add_need(a, operand, read_before))
            return false;
    reads |= read_before;
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(at)) {
        if (read_before || !load->isSimple())
            return false;
        reads = true;
    } else if (at->mayReadOrWriteMemory() || at->mayHaveSideEffects() ||
               !llvm::isSafeToSpeculativelyExecute(at)) {
        return false;
    }
    a.needs.insert(at);
    return true;
}

/* True if the item may have written something when it comes to the read. */
static bool may_follow_write(const asker &a, const llvm::Instruction &read)
{
    for (const llvm::BasicBlock *block : a.l.loop->blocks())
        for (const llvm::Instruction &at : *block)
            if (at.mayWriteToMemory() &&
                !(at.getParent() == read.getParent()
                      ? read.comesBefore(&at)
                      : a.dominators.dominates(&read, &at)))
                return true;
    return false;
}

/* True if the read may be safe only because of a check of the item's number. */
static bool is_guarded(const asker &a, const llvm::Instruction &read)
{
    return llvm::any_of(a.checks, [&](const check &c) {
        return !c.reads &&
               a.dominators.dominates(
                   llvm::BasicBlockEdge(c.branch->getParent(),
                                        c.branch->getSuccessor(1 - c.raise)),
                   read.getParent());
    });
}

static bool find_needs(asker &a)
{
    for (check &c : a.checks)
        if (c.index != a.l.counter && !add_need(a, c.index, c.reads))
            return false;
    return llvm::none_of(a.needs, [&](const llvm::Instruction *at) {
        return llvm::isa<llvm::LoadInst>(at) &&
               (may_follow_write(a, *at) || is_guarded(a, *at));
    });
}

/* ---- places ---- */

/* True for the index of a check that the instruction comes after. */
static bool is_checked(const asker &a, const llvm::Value *value,
                       const llvm::Instruction &at)
{
    return llvm::any_of(a.checks, [&](const check &c) {
        return c.index == value &&
               a.dominators.dominates(
                   llvm::BasicBlockEdge(c.branch->getParent(),
                                        c.branch->getSuccessor(1 - c.raise)),
                   at.getParent());
    });
}

/* True if nothing that was read decides about the value at that instruction,
   but indices that were checked. */
static bool is_bounded(const asker &a, const llvm::Value *value,
                       const llvm::Instruction &at, unsigned depth)
{
    const auto *made = llvm::dyn_cast<llvm::Instruction>(value);

    if (made == nullptr || made == a.l.counter || !a.l.loop->contains(made) ||
        is_checked(a, value, at))
        return true;
    if (depth > 16 || made->mayReadFromMemory() ||
        llvm::isa<llvm::PHINode>(made))
        return false;
    return llvm::all_of(made->operands(), [&](const llvm::Use &use) {
        return is_bounded(a, use.get(), at, depth + 1);
    });
}

/* True for a loop whose items only read, compute and store. */
static bool is_plain(const asker &a)
{
    for (const llvm::BasicBlock *block : a.l.loop->blocks())
        for (const llvm::Instruction &at : *block) {
            const llvm::Value *place = llvm::getLoadStorePointerOperand(&at);

            if (place != nullptr) {
                if (at.isAtomic() || at.isVolatile() ||
                    !is_bounded(a, place, at, 0))
                    return false;
            } else if (at.mayHaveSideEffects() &&
                       !(llvm::isa<llvm::IntrinsicInst>(at) &&
                         llvm::cast<llvm::IntrinsicInst>(at)
                             .isAssumeLikeIntrinsic())) {
                return false;
            }
        }
    return true;
}

/* ---- loops ---- */

/* True for a check that all items pass if the last one does. */
static bool is_asked_once(const asker &a, const check &c)
{
    return c.index == a.l.counter || a.l.loop->isLoopInvariant(c.index);
}

/* Returns whether an item would raise by such a check. */
static llvm::Value *ask_once(const asker &a, llvm::IRBuilder<> &b)
{
    llvm::Value *bad = b.getFalse();

    for (const check &c : a.checks) {
        llvm::Value *index = c.index;

        if (!is_asked_once(a, c))
            continue;
        if (index == a.l.counter)
            index = b.CreateSub(a.l.end, b.getInt64(1));
        bad = b.CreateOr(bad, b.CreateFreeze(b.CreateICmpUGE(index, c.end)));
    }
    return bad;
}

/* Adds the loop that asks; returns whether an item would raise. */
static llvm::Value *ask(const asker &a, llvm::BasicBlock *start,
                        llvm::BasicBlock *loop, llvm::BasicBlock *after,
                        llvm::IRBuilder<> &b)
{
    llvm::ValueToValueMapTy map;

    b.SetInsertPoint(loop);
    llvm::PHINode *counter = b.CreatePHI(a.l.counter->getType(), 2);
    llvm::PHINode *bad = b.CreatePHI(b.getInt32Ty(), 2);
    llvm::Value *found = bad;

    map[a.l.counter] = counter;
    for (llvm::Instruction *at : a.needs) {
        llvm::Instruction *copy = at->clone();

        b.Insert(copy);
        llvm::RemapInstruction(copy, map,
                               llvm::RF_IgnoreMissingLocals |
                                   llvm::RF_NoModuleLevelChanges);
        map[at] = copy;
    }
    for (const check &c : a.checks) {
        if (is_asked_once(a, c))
            continue;
        llvm::Value *index = map[c.index];

        found = b.CreateOr(
            found, b.CreateZExt(b.CreateICmpUGE(index, c.end), b.getInt32Ty()));
    }
    llvm::Value *next = b.CreateAdd(counter, b.getInt64(1), "", true, true);

    counter->addIncoming(a.l.first, start);
    counter->addIncoming(next, loop);
    bad->addIncoming(b.getInt32(0), start);
    bad->addIncoming(found, loop);
    b.CreateCondBr(b.CreateICmpULT(next, a.l.end), loop, after);
    return found;
}

/* Uses the minimum where the copied loop comes after the check. */
static void use_minimum(const asker &a, const check &c, llvm::Value *minimum,
                        llvm::ValueToValueMapTy &map)
{
    const llvm::BasicBlockEdge edge(c.branch->getParent(),
                                    c.branch->getSuccessor(1 - c.raise));

    for (const llvm::Use &use : c.index->uses()) {
        const auto *user = llvm::dyn_cast<llvm::Instruction>(use.getUser());

        if (user != nullptr && a.l.loop->contains(user) &&
            !llvm::isa<llvm::PHINode>(user) &&
            a.dominators.dominates(edge, user->getParent()))
            llvm::cast<llvm::Instruction>(map[user])->setOperand(
                use.getOperandNo(), minimum);
    }
}

/* Makes the checks of the copied loop minima. */
static void bound(const asker &a, llvm::ValueToValueMapTy &map)
{
    llvm::DenseMap<llvm::Value *, llvm::Value *> bounded;

    for (const check &c : a.checks) {
        auto *branch = llvm::cast<llvm::BranchInst>(map[c.branch]);
        llvm::IRBuilder<> b(branch);

        if (c.reads) {
            llvm::Value *&index = bounded[c.index];

            if (index == nullptr)
                index = map[c.index];
            index = b.CreateBinaryIntrinsic(
                llvm::Intrinsic::umin, index,
                b.CreateSub(c.end,
                            llvm::ConstantInt::get(c.end->getType(), 1)));
            use_minimum(a, c, index, map);
        }
        b.CreateBr(branch->getSuccessor(1 - c.raise));
        branch->eraseFromParent();
    }
}

/* Adds a copy of the loop without checks, which begins at `start`. */
static void add_loop(const asker &a, llvm::BasicBlock *start)
{
    llvm::ValueToValueMapTy map;

    kiln__trim_copy(a.l, start, ".free", map);
    bound(a, map);
}

static void split(const asker &a)
{
    llvm::BasicBlock *header = a.l.loop->getHeader();
    llvm::Function &function = *header->getParent();
    llvm::LLVMContext &context = function.getContext();
    const auto add_block = [&] {
        return llvm::BasicBlock::Create(context, "", &function, header);
    };
    llvm::BasicBlock *start = add_block(), *loop = nullptr;
    llvm::BasicBlock *decide = start, *free = add_block(), *slow = add_block();
    llvm::IRBuilder<> b(start);
    llvm::Value *bad;

    a.l.before->getTerminator()->replaceSuccessorWith(header, start);
    bad = ask_once(a, b);
    if (!a.needs.empty()) {
        loop = add_block();
        decide = add_block();
        b.CreateCondBr(bad, slow, loop);
        bad = ask(a, start, loop, decide, b);
        b.SetInsertPoint(decide);
        bad = b.CreateICmpNE(bad, b.getInt32(0));
    }
    b.CreateCondBr(bad, slow, free,
                   llvm::MDBuilder(context).createUnlikelyBranchWeights());
    add_loop(a, free);
    b.SetInsertPoint(slow);
    b.CreateBr(header);
    a.l.counter->replaceIncomingBlockWith(a.l.before, slow);
    kiln__trim_leave_as_it_is(a.l.jump);
}

/* ---- functions ---- */

static bool is_wanted(llvm::Loop &loop, trim_loop &out)
{
    return loop.isInnermost() && kiln__trim_size(loop) <= LOOP_MOST &&
           loop.getExitingBlock() == nullptr &&
           kiln__trim_is_item_loop(&loop, out);
}

static void ask_if_possible(const trim_loop &l,
                            const llvm::DominatorTree &dominators)
{
    asker a(l, dominators);

    if (find_checks(a) && find_needs(a) && is_plain(a))
        split(a);
}

/* True for a loop inside of items that may raise. */
static bool is_raising_part(const llvm::Loop &loop)
{
    llvm::SmallVector<llvm::BasicBlock *, 8> exits;

    loop.getExitBlocks(exits);
    return loop.isInnermost() && loop.getParentLoop() != nullptr &&
           llvm::findOptionMDForLoop(loop.getParentLoop(), KILN__ITEM_LOOP) !=
               nullptr &&
           llvm::any_of(exits, [](const llvm::BasicBlock *block) {
               return kiln__trim_raises(*block);
           });
}

int kiln__llvm_items_raise_in_loops(LLVMModuleRef module)
{
    for (llvm::Function &function : *llvm::unwrap(module)) {
        if (function.isDeclaration())
            continue;
        const llvm::DominatorTree dominators(function);
        const llvm::LoopInfo loops(dominators);

        for (const llvm::Loop *loop : loops.getLoopsInPreorder())
            if (is_raising_part(*loop))
                return 1;
    }
    return 0;
}

void kiln__llvm_ask_items(LLVMModuleRef module)
{
    kiln__trim_each(*llvm::unwrap(module), LOOPS_MOST, is_wanted,
                    ask_if_possible);
}
