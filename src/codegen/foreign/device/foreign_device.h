/* foreign_device.h - calls of device functions in modules of others. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_FOREIGN_FOREIGN_DEVICE_H
#define KILN_CODEGEN_FOREIGN_FOREIGN_DEVICE_H

#include "abi/scalars.h"
#include "codegen/module/codegen_stages.h"
#include "ir/ir.h"

struct kiln__device_call;

/** What a device function has to do with other items. */
typedef enum kiln__device_use {
    KILN__DEVICE_ASKS,     /* it only tells something: device_queries.h */
    KILN__DEVICE_TOGETHER, /* items of a group or sub-group execute it
                              together */
    KILN__DEVICE_ALONE,    /* nothing */
    KILN__DEVICE_HEAP      /* it allocates or frees, alone */
} kiln__device_use;

/** Device functions whose names are alike before the first dot. */
typedef struct kiln__device_family {
    const char *name;
    const char *form; /* of their type; see foreign_device.c */
    uint32_t number;  /* KILN__QUERY_..., KILN__GROUP_... or KILN__SCAN_... */
    /* Builds what replaces a call, and returns its value; NULL for void. A
       failure is the job's. */
    LLVMValueRef (*bind)(const struct kiln__device_call *call);
    kiln__device_use use;
} kiln__device_family;

#define KILN__DEVICE_ARGUMENTS_MAX 6

/* Metadata of a call of kiln_raise() that all items of a group reach, or none:
   so none of them waits for others at a barrier. */
#define KILN__TOGETHER "kiln.together"

/* Functions of Kiln's own, for targets with `converge` (neutral_meet.h): a
   meeting, which returns whether the group is over; and what an item that
   raised does before it goes to one. */
#define KILN__DEVICE_MEET "kiln_0meet"
#define KILN__DEVICE_RAISED "kiln_0raised"

/** A call of a device function. */
typedef struct kiln__device_call {
    kiln__codegen_job *job;
    const kiln__device_family *family;
    const char *name;
    int32_t kind;       /* of its type T, or KILN_TYPE_NONE */
    uint32_t operation; /* KILN__COMBINE_... of a scan */
    int raises;         /* an item may, on its own */
    LLVMBuilderRef builder;
    LLVMValueRef call;
    LLVMValueRef item;
    LLVMValueRef arguments[KILN__DEVICE_ARGUMENTS_MAX];
} kiln__device_call;

/* Which items' values a scan combines. */
#define KILN__SCAN_ALL 0u     /* of all items: a reduction */
#define KILN__SCAN_WITH 1u    /* of the items up to this one */
#define KILN__SCAN_WITHOUT 2u /* of the items before this one */

/* How a scan combines two values. */
typedef enum kiln__combine {
    KILN__COMBINE_ADD,
    KILN__COMBINE_MUL,
    KILN__COMBINE_MIN,
    KILN__COMBINE_MAX,
    KILN__COMBINE_UMIN,
    KILN__COMBINE_UMAX,
    KILN__COMBINE_AND,
    KILN__COMBINE_OR,
    KILN__COMBINE_XOR
} kiln__combine;

/* Who takes part; the first argument of many functions. */
#define KILN__SCOPE_SUB_GROUP 1u
#define KILN__SCOPE_GROUP 2u

/* ---- foreign_device.c ---- */
kiln_status kiln__foreign_refuse_call(kiln__codegen_job *job, const char *name,
                                      const char *why);

/* Returns the answer to KILN__QUERY_... as i64. */
LLVMValueRef kiln__foreign_ask(const kiln__device_call *call, uint32_t query,
                               uint32_t dimension);

/* Returns the characters of a constant, NUL-terminated string, or NULL. */
const char *kiln__foreign_text(kiln__codegen_job *job, LLVMValueRef value);

/* ---- foreign_print.c: formats of printf() ---- */
LLVMValueRef kiln__foreign_print(const kiln__device_call *call);

/* ---- foreign_heap.c: memory that items allocate ---- */
LLVMValueRef kiln__foreign_allocate(const kiln__device_call *call);
LLVMValueRef kiln__foreign_free(const kiln__device_call *call);

/* ---- foreign_forget.c ---- */
/* Removes what is said of memory from all functions that reach a call of
   `function`. */
kiln_status kiln__foreign_forget_memory(kiln__codegen_job *job,
                                        LLVMValueRef function);

/* ---- foreign_collective.c: what items do together, on devices ---- */
/* Returns the scope that the first argument names; 0: the job has failed. */
uint32_t kiln__foreign_scope(const kiln__device_call *call);
/* Returns the value of another lane of the sub-group: KILN__GROUP_SHUFFLE and
   its like. `lane` is an i32. */
LLVMValueRef kiln__foreign_lane(const kiln__device_call *call,
                                uint32_t operation, LLVMValueRef value,
                                LLVMValueRef lane);
/* Returns an array of the call's type in the group's memory, one for each
   name. */
LLVMValueRef kiln__foreign_shared(const kiln__device_call *call,
                                  const char *what, uint64_t count);
/* Stores to an element of it. Several items may store the same value to the
   same element. */
void kiln__foreign_put(const kiln__device_call *call, LLVMValueRef shared,
                       LLVMValueRef index, LLVMValueRef value);
LLVMValueRef kiln__foreign_sub_group_count(const kiln__device_call *call);
LLVMValueRef kiln__foreign_barrier(const kiln__device_call *call);
LLVMValueRef kiln__foreign_meet(const kiln__device_call *call);
LLVMValueRef kiln__foreign_raised(const kiln__device_call *call);
LLVMValueRef kiln__foreign_shuffle(const kiln__device_call *call);
LLVMValueRef kiln__foreign_broadcast(const kiln__device_call *call);
LLVMValueRef kiln__foreign_ballot(const kiln__device_call *call);
LLVMValueRef kiln__foreign_vote(const kiln__device_call *call);

/* ---- foreign_scan.c: reductions and scans ---- */
LLVMValueRef kiln__foreign_scan(const kiln__device_call *call);
/* Combine `value` of the items with the call's operation. */
LLVMValueRef kiln__foreign_scan_in_sub_group(const kiln__device_call *call,
                                             uint32_t which,
                                             LLVMValueRef value);
LLVMValueRef kiln__foreign_scan_in_group(const kiln__device_call *call,
                                         uint32_t which, LLVMValueRef value);
/* Reads ".OPERATION" at `*at` and moves on; false: there is none. */
int kiln__foreign_read_operation(uint32_t *out, const char **at);
/* False when the call's operation does not exist for its type. */
int kiln__foreign_can_combine(const kiln__device_call *call);
/* Builds the call's operation on two values of its type. */
LLVMValueRef kiln__foreign_combine(const kiln__device_call *call,
                                   LLVMBuilderRef builder, LLVMValueRef a,
                                   LLVMValueRef b);
/* Returns what the operation gives where there is no value. */
LLVMValueRef kiln__foreign_neutral(const kiln__device_call *call);
/* Returns what leaves any other value as it is. */
LLVMValueRef kiln__foreign_identity(const kiln__device_call *call);

/* ---- foreign_together.c: what items do together, on the host ---- */
/* True where items exchange values by steps of their group (groups.h). */
int kiln__foreign_has_steps(const kiln__device_call *call);
/* As the functions without "by step". `scope` may be 0: the job has failed. */
LLVMValueRef kiln__foreign_scan_by_step(const kiln__device_call *call,
                                        uint32_t scope, uint32_t which,
                                        LLVMValueRef value);
LLVMValueRef kiln__foreign_lane_by_step(const kiln__device_call *call,
                                        uint32_t which, LLVMValueRef value,
                                        LLVMValueRef lane);
LLVMValueRef kiln__foreign_broadcast_by_step(const kiln__device_call *call);
/* Returns the item's lane as i64, by a call that is bound later: until then it
   is known to differ between items. */
LLVMValueRef kiln__foreign_lane_later(const kiln__device_call *call);

/* ---- foreign_steps.c: what a group computes for its items ---- */
/* Build that the item waits, or waits for a step. The arrays are variables of
   the item, whose elements the step reads and writes, or of the group. */
void kiln__foreign_wait(const kiln__device_call *call);
/* `result` is a variable of the group if that is the scope. Otherwise each
   item's value becomes its result. */
void kiln__foreign_step_reduce(const kiln__device_call *call, uint32_t scope,
                               LLVMValueRef values, LLVMValueRef result);
/* The values become the results. */
void kiln__foreign_step_scan(const kiln__device_call *call, uint32_t scope,
                             uint32_t which, LLVMValueRef values);
/* Arrays: values, lanes as i32, results. */
void kiln__foreign_step_shuffle(const kiln__device_call *call, uint32_t which,
                                LLVMValueRef *arrays);
/* Arrays: values; of the group: the number of an item as i32, the result. */
void kiln__foreign_step_broadcast(const kiln__device_call *call,
                                  LLVMValueRef *arrays);

#endif /* KILN_CODEGEN_FOREIGN_FOREIGN_DEVICE_H */
