/* vector_safety.cc - keeps LLVM's loop vectoriser from what it does wrong. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/vector_safety.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

/*
 * LLVM 22 makes wrong code of three kinds of loops:
 *
 * A division under a condition whose operands are the same in all iterations is
 * done once for a vector of iterations, if the first of these comes there. The
 * others take its result all the same. So such a division is done in front of
 * the loop, by 1 where it might trap.
 *
 * Accesses to x[2 * i] and x[2 * i + 1] become one for all elements: loads
 * where the first load is, stores where the last store is. In a loop that is
 * marked as parallel nobody looks at what is in between, which may be an access
 * of the same iteration to the same element. There the mark is dropped, and
 * LLVM looks.
 *
 * A load of every other element reads those between, too, also behind the last
 * one. It relies on a further iteration, which reads what follows. But in a
 * loop with several exits that iteration may leave before it reads. Such a loop
 * is not vectorised.
 */

#define ACCESSES_MOST 64u /* of a loop, of which each pair is looked at */
#define DEPTH_MOST 8u     /* of what is the same in all iterations */

/* ---- divisions ---- */

static bool divides(const llvm::Instruction &at)
{
    return at.isIntDivRem() && !llvm::isa<llvm::Constant>(at.getOperand(1));
}

/* True for what is the same in all iterations, if divisions are counted in. */
static bool is_fixed(const llvm::Loop &loop, const llvm::Value *value,
                     unsigned depth)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (loop.isLoopInvariant(value))
        return true;
    return at != nullptr && depth < DEPTH_MOST &&
           !llvm::isa<llvm::PHINode>(at) && !at->mayReadOrWriteMemory() &&
           (at->isIntDivRem() || llvm::isSafeToSpeculativelyExecute(at)) &&
           llvm::all_of(at->operands(), [&](const llvm::Use &operand) {
               return is_fixed(loop, operand.get(), depth + 1);
           });
}

/* Returns a divisor with which the division does not trap. */
static llvm::Value *safe_divisor(llvm::IRBuilder<> &b, llvm::Instruction &at)
{
    const bool is_signed = at.getOpcode() == llvm::Instruction::SDiv ||
                           at.getOpcode() == llvm::Instruction::SRem;
    llvm::Type *type = at.getType();
    llvm::Value *number = b.CreateFreeze(at.getOperand(0));
    llvm::Value *divisor = b.CreateFreeze(at.getOperand(1));
    llvm::Value *traps = b.CreateIsNull(divisor);

    at.setOperand(0, number);
    if (is_signed)
        traps = b.CreateOr(
            traps,
            b.CreateAnd(
                b.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)),
                b.CreateICmpEQ(number,
                               llvm::ConstantInt::get(
                                   type, llvm::APInt::getSignedMinValue(
                                             type->getScalarSizeInBits())))));
    return b.CreateSelect(traps, llvm::ConstantInt::get(type, 1), divisor);
}

/* Moves what is the same in all iterations in front of the loop. */
static void move_out(const llvm::Loop &loop, llvm::Value *value)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    llvm::Instruction *before = loop.getLoopPreheader()->getTerminator();

    if (loop.isLoopInvariant(value))
        return;
    for (llvm::Use &operand : at->operands())
        move_out(loop, operand.get());
    at->moveBefore(before->getIterator());
    at->dropUBImplyingAttrsAndMetadata();
    if (at->isIntDivRem()) {
        llvm::IRBuilder<> b(at);

        at->dropPoisonGeneratingFlags();
        if (divides(*at))
            at->setOperand(1, safe_divisor(b, *at));
    }
}

static bool move_divisions(const llvm::Loop &loop)
{
    llvm::SmallVector<llvm::Instruction *, 4> found;

    for (llvm::BasicBlock *block : loop.blocks())
        for (llvm::Instruction &at : *block)
            if (divides(at) && is_fixed(loop, &at, 0))
                found.push_back(&at);
    for (llvm::Instruction *at : found)
        move_out(loop, at);
    return !found.empty();
}

/* ---- accesses to every other element ---- */

namespace
{

struct access {
    llvm::Instruction *at;
    const llvm::SCEVAddRecExpr *place; /* NULL: it does not move evenly */
    int64_t step;                      /* in bytes; 0: it is not known */
    uint64_t size;

    bool is_store() const
    {
        return llvm::isa<llvm::StoreInst>(at);
    }

    /* True if elements between those of two iterations may be left out. */
    bool is_strided() const
    {
        return place != nullptr &&
               (step == 0 || static_cast<uint64_t>(std::abs(step)) > size);
    }

    /* LLVM also asks at run time whether a factor of a step is 1. */
    bool may_join(const access &other, llvm::ScalarEvolution &numbers) const
    {
        if (!is_strided() || !other.is_strided() || step != other.step ||
            size != other.size || is_store() != other.is_store())
            return false;
        return step != 0 || (numbers.getPointerBase(place) ==
                                 numbers.getPointerBase(other.place) &&
                             llvm::isa<llvm::SCEVConstant>(
                                 numbers.getMinusSCEV(place, other.place)));
    }
};

} // namespace

/* How an address moves where numbers of few bits do not wrap, which LLVM asks
   at run time. */
static access access_of(const llvm::Loop &loop,
                        llvm::PredicatedScalarEvolution &numbers,
                        llvm::Instruction &at)
{
    llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at);
    const llvm::SCEVAddRecExpr *place =
        pointer != nullptr && !loop.isLoopInvariant(pointer)
            ? numbers.getAsAddRec(pointer)
            : nullptr;
    access out = {&at, nullptr, 0, 0};

    if (place == nullptr || place->getLoop() != &loop || !place->isAffine())
        return out;
    const auto *step = llvm::dyn_cast<llvm::SCEVConstant>(place->getOperand(1));

    out.place = place;
    out.size = at.getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(&at));
    if (step != nullptr && step->getAPInt().getSignificantBits() <= 32)
        out.step = step->getAPInt().getSExtValue();
    return out;
}

/* True if `moved`, one of two that may be joined, would get to the other side
   of an access between them that has to do with it. */
static bool is_disturbed(llvm::ArrayRef<access> between, const access &moved,
                         llvm::AAResults &aliases)
{
    return llvm::any_of(between, [&](const access &other) {
        if (!moved.is_store() && !other.at->mayWriteToMemory())
            return false;
        return llvm::getLoadStorePointerOperand(other.at) == nullptr ||
               !aliases.isNoAlias(llvm::MemoryLocation::get(other.at),
                                  llvm::MemoryLocation::get(moved.at));
    });
}

/* Whether some access would change places with one that it depends on. */
static bool is_hazardous(llvm::ArrayRef<access> all,
                         llvm::ScalarEvolution &numbers,
                         llvm::AAResults &aliases)
{
    for (size_t i = 0; i < all.size(); i++)
        for (size_t k = i + 1; k < all.size(); k++)
            if (all[i].may_join(all[k], numbers) &&
                is_disturbed(all.slice(i + 1, k - i - 1),
                             all[i].is_store() ? all[i] : all[k], aliases))
                return true;
    return false;
}

static void drop_mark(llvm::Loop &loop)
{
    llvm::MDNode *id = loop.getLoopID();
    llvm::MDNode *without = llvm::makePostTransformationMetadata(
        loop.getHeader()->getContext(), id, {"llvm.loop.parallel_accesses"},
        {});

    loop.setLoopID(without);
}

/* The loop's accesses, in the order of the program. */
static llvm::SmallVector<access, 16> accesses_of(llvm::Loop &loop,
                                                 llvm::LoopInfo &loops,
                                                 llvm::ScalarEvolution &numbers)
{
    llvm::PredicatedScalarEvolution assuming(numbers, loop);
    llvm::SmallVector<access, 16> all;
    llvm::LoopBlocksRPO order(&loop);

    order.perform(&loops);
    for (llvm::BasicBlock *block : order)
        for (llvm::Instruction &at : *block)
            if (at.mayReadOrWriteMemory())
                all.push_back(access_of(loop, assuming, at));
    return all;
}

static void check_accesses(llvm::Loop &loop, llvm::LoopInfo &loops,
                           llvm::ScalarEvolution &numbers,
                           llvm::AAResults &aliases)
{
    const llvm::SmallVector<access, 16> all = accesses_of(loop, loops, numbers);
    const auto strided =
        llvm::count_if(all, [](const access &one) { return one.is_strided(); });

    if (strided > 0 && loop.getExitingBlock() == nullptr)
        llvm::addStringMetadataToLoop(&loop, "llvm.loop.vectorize.enable", 0);
    else if (strided > 1 && loop.isAnnotatedParallel() &&
             (all.size() > ACCESSES_MOST ||
              is_hazardous(all, numbers, aliases)))
        drop_mark(loop);
}

/* ---- functions ---- */

/* What is known after simplifyLoop(), as LLVM's pass of that name says. Most
   loops need it, and LLVM would find out again how often they run. */
static llvm::PreservedAnalyses what_simplifying_keeps()
{
    llvm::PreservedAnalyses kept;

    kept.preserve<llvm::BasicAA>();
    kept.preserve<llvm::DominatorTreeAnalysis>();
    kept.preserve<llvm::LoopAnalysis>();
    kept.preserve<llvm::ScalarEvolutionAnalysis>();
    return kept;
}

llvm::PreservedAnalyses kiln__make_vectors_safe(
    llvm::Function &function, llvm::FunctionAnalysisManager &analyses)
{
    llvm::LoopInfo &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    llvm::AAResults &aliases = analyses.getResult<llvm::AAManager>(function);
    llvm::ScalarEvolution &numbers =
        analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto &dominators =
        analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    llvm::PreservedAnalyses kept = llvm::PreservedAnalyses::all();

    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        if (!loop->isInnermost() ||
            llvm::hasVectorizeTransformation(loop) == llvm::TM_SuppressedByUser)
            continue;
        /* As the vectoriser does: it takes loops that are not so yet. */
        if (llvm::simplifyLoop(loop, &dominators, &loops, &numbers, nullptr,
                               nullptr, false))
            kept.intersect(what_simplifying_keeps());
        if (loop->getLoopPreheader() == nullptr)
            continue;
        if (move_divisions(*loop)) {
            kept = llvm::PreservedAnalyses::none();
            numbers.forgetLoop(loop);
        }
        check_accesses(*loop, loops, numbers, aliases);
    }
    return kept;
}
