/* codegen_host.h - what the files of the host's codegen half share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_HOST_H
#define KILN_CODEGEN_HOST_H

#include "codegen_parts.h"
#include "host_abi.h"

/* Address of a member: `offset` bytes behind `base`. */
LLVMValueRef kiln__host_member(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef base,
                               uint64_t offset);
/* Loads a member of 64 bits that does not change during a launch and lies
   between `least` and INT64_MAX. */
LLVMValueRef kiln__host_constant(const kiln__codegen_job *job,
                                 LLVMBuilderRef builder, LLVMValueRef base,
                                 uint64_t offset, uint64_t least);
/* Size of a full group along the dimension. */
LLVMValueRef kiln__host_block(const kiln__codegen_job *job,
                              LLVMBuilderRef builder, LLVMValueRef launch,
                              uint32_t dimension);
/* Marks a load as the same whenever it is done. */
void kiln__host_mark_invariant(const kiln__codegen_job *job, LLVMValueRef load);
/* Adds an attribute of a function (index -1) or parameter (from 1). */
void kiln__host_attribute(const kiln__codegen_job *job, LLVMValueRef function,
                          int index, const char *name);

/* ---- codegen_host_group.c ---- */
extern const kiln__codegen_groups kiln__host_groups;
/* Tells LLVM which loops over a group's items are parallel. */
void kiln__host_mark_loops(kiln__codegen_job *job);

/* ---- codegen_host_intrinsics.c ---- */
extern const kiln__foreign_limit kiln__host_limits[];
/* NULL, or why an intrinsic "llvm.x86.NAME" may not be called. */
const char *kiln__host_refuse_own(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name);

/* ---- codegen_host_polls.c ---- */
/* Lets loops and recursions of the optimised modules see that the launch is to
   stop. */
kiln_status kiln__host_add_polls(kiln__codegen_job *job);

#endif /* KILN_CODEGEN_HOST_H */
