/* lower_group_steps.c - plans the steps of a group, frame by frame. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"

#include <string.h>

/*
 * Every step has a number, its unit: a variable that two units touch gets a
 * slot. A statement for the items joins the region before it. A statement that
 * sets a scalar is put before that region if nothing in the region reads the
 * scalar.
 *
 * Items that returned, or went on to the next iteration of a loop, before
 * others have a flag set. Nothing collective follows then, but regions may.
 */

#define FRAMES_MAX 4096            /* calls that are emitted in place */
#define SLOTS_MAX (UINT32_MAX / 2) /* in bytes, of an item */

typedef struct planner {
    kiln__lowering *l;
    kiln__uniform *uniform;
    kiln__group_frame *frame;
    uint8_t scope;
    uint32_t units;
    uint32_t frames;
    kiln__group_steps *out;  /* steps of the block that is being planned */
    kiln__group_step *open;  /* its last region, which may still grow */
    kiln__group_step *front; /* the step before that region, or NULL */
    uint32_t open_unit;
    uint32_t loop;    /* the innermost split loop of the frame, or 0 */
    uint32_t *guards; /* flags of the enclosing loops, by depth */
    size_t guard_count;
    kiln__group_variable *variables; /* of all frames, the last one first */
    uint8_t exits_seen;
    int too_many;
} planner;

static const kiln__ir *ir_of(const planner *p)
{
    return &p->frame->f.ir;
}

static const kiln__ir_node *node_at(const planner *p, uint32_t index)
{
    return kiln__ir_node_at(ir_of(p), index);
}

static uint32_t operand(const planner *p, uint32_t index, size_t i)
{
    return kiln__ir_operand(ir_of(p), node_at(p, index), i);
}

/* ---- variables ---- */

static void make_slot(kiln__group_variable *variable)
{
    if (variable->storage == KILN__STORAGE_REGION &&
        !kiln__ir_type_is_empty(&variable->frame->f.ir, variable->type))
        variable->storage = KILN__STORAGE_SLOT;
}

/* Keeps the variable in the group's memory, because something other than a
   region reads or sets it there. */
static void keep_slot(kiln__group_variable *variable)
{
    variable->is_kept = 1;
    make_slot(variable);
}

static void touch_variable(planner *p, uint32_t local, uint32_t unit)
{
    kiln__group_variable *variable = p->frame->variables[local];

    if (variable->unit == 0)
        variable->unit = unit;
    else if (variable->unit != unit)
        make_slot(variable);
}

static kiln__group_touch *touch(planner *p, kiln__group_step *step,
                                uint32_t unit, uint32_t local, int is_set)
{
    kiln__group_touch *t = step->touches;

    touch_variable(p, local, unit);
    while (t != NULL && t->local != local)
        t = t->next;
    if (t == NULL) {
        t = kiln__arena_allocate(&p->l->job->arena, sizeof *t);
        if (t == NULL) {
            p->l->no_memory = 1;
            return NULL;
        }
        t->local = local;
        t->next = step->touches;
        step->touches = t;
    }
    t->is_set |= (uint8_t)is_set;
    return t;
}

/* Notes what an expression at group level reads. */
static void touch_at_group_level(planner *p, uint32_t index)
{
    const kiln__ir_node *node = node_at(p, index);

    if (node->op == KILN__IR_LOCAL) {
        touch_variable(p, (uint32_t)node->imm, ++p->units);
        p->frame->variables[node->imm]->is_kept = 1;
    }
    for (size_t i = 0; i < node->count; i++)
        touch_at_group_level(p, operand(p, index, i));
}

/* ---- steps ---- */

static kiln__group_step *make_step(planner *p, kiln__group_action action,
                                   uint32_t node)
{
    kiln__group_step *step =
        kiln__arena_allocate(&p->l->job->arena, sizeof *step);

    if (step == NULL) {
        p->l->no_memory = 1;
        return NULL;
    }
    step->action = action;
    step->node = node;
    return step;
}

/* Adds a step at the end; the open region ends. */
static kiln__group_step *add_step(planner *p, kiln__group_action action,
                                  uint32_t node)
{
    kiln__group_step *step = make_step(p, action, node);

    p->open = NULL;
    if (step == NULL)
        return NULL;
    if (p->out->last != NULL)
        p->out->last->next = step;
    else
        p->out->first = step;
    p->out->last = step;
    return step;
}

static void add_guards(planner *p, kiln__group_step *step, uint32_t unit)
{
    kiln__group_touch *t;

    if (p->exits_seen) {
        t = touch(p, step, unit, p->frame->f.exited, 0);
        if (t != NULL)
            t->is_guard = 1;
    }
    for (size_t i = 0; i < p->guard_count; i++) {
        t = touch(p, step, unit, p->guards[i], 0);
        if (t != NULL)
            t->is_guard = 1;
    }
}

static void open_region(planner *p)
{
    kiln__group_step *before = p->out->last;
    kiln__group_step *region = add_step(p, KILN__STEP_REGION, 0);

    if (region == NULL)
        return;
    p->front = before;
    p->open = region;
    p->open_unit = ++p->units;
    add_guards(p, region, p->open_unit);
}

/* Notes what the node does for an item. `inside`: it is in a loop of the
   region. */
static void touch_all(planner *p, uint32_t index, int inside)
{
    const kiln__ir_node *node = node_at(p, index);
    const uint32_t op = node->op;

    if (op == KILN__IR_LOCAL || op == KILN__IR_SET || op == KILN__IR_FOR)
        touch(p, p->open, p->open_unit, (uint32_t)node->imm,
              op != KILN__IR_LOCAL);
    if (op == KILN__IR_RETURN && p->frame->split[index] != KILN__SPLIT_VALUE) {
        touch(p, p->open, p->open_unit, p->frame->f.exited, 1);
        p->exits_seen = 1;
    }
    if (op == KILN__IR_CONTINUE && !inside && p->loop != 0) {
        p->open->skipped = p->frame->f.skipped[p->loop];
        touch(p, p->open, p->open_unit, p->open->skipped, 1);
    }
    inside |=
        op == KILN__IR_FOR || op == KILN__IR_WHILE || op == KILN__IR_UNROLLED;
    for (size_t i = 0; i < node->count; i++)
        touch_all(p, operand(p, index, i), inside);
}

/* Appends a node to the region; false when out of memory. */
static int append(planner *p, kiln__group_step *region, uint32_t index)
{
    if (region->count == region->capacity) {
        const size_t capacity = 2 * region->capacity + 8;
        uint32_t *nodes = kiln__arena_allocate_array(&p->l->job->arena,
                                                     capacity, sizeof *nodes);

        if (nodes == NULL)
            return 0;
        if (region->count > 0)
            memcpy(nodes, region->nodes, region->count * sizeof *nodes);
        region->nodes = nodes;
        region->capacity = capacity;
    }
    region->nodes[region->count++] = index;
    return 1;
}

static void add_to_region(planner *p, uint32_t index)
{
    if (p->open == NULL)
        open_region(p);
    if (p->open == NULL)
        return;
    if (!append(p, p->open, index))
        p->l->no_memory = 1;
    touch_all(p, index, 0);
}

/* ---- scalars ---- */

/* True when the value is made of constants and scalars only and cannot
   raise. */
static int is_free(const planner *p, uint32_t index)
{
    const kiln__ir_node *node = node_at(p, index);

    if (node->op == KILN__IR_LOAD || node->op == KILN__IR_CALL ||
        kiln__lower_raises(p->l, &p->frame->f, node))
        return 0;
    if (node->op == KILN__IR_LOCAL &&
        p->frame->variables[node->imm]->storage != KILN__STORAGE_SCALAR)
        return 0;
    for (size_t i = 0; i < node->count; i++)
        if (!is_free(p, operand(p, index, i)))
            return 0;
    return 1;
}

static int region_touches(const planner *p, uint32_t local)
{
    for (const kiln__group_touch *t = p->open->touches; t != NULL; t = t->next)
        if (t->local == local)
            return 1;
    return 0;
}

/* Adds a step that sets a scalar of the group. If the open region does not use
   the scalar, and the value is free, the step is put before the region, which
   stays open. */
static void set_scalar(planner *p, uint32_t index)
{
    const kiln__ir_node *node = node_at(p, index);
    const uint32_t value = operand(p, index, 0);
    kiln__group_step *step;

    if (p->open == NULL || !is_free(p, value) ||
        region_touches(p, (uint32_t)node->imm)) {
        add_step(p, KILN__STEP_STATEMENT, index);
        touch_at_group_level(p, value);
        return;
    }
    step = make_step(p, KILN__STEP_STATEMENT, index);
    if (step == NULL)
        return;
    step->next = p->open;
    if (p->front != NULL)
        p->front->next = step;
    else
        p->out->first = step;
    p->front = step;
}

/* ---- control ---- */

static void plan_block(planner *p, uint32_t index);
static void plan_frame(planner *p, kiln__group_frame *frame);

/* Adds the steps of a return that all items of the scope take together. */
static void add_return(planner *p, uint32_t index)
{
    const kiln__ir_node *node = node_at(p, index);
    kiln__group_frame *frame = p->frame;

    if (p->scope > frame->scope) {
        add_to_region(p, index);
        add_step(p, KILN__STEP_NEXT, 0);
        return;
    }
    if (node->count == 0 || frame->result == NULL) {
        add_step(p, KILN__STEP_LEAVE, 0);
        return;
    }
    if (frame->result->storage == KILN__STORAGE_SCALAR) {
        add_step(p, KILN__STEP_STATEMENT, index);
        touch_at_group_level(p, operand(p, index, 0));
        return;
    }
    frame->split[index] = KILN__SPLIT_VALUE;
    add_to_region(p, index);
    add_step(p, KILN__STEP_LEAVE, 0);
}

static void jump(planner *p, uint32_t index)
{
    if (p->frame->scopes[p->loop] == p->scope) {
        add_step(p, KILN__STEP_STATEMENT, index);
        return;
    }
    add_to_region(p, index);
    add_step(p, KILN__STEP_NEXT, 0);
}

/* True when only some of the items may jump: to the loop's next iteration, or
   by a return. */
static int has_divergent_jump(const planner *p, uint32_t index, uint32_t op,
                              int inside, uint8_t level)
{
    const kiln__ir_node *node = node_at(p, index);

    if (node->op == op && !inside && p->frame->view->controls[index] > level)
        return 1;
    inside |= op == KILN__IR_CONTINUE &&
              (node->op == KILN__IR_FOR || node->op == KILN__IR_WHILE ||
               node->op == KILN__IR_UNROLLED);
    for (size_t i = 0; i < node->count; i++)
        if (has_divergent_jump(p, operand(p, index, i), op, inside, level))
            return 1;
    return 0;
}

/* Plans the blocks of a split loop. */
static void plan_loop(planner *p, uint32_t index)
{
    const kiln__ir_node *node = node_at(p, index);
    const uint32_t loop = p->loop;
    const size_t guards = p->guard_count;
    int skips = 0;

    for (size_t i = 0; i < node->count; i++) {
        const uint32_t block = operand(p, index, i);

        skips |= has_divergent_jump(p, block, KILN__IR_CONTINUE, 0, p->scope);
        p->exits_seen |= (uint8_t)has_divergent_jump(p, block, KILN__IR_RETURN,
                                                     0, p->frame->scope);
    }
    p->loop = index;
    if (skips)
        p->guards[p->guard_count++] = p->frame->f.skipped[index];
    for (size_t i = 0; i < node->count; i++)
        if (node_at(p, operand(p, index, i))->op == KILN__IR_BLOCK)
            plan_block(p, operand(p, index, i));
    p->guard_count = guards;
    p->loop = loop;
}

static void control(planner *p, uint32_t index)
{
    const kiln__ir_node *node = node_at(p, index);

    for (size_t i = 0; i < node->count; i++)
        if (node_at(p, operand(p, index, i))->op != KILN__IR_BLOCK)
            touch_at_group_level(p, operand(p, index, i));
    add_step(p, KILN__STEP_STATEMENT, index);
    if (node->op != KILN__IR_IF) {
        plan_loop(p, index);
        return;
    }
    for (size_t i = 1; i < node->count; i++)
        plan_block(p, operand(p, index, i));
}

/* Adds a call of a collective function: a frame of its own, whose parameters
   and result are variables of this frame. */
static void call(planner *p, uint32_t index)
{
    const kiln__ir_node *node = node_at(p, operand(p, index, 0));
    const kiln__group_frame *frame = p->frame;
    const uint32_t function = frame->f.source->callees[node->imm];
    kiln__arena *arena = &p->l->job->arena;
    uint8_t *levels = kiln__arena_allocate(arena, (size_t)node->count + 1);
    kiln__group_frame *made = kiln__arena_allocate(arena, sizeof *made);
    kiln__group_step *step = add_step(p, KILN__STEP_CALL, index);

    if (++p->frames > FRAMES_MAX)
        p->too_many = 1;
    if (levels == NULL || made == NULL || step == NULL || p->too_many) {
        p->l->no_memory |= !p->too_many;
        p->out->last = NULL; /* nobody uses the plan any more */
        p->out->first = NULL;
        return;
    }
    for (size_t i = 0; i < node->count; i++)
        levels[i] = frame->view->values[kiln__ir_operand(ir_of(p), node, i)];
    made->outer = p->frame;
    made->ordinal = node->ordinal;
    made->f = p->l->functions[function];
    made->scope = p->scope;
    made->view =
        kiln__uniform_view_of(p->uniform, function, levels,
                              frame->view->controls[operand(p, index, 0)]);
    made->variables = kiln__arena_allocate_array(
        arena, made->f.ir.locals.count + 1, sizeof(void *));
    if (made->view == NULL || made->variables == NULL) {
        p->l->no_memory = 1;
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        const uint32_t local =
            (uint32_t)kiln__ir_operand_at(ir_of(p), node, i)->imm;

        made->variables[i] = frame->variables[local];
    }
    if (node_at(p, index)->op == KILN__IR_SET) {
        made->result = frame->variables[node_at(p, index)->imm];
        keep_slot(made->result);
    }
    step->frame = made;
    plan_frame(p, made);
}

/* Adds an operation of all items. It reads what regions have set, and a region
   reads what it sets. */
static void collective(planner *p, uint32_t index)
{
    const kiln__ir_node *node = node_at(p, index);
    kiln__group_variable *variable = p->frame->variables[node->imm];
    const kiln__ir_node *group = node_at(p, operand(p, index, 0));

    add_step(p, KILN__STEP_COLLECTIVE, index);
    for (size_t i = 0; i < group->count; i++) {
        const kiln__ir_node *from = kiln__ir_operand_at(ir_of(p), group, i);

        if (from->op == KILN__IR_LOCAL)
            keep_slot(p->frame->variables[from->imm]);
    }
    keep_slot(variable);
}

/* ---- statements ---- */

/* Adds the steps of a statement that is split. */
static void split_statement(planner *p, uint32_t index)
{
    const kiln__ir_node *node = node_at(p, index);

    switch ((uint32_t)node->op) {
    case KILN__IR_RETURN:
        add_return(p, index);
        break;
    case KILN__IR_BREAK:
    case KILN__IR_CONTINUE:
        jump(p, index);
        break;
    case KILN__IR_BARRIER:
        p->open = NULL;
        break;
    case KILN__IR_SET:
    case KILN__IR_EVAL:
        if (node_at(p, operand(p, index, 0))->op == KILN__IR_CALL)
            call(p, index);
        else
            collective(p, index);
        break;
    default:
        control(p, index);
        break;
    }
}

/* True when only the items of a sub-group reach the statement together. */
static int is_for_sub_groups(const planner *p, uint32_t index)
{
    const uint32_t op = node_at(p, index)->op;

    if (p->scope != KILN__UNIFORM_GROUP)
        return 0;
    if (op == KILN__IR_IF || op == KILN__IR_FOR || op == KILN__IR_WHILE ||
        op == KILN__IR_UNROLLED)
        return p->frame->scopes[index] > p->scope;
    return p->frame->view->controls[index] > p->scope;
}

static void for_sub_groups(planner *p, uint32_t index)
{
    kiln__group_step *step = add_step(p, KILN__STEP_SUB_GROUPS, index);
    kiln__group_steps *out = p->out;

    if (step == NULL)
        return;
    add_guards(p, step, ++p->units);
    p->out = &step->inner;
    p->scope = KILN__UNIFORM_SUB_GROUP;
    split_statement(p, index);
    p->scope = KILN__UNIFORM_GROUP;
    p->out = out;
    p->open = NULL;
}

static void plan_statements(planner *p, const kiln__ir_node *block)
{
    if (kiln__lower_is_too_deep(p->l))
        return;
    for (size_t i = 0; i < block->count && !p->too_many && !p->l->no_memory;
         i++) {
        const uint32_t index = kiln__ir_operand(ir_of(p), block, i);
        const kiln__ir_node *node = node_at(p, index);

        if (node->op == KILN__IR_BLOCK)
            plan_statements(p, node);
        else if (p->frame->split[index] && is_for_sub_groups(p, index))
            for_sub_groups(p, index);
        else if (p->frame->split[index])
            split_statement(p, index);
        else if (node->op == KILN__IR_SET &&
                 p->frame->variables[node->imm]->storage ==
                     KILN__STORAGE_SCALAR)
            set_scalar(p, index);
        else
            add_to_region(p, index);
    }
}

static void plan_block(planner *p, uint32_t index)
{
    kiln__group_steps *out = p->out;

    p->out = &p->frame->steps[index];
    p->out->is_planned = 1;
    p->open = NULL;
    if (p->loop != 0 && p->guard_count > 0 &&
        p->guards[p->guard_count - 1] == p->frame->f.skipped[p->loop])
        for (size_t i = 0; i < node_at(p, p->loop)->count; i++)
            if (operand(p, p->loop, i) == index)
                add_step(p, KILN__STEP_CLEAR, p->frame->f.skipped[p->loop]);
    if (index == ir_of(p)->body && p->frame->has_exits)
        add_step(p, KILN__STEP_CLEAR, p->frame->f.exited);
    plan_statements(p, node_at(p, index));
    p->out = out;
    p->open = NULL;
}

/* ---- frames ---- */

static kiln__group_variable *make_variable(planner *p, kiln__group_frame *frame,
                                           uint32_t local)
{
    kiln__group_variable *variable =
        kiln__arena_allocate(&p->l->job->arena, sizeof *variable);

    if (variable == NULL)
        return NULL;
    variable->frame = frame;
    variable->type = frame->f.ir.locals.items[local].type;
    variable->next = p->variables;
    p->variables = variable;
    return variable;
}

/* Allocates the tables by node and by local. The parameters of a call are set
   already. */
static int fill_frame(planner *p, kiln__group_frame *frame)
{
    kiln__arena *arena = &p->l->job->arena;
    const size_t nodes = frame->f.ir.nodes.count;

    frame->f.value = p->l->functions[0].value;
    frame->split = kiln__arena_allocate(arena, nodes);
    frame->scopes = kiln__arena_allocate(arena, nodes);
    frame->steps =
        kiln__arena_allocate_array(arena, nodes, sizeof *frame->steps);
    if (frame->split == NULL || frame->scopes == NULL || frame->steps == NULL)
        return 0;
    for (size_t i = 0; i < frame->f.ir.locals.count; i++) {
        if (frame->variables[i] == NULL)
            frame->variables[i] = make_variable(p, frame, (uint32_t)i);
        if (frame->variables[i] == NULL)
            return 0;
    }
    return 1;
}

/* Plans the steps of a frame. The planner's state is that of the frame
   meanwhile. */
static void plan_frame(planner *p, kiln__group_frame *frame)
{
    planner outer = *p;

    p->frame = frame;
    p->guards = kiln__arena_allocate_array(
        &p->l->job->arena, KILN__IR_DEPTH_MAX, sizeof *p->guards);
    if (p->guards == NULL || !fill_frame(p, frame)) {
        p->l->no_memory = 1;
        p->frame = outer.frame;
        return;
    }
    frame->outer = outer.frame;
    p->guard_count = 0;
    p->exits_seen = 0;
    p->loop = 0;
    kiln__group_decide(p->l, frame);
    plan_block(p, frame->f.ir.body);
    outer.units = p->units;
    outer.frames = p->frames;
    outer.too_many = p->too_many;
    outer.variables = p->variables;
    outer.open = NULL;
    *p = outer;
}

/* Gives the slots that are needed their places. */
static void place_slots(planner *p)
{
    uint64_t bytes = p->l->job->private_bytes;
    kiln__group_variable *v;

    for (v = p->variables; v != NULL; v = v->next)
        if (v->storage == KILN__STORAGE_SLOT && !v->is_kept &&
            kiln__group_can_repeat(p->l, v))
            v->storage = KILN__STORAGE_REMAT;
    for (v = p->variables; v != NULL && bytes < SLOTS_MAX; v = v->next)
        if (v->storage == KILN__STORAGE_SLOT) {
            v->offset = bytes;
            bytes += kiln__group_slot_size(&v->frame->f, v->type);
        }
    if (bytes < SLOTS_MAX)
        p->l->job->private_bytes = (uint32_t)bytes;
    else
        p->too_many = 1;
}

static void say_what_is_too_much(const planner *p,
                                 const kiln__group_frame *frame)
{
    if (p->frames > FRAMES_MAX)
        kiln__job_fail(p->l->job, KILN_EUNSUPPORTED,
                       "%s calls more than %d collective functions, each call "
                       "counted",
                       frame->f.ir.name, FRAMES_MAX);
    else
        kiln__job_fail(p->l->job, KILN_EUNSUPPORTED,
                       "values of %s that live from one barrier to the next "
                       "take more than %u bytes of each item",
                       frame->f.ir.name, SLOTS_MAX);
}

kiln__group_frame *kiln__group_plan(kiln__lowering *l, kiln__uniform *uniform)
{
    kiln__arena *arena = &l->job->arena;
    kiln__group_frame *frame = kiln__arena_allocate(arena, sizeof *frame);
    planner p = {.l = l, .uniform = uniform};

    if (frame == NULL)
        return NULL;
    frame->f = l->functions[0];
    frame->view = kiln__uniform_entry(uniform);
    frame->variables = kiln__arena_allocate_array(
        arena, frame->f.ir.locals.count + 1, sizeof(void *));
    if (frame->view == NULL || frame->variables == NULL)
        return NULL;
    for (size_t i = 0; i < frame->f.ir.parameter_count; i++) {
        frame->variables[i] = make_variable(&p, frame, (uint32_t)i);
        if (frame->variables[i] == NULL)
            return NULL;
        frame->variables[i]->storage = KILN__STORAGE_SCALAR;
        frame->variables[i]->is_argument = 1;
    }
    plan_frame(&p, frame);
    if (!l->no_memory && !p.too_many)
        place_slots(&p);
    if (p.too_many)
        say_what_is_too_much(&p, frame);
    return p.too_many || l->no_memory ? NULL : frame;
}
