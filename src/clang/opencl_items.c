/* opencl_items.c - ids and sizes of work-items, groups and sub-groups. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "clang/opencl_calls.h"

/* A launch of Kiln has no offset, and no group that is smaller than others. */

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
                          uint64_t dimension)
{
    return kiln__opencl_call_kiln(
        call, name, kiln__opencl_i64(call),
        (LLVMValueRef[]){kiln__opencl_number(call, dimension)}, 1);
}

LLVMValueRef kiln__opencl_linear(const kiln__opencl_call *call,
                                 const char *sizes, LLVMValueRef *places,
                                 unsigned count)
{
    LLVMValueRef sum = places[count - 1];

    for (unsigned i = count - 1; i-- > 0;) {
        sum = LLVMBuildMul(call->builder, sum, query(call, sizes, i), "");
        sum = LLVMBuildAdd(call->builder, sum, places[i], "");
    }
    return sum;
}

/* The row has the ids and, by its number, whose sizes. */
static LLVMValueRef make_linear(const kiln__opencl_call *call,
                                const kiln__opencl_row *row)
{
    const char *sizes = row->number ? "kiln_global_size" : "kiln_local_size";
    LLVMValueRef ids[3];

    for (unsigned i = 0; i < 3; i++)
        ids[i] = query(call, row->target, i);
    return kiln__opencl_linear(call, sizes, ids, 3);
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
        LLVMValueRef is_used =
            LLVMBuildICmp(call->builder, LLVMIntUGT,
                          query(call, "kiln_global_size", i), one, "");

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
    {"get_local_size", make_query, "kiln_local_size", 0, 1, 1},
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
