/* foreign_steps.c - what a group computes for its items, on the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/groups/groups.h"
#include "codegen/module/codegen_values.h"

/*
 * A step (groups.h) is a function that is called once for all items that wait.
 * It reads and writes arrays that have an element for each item of the group.
 * An item takes part if `waiting` has `number` for it; or, if `others` is set,
 * something else. What belongs to other items stays as it is.
 *
 * The number of elements is a multiple of that of a sub-group's lanes. The loop
 * bodies have no branches, so that LLVM can vectorise them.
 *
 * Values are combined in the order of the items, beginning with one that leaves
 * any other as it is.
 */

/* A step's function, while it is built. */
typedef struct step {
    const kiln__device_call *call;
    uint32_t scope;
    uint32_t which; /* KILN__SCAN_... or KILN__GROUP_... */
    void (*build)(const struct step *s);
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMTypeRef type; /* of the elements */
} step;

#define VALUES_MAX 2
#define ARRAYS_MAX 3

/* A loop that is one block. */
typedef struct loop {
    LLVMBasicBlockRef before;
    LLVMBasicBlockRef body;
    LLVMValueRef index;
    LLVMValueRef values[VALUES_MAX]; /* of the iterations before */
    unsigned count;                  /* of the values */
} loop;

enum { WAITING, COUNT, NUMBER, OTHERS, ARRAYS };

static LLVMValueRef parameter(const step *s, unsigned index)
{
    return LLVMGetParam(s->function, index);
}

static LLVMValueRef number(const step *s, uint64_t value)
{
    return kiln__job_number64(s->call->job, value);
}

static LLVMValueRef lanes(const step *s)
{
    return number(s, s->call->job->backend->groups->sub_group_size);
}

/* ---- elements ---- */

static LLVMValueRef place(const step *s, unsigned array, LLVMTypeRef type,
                          LLVMValueRef index)
{
    return LLVMBuildInBoundsGEP2(s->builder, type, parameter(s, array), &index,
                                 1, "");
}

static LLVMValueRef read(const step *s, unsigned array, LLVMTypeRef type,
                         LLVMValueRef index)
{
    return LLVMBuildLoad2(s->builder, type, place(s, array, type, index), "");
}

static LLVMValueRef takes_part(const step *s, LLVMValueRef index)
{
    LLVMTypeRef i16 = LLVMInt16TypeInContext(s->call->job->context);
    LLVMValueRef is =
        LLVMBuildICmp(s->builder, LLVMIntEQ, read(s, WAITING, i16, index),
                      parameter(s, NUMBER), "");

    return LLVMBuildXor(s->builder, is, parameter(s, OTHERS), "");
}

/* Writes the element of an item that takes part. */
static void write(const step *s, unsigned array, LLVMValueRef index,
                  LLVMValueRef is_part, LLVMValueRef value)
{
    LLVMValueRef at = place(s, array, s->type, index);
    LLVMValueRef old = LLVMBuildLoad2(s->builder, s->type, at, "");

    LLVMBuildStore(s->builder,
                   LLVMBuildSelect(s->builder, is_part, value, old, ""), at);
}

/* ---- loops ---- */

static LLVMBasicBlockRef add_block(const step *s)
{
    return LLVMAppendBasicBlockInContext(s->call->job->context, s->function,
                                         "");
}

/* Begins a loop from `first` on. */
static loop open(const step *s, LLVMValueRef first)
{
    loop l = {.before = LLVMGetInsertBlock(s->builder), .body = add_block(s)};

    LLVMBuildBr(s->builder, l.body);
    LLVMPositionBuilderAtEnd(s->builder, l.body);
    l.index = LLVMBuildPhi(s->builder, kiln__job_i64(s->call->job), "");
    LLVMAddIncoming(l.index, &first, &l.before, 1);
    return l;
}

/* Adds a value that iterations hand on, before anything else is built in the
   loop. Returns what an iteration has. */
static LLVMValueRef add_value(const step *s, loop *l, LLVMValueRef first)
{
    LLVMValueRef value = LLVMBuildPhi(s->builder, LLVMTypeOf(first), "");

    LLVMAddIncoming(value, &first, &l->before, 1);
    l->values[l->count++] = value;
    return value;
}

/* Ends the loop before `end`. `values`: what the next iteration has. */
static void close(const step *s, const loop *l, LLVMValueRef by,
                  LLVMValueRef end, LLVMValueRef *values)
{
    LLVMBasicBlockRef last = LLVMGetInsertBlock(s->builder);
    LLVMBasicBlockRef after = add_block(s);
    LLVMValueRef next = LLVMBuildNUWAdd(s->builder, l->index, by, "");

    LLVMAddIncoming(l->index, &next, &last, 1);
    for (unsigned i = 0; i < l->count; i++)
        LLVMAddIncoming(l->values[i], &values[i], &last, 1);
    LLVMBuildCondBr(s->builder,
                    LLVMBuildICmp(s->builder, LLVMIntULT, next, end, ""),
                    l->body, after);
    LLVMPositionBuilderAtEnd(s->builder, after);
}

/* ---- reductions and scans ---- */

/* Combines the values of items from `first` to `end`. */
static LLVMValueRef combine_all(const step *s, LLVMValueRef first,
                                LLVMValueRef end)
{
    loop l = open(s, first);
    LLVMValueRef before = add_value(s, &l, kiln__foreign_identity(s->call));
    LLVMValueRef after = kiln__foreign_combine(
        s->call, s->builder, before, read(s, ARRAYS, s->type, l.index));

    after =
        LLVMBuildSelect(s->builder, takes_part(s, l.index), after, before, "");
    close(s, &l, number(s, 1), end, &after);
    return after;
}

/* Arrays: the values; where the group's result goes. */
static void reduce_group(const step *s)
{
    LLVMBuildStore(s->builder,
                   combine_all(s, number(s, 0), parameter(s, COUNT)),
                   parameter(s, ARRAYS + 1));
}

/* Arrays: the values, which become the results. */
static void reduce_sub_groups(const step *s)
{
    const loop outer = open(s, number(s, 0));
    LLVMValueRef end = LLVMBuildNUWAdd(s->builder, outer.index, lanes(s), "");
    LLVMValueRef sum = combine_all(s, outer.index, end);
    const loop inner = open(s, outer.index);

    write(s, ARRAYS, inner.index, takes_part(s, inner.index), sum);
    close(s, &inner, number(s, 1), end, NULL);
    close(s, &outer, lanes(s), parameter(s, COUNT), NULL);
}

/* What a scan has of the items before. */
typedef struct so_far {
    LLVMValueRef value;
    LLVMValueRef has_any; /* i1: a value has been combined */
} so_far;

/* Forgets it where a sub-group begins. */
static so_far begin_again(const step *s, LLVMValueRef index, so_far before)
{
    const so_far nothing = {
        kiln__foreign_identity(s->call),
        LLVMConstNull(LLVMInt1TypeInContext(s->call->job->context))};
    LLVMValueRef is_first = LLVMBuildICmp(
        s->builder, LLVMIntEQ, LLVMBuildURem(s->builder, index, lanes(s), ""),
        number(s, 0), "");

    if (s->scope == KILN__SCOPE_GROUP)
        return before;
    return (so_far){
        LLVMBuildSelect(s->builder, is_first, nothing.value, before.value, ""),
        LLVMBuildSelect(s->builder, is_first, nothing.has_any, before.has_any,
                        "")};
}

/* Arrays: the values, which become the results. */
static void scan(const step *s)
{
    const LLVMTypeRef i1 = LLVMInt1TypeInContext(s->call->job->context);
    const LLVMValueRef identity = kiln__foreign_identity(s->call);
    loop l = open(s, number(s, 0));
    so_far before = {add_value(s, &l, identity),
                     add_value(s, &l, LLVMConstNull(i1))};
    LLVMValueRef is_part = takes_part(s, l.index), both, after[VALUES_MAX];

    before = begin_again(s, l.index, before);
    both = kiln__foreign_combine(s->call, s->builder, before.value,
                                 read(s, ARRAYS, s->type, l.index));
    write(s, ARRAYS, l.index, is_part,
          s->which == KILN__SCAN_WITH
              ? both
              : LLVMBuildSelect(s->builder, before.has_any, before.value,
                                kiln__foreign_neutral(s->call), ""));
    after[0] = LLVMBuildSelect(s->builder, is_part, both, before.value, "");
    after[1] = LLVMBuildOr(s->builder, is_part, before.has_any, "");
    close(s, &l, number(s, 1), parameter(s, COUNT), after);
}

/* ---- values of others ---- */

/* Returns the lane that is asked for; it may not exist. */
static LLVMValueRef choose_lane(const step *s, LLVMValueRef own,
                                LLVMValueRef given)
{
    switch (s->which) {
    case KILN__GROUP_SHUFFLE_XOR:
        return LLVMBuildXor(s->builder, own, given, "");
    case KILN__GROUP_SHUFFLE_UP:
        return LLVMBuildSub(s->builder, own, given, "");
    case KILN__GROUP_SHUFFLE_DOWN:
        return LLVMBuildAdd(s->builder, own, given, "");
    default:
        return given;
    }
}

/* Arrays: the values, the lanes that are asked for as i32, the results. */
static void shuffle(const step *s)
{
    const loop l = open(s, number(s, 0));
    LLVMValueRef own = LLVMBuildURem(s->builder, l.index, lanes(s), "");
    LLVMValueRef lane = choose_lane(
        s, own,
        LLVMBuildZExt(s->builder,
                      read(s, ARRAYS + 1, kiln__job_i32(s->call->job), l.index),
                      kiln__job_i64(s->call->job), ""));
    LLVMValueRef fine =
        LLVMBuildICmp(s->builder, LLVMIntULT, lane, lanes(s), "");
    LLVMValueRef from = LLVMBuildSub(s->builder, l.index, own, "");

    from =
        LLVMBuildSelect(s->builder, fine,
                        LLVMBuildAdd(s->builder, from, lane, ""), l.index, "");
    from = LLVMBuildSelect(s->builder, takes_part(s, from), from, l.index, "");
    write(s, ARRAYS + 2, l.index, takes_part(s, l.index),
          read(s, ARRAYS, s->type, from));
    close(s, &l, number(s, 1), parameter(s, COUNT), NULL);
}

/* Arrays: the values; where the item's number is, an i32; where the result
   goes. */
static void broadcast(const step *s)
{
    LLVMValueRef from = LLVMBuildZExt(
        s->builder,
        read(s, ARRAYS + 1, kiln__job_i32(s->call->job), number(s, 0)),
        kiln__job_i64(s->call->job), "");
    LLVMValueRef fine =
        LLVMBuildICmp(s->builder, LLVMIntULT, from, parameter(s, COUNT), "");

    from = LLVMBuildSelect(s->builder, fine, from, number(s, 0), "");
    LLVMBuildStore(s->builder, read(s, ARRAYS, s->type, from),
                   parameter(s, ARRAYS + 2));
}

/* ---- functions ---- */

static LLVMTypeRef function_type(const step *s, unsigned arrays)
{
    const LLVMContextRef context = s->call->job->context;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
    LLVMTypeRef types[ARRAYS + ARRAYS_MAX] = {
        pointer, kiln__job_i64(s->call->job), LLVMInt16TypeInContext(context),
        LLVMInt1TypeInContext(context)};

    for (unsigned i = 0; i < arrays; i++)
        types[ARRAYS + i] = pointer;
    return LLVMFunctionType(LLVMVoidTypeInContext(context), types,
                            ARRAYS + arrays, 0);
}

static void define(step *s, const char *name, unsigned arrays)
{
    const kiln__codegen_job *job = s->call->job;

    s->function = LLVMAddFunction(job->module, name, function_type(s, arrays));
    LLVMSetLinkage(s->function, LLVMInternalLinkage);
    kiln__add_attribute(s->function, "alwaysinline");
    kiln__add_attribute(s->function, "nounwind");
    s->builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderAtEnd(s->builder, add_block(s));
    s->build(s);
    LLVMBuildRetVoid(s->builder);
    LLVMDisposeBuilder(s->builder);
}

static LLVMTypeRef wait_type(const step *s, unsigned arrays)
{
    LLVMTypeRef types[1 + ARRAYS_MAX];

    for (unsigned i = 0; i <= arrays; i++)
        types[i] = kiln__job_item_pointer(s->call->job);
    return LLVMFunctionType(LLVMVoidTypeInContext(s->call->job->context), types,
                            1 + arrays, 0);
}

/* Returns the declaration that items call. */
static LLVMValueRef declare(const step *s, const char *name, unsigned arrays)
{
    LLVMValueRef wait = LLVMGetNamedFunction(s->call->job->module, name);

    if (wait != NULL)
        return wait;
    wait = LLVMAddFunction(s->call->job->module, name, wait_type(s, arrays));
    kiln__add_attribute(wait, "convergent");
    kiln__add_attribute(wait, "noduplicate");
    kiln__add_attribute(wait, "nounwind");
    return wait;
}

/* Lets the items of the call wait for the step. The name says what the step
   does. */
static void wait_for(step s, const char *name, LLVMValueRef *arrays,
                     unsigned count)
{
    kiln__codegen_job *job = s.call->job;
    const char *run = kiln__arena_format(&job->arena, KILN__GROUPS_STEP "%s.%u",
                                         name, (unsigned)s.scope);
    const char *wait = kiln__arena_format(
        &job->arena, KILN__GROUPS_WAIT "%s.%u", name, (unsigned)s.scope);
    LLVMValueRef arguments[1 + ARRAYS_MAX] = {s.call->item};

    if (name == NULL || run == NULL || wait == NULL) {
        (void)kiln__job_fail(job, KILN_ENOMEM, "out of memory");
        return;
    }
    s.type = kiln__job_scalar(job, s.call->kind);
    if (LLVMGetNamedFunction(job->module, run) == NULL)
        define(&s, run, count);
    for (unsigned i = 0; i < count; i++)
        arguments[1 + i] = arrays[i];
    LLVMBuildCall2(s.call->builder, wait_type(&s, count),
                   declare(&s, wait, count), arguments, 1 + count, "");
}

/* ---- steps ---- */

void kiln__foreign_wait(const kiln__device_call *c)
{
    const step s = {.call = c};

    LLVMBuildCall2(c->builder, wait_type(&s, 0),
                   declare(&s, KILN__GROUPS_WAIT "barrier", 0),
                   (LLVMValueRef[]){c->item}, 1, "");
}

static const char *name_of(const kiln__device_call *c, const char *what)
{
    return kiln__arena_format(&c->job->arena, "%s.%u.%s", what,
                              (unsigned)c->operation, kiln__kind_name(c->kind));
}

void kiln__foreign_step_reduce(const kiln__device_call *c, uint32_t scope,
                               LLVMValueRef values, LLVMValueRef result)
{
    LLVMValueRef arrays[] = {values, result};
    const int is_group = scope == KILN__SCOPE_GROUP;

    wait_for((step){.call = c,
                    .scope = scope,
                    .build = is_group ? reduce_group : reduce_sub_groups},
             name_of(c, "reduce"), arrays, is_group ? 2 : 1);
}

void kiln__foreign_step_scan(const kiln__device_call *c, uint32_t scope,
                             uint32_t which, LLVMValueRef values)
{
    wait_for((step){.call = c, .scope = scope, .which = which, .build = scan},
             name_of(c, which == KILN__SCAN_WITH ? "scan" : "exscan"), &values,
             1);
}

void kiln__foreign_step_shuffle(const kiln__device_call *c, uint32_t which,
                                LLVMValueRef *arrays)
{
    const char *name =
        kiln__arena_format(&c->job->arena, "shuffle.%u.%s", (unsigned)which,
                           kiln__kind_name(c->kind));

    wait_for((step){.call = c,
                    .scope = KILN__SCOPE_SUB_GROUP,
                    .which = which,
                    .build = shuffle},
             name, arrays, 3);
}

void kiln__foreign_step_broadcast(const kiln__device_call *c,
                                  LLVMValueRef *arrays)
{
    wait_for((step){.call = c, .scope = KILN__SCOPE_GROUP, .build = broadcast},
             name_of(c, "broadcast"), arrays, 3);
}
