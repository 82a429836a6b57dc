/* opencl_atomics.c - atomic functions of OpenCL C 1.2 and 2.0. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "clang/opencl_calls.h"

#include <string.h>

/*
 * The functions of 1.2 are relaxed. Their scope is the device; for group
 * memory, which no other group sees, it is the group. Those of 2.0 take order
 * and scope as last arguments, or are sequentially consistent for the device.
 * An order or scope that is no constant is taken for the strongest.
 */

typedef struct strength {
    LLVMAtomicOrdering order;
    LLVMAtomicOrdering failure; /* of a comparison that fails */
    const char *scope;
} strength;

/* By the numbers of C11's memory_order. */
static LLVMAtomicOrdering order_of(LLVMValueRef order)
{
    static const LLVMAtomicOrdering orders[] = {
        LLVMAtomicOrderingMonotonic,
        LLVMAtomicOrderingAcquire,
        LLVMAtomicOrderingAcquire,
        LLVMAtomicOrderingRelease,
        LLVMAtomicOrderingAcquireRelease,
        LLVMAtomicOrderingSequentiallyConsistent};

    if (LLVMIsAConstantInt(order) == NULL ||
        LLVMConstIntGetZExtValue(order) >= 6)
        return LLVMAtomicOrderingSequentiallyConsistent;
    return orders[LLVMConstIntGetZExtValue(order)];
}

/* By the numbers of memory_scope: item, group, device, system, sub-group. */
static const char *scope_of(LLVMValueRef scope)
{
    static const char *const scopes[] = {"subgroup", "workgroup", "agent", "",
                                         "subgroup"};

    if (LLVMIsAConstantInt(scope) == NULL ||
        LLVMConstIntGetZExtValue(scope) >= 5)
        return "";
    return scopes[LLVMConstIntGetZExtValue(scope)];
}

static int is_group_memory(LLVMValueRef pointer)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == 3;
}

static strength of_1_2(const kiln__opencl_call *call)
{
    return (strength){LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic,
                      is_group_memory(call->arguments[0]) ? "workgroup"
                                                          : "agent"};
}

/* `first`: how many arguments come before the orders; `orders`: how many of
   these there are. */
static strength of_2_0(const kiln__opencl_call *call, unsigned first,
                       unsigned orders)
{
    strength s = {LLVMAtomicOrderingSequentiallyConsistent,
                  LLVMAtomicOrderingSequentiallyConsistent, "agent"};

    if (call->count > first)
        s.order = s.failure = order_of(call->arguments[first]);
    if (orders > 1 && call->count > first + 1)
        s.failure = order_of(call->arguments[first + 1]);
    if (call->count > first + orders)
        s.scope = scope_of(call->arguments[first + orders]);
    return s;
}

/* The order without what loads (Release) or stores (Acquire) cannot have. */
static LLVMAtomicOrdering without(LLVMAtomicOrdering part,
                                  LLVMAtomicOrdering order)
{
    if (order == part)
        return LLVMAtomicOrderingMonotonic;
    if (order != LLVMAtomicOrderingAcquireRelease)
        return order;
    return part == LLVMAtomicOrderingRelease ? LLVMAtomicOrderingAcquire
                                             : LLVMAtomicOrderingRelease;
}

static unsigned scope_id(const kiln__opencl_call *call, const char *scope)
{
    return LLVMGetSyncScopeID(call->context, scope, strlen(scope));
}

/* Atomic accesses are aligned to their size. */
static void set_access(const kiln__opencl_call *call, LLVMValueRef made,
                       LLVMTypeRef type, const strength *s)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    const unsigned bits = kind == LLVMIntegerTypeKind
                              ? LLVMGetIntTypeWidth(type)
                          : kind == LLVMFloatTypeKind ? 32
                                                      : 64;

    LLVMSetAlignment(made, bits / 8);
    LLVMSetAtomicSyncScopeID(made, scope_id(call, s->scope));
}

/* ---- operations that read and write ---- */

static LLVMValueRef build_rmw(const kiln__opencl_call *call,
                              LLVMAtomicRMWBinOp operation, LLVMValueRef value,
                              const strength *s)
{
    return LLVMBuildAtomicRMWSyncScope(call->builder, operation,
                                       call->arguments[0], value, s->order,
                                       scope_id(call, s->scope));
}

/* The operation of the row, for integers without a sign and for floats. */
static LLVMAtomicRMWBinOp operation_of(const kiln__opencl_call *call,
                                       const kiln__opencl_row *row,
                                       LLVMTypeRef type)
{
    const LLVMAtomicRMWBinOp operation = (LLVMAtomicRMWBinOp)row->number;
    const int is_float = kiln__opencl_is_float(type);
    const int is_unsigned = kiln__opencl_is_unsigned(call);

    if (operation == LLVMAtomicRMWBinOpAdd)
        return is_float ? LLVMAtomicRMWBinOpFAdd : operation;
    if (operation == LLVMAtomicRMWBinOpSub)
        return is_float ? LLVMAtomicRMWBinOpFSub : operation;
    if (operation == LLVMAtomicRMWBinOpMin && is_float)
        return LLVMAtomicRMWBinOpFMin;
    if (operation == LLVMAtomicRMWBinOpMax && is_float)
        return LLVMAtomicRMWBinOpFMax;
    if (operation == LLVMAtomicRMWBinOpMin && is_unsigned)
        return LLVMAtomicRMWBinOpUMin;
    if (operation == LLVMAtomicRMWBinOpMax && is_unsigned)
        return LLVMAtomicRMWBinOpUMax;
    return operation;
}

static LLVMValueRef make_rmw(const kiln__opencl_call *call,
                             const kiln__opencl_row *row)
{
    const strength s = of_1_2(call);

    return build_rmw(call, operation_of(call, row, call->type),
                     call->arguments[1], &s);
}

/* inc and dec */
static LLVMValueRef make_step(const kiln__opencl_call *call,
                              const kiln__opencl_row *row)
{
    const strength s = of_1_2(call);

    return build_rmw(call, (LLVMAtomicRMWBinOp)row->number,
                     LLVMConstInt(call->type, 1, 0), &s);
}

static LLVMValueRef make_fetch(const kiln__opencl_call *call,
                               const kiln__opencl_row *row)
{
    const strength s = of_2_0(call, 2, 1);
    LLVMValueRef value = call->arguments[1];

    /* Pointers as integers take a difference of another width. */
    if (LLVMTypeOf(value) != call->type && !kiln__opencl_is_float(call->type))
        value = LLVMBuildIntCast2(call->builder, value, call->type, 1, "");
    return build_rmw(call, operation_of(call, row, call->type), value, &s);
}

/* ---- comparing ---- */

static LLVMValueRef build_compare(const kiln__opencl_call *call,
                                  LLVMValueRef expected, LLVMValueRef wanted,
                                  const strength *s)
{
    return LLVMBuildAtomicCmpXchgSyncScope(
        call->builder, call->arguments[0], expected, wanted, s->order,
        s->failure, scope_id(call, s->scope));
}

static LLVMValueRef make_compare(const kiln__opencl_call *call,
                                 const kiln__opencl_row *row)
{
    const strength s = of_1_2(call);
    LLVMValueRef pair =
        build_compare(call, call->arguments[1], call->arguments[2], &s);

    (void)row;
    return LLVMBuildExtractValue(call->builder, pair, 0, "");
}

/* What was found is stored in every case: it is what was expected if the
   exchange took place. Floats are compared by their bits. */
static LLVMValueRef make_compare_exchange(const kiln__opencl_call *call,
                                          const kiln__opencl_row *row)
{
    strength s = of_2_0(call, 3, 2);
    LLVMTypeRef type = LLVMTypeOf(call->arguments[2]);
    LLVMTypeRef bits = type;
    LLVMValueRef wanted = call->arguments[2], pair, expected;

    if (kiln__opencl_is_float(type))
        bits = LLVMGetTypeKind(type) == LLVMFloatTypeKind
                   ? kiln__opencl_i32(call)
                   : kiln__opencl_i64(call);
    /* A failed comparison stores nothing. */
    s.failure = without(LLVMAtomicOrderingRelease, s.failure);
    wanted = LLVMBuildBitCast(call->builder, wanted, bits, "");
    expected = LLVMBuildLoad2(call->builder, bits, call->arguments[1], "");
    pair = build_compare(call, expected, wanted, &s);
    LLVMSetWeak(pair, row->number);
    (void)LLVMBuildStore(call->builder,
                         LLVMBuildExtractValue(call->builder, pair, 0, ""),
                         call->arguments[1]);
    return LLVMBuildZExtOrBitCast(
        call->builder, LLVMBuildExtractValue(call->builder, pair, 1, ""),
        call->type, "");
}

/* ---- loads, stores, flags ---- */

static LLVMValueRef make_load(const kiln__opencl_call *call,
                              const kiln__opencl_row *row)
{
    const strength s = of_2_0(call, 1, 1);
    LLVMValueRef made =
        LLVMBuildLoad2(call->builder, call->type, call->arguments[0], "");

    (void)row;
    LLVMSetOrdering(made, without(LLVMAtomicOrderingRelease, s.order));
    set_access(call, made, call->type, &s);
    return made;
}

static LLVMValueRef build_store(const kiln__opencl_call *call,
                                LLVMValueRef value, const strength *s)
{
    LLVMValueRef made =
        LLVMBuildStore(call->builder, value, call->arguments[0]);

    LLVMSetOrdering(made, without(LLVMAtomicOrderingAcquire, s->order));
    set_access(call, made, LLVMTypeOf(value), s);
    return made;
}

static LLVMValueRef make_store(const kiln__opencl_call *call,
                               const kiln__opencl_row *row)
{
    const strength s = of_2_0(call, 2, 1);

    (void)row;
    return build_store(call, call->arguments[1], &s);
}

static LLVMValueRef make_init(const kiln__opencl_call *call,
                              const kiln__opencl_row *row)
{
    (void)row;
    return LLVMBuildStore(call->builder, call->arguments[1],
                          call->arguments[0]);
}

/* A flag is an i32. */
static LLVMValueRef make_flag_set(const kiln__opencl_call *call,
                                  const kiln__opencl_row *row)
{
    const strength s = of_2_0(call, 1, 1);
    LLVMValueRef before = build_rmw(call, (LLVMAtomicRMWBinOp)row->number,
                                    kiln__opencl_number(call, 1), &s);

    return LLVMBuildZExtOrBitCast(
        call->builder, kiln__opencl_truth(call, before), call->type, "");
}

static LLVMValueRef make_flag_clear(const kiln__opencl_call *call,
                                    const kiln__opencl_row *row)
{
    const strength s = of_2_0(call, 1, 1);

    (void)row;
    return build_store(call, kiln__opencl_number(call, 0), &s);
}

#define BOTH(name, operation) \
    {"atomic_" name, make_rmw, NULL, (operation), 2, 2}, \
    { \
        "atom_" name, make_rmw, NULL, (operation), 2, 2 \
    }
#define STEP(name, operation) \
    {"atomic_" name, make_step, NULL, (operation), 1, 1}, \
    { \
        "atom_" name, make_step, NULL, (operation), 1, 1 \
    }
#define EXPLICIT(name, make, number, least, most) \
    {name, (make), NULL, (number), (least), (least)}, \
    { \
        name "_explicit", (make), NULL, (number), (least) + 1, (most) \
    }

static const kiln__opencl_row rows[] = {
    BOTH("add", LLVMAtomicRMWBinOpAdd),
    BOTH("sub", LLVMAtomicRMWBinOpSub),
    BOTH("xchg", LLVMAtomicRMWBinOpXchg),
    BOTH("min", LLVMAtomicRMWBinOpMin),
    BOTH("max", LLVMAtomicRMWBinOpMax),
    BOTH("and", LLVMAtomicRMWBinOpAnd),
    BOTH("or", LLVMAtomicRMWBinOpOr),
    BOTH("xor", LLVMAtomicRMWBinOpXor),
    STEP("inc", LLVMAtomicRMWBinOpAdd),
    STEP("dec", LLVMAtomicRMWBinOpSub),
    {"atomic_cmpxchg", make_compare, NULL, 0, 3, 3},
    {"atom_cmpxchg", make_compare, NULL, 0, 3, 3},
    EXPLICIT("atomic_exchange", make_fetch, LLVMAtomicRMWBinOpXchg, 2, 4),
    EXPLICIT("atomic_fetch_add", make_fetch, LLVMAtomicRMWBinOpAdd, 2, 4),
    EXPLICIT("atomic_fetch_sub", make_fetch, LLVMAtomicRMWBinOpSub, 2, 4),
    EXPLICIT("atomic_fetch_min", make_fetch, LLVMAtomicRMWBinOpMin, 2, 4),
    EXPLICIT("atomic_fetch_max", make_fetch, LLVMAtomicRMWBinOpMax, 2, 4),
    EXPLICIT("atomic_fetch_and", make_fetch, LLVMAtomicRMWBinOpAnd, 2, 4),
    EXPLICIT("atomic_fetch_or", make_fetch, LLVMAtomicRMWBinOpOr, 2, 4),
    EXPLICIT("atomic_fetch_xor", make_fetch, LLVMAtomicRMWBinOpXor, 2, 4),
    EXPLICIT("atomic_compare_exchange_strong", make_compare_exchange, 0, 3, 6),
    EXPLICIT("atomic_compare_exchange_weak", make_compare_exchange, 1, 3, 6),
    EXPLICIT("atomic_load", make_load, 0, 1, 3),
    EXPLICIT("atomic_store", make_store, 0, 2, 4),
    {"atomic_init", make_init, NULL, 0, 2, 2},
    EXPLICIT("atomic_flag_test_and_set", make_flag_set, LLVMAtomicRMWBinOpXchg,
             1, 3),
    EXPLICIT("atomic_flag_clear", make_flag_clear, 0, 1, 3),
};

const kiln__opencl_table kiln__opencl_atomics = {rows,
                                                 sizeof rows / sizeof *rows};
