/* groups_decide.cc - the uniform branches that decide where a group goes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>

#include "codegen/groups/groups_plan.h"

/*
 * A region that is run together should end at one split, so that the group goes
 * on from there by real control flow. So for each block this finds the split
 * that is next. Where a uniform branch of group level leads to different ones,
 * the branch becomes a split itself, and is the next one for what is before it.
 * Any other uniform branch stays inside a region, and inside its loop.
 *
 * The end is a split, too, but not behind a divergent branch: items that end
 * there leave the group. Behind other divergent branches there may be several
 * splits; the branch then stands for all of them, and a dispatcher follows.
 */

namespace
{

struct groups_next {
    const groups_plan *plan = nullptr;
    llvm::DenseSet<const llvm::BasicBlock *> leads; /* to a split */
    /* the next split: a block; null: the end; none yet: unknown */
    llvm::DenseMap<const llvm::BasicBlock *, const llvm::BasicBlock *> of;
};

} // namespace

static void mark_leading(groups_next &n)
{
    std::vector<const llvm::BasicBlock *> open;

    for (const llvm::BasicBlock &block : *n.plan->function)
        if (n.plan->splits.contains(&block)) {
            n.leads.insert(&block);
            open.push_back(&block);
        }
    while (!open.empty()) {
        const llvm::BasicBlock *at = open.back();

        open.pop_back();
        for (const llvm::BasicBlock *before : llvm::predecessors(at))
            if (n.leads.insert(before).second)
                open.push_back(before);
    }
}

static bool is_decided_together(const groups_next &n,
                                const llvm::BasicBlock *block)
{
    return n.plan->group_level.contains(block) &&
           !n.plan->divergent.contains(block->getTerminator());
}

/* Finds the next split as far as it is known for the successors. Returns true
   when the answer has changed. */
static bool update(groups_next &n, const llvm::BasicBlock *block)
{
    const bool together = is_decided_together(n, block);
    const llvm::BasicBlock *next = nullptr;
    bool is_known = false;

    if (n.plan->splits.contains(block) || !n.leads.contains(block))
        return n.of.insert({block, n.leads.contains(block) ? block : nullptr})
            .second;
    for (const llvm::BasicBlock *after : llvm::successors(block)) {
        const auto found = n.of.find(after);

        if (found == n.of.end() || (found->second == nullptr && !together &&
                                    llvm::succ_size(block) > 1))
            continue;
        if (is_known && next != found->second) {
            next = block;
            break;
        }
        next = found->second;
        is_known = true;
    }
    if (!is_known)
        return false;
    const auto [at, is_new] = n.of.insert({block, next});
    if (is_new || at->second == next || at->second == block)
        return is_new;
    at->second = next;
    return true;
}

void kiln__groups_find_decisions(groups_plan &plan)
{
    llvm::ReversePostOrderTraversal<llvm::Function *> order(plan.function);
    const std::vector<llvm::BasicBlock *> blocks(order.begin(), order.end());
    groups_next n;
    bool changed = true;

    n.plan = &plan;
    mark_leading(n);
    while (changed) {
        changed = false;
        for (size_t i = blocks.size(); i-- > 0;)
            changed |= update(n, blocks[i]);
    }
    for (llvm::BasicBlock *block : blocks)
        if (n.of.lookup(block) == block && !plan.splits.contains(block) &&
            is_decided_together(n, block))
            kiln__groups_split_edges(plan, block, true);
}
