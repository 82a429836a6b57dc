/* lower_group_collective.c - emits operations of a group or sub-group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"

#include <math.h>

/*
 * A reduction takes the items in the order of their numbers, so a sum of floats
 * is the same each time. A shuffle from a lane that does not exist returns the
 * item's own value.
 */

typedef struct operation {
    const kiln__ir_node *group;
    const kiln__ir_node *from; /* a LOCAL or CONST */
    const kiln__ir_node *lane; /* a LOCAL or CONST, or NULL */
    const kiln__group_variable *to;
    uint32_t type;
} operation;

static LLVMValueRef number(const kiln__lowering *l, uint64_t value)
{
    return LLVMConstInt(l->i64, value, 0);
}

/* Reads an operand as the item of that number has it. */
static LLVMValueRef read_at(kiln__lowering *l, const kiln__ir_node *node,
                            LLVMValueRef item)
{
    const kiln__group_variable *v;

    if (node->op != KILN__IR_LOCAL)
        return kiln__lower_value(l, (uint32_t)(node - l->ir->nodes.items));
    v = l->group->frame->variables[node->imm];
    if (v->storage == KILN__STORAGE_SLOT)
        return kiln__group_slot_read(l, v, node->type, item);
    if (l->fixed[node->imm])
        return l->locals[node->imm];
    return LLVMBuildLoad2(l->builder, kiln__lower_type_of(l, node->type),
                          v->place, "");
}

/* ---- reductions ---- */

static int is_min(int64_t group)
{
    return group == KILN__GROUP_SUB_MIN || group == KILN__GROUP_GROUP_MIN;
}

static int is_add(int64_t group)
{
    return group == KILN__GROUP_SUB_ADD || group == KILN__GROUP_GROUP_ADD;
}

/* Returns the neutral element of the operation. */
static LLVMValueRef neutral(const kiln__lowering *l, const operation *o)
{
    const int32_t kind = kiln__ir_kind(l->ir, o->type);
    const LLVMTypeRef type = kiln__lower_type_of(l, o->type);
    const int64_t group = o->group->imm;
    const uint32_t width = kiln__kind_width(kind);
    const uint64_t largest = UINT64_MAX >> (64 - width);

    if (group == KILN__GROUP_SUB_ANY || group == KILN__GROUP_SUB_ALL)
        return LLVMConstInt(type, group == KILN__GROUP_SUB_ALL, 0);
    if (kiln__kind_is_float(kind))
        return kiln__float_constant(l->job, kind,
                                    is_add(group) ? -0.0 : (double)NAN);
    if (is_add(group))
        return LLVMConstNull(type);
    if (!kiln__kind_is_signed(kind))
        return LLVMConstInt(type, is_min(group) ? largest : 0, 0);
    return LLVMConstInt(
        type, is_min(group) ? largest >> 1 : (uint64_t)1 << (width - 1), 0);
}

static LLVMValueRef least_or_most(kiln__lowering *l, const operation *o,
                                  LLVMValueRef a, LLVMValueRef b)
{
    const int32_t kind = kiln__ir_kind(l->ir, o->type);
    const int least = is_min(o->group->imm);
    LLVMValueRef both[2] = {a, b};
    const char *name;

    if (kiln__kind_is_float(kind)) {
        const int32_t in = kiln__scalar_of(kind)->mathematics;

        for (int i = 0; i < 2; i++)
            both[i] = kiln__lower_float(l, both[i], kind, in);
        a = kiln__lower_intrinsic(l, least ? "llvm.minnum" : "llvm.maxnum",
                                  LLVMTypeOf(both[0]), both, 2);
        return kiln__lower_float(l, a, in, kind);
    }
    if (kiln__kind_is_signed(kind))
        name = least ? "llvm.smin" : "llvm.smax";
    else
        name = least ? "llvm.umin" : "llvm.umax";
    return kiln__lower_intrinsic(l, name, LLVMTypeOf(a), both, 2);
}

/* Rounded each time. */
static LLVMValueRef add_floats(kiln__lowering *l, const operation *o,
                               LLVMValueRef a, LLVMValueRef b)
{
    const int32_t kind = kiln__ir_kind(l->ir, o->type);
    const int32_t in = kiln__scalar_of(kind)->arithmetic;

    a = kiln__lower_float(l, a, kind, in);
    b = kiln__lower_float(l, b, kind, in);
    a = kiln__lower_flags(l, o->group, LLVMBuildFAdd(l->builder, a, b, ""));
    return kiln__lower_float(l, a, in, kind);
}

static LLVMValueRef combine(kiln__lowering *l, const operation *o,
                            LLVMValueRef a, LLVMValueRef b)
{
    const int32_t kind = kiln__ir_kind(l->ir, o->type);

    switch (o->group->imm) {
    case KILN__GROUP_SUB_ANY:
        return LLVMBuildOr(l->builder, a, b, "");
    case KILN__GROUP_SUB_ALL:
        return LLVMBuildAnd(l->builder, a, b, "");
    case KILN__GROUP_SUB_ADD:
    case KILN__GROUP_GROUP_ADD:
        return kiln__kind_is_float(kind) ? add_floats(l, o, a, b)
                                         : LLVMBuildAdd(l->builder, a, b, "");
    default:
        return least_or_most(l, o, a, b);
    }
}

/* Reduces over the scope's items. */
static LLVMValueRef reduce(kiln__lowering *l, const operation *o)
{
    const LLVMTypeRef type = kiln__lower_type_of(l, o->type);
    const LLVMValueRef place = kiln__group_place(l, type);
    kiln__group_loop loop;
    LLVMValueRef so_far;

    LLVMBuildStore(l->builder, neutral(l, o), place);
    kiln__group_open(l, &loop);
    so_far = LLVMBuildLoad2(l->builder, type, place, "");
    so_far = combine(l, o, so_far, read_at(l, o->from, l->group->number));
    LLVMBuildStore(l->builder, so_far, place);
    kiln__group_close(l, &loop, 0);
    return LLVMBuildLoad2(l->builder, type, place, "");
}

static void give_to_all(kiln__lowering *l, const operation *o,
                        LLVMValueRef value)
{
    kiln__group_loop loop;

    if (o->to->storage != KILN__STORAGE_SLOT) {
        LLVMBuildStore(l->builder, value, o->to->place);
        return;
    }
    kiln__group_open(l, &loop);
    kiln__group_slot_write(l, o->to, o->type, l->group->number, value);
    kiln__group_close(l, &loop, 1);
}

static void reduce_and_give(kiln__lowering *l, void *env)
{
    const operation *o = env;

    give_to_all(l, o, reduce(l, o));
}

/* ---- values of other items ---- */

static LLVMValueRef choose_lane(kiln__lowering *l, const operation *o,
                                LLVMValueRef own, LLVMValueRef given)
{
    switch (o->group->imm) {
    case KILN__GROUP_SHUFFLE_XOR:
        return LLVMBuildXor(l->builder, own, given, "");
    case KILN__GROUP_SHUFFLE_UP:
        return LLVMBuildSub(l->builder, own, given, "");
    case KILN__GROUP_SHUFFLE_DOWN:
        return LLVMBuildAdd(l->builder, own, given, "");
    default:
        return given;
    }
}

/* Returns the number of the item that the current one reads from. */
static LLVMValueRef source(kiln__lowering *l, const operation *o)
{
    const kiln__codegen_groups *hooks = l->job->backend->groups;
    const LLVMValueRef size = number(l, hooks->sub_group_size);
    const LLVMValueRef item = l->group->number;
    const LLVMValueRef own = LLVMBuildURem(l->builder, item, size, "");
    const LLVMValueRef lane = choose_lane(l, o, own, read_at(l, o->lane, item));
    LLVMValueRef from = LLVMBuildSub(l->builder, item, own, ""), fine;

    fine = LLVMBuildICmp(l->builder, LLVMIntULT, lane, size, "");
    from = LLVMBuildSelect(l->builder, fine,
                           LLVMBuildAdd(l->builder, from, lane, ""), item, "");
    fine = hooks->exists(l->job, l->builder, l->item, from);
    return LLVMBuildSelect(l->builder, fine, from, item, "");
}

static void shuffle(kiln__lowering *l, const operation *o)
{
    kiln__group_loop loop;
    LLVMValueRef from;

    kiln__group_open(l, &loop);
    from = source(l, o);
    kiln__group_slot_write(l, o->to, o->type, l->group->number,
                           read_at(l, o->from, from));
    kiln__group_close(l, &loop, 1);
}

/* Takes the value of the item with that id in dimension 0; if there is none,
   that of the first item. */
static void broadcast(kiln__lowering *l, const operation *o)
{
    const kiln__codegen_groups *hooks = l->job->backend->groups;
    LLVMValueRef id = read_at(l, o->lane, l->group->first), fine;

    fine =
        LLVMBuildICmp(l->builder, LLVMIntULT, id,
                      l->job->backend->item->query(l->job, l->builder, l->item,
                                                   KILN__QUERY_LOCAL_SIZE, 0),
                      "");
    id = LLVMBuildSelect(l->builder, fine, id, number(l, 0), "");
    fine = hooks->exists(l->job, l->builder, l->item, id);
    id = LLVMBuildSelect(l->builder, fine, id, number(l, 0), "");
    give_to_all(l, o, read_at(l, o->from, id));
}

void kiln__group_collective(kiln__lowering *l, const kiln__ir_node *set)
{
    const kiln__ir_node *group = kiln__ir_operand_at(l->ir, set, 0);
    operation o = {
        .group = group,
        .from = kiln__ir_operand_at(l->ir, group, 0),
        .to = l->group->frame->variables[set->imm],
        .type = group->type,
    };

    if (group->count > 1)
        o.lane = kiln__ir_operand_at(l->ir, group, 1);
    switch (group->imm) {
    case KILN__GROUP_GROUP_BROADCAST:
        broadcast(l, &o);
        break;
    case KILN__GROUP_GROUP_ADD:
    case KILN__GROUP_GROUP_MIN:
    case KILN__GROUP_GROUP_MAX:
        give_to_all(l, &o, reduce(l, &o));
        break;
    case KILN__GROUP_SHUFFLE:
    case KILN__GROUP_SHUFFLE_XOR:
    case KILN__GROUP_SHUFFLE_UP:
    case KILN__GROUP_SHUFFLE_DOWN:
    case KILN__GROUP_SUB_BROADCAST:
        shuffle(l, &o);
        break;
    default:
        kiln__group_each(l, reduce_and_give, &o);
        break;
    }
}
