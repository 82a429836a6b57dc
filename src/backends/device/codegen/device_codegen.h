/* device_codegen.h - what the codegen halves of devices share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_DEVICE_CODEGEN_DEVICE_CODEGEN_H
#define KILN_BACKENDS_DEVICE_CODEGEN_DEVICE_CODEGEN_H

#include "abi/device_abi.h"
#include "codegen/module/codegen_stages.h"

/*
 * Code knows its item through a pointer to a variable that begins with two
 * words, the state of device_abi.h and the launch, and that inlining takes
 * apart; ids come from the hardware. A backend says what its hardware offers;
 * the rest is built of it.
 */
typedef struct kiln__device_hardware {
    kiln__codegen_device device; /* first: lowering's view */
    unsigned kernel_convention;
    const char *aggregate; /* attribute of a parameter: "byval", "byref" */
    uint32_t group_max;    /* items of a group, at most */
    /* Ids and sizes along a dimension, as i64. */
    LLVMValueRef (*local_id)(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t dimension);
    LLVMValueRef (*group_id)(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t dimension);
    LLVMValueRef (*group_size)(kiln__codegen_job *job, LLVMBuilderRef builder,
                               uint32_t dimension);
    LLVMValueRef (*group_count)(kiln__codegen_job *job, LLVMBuilderRef builder,
                                uint32_t dimension);
    /* Of a sub-group: how many lanes there may be, and this one's number, as
       i64. */
    LLVMValueRef (*lanes)(kiln__codegen_job *job, LLVMBuilderRef builder);
    LLVMValueRef (*lane)(kiln__codegen_job *job, LLVMBuilderRef builder);
    /* NULL, or the sub-group's number and how many lanes it has, as i64; else
       items are in the order of their numbers. */
    LLVMValueRef (*sub_group)(kiln__codegen_job *job, LLVMBuilderRef builder);
    LLVMValueRef (*members)(kiln__codegen_job *job, LLVMBuilderRef builder);
    /* The i32 of another lane, which exists. */
    LLVMValueRef (*shuffle)(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef word, LLVMValueRef lane);
    /* NULL, or what a kernel does before all else. */
    void (*begin)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item);
    /* Says what else there is to say of the kernel. */
    kiln_status (*describe)(kiln__codegen_job *job, LLVMValueRef kernel);
} kiln__device_hardware;

static inline const kiln__device_hardware *kiln__hardware(
    const kiln__codegen_job *job)
{
    return (const kiln__device_hardware *)job->backend->device;
}

/* ---- device_codegen.c: ids, and the kernel ---- */
LLVMValueRef kiln__device_query(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef item, uint32_t query,
                                uint32_t dimension);
kiln_status kiln__device_wrap(kiln__codegen_job *job);
/* Size of a group along a dimension. */
LLVMValueRef kiln__device_group_size(kiln__codegen_job *job,
                                     LLVMBuilderRef builder,
                                     uint32_t dimension);
/* Number of the item in its group, dimension 0 fastest. */
LLVMValueRef kiln__device_item_number(kiln__codegen_job *job,
                                      LLVMBuilderRef builder);
/* Calls an intrinsic that is overloaded on nothing. */
LLVMValueRef kiln__device_intrinsic(kiln__codegen_job *job,
                                    LLVMBuilderRef builder, const char *name,
                                    LLVMValueRef *arguments, unsigned count);
LLVMValueRef kiln__device_number(const kiln__codegen_job *job, uint64_t value);
/* An unsigned value, read or got from a call, that is `least` to `end` - 1, as
   i64. */
LLVMValueRef kiln__device_range(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef value, uint32_t least,
                                uint32_t end);
void kiln__device_attribute(const kiln__codegen_job *job, LLVMValueRef function,
                            const char *name);
/* A text attribute of a function, its value formatted. */
void kiln__device_text_attribute(kiln__codegen_job *job, LLVMValueRef function,
                                 const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- device_limits.c: groups, their memory, and arguments ---- */
/* True when the group's sizes are required. */
int kiln__device_group_is_known(const kiln__codegen_job *job);
/* Tells the kernel's driver the group's sizes, if they are required. */
void kiln__device_require_group(const kiln__codegen_job *job,
                                LLVMValueRef kernel);
/* Items that a group has for certain, at most, and at most along a
   dimension. */
uint32_t kiln__device_group_items(const kiln__codegen_job *job);
uint32_t kiln__device_group_most(const kiln__codegen_job *job);
uint32_t kiln__device_size_most(const kiln__codegen_job *job,
                                uint32_t dimension);
/* Sets static_local_bytes to what the module's variables take in the memory of
   a group, whoever brought them. */
void kiln__device_count_local(kiln__codegen_job *job);
/* Refuses a required group that is too large, and arguments of more bytes;
   `taker` is who has the limit. */
kiln_status kiln__device_check_group(kiln__codegen_job *job, const char *taker);
kiln_status kiln__device_check_arguments(kiln__codegen_job *job, uint64_t most,
                                         const char *taker);

/* ---- device_raise.c: exceptions and prints ---- */
void kiln__device_raise(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item, uint32_t kind, uint32_t ordinal,
                        const char *method, const char *message,
                        LLVMValueRef value0, LLVMValueRef value1);
void kiln__device_frame(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item, uint32_t ordinal,
                        const char *method);
void kiln__device_print(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item, size_t count,
                        const char *const *texts, const LLVMValueRef *values,
                        const int32_t *kinds);
/* Behind the kernel's call of an item that raised: records it. */
void kiln__device_record(kiln__codegen_job *job, LLVMBuilderRef builder,
                         LLVMValueRef item);
/* The type of an item: the hidden arguments, and what an exception is about.
 */
LLVMTypeRef kiln__device_item_type(const kiln__codegen_job *job);
/* Puts the first `count` hidden arguments into an item. */
void kiln__device_fill_item(const kiln__codegen_job *job,
                            LLVMBuilderRef builder, LLVMValueRef item,
                            const LLVMValueRef *hidden, uint32_t count);
LLVMValueRef kiln__device_heap(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef item);
/* Where an item has an i64 of the backend's, number 0 or 1, if that has a
   `meet`. */
LLVMValueRef kiln__device_own(const kiln__codegen_job *job,
                              LLVMBuilderRef builder, LLVMValueRef item,
                              unsigned number);

/* ---- device_report_table.c ---- */
/* Number of the report in the job's table, where each stands once. */
uint32_t kiln__device_exception_report(kiln__codegen_job *job, uint32_t kind,
                                       uint32_t ordinal, const char *method,
                                       const char *message);
uint32_t kiln__device_print_report(kiln__codegen_job *job, size_t count,
                                   const char *const *texts,
                                   const uint32_t *kinds);
int kiln__device_has_reports(const kiln__codegen_job *job);

/* ---- device_group.c: what items tell each other ---- */
LLVMValueRef kiln__device_collective(kiln__codegen_job *job,
                                     LLVMBuilderRef builder, LLVMValueRef item,
                                     uint32_t operation, int32_t kind,
                                     LLVMValueRef value, LLVMValueRef operand);

/* ---- device_report_table.c ---- */
/* The table of what the job's code may report, as device_abi.h describes it,
   in the arena; NULL: none, or out of memory, which is the job's failure. */
const void *kiln__device_reports(kiln__codegen_job *job, size_t *size);

#endif /* KILN_BACKENDS_DEVICE_CODEGEN_DEVICE_CODEGEN_H */
