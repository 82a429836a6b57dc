/* cuda_codegen.h - what the files of CUDA's codegen half share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_CUDA_CODEGEN_CUDA_CODEGEN_H
#define KILN_BACKENDS_CUDA_CODEGEN_CUDA_CODEGEN_H

#include "base/data/array.h"
#include "codegen/module/codegen_stages.h"

/* ---- cuda_link.c ---- */
/* Makes a cubin of the PTX by the first tool that is present and knows the
   target. Without such a tool the payload is PTX, and the driver compiles it.
   Sets the job's format and tools. */
kiln_status kiln__cuda_link(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out);
/* Returns the version of PTX that the features name, 83 for 8.3, or 0. */
unsigned kiln__cuda_ptx_version(const kiln__codegen_job *job);
/* True when the messages say that the tool is older than the target or the
   PTX. */
int kiln__cuda_is_too_old(const char *said);

/* ---- cuda_nvjitlink.c, cuda_ptxas.c ---- */
/* Both make a cubin and append the tool's messages to `said`, also after
   success. KILN_ENOTFOUND: the tool is not here, or cannot be used; the log
   says why. KILN_ECODEGEN: it refuses the PTX, for the reasons in `said`. */
kiln_status kiln__nvjitlink(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out, kiln__text *said);
/* Begins to open the library on another thread, if the job may need it. */
void kiln__nvjitlink_begin(const kiln__codegen_job *job);
kiln_status kiln__ptxas(kiln__codegen_job *job, const kiln__object *ptx,
                        kiln_blob *out, kiln__text *said);

/* ---- cuda_atomics.c ---- */
/* Gives the module's atomic updates the ordering and scope that LLVM drops. */
kiln_status kiln__cuda_order_atomics(kiln__codegen_job *job);

/* ---- cuda_intrinsics.c ---- */
extern const kiln__foreign_limit kiln__cuda_limits[];

/* ---- cuda_features.c ---- */
/* For kiln__foreign_rules.refuse_own. */
const char *kiln__cuda_refuse_own(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name);

/* ---- cuda_fast.c ---- */
LLVMValueRef kiln__cuda_fast(kiln__codegen_job *job, LLVMBuilderRef builder,
                             int64_t operation, LLVMValueRef *arguments);

/* ---- cuda_cubin.c ---- */
/* Reads what the kernel needs from the cubin and from the messages of the tool
   that made it. */
void kiln__cubin_read(kiln__codegen_job *job, const kiln_blob *cubin,
                      const char *said);

/* ---- cuda_codegen.c ---- */
extern const kiln__codegen_backend kiln__cuda_codegen;

/* ---- cuda_nvjitlink.c ---- */
/* The backend's guard_forks(). */
void kiln__nvjitlink_guard(void);

#endif /* KILN_BACKENDS_CUDA_CODEGEN_CUDA_CODEGEN_H */
