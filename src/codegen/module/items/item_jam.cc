/* item_jam.cc - runs several items of a loop at the same time. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/DomTreeUpdater.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "codegen/module/items/item_jam.h"
#include "codegen/module/items/trim.h"
#include "codegen/module/llvm_gap.h"

/*
 *     for item { s = 0; for k { s += a[item][k] * x[k]; } y[item] = s; }
 *     =>
 *     for item by 8 { for k { s0 += ...; s1 += ...; ... s7 += ...; } }
 *
 * A sum of floats has an order, so the inner loop cannot be vectorised, and
 * each addition waits for the one before. The sums of several items wait at the
 * same time, and what does not depend on the item is loaded and computed once.
 * Where elements are neighbours for neighbouring items, there is nothing left
 * to do here: groups_loops.cc and lower_group_loops.c have put the items inside
 * of the loop.
 *
 * LLVM's own pass (unroll and jam) needs a proof that no item writes what
 * another one reads. Here the loop's metadata say so, and they say it to the
 * passes that follow, too: as scopes of the items that run together.
 */

#define TOGETHER 8u
#define INNER_MOST 48u /* instructions of the inner loop */

namespace
{

class jam
{
  public:
    jam(llvm::Function &in, llvm::FunctionAnalysisManager &analyses)
        : function(in), loops(analyses.getResult<llvm::LoopAnalysis>(in)),
          dominators(analyses.getResult<llvm::DominatorTreeAnalysis>(in)),
          evolution(analyses.getResult<llvm::ScalarEvolutionAnalysis>(in)),
          assumptions(analyses.getResult<llvm::AssumptionAnalysis>(in)),
          target(analyses.getResult<llvm::TargetIRAnalysis>(in)), remarks(&in),
          mark(in.getContext().getMDKindID("kiln.jam"))
    {
    }

    bool run();

  private:
    using copies = llvm::MapVector<const llvm::MDNode *,
                                   llvm::SmallVector<llvm::Instruction *, 8>>;

    bool is_candidate(const llvm::Loop &outer);
    void merge_blocks(const llvm::Loop &outer);
    void jam_loop(llvm::Loop &outer);
    void number(const llvm::Loop &outer);
    void share_counters(llvm::Loop &inner);
    copies find_copies(const llvm::Loop &outer);
    void tell_items_apart(const llvm::Loop &outer);
    void forget_numbers();

    llvm::Function &function;
    llvm::LoopInfo &loops;
    llvm::DominatorTree &dominators;
    llvm::ScalarEvolution &evolution;
    llvm::AssumptionCache &assumptions;
    llvm::TargetTransformInfo &target;
    llvm::OptimizationRemarkEmitter remarks;
    unsigned mark; /* the number of an access before items were put together */
};

} // namespace

/* ---- what may be put together ---- */

/* True for an instruction that another item's may come before or behind. */
static bool may_pass(const llvm::Instruction &at)
{
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(&at))
        return load->isSimple();
    if (const auto *store = llvm::dyn_cast<llvm::StoreInst>(&at))
        return store->isSimple();
    if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&at))
        return llvm::isa<llvm::IntrinsicInst>(call) && !call->isConvergent() &&
               call->doesNotAccessMemory();
    return !at.mayReadOrWriteMemory() && !at.mayHaveSideEffects();
}

/* One block in front of the inner loop, one behind it. */
static bool has_shape(const llvm::Loop &outer, const llvm::Loop &inner)
{
    return outer.isLoopSimplifyForm() && inner.isLoopSimplifyForm() &&
           inner.isInnermost() &&
           outer.getExitingBlock() == outer.getLoopLatch() &&
           inner.getExitingBlock() == inner.getLoopLatch() &&
           inner.getLoopPreheader() == outer.getHeader() &&
           inner.getExitBlock() == outer.getLoopLatch() &&
           outer.getNumBlocks() == inner.getNumBlocks() + 2;
}

/* True if an iteration gives the next one nothing but counters. */
static bool counts_only(const llvm::Loop &outer)
{
    for (const llvm::PHINode &phi : outer.getHeader()->phis()) {
        const auto *next = llvm::dyn_cast<llvm::BinaryOperator>(
            phi.getIncomingValueForBlock(outer.getLoopLatch()));

        if (next == nullptr || next->getOpcode() != llvm::Instruction::Add ||
            next->getOperand(0) != &phi ||
            !llvm::isa<llvm::ConstantInt>(next->getOperand(1)))
            return false;
    }
    return true;
}

/* True for a sum of floats, or the like. `is_free`: its order does not count.
 */
static bool is_sum(const llvm::Value *value, bool is_free)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    return at != nullptr && at->getType()->isFloatingPointTy() &&
           llvm::isa<llvm::FPMathOperator>(at) &&
           (is_free || !at->hasAllowReassoc());
}

/* True if iterations wait for a float that the one before has computed: for a
   value, or for what it has written to the same place. */
static bool waits(const llvm::Loop &inner, const llvm::Instruction &at,
                  bool is_free)
{
    const auto *phi = llvm::dyn_cast<llvm::PHINode>(&at);
    const auto *store = llvm::dyn_cast<llvm::StoreInst>(&at);

    if (phi != nullptr && phi->getParent() == inner.getHeader())
        return is_sum(phi->getIncomingValueForBlock(inner.getLoopLatch()),
                      is_free);
    return store != nullptr &&
           inner.isLoopInvariant(store->getPointerOperand()) &&
           is_sum(store->getValueOperand(), is_free);
}

/* True if the next iteration loads the next element. */
static bool is_beside(const llvm::Loop &inner, const llvm::LoadInst &load,
                      llvm::ScalarEvolution &evolution)
{
    const auto *place = llvm::dyn_cast<llvm::SCEVAddRecExpr>(
        evolution.getSCEV(const_cast<llvm::Value *>(load.getPointerOperand())));
    const auto *step = place != nullptr && place->getLoop() == &inner
                           ? llvm::dyn_cast<llvm::SCEVConstant>(
                                 place->getStepRecurrence(evolution))
                           : nullptr;

    return step != nullptr &&
           step->getAPInt() ==
               load.getDataLayout().getTypeStoreSize(load.getType());
}

/* True if elements that iterations load are not beside each other. */
static bool is_strided(const llvm::Loop &inner,
                       llvm::ScalarEvolution &evolution)
{
    for (const llvm::BasicBlock *block : inner.blocks())
        for (const llvm::Instruction &at : *block) {
            const auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);

            if (load != nullptr &&
                !inner.isLoopInvariant(load->getPointerOperand()) &&
                !is_beside(inner, *load, evolution))
                return true;
        }
    return false;
}

/* Where the order of a sum does not count, LLVM vectorises the inner loop. That
   is worse if it has to gather what it adds. */
static bool pays(const llvm::Loop &inner, llvm::ScalarEvolution &evolution)
{
    const bool is_free = is_strided(inner, evolution);
    bool does_wait = false;

    if (inner.getLoopLatch() == nullptr)
        return false;
    for (const llvm::BasicBlock *block : inner.blocks())
        for (const llvm::Instruction &at : *block)
            does_wait |= waits(inner, at, is_free);
    return does_wait && kiln__trim_size(inner) <= INNER_MOST;
}

/* LLVM loads what an item sums up in memory once, in front of the inner loop,
   and forgets to say that the new load depends on no other item. It is from
   where the item writes. */
void kiln__jam_restore_groups(const llvm::Loop &outer)
{
    llvm::DenseMap<const llvm::Value *, llvm::StoreInst *> written;

    for (llvm::BasicBlock *block : outer.blocks())
        for (llvm::Instruction &at : *block)
            if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&at))
                written[store->getPointerOperand()] = store;
    for (llvm::BasicBlock *block : outer.blocks())
        for (llvm::Instruction &at : *block) {
            const auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);
            const llvm::StoreInst *store =
                load != nullptr ? written.lookup(load->getPointerOperand())
                                : nullptr;

            if (store != nullptr &&
                load->getType() == store->getValueOperand()->getType() &&
                !at.hasMetadata(llvm::LLVMContext::MD_access_group))
                at.setMetadata(
                    llvm::LLVMContext::MD_access_group,
                    store->getMetadata(llvm::LLVMContext::MD_access_group));
        }
}

static bool may_be_candidate(const llvm::Loop &outer,
                             llvm::ScalarEvolution &evolution)
{
    return outer.getLoopLatch() != nullptr && outer.getSubLoops().size() == 1 &&
           outer.getSubLoops()[0]->isInnermost() &&
           llvm::findOptionMDForLoop(&outer, KILN__ITEM_LOOP) != nullptr &&
           counts_only(outer) && pays(*outer.getSubLoops()[0], evolution) &&
           llvm::all_of(outer.blocks(), [](const llvm::BasicBlock *block) {
               return llvm::all_of(*block, may_pass);
           });
}

bool jam::is_candidate(const llvm::Loop &outer)
{
    const llvm::Loop &inner = *outer.getSubLoops()[0];

    kiln__jam_restore_groups(outer);
    return has_shape(outer, inner) && outer.isAnnotatedParallel() &&
           evolution.hasLoopInvariantBackedgeTakenCount(&outer) &&
           evolution.hasLoopInvariantBackedgeTakenCount(&inner) &&
           evolution.isLoopInvariant(evolution.getBackedgeTakenCount(&inner),
                                     &outer);
}

/* ---- whose an access is ---- */

/* Copies of an instruction share its metadata: the number tells which one it
   was. */
void jam::number(const llvm::Loop &outer)
{
    llvm::MDBuilder build(function.getContext());
    unsigned count = 0;

    for (const llvm::BasicBlock *block : outer.blocks())
        for (llvm::Instruction &at : const_cast<llvm::BasicBlock &>(*block))
            if (at.mayReadOrWriteMemory())
                at.setMetadata(
                    mark, llvm::MDNode::get(
                              function.getContext(),
                              build.createConstant(llvm::ConstantInt::get(
                                  llvm::Type::getInt32Ty(function.getContext()),
                                  count++))));
}

void jam::forget_numbers()
{
    for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &at : block)
            at.setMetadata(mark, nullptr);
}

static void add(llvm::Instruction &at, unsigned kind, llvm::MDNode *more)
{
    at.setMetadata(kind, llvm::MDNode::concatenate(at.getMetadata(kind), more));
}

/* Returns the accesses by their numbers; in each list they are in the order of
   the items. */
jam::copies jam::find_copies(const llvm::Loop &outer)
{
    llvm::LoopBlocksRPO order(const_cast<llvm::Loop *>(&outer));
    copies found;

    order.perform(&loops);
    for (llvm::BasicBlock *block : order)
        for (llvm::Instruction &at : *block)
            if (const llvm::MDNode *number = at.getMetadata(mark))
                found[number].push_back(&at);
    return found;
}

/* Says that what an item reads or writes, no other one of these writes. */
static void tell(llvm::ArrayRef<llvm::Instruction *> copies,
                 llvm::ArrayRef<llvm::MDNode *> items)
{
    for (unsigned item = 0; item < items.size(); item++) {
        add(*copies[item], llvm::LLVMContext::MD_alias_scope, items[item]);
        for (unsigned other = 0; other < items.size(); other++)
            if (other != item)
                add(*copies[item], llvm::LLVMContext::MD_noalias, items[other]);
    }
}

/* Where LLVM has simplified the copy of one item only, it is not known any more
   whose the others are, and nothing is said of them. */
void jam::tell_items_apart(const llvm::Loop &outer)
{
    llvm::BasicBlock *first = outer.getHeader();
    llvm::IRBuilder<> b(first, first->getFirstInsertionPt());
    llvm::MDBuilder build(function.getContext());
    llvm::MDNode *domain = build.createAnonymousAliasScopeDomain("items");
    llvm::SmallVector<llvm::MDNode *, TOGETHER> items;

    while (items.size() < TOGETHER) {
        items.push_back(llvm::MDNode::get(
            function.getContext(), {build.createAnonymousAliasScope(domain)}));
        b.CreateNoAliasScopeDeclaration(items.back());
    }
    for (const auto &[number, accesses] : find_copies(outer))
        if (accesses.size() == TOGETHER)
            tell(accesses, items);
}

/* ---- the function ---- */

/* All items count alike, each with a counter of its own. */
void jam::share_counters(llvm::Loop &inner)
{
    llvm::SCEVExpander expander(evolution, "jam");
    llvm::SmallVector<llvm::WeakTrackingVH, 8> dead;

    evolution.forgetLoop(&inner);
    expander.replaceCongruentIVs(&inner, &dominators, dead, &target);
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
}

/* The items that are left go through a loop of their own. What its sums load is
   as far apart. */
void jam::jam_loop(llvm::Loop &outer)
{
    number(outer);
    llvm::addStringMetadataToLoop(outer.getSubLoops()[0],
                                  "llvm.loop.vectorize.enable", 0);
    if (!llvm::UnrollRuntimeLoopRemainder(
            &outer, TOGETHER, true, true, false, false, &loops, &evolution,
            &dominators, &assumptions, &target, true, TOGETHER, false) ||
        llvm::UnrollAndJamLoop(&outer, TOGETHER, 0, TOGETHER, false, &loops,
                               &evolution, &dominators, &assumptions, &target,
                               &remarks) == llvm::LoopUnrollResult::Unmodified)
        return;
    share_counters(*outer.getSubLoops()[0]);
    tell_items_apart(outer);
}

/* Unswitching leaves branches that lead to one block only. */
void jam::merge_blocks(const llvm::Loop &outer)
{
    llvm::DomTreeUpdater updater(dominators,
                                 llvm::DomTreeUpdater::UpdateStrategy::Eager);

    for (llvm::BasicBlock *block :
         llvm::SmallVector<llvm::BasicBlock *>(outer.blocks()))
        llvm::MergeBlockIntoPredecessor(block, &updater, &loops);
}

bool jam::run()
{
    llvm::SmallVector<llvm::Loop *, 4> found;

    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        if (may_be_candidate(*loop, evolution))
            found.push_back(loop);
    for (llvm::Loop *loop : found) {
        merge_blocks(*loop);
        llvm::simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions,
                           nullptr, false);
        llvm::formLCSSARecursively(*loop, dominators, &loops, &evolution);
        evolution.forgetAllLoops(); /* of blocks that are gone */
        if (is_candidate(*loop))
            jam_loop(*loop);
    }
    if (!found.empty())
        forget_numbers();
    return !found.empty();
}

/* True for an inner loop that no item enters, or all do. */
static bool is_guarded(const llvm::Loop &outer)
{
    const llvm::BasicBlock *inner = outer.getSubLoops()[0]->getHeader();

    return llvm::any_of(outer.blocks(), [&](const llvm::BasicBlock *block) {
        const auto *branch =
            llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());

        return branch != nullptr && branch->isConditional() &&
               block != outer.getLoopLatch() &&
               outer.isLoopInvariant(branch->getCondition()) &&
               (branch->getSuccessor(0) == inner ||
                branch->getSuccessor(1) == inner ||
                branch->getSuccessor(0)->getSingleSuccessor() == inner ||
                branch->getSuccessor(1)->getSingleSuccessor() == inner);
    });
}

bool kiln__jam_wants_unswitching(llvm::Function &function,
                                 llvm::FunctionAnalysisManager &analyses)
{
    const auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto &evolution =
        analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);

    return llvm::any_of(
        loops.getLoopsInPreorder(), [&](const llvm::Loop *loop) {
            return may_be_candidate(*loop, evolution) && is_guarded(*loop);
        });
}

bool kiln__jam_items(llvm::Function &function,
                     llvm::FunctionAnalysisManager &analyses)
{
    return jam(function, analyses).run();
}
