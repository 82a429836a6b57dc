/* device_codegen.h - what the codegen halves of all devices share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_DEVICE_CODEGEN_DEVICE_CODEGEN_H
#define KILN_BACKENDS_DEVICE_CODEGEN_DEVICE_CODEGEN_H

#include "abi/device_abi.h"
#include "codegen/module/codegen_stages.h"

/*
 * Code reaches its item through a pointer to a variable. That begins with two
 * words, the address of the state (device_abi.h) and the launch, and inlining
 * turns it into registers. Ids come from the hardware. A backend describes what
 * its hardware offers in kiln__device_hardware; the functions below build the
 * rest from it.
 */
typedef struct kiln__device_hardware {
    kiln__codegen_device device; /* first, so that lowering finds it */
    unsigned kernel_convention;
    /* Attribute of an aggregate parameter: "byval", "byref". */
    const char *aggregate;
    /* Dynamic group memory is the kernel's last parameter; otherwise it is what
       a variable of no size stands for. */
    int local_is_parameter;
    /* The driver sets arguments one by one, so an array's size that is known to
       be small is one parameter of 32 bits. Otherwise it is two, its halves. */
    int sets_each_argument;
    uint32_t group_max; /* most items of a group */
    /* Returns whether a kernel may have so many arguments, hidden ones among
       them: they take `bytes`, and are so many parameters. */
    int (*takes_arguments)(const kiln__codegen_job *job, uint64_t bytes,
                           uint64_t parameters);
    /* Return ids and sizes along a dimension, as i64. */
    LLVMValueRef (*local_id)(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t dimension);
    LLVMValueRef (*group_id)(kiln__codegen_job *job, LLVMBuilderRef builder,
                             uint32_t dimension);
    LLVMValueRef (*group_size)(kiln__codegen_job *job, LLVMBuilderRef builder,
                               uint32_t dimension);
    LLVMValueRef (*group_count)(kiln__codegen_job *job, LLVMBuilderRef builder,
                                uint32_t dimension);
    /* NULL, or returns an item's id in the grid, or with `is_size` the grid's
       size, as i64, in launches that begin at 0. */
    LLVMValueRef (*grid_id)(kiln__codegen_job *job, LLVMBuilderRef builder,
                            int is_size, uint32_t dimension);
    /* Return how many lanes a sub-group may have, and this lane's number, as
       i64. */
    LLVMValueRef (*lanes)(kiln__codegen_job *job, LLVMBuilderRef builder);
    LLVMValueRef (*lane)(kiln__codegen_job *job, LLVMBuilderRef builder);
    /* NULL, or return the sub-group's number and how many lanes it has, as i64.
       NULL means that items are in sub-groups in the order of their numbers. */
    LLVMValueRef (*sub_group)(kiln__codegen_job *job, LLVMBuilderRef builder);
    LLVMValueRef (*members)(kiln__codegen_job *job, LLVMBuilderRef builder);
    /* Returns the i32 of another lane, which must exist. */
    LLVMValueRef (*shuffle)(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef word, LLVMValueRef lane);
    /* Constraints of an assembly that returns its operand, of 32 and of 64
       bits, in a register; NULL: see device_end.c. */
    const char *held[2];
    /* Returns number `which` of the ids of a record, as i32, read where it is
       recorded; then records are written in parts. NULL: see device_raise.c. */
    LLVMValueRef (*read_again)(kiln__codegen_job *job, LLVMBuilderRef builder,
                               uint32_t which);
    /* NULL, or builds what a kernel does before everything else. */
    void (*begin)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item);
    /* Adds attributes and metadata of the target to the kernel. */
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
/* Build a product and a sum that do not wrap. */
LLVMValueRef kiln__device_multiply(LLVMBuilderRef builder, LLVMValueRef a,
                                   LLVMValueRef b);
LLVMValueRef kiln__device_add(LLVMBuilderRef builder, LLVMValueRef a,
                              LLVMValueRef b);
/* Returns the item's place in the grid, from the hardware. */
LLVMValueRef kiln__device_global_id(kiln__codegen_job *job,
                                    LLVMBuilderRef builder, uint32_t dimension);
/* Returns the size of a group along a dimension. */
LLVMValueRef kiln__device_group_size(kiln__codegen_job *job,
                                     LLVMBuilderRef builder,
                                     uint32_t dimension);
/* Returns the number of the item in its group, dimension 0 fastest. */
LLVMValueRef kiln__device_item_number(kiln__codegen_job *job,
                                      LLVMBuilderRef builder);
/* Calls an intrinsic that is not overloaded. */
LLVMValueRef kiln__device_intrinsic(kiln__codegen_job *job,
                                    LLVMBuilderRef builder, const char *name,
                                    LLVMValueRef *arguments, unsigned count);
/* Returns an unsigned value, read or returned by a call, as i64, and tells LLVM
   that it is in `least` to `end` - 1. */
LLVMValueRef kiln__device_range(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef value, uint32_t least,
                                uint32_t end);
void kiln__device_attribute(const kiln__codegen_job *job, LLVMValueRef function,
                            const char *name);
/* Adds a text attribute to a function; the value is formatted. */
void kiln__device_text_attribute(kiln__codegen_job *job, LLVMValueRef function,
                                 const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- device_small.c ---- */
/* Returns an id or a size of a small grid as a call with a range; NULL: it has
   one anyway. */
LLVMValueRef kiln__device_small_query(kiln__codegen_job *job,
                                      LLVMBuilderRef builder, uint32_t query,
                                      uint32_t dimension);
/* Gives these calls their code. */
void kiln__device_place_ids(kiln__codegen_job *job);

/* ---- device_limits.c: groups, their memory, and arguments ---- */
/* True when the group's sizes are required. */
int kiln__device_group_is_known(const kiln__codegen_job *job);
/* Attaches the group's sizes to the kernel for its driver, if they are
   required. */
void kiln__device_require_group(const kiln__codegen_job *job,
                                LLVMValueRef kernel);
/* Return how many items a group certainly has, how many it has at most, and how
   many at most along a dimension. */
uint32_t kiln__device_group_items(const kiln__codegen_job *job);
uint32_t kiln__device_group_most(const kiln__codegen_job *job);
uint32_t kiln__device_size_most(const kiln__codegen_job *job,
                                uint32_t dimension);
/* Sets static_local_bytes to what all variables of the module take in the
   memory of a group, also those of foreign modules. */
void kiln__device_count_local(kiln__codegen_job *job);
/* The same, and refuses more than `most`. */
kiln_status kiln__device_check_local(kiln__codegen_job *job, uint32_t most);
/* Refuse a required group that is too large, and arguments of more than `most`
   bytes. `taker` names whose limit it is, for the message. */
kiln_status kiln__device_check_group(kiln__codegen_job *job, const char *taker);
kiln_status kiln__device_check_arguments(kiln__codegen_job *job, uint64_t most,
                                         const char *taker);

/* The functions below, for all GPUs. */
extern const kiln__codegen_item kiln__device_items;

/* ---- device_raise.c: exceptions and prints ---- */
void kiln__device_raise(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item,
                        const kiln__codegen_exception *exception);
void kiln__device_frame(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item, uint32_t ordinal,
                        const char *method);
void kiln__device_print(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item, const kiln__codegen_print *print);
/* Builds, after the kernel's call of the item function, the code that records
   what the item raised. */
void kiln__device_record_item(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef item);
/* An exception while it is recorded. */
typedef struct kiln__device_raised {
    LLVMValueRef state;     /* its address */
    LLVMValueRef launch;    /* i64 */
    LLVMValueRef report;    /* i32, a number in the job's table */
    LLVMValueRef values[2]; /* i64 */
    LLVMValueRef item;      /* NULL: frames are not kept */
} kiln__device_raised;
/* Builds the code that records an exception, if it is the launch's first. */
void kiln__device_record(kiln__codegen_job *job, LLVMBuilderRef builder,
                         const kiln__device_raised *raised);
/* Sets the report and the values of an exception. */
void kiln__device_describe_raise(kiln__codegen_job *job,
                                 const kiln__codegen_exception *exception,
                                 kiln__device_raised *out);
/* Read the report and the values of what an item raised, and the members of
   its launch. */
void kiln__device_read_raise(kiln__codegen_job *job, LLVMBuilderRef builder,
                             LLVMValueRef item, kiln__device_raised *out);
void kiln__device_read_launch(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef item, kiln__device_raised *out);
/* Returns the type of the address of the state. */
LLVMTypeRef kiln__device_state_pointer(const kiln__codegen_job *job);
/* Returns the type of an item: the hidden arguments, and what describes an
   exception. */
LLVMTypeRef kiln__device_item_type(const kiln__codegen_job *job);
/* Stores the first `count` hidden arguments to an item. */
void kiln__device_fill_item(const kiln__codegen_job *job,
                            LLVMBuilderRef builder, LLVMValueRef item,
                            const LLVMValueRef *hidden, uint32_t count);
/* Stores the address of the dynamic group memory to an item. */
void kiln__device_fill_local(const kiln__codegen_job *job,
                             LLVMBuilderRef builder, LLVMValueRef item,
                             LLVMValueRef memory);
LLVMValueRef kiln__device_local_memory(kiln__codegen_job *job,
                                       LLVMBuilderRef builder,
                                       LLVMValueRef item);
LLVMValueRef kiln__device_local_size(kiln__codegen_job *job,
                                     LLVMBuilderRef builder, LLVMValueRef item);
LLVMValueRef kiln__device_heap(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef item);
/* Returns the address of word 0 or 1 of the backend's own in an item. Items
   have these two words, i64, only if the backend has `converge`. */
LLVMValueRef kiln__device_own(const kiln__codegen_job *job,
                              LLVMBuilderRef builder, LLVMValueRef item,
                              unsigned number);

/* Set and read the size of the grid in an item. */
void kiln__device_set_grid(const kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef item, uint32_t dimension,
                           LLVMValueRef size);
LLVMValueRef kiln__device_grid(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef item,
                               uint32_t dimension);

/* ---- device_cut.c: grids that cut their last groups ---- */
/* True for a kernel that may have them: `hidden_arguments` are those without
   the grid's sizes. */
int kiln__device_is_cut(const kiln__codegen_job *job);
/* Sets the grid's sizes in an item of a grid of whole groups. */
void kiln__device_fill_grid(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef item);
/* Sets them by the parameters from `first` on of the kernel that the builder
   is in, and ends items outside the grid. */
void kiln__device_cut(kiln__codegen_job *job, LLVMBuilderRef builder,
                      LLVMValueRef item, unsigned first);

/* ---- device_end.c: see kiln__codegen_item ---- */
void kiln__device_end(kiln__codegen_job *job, LLVMBuilderRef builder,
                      LLVMValueRef item,
                      const kiln__codegen_exception *exception);
kiln_status kiln__device_place_ends(kiln__codegen_job *job);

/* ---- device_report_table.c ---- */
/* Returns the number of the report in the job's table, where equal reports are
   one. */
uint32_t kiln__device_exception_report(kiln__codegen_job *job, uint32_t kind,
                                       uint32_t ordinal, const char *method,
                                       const char *message);
uint32_t kiln__device_print_report(kiln__codegen_job *job, size_t count,
                                   const char *const *texts,
                                   const uint32_t *kinds);
int kiln__device_has_reports(const kiln__codegen_job *job);

/* ---- device_group.c: operations of a sub-group ---- */
/* Returns how many lanes of the item's sub-group exist, as i64. */
LLVMValueRef kiln__device_members(kiln__codegen_job *job,
                                  LLVMBuilderRef builder);
LLVMValueRef kiln__device_collective(
    kiln__codegen_job *job, LLVMBuilderRef builder, LLVMValueRef item,
    const kiln__codegen_collective *collective);

/* ---- device_report_table.c ---- */
/* Returns the table of what the job's code may report, as device_abi.h
   describes it, in the arena. NULL: there is nothing to report, or memory ran
   out, and the job has failed. */
const void *kiln__device_reports(kiln__codegen_job *job, size_t *size);

#endif /* KILN_BACKENDS_DEVICE_CODEGEN_DEVICE_CODEGEN_H */
