/* item_checks.cc - asks what data decide for all items, before they run. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/item_checks.h"

#include <cmath>

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/llvm_gap.h"

/*
 * The proof of a group knows nothing of numbers in memory, so indices that are
 * read stay checked, and so do conversions and assertions about them. A check
 * is a way out of the loop over items, and such a loop is not vectorised:
 *
 *     for i in first..end
 *         j = column[i]
 *         if j >= n raise
 *         if x[j] > 255 raise
 *         y[i] = x[j]
 *     =>
 *     bad = 0
 *     for i in first..end
 *         now = 1
 *         j = column[i]
 *         if j < n
 *             if x[j] <= 255
 *                 now = 0
 *         bad |= now
 *     if bad == 0
 *         for i in first..end
 *             j = min(column[i], n - 1)
 *             y[i] = x[j]
 *     else
 *         the loop as it was
 *
 * What is expensive is computed once: item_checks_keep.cc.
 *
 * What decides must be read before the item writes anything, or be apart from
 * it (item_checks_apart.cc). So the loop that asks reads what the items would
 * read: items are independent, hence none writes what another one reads. An
 * item ends where it would have raised, so nothing is read that the check would
 * have kept from: vectors go on under masks. A check of the counter itself is
 * asked for the first item and the last one, before everything else.
 *
 * A program might break the rule that items are independent, and another thread
 * might write at the same time. The minimum is there for this: then a result
 * may be wrong, but the places that the check is about stay inside. Each place
 * that depends on something read has to depend on such minima only. One thing
 * is left: a place that the proof let pass by a condition on the index, and by
 * its lower end, may be outside where the index was cut.
 */

#define LOOP_MOST 700u /* instructions */
#define LOOPS_MOST 64u /* of a function */

using namespace item_checks;

/* ---- checks in front of the loop ---- */

/* True for a check whose index may be anything at all in a copy. */
static bool is_cut(const check &c)
{
    return c.keeps_inside && !c.is_asked_once();
}

/* Returns whether the item of that number would raise. */
static llvm::Value *ask_number(const check &c, llvm::IRBuilder<> &b,
                               llvm::Value *number)
{
    const reach &r = c.numbers;

    if (r.more != nullptr)
        number = r.is_less ? b.CreateSub(number, r.more)
                           : b.CreateAdd(number, r.more);
    return b.CreateFreeze(b.CreateICmpUGE(number, c.end));
}

/* Returns whether an item would raise by a check that is asked once. Between
   two numbers that are less than an end without a sign there is none that wraps
   around: no loop has 2^63 items. */
static llvm::Value *ask_once(const asker &a, llvm::IRBuilder<> &b)
{
    llvm::Value *bad = ask_early_reads(a, b);

    for (const check &c : a.checks) {
        if (is_cut(c)) /* there is nothing to take the minimum with */
            bad = b.CreateOr(
                bad, b.CreateICmpEQ(
                         c.end, llvm::ConstantInt::get(c.end->getType(), 0)));
        if (!c.is_asked_once())
            continue;
        if (!c.has_reach) {
            llvm::Value *fails =
                c.index != nullptr ? b.CreateICmpUGE(c.index, c.end)
                : c.raise == 0     ? c.branch->getCondition()
                                   : b.CreateNot(c.branch->getCondition());

            bad = b.CreateOr(bad, b.CreateFreeze(fails));
            continue;
        }
        if (c.numbers.more != nullptr) {
            bad = b.CreateOr(bad, ask_number(c, b, a.l.first));
            bad = b.CreateOr(bad, b.CreateFreeze(b.CreateIsNeg(c.end)));
        }
        bad = b.CreateOr(bad,
                         ask_number(c, b, b.CreateSub(a.l.end, b.getInt64(1))));
    }
    return bad;
}

/* ---- copies of the loop ---- */

/* Uses the minimum where the copied loop comes after the check. */
static void use_minimum(const asker &a, const check &c, llvm::Value *minimum,
                        llvm::ValueToValueMapTy &map)
{
    for (const llvm::Use &use : c.index->uses()) {
        const auto *user = llvm::dyn_cast<llvm::Instruction>(use.getUser());

        if (user != nullptr && a.l.loop->contains(user) &&
            !llvm::isa<llvm::PHINode>(user) &&
            a.dominators.dominates(c.passed(), user->getParent()))
            llvm::cast<llvm::Instruction>(map[user])->setOperand(
                use.getOperandNo(), minimum);
    }
}

/* An index that is checked twice is cut twice. */
using cuts = llvm::DenseMap<const check *, llvm::Value *>;

static llvm::Value *cut(const asker &a, const check &c, cuts &all,
                        llvm::Value *index, llvm::IRBuilder<> &b)
{
    const llvm::BasicBlock *block = c.branch->getParent();
    const llvm::DomTreeNode *nearest = nullptr;

    for (const auto &[other, value] : all) {
        const llvm::DomTreeNode *node =
            a.dominators.getNode(other->branch->getParent());

        if (other->index == c.index &&
            a.dominators.dominates(other->passed(), block) &&
            (nearest == nullptr || node->getLevel() > nearest->getLevel())) {
            nearest = node;
            index = value;
        }
    }
    return all[&c] = b.CreateBinaryIntrinsic(
               llvm::Intrinsic::umin, b.CreateFreeze(index),
               b.CreateSub(c.end, llvm::ConstantInt::get(c.end->getType(), 1)));
}

/* Lets the copied loop go on at each check, with the index cut. */
static void bound(const asker &a, llvm::ValueToValueMapTy &map)
{
    cuts all;

    for (const check &c : a.checks) {
        auto *branch = llvm::cast<llvm::BranchInst>(map[c.branch]);
        llvm::IRBuilder<> b(branch);

        if (is_cut(c))
            use_minimum(a, c, cut(a, c, all, map[c.index], b), map);
        b.CreateBr(branch->getSuccessor(1 - c.raise));
        branch->eraseFromParent();
    }
}

/* Returns 2^bits, or what follows it towards zero. The largest number of a
   format that has no such number, as f16, counts as both. */
static llvm::APFloat power(const llvm::fltSemantics &format, unsigned bits,
                           bool below)
{
    llvm::APFloat out(std::ldexp(1.0, static_cast<int>(bits)));
    bool loses;

    out.convert(format, llvm::APFloat::rmNearestTiesToEven, &loses);
    if (below || out.isInfinity())
        (void)out.next(true);
    return out;
}

/* Returns the conversion's number, or the least one of its type for a NaN, or
   the nearest one where it does not fit. LLVM's own operation for that is not
   made in vectors. */
static llvm::Value *nearest(llvm::CastInst &at)
{
    const bool is_signed = llvm::isa<llvm::FPToSIInst>(at);
    const unsigned width = at.getType()->getScalarSizeInBits();
    llvm::Value *value = at.getOperand(0);
    llvm::Type *type = value->getType();
    const llvm::fltSemantics &format = type->getScalarType()->getFltSemantics();
    llvm::IRBuilder<> b(&at);
    llvm::Constant *greatest =
        llvm::ConstantFP::get(type, power(format, width - is_signed, true));
    llvm::Constant *least =
        is_signed
            ? llvm::ConstantFP::get(type, -power(format, width - 1, false))
            : llvm::Constant::getNullValue(type);

    value = b.CreateSelect(b.CreateFCmpOGT(value, least), value, least);
    value = b.CreateSelect(b.CreateFCmpOLT(value, greatest), value, greatest);
    if (width >= 32)
        return b.CreateCast(at.getOpcode(), value, at.getType());
    return b.CreateTrunc(
        b.CreateFPToSI(value, at.getType()->getWithNewBitWidth(32)),
        at.getType());
}

/* The loop that asks may round differently, where products and sums are
   contracted. What it let pass has to fit all the same. */
static void saturate(const asker &a, llvm::ValueToValueMapTy &map)
{
    for (const llvm::BasicBlock *block : a.l.loop->blocks())
        for (const llvm::Instruction &original : *block) {
            if (!llvm::isa<llvm::FPToSIInst>(original) &&
                !llvm::isa<llvm::FPToUIInst>(original))
                continue;
            auto *at = llvm::cast<llvm::CastInst>(map[&original]);

            at->replaceAllUsesWith(nearest(*at));
            at->eraseFromParent();
        }
}

/* ---- the copy that asks ---- */

static llvm::BasicBlock *add_block(const asker &a)
{
    llvm::BasicBlock *header = a.l.loop->getHeader();

    return llvm::BasicBlock::Create(header->getContext(), "",
                                    header->getParent(), header);
}

/* Variables. As long as they are no registers, nothing behind the loop that
   asks uses its values, and it may be split into parts. */
struct notes {
    llvm::AllocaInst *bad; /* whether any item would raise */
    llvm::AllocaInst *now; /* whether this one would */
};

/* Adds the block in which each item ends, and lets the copied loop go on from
   there. What is added up under a condition is no sum to LLVM's vectorizer, so
   only this block adds up. */
static llvm::BasicBlock *add_step(const asker &a, const notes &to,
                                  llvm::ValueToValueMapTy &map)
{
    auto *counter = llvm::cast<llvm::PHINode>(map[a.l.counter]);
    auto *jump = llvm::cast<llvm::BranchInst>(map[a.l.jump]);
    llvm::BasicBlock *step = add_block(a);
    llvm::IRBuilder<> b(step);
    llvm::Value *next = b.CreateAdd(counter, b.getInt64(1), "", true, true);

    b.CreateStore(b.CreateOr(b.CreateLoad(b.getInt32Ty(), to.bad),
                             b.CreateLoad(b.getInt32Ty(), to.now)),
                  to.bad);
    b.CreateCondBr(b.CreateICmpULT(next, a.l.end), counter->getParent(),
                   jump->getSuccessor(1))
        ->copyMetadata(*jump);
    counter->setIncomingValueForBlock(jump->getParent(), next);
    counter->replaceIncomingBlockWith(jump->getParent(), step);
    b.SetInsertPoint(jump);
    b.CreateBr(step);
    jump->eraseFromParent();
    return step;
}

/* Lets an item of the copied loop end, with a note, where it would raise. */
static void note(const asker &a, const notes &to, llvm::BasicBlock *step,
                 llvm::ValueToValueMapTy &map)
{
    auto *header = llvm::cast<llvm::BasicBlock>(map[a.l.loop->getHeader()]);
    llvm::BasicBlock *raise = add_block(a);
    llvm::IRBuilder<> b(header, header->getFirstInsertionPt());

    b.CreateStore(b.getInt32(0), to.now);
    b.SetInsertPoint(raise);
    b.CreateStore(b.getInt32(1), to.now);
    b.CreateBr(step);
    for (const check &c : a.checks) {
        auto *branch = llvm::cast<llvm::BranchInst>(map[c.branch]);

        if (!c.is_asked_once()) {
            branch->setSuccessor(c.raise, raise);
            continue;
        }
        b.SetInsertPoint(branch);
        b.CreateBr(branch->getSuccessor(1 - c.raise));
        branch->eraseFromParent();
    }
}

/* Lets the copied loop write nothing. */
static void only_read(const asker &a, llvm::ValueToValueMapTy &map)
{
    for (const llvm::BasicBlock *block : a.l.loop->blocks())
        for (const llvm::Instruction &original : *block)
            if (llvm::isa<llvm::StoreInst>(original))
                llvm::cast<llvm::Instruction>(map[&original])
                    ->eraseFromParent();
}

/* ---- the two loops ---- */

/* Adds the loop that asks, from `start` to `after`. */
static void ask(const asker &a, const notes &to, llvm::BasicBlock *start,
                llvm::BasicBlock *after)
{
    llvm::ValueToValueMapTy map;
    llvm::IRBuilder<> b(start);

    b.CreateStore(b.getInt32(0), to.bad);
    kiln__trim_copy_part(a.l, {start, ".ask", a.l.first, a.l.end, after}, map);
    llvm::BasicBlock *step = add_step(a, to, map);

    note(a, to, step, map);
    if (a.kept.empty())
        only_read(a, map);
    else
        keep(a, step, map);
}

/* Adds the loop without checks. */
static void add_free(const asker &a, llvm::BasicBlock *start)
{
    llvm::ValueToValueMapTy map;

    kiln__trim_copy(a.l, start, ".free", map);
    bound(a, map);
    saturate(a, map);
    if (!a.kept.empty())
        use_kept(a, map);
}

/* Adds what asks of each item, behind the builder. Returns whether one would
   raise. */
static llvm::Value *ask_each(const asker &a, const notes &to,
                             llvm::BasicBlock *slow, llvm::IRBuilder<> &b,
                             llvm::Value *raises)
{
    llvm::BasicBlock *start = add_block(a), *after = add_block(a);

    b.CreateCondBr(raises, slow, start);
    ask(a, to, start, after);
    b.SetInsertPoint(after);
    return b.CreateICmpNE(b.CreateLoad(b.getInt32Ty(), to.bad), b.getInt32(0));
}

static void split(const asker &a)
{
    llvm::BasicBlock *header = a.l.loop->getHeader();
    llvm::BasicBlock &entry = header->getParent()->getEntryBlock();
    llvm::BasicBlock *start = add_block(a), *free = add_block(a);
    llvm::BasicBlock *slow = add_block(a);
    llvm::IRBuilder<> b(&*entry.begin());
    const notes to = {b.CreateAlloca(b.getInt32Ty()),
                      b.CreateAlloca(b.getInt32Ty())};

    a.l.before->getTerminator()->replaceSuccessorWith(header, start);
    b.SetInsertPoint(start);
    llvm::Value *raises = ask_once(a, b);

    if (!a.needs.empty())
        raises = ask_each(a, to, slow, b, raises);
    b.CreateCondBr(
        raises, slow, free,
        llvm::MDBuilder(header->getContext()).createUnlikelyBranchWeights());
    add_free(a, free);
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

static bool ask_if_possible(const trim_loop &l,
                            const llvm::DominatorTree &dominators)
{
    trim_loop own = l;
    asker a(own, dominators);

    if (!find(a))
        return false;
    if (!a.needs.empty())
        kiln__trim_in_pieces(own, piece);
    split(a);
    return true;
}

int kiln__llvm_ask_items(LLVMModuleRef module)
{
    bool any = false;

    kiln__trim_each(
        *llvm::unwrap(module), LOOPS_MOST, is_wanted,
        [&any](const trim_loop &l, const llvm::DominatorTree &dominators) {
            any |= ask_if_possible(l, dominators);
        });
    return any;
}

/* ---- what is better done before ---- */

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

static bool has_loop(LLVMModuleRef module,
                     llvm::function_ref<bool(const llvm::Loop &)> has)
{
    return llvm::any_of(*llvm::unwrap(module), [has](llvm::Function &function) {
        if (function.isDeclaration())
            return false;
        const llvm::DominatorTree dominators(function);
        const llvm::LoopInfo loops(dominators);

        return llvm::any_of(
            loops.getLoopsInPreorder(),
            [has](const llvm::Loop *loop) { return has(*loop); });
    });
}

int kiln__llvm_items_raise_in_loops(LLVMModuleRef module)
{
    return has_loop(module, is_raising_part);
}

int kiln__llvm_items_raise_inside(LLVMModuleRef module)
{
    return has_loop(module, [](const llvm::Loop &loop) {
        return loop.isOutermost() &&
               llvm::any_of(loop.blocks(), [](const llvm::BasicBlock *block) {
                   return kiln__trim_raises(*block);
               });
    });
}
