/* rocm_codegen.h - what the files of ROCm's codegen half share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_ROCM_CODEGEN_ROCM_CODEGEN_H
#define KILN_BACKENDS_ROCM_CODEGEN_ROCM_CODEGEN_H

#include "backends/device/codegen/device_codegen.h"

/* ---- rocm_processor.c: what a processor is like ---- */
/* Refuses what no processor, and what this one, can be. */
kiln_status kiln__rocm_check_target(kiln__codegen_job *job);
/* Items of a sub-group: 32 or 64. */
uint32_t kiln__rocm_lanes(const kiln__codegen_job *job);
/* What AMD's libraries of bitcode ask about the target. */
int kiln__rocm_constant(const kiln__codegen_job *job, const char *name,
                        uint64_t *value);
/* 9 for gfx906, 10 for gfx1030. */
unsigned kiln__rocm_generation(const kiln__codegen_job *job);
/* Of the memory of a group, in bytes. */
uint32_t kiln__rocm_local_limit(const kiln__codegen_job *job);
/* Sub-groups that each of the units, which share a group, holds at least when
   `groups` groups of `items` items are there; the most it can, if that is
   less. */
uint32_t kiln__rocm_waves(const kiln__codegen_job *job, uint32_t groups,
                          uint32_t items);
/* Of code objects: 5 or 6; 0 when the settings name another one. */
unsigned kiln__rocm_object_version(const kiln__codegen_job *job);
/* True when the backend's options have the word. */
int kiln__rocm_has_option(const kiln__codegen_job *job, const char *word);

/* ---- rocm_lanes.c: sub-groups ---- */
/* As kiln__device_hardware wants them. */
LLVMValueRef kiln__rocm_lane_count(kiln__codegen_job *job,
                                   LLVMBuilderRef builder);
LLVMValueRef kiln__rocm_lane(kiln__codegen_job *job, LLVMBuilderRef builder);
LLVMValueRef kiln__rocm_shuffle(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef word, LLVMValueRef lane);
void kiln__rocm_fence(kiln__codegen_job *job, LLVMBuilderRef builder,
                      const char *scope, LLVMAtomicOrdering ordering);

/* ---- rocm_atomics.c ---- */
/* Says of the module's own atomics what LLVM cannot know. */
void kiln__rocm_describe_atomics(kiln__codegen_job *job);

/* ---- rocm_kernel.c: what is said of a kernel ---- */
kiln_status kiln__rocm_describe_kernel(kiln__codegen_job *job,
                                       LLVMValueRef kernel);

/* ---- rocm_link.c: from an object to a code object ---- */
kiln_status kiln__rocm_finish(kiln__codegen_job *job,
                              const kiln__object *objects, size_t count,
                              kiln_blob *out);

/* ---- rocm_metadata.c: what a code object says of its kernel ---- */

#define KILN__ROCM_KIND_SIZE 32

typedef struct kiln__rocm_argument {
    uint64_t offset;
    uint64_t size;
    char kind[KILN__ROCM_KIND_SIZE]; /* "by_value", "hidden_block_count_x" */
} kiln__rocm_argument;

typedef struct kiln__rocm_metadata {
    uint64_t kernels; /* the rest is of the first one */
    uint64_t registers;
    uint64_t local_bytes;
    uint64_t private_bytes;
    uint64_t argument_bytes; /* of the whole segment */
    uint64_t maximum_group;
    uint64_t lanes;
    uint64_t argument_count;
    kiln__rocm_argument *arguments; /* the caller's; may be NULL */
    size_t room;                    /* of them */
} kiln__rocm_metadata;

/* Reads a code object, of which nothing is taken for granted. Returns 0 when it
   is damaged or lacks what every one has. */
int kiln__rocm_metadata_read(kiln__rocm_metadata *out, const void *bytes,
                             size_t size);

/* ---- rocm_intrinsics.c ---- */
extern const kiln__foreign_limit kiln__rocm_limits[];

/* ---- rocm_codegen.c ---- */
extern const kiln__codegen_backend kiln__rocm_codegen;

#endif /* KILN_BACKENDS_ROCM_CODEGEN_ROCM_CODEGEN_H */
