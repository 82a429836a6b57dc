/* host_wrap.h - the host's kernel while it is being built. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_HOST_CODEGEN_HOST_WRAP_H
#define KILN_BACKENDS_HOST_CODEGEN_HOST_WRAP_H

#include "backends/host/codegen/host_codegen.h"

/*
 * host_wrap.c builds the kernel of a job, and host_entry.c what it loads. Both
 * work on this state, which lives while one kernel is built. The same state
 * serves the kernel of the checked module.
 */
typedef struct kiln__host_wrapper {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMTypeRef i64;
    LLVMValueRef function;
    LLVMValueRef launch;
    LLVMValueRef block_arguments; /* the packed block */
    LLVMValueRef item;
    LLVMValueRef tile;    /* the item of the proof, which is not inlined */
    LLVMValueRef *values; /* arguments of calls: the item, the flat arguments */
    unsigned value_count;
    LLVMValueRef grid[3];
    LLVMValueRef block[3];
    LLVMValueRef groups[2];
    LLVMValueRef group_id[3];
    LLVMValueRef start[3]; /* where the group's items begin */
    LLVMValueRef from[3];  /* where the loops begin, after clipping */
    LLVMValueRef end[3];
    LLVMBasicBlockRef failed;
    LLVMValueRef body; /* the item function to call */
    int body_can_fail;
    LLVMValueRef proof;   /* i32 (tile, packed block, i64 x 6), or NULL */
    LLVMValueRef checked; /* the kernel for groups without a proof; NULL: there
                             is no proof, or it is deferred */
    int clips;
    LLVMValueRef joined; /* how many groups run as one at most, or NULL */
    LLVMValueRef width;  /* in x, of the groups that do now */
} kiln__host_wrapper;

#define KILN__OF_LAUNCH(member, d) \
    (offsetof(struct kiln__host_launch_state, member) + 8 * (uint64_t)(d))

/* ---- host_entry.c ---- */
/* Declares a kernel of host_abi.h. */
LLVMValueRef kiln__host_add_kernel(const kiln__codegen_job *job,
                                   const char *name);
/* Load the groups' sizes, and every argument to `values`, after the item. */
void kiln__host_load_block(kiln__host_wrapper *w);
void kiln__host_load_arguments(kiln__host_wrapper *w);
/* Loads the grid's sizes, for one group. */
void kiln__host_load_grid(kiln__host_wrapper *w);

#endif /* KILN_BACKENDS_HOST_CODEGEN_HOST_WRAP_H */
