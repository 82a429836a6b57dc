/* groups_regions.cc - the regions between the splits of a kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <algorithm>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>

#include "codegen/groups/groups_plan.h"

/*
 * Regions that are not run together have the lower numbers, in the order of the
 * code, loops before what follows them. Where items wait at different places,
 * those at the lowest number go on first. So all items arrive at a place where
 * they meet before any of them goes on from there.
 */

using block_list = std::vector<llvm::BasicBlock *>;

/* Returns the blocks in reverse post-order, what a loop leads to after the
   loop. */
static block_list order_of(llvm::Function &function)
{
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    llvm::DenseSet<llvm::BasicBlock *> seen;
    block_list order;
    std::vector<std::pair<llvm::BasicBlock *, block_list>> open;
    const auto enter = [&](llvm::BasicBlock *block) {
        block_list after(llvm::succ_begin(block), llvm::succ_end(block));

        /* taken from the back: the outermost first */
        std::stable_sort(after.begin(), after.end(),
                         [&](llvm::BasicBlock *a, llvm::BasicBlock *b) {
                             return loops.getLoopDepth(a) >
                                    loops.getLoopDepth(b);
                         });
        seen.insert(block);
        open.push_back({block, after});
    };

    enter(&function.getEntryBlock());
    while (!open.empty()) {
        auto &[block, after] = open.back();

        if (after.empty()) {
            order.push_back(block);
            open.pop_back();
            continue;
        }
        llvm::BasicBlock *to = after.back();

        after.pop_back();
        if (!seen.contains(to))
            enter(to);
    }
    std::reverse(order.begin(), order.end());
    return order;
}

/* ---- one region ---- */

/* True for a return after which the group goes on. */
static bool ends_item(const llvm::BasicBlock *block)
{
    const auto *leave =
        llvm::dyn_cast<llvm::ReturnInst>(block->getTerminator());
    const auto *value =
        leave != nullptr
            ? llvm::dyn_cast<llvm::ConstantInt>(leave->getReturnValue())
            : nullptr;

    return leave != nullptr && (value == nullptr || value->isZero());
}

static void fill(groups_region &region, const groups_plan &plan,
                 const block_list &order)
{
    block_list open = {region.entry};

    region.has.insert(region.entry);
    while (!open.empty()) {
        llvm::BasicBlock *at = open.back();

        open.pop_back();
        if (!plan.splits.contains(at))
            for (llvm::BasicBlock *after : llvm::successors(at))
                if (region.has.insert(after).second)
                    open.push_back(after);
    }
    for (llvm::BasicBlock *block : order)
        if (region.has.contains(block)) {
            region.blocks.push_back(block);
            region.can_end |= ends_item(block);
            if (plan.splits.contains(block))
                region.splits.push_back(block);
        }
}

/* False for a region that would have to follow branches that the group did not
   decide. */
static bool is_sound(const groups_region &region)
{
    if (region.is_together && region.splits.size() <= 1)
        return true;
    for (const llvm::BasicBlock *split : region.splits)
        if (split->getTerminator()->getNumSuccessors() != 1)
            return false;
    return true;
}

/* ---- all regions ---- */

static void add_regions(groups_plan &plan, const block_list &order,
                        bool is_together)
{
    for (llvm::BasicBlock *block : order) {
        const auto found = plan.entries.find(block);
        groups_region region;

        if (found == plan.entries.end() || found->second != is_together)
            continue;
        region.entry = block;
        region.is_together = is_together;
        fill(region, plan, order);
        plan.region_of[block] = static_cast<unsigned>(plan.regions.size());
        plan.regions.push_back(std::move(region));
    }
}

/* Marks what items reach after others may have ended. */
static void mask(groups_plan &plan)
{
    std::vector<unsigned> open;

    for (const groups_region &region : plan.regions)
        if (region.can_end)
            open.insert(open.end(), region.next.begin(), region.next.end());
    while (!open.empty()) {
        groups_region &region = plan.regions[open.back()];

        open.pop_back();
        if (region.is_masked)
            continue;
        region.is_masked = true;
        open.insert(open.end(), region.next.begin(), region.next.end());
    }
}

bool kiln__groups_find_regions(groups_plan &plan)
{
    const block_list order = order_of(*plan.function);

    plan.entries[&plan.function->getEntryBlock()] = true;
    add_regions(plan, order, false);
    add_regions(plan, order, true);
    for (groups_region &region : plan.regions) {
        if (!is_sound(region))
            return false;
        for (const llvm::BasicBlock *split : region.splits)
            for (const llvm::BasicBlock *after : llvm::successors(split))
                region.next.push_back(plan.region_of.lookup(after));
    }
    mask(plan);
    return true;
}
