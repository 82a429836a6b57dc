/* opencl_items.c - ids and sizes of work-items, groups and sub-groups. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "clang/opencl_calls.h"

/*
 * A launch of Kiln has no offset. Its last groups may have fewer items than it
 * asks for: where the grid ends, their other items are missing. Programs of
 * OpenCL C 2.0 and later may ask for both sizes. For earlier ones a group has
 * the size that the launch asks for, unless it is launched as OpenCL allows it,
 * with full groups only.
 */

static LLVMValueRef make_query(const kiln__opencl_call *call,
                               const kiln__opencl_row *row)
{
    LLVMValueRef dimension = call->arguments[0];

    return kiln__opencl_call_kiln(call, row->target, call->type, &dimension,
                                  call->count);
}

static LLVMValueRef make_zero(const kiln__opencl_call *call,
                              const kiln__opencl_row *row)
{
    (void)row;
    return LLVMConstNull(call->type);
}

static LLVMValueRef query(const kiln__opencl_call *call, const char *name,
                          LLVMValueRef dimension)
{
    return kiln__opencl_call_kiln(call, name, kiln__opencl_i64(call),
                                  &dimension, 1);
}

static LLVMValueRef global_size(const kiln__opencl_call *call,
                                LLVMValueRef dimension)
{
    return query(call, "kiln_global_size", dimension);
}

LLVMValueRef kiln__opencl_full_size(const kiln__opencl_call *call,
                                    LLVMValueRef dimension)
{
    return query(call, "kiln_local_size", dimension);
}

/* The size of the running group. */
static LLVMValueRef local_size(const kiln__opencl_call *call,
                               LLVMValueRef dimension)
{
    LLVMValueRef size = kiln__opencl_full_size(call, dimension), first;

    if (!call->groups_differ)
        return size;
    first = LLVMBuildMul(call->builder, query(call, "kiln_group_id", dimension),
                         size, "");
    return kiln__opencl_call_intrinsic(
        call, "llvm.umin", kiln__opencl_i64(call),
        (LLVMValueRef[]){size,
                         LLVMBuildSub(call->builder,
                                      global_size(call, dimension), first, "")},
        2);
}

static LLVMValueRef make_local_size(const kiln__opencl_call *call,
                                    const kiln__opencl_row *row)
{
    (void)row;
    return local_size(call, call->arguments[0]);
}

LLVMValueRef kiln__opencl_linear(const kiln__opencl_call *call,
                                 kiln__opencl_query size, LLVMValueRef *places,
                                 unsigned count)
{
    LLVMValueRef sum = places[count - 1];

    for (unsigned i = count - 1; i-- > 0;) {
        sum = LLVMBuildMul(call->builder, sum,
                           size(call, kiln__opencl_number(call, i)), "");
        sum = LLVMBuildAdd(call->builder, sum, places[i], "");
    }
    return sum;
}

/* The row has the ids and, by its number, whose sizes. */
static LLVMValueRef make_linear(const kiln__opencl_call *call,
                                const kiln__opencl_row *row)
{
    LLVMValueRef ids[3];

    for (unsigned i = 0; i < 3; i++)
        ids[i] = query(call, row->target, kiln__opencl_number(call, i));
    return kiln__opencl_linear(call, row->number ? global_size : local_size,
                               ids, 3);
}

/* Trailing dimensions of size 1 do not count: a launch of Kiln always has
   three. */
static LLVMValueRef make_dimensions(const kiln__opencl_call *call,
                                    const kiln__opencl_row *row)
{
    LLVMValueRef one = LLVMConstInt(kiln__opencl_i64(call), 1, 0);
    LLVMValueRef count = kiln__opencl_number(call, 1);

    (void)row;
    for (uint64_t i = 1; i < 3; i++) {
        LLVMValueRef is_used = LLVMBuildICmp(
            call->builder, LLVMIntUGT,
            global_size(call, kiln__opencl_number(call, i)), one, "");

        count = LLVMBuildSelect(call->builder, is_used,
                                kiln__opencl_number(call, i + 1), count, "");
    }
    return count;
}

static const kiln__opencl_row rows[] = {
    {"get_global_id", make_query, "kiln_global_id", 0, 1, 1},
    {"get_local_id", make_query, "kiln_local_id", 0, 1, 1},
    {"get_group_id", make_query, "kiln_group_id", 0, 1, 1},
    {"get_global_size", make_query, "kiln_global_size", 0, 1, 1},
    {"get_local_size", make_local_size, "kiln_local_size", 0, 1, 1},
    {"get_enqueued_local_size", make_query, "kiln_local_size", 0, 1, 1},
    {"get_num_groups", make_query, "kiln_group_count", 0, 1, 1},
    {"get_global_offset", make_zero, NULL, 0, 1, 1},
    {"get_global_linear_id", make_linear, "kiln_global_id", 1, 0, 0},
    {"get_local_linear_id", make_linear, "kiln_local_id", 0, 0, 0},
    {"get_work_dim", make_dimensions, NULL, 0, 0, 0},
    {"get_sub_group_size", make_query, "kiln_sub_group_size", 0, 0, 0},
    {"get_max_sub_group_size", make_query, "kiln_sub_group_size", 0, 0, 0},
    {"get_num_sub_groups", make_query, "kiln_sub_group_count", 0, 0, 0},
    {"get_enqueued_num_sub_groups", make_query, "kiln_sub_group_count", 0, 0,
     0},
    {"get_sub_group_id", make_query, "kiln_sub_group_id", 0, 0, 0},
    {"get_sub_group_local_id", make_query, "kiln_lane_id", 0, 0, 0},
};

const kiln__opencl_table kiln__opencl_items = {rows,
                                               sizeof rows / sizeof *rows};
