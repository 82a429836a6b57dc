/* opencl_groups.c - barriers, fences, and functions of groups. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "clang/opencl_calls.h"

#include <stdio.h>

/* Scopes of kiln_barrier() and the collective functions. */
enum { SUB_GROUP = 1, GROUP = 2 };

/* ---- barriers and fences ---- */

/* Both sides number group memory 1 and global memory 2; images are left out. */
static LLVMValueRef memory(const kiln__opencl_call *call, LLVMValueRef flags)
{
    return LLVMBuildAnd(call->builder, flags, kiln__opencl_number(call, 3), "");
}

/* The second argument of work_group_barrier(), a scope, says nothing here: a
   barrier of Kiln orders memory for the device. */
static LLVMValueRef make_barrier(const kiln__opencl_call *call,
                                 const kiln__opencl_row *row)
{
    LLVMValueRef arguments[] = {
        kiln__opencl_number(call, (uint64_t)row->number),
        memory(call, call->arguments[0])};

    return kiln__opencl_call_kiln(call, "kiln_barrier", call->type, arguments,
                                  2);
}

static LLVMValueRef make_mem_fence(const kiln__opencl_call *call,
                                   const kiln__opencl_row *row)
{
    LLVMValueRef arguments[] = {
        kiln__opencl_number(call, GROUP), memory(call, call->arguments[0]),
        kiln__opencl_number(call, (uint64_t)row->number)};

    return kiln__opencl_call_kiln(call, "kiln_fence", call->type, arguments, 3);
}

/* Scopes of OpenCL C, as Kiln numbers them. */
static uint64_t scope_of(LLVMValueRef scope)
{
    static const uint64_t scopes[] = {1, 2, 3, 4, 1};
    const int is_known = LLVMIsAConstantInt(scope) != NULL &&
                         LLVMConstIntGetZExtValue(scope) < 5;

    return is_known ? scopes[LLVMConstIntGetZExtValue(scope)] : 4;
}

static LLVMValueRef make_item_fence(const kiln__opencl_call *call,
                                    const kiln__opencl_row *row)
{
    LLVMValueRef order = call->arguments[1];
    LLVMValueRef arguments[] = {
        kiln__opencl_number(call, scope_of(call->arguments[2])),
        memory(call, call->arguments[0]), order};

    (void)row;
    if (LLVMIsAConstantInt(order) == NULL)
        arguments[2] = kiln__opencl_number(call, 5);
    else if (LLVMConstIntGetZExtValue(order) == 0)
        return order; /* a relaxed fence does nothing */
    return kiln__opencl_call_kiln(call, "kiln_fence", call->type, arguments, 3);
}

/* ---- collective functions ---- */

/* The ending of Kiln's functions for the type, or NULL. */
static const char *suffix(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);

    if (kind == LLVMFloatTypeKind)
        return "f32";
    if (kind == LLVMDoubleTypeKind)
        return "f64";
    if (kind != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) % 32 != 0)
        return NULL;
    return LLVMGetIntTypeWidth(type) == 32 ? "i32" : "i64";
}

/* any and all: the row's target, for the row's scope. */
static LLVMValueRef make_vote(const kiln__opencl_call *call,
                              const kiln__opencl_row *row)
{
    LLVMValueRef truth = kiln__opencl_truth(call, call->arguments[0]);
    LLVMValueRef arguments[] = {
        kiln__opencl_number(call, (uint64_t)row->number), truth};

    truth = kiln__opencl_call_kiln(
        call, row->target, LLVMInt1TypeInContext(call->context), arguments, 2);
    return LLVMBuildZExt(call->builder, truth, call->type, "");
}

/* Calls a function of the row's scope whose name ends in the type, and for
   minima and maxima of unsigned integers in `u` and the operation. */
static LLVMValueRef make_collective(const kiln__opencl_call *call,
                                    const kiln__opencl_row *row)
{
    LLVMValueRef arguments[] = {
        kiln__opencl_number(call, (uint64_t)row->number), call->arguments[0]};
    const char *type = suffix(call->type);
    const char *dot = row->target;
    char name[64];
    int is_minmax;

    if (type == NULL)
        return NULL;
    while (*dot != '.')
        dot++;
    is_minmax = dot[1] == 'm';
    (void)snprintf(name, sizeof name, "kiln_%.*s.%s%s.%s",
                   (int)(dot - row->target), row->target,
                   is_minmax && kiln__opencl_is_unsigned(call) ? "u" : "",
                   dot + 1, type);
    return kiln__opencl_call_kiln(call, name, call->type, arguments, 2);
}

/* The number of an item in its group, from the ids that the call gives. */
static LLVMValueRef item_number(const kiln__opencl_call *call)
{
    LLVMValueRef ids[3];
    const unsigned count = call->count - 1;

    for (unsigned i = 0; i < count; i++)
        ids[i] = call->arguments[i + 1];
    return LLVMBuildIntCast2(
        call->builder,
        kiln__opencl_linear(call, kiln__opencl_full_size, ids, count),
        kiln__opencl_i32(call), 0, "");
}

static LLVMValueRef make_broadcast(const kiln__opencl_call *call,
                                   const kiln__opencl_row *row)
{
    const char *type = suffix(call->type);
    LLVMValueRef arguments[3];
    char name[64];

    if (type == NULL)
        return NULL;
    (void)snprintf(name, sizeof name, "kiln_broadcast.%s", type);
    arguments[0] = kiln__opencl_number(call, (uint64_t)row->number);
    arguments[1] = call->arguments[0];
    arguments[2] = item_number(call);
    return kiln__opencl_call_kiln(call, name, call->type, arguments, 3);
}

static LLVMValueRef make_shuffle(const kiln__opencl_call *call,
                                 const kiln__opencl_row *row)
{
    const char *type = suffix(call->type);
    LLVMValueRef arguments[] = {call->arguments[0], call->arguments[1]};
    char name[64];

    if (type == NULL)
        return NULL;
    (void)snprintf(name, sizeof name, "%s.%s", row->target, type);
    return kiln__opencl_call_kiln(call, name, call->type, arguments, 2);
}

/* Four words, of which Kiln's sub-groups fill two at most. */
static LLVMValueRef make_ballot(const kiln__opencl_call *call,
                                const kiln__opencl_row *row)
{
    LLVMTypeRef pair = LLVMVectorType(kiln__opencl_i32(call), 2);
    LLVMValueRef truth = kiln__opencl_truth(call, call->arguments[0]);
    LLVMValueRef bits = kiln__opencl_call_kiln(
        call, row->target, kiln__opencl_i64(call), &truth, 1);
    LLVMValueRef places[4];

    for (unsigned i = 0; i < 4; i++)
        places[i] = kiln__opencl_number(call, i);
    bits = LLVMBuildBitCast(call->builder, bits, pair, "");
    return LLVMBuildShuffleVector(call->builder, bits, LLVMConstNull(pair),
                                  LLVMConstVector(places, 4), "");
}

#define COLLECTIVE(name, target, scope) \
    { \
        name, make_collective, target, scope, 1, 1 \
    }
#define COLLECTIVES(operation) \
    COLLECTIVE("work_group_reduce_" operation, "reduce." operation, GROUP), \
        COLLECTIVE("work_group_scan_inclusive_" operation, "scan." operation, \
                   GROUP), \
        COLLECTIVE("work_group_scan_exclusive_" operation, \
                   "exscan." operation, GROUP), \
        COLLECTIVE("sub_group_reduce_" operation, "reduce." operation, \
                   SUB_GROUP), \
        COLLECTIVE("sub_group_scan_inclusive_" operation, "scan." operation, \
                   SUB_GROUP), \
        COLLECTIVE("sub_group_scan_exclusive_" operation, "exscan." operation, \
                   SUB_GROUP)

static const kiln__opencl_row rows[] = {
    {"barrier", make_barrier, NULL, GROUP, 1, 2},
    {"work_group_barrier", make_barrier, NULL, GROUP, 1, 2},
    {"sub_group_barrier", make_barrier, NULL, SUB_GROUP, 1, 2},
    {"mem_fence", make_mem_fence, NULL, 4, 1, 1},
    {"read_mem_fence", make_mem_fence, NULL, 2, 1, 1},
    {"write_mem_fence", make_mem_fence, NULL, 3, 1, 1},
    {"atomic_work_item_fence", make_item_fence, NULL, 0, 3, 3},
    {"work_group_all", make_vote, "kiln_all", GROUP, 1, 1},
    {"work_group_any", make_vote, "kiln_any", GROUP, 1, 1},
    {"sub_group_all", make_vote, "kiln_all", SUB_GROUP, 1, 1},
    {"sub_group_any", make_vote, "kiln_any", SUB_GROUP, 1, 1},
    {"work_group_broadcast", make_broadcast, NULL, GROUP, 2, 4},
    {"sub_group_broadcast", make_broadcast, NULL, SUB_GROUP, 2, 4},
    {"sub_group_shuffle", make_shuffle, "kiln_shuffle", 0, 2, 2},
    {"sub_group_shuffle_xor", make_shuffle, "kiln_shuffle_xor", 0, 2, 2},
    {"sub_group_shuffle_up", make_shuffle, "kiln_shuffle_up", 0, 2, 2},
    {"sub_group_shuffle_down", make_shuffle, "kiln_shuffle_down", 0, 2, 2},
    {"sub_group_ballot", make_ballot, "kiln_ballot", 0, 1, 1},
    COLLECTIVES("add"),
    COLLECTIVES("min"),
    COLLECTIVES("max"),
};

const kiln__opencl_table kiln__opencl_groups = {rows,
                                                sizeof rows / sizeof *rows};
