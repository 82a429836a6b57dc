/* ahead_plan.cc - decides which checks of a loop can be asked ahead. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/ahead/ahead.h"

using namespace llvm::PatternMatch;

/*
 * Checks of a loop are of three kinds.
 *
 * - A check that counters decide, as of x[k], fails from some iteration on. If
 *   the loop ends before, it never fails. LLVM knows both numbers.
 * - A check that data decide, as of x[column[k]], is asked for a few iterations
 *   at once. What it needs is computed for all of them first. So this must not
 *   depend on what these iterations write, and it may load only what each
 *   iteration loads.
 * - All others stay where they are.
 */

#define NEEDS_MOST 24u /* instructions that one condition needs */
#define COUNT_COST 12  /* instructions that a number of iterations takes */
#define SIZE_MOST 200u /* of a loop that is copied */

namespace
{

class planner
{
  public:
    planner(kiln__ahead_analyses &known, llvm::Loop &loop,
            kiln__ahead_plan &plan)
        : known(known), loop(loop), plan(plan), batch(known.aliases)
    {
    }

    bool run();

  private:
    bool is_fit();
    bool gather();
    bool counts(const llvm::SCEV *turns);
    void decide(kiln__ahead_check &check);
    void find_conditions(kiln__ahead_check &check);
    void add_condition(kiln__ahead_check &check, llvm::BranchInst &branch,
                       bool truth);
    bool reaches(llvm::Value *value, kiln__ahead_check &check);
    bool can_load(llvm::LoadInst &load, kiln__ahead_check &check);
    bool is_written(llvm::LoadInst &load);
    bool guards(const kiln__ahead_check &check, const llvm::Instruction &at);
    bool branches();
    void find_walks();
    bool pays();

    kiln__ahead_analyses &known;
    llvm::Loop &loop;
    kiln__ahead_plan &plan;
    llvm::BatchAAResults batch;
    llvm::SmallVector<llvm::Instruction *, 8> writers;
};

} // namespace

/* True when the loop ends behind its last block or in exceptions, and nothing
   but branches leads there. */
bool planner::is_fit()
{
    llvm::SmallVector<llvm::BasicBlock *, 8> exiting;

    loop.getExitingBlocks(exiting);
    return kiln__ends_or_raises(loop, known.raise) &&
           loop.isLoopSimplifyForm() &&
           llvm::all_of(exiting, [](const llvm::BasicBlock *block) {
               return llvm::isa<llvm::BranchInst>(block->getTerminator());
           });
}

/* Notes the checks, in the order in which an iteration passes them, and what
   the loop writes. */
bool planner::gather()
{
    llvm::LoopBlocksRPO order(&loop);

    order.perform(&known.loops);
    for (llvm::BasicBlock *block : order) {
        for (llvm::Instruction &at : *block)
            if (at.mayWriteToMemory())
                writers.push_back(&at);
        if (block == loop.getLoopLatch() || !loop.isLoopExiting(block))
            continue;
        const unsigned raise =
            loop.contains(block->getTerminator()->getSuccessor(0)) ? 1 : 0;

        plan.checks.push_back({block, raise, nullptr, false, 0, {}, {}});
    }
    return !plan.checks.empty();
}

/* True for a number that can be computed in front of the loop. */
bool planner::counts(const llvm::SCEV *turns)
{
    llvm::SCEVExpander expander(known.evolution, "ahead");

    return !llvm::isa<llvm::SCEVCouldNotCompute>(turns) &&
           turns->getType()->isIntegerTy() &&
           turns->getType()->getIntegerBitWidth() >= 8 &&
           turns->getType()->getIntegerBitWidth() <= 64 &&
           known.evolution.isLoopInvariant(turns, &loop) &&
           !expander.isHighCostExpansion(
               turns, &loop, COUNT_COST * llvm::TargetTransformInfo::TCC_Basic,
               &known.target, loop.getLoopPreheader()->getTerminator()) &&
           expander.isSafeToExpandAt(turns,
                                     loop.getLoopPreheader()->getTerminator());
}

/* ---- what a condition needs ---- */

llvm::Instruction *kiln__ahead_step(const llvm::Loop &loop,
                                    const llvm::PHINode &phi)
{
    auto *next = llvm::dyn_cast<llvm::Instruction>(
        phi.getIncomingValueForBlock(loop.getLoopLatch()));

    if (next == nullptr || !loop.contains(next) ||
        !(llvm::isa<llvm::GetElementPtrInst>(next) ||
          next->getOpcode() == llvm::Instruction::Add ||
          next->getOpcode() == llvm::Instruction::Sub))
        return nullptr;
    return llvm::all_of(next->operands(),
                        [&](const llvm::Use &from) {
                            return from == &phi || loop.isLoopInvariant(from);
                        })
               ? next
               : nullptr;
}

/* True when an iteration comes to the instruction only behind the check. */
bool planner::guards(const kiln__ahead_check &check,
                     const llvm::Instruction &at)
{
    return check.block != at.getParent() &&
           known.dominators.dominates(check.block, at.getParent());
}

/* True when the loop may write there, in whatever iteration. */
bool planner::is_written(llvm::LoadInst &load)
{
    const llvm::MemoryLocation all = llvm::MemoryLocation::getBeforeOrAfter(
        load.getPointerOperand(), load.getAAMetadata());

    return llvm::any_of(writers, [&](llvm::Instruction *writer) {
        return llvm::isModSet(batch.getModRefInfo(writer, all));
    });
}

/* True for what each iteration loads, at any time. It is loaded behind the
   checks that come before it. */
bool planner::can_load(llvm::LoadInst &load, kiln__ahead_check &check)
{
    if (!load.isSimple() || is_written(load) ||
        !known.dominators.dominates(load.getParent(), loop.getLoopLatch()))
        return false;
    for (const kiln__ahead_check &before : plan.checks) {
        if (&before == &check)
            break;
        if (before.turns != nullptr || !guards(before, load))
            continue;
        if (before.stays)
            return false;
        check.stage = std::max(check.stage, before.stage + 1);
    }
    return true;
}

/* Notes what is needed for a value; false: it cannot be had ahead. */
bool planner::reaches(llvm::Value *value, kiln__ahead_check &check)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (at == nullptr || !loop.contains(at) || check.needs.contains(at))
        return true;
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(at))
        return phi->getParent() == loop.getHeader() &&
               kiln__ahead_step(loop, *phi) != nullptr;
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(at)) {
        if (!can_load(*load, check))
            return false;
    } else if (at->mayReadOrWriteMemory() ||
               !llvm::isSafeToSpeculativelyExecute(at)) {
        return false;
    }
    for (llvm::Value *from : at->operands())
        if (!reaches(from, check))
            return false;
    check.needs.insert(at);
    return check.needs.size() <= NEEDS_MOST;
}

/* Adds a condition if it needs nothing that is asked later than the check. */
void planner::add_condition(kiln__ahead_check &check, llvm::BranchInst &branch,
                            bool truth)
{
    const kiln__ahead_check before = check;

    if (reaches(branch.getCondition(), check) && check.stage == before.stage)
        check.behind.push_back({branch.getCondition(), truth});
    else
        check = before;
}

/* Finds on what it depends whether an iteration comes to the check. Where that
   is not found, the check is asked for all iterations: it may fail for one that
   does not come there, and then the old loop does that one. */
void planner::find_conditions(kiln__ahead_check &check)
{
    llvm::BasicBlock *at = check.block;

    while (at != loop.getHeader()) {
        llvm::BasicBlock *above =
            known.dominators.getNode(at)->getIDom()->getBlock();
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(above->getTerminator());

        for (unsigned i = 0; branch != nullptr && branch->isConditional() &&
                             !loop.isLoopExiting(above) && i < 2;
             i++)
            if (known.dominators.dominates(
                    llvm::BasicBlockEdge(above, branch->getSuccessor(i)), at))
                add_condition(check, *branch, i == 0);
        at = above;
    }
}

void planner::decide(kiln__ahead_check &check)
{
    const llvm::SCEV *turns = known.evolution.getExitCount(&loop, check.block);
    auto *branch = llvm::cast<llvm::BranchInst>(check.block->getTerminator());

    if (counts(turns)) {
        check.turns = turns;
        return;
    }
    check.stays = known.most == 0 || !reaches(branch->getCondition(), check);
    if (check.stays)
        return;
    find_conditions(check);
    plan.stages = std::max(plan.stages, check.stage + 1);
}

/* True when items take different ways through an iteration: then little is won
   by several at once. */
bool planner::branches()
{
    return llvm::any_of(loop.blocks(), [&](llvm::BasicBlock *block) {
        return block != loop.getLoopLatch() && !loop.isLoopExiting(block) &&
               block->getTerminator()->getNumSuccessors() > 1;
    });
}

/* Notes counters that are indices: they are never negative, or a check would
   fail. In the new loop they do not wrap either, which makes pointers of
   them. */
void planner::find_walks()
{
    for (llvm::PHINode &phi : loop.getHeader()->phis()) {
        const llvm::Instruction *step = phi.getType()->isIntegerTy(32)
                                            ? kiln__ahead_step(loop, phi)
                                            : nullptr;

        if (step != nullptr && match(step, m_Add(m_Specific(&phi), m_One())) &&
            !(step->hasNoSignedWrap() && step->hasNoUnsignedWrap()) &&
            llvm::any_of(phi.users(), [&](llvm::User *user) {
                return match(user, m_NNegZExt(m_Specific(&phi))) &&
                       loop.contains(llvm::cast<llvm::Instruction>(user));
            }))
            plan.walks.push_back(&phi);
    }
}

/* True when a check goes that is not the loop's only one and as dear as what
   replaces it. */
bool planner::pays()
{
    unsigned counted = 0, asked = 0;

    for (const kiln__ahead_check &check : plan.checks) {
        counted += check.turns != nullptr;
        asked += check.turns == nullptr && !check.stays;
    }
    return plan.copies > 1 ? counted + asked > 0
                           : counted > 0 || asked > plan.stages;
}

bool planner::run()
{
    const unsigned size = is_fit() ? kiln__unrolled_size(loop) : 0;

    if (size == 0 || size > SIZE_MOST || !gather())
        return false;
    plan.loop = &loop;
    plan.stages = 0;
    plan.copies = 1;
    plan.turns = known.evolution.getExitCount(&loop, loop.getLoopLatch());
    if (!counts(plan.turns))
        return false;
    for (kiln__ahead_check &check : plan.checks)
        decide(check);
    if (plan.stages > 0 && !branches())
        plan.copies = std::min(kiln__unrolled_count(size), known.most);
    find_walks();
    return pays();
}

bool kiln__ahead_plan_of(kiln__ahead_analyses &known, llvm::Loop &loop,
                         kiln__ahead_plan &plan)
{
    return planner(known, loop, plan).run();
}
