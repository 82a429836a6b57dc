/* item_halves.cc - items before and after a certain one get a loop each. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <optional>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/module/items/trim.h"
#include "codegen/module/llvm_gap.h"

/*
 *     for i in first..end
 *         if i >= distance
 *             t[i] = s[i] + s[i - distance]
 *         else
 *             t[i] = s[i]
 *     =>
 *     for i in first..middle t[i] = s[i]
 *     for i in middle..end   t[i] = s[i] + s[i - distance]
 *
 * A step of a scan has this form. In one loop, a vector of items would compare
 * all their numbers and load under masks. The same counters, values and exits
 * are required as for edges (item_edges.cc).
 */

#define LOOP_MOST 100u /* instructions */
#define LOOPS_MOST 32u /* of a function */

using namespace llvm::PatternMatch;

namespace
{

/* A branch on whether the counter is less than something fixed. */
struct question {
    llvm::ICmpInst *compare;
    llvm::Value *fixed;
    bool is_first;  /* what the comparison is for the first items */
    bool has_equal; /* the item of that number is one of them */
    bool is_signed;
};

} // namespace

/* ---- what is found ---- */

static bool has_access(const llvm::BasicBlock &block)
{
    return block.getSinglePredecessor() != nullptr &&
           llvm::any_of(block, [](const llvm::Instruction &at) {
               return at.mayReadOrWriteMemory();
           });
}

static std::optional<question> read_question(const trim_loop &l,
                                             const llvm::BasicBlock &block)
{
    const auto *branch =
        llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());

    if (branch == nullptr || branch == l.jump || !branch->isConditional())
        return std::nullopt;
    auto *compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());

    if (compare == nullptr || !compare->isRelational() ||
        !l.loop->contains(compare) ||
        (!has_access(*branch->getSuccessor(0)) &&
         !has_access(*branch->getSuccessor(1))))
        return std::nullopt;
    const bool is_swapped = compare->getOperand(1) == l.counter;
    llvm::Value *fixed = compare->getOperand(is_swapped ? 0 : 1);
    const llvm::CmpInst::Predicate predicate =
        is_swapped ? compare->getSwappedPredicate() : compare->getPredicate();

    if (compare->getOperand(is_swapped ? 1 : 0) != l.counter ||
        !l.loop->isLoopInvariant(fixed))
        return std::nullopt;
    const bool is_less =
        llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);

    return question{compare, fixed, is_less,
                    llvm::ICmpInst::isLE(predicate) ||
                        llvm::ICmpInst::isGT(predicate),
                    compare->isSigned()};
}

static std::optional<question> find_question(const trim_loop &l)
{
    for (const llvm::BasicBlock *block : l.loop->blocks())
        if (std::optional<question> found = read_question(l, *block))
            return found;
    return std::nullopt;
}

/* ---- loops ---- */

/* Returns the first item of the second loop: first <= middle <= end. Counters
   are not negative. */
static llvm::Value *find_middle(const trim_loop &l, const question &q,
                                llvm::IRBuilder<> &b)
{
    llvm::Value *middle = b.CreateFreeze(q.fixed);

    if (q.is_signed) /* less than all items, or not negative */
        middle = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, middle,
                                         b.getInt64(q.has_equal ? -1 : 0));
    else
        middle = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, middle, l.end);
    if (q.has_equal)
        middle = b.CreateAdd(middle, b.getInt64(1));
    middle = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, middle, l.first);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, middle, l.end);
}

/* Adds a copy of the loop for the first items, which begins at `start`. */
static void add_first(const trim_loop &l, const question &q,
                      llvm::BasicBlock *start, llvm::Value *middle,
                      llvm::BasicBlock *after)
{
    llvm::ValueToValueMapTy map;

    kiln__trim_copy_part(l, {start, ".half", l.first, middle, after}, map);
    llvm::cast<llvm::Instruction>(map[q.compare])
        ->replaceAllUsesWith(
            llvm::ConstantInt::getBool(start->getContext(), q.is_first));
}

static void split(const trim_loop &l, const question &q)
{
    llvm::BasicBlock *header = l.loop->getHeader();
    llvm::Function &function = *header->getParent();
    const auto add_block = [&] {
        return llvm::BasicBlock::Create(function.getContext(), "", &function,
                                        header);
    };
    llvm::BasicBlock *first = add_block(), *between = add_block(),
                     *second = add_block();
    llvm::Instruction *end = l.before->getTerminator();
    llvm::IRBuilder<> b(end);
    llvm::Value *middle = find_middle(l, q, b);

    b.CreateCondBr(b.CreateICmpULT(l.first, middle), first, between);
    end->eraseFromParent();
    add_first(l, q, first, middle, between);
    b.SetInsertPoint(between);
    b.CreateCondBr(b.CreateICmpULT(middle, l.end), second, l.exit);
    b.SetInsertPoint(second);
    b.CreateBr(header);
    l.counter->replaceIncomingBlockWith(l.before, second);
    l.counter->setIncomingValueForBlock(second, middle);
    q.compare->replaceAllUsesWith(b.getInt1(!q.is_first));
}

/* ---- functions ---- */

static bool is_wanted(llvm::Loop &loop, trim_loop &out)
{
    return loop.isInnermost() && kiln__trim_size(loop) <= LOOP_MOST &&
           loop.getExitingBlock() != nullptr &&
           kiln__trim_is_item_loop(&loop, out) && find_question(out);
}

static void split_loop(const trim_loop &l,
                       const llvm::DominatorTree & /*dominators*/)
{
    split(l, *find_question(l));
}

void kiln__llvm_split_halves(LLVMModuleRef module)
{
    kiln__trim_each(*llvm::unwrap(module), LOOPS_MOST, is_wanted, split_loop);
}
