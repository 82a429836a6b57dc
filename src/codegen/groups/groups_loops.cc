/* groups_loops.cc - finds loops that a group is better to run together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/groups/groups_distance.h"
#include "codegen/module/loop_analyses.h"

using namespace llvm::PatternMatch;

/*
 * This is what lower_group_loops.c does for the language. A loop that all items
 * run together, in which neighbours read and write neighbouring elements,
 * cannot be vectorised itself. With the items inside of it, each iteration is a
 * loop over neighbours. So items wait for each other in such loops, as if the
 * kernel had a barrier there. They do not race, so they may run in any order.
 *
 * A loop is taken if it contains no other one of any length; if its only exit
 * is uniform; if all items that pass the kernel's guard come to it; and if each
 * access in it is either the same for all items of a row, a read, or at a
 * distance of one element. At least one has to be of the second sort, or a
 * float is summed up, in an order that vectors would not keep. Nothing is taken
 * if the guard lets one item of a row through: it has no neighbours.
 */

#define FEW_ITERATIONS 16 /* LLVM unrolls these */
#define DEPTH_MAX 8       /* of an expression */

namespace
{

using block_set = llvm::SetVector<const llvm::BasicBlock *>;

struct loop_finder {
    const groups_plan *plan = nullptr;
    groups_neighbours neighbours; /* of a row */
    llvm::PostDominatorTree *after = nullptr;
    llvm::ScalarEvolution *evolution = nullptr;
    block_set apart; /* of the blocks, those that not all items reach alike */
    std::vector<llvm::Loop *> found;
};

} // namespace

/* ---- the guard ---- */

/* True when it asks whether the item has one certain place in its row. */
static bool takes_one(const loop_finder &f, const llvm::Value *guard)
{
    const llvm::Value *a, *b;
    groups_distance of_a, of_b;

    if (match(guard, m_LogicalAnd(m_Value(a), m_Value(b))))
        return takes_one(f, a) || takes_one(f, b);
    if (!match(guard, m_SpecificICmp(llvm::CmpInst::ICMP_EQ, m_Value(a),
                                     m_Value(b))) &&
        !match(guard, m_Not(m_SpecificICmp(llvm::CmpInst::ICMP_NE, m_Value(a),
                                           m_Value(b)))))
        return false;
    of_a = kiln__groups_distance(f.neighbours, a);
    of_b = kiln__groups_distance(f.neighbours, b);
    return of_a && of_b && *of_a != *of_b;
}

/* ---- what a loop does ---- */

struct loop_reasons {
    bool has_neighbours = false;
    bool sums_floats = false;
};

static bool access_fits(const loop_finder &f, const llvm::Instruction &at,
                        loop_reasons &reasons)
{
    const auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);
    const auto *store = llvm::dyn_cast<llvm::StoreInst>(&at);
    const llvm::Type *type =
        load != nullptr ? load->getType() : store->getValueOperand()->getType();
    const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at);
    const groups_distance d = kiln__groups_distance(f.neighbours, pointer);
    const int64_t size = static_cast<int64_t>(
        f.neighbours.layout->getTypeAllocSize(const_cast<llvm::Type *>(type))
            .getFixedValue());

    if (!d || (load != nullptr ? !load->isSimple() : !store->isSimple()))
        return false;
    if (*d == 0)
        return load != nullptr;
    reasons.has_neighbours |= *d == size && type->isSingleValueType();
    return *d == size;
}

static bool fits(const loop_finder &f, const llvm::Instruction &at,
                 loop_reasons &reasons)
{
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&at);

    if (llvm::isa<llvm::LoadInst>(at) || llvm::isa<llvm::StoreInst>(at))
        return access_fits(f, at, reasons);
    if (call != nullptr && !kiln__groups_is_query(call))
        return llvm::isa<llvm::IntrinsicInst>(call) && !call->isConvergent() &&
               (call->doesNotAccessMemory() ||
                llvm::cast<llvm::IntrinsicInst>(call)->isAssumeLikeIntrinsic());
    return !at.mayHaveSideEffects() || kiln__groups_is_query(&at);
}

static bool body_fits(const loop_finder &f, const llvm::Loop &loop)
{
    loop_reasons reasons;

    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &at : *block)
            if (!fits(f, at, reasons))
                return false;
    for (const llvm::PHINode &phi : loop.getHeader()->phis())
        reasons.sums_floats |= phi.getType()->isFloatingPointTy();
    return reasons.has_neighbours || reasons.sums_floats;
}

static bool is_short(const loop_finder &f, const llvm::Loop *loop)
{
    const unsigned count = f.evolution->getSmallConstantTripCount(loop);

    return count != 0 && count <= FEW_ITERATIONS;
}

/* ---- where a loop is ---- */

/* Adds the blocks in whose running the branch at the end of `from` has a say:
   what a successor cannot avoid, as long as `from` can avoid it. */
static void add_controlled(const loop_finder &f, const llvm::BasicBlock *from,
                           block_set &controlled)
{
    const auto *const branch = f.after->getNode(from);

    if (branch == nullptr || llvm::succ_size(from) < 2)
        return;
    for (const llvm::BasicBlock *to : llvm::successors(from))
        for (const auto *at = f.after->getNode(to);
             at != nullptr && at != branch->getIDom(); at = at->getIDom())
            if (at->getBlock() != nullptr)
                controlled.insert(at->getBlock());
}

/* Finds the blocks in whose running a branch that items decide for themselves
   has a say, directly or through other branches. */
static block_set reached_apart(const loop_finder &f)
{
    block_set apart;

    for (const llvm::BasicBlock &from : *f.plan->function)
        if (f.plan->divergent.contains(from.getTerminator()))
            add_controlled(f, &from, apart);
    for (size_t i = 0; i < apart.size(); i++)
        add_controlled(f, apart[i], apart);
    return apart;
}

static bool is_uniform(const loop_finder &f, const llvm::Loop &loop)
{
    return loop.getExitingBlock() != nullptr &&
           loop.getLoopLatch() != nullptr &&
           !f.apart.contains(loop.getExitingBlock());
}

static void find(loop_finder &f, llvm::Loop *loop)
{
    bool is_innermost = true;

    if (is_short(f, loop))
        return;
    for (llvm::Loop *inner : *loop)
        is_innermost &= is_short(f, inner);
    if (!is_innermost) {
        for (llvm::Loop *inner : *loop)
            find(f, inner);
        return;
    }
    if (is_uniform(f, *loop) && body_fits(f, *loop))
        f.found.push_back(loop);
}

/* ---- the function ---- */

void kiln__groups_add_wait(llvm::BasicBlock *block)
{
    llvm::Function &function = *block->getParent();
    llvm::LLVMContext &context = function.getContext();
    const llvm::FunctionCallee wait = function.getParent()->getOrInsertFunction(
        KILN__GROUPS_WAIT "loop", llvm::Type::getVoidTy(context),
        function.getArg(0)->getType());

    llvm::CallInst::Create(wait, {function.getArg(0)}, "",
                           block->getTerminator()->getIterator());
}

bool kiln__groups_wait_in_loops(groups_plan &plan)
{
    llvm::Function &function = *plan.function;
    kiln__loop_analyses known(function);
    llvm::PostDominatorTree after(function);
    loop_finder f;

    f.plan = &plan;
    f.neighbours = {&plan, &function.getDataLayout(), 0};
    f.after = &after;
    f.evolution = &known.evolution;
    f.apart = reached_apart(f);
    if (plan.guard != nullptr && takes_one(f, plan.guard))
        return false;
    for (llvm::Loop *loop : known.loops)
        find(f, loop);
    for (const llvm::Loop *loop : f.found)
        kiln__groups_add_wait(loop->getLoopLatch());
    return !f.found.empty();
}
