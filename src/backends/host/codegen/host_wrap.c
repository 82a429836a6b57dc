/* host_wrap.c - the host's kernel: loops over groups and items. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/host/codegen/host_codegen.h"
#include "backends/host/codegen/host_wrap.h"
#include "base/error.h"
#include "codegen/module/codegen_values.h"

/*
 * The kernel of host_abi.h:
 *
 *     load the group's sizes, and every argument
 *     for group in first..last
 *         load the grid's sizes
 *         for z, y, x of the group, clipped by the grid
 *             set the ids of the item
 *             call the item function           stop when it raised
 *
 * A group may be several of a row, joined to one (host_wide.c).
 *
 * If lowering made a clip function, the loops run over the box that it returns.
 * If lowering made a proof, it is evaluated for each group. A group for which
 * it holds is run by the safe item function. Any other group is run by a second
 * kernel of the same form around the checked item function. That kernel is in
 * the checked module. If it is deferred, the launch runs it.
 *
 * The loops run in the order of memory: the job's inner dimension, nearly
 * always x, is innermost. Their counters are known not to be negative and not
 * to wrap, which lets LLVM remove checks of bounds that a kernel's own guards
 * imply. Arguments are read once: nothing that an item writes is in the packed
 * block or in the launch.
 *
 * Items are independent, so the innermost loop is marked as parallel: the call
 * of the item function is in an access group, inlining passes that on to its
 * memory accesses, and the loop says that the group's accesses never conflict.
 * That would be false for private memory of an item, which all iterations share
 * once it is inlined; kiln__host_items_are_parallel() finds out.
 */

/* Groups are joined until a row has so many bytes of the array whose elements
   are the largest, but 64 items. More were slower for transpositions, and for
   stencils that stream through several arrays. */
#define JOINED_BYTES 256u
#define JOINED_WIDTH 64u

typedef struct loop {
    LLVMBasicBlockRef body;
    LLVMBasicBlockRef exit;
    LLVMValueRef index;
    LLVMValueRef end;
} loop;

typedef kiln__host_wrapper wrapper;

/* ---- loops ---- */

static LLVMBasicBlockRef add_block(const wrapper *w, const char *name)
{
    return LLVMAppendBasicBlockInContext(w->job->context, w->function, name);
}

/* Begins `for index in start..end`; leaves the builder in the body. */
static void open_loop(wrapper *w, loop *l, LLVMValueRef start, LLVMValueRef end,
                      const char *name)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(w->builder);
    LLVMValueRef any = LLVMBuildICmp(w->builder, LLVMIntULT, start, end, "");

    l->end = end;
    l->body = add_block(w, name);
    l->exit = add_block(w, "");
    LLVMBuildCondBr(w->builder, any, l->body, l->exit);
    LLVMPositionBuilderAtEnd(w->builder, l->body);
    l->index = LLVMBuildPhi(w->builder, w->i64, name);
    LLVMAddIncoming(l->index, &start, &before, 1);
}

/* Ends the loop, which goes on `step` further, and returns its branch; leaves
   the builder after the loop. */
static LLVMValueRef close_stepped(wrapper *w, loop *l, LLVMValueRef step)
{
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(w->builder);
    LLVMValueRef next = LLVMBuildAdd(w->builder, l->index, step, "");
    LLVMValueRef more;
    LLVMValueRef branch;

    LLVMSetNUW(next, 1);
    LLVMSetNSW(next, 1);
    more = LLVMBuildICmp(w->builder, LLVMIntULT, next, l->end, "");
    branch = LLVMBuildCondBr(w->builder, more, l->body, l->exit);
    LLVMAddIncoming(l->index, &next, &latch, 1);
    LLVMMoveBasicBlockAfter(l->exit, latch);
    LLVMPositionBuilderAtEnd(w->builder, l->exit);
    return branch;
}

static LLVMValueRef close_loop(wrapper *w, loop *l)
{
    return close_stepped(w, l, LLVMConstInt(w->i64, 1, 0));
}

/* Returns 1 from the kernel when the condition holds. */
static void leave_if(wrapper *w, LLVMValueRef condition)
{
    LLVMBasicBlockRef next = add_block(w, "");

    LLVMBuildCondBr(w->builder, condition, w->failed, next);
    LLVMPositionBuilderAtEnd(w->builder, next);
}

/* ---- a group ---- */

static void set_member(wrapper *w, LLVMValueRef item, uint64_t member,
                       uint32_t d, LLVMValueRef value)
{
    LLVMBuildStore(
        w->builder, value,
        kiln__host_member(w->job, w->builder, item, member + 8 * (uint64_t)d));
}

static void set_id(wrapper *w, uint64_t member, uint32_t d, LLVMValueRef value)
{
    set_member(w, w->item, member, d, value);
}

/* Allocates an item and stores the launch in it. */
static LLVMValueRef add_item(wrapper *w, const char *name)
{
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(w->job->context),
                                       sizeof(struct kiln__host_item));
    LLVMValueRef item = LLVMBuildAlloca(w->builder, bytes, name);

    LLVMSetAlignment(item, 8);
    LLVMSetMetadata(
        item,
        LLVMGetMDKindIDInContext(w->job->context, KILN__ITEM_MARK,
                                 sizeof KILN__ITEM_MARK - 1),
        LLVMMetadataAsValue(w->job->context,
                            LLVMMDNodeInContext2(w->job->context, NULL, 0)));
    set_member(w, item, offsetof(struct kiln__host_item, launch), 0, w->launch);
    return item;
}

/* Splits the group's number into its ids. */
static void find_group(wrapper *w, LLVMValueRef group)
{
    LLVMValueRef rest;

    w->group_id[0] = LLVMBuildURem(w->builder, group, w->groups[0], "");
    rest = LLVMBuildUDiv(w->builder, group, w->groups[0], "");
    w->group_id[1] = LLVMBuildURem(w->builder, rest, w->groups[1], "");
    w->group_id[2] = LLVMBuildUDiv(w->builder, rest, w->groups[1], "");
    for (uint32_t d = 0; d < 3; d++)
        set_id(w, offsetof(struct kiln__host_item, group_id), d,
               w->group_id[d]);
}

static LLVMValueRef smaller(wrapper *w, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(
        w->builder, LLVMBuildICmp(w->builder, LLVMIntULT, a, b, ""), a, b, "");
}

/* Finds how many groups run as one, beginning with this one: as many as there
   are in its row. Returns that number. */
static LLVMValueRef join_groups(wrapper *w, const loop *group)
{
    LLVMValueRef count = LLVMConstInt(w->i64, 1, 0);

    w->width = w->block[0];
    if (w->joined == NULL)
        return count;
    count = smaller(w, LLVMBuildSub(w->builder, group->end, group->index, ""),
                    LLVMBuildSub(w->builder, w->groups[0], w->group_id[0], ""));
    count = smaller(w, count, w->joined);
    w->width =
        kiln__host_exact(LLVMBuildMul(w->builder, count, w->block[0], ""));
    return count;
}

/* Finds the group's items along a dimension, clipped by the grid. */
static void find_items(wrapper *w, uint32_t d)
{
    const LLVMValueRef size = d == 0 ? w->width : w->block[d];

    w->start[d] = kiln__host_exact(
        LLVMBuildMul(w->builder, w->group_id[d], w->block[d], ""));
    w->end[d] = smaller(
        w, kiln__host_exact(LLVMBuildAdd(w->builder, w->start[d], size, "")),
        w->grid[d]);
    w->from[d] = w->start[d];
}

/* Begins the loop over the group's items along a dimension. */
static void open_items(wrapper *w, loop *l, uint32_t d, const char *name)
{
    open_loop(w, l, w->from[d], w->end[d], name);
    set_id(w, offsetof(struct kiln__host_item, global_id), d, l->index);
    set_id(w, offsetof(struct kiln__host_item, local_id), d,
           LLVMBuildSub(w->builder, l->index, w->start[d], ""));
}

static void set_node(const wrapper *w, LLVMValueRef instruction,
                     const char *kind, LLVMValueRef node)
{
    LLVMSetMetadata(
        instruction,
        LLVMGetMDKindIDInContext(w->job->context, kind, (unsigned)strlen(kind)),
        node);
}

static LLVMValueRef call_item(wrapper *w)
{
    LLVMValueRef raised =
        LLVMBuildCall2(w->builder, LLVMGlobalGetValueType(w->body), w->body,
                       w->values, w->value_count, "");

    if (w->body_can_fail)
        leave_if(w, LLVMBuildICmp(w->builder, LLVMIntNE, raised,
                                  LLVMConstNull(LLVMTypeOf(raised)), ""));
    return raised;
}

/* Calls an item function for the whole group: it contains the loops. */
static void run_together(wrapper *w)
{
    for (uint32_t d = 0; d < 3; d++) {
        set_id(w, offsetof(struct kiln__host_item, local_id), d,
               LLVMConstInt(w->i64, 0, 0));
        set_id(w, offsetof(struct kiln__host_item, global_id), d,
               LLVMBuildMul(w->builder, w->group_id[d], w->block[d], ""));
    }
    (void)call_item(w);
}

static void run_items(wrapper *w)
{
    static const char *const names[] = {"x", "y", "z"};
    uint32_t order[3];
    loop loops[3];
    LLVMValueRef call;
    LLVMValueRef branch;

    kiln__host_order_loops(w->job, order);
    for (uint32_t i = 3; i-- > 0;)
        open_items(w, &loops[i], order[i], names[order[i]]);
    call = call_item(w);
    branch = close_loop(w, &loops[0]);
    if (kiln__host_items_are_parallel(w->job, w->body)) {
        LLVMValueRef group = kiln__llvm_access_group(w->job->context);

        set_node(w, call, "llvm.access.group", group);
        set_node(w, branch, "llvm.loop",
                 kiln__llvm_parallel_loop(w->job->context, group));
    }
    close_loop(w, &loops[1]);
    close_loop(w, &loops[2]);
}

static void run_body(wrapper *w)
{
    if (w->job->for_group)
        run_together(w);
    else
        run_items(w);
}

/* Adds the least and the greatest ids of the loops. */
static void bound_items(wrapper *w, LLVMValueRef *out)
{
    const LLVMValueRef one = LLVMConstInt(w->i64, 1, 0);

    for (uint32_t d = 0; d < 3; d++) {
        out[d] = w->from[d];
        out[3 + d] = LLVMBuildSub(w->builder, w->end[d], one, "");
    }
}

/* Narrows the loops to the box of the clip function. */
static void clip_items(wrapper *w)
{
    const LLVMValueRef function = w->job->clip_function;
    LLVMValueRef box;

    bound_items(w, w->values + w->value_count);
    box = LLVMBuildCall2(w->builder, LLVMGlobalGetValueType(function), function,
                         w->values, w->value_count + 6, "");
    for (uint32_t d = 0; d < 3; d++) {
        w->from[d] = LLVMBuildExtractValue(w->builder, box, d, "");
        w->end[d] = LLVMBuildExtractValue(w->builder, box, 3 + d, "");
    }
}

/* Returns true when the loops have any item. */
static LLVMValueRef has_items(wrapper *w)
{
    LLVMValueRef all =
        LLVMConstInt(LLVMInt1TypeInContext(w->job->context), 1, 0);

    for (uint32_t d = 0; d < 3; d++)
        all = LLVMBuildAnd(
            w->builder, all,
            LLVMBuildICmp(w->builder, LLVMIntULT, w->from[d], w->end[d], ""),
            "");
    return all;
}

/* Returns 0 when no item of the group fails a check, else the number of one
   that may fail. */
static LLVMValueRef call_proof(wrapper *w)
{
    LLVMValueRef arguments[8] = {w->tile, w->block_arguments};

    for (uint32_t d = 0; d < 3; d++)
        set_member(w, w->tile, offsetof(struct kiln__host_item, group_id), d,
                   w->group_id[d]);
    bound_items(w, arguments + 2);
    return LLVMBuildCall2(w->builder, LLVMGlobalGetValueType(w->proof),
                          w->proof, arguments, 8, "");
}

/* Calls the checked kernel of this image. */
static LLVMValueRef call_checked(wrapper *w, LLVMValueRef group)
{
    const LLVMValueRef one = LLVMConstInt(w->i64, 1, 0);
    LLVMValueRef arguments[5] = {w->launch, w->block_arguments, group,
                                 LLVMBuildAdd(w->builder, group, one, ""),
                                 LLVMGetParam(w->function, KILN__HOST_MEMORY)};

    return LLVMBuildCall2(w->builder, LLVMGlobalGetValueType(w->checked),
                          w->checked, arguments, 5, "");
}

/* Calls the launch, which makes the checked kernel when it is first needed. */
static LLVMValueRef call_deferred(wrapper *w, LLVMValueRef group,
                                  LLVMValueRef which)
{
    const LLVMTypeRef pointer = LLVMPointerTypeInContext(w->job->context, 0);
    LLVMTypeRef types[5] = {pointer, pointer, w->i64, pointer,
                            kiln__job_i32(w->job)};
    LLVMValueRef arguments[5] = {w->launch, w->block_arguments, group,
                                 LLVMGetParam(w->function, KILN__HOST_MEMORY),
                                 which};
    const LLVMValueRef callback =
        LLVMBuildLoad2(w->builder, pointer,
                       kiln__host_member(w->job, w->builder, w->launch,
                                         KILN__OF_LAUNCH(run_deferred, 0)),
                       "");
    LLVMValueRef call;

    kiln__host_mark_invariant(w->job, callback);
    call = LLVMBuildCall2(w->builder, LLVMFunctionType(types[4], types, 5, 0),
                          callback, arguments, 5, "");
    LLVMAddCallSiteAttribute(
        call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(w->job->context, kiln__attribute_kind("cold"),
                                0));
    LLVMAddCallSiteAttribute(
        call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(w->job->context, KILN__HOST_DEFERRED_MARK,
                                  sizeof KILN__HOST_DEFERRED_MARK - 1, "", 0));
    return call;
}

/* Runs the group by the checked kernel, since check `which` is not proved. */
static void run_checked(wrapper *w, LLVMValueRef group, LLVMValueRef which)
{
    const LLVMValueRef raised = w->checked != NULL
                                    ? call_checked(w, group)
                                    : call_deferred(w, group, which);

    leave_if(w, LLVMBuildICmp(w->builder, LLVMIntNE, raised,
                              LLVMConstNull(LLVMTypeOf(raised)), ""));
}

/* Builds the run of one group: by the body, or, where there is a proof, by the
   safe body if the proof holds and else by the checked kernel. */
static void run_group(wrapper *w, LLVMValueRef group)
{
    LLVMBasicBlockRef some, safe, checked, done;
    LLVMValueRef which;

    for (uint32_t d = 0; d < 3; d++)
        find_items(w, d);
    if (w->clips)
        clip_items(w);
    if (w->proof == NULL) {
        run_body(w);
        return;
    }
    some = add_block(w, "some");
    safe = add_block(w, "safe");
    checked = add_block(w, "checked");
    done = add_block(w, "");
    LLVMBuildCondBr(w->builder, has_items(w), some, done);
    LLVMPositionBuilderAtEnd(w->builder, some);
    which = call_proof(w);
    LLVMBuildCondBr(w->builder,
                    LLVMBuildICmp(w->builder, LLVMIntEQ, which,
                                  LLVMConstNull(LLVMTypeOf(which)), ""),
                    safe, checked);
    LLVMPositionBuilderAtEnd(w->builder, safe);
    run_body(w);
    LLVMBuildBr(w->builder, done);
    LLVMPositionBuilderAtEnd(w->builder, checked);
    run_checked(w, group, which);
    LLVMBuildBr(w->builder, done);
    LLVMPositionBuilderAtEnd(w->builder, done);
}

/* ---- the kernel ---- */

/* A group with an exception is to be known by its number. */
static int may_join(const wrapper *w)
{
    return !w->job->for_group && !w->body_can_fail && w->proof == NULL &&
           kiln__host_groups_may_join(w->job, w->body);
}

static uint64_t joined_width(const kiln__codegen_job *job)
{
    uint64_t size = 0;

    for (size_t i = 0; i < job->parameter_count; i++)
        if (job->parameters[i].passing == KILN__PARAMETER_ARRAY &&
            job->parameters[i].element_size > size)
            size = job->parameters[i].element_size;
    return size == 0 || size > JOINED_BYTES / JOINED_WIDTH
               ? JOINED_WIDTH
               : JOINED_BYTES / size;
}

/* Returns how many groups have enough items in x together, or one. */
static LLVMValueRef count_joined(wrapper *w)
{
    const LLVMValueRef most = kiln__host_exact(
        LLVMBuildAdd(w->builder, w->block[0],
                     LLVMConstInt(w->i64, joined_width(w->job) - 1, 0), ""));

    return LLVMBuildUDiv(w->builder, most, w->block[0], "");
}

static void build(wrapper *w)
{
    LLVMTypeRef i32 = kiln__job_i32(w->job);
    const int can_leave = w->body_can_fail || w->proof != NULL;
    LLVMValueRef count;
    loop group;

    LLVMPositionBuilderAtEnd(w->builder, add_block(w, "entry"));
    w->failed = add_block(w, "failed");
    w->item = add_item(w, "item");
    set_id(w, offsetof(struct kiln__host_item, memory), 0,
           LLVMGetParam(w->function, KILN__HOST_MEMORY));
    if (w->proof != NULL)
        w->tile = add_item(w, "tile");
    kiln__host_load_block(w);
    kiln__host_load_arguments(w);
    if (may_join(w))
        w->joined = count_joined(w);

    open_loop(w, &group, LLVMGetParam(w->function, 2),
              LLVMGetParam(w->function, 3), "group");
    kiln__host_load_grid(w);
    find_group(w, group.index);
    count = join_groups(w, &group);
    run_group(w, group.index);
    close_stepped(w, &group, count);
    LLVMBuildRet(w->builder, LLVMConstInt(i32, 0, 0));

    LLVMMoveBasicBlockAfter(w->failed, LLVMGetInsertBlock(w->builder));
    LLVMPositionBuilderAtEnd(w->builder, w->failed);
    LLVMBuildRet(w->builder, LLVMConstInt(i32, 1, 0));
    if (!can_leave)
        LLVMDeleteBasicBlock(w->failed);
}

/* Makes the kernel that `w` describes; NULL: out of memory. */
static LLVMValueRef make_kernel(wrapper *w, const char *name)
{
    kiln__codegen_job *job = w->job;

    w->i64 = kiln__job_i64(job);
    w->values = kiln__arena_allocate_array(&job->arena,
                                           6 + (size_t)LLVMCountParams(w->body),
                                           sizeof(LLVMValueRef));
    if (w->values == NULL || name == NULL)
        return NULL;
    w->builder = LLVMCreateBuilderInContext(job->context);
    w->function = kiln__host_add_kernel(job, name);
    kiln__debug_wrapper(job, w->builder, w->function);
    w->launch = LLVMGetParam(w->function, 0);
    w->block_arguments = LLVMGetParam(w->function, 1);
    build(w);
    LLVMDisposeBuilder(w->builder);
    return w->function;
}

/* ---- the proof, and the checked module ---- */

/* The proof is called once for each group and is straight code, which code
   generation without optimisation takes the least time for. */
static LLVMValueRef add_proof(const kiln__codegen_job *job, const char *name)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(job->context, 0);
    LLVMTypeRef types[8] = {pointer, pointer};
    LLVMValueRef function;

    for (unsigned i = 2; i < 8; i++)
        types[i] = kiln__job_i64(job);
    function = LLVMAddFunction(
        job->module, name, LLVMFunctionType(kiln__job_i32(job), types, 8, 0));
    kiln__host_attribute(job, function, -1, "nounwind");
    kiln__host_attribute(job, function, -1, "noinline");
    kiln__host_attribute(job, function, -1, "optnone");
    LLVMSetLinkage(function, LLVMInternalLinkage);
    return function;
}

/* Makes a function that loads the arguments from the packed block and evaluates
   the proof. */
static LLVMValueRef make_proof(kiln__codegen_job *job, const char *name)
{
    const LLVMValueRef proof = job->proof_function;
    const unsigned count = LLVMCountParams(proof);
    wrapper w = {.job = job, .i64 = kiln__job_i64(job)};

    w.values =
        kiln__arena_allocate_array(&job->arena, count, sizeof(LLVMValueRef));
    if (w.values == NULL || name == NULL)
        return NULL;
    w.builder = LLVMCreateBuilderInContext(job->context);
    w.function = add_proof(job, name);
    w.item = LLVMGetParam(w.function, 0);
    w.block_arguments = LLVMGetParam(w.function, 1);
    LLVMPositionBuilderAtEnd(w.builder, add_block(&w, "entry"));
    kiln__host_load_arguments(&w);
    for (unsigned i = 0; i < 6; i++)
        w.values[w.value_count++] = LLVMGetParam(w.function, 2 + i);
    LLVMBuildRet(w.builder,
                 LLVMBuildCall2(w.builder, LLVMGlobalGetValueType(proof), proof,
                                w.values, count, ""));
    LLVMDisposeBuilder(w.builder);
    return w.function;
}

/* Makes the checked kernel, in its module. */
static LLVMValueRef make_checked(kiln__codegen_job *job, const char *name)
{
    wrapper w = {
        .job = job, .body = job->item_function, .body_can_fail = job->can_fail};
    LLVMValueRef made;

    kiln__job_switch(job);
    made = make_kernel(&w, name);
    if (made != NULL && job->for_group)
        kiln__host_mark_loops(job);
    kiln__job_switch(job);
    return made;
}

/* Makes the checked kernel and declares it beside the proof. A deferred one
   becomes the only kernel of an image of its own. */
static kiln_status add_checked(wrapper *w)
{
    kiln__codegen_job *job = w->job;
    const char *name =
        kiln__arena_format(&job->arena, "%s.checked", job->request->entry);
    LLVMValueRef made;

    w->proof = make_proof(
        job, kiln__arena_format(&job->arena, "%s.tile", job->request->entry));
    made = make_checked(job, job->defers ? job->request->entry : name);
    if (w->proof == NULL || made == NULL || name == NULL)
        return KILN_ENOMEM;
    if (job->defers)
        return KILN_OK;
    LLVMSetVisibility(made, LLVMHiddenVisibility);
    w->checked = kiln__host_add_kernel(job, name);
    LLVMSetVisibility(w->checked, LLVMHiddenVisibility);
    kiln__host_attribute(job, w->checked, -1, "cold");
    return KILN_OK;
}

kiln_status kiln__host_wrap(kiln__codegen_job *job)
{
    wrapper w = {.job = job,
                 .body = job->item_function,
                 .body_can_fail = job->can_fail,
                 .clips = job->clip_function != NULL};

    if (job->settings->entry_abi != KILN_ABI_KERNEL)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "the host makes kernels only, no functions for "
                              "foreign code");
    if (job->proof_function != NULL) {
        w.body = job->safe_function;
        w.body_can_fail = job->safe_can_fail;
        if (add_checked(&w) != KILN_OK)
            return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    }
    if (make_kernel(&w, job->request->entry) == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    if (job->for_group)
        kiln__host_mark_loops(job);
    return KILN_OK;
}
