/* lower_group.c - emits the steps of a group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"

/*
 * Statements at group level go through the same code as those of an item: an IF
 * is the same branch, except that its blocks are steps. Between regions, `item`
 * is the scope's first item, so what raises there has the ids of that item.
 *
 * A region is one loop. Its variables are registers of the item: slots are read
 * when an item begins and written when it ends, and LLVM drops unused reads and
 * writes. An item that raises ends the whole group.
 */

static const kiln__codegen_groups *hooks(const kiln__lowering *l)
{
    return l->job->backend->groups;
}

static LLVMValueRef number(const kiln__lowering *l, uint64_t value)
{
    return LLVMConstInt(l->i64, value, 0);
}

static LLVMValueRef truth(const kiln__lowering *l, int value)
{
    return LLVMConstInt(LLVMInt1TypeInContext(l->context),
                        (unsigned long long)value, 0);
}

LLVMValueRef kiln__group_place(kiln__lowering *l, LLVMTypeRef type)
{
    const LLVMBasicBlockRef here = LLVMGetInsertBlock(l->builder);
    LLVMValueRef place;

    LLVMPositionBuilderBefore(l->builder,
                              LLVMGetBasicBlockTerminator(l->group->entry));
    place = LLVMBuildAlloca(l->builder, type, "");
    LLVMPositionBuilderAtEnd(l->builder, here);
    return place;
}

static uint32_t type_of(const kiln__lowering *l, uint32_t local)
{
    return l->ir->locals.items[local].type;
}

static kiln__group_variable *variable_at(const kiln__lowering *l,
                                         uint32_t local)
{
    return l->group->frame->variables[local];
}

/* ---- loops over items ---- */

/* Opens a loop over the lanes of a sub-group, beginning with its first item. */
static void open_lanes(kiln__lowering *l, kiln__group_loop *loop)
{
    kiln__group *g = l->group;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(l->builder);
    const LLVMBasicBlockRef body = kiln__lower_block(l);
    LLVMValueRef exists;

    loop->head = kiln__lower_block(l);
    loop->next = kiln__lower_block(l);
    LLVMBuildBr(l->builder, loop->head);
    LLVMPositionBuilderAtEnd(l->builder, loop->head);
    g->number = LLVMBuildPhi(l->builder, l->i64, "");
    LLVMAddIncoming(g->number, &g->first, &before, 1);
    exists = hooks(l)->exists(l->job, l->builder, l->item, g->number);
    LLVMBuildCondBr(l->builder, exists, body, loop->next);
    LLVMPositionBuilderAtEnd(l->builder, body);
    hooks(l)->set_item(l->job, l->builder, l->item, g->number);
}

static void close_lanes(kiln__lowering *l, kiln__group_loop *loop)
{
    kiln__group *g = l->group;
    LLVMBasicBlockRef next = loop->next;
    const LLVMBasicBlockRef done = kiln__lower_block(l);
    LLVMValueRef after, more;

    LLVMBuildBr(l->builder, next);
    LLVMPositionBuilderAtEnd(l->builder, next);
    after = LLVMBuildNSWAdd(l->builder, g->number, number(l, 1), "");
    LLVMAddIncoming(g->number, &after, &next, 1);
    more = LLVMBuildICmp(l->builder, LLVMIntULT, after, g->last, "");
    LLVMBuildCondBr(l->builder, more, loop->head, done);
    LLVMPositionBuilderAtEnd(l->builder, done);
    hooks(l)->set_item(l->job, l->builder, l->item, g->first);
}

void kiln__group_open(kiln__lowering *l, kiln__group_loop *loop)
{
    if (l->group->scope == KILN__UNIFORM_SUB_GROUP) {
        open_lanes(l, loop);
        return;
    }
    hooks(l)->open(l->job, l->builder, l->item, &loop->items);
    l->group->number = loop->items.number;
}

void kiln__group_close(kiln__lowering *l, kiln__group_loop *loop,
                       int is_parallel)
{
    if (l->group->scope == KILN__UNIFORM_SUB_GROUP)
        close_lanes(l, loop);
    else
        hooks(l)->close(l->job, l->builder, l->item, &loop->items, is_parallel);
    l->group->number = NULL;
}

/* Returns the number of the sub-group's first existing item; goes to `none`
   when there is no such item. */
static LLVMValueRef find_first(kiln__lowering *l, LLVMValueRef begin,
                               LLVMValueRef end, LLVMBasicBlockRef none)
{
    const LLVMBasicBlockRef test = kiln__lower_block(l);
    const LLVMBasicBlockRef found = kiln__lower_block(l);
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(l->builder),
                                 kiln__lower_block(l)};
    LLVMValueRef values[2] = {begin, NULL}, phi;

    LLVMBuildBr(l->builder, test);
    LLVMPositionBuilderAtEnd(l->builder, test);
    phi = LLVMBuildPhi(l->builder, l->i64, "");
    LLVMBuildCondBr(l->builder,
                    hooks(l)->exists(l->job, l->builder, l->item, phi), found,
                    from[1]);
    LLVMPositionBuilderAtEnd(l->builder, from[1]);
    values[1] = LLVMBuildNSWAdd(l->builder, phi, number(l, 1), "");
    LLVMBuildCondBr(l->builder,
                    LLVMBuildICmp(l->builder, LLVMIntULT, values[1], end, ""),
                    test, none);
    LLVMAddIncoming(phi, values, from, 2);
    LLVMPositionBuilderAtEnd(l->builder, found);
    return phi;
}

/* Makes the sub-group that begins at `begin` the scope. */
static void enter_sub_group(kiln__lowering *l, LLVMValueRef begin,
                            LLVMBasicBlockRef next)
{
    kiln__group *g = l->group;

    g->last = LLVMBuildNSWAdd(l->builder, begin,
                              number(l, hooks(l)->sub_group_size), "");
    g->first = find_first(l, begin, g->last, next);
    g->scope = KILN__UNIFORM_SUB_GROUP;
    g->next_sub_group = next;
    hooks(l)->set_item(l->job, l->builder, l->item, g->first);
}

/* Runs `body` for each sub-group of the group, with the sub-group as the
   scope. */
static void each_of_group(kiln__lowering *l,
                          void (*body)(kiln__lowering *l, void *env), void *env)
{
    kiln__group *g = l->group;
    const kiln__group outer = *g;
    const LLVMBasicBlockRef head = kiln__lower_block(l);
    const LLVMBasicBlockRef done = kiln__lower_block(l);
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(l->builder),
                                 kiln__lower_block(l)};
    LLVMValueRef values[2] = {number(l, 0), NULL}, phi;

    LLVMBuildBr(l->builder, head);
    LLVMPositionBuilderAtEnd(l->builder, head);
    phi = LLVMBuildPhi(l->builder, l->i64, "");
    enter_sub_group(l, phi, from[1]);
    body(l, env);
    if (!kiln__lower_is_done(l))
        LLVMBuildBr(l->builder, from[1]);
    LLVMPositionBuilderAtEnd(l->builder, from[1]);
    values[1] = LLVMBuildNSWAdd(l->builder, phi,
                                number(l, hooks(l)->sub_group_size), "");
    LLVMBuildCondBr(
        l->builder,
        LLVMBuildICmp(l->builder, LLVMIntULT, values[1], g->items, ""), head,
        done);
    LLVMAddIncoming(phi, values, from, 2);
    LLVMPositionBuilderAtEnd(l->builder, done);
    g->scope = outer.scope;
    g->first = outer.first;
    g->last = outer.last;
    g->next_sub_group = outer.next_sub_group;
    hooks(l)->set_item(l->job, l->builder, l->item, g->first);
}

void kiln__group_each(kiln__lowering *l,
                      void (*body)(kiln__lowering *l, void *env), void *env)
{
    if (l->group->scope == KILN__UNIFORM_SUB_GROUP)
        body(l, env);
    else
        each_of_group(l, body, env);
}

/* ---- regions ---- */

static LLVMValueRef first_value(kiln__lowering *l,
                                const kiln__group_variable *v, uint32_t type)
{
    if (v->storage == KILN__STORAGE_SLOT)
        return kiln__group_slot_read(l, v, type, l->group->number);
    return LLVMConstNull(kiln__lower_type_of(l, type));
}

/* Reads the region's variables into registers. */
static void begin_item(kiln__lowering *l, const kiln__group_step *step)
{
    for (const kiln__group_touch *t = step->touches; t != NULL; t = t->next) {
        const kiln__group_variable *v = variable_at(l, t->local);
        const uint32_t type = type_of(l, t->local);

        if (v->place == NULL || v->storage == KILN__STORAGE_SCALAR)
            continue;
        if (v->storage == KILN__STORAGE_REMAT)
            kiln__group_rematerialise(l, v);
        else
            LLVMBuildStore(l->builder, first_value(l, v, type), v->place);
    }
}

static void end_item(kiln__lowering *l, const kiln__group_step *step)
{
    for (const kiln__group_touch *t = step->touches; t != NULL; t = t->next) {
        const kiln__group_variable *v = variable_at(l, t->local);
        const uint32_t type = type_of(l, t->local);

        if (v->place != NULL && v->storage == KILN__STORAGE_SLOT && t->is_set)
            kiln__group_slot_write(l, v, type, l->group->number,
                                   LLVMBuildLoad2(l->builder,
                                                  kiln__lower_type_of(l, type),
                                                  v->place, ""));
    }
}

/* Branches to `away` when a guard's flag is set. The flags are in their places,
   or in the slots of item `first`. */
static void branch_on_guards(kiln__lowering *l, const kiln__group_step *step,
                             LLVMBasicBlockRef away, LLVMValueRef first)
{
    for (const kiln__group_touch *t = step->touches; t != NULL; t = t->next) {
        const kiln__group_variable *v = variable_at(l, t->local);
        const LLVMTypeRef flag_type = LLVMInt1TypeInContext(l->context);
        LLVMBasicBlockRef stay;
        LLVMValueRef flag;

        if (!t->is_guard || v->storage != KILN__STORAGE_SLOT)
            continue;
        stay = kiln__lower_block(l);
        flag = first != NULL
                   ? kiln__group_slot_read(l, v, type_of(l, t->local), first)
                   : LLVMBuildLoad2(l->builder, flag_type, v->place, "");
        LLVMBuildCondBr(l->builder, flag, away, stay);
        LLVMPositionBuilderAtEnd(l->builder, stay);
    }
}

static void set_result(kiln__lowering *l, LLVMValueRef value)
{
    const kiln__group_frame *frame = l->group->frame;
    const kiln__group_variable *result = frame->result;

    if (result == NULL || kiln__ir_type_is_empty(l->ir, l->ir->result))
        return;
    if (result->storage == KILN__STORAGE_SLOT)
        kiln__group_slot_write(l, result, l->ir->result, l->group->number,
                               value);
    else
        LLVMBuildStore(l->builder, value, result->place);
}

static void run_nodes(kiln__lowering *l, const kiln__group_step *step)
{
    const uint8_t *split = l->group->frame->split;

    for (size_t i = 0; i < step->count && !kiln__lower_is_done(l); i++) {
        const uint32_t index = step->nodes[i];
        const kiln__ir_node *node = kiln__ir_node_at(l->ir, index);

        if (split[index] == KILN__SPLIT_VALUE)
            set_result(l,
                       kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0)));
        else
            kiln__lower_statement(l, index);
    }
    if (!kiln__lower_is_done(l))
        LLVMBuildBr(l->builder, l->group->item_end);
}

/* Emits a region: a loop over the items of the scope. */
static void region(kiln__lowering *l, const kiln__group_step *step)
{
    kiln__group *g = l->group;
    kiln__lower_loop item_loop = {.outer = l->loop};
    kiln__group_loop loop;

    kiln__group_open(l, &loop);
    g->item_end = item_loop.leave = item_loop.next = kiln__lower_block(l);
    begin_item(l, step);
    branch_on_guards(l, step, g->item_end, NULL);
    if (step->skipped != 0)
        item_loop.next = kiln__lower_block(l);
    l->loop = &item_loop;
    run_nodes(l, step);
    l->loop = item_loop.outer;
    if (step->skipped != 0) {
        LLVMPositionBuilderAtEnd(l->builder, item_loop.next);
        LLVMBuildStore(l->builder, truth(l, 1),
                       variable_at(l, step->skipped)->place);
        LLVMBuildBr(l->builder, g->item_end);
    }
    LLVMPositionBuilderAtEnd(l->builder, g->item_end);
    end_item(l, step);
    g->item_end = NULL;
    kiln__group_close(l, &loop, 1);
}

static void clear(kiln__lowering *l, uint32_t local)
{
    const kiln__group_variable *flag = variable_at(l, local);
    kiln__group_loop loop;

    if (flag->storage != KILN__STORAGE_SLOT)
        return;
    kiln__group_open(l, &loop);
    kiln__group_slot_write(l, flag, type_of(l, local), l->group->number,
                           truth(l, 0));
    kiln__group_close(l, &loop, 1);
}

/* ---- frames ---- */

static void make_variable(kiln__lowering *l, uint32_t local)
{
    kiln__group_variable *v = variable_at(l, local);
    const uint32_t type = type_of(l, local);
    const LLVMTypeRef registers = kiln__lower_type_of(l, type);

    if (v->place != NULL || kiln__ir_type_is_empty(l->ir, type))
        return;
    v->place = kiln__group_place(l, registers);
    if (v->storage == KILN__STORAGE_SCALAR)
        LLVMBuildStore(l->builder, LLVMConstNull(registers), v->place);
}

/* Makes the places of the frame's locals. The entry's parameters need none:
   nothing sets them. */
static void make_locals(kiln__lowering *l, const kiln__group_frame *frame)
{
    for (uint32_t i = 0; i < l->ir->locals.count; i++) {
        if (frame->outer == NULL && i < l->ir->parameter_count) {
            const int is_empty = kiln__ir_type_is_empty(l->ir, type_of(l, i));

            l->locals[i] = is_empty ? NULL : LLVMGetParam(l->f->value, i + 1);
            l->fixed[i] = 1;
            continue;
        }
        make_variable(l, i);
        l->locals[i] = variable_at(l, i)->place;
    }
}

static void run_steps(kiln__lowering *l, const kiln__group_steps *steps);

/* Emits the steps of a frame in place. The lowering's state is that of the
   frame meanwhile. */
static void run_frame(kiln__lowering *l, kiln__group_frame *frame)
{
    const kiln__lowering outer = *l;
    kiln__group_frame *caller = l->group->frame;
    kiln__arena *arena = &l->job->arena;
    const size_t count = frame->f.ir.locals.count + 1;

    l->group->frame = frame;
    l->f = &frame->f;
    l->ir = &frame->f.ir;
    l->loop = NULL;
    l->locals = kiln__arena_allocate_array(arena, count, sizeof *l->locals);
    l->fixed = kiln__arena_allocate(arena, count);
    if (l->locals != NULL && l->fixed != NULL) {
        make_locals(l, frame);
        frame->locals = l->locals;
        frame->fixed = l->fixed;
        frame->leave = kiln__lower_block(l);
        run_steps(l, &frame->steps[l->ir->body]);
        if (!kiln__lower_is_done(l))
            LLVMBuildBr(l->builder, frame->leave);
        LLVMPositionBuilderAtEnd(l->builder, frame->leave);
    } else
        l->no_memory = 1;
    l->group->frame = caller;
    l->f = outer.f;
    l->ir = outer.ir;
    l->loop = outer.loop;
    l->locals = outer.locals;
    l->fixed = outer.fixed;
}

/* ---- steps ---- */

static void for_sub_group(kiln__lowering *l, void *env)
{
    const kiln__group_step *step = env;

    branch_on_guards(l, step, l->group->next_sub_group, l->group->first);
    run_steps(l, &step->inner);
}

static void run_step(kiln__lowering *l, kiln__group_step *step)
{
    switch (step->action) {
    case KILN__STEP_REGION:
        region(l, step);
        break;
    case KILN__STEP_STATEMENT:
        kiln__lower_statement(l, step->node);
        break;
    case KILN__STEP_COLLECTIVE:
        kiln__group_collective(l, kiln__ir_node_at(l->ir, step->node));
        break;
    case KILN__STEP_CALL:
        run_frame(l, step->frame);
        break;
    case KILN__STEP_LEAVE:
        LLVMBuildBr(l->builder, l->group->frame->leave);
        break;
    case KILN__STEP_CLEAR:
        clear(l, step->node);
        break;
    case KILN__STEP_SUB_GROUPS:
        kiln__group_each(l, for_sub_group, step);
        break;
    case KILN__STEP_NEXT:
        LLVMBuildBr(l->builder, l->group->next_sub_group);
        break;
    }
}

static void run_steps(kiln__lowering *l, const kiln__group_steps *steps)
{
    if (kiln__lower_is_too_deep(l))
        return;
    for (kiln__group_step *step = steps->first;
         step != NULL && !kiln__lower_is_done(l) && !l->no_memory;
         step = step->next)
        run_step(l, step);
}

/* ---- what other files of lowering call ---- */

static int emit_steps(kiln__lowering *l, uint32_t node)
{
    const kiln__group *g = l->group;

    if (g->item_end != NULL || !g->frame->steps[node].is_planned)
        return 0;
    run_steps(l, &g->frame->steps[node]);
    return 1;
}

static int is_slot(const kiln__lowering *l, uint32_t local)
{
    const kiln__group *g = l->group;

    return g->item_end == NULL &&
           variable_at(l, local)->storage == KILN__STORAGE_SLOT;
}

static LLVMValueRef read_slot(kiln__lowering *l, uint32_t local)
{
    return kiln__group_slot_read(l, variable_at(l, local), type_of(l, local),
                                 l->group->first);
}

static void leave_frame(kiln__lowering *l, LLVMValueRef value)
{
    kiln__group *g = l->group;

    set_result(l, value);
    if (g->item_end == NULL) {
        LLVMBuildBr(l->builder, g->frame->leave);
        return;
    }
    LLVMBuildStore(l->builder, truth(l, 1),
                   variable_at(l, l->f->exited)->place);
    LLVMBuildBr(l->builder, g->item_end);
}

/* Leaves a function that is emitted where it is called. */
static void leave_failed(kiln__lowering *l)
{
    for (const kiln__group_frame *at = l->group->frame; at->outer != NULL;
         at = at->outer)
        kiln__lower_frame(l, at->ordinal, at->outer->f.ir.method);
    LLVMBuildBr(l->builder, l->group->failed);
}

static const kiln__lower_as_group as_group = {
    .block = emit_steps,
    .is_slot = is_slot,
    .read = read_slot,
    .leave = leave_frame,
    .fail = leave_failed,
};

/* ---- the whole function ---- */

static void begin_function(kiln__lowering *l)
{
    kiln__group *g = l->group;
    const LLVMBasicBlockRef start = kiln__lower_block(l);
    LLVMValueRef offset = number(l, l->job->static_local_bytes);
    LLVMValueRef memory;

    LLVMPositionBuilderAtEnd(l->builder, g->entry);
    LLVMBuildBr(l->builder, start);
    LLVMPositionBuilderAtEnd(l->builder, start);
    memory = hooks(l)->memory(l->job, l->builder, l->item);
    g->slots = LLVMBuildInBoundsGEP2(
        l->builder, LLVMInt8TypeInContext(l->context), memory, &offset, 1, "");
    g->items = hooks(l)->count(l->job, l->builder, l->item);
    g->count = LLVMBuildNSWAdd(l->builder, g->items, number(l, 63), "");
    g->count = LLVMBuildAnd(l->builder, g->count, number(l, ~(uint64_t)63), "");
    g->first = number(l, 0);
}

kiln_status kiln__group_define(kiln__lowering *l, kiln__lower_function *f)
{
    kiln__group g = {.uniform = l->uniform};
    kiln__group_frame *frame = kiln__group_plan(l, l->uniform);

    if (frame == NULL)
        return l->no_memory
                   ? kiln__job_fail(l->job, KILN_ENOMEM, "out of memory")
                   : l->job->status;
    l->f = f;
    l->ir = &f->ir;
    l->item = LLVMGetParam(f->value, 0);
    l->group = &g;
    l->as_group = &as_group;
    g.entry = kiln__lower_block(l);
    g.failed = kiln__lower_block(l);
    kiln__lower_begin(l);
    begin_function(l);
    run_frame(l, frame);
    l->group = NULL;
    kiln__lower_return(l, LLVMConstNull(kiln__lower_type_of(l, f->ir.result)));
    LLVMPositionBuilderAtEnd(l->builder, g.failed);
    if (f->can_fail)
        LLVMBuildRet(l->builder, truth(l, 1));
    else
        LLVMDeleteBasicBlock(g.failed);
    l->job->for_group = 1;
    return l->no_memory ? kiln__job_fail(l->job, KILN_ENOMEM, "out of memory")
                        : KILN_OK;
}
