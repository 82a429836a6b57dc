/* groups_levels.cc - the blocks that all items of a group run together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <algorithm>
#include <utility>

#include <llvm/IR/CFG.h>

#include "codegen/groups/groups_plan.h"

/*
 * Only blocks from which a barrier can be reached matter: an item that is past
 * its last barrier meets nobody any more, and runs to its end inside its
 * region. So an early return does not make what follows divergent for the items
 * that remain. In the graph of the blocks that matter, a divergent branch
 * *influences* the blocks from its successors to its immediate post-dominator,
 * where its items meet. What no divergent branch influences is of group level.
 *
 * Influenced blocks form sets, from each of which all items go to one block. If
 * a set has a barrier, they come there in different regions; then a split there
 * makes them wait for each other. If there is none, they get there within one
 * region. So whatever leads to a block of group level, all items that have not
 * ended are there at the same time.
 */

#define NONE UINT32_MAX

namespace
{

/* The blocks by their numbers in the function's order. */
struct groups_graph {
    std::vector<llvm::BasicBlock *> blocks;
    llvm::DenseMap<const llvm::BasicBlock *, unsigned> number;
    std::vector<std::vector<unsigned>> next; /* that matter */
    std::vector<char> matters;
    std::vector<char> has_barrier;
    std::vector<unsigned> meets; /* immediate post-dominators; blocks.size():
                                    where all ends */
    std::vector<char> is_influenced;
    std::vector<unsigned> joined; /* sets of influenced blocks */
    /* edges whose items wait at their end: from, to */
    std::vector<std::pair<unsigned, unsigned>> waiting;
};

} // namespace

/* ---- the graph ---- */

static void mark_what_matters(groups_graph &g, const groups_plan &plan)
{
    std::vector<unsigned> open;

    for (llvm::BasicBlock *block : plan.barriers) {
        g.has_barrier[g.number[block]] = 1;
        g.matters[g.number[block]] = 1;
        open.push_back(g.number[block]);
    }
    while (!open.empty()) {
        const unsigned at = open.back();

        open.pop_back();
        for (llvm::BasicBlock *before : llvm::predecessors(g.blocks[at])) {
            const unsigned number = g.number[before];

            if (!g.matters[number])
                open.push_back(number);
            g.matters[number] = 1;
        }
    }
}

static void make_graph(groups_graph &g, const groups_plan &plan)
{
    for (llvm::BasicBlock &block : *plan.function) {
        g.number[&block] = static_cast<unsigned>(g.blocks.size());
        g.blocks.push_back(&block);
    }
    g.matters.resize(g.blocks.size());
    g.has_barrier.resize(g.blocks.size());
    g.next.resize(g.blocks.size());
    mark_what_matters(g, plan);
    for (unsigned at = 0; at < g.blocks.size(); at++)
        for (llvm::BasicBlock *after : llvm::successors(g.blocks[at])) {
            const unsigned to = g.number[after];

            if (g.matters[at] && g.matters[to] &&
                !llvm::is_contained(g.next[at], to))
                g.next[at].push_back(to);
        }
}

/* ---- post-dominators ---- */

/* Numbers what leads to `from`, against the edges, in post-order. */
static void order_back(const std::vector<std::vector<unsigned>> &before,
                       unsigned from, std::vector<char> &seen,
                       std::vector<unsigned> &order)
{
    std::vector<std::pair<unsigned, size_t>> open = {{from, 0}};

    seen[from] = 1;
    while (!open.empty()) {
        auto &[at, i] = open.back();

        if (i == before[at].size()) {
            order.push_back(at);
            open.pop_back();
            continue;
        }
        const unsigned to = before[at][i++];

        if (!seen[to]) {
            seen[to] = 1;
            open.push_back({to, 0});
        }
    }
}

/* True when the block leads to one that does not matter: by a branch for all
   items, or by any one. */
static bool leaves(const groups_graph &g, const groups_plan &plan, unsigned at,
                   bool by_any)
{
    return g.matters[at] &&
           (by_any ||
            !plan.divergent.contains(g.blocks[at]->getTerminator())) &&
           llvm::any_of(llvm::successors(g.blocks[at]),
                        [&](const llvm::BasicBlock *to) {
                            return !g.matters[g.number.lookup(to)];
                        });
}

/* Lets what leaves loops from which nothing else leads to the end count as
   leading there. */
static void add_leaving(const groups_graph &g, const groups_plan &plan,
                        std::vector<std::vector<unsigned>> &ends)
{
    const unsigned end = static_cast<unsigned>(g.blocks.size());
    std::vector<unsigned> order;
    std::vector<char> seen;

    for (const bool by_any : {false, true}) {
        seen.assign(end + 1, 0);
        order.clear();
        order_back(ends, end, seen, order);
        for (unsigned at = 0; at < end; at++)
            if (!seen[at] && leaves(g, plan, at, by_any))
                ends[end].push_back(at);
    }
}

/* Makes the graph's reverse, in which every block can be reached from the end.
   A loop with the last barriers has no way out among the blocks that matter.
   There, what leaves it counts as leading to the end: otherwise items would
   seem to meet in a block that not all of them come to in each turn. Of loops
   that nothing leaves, the last block counts. */
static std::vector<unsigned> order_of(const groups_graph &g,
                                      const groups_plan &plan,
                                      std::vector<std::vector<unsigned>> &ends)
{
    const unsigned end = static_cast<unsigned>(g.blocks.size());
    std::vector<unsigned> order;
    std::vector<char> seen;

    ends.assign(end + 1, {});
    for (unsigned at = 0; at < end; at++) {
        for (unsigned to : g.next[at])
            ends[to].push_back(at);
        if (g.matters[at] && g.next[at].empty())
            ends[end].push_back(at);
    }
    add_leaving(g, plan, ends);
    for (unsigned last = end; last-- > 0;) {
        seen.assign(end + 1, 0);
        order.clear();
        order_back(ends, end, seen, order);
        while (last > 0 && (!g.matters[last] || seen[last]))
            last--;
        if (!g.matters[last] || seen[last])
            break;
        ends[end].push_back(last);
        last++;
    }
    std::reverse(order.begin(), order.end());
    return order;
}

static unsigned intersect(const std::vector<unsigned> &meets,
                          const std::vector<unsigned> &place, unsigned a,
                          unsigned b)
{
    while (a != b) {
        while (place[a] > place[b])
            a = meets[a];
        while (place[b] > place[a])
            b = meets[b];
    }
    return a;
}

static void find_meets(groups_graph &g, const groups_plan &plan)
{
    const unsigned end = static_cast<unsigned>(g.blocks.size());
    std::vector<std::vector<unsigned>> ends;
    const std::vector<unsigned> order = order_of(g, plan, ends);
    std::vector<unsigned> place(end + 1, NONE);
    std::vector<std::vector<unsigned>> after(g.next);
    bool changed = true;

    after.push_back({});
    for (unsigned at : ends[end])
        after[at].push_back(end);
    for (unsigned i = 0; i < order.size(); i++)
        place[order[i]] = i;
    g.meets.assign(end + 1, NONE);
    g.meets[end] = end;
    while (changed) {
        changed = false;
        for (unsigned at : llvm::drop_begin(order)) {
            unsigned meet = NONE;

            for (unsigned to : after[at])
                if (g.meets[to] != NONE)
                    meet =
                        meet == NONE ? to : intersect(g.meets, place, meet, to);
            changed |= g.meets[at] != meet;
            g.meets[at] = meet;
        }
    }
}

/* ---- influence ---- */

/* Returns where the branch's items meet: a block of group level, or the end. */
static unsigned meet_of(const groups_graph &g, unsigned branch)
{
    unsigned meet = g.meets[branch];

    while (meet < g.blocks.size() && g.is_influenced[meet])
        meet = g.meets[meet];
    return meet;
}

/* Marks the blocks from the successors of `branch` up to where its items meet.
   Returns true when there are new ones. */
static bool influence(groups_graph &g, unsigned branch)
{
    const unsigned meet = meet_of(g, branch);
    std::vector<char> seen(g.blocks.size());
    std::vector<unsigned> open = {branch};
    bool changed = false;

    while (!open.empty()) {
        const unsigned at = open.back();

        open.pop_back();
        for (unsigned to : g.next[at])
            if (to != meet && !seen[to]) {
                seen[to] = 1;
                changed |= g.is_influenced[to] == 0;
                g.is_influenced[to] = 1;
                open.push_back(to);
            }
    }
    return changed;
}

/* True for a branch at which items of a group may part. */
static bool parts(const groups_graph &g, const groups_plan &plan, unsigned at)
{
    return g.next[at].size() > 1 &&
           plan.divergent.contains(g.blocks[at]->getTerminator());
}

/* ---- places to meet ---- */

static unsigned root_of(groups_graph &g, unsigned at)
{
    while (g.joined[at] != at)
        at = g.joined[at] = g.joined[g.joined[at]];
    return at;
}

/* Returns the set of influenced blocks that the block is in, or, for one of
   group level, that its items part into; NONE. */
static unsigned set_of(groups_graph &g, const groups_plan &plan, unsigned at)
{
    if (g.is_influenced[at])
        return root_of(g, at);
    if (parts(g, plan, at))
        for (unsigned to : g.next[at])
            if (g.is_influenced[to])
                return root_of(g, to);
    return NONE;
}

/* Joins influenced blocks into sets: those with an edge between them, and those
   into which items of one branch part. */
static void find_sets(groups_graph &g, const groups_plan &plan)
{
    g.joined.clear();
    for (unsigned at = 0; at < g.blocks.size(); at++)
        g.joined.push_back(at);
    for (unsigned at = 0; at < g.blocks.size(); at++) {
        const unsigned set = set_of(g, plan, at);

        for (unsigned to : g.next[at])
            if (set != NONE && g.is_influenced[to])
                g.joined[root_of(g, to)] = root_of(g, set);
    }
}

/* All items leave a set for the same block, or end. Where a set leads to
   several blocks, as it can if loops have several heads, these are influenced,
   too. Returns true when there are such blocks. */
static bool has_two_exits(groups_graph &g, const groups_plan &plan)
{
    std::vector<unsigned> exits(g.blocks.size(), NONE);
    std::vector<unsigned> found;

    for (unsigned at = 0; at < g.blocks.size(); at++) {
        const unsigned set = set_of(g, plan, at);

        for (unsigned to : g.next[at]) {
            if (set == NONE || g.is_influenced[to])
                continue;
            if (exits[set] != NONE && exits[set] != to) {
                found.push_back(to);
                found.push_back(exits[set]);
            }
            exits[set] = to;
        }
    }
    for (unsigned at : found)
        g.is_influenced[at] = 1;
    return !found.empty();
}

static void spread(groups_graph &g, const groups_plan &plan)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (unsigned at = 0; at < g.blocks.size(); at++)
            if (parts(g, plan, at))
                changed |= influence(g, at);
        find_sets(g, plan);
        if (!changed)
            changed = has_two_exits(g, plan);
    }
}

/* Finds the edges on which items leave a set that has a barrier. */
static void find_waiting(groups_graph &g, const groups_plan &plan)
{
    std::vector<char> waits(g.blocks.size());

    for (unsigned at = 0; at < g.blocks.size(); at++)
        if (g.is_influenced[at] && g.has_barrier[at])
            waits[root_of(g, at)] = 1;
    for (unsigned at = 0; at < g.blocks.size(); at++) {
        const unsigned set = set_of(g, plan, at);

        for (unsigned to : g.next[at])
            if (set != NONE && waits[set] && !g.is_influenced[to])
                g.waiting.push_back({at, to});
    }
}

/* ---- results ---- */

static void add_joins(groups_plan &plan, const groups_graph &g)
{
    std::vector<llvm::BasicBlock *> from;

    for (unsigned to = 0; to < g.blocks.size(); to++) {
        from.clear();
        for (const auto &edge : g.waiting)
            if (edge.second == to)
                from.push_back(g.blocks[edge.first]);
        if (!from.empty())
            kiln__groups_join(plan, g.blocks[to], from);
    }
}

void kiln__groups_find_levels(groups_plan &plan)
{
    groups_graph g;

    make_graph(g, plan);
    find_meets(g, plan);
    g.is_influenced.assign(g.blocks.size(), plan.is_general ? 1 : 0);
    if (!plan.is_general) {
        spread(g, plan);
        find_waiting(g, plan);
    }
    for (unsigned at = 0; at < g.blocks.size(); at++)
        if (g.matters[at] && !g.is_influenced[at])
            plan.group_level.insert(g.blocks[at]);
    add_joins(plan, g);
    for (llvm::BasicBlock *block : plan.barriers)
        kiln__groups_split_edges(plan, block, plan.group_level.contains(block));
}
