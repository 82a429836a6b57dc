/* lower_group_plan.c - what runs once for a group, and where locals live. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "codegen/lower/group/lower_group.h"

/*
 * A statement is *split*, which means that its control flow runs once for the
 * scope, in two cases: when something collective is in it, or a jump out of it
 * that all items of the scope take together. All other statements go to
 * regions.
 *
 * A local becomes a scalar of the group when three things hold: each item would
 * have the same value; every statement that sets it is at group level; and
 * either control at that level needs it, or setting it costs no region. A load
 * at an index that changes from one barrier to the next then has neighbours,
 * which items cannot tell of an index that each of them has read.
 */

/* ---- the whole request ---- */

/* Gives each LOCAL_ARRAY its own piece of the group's memory. */
static kiln_status place_arrays(kiln__lowering *l, kiln__lower_function *f)
{
    const uint64_t limit = UINT32_MAX / 2;
    kiln__codegen_job *job = l->job;

    f->arrays = kiln__arena_allocate_array(&job->arena, f->ir.nodes.count,
                                           sizeof *f->arrays);
    if (f->arrays == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    for (size_t i = 1; i < f->ir.nodes.count; i++) {
        const kiln__ir_node *node = &f->ir.nodes.items[i];
        uint64_t size;

        if (node->op != KILN__IR_LOCAL_ARRAY)
            continue;
        size = f->types[kiln__ir_type_at(&f->ir, node->type)->element].size;
        for (size_t j = 0; j < node->count && size <= limit; j++) {
            const int64_t length = kiln__ir_operand_at(&f->ir, node, j)->imm;

            size =
                length > (int64_t)limit ? limit + 1 : size * (uint64_t)length;
        }
        if (size > limit - job->static_local_bytes)
            return kiln__job_fail(
                job, KILN_EUNSUPPORTED,
                "the local arrays of %s take more than %llu bytes: %u, and "
                "one more of %s%llu",
                f->ir.name, (unsigned long long)limit, job->static_local_bytes,
                size > limit ? "more than " : "",
                (unsigned long long)(size > limit ? limit : size));
        f->arrays[i] = (uint64_t)job->static_local_bytes + 1;
        job->static_local_bytes += (uint32_t)((size + 63) & ~(uint64_t)63);
    }
    return KILN_OK;
}

static const char *problem_text(kiln__uniform_problem problem)
{
    if (problem == KILN__PROBLEM_RECURSION)
        return "a collective function calls itself";
    if (problem == KILN__PROBLEM_LANE)
        return "the items of a broadcast name different ones";
    return "a collective operation is not reached by all items together";
}

static kiln_status check(kiln__lowering *l)
{
    kiln__uniform_error error;

    if (kiln__uniform_check(l->uniform, &error))
        return KILN_OK;
    if (error.problem == KILN__PROBLEM_MEMORY)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    return kiln__job_fail(l->job, KILN_ECOMPILE, "%s: %s",
                          error.at.function->ir->name,
                          problem_text(error.problem));
}

/* Makes the uniformity facts of all functions, and stores them to the
   lowering. */
static kiln_status find_facts(kiln__lowering *l,
                              kiln__uniform_function **functions)
{
    kiln__arena *arena = &l->job->arena;
    kiln__uniform *uniform = kiln__arena_allocate(arena, sizeof *uniform);

    *functions =
        kiln__arena_allocate_array(arena, l->count, sizeof **functions);
    if (uniform == NULL || *functions == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    for (size_t i = 0; i < l->count; i++)
        (*functions)[i] = (kiln__uniform_function){
            .ir = &l->functions[i].ir,
            .callees = l->functions[i].source->callees,
            .callee_count = l->functions[i].source->callee_count,
        };
    l->uniform = uniform;
    kiln__uniform_init(uniform, arena->alloc, *functions, l->count);
    for (size_t i = 0; i < l->count; i++)
        l->functions[i].collective = (*functions)[i].collective;
    return KILN_OK;
}

static void find_facts_again(kiln__lowering *l,
                             kiln__uniform_function *functions)
{
    kiln__uniform_dispose(l->uniform);
    kiln__uniform_init(l->uniform, l->job->arena.alloc, functions, l->count);
}

/* A loop that runs once for the group takes some forty instructions more. A
   kernel of more nodes than this has enough of them. */
#define LARGE 20000

typedef kiln_status (*rewriter)(const kiln__group_finder *finder, int *changed);

static kiln_status rewrite_guards(kiln__lowering *l,
                                  kiln__uniform_function *functions,
                                  kiln__group_finder *finder, rewriter rewrite)
{
    int changed = 0;

    KILN_TRY(rewrite(finder, &changed));
    if (!changed)
        return KILN_OK;
    find_facts_again(l, functions);
    return kiln__group_finder_init(finder, l);
}

/* Marks loops without collective operations that are better done once for the
   group. With such loops the kernel is emitted for a group. */
static kiln_status prepare_loops(kiln__lowering *l,
                                 kiln__uniform_function *functions)
{
    static const rewriter rewrites[] = {
        kiln__group_turn_strides, kiln__group_hoist_sets,
        kiln__group_divide_loops, kiln__group_split_guards};
    kiln__group_finder finder;
    int found = 0;

    if (l->job->settings->opt_level < 2 || l->functions[0].recursive ||
        l->functions[0].ir.nodes.count > LARGE)
        return KILN_OK;
    KILN_TRY(kiln__group_finder_init(&finder, l));
    if (kiln__group_is_wide(&finder))
        return KILN_OK;
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++)
        KILN_TRY(rewrite_guards(l, functions, &finder, rewrites[i]));
    kiln__group_mark_loops(&finder, &found);
    if (found)
        l->functions[0].collective = KILN__COLLECTIVE_GROUP;
    return KILN_OK;
}

kiln_status kiln__group_prepare(kiln__lowering *l)
{
    kiln__uniform_function *functions = NULL;
    kiln_status status = KILN_OK;

    for (size_t i = 0; status == KILN_OK && i < l->count; i++)
        status = kiln__lower_types(l, &l->functions[i]);
    for (size_t i = 0; status == KILN_OK && i < l->count; i++)
        status = place_arrays(l, &l->functions[i]);
    if (status == KILN_OK)
        status = find_facts(l, &functions);
    if (status == KILN_OK && l->functions[0].collective != 0)
        status = check(l);
    if (status == KILN_OK)
        status = prepare_loops(l, functions);
    if (status != KILN_OK || l->functions[0].collective == 0)
        return status;
    for (size_t i = 0; status == KILN_OK && i < l->count; i++)
        if (l->functions[i].collective && !functions[i].recursive)
            status = kiln__group_flatten(l, &l->functions[i], functions);
    if (status != KILN_OK)
        return status;
    find_facts_again(l, functions);
    return KILN_OK;
}

/* ---- which statements are split ---- */

int kiln__group_carries(const kiln__lowering *l, const kiln__group_frame *frame,
                        uint32_t index)
{
    const kiln__ir *ir = &frame->f.ir;
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);

    if (kiln__ir_collective(node) != KILN__COLLECTIVE_NONE)
        return 1;
    if (node->op == KILN__IR_CALL &&
        l->functions[frame->f.source->callees[node->imm]].collective)
        return 1;
    if ((node->op == KILN__IR_FOR || node->op == KILN__IR_WHILE) &&
        (node->flags & KILN__GROUP_INTERCHANGED))
        return 1;
    for (size_t i = 0; i < node->count; i++)
        if (kiln__group_carries(l, frame, kiln__ir_operand(ir, node, i)))
            return 1;
    return 0;
}

typedef struct decider {
    kiln__lowering *l;
    kiln__group_frame *frame;
    const kiln__ir *ir;
    uint8_t scope;
    /* By local. */
    uint32_t *sets;                    /* number of statements that set it */
    uint32_t *level_sets;              /* number of those at group level */
    uint8_t *costs;                    /* setting it may cost a region */
    uint8_t *cuts;                     /* setting it cuts a region in two */
    uint8_t *needed;                   /* control at group level needs it */
    kiln__array_of(uint32_t) at_level; /* the SETs at group level */
} decider;

static int is_loop(uint32_t op)
{
    return op == KILN__IR_FOR || op == KILN__IR_WHILE ||
           op == KILN__IR_UNROLLED;
}

/* True for a jump out of the statement that the scope takes together. */
static int jumps_together(const decider *d, uint32_t index, int inside)
{
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);

    if (node->op == KILN__IR_RETURN ||
        (!inside &&
         (node->op == KILN__IR_BREAK || node->op == KILN__IR_CONTINUE)))
        return d->frame->view->controls[index] <= d->scope;
    inside |= is_loop(node->op);
    for (size_t i = 0; i < node->count; i++)
        if (jumps_together(d, kiln__ir_operand(d->ir, node, i), inside))
            return 1;
    return 0;
}

static uint8_t level_of(const decider *d, uint32_t index)
{
    const kiln__uniform_view *view = d->frame->view;
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);
    const size_t conditions = node->op == KILN__IR_FOR        ? 3
                              : node->op == KILN__IR_UNROLLED ? 0
                                                              : 1;
    uint8_t level = view->controls[index];

    if (is_loop(node->op) && view->values[index] > level)
        level = view->values[index];
    for (size_t i = 0; i < conditions; i++) {
        const uint32_t operand = kiln__ir_operand(d->ir, node, i);

        if (view->values[operand] > level)
            level = view->values[operand];
    }
    return level;
}

static void need(decider *d, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);

    if (node->op == KILN__IR_LOCAL)
        d->needed[node->imm] = 1;
    for (size_t i = 0; i < node->count; i++)
        need(d, kiln__ir_operand(d->ir, node, i));
}

static int costs(const decider *d, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);

    if (node->op == KILN__IR_LOAD || node->op == KILN__IR_CALL ||
        node->op == KILN__IR_GROUP ||
        kiln__lower_raises(d->l, &d->frame->f, node))
        return 1;
    for (size_t i = 0; i < node->count; i++)
        if (costs(d, kiln__ir_operand(d->ir, node, i)))
            return 1;
    return 0;
}

static void note_set(decider *d, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);
    const uint32_t value = kiln__ir_operand(d->ir, node, 0);

    d->level_sets[node->imm]++;
    if (costs(d, value))
        d->costs[node->imm] = 1;
    if (kiln__ir_node_at(d->ir, value)->op == KILN__IR_CALL)
        need(d, value);
    if (!kiln__array_push(d->l->job->arena.alloc, &d->at_level, index))
        d->l->no_memory = 1;
}

static void mark_block(decider *d, uint32_t index);

/* Marks a statement with blocks; its conditions come first. */
static void mark_control(decider *d, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);
    const uint8_t scope = d->scope, level = level_of(d, index);

    if (level > scope)
        d->scope = level;
    d->frame->scopes[index] = d->scope;
    if (node->op == KILN__IR_FOR)
        d->frame->variables[node->imm]->storage = KILN__STORAGE_SCALAR;
    for (size_t i = 0; i < node->count; i++) {
        const uint32_t operand = kiln__ir_operand(d->ir, node, i);

        if (kiln__ir_node_at(d->ir, operand)->op == KILN__IR_BLOCK)
            mark_block(d, operand);
        else
            need(d, operand);
    }
    d->scope = scope;
}

static void mark(decider *d, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);

    if (node->op == KILN__IR_BLOCK) {
        mark_block(d, index);
        return;
    }
    if (node->op == KILN__IR_SET)
        note_set(d, index);
    if (!kiln__group_carries(d->l, d->frame, index) &&
        !jumps_together(d, index, 0))
        return;
    d->frame->split[index] = KILN__SPLIT;
    if (node->op == KILN__IR_IF || is_loop(node->op))
        mark_control(d, index);
    else if (node->op == KILN__IR_EVAL)
        need(d, kiln__ir_operand(d->ir, node, 0));
}

static int mentions(const decider *d, uint32_t index, int64_t local)
{
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);

    if ((node->op == KILN__IR_LOCAL || node->op == KILN__IR_SET ||
         node->op == KILN__IR_FOR) &&
        (local < 0 || node->imm == local))
        return 1;
    for (size_t i = 0; i < node->count; i++)
        if (mentions(d, kiln__ir_operand(d->ir, node, i), local))
            return 1;
    return 0;
}

/* True if the SET, statement `at` of the block, would be in the midst of a
   region, and cannot be done before it. */
static int cuts(const decider *d, const kiln__ir_node *block, size_t at)
{
    const uint32_t set = kiln__ir_operand(d->ir, block, at);
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, set);
    const size_t next = at + 1;
    int is_early = !mentions(d, kiln__ir_operand(d->ir, node, 0), -1);
    size_t before = at;

    if (next == block->count ||
        d->frame->split[kiln__ir_operand(d->ir, block, next)])
        return 0;
    while (before > 0 &&
           !d->frame->split[kiln__ir_operand(d->ir, block, before - 1)])
        is_early &=
            !mentions(d, kiln__ir_operand(d->ir, block, --before), node->imm);
    return before < at && !is_early;
}

static void mark_block(decider *d, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);

    for (size_t i = 0; i < node->count; i++)
        mark(d, kiln__ir_operand(d->ir, node, i));
    for (size_t i = 0; i < node->count; i++) {
        const kiln__ir_node *at = kiln__ir_operand_at(d->ir, node, i);

        if (at->op == KILN__IR_SET && !d->cuts[at->imm])
            d->cuts[at->imm] = (uint8_t)cuts(d, node, i);
    }
}

/* ---- where locals live ---- */

static void count_sets(decider *d, uint32_t index, uint8_t in_loop)
{
    const kiln__ir_node *node = kiln__ir_node_at(d->ir, index);

    if (node->op == KILN__IR_SET || node->op == KILN__IR_FOR) {
        kiln__group_variable *variable = d->frame->variables[node->imm];

        variable->set =
            ++d->sets[node->imm] == 1 && node->op == KILN__IR_SET ? index : 0;
        variable->is_in_loop = in_loop;
    }
    in_loop |= (uint8_t)is_loop(node->op);
    for (size_t i = 0; i < node->count; i++)
        count_sets(d, kiln__ir_operand(d->ir, node, i), in_loop);
    if (node->op == KILN__IR_RETURN &&
        d->frame->view->controls[index] > d->frame->scope)
        d->frame->has_exits = 1;
}

/* Marks as needed what needed locals are made of. */
static void spread_need(decider *d)
{
    size_t before, after = 0;

    do {
        before = after;
        after = 0;
        for (size_t i = 0; i < d->at_level.count; i++) {
            const kiln__ir_node *set =
                kiln__ir_node_at(d->ir, d->at_level.items[i]);

            if (d->needed[set->imm]) {
                after++;
                need(d, kiln__ir_operand(d->ir, set, 0));
            }
        }
    } while (after != before);
}

static int is_together(const decider *d, uint32_t local)
{
    for (size_t i = 0; i < d->at_level.count; i++) {
        const kiln__ir_node *set =
            kiln__ir_node_at(d->ir, d->at_level.items[i]);
        const kiln__ir_node *value = kiln__ir_operand_at(d->ir, set, 0);

        if (set->imm == local && value->op == KILN__IR_GROUP)
            return value->imm >= KILN__GROUP_GROUP_ADD;
    }
    return 0;
}

static void choose_storage(decider *d)
{
    const kiln__group_frame *frame = d->frame;

    for (uint32_t i = d->ir->parameter_count; i < d->ir->locals.count; i++)
        if (frame->view->locals[i] == KILN__UNIFORM_GROUP && d->sets[i] > 0 &&
            d->sets[i] == d->level_sets[i] &&
            (d->needed[i] ||
             (!d->costs[i] && (d->sets[i] == 1 || !d->cuts[i])) ||
             is_together(d, i)))
            frame->variables[i]->storage = KILN__STORAGE_SCALAR;
}

void kiln__group_decide(kiln__lowering *l, kiln__group_frame *frame)
{
    kiln__arena *arena = &l->job->arena;
    const size_t count = frame->f.ir.locals.count + 1;
    decider d = {
        .l = l,
        .frame = frame,
        .ir = &frame->f.ir,
        .scope = frame->scope,
        .sets = kiln__arena_allocate_array(arena, count, sizeof *d.sets),
        .level_sets =
            kiln__arena_allocate_array(arena, count, sizeof *d.level_sets),
        .costs = kiln__arena_allocate(arena, count),
        .cuts = kiln__arena_allocate(arena, count),
        .needed = kiln__arena_allocate(arena, count),
    };

    if (d.sets == NULL || d.level_sets == NULL || d.costs == NULL ||
        d.cuts == NULL || d.needed == NULL) {
        l->no_memory = 1;
        return;
    }
    count_sets(&d, d.ir->body, 0);
    mark_block(&d, d.ir->body);
    spread_need(&d);
    choose_storage(&d);
    kiln__array_dispose(arena->alloc, &d.at_level);
}
