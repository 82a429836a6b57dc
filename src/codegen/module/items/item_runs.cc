/* item_runs.cc - items whose places grow like their numbers for a while. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <utility>
#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/module/items/item_runs.h"
#include "codegen/module/llvm_gap.h"

/*
 * Steps of sorting networks and of Fourier transforms pair elements by bits of
 * an item's number, where a launch decides which bits:
 *
 *     for i in first..end
 *         a = 2 * i - (i & mask)
 *         x[a] ...
 *
 * Neighbours do not have neighbouring elements, as far as LLVM can tell, and a
 * vector of items would gather and scatter them. But as long as i does not
 * reach a multiple of 2^k, where the lowest k bits of the mask are ones, i &
 * mask grows like i. Items with that in common are a *run*:
 *
 *     for each run base..stop of first..end
 *         for i in base..stop
 *             a = 2 * i - ((base & mask) + (i - base))
 *             x[a] ...
 *
 * In the same way, i | mask and i ^ mask grow like i as long as only bits of i
 * change that are zeros in the mask, and i >> count does not change as long as
 * only the last count bits do. And as long as i does not reach a multiple of n,
 * i % n grows like i, and i / n does not change: the items of a matrix that
 * have one number each, or neighbours at the other end, as (i + 1) % n.
 *
 * A loop with several such operations has the shortest of their runs. If runs
 * are shorter than a vector, the loop is run as it was written.
 *
 * The same counters, values and exits are required as for edges
 * (item_edges.cc).
 */

#define NARROW_MOST 16u /* bits of what is extended */
#define LOOP_MOST 700u  /* instructions */
#define LOOPS_MOST 64u  /* of a function */
#define DEPTH_MOST 4u

using namespace item_runs;

namespace
{

struct splitter {
    explicit splitter(const trim_loop &of) : l(of)
    {
    }

    const trim_loop &l;
    llvm::SmallVector<operation, 4> operations;
};

/* Where the parts of a loop over runs are. */
struct runs {
    llvm::BasicBlock *head, *start, *next;
    llvm::PHINode *base;
    llvm::Value *stop;
};

} // namespace

/* ---- what is found ---- */

/* True for the counter, also truncated, plus or minus something fixed. */
static bool grows(const trim_loop &l, const llvm::Value *value, unsigned depth)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (value == l.counter)
        return true;
    if (at == nullptr || depth == DEPTH_MOST || !l.loop->contains(at))
        return false;
    switch (at->getOpcode()) {
    case llvm::Instruction::Trunc:
        return grows(l, at->getOperand(0), depth + 1);
    case llvm::Instruction::Add:
        return (grows(l, at->getOperand(0), depth + 1) &&
                l.loop->isLoopInvariant(at->getOperand(1))) ||
               (grows(l, at->getOperand(1), depth + 1) &&
                l.loop->isLoopInvariant(at->getOperand(0)));
    case llvm::Instruction::Sub:
        return grows(l, at->getOperand(0), depth + 1) &&
               l.loop->isLoopInvariant(at->getOperand(1));
    default:
        return false;
    }
}

/* True if the place of an access depends on the value. */
static bool places(const llvm::Value &value, unsigned depth)
{
    return llvm::any_of(value.users(), [depth](const llvm::User *user) {
        return llvm::isa<llvm::GetElementPtrInst>(user) ||
               (user->getType()->isIntegerTy() && depth < DEPTH_MOST &&
                !llvm::isa<llvm::PHINode>(user) && places(*user, depth + 1));
    });
}

/* True for what vectors cannot do, and item_divide.cc leaves alone. */
static bool is_slow(const llvm::Instruction &at)
{
    return at.isIntDivRem() && at.getType()->getIntegerBitWidth() > 32;
}

static bool is_extension(const llvm::Instruction &at)
{
    return llvm::isa<llvm::ZExtInst, llvm::SExtInst>(at) &&
           llvm::isa<llvm::TruncInst>(at.getOperand(0)) &&
           at.getOperand(0)->getType()->getIntegerBitWidth() <= NARROW_MOST;
}

/* True if runs are known to be too short. */
static bool is_short(const llvm::Instruction &at, const llvm::Value *fixed)
{
    const auto *number = llvm::dyn_cast_or_null<llvm::ConstantInt>(fixed);
    const unsigned bits = llvm::countr_zero(shortest);

    if (fixed == nullptr)
        return at.getOperand(0)->getType()->getIntegerBitWidth() <= bits;
    if (number == nullptr)
        return false;
    if (at.isIntDivRem())
        return number->getValue().slt(shortest);
    if (at.getOpcode() == llvm::Instruction::LShr)
        return number->getValue().ult(bits);
    if (at.getOpcode() == llvm::Instruction::And)
        return number->getValue().countr_one() < bits;
    return number->getValue().countr_zero() < bits;
}

/* Finds the operands of an operation; false: it is none. */
static bool find_operands(const trim_loop &l, llvm::Instruction &at,
                          llvm::Value *&moving, llvm::Value *&fixed)
{
    moving = at.getOperand(0);
    fixed = nullptr;
    switch (at.getOpcode()) {
    case llvm::Instruction::And:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
    case llvm::Instruction::LShr:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SRem:
    case llvm::Instruction::URem:
        fixed = at.getOperand(1);
        if (at.isCommutative() && l.loop->isLoopInvariant(moving))
            std::swap(moving, fixed);
        return at.getType()->isIntegerTy() &&
               at.getType()->getIntegerBitWidth() <= 64 &&
               l.loop->isLoopInvariant(fixed);
    default:
        return is_extension(at);
    }
}

static void add_operation(splitter &s, llvm::Instruction &at)
{
    llvm::Value *moving, *fixed;

    if (at.getNumOperands() == 0 || !find_operands(s.l, at, moving, fixed) ||
        !grows(s.l, moving, 0) || is_short(at, fixed) ||
        (!is_slow(at) && !places(at, 0)))
        return;
    s.operations.push_back({&at, moving, fixed});
}

static void find_operations(splitter &s)
{
    for (llvm::BasicBlock *block : s.l.loop->blocks())
        for (llvm::Instruction &at : *block)
            add_operation(s, at);
}

/* ---- loops ---- */

/* Finds a run's first item and what comes after its last one. */
static void find_run(splitter &s, runs &r)
{
    llvm::IRBuilder<> b(r.head);
    llvm::Value *more;

    r.base = b.CreatePHI(s.l.counter->getType(), 2);
    r.base->addIncoming(s.l.first, s.l.before);
    more = b.CreateSub(b.CreateSub(s.l.end, r.base), b.getInt64(1));
    for (operation &o : s.operations)
        more = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, more,
                                       begin_run(s.l, o, r.base, b));
    r.stop = b.CreateAdd(b.CreateAdd(r.base, more, "", true, true),
                         b.getInt64(1), "", true, true);
    r.base->addIncoming(r.stop, r.next);
    b.CreateBr(r.start);
    b.SetInsertPoint(r.next);
    b.CreateCondBr(b.CreateICmpULT(r.stop, s.l.end), r.head, s.l.exit);
}

/* Replaces an operation in the copy of the loop. */
static void replace(const splitter &s, const runs &r, const operation &o,
                    llvm::ValueToValueMapTy &map)
{
    auto *at = llvm::cast<llvm::Instruction>(map[o.at]);
    llvm::IRBuilder<> b(at);

    at->replaceAllUsesWith(value_in_run(
        o, b.CreateSub(map[s.l.counter], r.base, "", true, true), b));
    at->eraseFromParent();
}

/* Moves in front of the copy what is the same for all items of a run: quotients
   and what is made of them. */
static void hoist_fixed(const splitter &s, const runs &r,
                        llvm::ValueToValueMapTy &map)
{
    llvm::SmallPtrSet<const llvm::BasicBlock *, 8> inside;
    bool changed = true;

    for (llvm::BasicBlock *block : s.l.loop->blocks())
        inside.insert(llvm::cast<llvm::BasicBlock>(map[block]));
    const auto is_fixed = [&](const llvm::Use &operand) {
        const auto *at = llvm::dyn_cast<llvm::Instruction>(operand.get());

        return at == nullptr || !inside.contains(at->getParent());
    };

    while (std::exchange(changed, false))
        for (llvm::BasicBlock *block : s.l.loop->blocks())
            for (llvm::Instruction &at : llvm::make_early_inc_range(
                     *llvm::cast<llvm::BasicBlock>(map[block]))) {
                if (llvm::isa<llvm::PHINode>(at) || at.isTerminator() ||
                    at.mayReadOrWriteMemory() ||
                    !llvm::isSafeToSpeculativelyExecute(&at) ||
                    !llvm::all_of(at.operands(), is_fixed))
                    continue;
                at.moveBefore(r.start->getTerminator()->getIterator());
                at.dropUBImplyingAttrsAndMetadata();
                changed = true;
            }
}

/* Adds a copy of the loop for one run. */
static void add_loop(const splitter &s, const runs &r)
{
    llvm::ValueToValueMapTy map;

    kiln__trim_copy_part(s.l, {r.start, ".run", r.base, r.stop, r.next}, map);
    for (const operation &o : s.operations)
        replace(s, r, o, map);
    hoist_fixed(s, r, map);
}

static void split(splitter &s)
{
    llvm::BasicBlock *header = s.l.loop->getHeader();
    llvm::Function &function = *header->getParent();
    llvm::LLVMContext &context = function.getContext();
    llvm::Instruction *end = s.l.before->getTerminator();
    llvm::IRBuilder<> b(end);
    runs r = {llvm::BasicBlock::Create(context, "", &function, s.l.exit),
              llvm::BasicBlock::Create(context, "", &function, s.l.exit),
              llvm::BasicBlock::Create(context, "", &function, s.l.exit),
              nullptr, nullptr};
    auto *as_written = llvm::BasicBlock::Create(context, "", &function, header);
    llvm::Value *are_long = b.getTrue();

    for (operation &o : s.operations)
        are_long = b.CreateAnd(are_long, begin(o, b));
    b.CreateCondBr(are_long, r.head, as_written);
    end->eraseFromParent();
    b.SetInsertPoint(as_written);
    b.CreateBr(header);
    find_run(s, r);
    add_loop(s, r);
    s.l.counter->replaceIncomingBlockWith(s.l.before, as_written);
}

/* ---- functions ---- */

static bool is_wanted(llvm::Loop &loop, trim_loop &out)
{
    if (kiln__trim_size(loop) > LOOP_MOST ||
        loop.getExitingBlock() == nullptr ||
        !kiln__trim_is_item_loop(&loop, out))
        return false;
    splitter s(out);

    find_operations(s);
    return loop.isInnermost() ? !s.operations.empty()
                              : llvm::any_of(s.operations, is_division);
}

static void split_loop(const trim_loop &l,
                       const llvm::DominatorTree & /*dominators*/)
{
    splitter s(l);

    find_operations(s);
    split(s);
}

void kiln__llvm_split_runs(LLVMModuleRef module)
{
    kiln__trim_each(*llvm::unwrap(module), LOOPS_MOST, is_wanted, split_loop);
}
