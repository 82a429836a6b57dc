/* neutral_meet_paths.c - paths of items that raised, and of groups that are
   over. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/foreign_findings.h"
#include "codegen/foreign/neutral/neutral_meet.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * A variable of the item says whether it *skips*: it raised, or its group is
 * over. It is set on each branch to code that raises in any case, together with
 * the number of the place where the item goes then, and it is set anew by each
 * meeting.
 */

/* A branch to a doomed block, and where the item goes then. */
typedef struct raising_edge {
    LLVMValueRef branch;
    unsigned successor;
    uint32_t target; /* the doomed block */
    kiln__meeting place;
} raising_edge;

typedef struct paths {
    const kiln__meet_job *job;
    LLVMBuilderRef builder;
    kiln__meet_graph graph;
    LLVMValueRef *ends; /* by block: what ended it at first */
    /* By kind and block: the block that a place has become, or NULL. */
    LLVMBasicBlockRef *places[KILN__MEETING_JOIN + 1];
    uint32_t *ways; /* by block: see way_on() */
    raising_edge *edges;
    size_t edge_count;
    LLVMBasicBlockRef done; /* where items leave a group that is over */
    LLVMValueRef skips;     /* the variables */
    LLVMValueRef chosen;
} paths;

static LLVMBasicBlockRef block_of(const paths *p, kiln__meeting place)
{
    return place.kind == KILN__MEETING_NONE
               ? p->done
               : p->places[place.kind][place.block];
}

static LLVMTypeRef flag_type(const paths *p)
{
    return LLVMInt1TypeInContext(p->job->job->context);
}

static LLVMValueRef number_of(const paths *p, kiln__meeting place)
{
    return kiln__job_number64(p->job->job,
                              4 * (uint64_t)place.block + (uint64_t)place.kind);
}

/* ---- branches to code that raises ---- */

/* One switch cannot decide which items raise and whether the others meet: who
   raises would not know where they go. A branch with two ways has only one for
   the others. */
static kiln_status add_edges_of(paths *p, uint32_t block)
{
    kiln__meet_graph *g = &p->graph;
    const LLVMValueRef end = p->ends[block];

    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        const uint32_t to = kiln__meet_number(g, LLVMGetSuccessor(end, i));

        if (!g->doomed[to])
            continue;
        if (kiln__meet_decides(g, block))
            return kiln__foreign_refuse(
                p->job->job, "function", p->job->function,
                "the target cannot have an exception and a barrier that one "
                "switch decides about");
        p->edges[p->edge_count++] =
            (raising_edge){end, i, to, kiln__meet_after_raise(g, block)};
    }
    return KILN_OK;
}

static kiln_status find_edges(paths *p)
{
    const kiln__meet_graph *g = &p->graph;
    kiln__foreign_findings found = {.job = p->job->job,
                                    .entry = p->job->function};
    size_t most = 1;

    for (uint32_t b = 0; b < g->count; b++)
        most += LLVMGetNumSuccessors(p->ends[b]);
    p->edges =
        kiln__arena_allocate_array(&p->job->job->arena, most, sizeof *p->edges);
    if (p->edges == NULL)
        return kiln__job_fail(p->job->job, KILN_ENOMEM, "out of memory");
    for (uint32_t b = 0; b < g->count && found.count == 0; b++)
        if (!g->doomed[b])
            KILN_TRY(kiln__foreign_finding(&found, add_edges_of(p, b),
                                           p->job->function, p->ends[b]));
    if (found.count == 0)
        return KILN_OK;
    return found.texts[0] != NULL
               ? kiln__job_fail(p->job->job, KILN_EUNSUPPORTED, "%s",
                                found.texts[0])
               : kiln__job_fail(p->job->job, KILN_ENOMEM, "out of memory");
}

/* ---- places ---- */

/* Returns the number of the branch's successor where items go that meet nobody
   for now, plus one; 0: none is, as where both lead to meetings. */
static uint32_t way_on(const paths *p, uint32_t block)
{
    const kiln__meet_graph *g = &p->graph;
    const LLVMValueRef end = p->ends[block];

    if (g->next[block] == g->count || LLVMGetInstructionOpcode(end) != LLVMBr ||
        LLVMIsConditional(end) == 0)
        return 0;
    for (uint32_t i = 0; i < 2; i++)
        if (LLVMGetSuccessor(end, i) == g->blocks[g->next[block]])
            return i + 1;
    return 0;
}

/* Adds the place, if it is new, and those that come after it. */
static void need(paths *p, kiln__meeting place)
{
    kiln__meet_graph *g = &p->graph;

    while (place.kind != KILN__MEETING_NONE && block_of(p, place) == NULL) {
        LLVMBasicBlockRef made = g->blocks[place.block];

        if (place.kind == KILN__MEETING_END) {
            p->ways[place.block] = way_on(p, place.block);
            made = kiln__meet_add(p->job, p->ends[place.block]);
        } else {
            (void)kiln__llvm_split_before(kiln__meet_after_phis(made));
        }
        p->places[place.kind][place.block] = made;
        place = kiln__meet_after(g, place);
    }
}

static void add_places(paths *p)
{
    kiln__meet_graph *g = &p->graph;

    for (uint32_t b = 0; b < g->count; b++)
        if (g->meets[b])
            p->places[KILN__MEETING_START][b] = g->blocks[b];
    for (size_t i = 0; i < p->edge_count; i++)
        need(p, p->edges[i].place);
    for (uint32_t b = 0; b < g->count; b++)
        if (g->meets[b])
            need(p,
                 kiln__meet_after(g, (kiln__meeting){KILN__MEETING_START, b}));
}

/* ---- from place to place ---- */

/* Replaces the jump that ends a block. */
static void leave_if(const paths *p, LLVMBasicBlockRef block,
                     LLVMValueRef condition, LLVMBasicBlockRef to)
{
    const LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    const LLVMBasicBlockRef rest = LLVMGetSuccessor(end, 0);

    LLVMPositionBuilderBefore(p->builder, end);
    LLVMBuildCondBr(p->builder, condition, to, rest);
    LLVMInstructionEraseFromParent(end);
}

/* Returns whether the group is over, after the meeting, which sets `skips`. */
static LLVMValueRef set_skips(const paths *p, LLVMBasicBlockRef meeting)
{
    const LLVMValueRef over = LLVMGetFirstInstruction(meeting);

    LLVMPositionBuilderBefore(p->builder, LLVMGetBasicBlockTerminator(meeting));
    LLVMBuildStore(p->builder, over, p->skips);
    return over;
}

/* A group that is over takes the way that leads on, too, and leaves it then. So
   loops do not get another exit: there are drivers that cannot follow more. */
static void leave_by_way(const paths *p, uint32_t block, LLVMValueRef over,
                         LLVMBasicBlockRef to)
{
    const uint32_t way = p->ways[block] - 1;
    const LLVMValueRef branch = p->ends[block];
    const LLVMBasicBlockRef on = LLVMGetSuccessor(branch, way);
    const LLVMBasicBlockRef between =
        LLVMInsertBasicBlockInContext(p->job->job->context, on, "");

    LLVMPositionBuilderBefore(p->builder, branch);
    LLVMSetCondition(branch,
                     LLVMBuildSelect(p->builder, over,
                                     LLVMConstInt(flag_type(p), way == 0, 0),
                                     LLVMGetCondition(branch), ""));
    LLVMSetSuccessor(branch, way, between);
    LLVMPositionBuilderAtEnd(p->builder, between);
    LLVMBuildCondBr(p->builder, over, to, on);
}

/* Sends items that skip on from a place. */
static void leave(paths *p, kiln__meeting place)
{
    const LLVMBasicBlockRef block = block_of(p, place);
    const LLVMBasicBlockRef to =
        block_of(p, kiln__meet_after(&p->graph, place));
    LLVMValueRef skips;

    if (place.kind == KILN__MEETING_JOIN) {
        LLVMPositionBuilderBefore(p->builder,
                                  LLVMGetBasicBlockTerminator(block));
        skips = LLVMBuildLoad2(p->builder, flag_type(p), p->skips, "");
    } else {
        skips = set_skips(p, block);
    }
    if (place.kind == KILN__MEETING_END && p->ways[place.block] != 0)
        leave_by_way(p, place.block, skips, to);
    else
        leave_if(p, block, skips, to);
}

static void leave_places(paths *p)
{
    static const kiln__meeting_kind kinds[] = {
        KILN__MEETING_START, KILN__MEETING_END, KILN__MEETING_JOIN};

    for (uint32_t b = 0; b < p->graph.count; b++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (p->places[kinds[i]][b] != NULL)
                leave(p, (kiln__meeting){kinds[i], b});
}

/* ---- after an exception ---- */

/* Each branch to a doomed block stores where the item goes. */
static void choose_places(const paths *p)
{
    for (size_t i = 0; i < p->edge_count; i++) {
        const raising_edge *e = &p->edges[i];
        const LLVMBasicBlockRef to = LLVMGetSuccessor(e->branch, e->successor);
        const LLVMBasicBlockRef between =
            LLVMInsertBasicBlockInContext(p->job->job->context, to, "");

        LLVMPositionBuilderAtEnd(p->builder, between);
        LLVMBuildStore(p->builder, LLVMConstInt(flag_type(p), 1, 0), p->skips);
        LLVMBuildStore(p->builder, number_of(p, e->place), p->chosen);
        LLVMBuildBr(p->builder, to);
        LLVMSetSuccessor(e->branch, e->successor, between);
    }
}

/* Replaces a return after an exception. Each has a choice of its own: one for
   all would lead from loop to loop. */
static LLVMValueRef add_choice(const paths *p, LLVMBasicBlockRef block)
{
    const LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    LLVMValueRef chosen, choice;

    LLVMPositionBuilderBefore(p->builder, end);
    LLVMSetCurrentDebugLocation2(p->builder, LLVMInstructionGetDebugLoc(end));
    LLVMBuildCall2(p->builder, LLVMGlobalGetValueType(p->job->raised),
                   p->job->raised, NULL, 0, "");
    chosen =
        LLVMBuildLoad2(p->builder, kiln__job_i64(p->job->job), p->chosen, "");
    choice = LLVMBuildSwitch(p->builder, chosen, p->done, 4);
    LLVMInstructionEraseFromParent(end);
    return choice;
}

static void add_case(const paths *p, LLVMValueRef choice, kiln__meeting place)
{
    const LLVMBasicBlockRef to = block_of(p, place);

    for (unsigned i = 0; i < LLVMGetNumSuccessors(choice); i++)
        if (LLVMGetSuccessor(choice, i) == to)
            return;
    LLVMAddCase(choice, number_of(p, place), to);
}

/* Adds the place to the choices of all returns that the branch may come to. */
static void add_cases(const paths *p, const raising_edge *edge,
                      LLVMValueRef *choices, uint32_t *stamps)
{
    const kiln__meet_graph *g = &p->graph;
    const uint32_t stamp = (uint32_t)(edge - p->edges) + 1;
    uint32_t *stack = g->stack, depth = 1;

    stack[0] = edge->target;
    stamps[edge->target] = stamp;
    while (depth > 0) {
        const uint32_t b = stack[--depth];

        if (choices[b] != NULL) {
            add_case(p, choices[b], edge->place);
            continue;
        }
        for (uint32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            const uint32_t s = g->successors[i];

            if (stamps[s] == stamp)
                continue;
            stamps[s] = stamp;
            stack[depth++] = s;
        }
    }
}

static kiln_status go_on_after_raising(const paths *p)
{
    kiln__arena *arena = &p->job->job->arena;
    const uint32_t count = p->graph.count;
    LLVMValueRef *choices =
        kiln__arena_allocate_array(arena, count, sizeof *choices);
    uint32_t *stamps = kiln__arena_allocate_array(arena, count, sizeof *stamps);

    if (choices == NULL || stamps == NULL)
        return kiln__job_fail(p->job->job, KILN_ENOMEM, "out of memory");
    for (uint32_t b = 0; b < count; b++)
        if (p->graph.doomed[b] &&
            LLVMGetInstructionOpcode(p->ends[b]) == LLVMRet)
            choices[b] = add_choice(p, p->graph.blocks[b]);
    for (size_t i = 0; i < p->edge_count; i++)
        add_cases(p, &p->edges[i], choices, stamps);
    LLVMSetCurrentDebugLocation2(p->builder, NULL);
    return KILN_OK;
}

/* ---- the function ---- */

/* Moves values into memory that are used in other blocks than their own. */
static kiln_status move_values(const paths *p)
{
    kiln__codegen_job *job = p->job->job;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPassesOnFunction(p->job->function, "reg2mem",
                                                 job->machine, options);

    LLVMDisposePassBuilderOptions(options);
    if (error == NULL)
        return KILN_OK;
    return kiln__job_fail_llvm(job, KILN_ECODEGEN, "reg2mem",
                               LLVMGetErrorMessage(error));
}

static LLVMValueRef add_variable(const paths *p, LLVMTypeRef type)
{
    const LLVMValueRef variable = LLVMBuildAlloca(p->builder, type, "");

    LLVMBuildStore(p->builder, LLVMConstNull(type), variable);
    return variable;
}

/* Adds the variables, and a return for items that have nowhere to go. */
static void add_frame(paths *p)
{
    const LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(p->job->function);

    LLVMPositionBuilderBefore(p->builder, LLVMGetFirstInstruction(entry));
    LLVMSetCurrentDebugLocation2(p->builder, NULL);
    p->skips = add_variable(p, flag_type(p));
    p->chosen = add_variable(p, kiln__job_i64(p->job->job));
    p->done = LLVMAppendBasicBlockInContext(p->job->job->context,
                                            p->job->function, "");
    LLVMPositionBuilderAtEnd(p->builder, p->done);
    LLVMBuildRet(p->builder, LLVMConstNull(flag_type(p)));
}

static kiln_status allocate(paths *p)
{
    kiln__arena *arena = &p->job->job->arena;
    const size_t count = p->graph.count;
    int has_all = 1;

    p->ends = kiln__arena_allocate_array(arena, count, sizeof *p->ends);
    p->ways = kiln__arena_allocate_array(arena, count, sizeof *p->ways);
    for (size_t i = 0; i < sizeof p->places / sizeof *p->places; i++) {
        p->places[i] =
            kiln__arena_allocate_array(arena, count, sizeof **p->places);
        has_all &= p->places[i] != NULL;
    }
    if (p->ends == NULL || p->ways == NULL || !has_all)
        return kiln__job_fail(p->job->job, KILN_ENOMEM, "out of memory");
    for (size_t b = 0; b < count; b++)
        p->ends[b] = LLVMGetBasicBlockTerminator(p->graph.blocks[b]);
    return KILN_OK;
}

kiln_status kiln__meet_add_paths(const kiln__meet_job *meetings)
{
    paths p = {.job = meetings, .builder = meetings->builder};

    KILN_TRY(kiln__meet_graph_make(&p.graph, meetings->job, meetings->function,
                                   meetings->meet));
    KILN_TRY(allocate(&p));
    KILN_TRY(find_edges(&p));
    add_places(&p);
    KILN_TRY(move_values(&p));
    add_frame(&p);
    choose_places(&p);
    leave_places(&p);
    return go_on_after_raising(&p);
}
