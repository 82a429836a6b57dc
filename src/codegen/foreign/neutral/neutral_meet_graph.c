/* neutral_meet_graph.c - finds the next meeting after each place. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/neutral/neutral_meet.h"
#include "codegen/module/codegen_stages.h"

/* ---- blocks ---- */

static int compare_blocks(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const kiln__meet_block *)a)->block;
    const uintptr_t y = (uintptr_t)((const kiln__meet_block *)b)->block;

    return (x > y) - (x < y);
}

uint32_t kiln__meet_number(const kiln__meet_graph *g, LLVMBasicBlockRef block)
{
    const kiln__meet_block wanted = {.block = block};
    const kiln__meet_block *found =
        bsearch(&wanted, g->sorted, g->count, sizeof wanted, compare_blocks);

    return found != NULL ? found->number : g->count;
}

static int is_call_of(LLVMValueRef instruction, LLVMValueRef function)
{
    return LLVMIsACallInst(instruction) != NULL &&
           LLVMGetCalledValue(instruction) == function;
}

/* True for the return after an exception. */
static int returns_true(LLVMBasicBlockRef block)
{
    const LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    LLVMValueRef value;

    if (LLVMGetInstructionOpcode(end) != LLVMRet)
        return 0;
    value = LLVMGetOperand(end, 0);
    return LLVMIsAConstantInt(value) != NULL &&
           LLVMConstIntGetZExtValue(value) == 1;
}

/* ---- doomed blocks ---- */

/* True where a path can end well: at a meeting, or at the end. */
static int is_good(const kiln__meet_graph *g, uint32_t block)
{
    return g->meets[block] || (g->successors[g->first[block]] == g->count &&
                               !returns_true(g->blocks[block]));
}

/* A block is doomed if no path from it ends well, as in a loop that only an
   exception leaves. */
static void find_doomed(kiln__meet_graph *g)
{
    int changed = 1;

    for (uint32_t b = 0; b < g->count; b++)
        g->doomed[b] = !is_good(g, b);
    while (changed) {
        changed = 0;
        for (uint32_t b = g->count; b-- > 0;)
            for (uint32_t i = g->first[b]; g->doomed[b] && i < g->first[b + 1];
                 i++)
                if (g->successors[i] != g->count &&
                    !g->doomed[g->successors[i]])
                    g->doomed[b] = (uint8_t) !(changed = 1);
    }
}

/* Leaves only successors on paths that do not raise, except to doomed blocks. A
   block that has no other leads to the end. */
static void drop_doomed(kiln__meet_graph *g)
{
    uint32_t to = 0, from = 0;

    for (uint32_t b = 0; b < g->count; b++) {
        const uint32_t end = g->first[b + 1], begin = to;

        for (; from < end; from++)
            if (g->doomed[b] || g->successors[from] == g->count ||
                !g->doomed[g->successors[from]])
                g->successors[to++] = g->successors[from];
        if (to == begin && !g->doomed[b])
            g->successors[to++] = g->count;
        g->first[b] = begin;
        from = end;
    }
    g->first[g->count] = to;
}

/* ---- post-dominators ---- */

/*
 * After K. D. Cooper, T. J. Harvey and K. Kennedy, "A Simple, Fast Dominance
 * Algorithm", on the reversed graph. `order` has each block's number in
 * post-order from the end: greater is nearer to the end.
 */
typedef struct reversal {
    kiln__meet_graph *g;
    uint32_t *first; /* predecessors, as the graph's successors */
    uint32_t *predecessors;
    uint32_t *order; /* by block; 0: not reached yet */
    uint32_t *sequence;
    uint32_t reached;
} reversal;

static void reverse(const reversal *r)
{
    const kiln__meet_graph *g = r->g;

    for (uint32_t i = 0; i < g->first[g->count]; i++)
        r->first[g->successors[i] + 2]++;
    for (uint32_t b = 1; b <= g->count + 1; b++)
        r->first[b + 1] += r->first[b];
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t i = g->first[b]; i < g->first[b + 1]; i++)
            r->predecessors[r->first[g->successors[i] + 1]++] = b;
}

/* Numbers what comes to `root`, in post-order. `stack` has pairs of a block and
   how many of its predecessors were seen. */
static void number_from(reversal *r, uint32_t root)
{
    uint32_t *stack = r->g->stack, depth = 0;

    r->g->seen[root] = 1;
    stack[0] = root;
    stack[1] = r->first[root];
    for (depth = 1; depth > 0;) {
        uint32_t *top = &stack[2 * (depth - 1)];

        if (top[1] == r->first[top[0] + 1]) {
            r->sequence[r->reached] = top[0];
            r->order[top[0]] = ++r->reached;
            depth--;
        } else {
            const uint32_t p = r->predecessors[top[1]++];

            if (!r->g->seen[p]) {
                r->g->seen[p] = 1;
                top[2] = p;
                top[3] = r->first[p];
                depth++;
            }
        }
    }
}

static uint32_t common(const reversal *r, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (r->order[a] < r->order[b])
            a = r->g->next[a];
        while (r->order[b] < r->order[a])
            b = r->g->next[b];
    }
    return a;
}

/* Returns the nearest block that all successors come to, as known so far. */
static uint32_t nearest(const reversal *r, uint32_t block)
{
    const kiln__meet_graph *g = r->g;
    uint32_t found = UINT32_MAX;

    for (uint32_t i = g->first[block]; i < g->first[block + 1]; i++) {
        const uint32_t s = g->successors[i];

        if (s != g->count && g->next[s] == UINT32_MAX)
            continue;
        found = found == UINT32_MAX ? s : common(r, found, s);
    }
    return found;
}

static void find_next(const reversal *r)
{
    kiln__meet_graph *g = r->g;
    int changed = 1;

    for (uint32_t b = 0; b < g->count; b++)
        g->next[b] = UINT32_MAX;
    g->next[g->count] = g->count;
    while (changed) {
        changed = 0;
        for (uint32_t i = r->reached; i-- > 0;) {
            const uint32_t b = r->sequence[i];
            const uint32_t found = b != g->count ? nearest(r, b) : g->count;

            changed |= g->next[b] != found;
            g->next[b] = found;
        }
    }
}

/* Gives the first block of a loop that never comes to the end the end for a
   successor. Returns false when all blocks come there. */
static int give_end(kiln__meet_graph *g)
{
    uint32_t b = 0;

    while (b < g->count && (g->doomed[b] || g->seen[b] || g->loop[b] != b))
        b++;
    /* Loops with several entrances have no first block. */
    for (uint32_t i = 0; b == g->count && i < g->count; i++)
        if (!g->doomed[i] && !g->seen[i])
            b = i;
    if (b == g->count)
        return 0;
    memmove(&g->successors[g->first[b] + 1], &g->successors[g->first[b]],
            (g->first[g->count] - g->first[b]) * sizeof *g->successors);
    g->successors[g->first[b]] = g->count;
    for (uint32_t i = b + 1; i <= g->count; i++)
        g->first[i]++;
    return 1;
}

static void find_joins(const reversal *r)
{
    kiln__meet_graph *g = r->g;

    for (uint32_t b = 0; b < g->count; b++)
        g->joins[b] = r->first[b + 1] - r->first[b] > 1;
}

static kiln_status post_dominate(kiln__meet_graph *g, kiln__codegen_job *job)
{
    reversal r = {.g = g};
    const size_t nodes = (size_t)g->count + 1;

    do {
        memset(g->seen, 0, nodes);
        r.reached = 0;
        r.first = kiln__arena_allocate_array(&job->arena, nodes + 2,
                                             sizeof(uint32_t));
        r.predecessors = kiln__arena_allocate_array(
            &job->arena, (size_t)g->first[g->count] + 1, sizeof(uint32_t));
        r.order =
            kiln__arena_allocate_array(&job->arena, nodes, sizeof(uint32_t));
        r.sequence =
            kiln__arena_allocate_array(&job->arena, nodes, sizeof(uint32_t));
        if (r.first == NULL || r.predecessors == NULL || r.order == NULL ||
            r.sequence == NULL)
            return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
        reverse(&r);
        number_from(&r, g->count);
    } while (give_end(g));
    find_next(&r);
    find_joins(&r);
    return KILN_OK;
}

/* ---- the graph ---- */

static size_t edge_count(const kiln__meet_graph *g)
{
    size_t count = g->count; /* a block without successors leads to the end */

    for (uint32_t b = 0; b < g->count; b++)
        count +=
            LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(g->blocks[b]));
    return count;
}

static void add_edges(kiln__meet_graph *g)
{
    uint32_t to = 0;

    for (uint32_t b = 0; b < g->count; b++) {
        const LLVMValueRef end = LLVMGetBasicBlockTerminator(g->blocks[b]);

        g->first[b] = to;
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
            g->successors[to++] =
                kiln__meet_number(g, LLVMGetSuccessor(end, i));
        if (to == g->first[b])
            g->successors[to++] = g->count;
    }
    g->first[g->count] = to;
}

static kiln_status find_loops(kiln__meet_graph *g, kiln__codegen_job *job,
                              LLVMValueRef function)
{
    LLVMBasicBlockRef *around = kiln__arena_allocate_array(
        &job->arena, 2 * (size_t)g->count, sizeof *around);

    if (around == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    kiln__llvm_find_loops(function, around, around + g->count);
    for (uint32_t b = 0; b < g->count; b++) {
        const LLVMBasicBlockRef loop = around[b], outer = around[g->count + b];

        g->loop[b] = loop != NULL ? kiln__meet_number(g, loop) : g->count;
        g->outer[b] = outer != NULL ? kiln__meet_number(g, outer) : g->count;
    }
    return KILN_OK;
}

static int allocate(kiln__meet_graph *g, kiln__arena *arena)
{
    const size_t nodes = (size_t)g->count + 1;
    /* give_end() may add one for each block. */
    const size_t edges = edge_count(g) + nodes;

    g->first = kiln__arena_allocate_array(arena, nodes, sizeof *g->first);
    g->successors =
        kiln__arena_allocate_array(arena, edges, sizeof *g->successors);
    g->next = kiln__arena_allocate_array(arena, nodes, sizeof *g->next);
    g->loop = kiln__arena_allocate_array(arena, nodes, sizeof *g->loop);
    g->outer = kiln__arena_allocate_array(arena, nodes, sizeof *g->outer);
    g->meets = kiln__arena_allocate_array(arena, nodes, 1);
    g->joins = kiln__arena_allocate_array(arena, nodes, 1);
    g->doomed = kiln__arena_allocate_array(arena, nodes, 1);
    g->leads = kiln__arena_allocate_array(arena, nodes, 1);
    g->seen = kiln__arena_allocate_array(arena, nodes, 1);
    g->stack = kiln__arena_allocate_array(arena, 2 * nodes, sizeof *g->stack);
    return g->first != NULL && g->successors != NULL && g->next != NULL &&
           g->loop != NULL && g->outer != NULL && g->meets != NULL &&
           g->joins != NULL && g->doomed != NULL && g->leads != NULL &&
           g->seen != NULL && g->stack != NULL;
}

static int number_blocks(kiln__meet_graph *g, kiln__arena *arena,
                         LLVMValueRef function)
{
    g->count = LLVMCountBasicBlocks(function);
    g->blocks = kiln__arena_allocate_array(arena, g->count, sizeof *g->blocks);
    g->sorted = kiln__arena_allocate_array(arena, g->count, sizeof *g->sorted);
    if (g->blocks == NULL || g->sorted == NULL)
        return 0;
    LLVMGetBasicBlocks(function, g->blocks);
    for (uint32_t b = 0; b < g->count; b++)
        g->sorted[b] = (kiln__meet_block){g->blocks[b], b};
    qsort(g->sorted, g->count, sizeof *g->sorted, compare_blocks);
    return 1;
}

kiln_status kiln__meet_graph_make(kiln__meet_graph *out, kiln__codegen_job *job,
                                  LLVMValueRef function, LLVMValueRef meet)
{
    kiln__meet_graph g = {NULL};

    if (!number_blocks(&g, &job->arena, function) || !allocate(&g, &job->arena))
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    for (uint32_t b = 0; b < g.count; b++)
        g.meets[b] =
            (uint8_t)is_call_of(LLVMGetFirstInstruction(g.blocks[b]), meet);
    add_edges(&g);
    find_doomed(&g);
    drop_doomed(&g);
    KILN_TRY(find_loops(&g, job, function));
    KILN_TRY(post_dominate(&g, job));
    *out = g;
    return KILN_OK;
}

/* ---- meetings ---- */

/* Looks at the blocks between the block and its post-dominator. */
static int find_leads(kiln__meet_graph *g, uint32_t block)
{
    uint32_t depth = 1;

    memset(g->seen, 0, g->count);
    for (g->stack[0] = block; depth > 0;) {
        const uint32_t b = g->stack[--depth];

        for (uint32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            const uint32_t s = g->successors[i];

            if (s == g->count || s == g->next[block] || g->seen[s])
                continue;
            if (g->meets[s])
                return 1;
            g->seen[s] = 1;
            g->stack[depth++] = s;
        }
    }
    return 0;
}

static int leads_to_meeting(kiln__meet_graph *g, uint32_t block)
{
    if (g->leads[block] == 0)
        g->leads[block] = find_leads(g, block) ? 1 : 2;
    return g->leads[block] == 1;
}

static int is_in_loop(const kiln__meet_graph *g, uint32_t loop, uint32_t block)
{
    uint32_t at = g->loop[block];

    while (at != g->count && at != loop)
        at = g->outer[at];
    return at == loop;
}

/* Returns the first meeting from the block's beginning on. */
static kiln__meeting find_meeting(kiln__meet_graph *g, uint32_t block)
{
    for (; block != g->count; block = g->next[block]) {
        if (g->meets[block])
            return (kiln__meeting){KILN__MEETING_START, block};
        if (leads_to_meeting(g, block))
            return (kiln__meeting){KILN__MEETING_END, block};
    }
    return (kiln__meeting){KILN__MEETING_NONE, 0};
}

/* True where an item stops on its way to a meeting. Loops that it only passes,
   because they have no meeting, are left at once. */
static int is_stop(const kiln__meet_graph *g, uint32_t block, uint32_t meeting)
{
    const uint32_t loop = g->loop[block];

    return g->joins[block] &&
           (loop == g->count || is_in_loop(g, loop, meeting));
}

/* As above, with what is on the way. */
static kiln__meeting from_start(kiln__meet_graph *g, uint32_t block)
{
    const kiln__meeting found = find_meeting(g, block);

    if (found.kind == KILN__MEETING_NONE)
        return found;
    for (;; block = g->next[block]) {
        if (found.kind == KILN__MEETING_START && block == found.block)
            return found;
        if (is_stop(g, block, found.block))
            return (kiln__meeting){KILN__MEETING_JOIN, block};
        if (block == found.block)
            return found;
    }
}

/* The same from the block's end on. */
static kiln__meeting from_end(kiln__meet_graph *g, uint32_t block)
{
    if (leads_to_meeting(g, block))
        return (kiln__meeting){KILN__MEETING_END, block};
    return from_start(g, g->next[block]);
}

int kiln__meet_decides(kiln__meet_graph *g, uint32_t block)
{
    return leads_to_meeting(g, block);
}

kiln__meeting kiln__meet_after_raise(kiln__meet_graph *g, uint32_t block)
{
    return from_start(g, g->next[block]);
}

kiln__meeting kiln__meet_after(kiln__meet_graph *g, kiln__meeting place)
{
    if (place.kind == KILN__MEETING_END)
        return from_start(g, g->next[place.block]);
    return from_end(g, place.block);
}
