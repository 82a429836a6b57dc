/* wide_bounds.cc - loops whose bounds differ by item. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/wide/wide_bounds.h"

#include <llvm/Analysis/DomTreeUpdater.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

/*
 *     for j in i..n            for j in least(i)..n
 *         s += x[j]      =>        is = j >= i
 *         y[i, j] = s              s += is ? x[j] : 0, if is
 *                                  y[i, j] = s, if is
 *
 * So all items of a vector go through the loop together. An iteration has an
 * item that takes part: the one with the least start, where starts differ, or
 * with the greatest end, where ends do. So what is loaded for all items is
 * there. What is an item's own is accessed only if it takes part, and what it
 * sums up changes only then. Where both bounds differ, there might be
 * iterations in which none takes part. So iterations are counted from 0, for
 * each item from its own start: then only ends differ, or if all have as many
 * iterations, nothing does.
 *
 * The end is asked for behind an iteration. So it has to be known that items
 * that go through the loop begin before its end.
 *
 * For a single item the code does what it did, and what vectors do not take is
 * changed back (wide_shared.cc).
 */

namespace
{

/* A loop that can be changed. */
struct bounds {
    llvm::Loop *loop;
    llvm::PHINode *counter;
    llvm::BranchInst *guard; /* or NULL: each item goes through the loop */
    bool enters_if;          /* the guard's condition, of those that do */
    llvm::ICmpInst *compare; /* of the latch: is there a next iteration? */
    unsigned end;            /* its operand that is the end */
    bool start_differs;
    bool end_differs;
};

class leveller
{
  public:
    leveller(llvm::Loop &item_loop, llvm::LoopInfo &all,
             llvm::DominatorTree &tree, llvm::ScalarEvolution &numbers)
        : items(item_loop), loops(all), dominators(tree), evolution(numbers)
    {
        spread();
    }

    bool run();

  private:
    void spread();
    bool differs(const llvm::Value *value) const
    {
        return varying.contains(value);
    }
    bool read(llvm::Loop &loop, bounds &out) const;
    bool read_latch(bounds &out) const;
    bool read_guard(bounds &out) const;
    bool keeps_values(const bounds &of) const;
    void find(llvm::Loop &loop, llvm::SmallVectorImpl<bounds> &out) const;
    static llvm::Instruction *share_guard(const bounds &of);
    static llvm::Value *share_start(const bounds &of, llvm::Value *enters);
    static llvm::Value *share_end(const bounds &of, llvm::Value *enters);
    llvm::Value *count_of(const bounds &of);
    bounds rebase(bounds of);
    static llvm::Value *share(const bounds &of, llvm::Instruction *enters);
    void level(bounds of);
    void access_if(llvm::ArrayRef<llvm::BasicBlock *> blocks,
                   llvm::Value *takes_part);

    llvm::Loop &items;
    llvm::LoopInfo &loops;
    llvm::DominatorTree &dominators;
    llvm::ScalarEvolution &evolution;
    llvm::DenseSet<const llvm::Value *> varying;
};

} // namespace

/* ---- which loops ---- */

/* Finds what is computed from the number of an item. Which way control took is
   not seen; wide_values.cc sees it later. */
void leveller::spread()
{
    llvm::SmallVector<const llvm::Value *, 32> work;

    varying.clear();
    for (const llvm::PHINode &phi : items.getHeader()->phis())
        work.push_back(&phi);
    while (!work.empty()) {
        const llvm::Value *at = work.pop_back_val();

        if (!varying.insert(at).second)
            continue;
        for (const llvm::User *user : at->users()) {
            const auto *next = llvm::cast<llvm::Instruction>(user);

            if (items.contains(next) && !kiln__wide_shared(*next))
                work.push_back(next);
        }
    }
}

/* Reads a latch that asks whether the next number is less than the end. */
bool leveller::read_latch(bounds &out) const
{
    const auto *jump = llvm::dyn_cast<llvm::BranchInst>(
        out.loop->getLoopLatch()->getTerminator());

    out.compare = jump->isConditional()
                      ? llvm::dyn_cast<llvm::ICmpInst>(jump->getCondition())
                      : nullptr;
    if (out.compare == nullptr || !out.compare->hasOneUse() ||
        jump->getSuccessor(0) != out.loop->getHeader())
        return false;
    out.end = llvm::ICmpInst::isLT(out.compare->getPredicate()) ? 1 : 0;
    if (out.end == 0 && !llvm::ICmpInst::isGT(out.compare->getPredicate()))
        return false;
    const auto *next = llvm::dyn_cast<llvm::BinaryOperator>(
        out.compare->getOperand(1 - out.end));

    if (next == nullptr || next->getOpcode() != llvm::Instruction::Add ||
        !out.loop->isLoopInvariant(out.compare->getOperand(out.end)))
        return false;
    out.counter = llvm::dyn_cast<llvm::PHINode>(next->getOperand(0));
    const auto *step = llvm::dyn_cast<llvm::ConstantInt>(next->getOperand(1));

    return out.counter != nullptr &&
           out.counter->getParent() == out.loop->getHeader() &&
           step != nullptr && step->isOne() &&
           out.counter->getIncomingValueForBlock(jump->getParent()) == next;
}

/* Reads a branch on whether the item goes through the loop at all, which jumps
   over nothing but the blocks before and behind it. */
bool leveller::read_guard(bounds &out) const
{
    const llvm::BasicBlock *inside = out.loop->getLoopPreheader();
    const llvm::BasicBlock *behind = out.loop->getUniqueExitBlock();
    llvm::BranchInst *guard = out.loop->getLoopGuardBranch();

    out.guard = nullptr;
    if (guard == nullptr || !differs(guard->getCondition()))
        return true;
    out.guard = guard;
    out.enters_if = guard->getSuccessor(0) == inside;
    llvm::BasicBlock *meet = guard->getSuccessor(out.enters_if ? 1 : 0);

    return inside->getSinglePredecessor() == guard->getParent() &&
           behind->getSinglePredecessor() == out.loop->getLoopLatch() &&
           behind->getUniqueSuccessor() == meet && meet->hasNPredecessors(2) &&
           loops.getLoopFor(guard->getParent()) == out.loop->getParentLoop();
}

/* True if items take nothing out of the loop but what goes from iteration to
   iteration. */
bool leveller::keeps_values(const bounds &of) const
{
    const llvm::BasicBlock *latch = of.loop->getLoopLatch();
    llvm::DenseSet<const llvm::Value *> carried;

    for (const llvm::PHINode &phi : of.loop->getHeader()->phis())
        if (&phi != of.counter)
            carried.insert(phi.getIncomingValueForBlock(latch));
    for (const llvm::BasicBlock *block : of.loop->blocks())
        for (const llvm::Instruction &at : *block)
            for (const llvm::User *user : at.users())
                if (!of.loop->contains(llvm::cast<llvm::Instruction>(user)) &&
                    !carried.contains(&at))
                    return false;
    return true;
}

bool leveller::read(llvm::Loop &loop, bounds &out) const
{
    out.loop = &loop;
    if (!loop.isLoopSimplifyForm() || loop.getUniqueExitBlock() == nullptr ||
        loop.getExitingBlock() != loop.getLoopLatch() || !read_latch(out))
        return false;
    out.start_differs =
        differs(out.counter->getIncomingValueForBlock(loop.getLoopPreheader()));
    out.end_differs = differs(out.compare->getOperand(out.end));
    return (out.start_differs || out.end_differs) && read_guard(out) &&
           kiln__wide_begins(
               {items, loop, *out.compare,
                out.counter->getIncomingValueForBlock(loop.getLoopPreheader()),
                out.compare->getOperand(out.end)},
               dominators, evolution) &&
           keeps_values(out);
}

/* Finds the outermost loops inside of one whose bounds differ. */
void leveller::find(llvm::Loop &loop, llvm::SmallVectorImpl<bounds> &out) const
{
    for (llvm::Loop *inner : loop.getSubLoops()) {
        bounds found;

        if (read(*inner, found))
            out.push_back(found);
        else
            find(*inner, out);
    }
}

/* ---- the change ---- */

/* Lets a vector go through the loop if any item does. Returns whether this one
   does; NULL: all do. */
llvm::Instruction *leveller::share_guard(const bounds &of)
{
    if (of.guard == nullptr)
        return nullptr;
    llvm::IRBuilder<> b(of.guard);
    llvm::Value *enters = of.guard->getCondition();
    llvm::BasicBlock *behind = of.loop->getUniqueExitBlock();
    llvm::BasicBlock *meet = of.guard->getSuccessor(of.enters_if ? 1 : 0);

    if (!of.enters_if)
        enters = b.CreateNot(enters);
    llvm::Value *any = kiln__wide_share(b, enters, wide_shared::any);

    of.guard->setCondition(of.enters_if ? any : b.CreateNot(any));
    b.SetInsertPoint(of.loop->getLoopPreheader()->getFirstInsertionPt());
    llvm::Instruction *takes_part = kiln__wide_takes_part(b, enters);

    b.SetInsertPoint(behind->getTerminator());
    for (llvm::PHINode &phi : meet->phis())
        phi.setIncomingValueForBlock(
            behind, b.CreateSelect(
                        takes_part, phi.getIncomingValueForBlock(behind),
                        phi.getIncomingValueForBlock(of.guard->getParent())));
    return takes_part;
}

/* Returns the value, or for items that do not go through the loop what makes no
   difference. */
static llvm::Value *of_those(llvm::IRBuilder<> &b, llvm::Value *value,
                             llvm::Value *enters, const llvm::APInt &neutral)
{
    return enters == nullptr ? value
                             : b.CreateSelect(enters, value, b.getInt(neutral));
}

/* Both return whether the item takes part in an iteration. */
llvm::Value *leveller::share_start(const bounds &of, llvm::Value *enters)
{
    llvm::BasicBlock *before = of.loop->getLoopPreheader();
    llvm::Value *start = of.counter->getIncomingValueForBlock(before);
    const unsigned width = start->getType()->getIntegerBitWidth();
    const bool is_signed = of.compare->isSigned();
    llvm::IRBuilder<> b(before->getTerminator());

    of.counter->setIncomingValueForBlock(
        before,
        kiln__wide_share(
            b,
            of_those(b, start, enters,
                     is_signed ? llvm::APInt::getSignedMaxValue(width)
                               : llvm::APInt::getMaxValue(width)),
            is_signed ? wide_shared::least : wide_shared::least_unsigned));
    b.SetInsertPoint(of.loop->getHeader(),
                     of.loop->getHeader()->getFirstInsertionPt());
    return b.CreateICmp(is_signed ? llvm::CmpInst::ICMP_SGE
                                  : llvm::CmpInst::ICMP_UGE,
                        of.counter, start);
}

llvm::Value *leveller::share_end(const bounds &of, llvm::Value *enters)
{
    llvm::Value *end = of.compare->getOperand(of.end);
    const unsigned width = end->getType()->getIntegerBitWidth();
    const bool is_signed = of.compare->isSigned();
    llvm::IRBuilder<> b(of.loop->getLoopPreheader()->getTerminator());

    of.compare->setOperand(
        of.end,
        kiln__wide_share(
            b,
            of_those(b, end, enters,
                     is_signed ? llvm::APInt::getSignedMinValue(width)
                               : llvm::APInt::getMinValue(width)),
            is_signed ? wide_shared::most : wide_shared::most_unsigned));
    b.SetInsertPoint(of.loop->getHeader(),
                     of.loop->getHeader()->getFirstInsertionPt());
    return b.CreateICmp(is_signed ? llvm::CmpInst::ICMP_SLT
                                  : llvm::CmpInst::ICMP_ULT,
                        of.counter, end);
}

/* Returns how many iterations an item has. */
llvm::Value *leveller::count_of(const bounds &of)
{
    llvm::SCEVExpander expander(evolution, "wide");
    llvm::BasicBlock *before = of.loop->getLoopPreheader();
    llvm::Value *start = of.counter->getIncomingValueForBlock(before);
    llvm::Value *end = of.compare->getOperand(of.end);
    llvm::Instruction *outside = items.getLoopPreheader()->getTerminator();
    const llvm::SCEV *count = evolution.getMinusSCEV(evolution.getSCEV(end),
                                                     evolution.getSCEV(start));

    if (evolution.isLoopInvariant(count, &items) &&
        expander.isSafeToExpandAt(count, outside))
        return expander.expandCodeFor(count, start->getType(),
                                      outside->getIterator());
    llvm::Instruction *difference = llvm::BinaryOperator::CreateSub(
        end, start, "", before->getTerminator()->getIterator());

    varying.insert(difference);
    return difference;
}

/* Counts iterations from 0. */
bounds leveller::rebase(bounds of)
{
    llvm::BasicBlock *header = of.loop->getHeader();
    llvm::BasicBlock *before = of.loop->getLoopPreheader();
    llvm::BasicBlock *latch = of.loop->getLoopLatch();
    llvm::Value *start = of.counter->getIncomingValueForBlock(before);
    llvm::Value *count = count_of(of);
    llvm::Type *type = start->getType();
    llvm::IRBuilder<> b(header, header->begin());
    llvm::PHINode *turn = b.CreatePHI(type, 2);

    b.SetInsertPoint(header, header->getFirstInsertionPt());
    llvm::Value *number = b.CreateAdd(start, turn);

    b.SetInsertPoint(latch->getTerminator());
    llvm::Value *next = b.CreateAdd(turn, llvm::ConstantInt::get(type, 1));
    auto *compare = new llvm::ICmpInst(latch->getTerminator()->getIterator(),
                                       llvm::CmpInst::ICMP_ULT, next, count);

    turn->addIncoming(llvm::ConstantInt::get(type, 0), before);
    turn->addIncoming(next, latch);
    of.compare->replaceAllUsesWith(compare);
    of.compare->eraseFromParent();
    of.counter->replaceAllUsesWith(number);
    of.counter->eraseFromParent();
    of.compare = compare;
    of.counter = turn;
    of.end = 1;
    of.start_differs = false;
    of.end_differs = differs(count);
    return of;
}

/* Returns whether the item takes part in an iteration; NULL: always. */
llvm::Value *leveller::share(const bounds &of, llvm::Instruction *enters)
{
    if (!of.start_differs && !of.end_differs)
        return enters;
    llvm::Value *is_there =
        of.start_differs ? share_start(of, enters) : share_end(of, enters);
    llvm::IRBuilder<> b(
        of.loop->getHeader(),
        std::next(llvm::cast<llvm::Instruction>(is_there)->getIterator()));

    if (enters != nullptr)
        is_there = b.CreateLogicalAnd(enters, is_there);
    return kiln__wide_takes_part(b, is_there);
}

/* Gives the loop the same bounds for all items, and lets what an item carries
   change only in iterations in which it takes part. */
void leveller::level(bounds of)
{
    llvm::BasicBlock *latch = of.loop->getLoopLatch();

    if (of.start_differs && of.end_differs)
        of = rebase(of);
    llvm::Instruction *enters = share_guard(of);
    llvm::Value *is_there = share(of, enters);

    spread();
    if (is_there == nullptr)
        return;
    llvm::IRBuilder<> b(latch->getTerminator());

    for (llvm::PHINode &phi : of.loop->getHeader()->phis()) {
        if (&phi == of.counter)
            continue;
        llvm::Value *next = phi.getIncomingValueForBlock(latch);
        llvm::Value *now = b.CreateSelect(is_there, next, &phi);

        phi.setIncomingValueForBlock(latch, now);
        if (of.loop->isLoopInvariant(next))
            continue;
        next->replaceUsesWithIf(now, [&of](const llvm::Use &use) {
            return !of.loop->contains(
                llvm::cast<llvm::Instruction>(use.getUser()));
        });
    }
    access_if(llvm::to_vector(of.loop->blocks()), is_there);
    if (enters != nullptr)
        access_if({of.loop->getLoopPreheader(), of.loop->getUniqueExitBlock()},
                  enters);
}

/* Puts the access behind a branch. */
static void put_behind(llvm::Instruction &at, llvm::Instruction *then)
{
    if (llvm::isa<llvm::LoadInst>(at)) {
        auto *phi =
            llvm::PHINode::Create(at.getType(), 2, "", at.getParent()->begin());

        at.replaceAllUsesWith(phi);
        phi->addIncoming(&at, then->getParent());
        phi->addIncoming(llvm::Constant::getNullValue(at.getType()),
                         then->getParent()->getSinglePredecessor());
    }
    at.moveBefore(then->getIterator());
}

/* Lets the item access what is its own only if it takes part. What it computes
   else may be poison, which a branch must not see. */
void leveller::access_if(llvm::ArrayRef<llvm::BasicBlock *> blocks,
                         llvm::Value *takes_part)
{
    llvm::SmallVector<llvm::Instruction *, 16> accesses;
    llvm::DomTreeUpdater updater(dominators,
                                 llvm::DomTreeUpdater::UpdateStrategy::Eager);

    for (llvm::BasicBlock *block : blocks) {
        auto *jump = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());

        for (llvm::Instruction &at : *block)
            if (const llvm::Value *place =
                    llvm::getLoadStorePointerOperand(&at))
                if (differs(place) || llvm::isa<llvm::StoreInst>(at))
                    accesses.push_back(&at);
        if (jump != nullptr && jump->isConditional() &&
            differs(jump->getCondition()))
            jump->setCondition(new llvm::FreezeInst(jump->getCondition(), "",
                                                    jump->getIterator()));
    }
    for (llvm::Instruction *at : accesses)
        put_behind(*at, llvm::SplitBlockAndInsertIfThen(
                            takes_part, at, false, nullptr, &updater, &loops));
}

bool leveller::run()
{
    llvm::SmallVector<bounds, 2> found;

    find(items, found);
    for (const bounds &of : found)
        level(of);
    return !found.empty();
}

bool kiln__wide_level(llvm::Loop &items, llvm::LoopInfo &loops,
                      llvm::DominatorTree &dominators,
                      llvm::ScalarEvolution &evolution)
{
    return leveller(items, loops, dominators, evolution).run();
}
