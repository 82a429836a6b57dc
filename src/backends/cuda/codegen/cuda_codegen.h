/* cuda_codegen.h - what the files of CUDA's codegen half share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_CUDA_CODEGEN_CUDA_CODEGEN_H
#define KILN_BACKENDS_CUDA_CODEGEN_CUDA_CODEGEN_H

#include "base/data/array.h"
#include "codegen/module/codegen_stages.h"

/* ---- cuda_link.c ---- */
/* PTX becomes a cubin by the first tool that is here and knows the target, or
   stays PTX: then it is the driver's. Sets the job's format and tools. */
kiln_status kiln__cuda_link(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out);
/* The version of PTX that the features name, 83 for 8.3, or 0. */
unsigned kiln__cuda_ptx_version(const kiln__codegen_job *job);
/* What a tool says when it is older than the target or than the PTX. */
int kiln__cuda_is_too_old(const char *said);

/* ---- cuda_nvjitlink.c, cuda_ptxas.c ---- */
/* `said` gets what the tool has to tell, also of a cubin that it made.
   KILN_ENOTFOUND: it is not here, or cannot be used; the log says why.
   KILN_ECODEGEN: it refuses the PTX, for the reasons that it gave. */
kiln_status kiln__nvjitlink(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out, kiln__text *said);
/* Begins to open it beside the job, if the job may need it. */
void kiln__nvjitlink_begin(const kiln__codegen_job *job);
kiln_status kiln__ptxas(kiln__codegen_job *job, const kiln__object *ptx,
                        kiln_blob *out, kiln__text *said);

/* ---- cuda_atomics.c ---- */
/* Gives the module's atomic updates the order and scope that LLVM drops. */
kiln_status kiln__cuda_order_atomics(kiln__codegen_job *job);

/* ---- cuda_intrinsics.c ---- */
extern const kiln__foreign_limit kiln__cuda_limits[];

/* ---- cuda_fast.c ---- */
LLVMValueRef kiln__cuda_fast(kiln__codegen_job *job, LLVMBuilderRef builder,
                             int64_t operation, LLVMValueRef *arguments);

/* ---- cuda_cubin.c ---- */
/* What a cubin needs, read from it and from what its maker said. */
void kiln__cubin_read(kiln__codegen_job *job, const kiln_blob *cubin,
                      const char *said);

/* ---- cuda_codegen.c ---- */
extern const kiln__codegen_backend kiln__cuda_codegen;

/* ---- cuda_nvjitlink.c ---- */
/* The backend's guard_forks(). */
void kiln__nvjitlink_guard(void);

#endif /* KILN_BACKENDS_CUDA_CODEGEN_CUDA_CODEGEN_H */
