/* group.c - operations of all items of a group or a sub-group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "machine.h"

/* ---- coming together ---- */

/* Items are together when their frames are at the same places. */
static int is_same_place(const item *a, const item *b)
{
    if (a->state != b->state || a->frame_count != b->frame_count)
        return 0;
    for (size_t i = 0; i < a->frame_count; i++)
        if (a->frames[i].function != b->frames[i].function ||
            a->frames[i].next != b->frames[i].next)
            return 0;
    return 1;
}

static int are_together(item *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!is_same_place(&items[0], &items[i]))
            return 0;
    return 1;
}

static int any_is(const item *items, size_t count, int state)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].state == state)
            return 1;
    return 0;
}

/* ---- values of all items ---- */

static cell combine(int64_t group, int32_t kind, cell a, cell b)
{
    const cell both[2] = {a, b};
    int fault = NUMBER_FINE;

    switch (group) {
    case KILN__GROUP_SUB_ADD:
    case KILN__GROUP_GROUP_ADD:
        return number_binary(KILN__IR_ADD, kind, a, b, &fault);
    case KILN__GROUP_SUB_MIN:
    case KILN__GROUP_GROUP_MIN:
        return number_math(KILN__MATH_MIN, kind, both);
    case KILN__GROUP_SUB_MAX:
    case KILN__GROUP_GROUP_MAX:
        return number_math(KILN__MATH_MAX, kind, both);
    case KILN__GROUP_SUB_ANY:
        return a | b;
    default: /* SUB_ALL */
        return a & b;
    }
}

/* Returns the item whose value item `self` gets; `count` when there is none. */
static size_t source_of(const interpreter *in, int64_t group, const item *items,
                        size_t count, size_t self, uint64_t operand)
{
    const uint64_t lanes = in->launch->sub_group;
    const uint64_t own = items[self].number % lanes;
    uint64_t lane = operand;
    size_t i = 0;

    switch (group) {
    case KILN__GROUP_SHUFFLE_XOR:
        lane = own ^ operand;
        break;
    case KILN__GROUP_SHUFFLE_UP:
        lane = own - operand;
        break;
    case KILN__GROUP_SHUFFLE_DOWN:
        lane = own + operand;
        break;
    case KILN__GROUP_GROUP_BROADCAST:
        while (i < count && items[i].local_id[0] != operand)
            i++;
        return i;
    default: /* SHUFFLE, SUB_BROADCAST */
        break;
    }
    while (i < count && items[i].number % lanes != lane)
        i++;
    return i;
}

static cell fold_in_turn(int64_t group, int32_t kind, const cell *values,
                         size_t count)
{
    cell value = values[0];

    for (size_t i = 1; i < count; i++)
        value = combine(group, kind, value, values[i]);
    return value;
}

/* Returns what the first lane has in the end. */
static cell fold_tree(int64_t group, int32_t kind, const cell *values,
                      size_t count)
{
    cell tree[INTERPRETER_TREE_MAX];

    memcpy(tree, values, count * sizeof *tree);
    for (size_t distance = 1; distance < count; distance *= 2)
        for (size_t i = 0; i + distance < count; i++)
            tree[i] = combine(group, kind, tree[i], tree[i + distance]);
    return tree[0];
}

static cell value_for(interpreter *in, const kiln__ir_node *node, int32_t kind,
                      const item *items, const cell *values, size_t count,
                      size_t self)
{
    size_t source;

    if (node->count == 1)
        return in->launch->by_tree
                   ? fold_tree(node->imm, kind, values, count)
                   : fold_in_turn(node->imm, kind, values, count);
    source = source_of(in, node->imm, items, count, self,
                       machine_operands(&items[self])[1]);
    if (source < count)
        return values[source];
    if (node->imm == KILN__GROUP_SUB_BROADCAST ||
        node->imm == KILN__GROUP_GROUP_BROADCAST)
        machine_end(in, INTERPRETER_UNDEFINED, "a broadcast from nowhere");
    return values[self];
}

/* All items are together at an operation: does it, and lets them go on. */
static void do_together(interpreter *in, item *items, size_t count)
{
    const frame *top = &items[0].frames[items[0].frame_count - 1];
    const kiln__ir_node *node = machine_waits_at(&items[0]);
    const int32_t kind = kiln__ir_kind(&top->function->ir, node->type);
    cell *values = machine_allocate(2 * count, sizeof *values);

    for (size_t i = 0; i < count && node->op == KILN__IR_GROUP; i++)
        values[i] = machine_operands(&items[i])[0];
    for (size_t i = 0; i < count && node->op == KILN__IR_GROUP; i++)
        values[count + i] = value_for(in, node, kind, items, values, count, i);
    for (size_t i = 0; i < count; i++) {
        if (node->op == KILN__IR_GROUP) {
            *machine_operands(&items[i]) = values[count + i];
            items[i].cell_count -= node->count - 1;
        }
        items[i].frames[items[i].frame_count - 1].next++;
        items[i].state = ITEM_READY;
    }
    free(values);
}

/* ---- items ---- */

/* Runs a sub-group up to the next operation of its group. */
static void run_sub_group(interpreter *in, item *items, size_t count)
{
    while (in->result->ending == INTERPRETER_DONE) {
        for (size_t i = 0; i < count; i++)
            machine_run_item(in, &items[i]);
        if (any_is(items, count, ITEM_FAILED) ||
            !any_is(items, count, ITEM_AT_SUB_GROUP))
            return;
        if (!are_together(items, count))
            machine_end(in, INTERPRETER_STUCK, "a sub-group is not together");
        else
            do_together(in, items, count);
    }
}

static void start_item(interpreter *in, const uint64_t local[3])
{
    const function *f = &in->functions[0];
    item *it;

    if (in->item_count == in->item_capacity) {
        const size_t before = in->item_capacity;

        in->items = machine_grow(in->items, &in->item_capacity, before + 1,
                                 sizeof *in->items);
        memset(in->items + before, 0,
               (in->item_capacity - before) * sizeof *in->items);
    }
    it = &in->items[in->item_count];
    in->item_count++;
    it->number = local[0] + in->launch->block[0] *
                                (local[1] + in->launch->block[1] * local[2]);
    it->state = ITEM_READY;
    for (int d = 0; d < 3; d++) {
        it->local_id[d] = local[d];
        it->global_id[d] = in->group_id[d] * in->launch->block[d] + local[d];
    }
    it->frames =
        machine_grow(it->frames, &it->frame_capacity, 1, sizeof *it->frames);
    it->frames[0] = (frame){f, 0, 0};
    it->frame_count = 1;
    it->cells = machine_grow(it->cells, &it->cell_capacity, f->frame + 1u,
                             sizeof *it->cells);
    it->cell_count = f->frame;
    memset(it->cells, 0, f->frame * sizeof *it->cells);
}

/* Arguments are the first locals. */
static void pass_arguments(const interpreter *in, item *it)
{
    const function *f = &in->functions[0];

    for (uint32_t i = 0; i < f->ir.parameter_count; i++) {
        const uint32_t index = f->ir.locals.items[i].type;
        const kiln__ir_type *type = kiln__ir_type_at(&f->ir, index);
        cell *to = &it->cells[f->places[i]];
        const kiln_array *array = in->launch->arguments[i];
        cell stride = 1;

        if (type->kind != KILN_TYPE_ARRAY) {
            memory_load(&f->layouts[index], in->launch->arguments[i], to);
            continue;
        }
        to[0] = (cell)(uintptr_t)array->data;
        for (uint32_t d = 0; d < type->length; d++) {
            to[1 + d] = (cell)array->sizes[d];
            to[1 + type->length + d] =
                type->strided ? (cell)array->strides[d] : stride;
            stride *= (cell)array->sizes[d];
        }
    }
}

static void start_items(interpreter *in)
{
    const interpreter_launch *l = in->launch;
    uint64_t count[3], local[3];

    in->item_count = 0;
    for (int d = 0; d < 3; d++) {
        const uint64_t left = l->grid[d] - in->group_id[d] * l->block[d];

        count[d] = left < l->block[d] ? left : l->block[d];
    }
    for (local[2] = 0; local[2] < count[2]; local[2]++)
        for (local[1] = 0; local[1] < count[1]; local[1]++)
            for (local[0] = 0; local[0] < count[0]; local[0]++) {
                start_item(in, local);
                pass_arguments(in, &in->items[in->item_count - 1]);
            }
}

/* The sub-groups are those of a full group; some of their items may not
   exist. */
static void run_sub_groups(interpreter *in)
{
    const uint64_t lanes = in->launch->sub_group;
    size_t count;

    for (size_t i = 0; i < in->item_count; i += count) {
        item *first = &in->items[i];

        count = 1;
        while (i + count < in->item_count &&
               first[count].number / lanes == first->number / lanes)
            count++;
        run_sub_group(in, first, count);
    }
}

void machine_run_group(interpreter *in)
{
    for (size_t i = 0; i < in->shared_count; i++)
        memset(in->shared[i].bytes, 0xa5, in->shared[i].size);
    start_items(in);
    while (in->result->ending == INTERPRETER_DONE) {
        run_sub_groups(in);
        if (any_is(in->items, in->item_count, ITEM_FAILED) ||
            !any_is(in->items, in->item_count, ITEM_AT_GROUP))
            return;
        if (!are_together(in->items, in->item_count))
            machine_end(in, INTERPRETER_STUCK, "a group is not together");
        else
            do_together(in, in->items, in->item_count);
    }
}
