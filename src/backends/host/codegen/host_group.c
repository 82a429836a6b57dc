/* host_group.c - runs the items of a group one after the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/host/codegen/host_codegen.h"
#include "ir/ir.h"

/*
 * This implements what lowering needs to emit a kernel for a whole group
 * (kiln__codegen_groups in codegen_job.h). The loops have the form of those in
 * host_wrap.c: z, y, x, clipped by the grid. One dimension, which is x unless
 * the job says otherwise, has the innermost loop and counts items first. They
 * are in the item function, so a loop with independent items is only marked
 * here, with metadata of our own. When the function is complete, and no private
 * variable of an item stays in memory, kiln__host_mark_loops() tells LLVM.
 */

#define ID(member, d) \
    (offsetof(struct kiln__host_item, member) + 8 * (uint64_t)(d))
#define OF_LAUNCH(member, d) \
    (offsetof(struct kiln__host_launch_state, member) + 8 * (uint64_t)(d))

static const char marker[] = "kiln.items";

/* The arguments that every function here has. */
typedef struct maker {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMValueRef item;
} maker;

static LLVMValueRef load_id(const maker *m, uint64_t offset)
{
    return LLVMBuildLoad2(
        m->builder, kiln__job_i64(m->job),
        kiln__host_member(m->job, m->builder, m->item, offset), "");
}

static void store_id(const maker *m, uint64_t offset, LLVMValueRef value)
{
    LLVMBuildStore(m->builder, value,
                   kiln__host_member(m->job, m->builder, m->item, offset));
}

static LLVMValueRef load_launch(const maker *m)
{
    const uint64_t offset = offsetof(struct kiln__host_item, launch);

    return LLVMBuildLoad2(
        m->builder, LLVMPointerTypeInContext(m->job->context, 0),
        kiln__host_member(m->job, m->builder, m->item, offset), "");
}

static LLVMValueRef block_of(const maker *m, uint32_t d)
{
    return kiln__host_group_size(m->job, m->builder, load_launch(m), d);
}

static LLVMValueRef grid_of(const maker *m, uint32_t d)
{
    return kiln__host_constant(m->job, m->builder, load_launch(m),
                               OF_LAUNCH(grid, d), 1);
}

/* Returns the group's first global id along the dimension. */
static LLVMValueRef start_of(const maker *m, uint32_t d)
{
    return kiln__host_exact(LLVMBuildMul(
        m->builder, load_id(m, ID(group_id, d)), block_of(m, d), ""));
}

void kiln__host_order_loops(const kiln__codegen_job *job, uint32_t order[3])
{
    uint32_t count = 0;

    order[count++] = job->inner_dimension;
    for (uint32_t d = 0; d < 3; d++)
        if (d != job->inner_dimension)
            order[count++] = d;
}

/* ---- numbers ---- */

static LLVMValueRef memory(kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef item)
{
    const uint64_t offset = offsetof(struct kiln__host_item, memory);

    return LLVMBuildLoad2(builder, LLVMPointerTypeInContext(job->context, 0),
                          kiln__host_member(job, builder, item, offset), "");
}

static LLVMValueRef count_items(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef item)
{
    const maker m = {job, builder, item};
    LLVMValueRef plane = kiln__host_exact(
        LLVMBuildMul(builder, block_of(&m, 0), block_of(&m, 1), ""));

    return kiln__host_exact(LLVMBuildMul(builder, plane, block_of(&m, 2), ""));
}

/* Computes the local ids of the item of that number. */
static void split_number(const maker *m, LLVMValueRef value,
                         LLVMValueRef local[3])
{
    uint32_t order[3];
    LLVMValueRef first, second, rest;

    kiln__host_order_loops(m->job, order);
    first = block_of(m, order[0]);
    second = block_of(m, order[1]);
    rest = LLVMBuildUDiv(m->builder, value, first, "");
    local[order[0]] = LLVMBuildURem(m->builder, value, first, "");
    local[order[1]] = LLVMBuildURem(m->builder, rest, second, "");
    local[order[2]] = LLVMBuildUDiv(m->builder, rest, second, "");
}

static LLVMValueRef exists(kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef item, LLVMValueRef value)
{
    const maker m = {job, builder, item};
    LLVMValueRef local[3], fine, id;

    split_number(&m, value, local);
    fine = LLVMBuildICmp(builder, LLVMIntULT, value,
                         count_items(job, builder, item), "");
    for (uint32_t d = 0; d < 3; d++) {
        id = LLVMBuildAdd(builder, start_of(&m, d), local[d], "");
        fine = LLVMBuildAnd(
            builder, fine,
            LLVMBuildICmp(builder, LLVMIntULT, id, grid_of(&m, d), ""), "");
    }
    return fine;
}

static void set_item(kiln__codegen_job *job, LLVMBuilderRef builder,
                     LLVMValueRef item, LLVMValueRef value)
{
    const maker m = {job, builder, item};
    LLVMValueRef local[3];

    split_number(&m, value, local);
    for (uint32_t d = 0; d < 3; d++) {
        store_id(&m, ID(local_id, d), local[d]);
        store_id(&m, ID(global_id, d),
                 LLVMBuildAdd(builder, start_of(&m, d), local[d], ""));
    }
}

/* ---- loops ---- */

static LLVMBasicBlockRef add_block(const maker *m)
{
    return LLVMAppendBasicBlockInContext(
        m->job->context,
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(m->builder)), "");
}

/* Opens a loop. A group has an item along every dimension, so each loop has at
   least one iteration. */
static void open_loop(const maker *m, kiln__codegen_items *loop, uint32_t d)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->builder);
    LLVMValueRef start = start_of(m, d), zero = kiln__job_number64(m->job, 0);
    LLVMValueRef end = block_of(m, d);
    LLVMValueRef rest =
        kiln__host_exact(LLVMBuildSub(m->builder, grid_of(m, d), start, ""));
    LLVMValueRef inside = LLVMBuildICmp(m->builder, LLVMIntULT, end, rest, "");

    loop->loops[d].end = LLVMBuildSelect(m->builder, inside, end, rest, "");
    loop->loops[d].body = add_block(m);
    loop->loops[d].exit = add_block(m);
    LLVMBuildBr(m->builder, loop->loops[d].body);
    LLVMPositionBuilderAtEnd(m->builder, loop->loops[d].body);
    loop->loops[d].index = LLVMBuildPhi(m->builder, kiln__job_i64(m->job), "");
    LLVMAddIncoming(loop->loops[d].index, &zero, &before, 1);
    store_id(m, ID(local_id, d), loop->loops[d].index);
    store_id(m, ID(global_id, d),
             kiln__host_exact(
                 LLVMBuildAdd(m->builder, start, loop->loops[d].index, "")));
}

static LLVMValueRef close_loop(const maker *m, kiln__codegen_items *loop,
                               uint32_t d)
{
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(m->builder);
    LLVMValueRef next = kiln__host_exact(LLVMBuildAdd(
        m->builder, loop->loops[d].index, kiln__job_number64(m->job, 1), ""));
    LLVMValueRef more =
        LLVMBuildICmp(m->builder, LLVMIntULT, next, loop->loops[d].end, "");
    LLVMValueRef branch = LLVMBuildCondBr(m->builder, more, loop->loops[d].body,
                                          loop->loops[d].exit);

    LLVMAddIncoming(loop->loops[d].index, &next, &latch, 1);
    LLVMMoveBasicBlockAfter(loop->loops[d].exit, latch);
    LLVMPositionBuilderAtEnd(m->builder, loop->loops[d].exit);
    return branch;
}

static void open(kiln__codegen_job *job, LLVMBuilderRef builder,
                 LLVMValueRef item, kiln__codegen_items *loop)
{
    const maker m = {job, builder, item};
    uint32_t order[3];
    LLVMValueRef value;

    kiln__host_order_loops(job, order);
    loop->before = LLVMGetLastBasicBlock(
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder)));
    for (uint32_t i = 3; i-- > 0;)
        open_loop(&m, loop, order[i]);
    value = loop->loops[order[2]].index;
    for (uint32_t i = 2; i-- > 0;) {
        value = kiln__host_exact(
            LLVMBuildMul(builder, value, block_of(&m, order[i]), ""));
        value = kiln__host_exact(
            LLVMBuildAdd(builder, value, loop->loops[order[i]].index, ""));
    }
    loop->number = value;
}

/* ---- parallel loops ---- */

static unsigned kind_of(const kiln__codegen_job *job, const char *name)
{
    return LLVMGetMDKindIDInContext(job->context, name, (unsigned)strlen(name));
}

static int touches_memory(LLVMValueRef instruction)
{
    return LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction) ||
           LLVMIsACallInst(instruction) || LLVMIsAAtomicRMWInst(instruction) ||
           LLVMIsAAtomicCmpXchgInst(instruction);
}

/* Adds the memory accesses of all blocks made since that one to the access
   group. */
static void add_to_group(kiln__codegen_job *job, LLVMBasicBlockRef block)
{
    const unsigned kind = kind_of(job, "llvm.access.group");
    LLVMValueRef i;

    for (; block != NULL; block = LLVMGetNextBasicBlock(block))
        for (i = LLVMGetFirstInstruction(block); i != NULL;
             i = LLVMGetNextInstruction(i))
            if (touches_memory(i))
                LLVMSetMetadata(i, kind, job->access_group);
}

static void close(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item, kiln__codegen_items *loop, int is_parallel)
{
    const maker m = {job, builder, item};
    uint32_t order[3];
    LLVMValueRef branch, none;

    kiln__host_order_loops(job, order);
    if (is_parallel) {
        if (job->access_group == NULL)
            job->access_group = kiln__llvm_access_group(job->context);
        add_to_group(job, LLVMGetNextBasicBlock(loop->before));
    }
    branch = close_loop(&m, loop, order[0]);
    if (is_parallel) {
        none = LLVMMetadataAsValue(job->context,
                                   LLVMMDNodeInContext2(job->context, NULL, 0));
        LLVMSetMetadata(branch, kind_of(job, marker), none);
    }
    for (uint32_t i = 1; i < 3; i++)
        close_loop(&m, loop, order[i]);
    for (uint32_t d = 0; d < 3; d++) {
        store_id(&m, ID(local_id, d), kiln__job_number64(m.job, 0));
        store_id(&m, ID(global_id, d), start_of(&m, d));
    }
}

static void mark_function(kiln__codegen_job *job, LLVMValueRef function,
                          int are_parallel)
{
    const unsigned kind = kind_of(job, marker);
    LLVMBasicBlockRef block;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef jump = LLVMGetBasicBlockTerminator(block);

        if (jump == NULL || LLVMGetMetadata(jump, kind) == NULL)
            continue;
        LLVMSetMetadata(jump, kind, NULL);
        if (are_parallel)
            LLVMSetMetadata(
                jump, kind_of(job, "llvm.loop"),
                kiln__llvm_parallel_loop(job->context, job->access_group));
    }
}

void kiln__host_mark_loops(kiln__codegen_job *job)
{
    const int are_parallel =
        kiln__host_items_are_parallel(job, job->item_function) &&
        (job->safe_function == NULL ||
         kiln__host_items_are_parallel(job, job->safe_function));
    LLVMValueRef function;

    for (function = LLVMGetFirstFunction(job->module); function != NULL;
         function = LLVMGetNextFunction(function))
        mark_function(job, function, are_parallel);
}

const kiln__codegen_groups kiln__host_groups = {
    .sub_group_size = KILN__HOST_SUB_GROUP,
    .memory = memory,
    .count = count_items,
    .exists = exists,
    .set_item = set_item,
    .open = open,
    .close = close,
};
