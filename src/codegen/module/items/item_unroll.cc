/* item_unroll.cc - makes short loops inside of items straight code. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/items/trim.h"
#include "codegen/module/llvm_gap.h"
#include "codegen/module/loop_unroll.h"

/*
 * What passes find out about items is found in straight code only: which ones
 * are at an edge, by `(i + d) % w` for a constant d, what a sum of bytes fits
 * into, and that an item is innermost, so that items are the vectors. Small
 * neighbourhoods are often written as loops:
 *
 *     for dy in -1..2
 *         for dx in -1..2
 *             sum += x[(i + dx) % w, (j + dy) % h]
 *
 * So these are unrolled before anything else is asked. That has to leave no
 * loop inside of the item: else nothing is gained. Longer ones are only worth
 * it where there is much to find out. Others stay, since their vectors are as
 * good as those of straight code, and much faster made.
 */

/* Turns of all loops around a place, inside of an item. */
#define TURNS_MOST 9u
#define MASK_TURNS_MOST 49u /* where there is much to find out */
#define SIZE_MOST 2000u     /* instructions of an item behind that */
#define LOOPS_MOST 64u      /* of a function */

namespace
{

struct short_loop {
    llvm::Loop *loop;
    unsigned turns;
};

using short_loops = llvm::SmallVector<short_loop, 4>;

} // namespace

static bool has(const llvm::Loop &item,
                llvm::function_ref<bool(const llvm::Instruction &at)> is)
{
    return llvm::any_of(item.blocks(), [is](const llvm::BasicBlock *block) {
        return llvm::any_of(*block, is);
    });
}

/* True for an item that only computes, reads, writes and raises. */
static bool is_plain(const llvm::Loop &item)
{
    return !has(item, [](const llvm::Instruction &at) {
        return llvm::isa<llvm::CallBase>(at) &&
               !llvm::isa<llvm::IntrinsicInst>(at);
    });
}

static bool is_remainder(const llvm::Instruction &at)
{
    return at.getOpcode() == llvm::Instruction::SRem ||
           at.getOpcode() == llvm::Instruction::URem;
}

/* Masks mostly have edges. */
static bool is_mask(const llvm::Loop &item)
{
    return llvm::any_of(item.getSubLoops(), [](const llvm::Loop *loop) {
        return !loop->isInnermost();
    });
}

static unsigned turns_most_of(const llvm::Loop &item)
{
    const bool raises = item.getExitingBlock() == nullptr;

    return (raises || is_mask(item) || has(item, is_remainder)) &&
                   !kiln__trim_has_mathematics(item)
               ? MASK_TURNS_MOST
               : TURNS_MOST;
}

/* Adds the loop and all inside of it, outer ones first. `most`: how often it
   may run. */
static bool add(kiln__loop_unroller &unroller, llvm::Loop *loop, unsigned most,
                short_loops &out)
{
    const unsigned turns = unroller.turns_of(*loop);

    if (turns == 0 || turns > most)
        return false;
    out.push_back({loop, turns});
    return llvm::all_of(loop->getSubLoops(), [&](llvm::Loop *inner) {
        return add(unroller, inner, most / turns, out);
    });
}

/* Returns how many instructions there will be. */
static size_t size_of(kiln__loop_unroller &unroller, const llvm::Loop &item,
                      const short_loops &found)
{
    llvm::DenseMap<const llvm::Loop *, size_t> turns = {{&item, 1}};
    size_t size = 0;

    for (const short_loop &each : found)
        turns[each.loop] = turns[each.loop->getParentLoop()] * each.turns;
    for (const llvm::BasicBlock *block : item.blocks())
        size += block->size() * turns[unroller.known.loops.getLoopFor(block)];
    return size;
}

static void find(kiln__loop_unroller &unroller, const llvm::Loop &item,
                 short_loops &out)
{
    const unsigned most = turns_most_of(item);
    short_loops found;

    if (is_plain(item) &&
        llvm::all_of(item.getSubLoops(),
                     [&](llvm::Loop *loop) {
                         return add(unroller, loop, most, found);
                     }) &&
        size_of(unroller, item, found) <= SIZE_MOST)
        out.append(found);
}

static bool unroll_in(llvm::Function &function)
{
    kiln__loop_unroller unroller(function);
    short_loops found;
    bool unrolled = false;

    for (const llvm::Loop *loop : unroller.known.loops.getLoopsInPreorder())
        if (llvm::findOptionMDForLoop(loop, KILN__ITEM_LOOP) != nullptr &&
            !loop->isInnermost() && found.size() < LOOPS_MOST)
            find(unroller, *loop, found);
    while (!found.empty()) {
        const short_loop last = found.pop_back_val();

        unrolled |= unroller.unroll(last.loop, last.turns);
    }
    return unrolled;
}

int kiln__llvm_unroll_items(LLVMModuleRef module)
{
    bool unrolled = false;

    for (llvm::Function &function : *llvm::unwrap(module))
        if (!function.isDeclaration())
            unrolled |= unroll_in(function);
    return unrolled;
}
