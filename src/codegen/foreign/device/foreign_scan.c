/* foreign_scan.c - reductions and scans of a group or sub-group, on devices. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <string.h>

#include "codegen/foreign/device/foreign_device.h"
#include "codegen/module/codegen_floats.h"
#include "codegen/module/codegen_values.h"

/*
 * A scan of a sub-group takes log2(lanes) steps. In each of them a lane
 * combines its value with that of the lane at twice the distance of the step
 * before. (This is the scan of Hillis and Steele, "Data parallel algorithms",
 * CACM 1986.) The scan of a group adds the totals of the sub-groups before the
 * item's own, which go through the group's memory. Values are combined in the
 * order of the items, in the same way each time.
 *
 * No value is combined with a neutral element. It is the result only where
 * there is nothing to combine: in the first item, of a scan without its own
 * value.
 */

#define LANES_MAX 64u /* of any sub-group */

/* ---- operations ---- */

typedef struct combination {
    const char *name;
    LLVMOpcode of_integers; /* 0: an intrinsic */
    LLVMOpcode of_floats;
    const char *integer_name; /* of an intrinsic, or NULL */
    const char *float_name;
} combination;

/* By KILN__COMBINE_.... What has neither an opcode nor a name does not exist.
 */
static const combination combinations[] = {
    [KILN__COMBINE_ADD] = {"add", LLVMAdd, LLVMFAdd, NULL, NULL},
    [KILN__COMBINE_MUL] = {"mul", LLVMMul, LLVMFMul, NULL, NULL},
    [KILN__COMBINE_MIN] = {"min", 0, 0, "llvm.smin", "llvm.minnum"},
    [KILN__COMBINE_MAX] = {"max", 0, 0, "llvm.smax", "llvm.maxnum"},
    [KILN__COMBINE_UMIN] = {"umin", 0, 0, "llvm.umin", NULL},
    [KILN__COMBINE_UMAX] = {"umax", 0, 0, "llvm.umax", NULL},
    [KILN__COMBINE_AND] = {"and", LLVMAnd, 0, NULL, NULL},
    [KILN__COMBINE_OR] = {"or", LLVMOr, 0, NULL, NULL},
    [KILN__COMBINE_XOR] = {"xor", LLVMXor, 0, NULL, NULL},
};

int kiln__foreign_read_operation(uint32_t *out, const char **at)
{
    const char *name = *at + 1;
    const size_t size = **at == '.' ? strcspn(name, ".") : 0;

    for (uint32_t i = 0; i < sizeof combinations / sizeof combinations[0]; i++)
        if (size > 0 && strlen(combinations[i].name) == size &&
            memcmp(combinations[i].name, name, size) == 0) {
            *out = i;
            *at = name + size;
            return 1;
        }
    return 0;
}

int kiln__foreign_can_combine(const kiln__device_call *c)
{
    const combination *with = &combinations[c->operation];

    return c->family->bind != kiln__foreign_scan ||
           !kiln__kind_is_float(c->kind) || with->of_floats != 0 ||
           with->float_name != NULL;
}

LLVMValueRef kiln__foreign_combine(const kiln__device_call *c,
                                   LLVMBuilderRef builder, LLVMValueRef a,
                                   LLVMValueRef b)
{
    const combination *with = &combinations[c->operation];
    const int is_float = kiln__kind_is_float(c->kind);
    const LLVMOpcode opcode = is_float ? with->of_floats : with->of_integers;
    const char *name = is_float ? with->float_name : with->integer_name;
    LLVMValueRef both[2] = {a, b};

    if (opcode != 0)
        return LLVMBuildBinOp(builder, opcode, a, b, "");
    return kiln__call_intrinsic(builder, name, LLVMTypeOf(a), both, 2);
}

static LLVMValueRef neutral_integer(const kiln__device_call *c)
{
    const LLVMTypeRef type = kiln__job_scalar(c->job, c->kind);
    const uint64_t sign = (uint64_t)1 << (kiln__kind_width(c->kind) - 1);

    switch (c->operation) {
    case KILN__COMBINE_MUL:
        return LLVMConstInt(type, 1, 0);
    case KILN__COMBINE_MIN:
        return LLVMConstInt(type, sign - 1, 0);
    case KILN__COMBINE_MAX:
        return LLVMConstInt(type, sign, 0);
    case KILN__COMBINE_UMIN:
    case KILN__COMBINE_AND:
        return LLVMConstAllOnes(type);
    default:
        return LLVMConstNull(type);
    }
}

LLVMValueRef kiln__foreign_neutral(const kiln__device_call *c)
{
    if (!kiln__kind_is_float(c->kind))
        return neutral_integer(c);
    switch (c->operation) {
    case KILN__COMBINE_MUL:
        return kiln__float_constant(c->job, c->kind, 1);
    case KILN__COMBINE_MIN:
        return kiln__float_constant(c->job, c->kind, (double)INFINITY);
    case KILN__COMBINE_MAX:
        return kiln__float_constant(c->job, c->kind, -(double)INFINITY);
    default:
        return kiln__float_constant(c->job, c->kind, 0);
    }
}

LLVMValueRef kiln__foreign_identity(const kiln__device_call *c)
{
    if (!kiln__kind_is_float(c->kind))
        return neutral_integer(c);
    switch (c->operation) {
    case KILN__COMBINE_ADD:
        return kiln__float_constant(c->job, c->kind, -0.0);
    case KILN__COMBINE_MUL:
        return kiln__float_constant(c->job, c->kind, 1);
    default:
        return kiln__float_constant(c->job, c->kind, (double)NAN);
    }
}

/* ---- sub-groups ---- */

static LLVMValueRef lane32(const kiln__device_call *c)
{
    return LLVMBuildTrunc(c->builder,
                          kiln__foreign_ask(c, KILN__QUERY_LANE_ID, 0),
                          kiln__job_i32(c->job), "");
}

/* Returns the last lane's value. */
static LLVMValueRef last(const kiln__device_call *c, LLVMValueRef value)
{
    const LLVMValueRef members = LLVMBuildTrunc(
        c->builder, c->job->backend->device->members(c->job, c->builder),
        kiln__job_i32(c->job), "");

    return kiln__foreign_lane(
        c, KILN__GROUP_SUB_BROADCAST, value,
        LLVMBuildSub(c->builder, members, kiln__job_number32(c->job, 1), ""));
}

/* Returns `value` of the lane before; in the first lane `first`. */
static LLVMValueRef before(const kiln__device_call *c, LLVMValueRef value,
                           LLVMValueRef first)
{
    const LLVMValueRef other = kiln__foreign_lane(
        c, KILN__GROUP_SHUFFLE_UP, value, kiln__job_number32(c->job, 1));
    const LLVMValueRef is_first = LLVMBuildICmp(
        c->builder, LLVMIntEQ, lane32(c), kiln__job_number32(c->job, 0), "");

    return LLVMBuildSelect(c->builder, is_first, first, other, "");
}

static LLVMValueRef scan_lanes(const kiln__device_call *c, LLVMValueRef value)
{
    const LLVMValueRef most =
        kiln__foreign_ask(c, KILN__QUERY_SUB_GROUP_SIZE, 0);
    const uint64_t end =
        LLVMIsAConstantInt(most) ? LLVMConstIntGetZExtValue(most) : LANES_MAX;
    const LLVMValueRef lane = lane32(c);

    for (uint32_t distance = 1; distance < end; distance *= 2) {
        const LLVMValueRef step = kiln__job_number32(c->job, distance);
        const LLVMValueRef other =
            kiln__foreign_lane(c, KILN__GROUP_SHUFFLE_UP, value, step);
        const LLVMValueRef exists =
            LLVMBuildICmp(c->builder, LLVMIntUGE, lane, step, "");

        value = LLVMBuildSelect(
            c->builder, exists,
            kiln__foreign_combine(c, c->builder, other, value), value, "");
    }
    return value;
}

LLVMValueRef kiln__foreign_scan_in_sub_group(const kiln__device_call *c,
                                             uint32_t which, LLVMValueRef value)
{
    value = scan_lanes(c, value);
    if (which == KILN__SCAN_ALL)
        return last(c, value);
    return which == KILN__SCAN_WITH
               ? value
               : before(c, value, kiln__foreign_neutral(c));
}

/* ---- groups ---- */

static LLVMTypeRef total_type(const kiln__device_call *c, LLVMTypeRef pointer)
{
    LLVMTypeRef types[2] = {pointer, kiln__job_i64(c->job)};

    return LLVMFunctionType(kiln__job_scalar(c->job, c->kind), types, 2, 0);
}

/* Builds `T total(T *values, i64 count)`, which combines them; `count` is at
   least 1. */
static void build_total(const kiln__device_call *c, LLVMValueRef function)
{
    const LLVMContextRef context = c->job->context;
    const LLVMTypeRef type = kiln__job_scalar(c->job, c->kind);
    const LLVMValueRef values = LLVMGetParam(function, 0);
    LLVMBasicBlockRef start =
        LLVMAppendBasicBlockInContext(context, function, "");
    LLVMBasicBlockRef head =
        LLVMAppendBasicBlockInContext(context, function, "");
    LLVMBasicBlockRef body =
        LLVMAppendBasicBlockInContext(context, function, "");
    LLVMBasicBlockRef end =
        LLVMAppendBasicBlockInContext(context, function, "");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMValueRef one = kiln__job_number64(c->job, 1);
    LLVMValueRef index, sum, next, first, at;

    LLVMPositionBuilderAtEnd(b, start);
    first = LLVMBuildLoad2(b, type, values, "");
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    index = LLVMBuildPhi(b, kiln__job_i64(c->job), "");
    sum = LLVMBuildPhi(b, type, "");
    LLVMBuildCondBr(
        b, LLVMBuildICmp(b, LLVMIntULT, index, LLVMGetParam(function, 1), ""),
        body, end);
    LLVMPositionBuilderAtEnd(b, body);
    at = LLVMBuildInBoundsGEP2(b, type, values, &index, 1, "");
    next = kiln__foreign_combine(c, b, sum, LLVMBuildLoad2(b, type, at, ""));
    LLVMAddIncoming(sum, (LLVMValueRef[]){first, next},
                    (LLVMBasicBlockRef[]){start, body}, 2);
    next = LLVMBuildNUWAdd(b, index, one, "");
    LLVMAddIncoming(index, (LLVMValueRef[]){one, next},
                    (LLVMBasicBlockRef[]){start, body}, 2);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, end);
    LLVMBuildRet(b, sum);
    LLVMDisposeBuilder(b);
}

static LLVMValueRef total_function(const kiln__device_call *c,
                                   LLVMTypeRef pointer)
{
    const char *name = kiln__arena_format(&c->job->arena, "kiln.total.%s.%s",
                                          combinations[c->operation].name,
                                          kiln__kind_name(c->kind));
    LLVMValueRef function =
        name == NULL ? NULL : LLVMGetNamedFunction(c->job->module, name);

    if (function != NULL)
        return function;
    function = LLVMAddFunction(c->job->module, name != NULL ? name : "",
                               total_type(c, pointer));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    kiln__add_attribute(function, "nounwind");
    kiln__add_attribute(function, "alwaysinline");
    build_total(c, function);
    return function;
}

static LLVMValueRef total(const kiln__device_call *c, LLVMValueRef shared,
                          LLVMValueRef count)
{
    const LLVMTypeRef pointer = LLVMTypeOf(shared);
    LLVMValueRef arguments[2] = {shared, count};

    return LLVMBuildCall2(c->builder, total_type(c, pointer),
                          total_function(c, pointer), arguments, 2, "");
}

/* Returns how many sub-groups a group has at most. */
static uint64_t sub_groups_most(const kiln__device_call *c)
{
    const LLVMValueRef lanes =
        kiln__foreign_ask(c, KILN__QUERY_SUB_GROUP_SIZE, 0);
    const uint64_t items = c->job->backend->device->group_most(c->job);
    const uint64_t size =
        LLVMIsAConstantInt(lanes) ? LLVMConstIntGetZExtValue(lanes) : 1;

    /* There are no lanes if the target has no sub-groups, and the job has
       failed. */
    return size > 0 ? (items + size - 1) / size : 1;
}

/* Combines what the sub-groups before this one have with the item's own. */
static LLVMValueRef after_others(const kiln__device_call *c,
                                 LLVMValueRef others, LLVMValueRef own)
{
    const LLVMValueRef is_first =
        LLVMBuildICmp(c->builder, LLVMIntEQ,
                      kiln__foreign_ask(c, KILN__QUERY_SUB_GROUP_ID, 0),
                      kiln__job_number64(c->job, 0), "");

    return LLVMBuildSelect(c->builder, is_first, own,
                           kiln__foreign_combine(c, c->builder, others, own),
                           "");
}

LLVMValueRef kiln__foreign_scan_in_group(const kiln__device_call *c,
                                         uint32_t which, LLVMValueRef value)
{
    const LLVMBuilderRef b = c->builder;
    const kiln__codegen_device *device = c->job->backend->device;
    const LLVMValueRef totals =
        kiln__foreign_shared(c, "totals", sub_groups_most(c));
    const LLVMValueRef own = kiln__foreign_ask(c, KILN__QUERY_SUB_GROUP_ID, 0);
    LLVMValueRef count, result;

    value = scan_lanes(c, value);
    kiln__foreign_put(c, totals, own, last(c, value));
    device->barrier(c->job, b, c->item);
    count = which == KILN__SCAN_ALL
                ? LLVMBuildZExt(b, kiln__foreign_sub_group_count(c),
                                kiln__job_i64(c->job), "")
                : own;
    result = total(c, totals, count);
    device->barrier(c->job, b, c->item);
    if (which == KILN__SCAN_ALL)
        return result;
    if (which == KILN__SCAN_WITH)
        return after_others(c, result, value);
    return before(
        c, after_others(c, result, value),
        LLVMBuildSelect(
            b,
            LLVMBuildICmp(b, LLVMIntEQ, own, kiln__job_number64(c->job, 0), ""),
            kiln__foreign_neutral(c), result, ""));
}

LLVMValueRef kiln__foreign_scan(const kiln__device_call *c)
{
    const uint32_t scope = kiln__foreign_scope(c);

    if (kiln__foreign_has_steps(c))
        return kiln__foreign_scan_by_step(c, scope, c->family->number,
                                          c->arguments[1]);
    switch (scope) {
    case KILN__SCOPE_SUB_GROUP:
        return kiln__foreign_scan_in_sub_group(c, c->family->number,
                                               c->arguments[1]);
    case KILN__SCOPE_GROUP:
        return kiln__foreign_scan_in_group(c, c->family->number,
                                           c->arguments[1]);
    default:
        return NULL;
    }
}
