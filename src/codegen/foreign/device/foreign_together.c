/* foreign_together.c - what the items of a group do together, on the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"

/*
 * The host runs the items of a group one after the other, so they exchange
 * values through memory. An item stores its value in a variable of its own and
 * waits for a step (groups.h). The step sees these variables of all items as an
 * array; it computes what each item then loads from there. What is the same for
 * the whole group is loaded from a variable of the group, so that it counts as
 * uniform.
 *
 * A variable is used again by later calls: an item loads before it stores there
 * the next time, and a step leaves alone what belongs to items that do not wait
 * for it.
 */

int kiln__foreign_has_steps(const kiln__device_call *c)
{
    return c->job->backend->groups != NULL;
}

/* ---- variables ---- */

static LLVMValueRef find_variable(LLVMBasicBlockRef block, const char *name)
{
    LLVMValueRef at;
    size_t size;

    for (at = LLVMGetFirstInstruction(block); at != NULL;
         at = LLVMGetNextInstruction(at))
        if (LLVMIsAAllocaInst(at) != NULL &&
            strcmp(LLVMGetValueName2(at, &size), name) == 0)
            return at;
    return NULL;
}

/* Returns a variable of the item, one for each name in a function. */
static LLVMValueRef variable(const kiln__device_call *c, const char *what,
                             int32_t kind)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(c->call)));
    const char *name = kiln__arena_format(&c->job->arena, "kiln.%s.%s", what,
                                          kiln__kind_name(kind));
    LLVMValueRef found = name != NULL ? find_variable(entry, name) : NULL;
    LLVMBuilderRef builder;

    if (found != NULL)
        return found;
    builder = LLVMCreateBuilderInContext(c->job->context);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(entry));
    found = LLVMBuildAlloca(builder, kiln__job_scalar(c->job, kind),
                            name != NULL ? name : "");
    LLVMDisposeBuilder(builder);
    return found;
}

static LLVMValueRef stored(const kiln__device_call *c, const char *what,
                           int32_t kind, LLVMValueRef value)
{
    LLVMValueRef at = variable(c, what, kind);

    LLVMBuildStore(c->builder, value, at);
    return at;
}

static LLVMValueRef load(const kiln__device_call *c, LLVMValueRef from)
{
    return LLVMBuildLoad2(c->builder, kiln__job_scalar(c->job, c->kind), from,
                          "");
}

/* Returns the address of a variable of the group. */
static LLVMValueRef of_group(const kiln__device_call *c, const char *what,
                             int32_t kind)
{
    kiln__device_call as = *c;

    as.kind = kind;
    return LLVMConstAddrSpaceCast(kiln__foreign_shared(&as, what, 1),
                                  LLVMPointerTypeInContext(c->job->context, 0));
}

/* ---- operations ---- */

LLVMValueRef kiln__foreign_scan_by_step(const kiln__device_call *c,
                                        uint32_t scope, uint32_t which,
                                        LLVMValueRef value)
{
    const int is_of_group =
        scope == KILN__SCOPE_GROUP && which == KILN__SCAN_ALL;
    LLVMValueRef values, result;

    if (scope == 0)
        return NULL;
    values = stored(c, "value", c->kind, value);
    result = is_of_group ? of_group(c, "result", c->kind) : values;
    if (which == KILN__SCAN_ALL)
        kiln__foreign_step_reduce(c, scope, values, result);
    else
        kiln__foreign_step_scan(c, scope, which, values);
    return load(c, result);
}

LLVMValueRef kiln__foreign_lane_by_step(const kiln__device_call *c,
                                        uint32_t which, LLVMValueRef value,
                                        LLVMValueRef lane)
{
    LLVMValueRef arrays[] = {stored(c, "value", c->kind, value),
                             stored(c, "lane", KILN_TYPE_I32, lane),
                             variable(c, "result", c->kind)};

    kiln__foreign_step_shuffle(c, which, arrays);
    return load(c, arrays[2]);
}

LLVMValueRef kiln__foreign_broadcast_by_step(const kiln__device_call *c)
{
    LLVMValueRef arrays[] = {
        stored(c, "value", c->kind, c->arguments[1]),
        of_group(c, "number", KILN_TYPE_I32),
        of_group(c, "result", c->kind),
    };

    LLVMBuildStore(c->builder, c->arguments[2], arrays[1]);
    kiln__foreign_step_broadcast(c, arrays);
    return load(c, arrays[2]);
}

LLVMValueRef kiln__foreign_lane_later(const kiln__device_call *c)
{
    static const char name[] = "kiln_lane_id";
    LLVMTypeRef parameter = kiln__job_item_pointer(c->job);
    LLVMTypeRef type =
        LLVMFunctionType(kiln__job_i32(c->job), &parameter, 1, 0);
    LLVMValueRef function = LLVMGetNamedFunction(c->job->module, name);
    LLVMValueRef item = c->item;

    if (function == NULL)
        function = LLVMAddFunction(c->job->module, name, type);
    return LLVMBuildZExt(
        c->builder, LLVMBuildCall2(c->builder, type, function, &item, 1, ""),
        kiln__job_i64(c->job), "");
}
