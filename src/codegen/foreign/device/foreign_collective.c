/* foreign_collective.c - what the items of a group do together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"

/*
 * On devices the items of a group run side by side, and the backend offers
 * barriers and the exchange of values within a sub-group. On the host they run
 * one after the other; what they do there is in foreign_together.c.
 */

/* ---- scopes ---- */

static void refuse(const kiln__device_call *c, const char *why)
{
    (void)kiln__foreign_refuse_call(c->job, c->name, why);
}

uint32_t kiln__foreign_scope(const kiln__device_call *c)
{
    const LLVMValueRef scope = c->arguments[0];
    uint64_t number = 0;

    if (LLVMIsAConstantInt(scope))
        number = LLVMConstIntGetZExtValue(scope);
    if (number == KILN__SCOPE_SUB_GROUP || number == KILN__SCOPE_GROUP)
        return (uint32_t)number;
    refuse(c, "its scope is the constant 1 (sub-group) or 2 (group)");
    return 0;
}

/* ---- barriers ---- */

/* Where an item that raised must come to each barrier, a module that is bound
   to its target has no way to bring it there. */
static int waits_for_ever(const kiln__device_call *c)
{
    return c->raises && c->job->backend->device->converge != NULL;
}

LLVMValueRef kiln__foreign_barrier(const kiln__device_call *c)
{
    const kiln__codegen_device *device = c->job->backend->device;
    const uint32_t scope = kiln__foreign_scope(c);

    if (kiln__foreign_has_steps(c))
        kiln__foreign_wait(c);
    else if (scope == KILN__SCOPE_SUB_GROUP)
        device->sub_group_barrier(c->job, c->builder);
    else if (scope == KILN__SCOPE_GROUP && waits_for_ever(c))
        (void)kiln__job_fail(c->job, KILN_EUNSUPPORTED,
                             "the module has barriers and raises exceptions; "
                             "on backend '%s' it can do only one of them",
                             c->job->settings->backend);
    else if (scope == KILN__SCOPE_GROUP)
        device->barrier(c->job, c->builder, c->item);
    return NULL;
}

LLVMValueRef kiln__foreign_meet(const kiln__device_call *c)
{
    const kiln__codegen_device *device = c->job->backend->device;

    device->converge(c->job, c->builder, c->item);
    return device->group_failed(c->job, c->builder, c->item);
}

/* What the device does has paths of its own, so it stands between two blocks.
 */
LLVMValueRef kiln__foreign_raised(const kiln__device_call *c)
{
    const LLVMBasicBlockRef head = LLVMGetInstructionParent(c->call);
    LLVMBasicBlockRef rest;

    rest = kiln__llvm_split_before(c->call);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(head));
    LLVMPositionBuilderAtEnd(c->builder, head);
    c->job->backend->device->fail(c->job, c->builder, c->item);
    LLVMBuildBr(c->builder, rest);
    return NULL;
}

/* ---- exchange ---- */

static LLVMValueRef collect(const kiln__device_call *c, uint32_t operation,
                            LLVMValueRef value, LLVMValueRef operand)
{
    const kiln__codegen_collective collective = {
        .operation = operation,
        .kind = c->kind == KILN_TYPE_NONE ? KILN_TYPE_BOOL : c->kind,
        .value = value,
        .operand = operand,
    };

    return c->job->backend->device->collective(c->job, c->builder, c->item,
                                               &collective);
}

LLVMValueRef kiln__foreign_lane(const kiln__device_call *c, uint32_t operation,
                                LLVMValueRef value, LLVMValueRef lane)
{
    if (kiln__foreign_has_steps(c))
        return kiln__foreign_lane_by_step(c, operation, value, lane);
    return collect(c, operation, value,
                   LLVMBuildZExt(c->builder, lane, kiln__job_i64(c->job), ""));
}

LLVMValueRef kiln__foreign_shuffle(const kiln__device_call *c)
{
    return kiln__foreign_lane(c, c->family->number, c->arguments[0],
                              c->arguments[1]);
}

/* ---- memory that the group shares ---- */

LLVMValueRef kiln__foreign_shared(const kiln__device_call *c, const char *what,
                                  uint64_t count)
{
    const LLVMTypeRef type =
        LLVMArrayType2(kiln__job_scalar(c->job, c->kind), count);
    const char *name = kiln__arena_format(&c->job->arena, "kiln.shared.%s.%s",
                                          what, kiln__kind_name(c->kind));
    LLVMValueRef shared =
        name == NULL ? NULL : LLVMGetNamedGlobal(c->job->module, name);

    if (shared != NULL)
        return shared;
    shared = LLVMAddGlobalInAddressSpace(
        c->job->module, type, name != NULL ? name : "", KILN__SHARED_SPACE);
    LLVMSetLinkage(shared, LLVMInternalLinkage);
    LLVMSetInitializer(shared, LLVMGetUndef(type));
    LLVMSetAlignment(shared, 8);
    return shared;
}

void kiln__foreign_put(const kiln__device_call *c, LLVMValueRef shared,
                       LLVMValueRef index, LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef store = LLVMBuildStore(
        c->builder, value,
        LLVMBuildInBoundsGEP2(c->builder, type, shared, &index, 1, ""));

    LLVMSetAlignment(store, kiln__kind_bytes(c->kind));
    LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
    LLVMSetAtomicSyncScopeID(
        store,
        LLVMGetSyncScopeID(c->job->context, c->job->backend->device->scope,
                           strlen(c->job->backend->device->scope)));
}

/* Returns the number of the item in its group, dimension 0 fastest. */
static LLVMValueRef item_number(const kiln__device_call *c)
{
    LLVMValueRef number = kiln__foreign_ask(c, KILN__QUERY_LOCAL_ID, 2);

    for (uint32_t d = 2; d-- > 0;)
        number = LLVMBuildAdd(
            c->builder,
            LLVMBuildMul(c->builder, number,
                         kiln__foreign_ask(c, KILN__QUERY_LOCAL_SIZE, d), ""),
            kiln__foreign_ask(c, KILN__QUERY_LOCAL_ID, d), "");
    return number;
}

/* All items write: the one that is meant to the first place, and all others to
   the second, which nobody reads. */
static LLVMValueRef broadcast_in_group(const kiln__device_call *c)
{
    const LLVMBuilderRef b = c->builder;
    const LLVMTypeRef i64 = kiln__job_i64(c->job);
    const LLVMTypeRef type = kiln__job_scalar(c->job, c->kind);
    const LLVMValueRef shared = kiln__foreign_shared(c, "broadcast", 2);
    const LLVMValueRef from = LLVMBuildZExt(b, c->arguments[2], i64, "");
    const LLVMValueRef is_other =
        LLVMBuildICmp(b, LLVMIntNE, item_number(c), from, "");
    LLVMValueRef value;

    kiln__foreign_put(c, shared, LLVMBuildZExt(b, is_other, i64, ""),
                      c->arguments[1]);
    c->job->backend->device->barrier(c->job, b, c->item);
    value = LLVMBuildLoad2(b, type, shared, "");
    c->job->backend->device->barrier(c->job, b, c->item);
    return value;
}

LLVMValueRef kiln__foreign_broadcast(const kiln__device_call *c)
{
    switch (kiln__foreign_scope(c)) {
    case KILN__SCOPE_SUB_GROUP:
        return kiln__foreign_lane(c, KILN__GROUP_SUB_BROADCAST, c->arguments[1],
                                  c->arguments[2]);
    case KILN__SCOPE_GROUP:
        return kiln__foreign_has_steps(c) ? kiln__foreign_broadcast_by_step(c)
                                          : broadcast_in_group(c);
    default:
        return NULL;
    }
}

/* ---- votes ---- */

/* Combines bits, each in a number. */
static LLVMValueRef vote_by_scan(const kiln__device_call *c, uint32_t scope,
                                 int is_all)
{
    const LLVMTypeRef i32 = kiln__job_i32(c->job);
    kiln__device_call scan = *c;
    LLVMValueRef all = LLVMBuildZExt(c->builder, c->arguments[1], i32, "");

    scan.kind = KILN_TYPE_I32;
    scan.operation = is_all ? KILN__COMBINE_AND : KILN__COMBINE_OR;
    all = kiln__foreign_has_steps(c)
              ? kiln__foreign_scan_by_step(&scan, scope, KILN__SCAN_ALL, all)
              : kiln__foreign_scan_in_group(&scan, KILN__SCAN_ALL, all);
    return LLVMBuildTrunc(c->builder, all,
                          LLVMInt1TypeInContext(c->job->context), "");
}

LLVMValueRef kiln__foreign_vote(const kiln__device_call *c)
{
    const uint32_t scope = kiln__foreign_scope(c);

    if (scope == 0)
        return NULL;
    if (scope == KILN__SCOPE_SUB_GROUP && !kiln__foreign_has_steps(c))
        return collect(c, c->family->number, c->arguments[1], NULL);
    return vote_by_scan(c, scope, c->family->number == KILN__GROUP_SUB_ALL);
}

LLVMValueRef kiln__foreign_ballot(const kiln__device_call *c)
{
    const LLVMTypeRef i64 = kiln__job_i64(c->job);
    const int has_steps = kiln__foreign_has_steps(c);
    kiln__device_call scan = *c;
    LLVMValueRef bit;

    if (!has_steps && c->job->backend->device->ballot != NULL)
        return c->job->backend->device->ballot(c->job, c->builder,
                                               c->arguments[0]);
    scan.kind = KILN_TYPE_I64;
    scan.operation = KILN__COMBINE_OR;
    bit = LLVMBuildShl(c->builder,
                       LLVMBuildZExt(c->builder, c->arguments[0], i64, ""),
                       has_steps ? kiln__foreign_lane_later(c)
                                 : kiln__foreign_ask(c, KILN__QUERY_LANE_ID, 0),
                       "");
    if (has_steps)
        return kiln__foreign_scan_by_step(&scan, KILN__SCOPE_SUB_GROUP,
                                          KILN__SCAN_ALL, bit);
    return kiln__foreign_scan_in_sub_group(&scan, KILN__SCAN_ALL, bit);
}

/* ---- how many sub-groups ---- */

LLVMValueRef kiln__foreign_sub_group_count(const kiln__device_call *c)
{
    const LLVMValueRef lanes =
        kiln__foreign_ask(c, KILN__QUERY_SUB_GROUP_SIZE, 0);
    LLVMValueRef count = kiln__job_number64(c->job, 1);

    for (uint32_t d = 0; d < 3; d++)
        count =
            LLVMBuildMul(c->builder, count,
                         kiln__foreign_ask(c, KILN__QUERY_LOCAL_SIZE, d), "");
    count = LLVMBuildAdd(
        c->builder, count,
        LLVMBuildSub(c->builder, lanes, kiln__job_number64(c->job, 1), ""), "");
    return LLVMBuildTrunc(c->builder,
                          LLVMBuildUDiv(c->builder, count, lanes, ""),
                          kiln__job_i32(c->job), "");
}
