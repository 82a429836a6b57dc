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
 * (wide_values.cc), and if it pays: in the inner loops, nearly all elements
 * that neighbours access are neighbours or the same one. Items that sum up
 * rows, whose elements are far apart for neighbours, go through their loops as
 * scalars, some together (wide_alone.cc); a single loop is item_jam.cc's.
 *
 * Several vectors go side by side, so that sums do not wait. What is left of
 * the items goes through one vector, under a mask; or one by one, if the
 * processor has no masks for such elements.
 */

#define LOOPS_MOST 16u /* of a function */
#define SIZE_MOST 600u /* instructions of a loop */
#define ARITHMETIC_OF_GATHER 8u
#define ROWS 8u      /* items that sum up rows together */
#define ROW_MOST 48u /* instructions of the loop over a row */

namespace
{

/* What the inner loops of a loop over items do in an iteration. A loop is taken
   to have eight. */
struct work {
    uint64_t turns = 0; /* of arithmetic, where inner loops have more */
    uint64_t gathers = 0;
    unsigned arithmetic = 0;
    unsigned beside = 0;
    unsigned kept = 0;     /* values that go from an iteration to the next */
    unsigned widest = 8;   /* bits of an element, or of what is kept */
    bool has_masks = true; /* the processor's, for all accesses */
    bool is_level = false; /* bounds of a loop differ by item */
};

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
    work measure(const wide_values &values, unsigned lanes);
    bool choose(const wide_values &values, wide_body &out, bool &has_masks);
    llvm::Value *count(const llvm::Loop &loop);
    void replace(const wide_values &values, wide_body body, bool has_masks);

    llvm::Function &function;
    llvm::LoopInfo &loops;
    llvm::DominatorTree &dominators;
    llvm::ScalarEvolution &evolution;
    llvm::TargetTransformInfo &target;
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
    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &at : *block)
            for (const llvm::User *user : at.users())
                if (!loop.contains(llvm::cast<llvm::Instruction>(user)))
                    return false;
    return true;
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

/* ---- whether it pays ---- */

static unsigned bits_of(const llvm::Instruction &at)
{
    const bool is_store = llvm::isa<llvm::StoreInst>(at);
    llvm::Type *type = is_store ? at.getOperand(0)->getType() : at.getType();

    return static_cast<unsigned>(
        at.getDataLayout().getTypeSizeInBits(type).getFixedValue());
}

/* True if the processor has the access under a mask. */
static bool is_legal(const llvm::TargetTransformInfo &target,
                     const llvm::Instruction &at, unsigned lanes)
{
    llvm::Type *type =
        llvm::FixedVectorType::get(llvm::getLoadStoreType(&at), lanes);
    const llvm::Align align = llvm::getLoadStoreAlignment(&at);

    return llvm::isa<llvm::LoadInst>(at)
               ? target.isLegalMaskedLoad(type, align, 0)
               : target.isLegalMaskedStore(type, align, 0);
}

/* Counts what the loops inside do, and of the other code its accesses. */
work wide_loops::measure(const wide_values &values, unsigned lanes)
{
    work out;

    for (llvm::BasicBlock *block : values.loop.blocks()) {
        const unsigned depth =
            loops.getLoopDepth(block) - values.loop.getLoopDepth();
        const bool is_inside = depth > 0;
        const uint64_t turns = uint64_t{1} << std::min(3 * depth, 30U);

        for (const llvm::Instruction &at : *block) {
            const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at);
            const bool is_phi = llvm::isa<llvm::PHINode>(at);

            out.is_level |= kiln__wide_shared(at).has_value();
            if (pointer != nullptr && values.is_varying(pointer)) {
                const bool is_beside = values.is_beside(at);

                out.widest = std::max(out.widest, bits_of(at));
                out.beside += is_inside && is_beside;
                out.gathers += is_inside && !is_beside ? turns : 0;
                out.has_masks &=
                    lanes == 0 || !is_beside || is_legal(target, at, lanes);
            } else if (is_inside && values.as_many.contains(&at)) {
                out.kept += is_phi;
                out.arithmetic += !is_phi;
                out.turns += is_phi ? 0 : turns;
                if (is_phi && !values.is_joined(block))
                    out.widest = std::max(out.widest, bits_of(at));
            }
        }
    }
    return out;
}

/* Chooses the vectors, or returns false: it does not pay. */
bool wide_loops::choose(const wide_values &values, wide_body &out,
                        bool &has_masks)
{
    work w = measure(values, 0);
    const unsigned bits = static_cast<unsigned>(
        target
            .getRegisterBitWidth(
                llvm::TargetTransformInfo::RGK_FixedWidthVector)
            .getFixedValue());
    const unsigned registers =
        target.getNumberOfRegisters(target.getRegisterClassForType(true));

    out.lanes = bits / w.widest;
    /* Half of a triangle's arithmetic is masks. */
    if (out.lanes < 4 || w.arithmetic == 0 ||
        w.gathers * ARITHMETIC_OF_GATHER * (w.is_level ? 2 : 1) > w.turns)
        return false;
    has_masks = measure(values, out.lanes).has_masks;
    if (!has_masks && !values.heads.empty())
        return false;
    out.parts = 4;
    while (out.parts > 1 && ((w.kept + w.beside) * out.parts > registers / 2 ||
                             (w.arithmetic + w.beside) * out.parts > 64))
        out.parts /= 2;
    return true;
}

/* ---- rows ---- */

/* True for a loop whose iterations wait for a sum of floats, in order. */
static bool waits(const llvm::Loop &inner)
{
    bool does_wait = false;

    for (const llvm::PHINode &phi : inner.getHeader()->phis()) {
        const auto *next = llvm::dyn_cast<llvm::Instruction>(
            phi.getIncomingValueForBlock(inner.getLoopLatch()));

        does_wait |= next != nullptr && llvm::isa<llvm::FPMathOperator>(next) &&
                     next->getType()->isFloatingPointTy() &&
                     !next->hasAllowReassoc() && inner.contains(next);
    }
    return does_wait && kiln__trim_size(inner) <= ROW_MOST;
}

/* True for a loop that gives nothing to what follows it. */
static bool can_be_alone(const llvm::Loop &inner)
{
    for (const llvm::BasicBlock *block : inner.blocks())
        for (const llvm::Instruction &at : *block)
            for (const llvm::User *user : at.users())
                if (!inner.contains(llvm::cast<llvm::Instruction>(user)))
                    return false;
    return inner.getLoopPreheader() != nullptr &&
           inner.getExitingBlock() != nullptr &&
           inner.getUniqueExitBlock() != nullptr &&
           inner.getUniqueExitBlock()->phis().empty();
}

/* Chooses scalars of several items: where items sum up rows, more than once. A
   single loop is item_jam.cc's. */
static bool choose_rows(const wide_values &values, wide_body &out)
{
    unsigned count = 0, waiting = 0;

    out.lanes = 1;
    out.parts = ROWS;
    out.alone.clear();
    for (llvm::Loop *inner : values.loop.getSubLoops()) {
        if (!inner->isInnermost() || !inner->isLoopSimplifyForm())
            return false;
        count++;
        if (waits(*inner))
            waiting++;
        else if (can_be_alone(*inner))
            out.alone.push_back(inner);
        else
            return false;
    }
    if (!out.alone.empty())
        out.parts = ROWS / 2; /* each has a copy of these loops */
    return count > 1 && waiting > 0 && values.heads.empty();
}

/* ---- the loops ---- */

/* Computes in front of the loop how many items it has. */
llvm::Value *wide_loops::count(const llvm::Loop &loop)
{
    llvm::SCEVExpander expander(evolution, "wide");
    llvm::Instruction *at = loop.getLoopPreheader()->getTerminator();
    llvm::Type *i64 = llvm::Type::getInt64Ty(function.getContext());
    const llvm::SCEV *taken = evolution.getBackedgeTakenCount(&loop);

    if (taken->getType()->getIntegerBitWidth() > 64 ||
        !expander.isSafeToExpandAt(taken, at))
        return nullptr;
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

/* Puts loops of vectors in front of the loop or in its place. */
void wide_loops::replace(const wide_values &values, wide_body body,
                         bool has_masks)
{
    llvm::Loop &loop = values.loop;
    llvm::BasicBlock *entry = loop.getLoopPreheader();
    llvm::BasicBlock *latch = loop.getLoopLatch();
    llvm::BasicBlock *exit = loop.getUniqueExitBlock();
    llvm::BasicBlock *main = make_block(loop), *between = make_block(loop);
    llvm::BasicBlock *rest = make_block(loop), *end = make_block(loop);
    llvm::SmallVector<llvm::BasicBlock *, 16> old(loop.blocks());
    llvm::Value *all = body.end, *full;
    llvm::IRBuilder<> b(entry->getTerminator());

    full = b.CreateAnd(all, b.getInt64(-uint64_t{body.lanes} * body.parts));
    b.CreateCondBr(b.CreateIsNotNull(full), main, rest);
    entry->getTerminator()->eraseFromParent();
    b.SetInsertPoint(between);
    b.CreateCondBr(b.CreateICmpEQ(full, all), end, rest);
    b.SetInsertPoint(end);
    b.CreateBr(exit);
    for (llvm::PHINode &phi : exit->phis())
        phi.addIncoming(phi.getIncomingValueForBlock(latch), end);
    body.first = b.getInt64(0);
    body.end = full;
    kiln__wide_emit(values, body, main, between);
    if (!has_masks) {
        begin_later(loop, rest, full);
        loop.setLoopID(nullptr);
        return;
    }
    kiln__wide_emit(values, {body.lanes, 1, full, all, true, {}}, rest, end);
    llvm::DeleteDeadBlocks(old);
}

bool wide_loops::change_one()
{
    llvm::PostDominatorTree postdominators(function);

    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        wide_values values(*loop, loops, postdominators, evolution);
        wide_body body = {};
        bool has_masks = false;

        if (!is_candidate(*loop) || !values.find() ||
            (!choose(values, body, has_masks) && !choose_rows(values, body)))
            continue;
        body.end = count(*loop);
        if (body.end == nullptr)
            continue;
        replace(values, body, has_masks);
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
