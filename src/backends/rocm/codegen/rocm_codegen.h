/* rocm_codegen.h - what the files of ROCm's codegen half share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_ROCM_CODEGEN_ROCM_CODEGEN_H
#define KILN_BACKENDS_ROCM_CODEGEN_ROCM_CODEGEN_H

#include "backends/device/codegen/device_codegen.h"

/* ---- rocm_processor.c: properties of a processor ---- */
/* Refuses a target that no processor, or not this processor, can be. */
kiln_status kiln__rocm_check_target(kiln__codegen_job *job);
/* Returns the number of items of a sub-group: 32 or 64. */
uint32_t kiln__rocm_lanes(const kiln__codegen_job *job);
/* True for processors whose vector registers are one file of 512. */
int kiln__rocm_has_unified_registers(const kiln__codegen_job *job);
/* Answers what AMD's libraries of bitcode ask about the target. */
int kiln__rocm_constant(const kiln__codegen_job *job, const char *name,
                        uint64_t *value);
/* Returns 9 for gfx906, 10 for gfx1030. */
unsigned kiln__rocm_generation(const kiln__codegen_job *job);
/* Returns the size limit of a group's memory, in bytes. */
uint32_t kiln__rocm_local_limit(const kiln__codegen_job *job);
/* Returns how many sub-groups each unit holds at least when `groups` groups of
   `items` items share the units; the most that a unit can hold, if that is
   less. */
uint32_t kiln__rocm_waves(const kiln__codegen_job *job, uint32_t groups,
                          uint32_t items);
/* Returns the version of code objects: 5 or 6; 0 when the settings name
   another. */
unsigned kiln__rocm_object_version(const kiln__codegen_job *job);
/* True when the backend's options contain the word. */
int kiln__rocm_has_option(const kiln__codegen_job *job, const char *word);

/* ---- rocm_lanes.c: sub-groups ---- */
/* Functions for kiln__device_hardware. */
LLVMValueRef kiln__rocm_lane_count(kiln__codegen_job *job,
                                   LLVMBuilderRef builder);
LLVMValueRef kiln__rocm_lane(kiln__codegen_job *job, LLVMBuilderRef builder);
LLVMValueRef kiln__rocm_shuffle(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef word, LLVMValueRef lane);
void kiln__rocm_fence(kiln__codegen_job *job, LLVMBuilderRef builder,
                      const char *scope, LLVMAtomicOrdering ordering);

/* Functions for kiln__codegen_device. The first one waits until all lanes have
   come, and lets each see what the others wrote. */
void kiln__rocm_wait_for_lanes(kiln__codegen_job *job, LLVMBuilderRef builder);
LLVMValueRef kiln__rocm_ballot(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef condition);

/* ---- rocm_atomics.c ---- */
/* Tells LLVM what it cannot know of the module's own atomics. */
void kiln__rocm_describe_atomics(kiln__codegen_job *job);

/* ---- rocm_kernel.c: attributes of a kernel ---- */
kiln_status kiln__rocm_describe_kernel(kiln__codegen_job *job,
                                       LLVMValueRef kernel);
int kiln__rocm_takes_arguments(const kiln__codegen_job *job, uint64_t bytes,
                               uint64_t parameters);

/* ---- rocm_link.c: makes a code object of an object ---- */
kiln_status kiln__rocm_finish(kiln__codegen_job *job,
                              const kiln__object *objects, size_t count,
                              kiln_blob *out);

/* ---- rocm_intrinsics.c ---- */
extern const kiln__foreign_limit kiln__rocm_limits[];
/* For kiln__foreign_rules.refuse_own. */
const char *kiln__rocm_refuse_own(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name);

/* ---- rocm_divide.c ---- */
/* The backend's adapt(): makes divisions of 32 bits of narrower ones. */
kiln_status kiln__rocm_widen_divisions(kiln__codegen_job *job);

/* ---- rocm_features.c ---- */
/* True if the job's processor has the instruction for a call of LLVM's
   intrinsic of that name, without "llvm.amdgcn.". */
int kiln__rocm_has_intrinsic(const kiln__codegen_job *job, LLVMValueRef call,
                             const char *name);

/* ---- rocm_codegen.c ---- */
extern const kiln__codegen_backend kiln__rocm_codegen;

/* ---- rocm_fast.c ---- */
/* See `fast` in codegen_job.h. */
LLVMValueRef kiln__rocm_fast(kiln__codegen_job *job, LLVMBuilderRef builder,
                             int64_t operation, LLVMValueRef *arguments);

#endif /* KILN_BACKENDS_ROCM_CODEGEN_ROCM_CODEGEN_H */
