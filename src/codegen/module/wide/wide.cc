/* wide.cc - lets vectors of items go through the loops of their bodies. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/wide/wide.h"
#include "codegen/module/wide/wide_bounds.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "codegen/module/items/item_jam.h"
#include "codegen/module/items/trim.h"
#include "codegen/module/llvm_gap.h"

/*
 * A loop over items with loops in its body is done in vectors if its items go
 * the same way, or masks can stand for the branches where they part
 * (wide_values.cc), and if it pays (wide_choose.cc).
 *
 * What is left of the items goes through vectors under masks; or one by one, if
 * the processor has no masks for such elements.
 */

#define LOOPS_MOST 16u /* of a function */
#define SIZE_MOST 600u /* instructions of a loop */

namespace
{

class wide_loops
{
  public:
    wide_loops(llvm::Function &in, llvm::FunctionAnalysisManager &analyses)
        : function(in), loops(analyses.getResult<llvm::LoopAnalysis>(in)),
          dominators(analyses.getResult<llvm::DominatorTreeAnalysis>(in)),
          evolution(analyses.getResult<llvm::ScalarEvolutionAnalysis>(in)),
          target(analyses.getResult<llvm::TargetIRAnalysis>(in))
    {
    }

    bool prepare();
    bool change_one();

  private:
    bool has_masks_for_floats() const;
    bool has_shape(const llvm::Loop &loop);
    bool is_candidate(llvm::Loop &loop);
    llvm::Value *count(llvm::Loop &loop);
    void replace(const wide_values &values, wide_body body);

    llvm::Function &function;
    llvm::LoopInfo &loops;
    llvm::DominatorTree &dominators;
    llvm::ScalarEvolution &evolution;
    const llvm::TargetTransformInfo &target;
};

} // namespace

/* ---- which loops ---- */

static bool is_wanted(const llvm::Loop &loop)
{
    return !loop.isInnermost() &&
           llvm::findOptionMDForLoop(&loop, KILN__ITEM_LOOP) != nullptr &&
           !llvm::getBooleanLoopAttribute(&loop, "llvm.loop.isvectorized") &&
           llvm::hasVectorizeTransformation(&loop) !=
               llvm::TM_SuppressedByUser &&
           kiln__trim_size(loop) <= SIZE_MOST;
}

/* True if an item gives the next one nothing but counters, and the code behind
   the loop nothing. */
static bool only_counts(const llvm::Loop &loop)
{
    for (const llvm::PHINode &phi : loop.getHeader()->phis()) {
        const auto *next = llvm::dyn_cast<llvm::BinaryOperator>(
            phi.getIncomingValueForBlock(loop.getLoopLatch()));
        const auto *step =
            next != nullptr
                ? llvm::dyn_cast<llvm::ConstantInt>(next->getOperand(1))
                : nullptr;

        if (step == nullptr || next->getOpcode() != llvm::Instruction::Add ||
            next->getOperand(0) != &phi ||
            step->getValue().getSignificantBits() > 31)
            return false;
    }
    return kiln__trim_gives_nothing(loop);
}

bool wide_loops::has_shape(const llvm::Loop &loop)
{
    return loop.getLoopPreheader() != nullptr &&
           loop.getLoopLatch() != nullptr &&
           loop.getExitingBlock() == loop.getLoopLatch() &&
           loop.getUniqueExitBlock() != nullptr && only_counts(loop) &&
           evolution.hasLoopInvariantBackedgeTakenCount(&loop);
}

bool wide_loops::has_masks_for_floats() const
{
    llvm::Type *type = llvm::FixedVectorType::get(
        llvm::Type::getFloatTy(function.getContext()), 8);

    return target.isLegalMaskedLoad(type, llvm::Align(4), 0) &&
           target.isLegalMaskedStore(type, llvm::Align(4), 0);
}

/* Gives the loops a preheader, one latch and an exit of their own, and those
   inside of them the same bounds for all items. */
bool wide_loops::prepare()
{
    bool changed = false;

    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        if (is_wanted(*loop)) {
            kiln__jam_restore_groups(*loop);
            changed |= llvm::simplifyLoop(loop, &dominators, &loops, &evolution,
                                          nullptr, nullptr, false);
            changed |= has_masks_for_floats() &&
                       kiln__wide_level(*loop, loops, dominators, evolution);
        }
    return changed;
}

bool wide_loops::is_candidate(llvm::Loop &loop)
{
    return is_wanted(loop) && has_shape(loop) && loop.isAnnotatedParallel();
}

/* ---- the loops ---- */

/* The same by the loop's own bounds: NULL if it has not the form of lowering.
 */
static llvm::Value *count_as_written(llvm::Loop &loop, llvm::Instruction *at)
{
    trim_loop l;

    if (!kiln__trim_is_item_loop(&loop, l))
        return nullptr;
    return llvm::IRBuilder<>(at).CreateSub(l.end, l.first);
}

/* Computes in front of the loop how many items it has. A bound that is made of
   a remainder is a division to LLVM's analysis, of which it does not know that
   it may be repeated here. */
llvm::Value *wide_loops::count(llvm::Loop &loop)
{
    llvm::SCEVExpander expander(evolution, "wide");
    llvm::Instruction *at = loop.getLoopPreheader()->getTerminator();
    llvm::Type *i64 = llvm::Type::getInt64Ty(function.getContext());
    const llvm::SCEV *taken = evolution.getBackedgeTakenCount(&loop);

    if (taken->getType()->getIntegerBitWidth() > 64)
        return nullptr;
    if (!expander.isSafeToExpandAt(taken, at))
        return count_as_written(loop, at);
    taken = evolution.getAddExpr(evolution.getNoopOrZeroExtend(taken, i64),
                                 evolution.getOne(i64));
    return expander.expandCodeFor(taken, i64, at);
}

/* Lets the loop begin behind the items that vectors have done. */
static void begin_later(const llvm::Loop &loop, llvm::BasicBlock *from,
                        llvm::Value *full)
{
    llvm::IRBuilder<> b(from);

    for (llvm::PHINode &phi : loop.getHeader()->phis()) {
        const auto latch =
            static_cast<unsigned>(phi.getBasicBlockIndex(loop.getLoopLatch()));
        const unsigned at = 1 - latch;
        const auto *next =
            llvm::cast<llvm::BinaryOperator>(phi.getIncomingValue(latch));

        phi.setIncomingValue(
            at,
            b.CreateAdd(phi.getIncomingValue(at),
                        b.CreateMul(b.CreateZExtOrTrunc(full, phi.getType()),
                                    next->getOperand(1))));
        phi.setIncomingBlock(at, from);
    }
    b.CreateBr(loop.getHeader());
}

static llvm::BasicBlock *make_block(const llvm::Loop &loop)
{
    llvm::BasicBlock *header = loop.getHeader();

    return llvm::BasicBlock::Create(header->getContext(), "wide",
                                    header->getParent(), header);
}

/* Adds a loop of so many vectors side by side, behind the items that are done.
   Returns the block behind it. */
static llvm::BasicBlock *add_vectors(const wide_values &values, wide_body body,
                                     llvm::BasicBlock *from, llvm::Value *&done)
{
    llvm::BasicBlock *main = make_block(values.loop);
    llvm::BasicBlock *next = make_block(values.loop);
    const uint64_t items = uint64_t{body.lanes} * body.parts;
    llvm::IRBuilder<> b(from);
    llvm::Value *left = b.CreateSub(body.end, done);

    /* Those that fit into one vector are left over. */
    if (body.is_tail)
        left = b.CreateAdd(left, b.getInt64(items - body.lanes - 1));
    left = b.CreateAdd(done, b.CreateAnd(left, b.getInt64(-items)));
    body.first = done;
    body.end = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, body.end);
    b.CreateCondBr(b.CreateICmpULT(done, body.end), main, next);
    kiln__wide_emit(values, body, main, next);
    done = body.end;
    return next;
}

/* Puts loops of vectors in front of the loop or in its place. */
void wide_loops::replace(const wide_values &values, wide_body body)
{
    llvm::Loop &loop = values.loop;
    llvm::BasicBlock *from = loop.getLoopPreheader();
    llvm::BasicBlock *exit = loop.getUniqueExitBlock();
    llvm::BasicBlock *rest = make_block(loop), *end = make_block(loop);
    llvm::SmallVector<llvm::BasicBlock *, 16> old(loop.blocks());
    llvm::IRBuilder<> b(end);
    llvm::Value *done = b.getInt64(0);

    b.CreateBr(exit);
    for (llvm::PHINode &phi : exit->phis())
        phi.addIncoming(phi.getIncomingValueForBlock(loop.getLoopLatch()), end);
    from->getTerminator()->eraseFromParent();
    from = add_vectors(values, body, from, done);
    if (body.rest != 0) {
        body.parts = body.rest;
        body.is_tail = body.has_cheap_masks;
        from = add_vectors(values, body, from, done);
    }
    b.SetInsertPoint(from);
    b.CreateCondBr(b.CreateICmpEQ(done, body.end), end, rest);
    if (!body.has_masks) {
        begin_later(loop, rest, done);
        loop.setLoopID(nullptr);
        return;
    }
    body.parts = 1;
    body.first = done;
    body.is_tail = true;
    kiln__wide_emit(values, body, rest, end);
    llvm::DeleteDeadBlocks(old);
}

bool wide_loops::change_one()
{
    llvm::PostDominatorTree postdominators(function);

    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        wide_values values(*loop, loops, postdominators, evolution);
        wide_body body = {};

        if (!is_candidate(*loop) || !values.find() ||
            !kiln__wide_choose(values, target, body))
            continue;
        body.end = count(*loop);
        if (body.end == nullptr)
            continue;
        replace(values, body);
        return true;
    }
    return false;
}

bool kiln__wide_items(llvm::Function &function,
                      llvm::FunctionAnalysisManager &analyses)
{
    bool changed = wide_loops(function, analyses).prepare();

    if (changed)
        analyses.invalidate(function, llvm::PreservedAnalyses::none());
    for (unsigned i = 0; i < LOOPS_MOST; i++) {
        if (!wide_loops(function, analyses).change_one())
            break;
        analyses.invalidate(function, llvm::PreservedAnalyses::none());
        changed = true;
    }
    if (kiln__wide_restore(function))
        analyses.invalidate(function, llvm::PreservedAnalyses::none());
    return changed;
}
