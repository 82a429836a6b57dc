/* llvm_gap_size.cc - measures how large functions are, and makes them
   smaller. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <algorithm>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include "codegen/module/codegen_stages.h"

/*
 * Some of LLVM's passes take time that grows with the square of a function's
 * size, or faster. This file finds the numbers that their time depends on, and
 * does so in linear time. It is C++ because the C interface has no call graph,
 * no loops and no dominance.
 */

/* ---- instructions ---- */

using function_sizes = llvm::DenseMap<const llvm::Function *, uint64_t>;

/* The callees that are inlined into the caller are measured already, except for
   those on a cycle. */
static uint64_t size_of(const llvm::Function &function,
                        const function_sizes &known)
{
    uint64_t sum = 0;

    for (const llvm::Instruction &at : llvm::instructions(function)) {
        const auto *call = llvm::dyn_cast<llvm::CallBase>(&at);
        const llvm::Function *callee =
            call != nullptr ? call->getCalledFunction() : nullptr;

        sum++;
        if (callee != nullptr &&
            callee->hasFnAttribute(llvm::Attribute::AlwaysInline))
            sum += known.lookup(callee);
        /* the sizes of nested callees can grow with 2^n */
        if (sum > UINT32_MAX)
            return UINT32_MAX;
    }
    return sum;
}

extern "C" uint64_t kiln__llvm_largest(LLVMModuleRef module)
{
    llvm::CallGraph graph(*llvm::unwrap(module));
    function_sizes known;
    uint64_t largest = 0;

    for (auto at = llvm::scc_begin(&graph); !at.isAtEnd(); ++at)
        for (llvm::CallGraphNode *node : *at) {
            const llvm::Function *function = node->getFunction();
            uint64_t size;

            if (function == nullptr || function->isDeclaration())
                continue;
            size = size_of(*function, known);
            known[function] = size;
            largest = std::max(largest, size);
        }
    return largest;
}

extern "C" int kiln__llvm_has_loops(LLVMValueRef function)
{
    llvm::SmallVector<
        std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>, 8>
        edges;

    llvm::FindFunctionBackedges(*llvm::unwrap<llvm::Function>(function), edges);
    return !edges.empty();
}

/* True when something inside the loop, other than whether it goes on, decides
   what runs next. */
static bool branches(const llvm::Loop &loop)
{
    return llvm::any_of(loop.blocks(), [&](const llvm::BasicBlock *block) {
        return block != loop.getLoopLatch() &&
               block->getTerminator()->getNumSuccessors() != 1;
    });
}

static bool innermost_branch(llvm::Function &function)
{
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);

    return llvm::any_of(loops.getLoopsInPreorder(), [](const llvm::Loop *loop) {
        return loop->isInnermost() && branches(*loop);
    });
}

extern "C" int kiln__llvm_loops_branch(LLVMModuleRef module)
{
    return llvm::any_of(*llvm::unwrap(module), [](llvm::Function &function) {
        return !function.isDeclaration() && innermost_branch(function);
    });
}

/* ---- inlining ---- */

/* Inlines without lifetime markers. The pass "always-inline" marks where
   variables of a callee begin and end to live: one end for each variable before
   each return, and there is a return after each check. */
extern "C" void kiln__llvm_inline_always(LLVMModuleRef module)
{
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager cycles;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder;
    llvm::ModulePassManager passes;

    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(cycles);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, cycles, modules);
    passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    passes.addPass(llvm::GlobalDCEPass());
    passes.run(*llvm::unwrap(module), modules);
}

/* ---- values that live at the same time ---- */

/* Returns the most values that live in a block at one time, of those that it
   makes or uses. */
static uint64_t most_alive(const llvm::BasicBlock &block)
{
    llvm::SmallPtrSet<const llvm::Value *, 32> alive;
    size_t most = 0;

    for (const llvm::Instruction &at : block)
        if (at.isUsedOutsideOfBlock(&block))
            alive.insert(&at);
    for (const llvm::Instruction &at : llvm::reverse(block)) {
        most = std::max<size_t>(most, alive.size());
        alive.erase(&at);
        for (const llvm::Value *operand : at.operands())
            if (llvm::isa<llvm::Instruction>(operand))
                alive.insert(operand);
    }
    return std::max<size_t>(most, alive.size());
}

extern "C" uint64_t kiln__llvm_crowding(LLVMModuleRef module)
{
    uint64_t largest = 0;

    for (const llvm::Function &function : *llvm::unwrap(module)) {
        uint64_t sum = 0;

        for (const llvm::BasicBlock &block : function)
            sum += block.size() * most_alive(block);
        largest = std::max(largest, sum);
    }
    return largest;
}

/* ---- variables that share ----
 *
 * Turning a variable into values takes time that grows with the blocks of the
 * function, so a thousand loops with a counter each take a thousand times that.
 * Counters of loops that are not nested in each other become one variable.
 *
 * A counter is a variable that is stored to in the block before a loop, and is
 * used only there, after that store, and in the loop. That block is the only
 * one that leads into the loop from outside, so nothing else runs between the
 * store and the last use. Loops of one depth have no block in common, and the
 * blocks before them are not in any of these loops; the blocks before them must
 * differ.
 */

namespace
{
/* A variable that several counters share, and the blocks before their loops.
   Counters with the same block before the loop never share one. */
struct shared_counter {
    llvm::AllocaInst *place;
    llvm::DenseSet<const llvm::BasicBlock *> before;
};

class counters
{
  public:
    explicit counters(llvm::Function &function)
        : tree(function), loops(tree), function(function)
    {
    }
    void share();

  private:
    const llvm::Loop *loop_of(const llvm::AllocaInst *place) const;
    void take(llvm::AllocaInst *place, const llvm::Loop *loop);

    llvm::DominatorTree tree;
    llvm::LoopInfo loops;
    llvm::Function &function;
    llvm::DenseMap<std::pair<llvm::Type *, unsigned>,
                   std::vector<shared_counter>>
        all;
};
} // namespace

static bool is_simple(const llvm::AllocaInst *place, const llvm::User *user)
{
    const auto *load = llvm::dyn_cast<llvm::LoadInst>(user);
    const auto *store = llvm::dyn_cast<llvm::StoreInst>(user);

    if (load != nullptr)
        return load->isSimple() && load->getType() == place->getAllocatedType();
    return store != nullptr && store->isSimple() &&
           store->getValueOperand() != place &&
           store->getValueOperand()->getType() == place->getAllocatedType();
}

static bool is_plain(const llvm::AllocaInst *place)
{
    return place->isStaticAlloca() && !place->isArrayAllocation() &&
           !place->isUsedByMetadata() && /* a debugger may look at it */
           llvm::all_of(place->users(), [&](const llvm::User *user) {
               return is_simple(place, user);
           });
}

static const llvm::BasicBlock *block_of(const llvm::User *user)
{
    return llvm::cast<llvm::Instruction>(user)->getParent();
}

/* True when the first thing that the block does with the variable is a
   store. */
static bool is_made_in(const llvm::AllocaInst *place,
                       const llvm::BasicBlock *block)
{
    for (const llvm::Instruction &at : *block)
        if (llvm::is_contained(at.operand_values(), place))
            return llvm::isa<llvm::StoreInst>(at);
    return false;
}

/* Returns the loop that the variable counts, or NULL. */
const llvm::Loop *counters::loop_of(const llvm::AllocaInst *place) const
{
    const llvm::Loop *loop = nullptr;

    for (const llvm::User *user : place->users())
        if (loops.getLoopDepth(block_of(user)) >
            (loop != nullptr ? loop->getLoopDepth() : 0))
            loop = loops.getLoopFor(block_of(user));
    for (; loop != nullptr; loop = loop->getParentLoop()) {
        const llvm::BasicBlock *before = loop->getLoopPredecessor();

        if (before != nullptr &&
            loops.getLoopFor(before) == loop->getParentLoop() &&
            llvm::all_of(place->users(), [&](const llvm::User *user) {
                return block_of(user) == before ||
                       loop->contains(block_of(user));
            }))
            return is_made_in(place, before) ? loop : nullptr;
    }
    return nullptr;
}

void counters::take(llvm::AllocaInst *place, const llvm::Loop *loop)
{
    std::vector<shared_counter> &those =
        all[{place->getAllocatedType(), loop->getLoopDepth()}];
    const llvm::BasicBlock *before = loop->getLoopPredecessor();

    for (shared_counter &other : those)
        if (other.place->getType() == place->getType() &&
            other.place->getAlign() == place->getAlign() &&
            other.before.insert(before).second) {
            place->replaceAllUsesWith(other.place);
            place->eraseFromParent();
            return;
        }
    those.push_back({place, {before}});
}

void counters::share()
{
    std::vector<std::pair<llvm::AllocaInst *, const llvm::Loop *>> found;

    for (llvm::Instruction &at : function.getEntryBlock()) {
        auto *place = llvm::dyn_cast<llvm::AllocaInst>(&at);
        const llvm::Loop *loop =
            place != nullptr && is_plain(place) ? loop_of(place) : nullptr;

        if (loop != nullptr)
            found.push_back({place, loop});
    }
    for (const auto &[place, loop] : found)
        take(place, loop);
}

extern "C" void kiln__llvm_share_counters(LLVMModuleRef module)
{
    for (llvm::Function &function : *llvm::unwrap(module))
        if (!function.isDeclaration())
            counters(function).share();
}

/* ---- the cost of variables ---- */

/* Counts the variables and multiplies them with the blocks. */
extern "C" uint64_t kiln__llvm_variables(LLVMModuleRef module)
{
    uint64_t largest = 0;

    for (llvm::Function &function : *llvm::unwrap(module)) {
        uint64_t count = 0;

        if (function.isDeclaration())
            continue;
        for (const llvm::Instruction &at : function.getEntryBlock())
            count += llvm::isa<llvm::AllocaInst>(at);
        largest = std::max<uint64_t>(largest, count * function.size());
    }
    return largest;
}

/* ---- cutting blocks ---- */

/* Returns the first instruction after those that must begin a block: phis and
   variables of the function. */
static llvm::BasicBlock::iterator begin_of(llvm::BasicBlock &block)
{
    llvm::BasicBlock::iterator first = block.getFirstNonPHIIt();

    if (!block.isEntryBlock())
        return first;
    for (llvm::Instruction &at : block)
        if (llvm::isa<llvm::AllocaInst>(at))
            first = std::next(at.getIterator());
    return first;
}

/* True when the block ends in a call that must stay right before the return. */
static bool ends_in_tail_call(const llvm::BasicBlock &block)
{
    return block.getTerminatingMustTailCall() != nullptr;
}

/* Cuts from the end, so that each instruction is moved once. */
static void cut(llvm::BasicBlock &block, unsigned most)
{
    std::vector<llvm::Instruction *> first_ones;
    unsigned count = 0;

    for (auto at = begin_of(block); at != block.end(); ++at)
        if (++count > most && !at->isEHPad()) {
            first_ones.push_back(&*at);
            count = 1;
        }
    for (llvm::Instruction *first : llvm::reverse(first_ones))
        block.splitBasicBlock(first->getIterator());
}

extern "C" void kiln__llvm_cut_blocks(LLVMModuleRef module, unsigned most)
{
    std::vector<llvm::BasicBlock *> blocks;

    for (llvm::Function &function : *llvm::unwrap(module))
        for (llvm::BasicBlock &block : function)
            if (!ends_in_tail_call(block))
                blocks.push_back(&block);
    for (llvm::BasicBlock *block : blocks)
        cut(*block, most);
}
