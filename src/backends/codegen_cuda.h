/* codegen_cuda.h - what the files of CUDA's codegen half share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CUDA_H
#define KILN_CODEGEN_CUDA_H

#include "codegen_parts.h"

/* ---- codegen_cuda_link.c ---- */
/* PTX becomes a cubin by the first tool that is here, or stays PTX: then it is
   the driver's. Sets the job's format. */
kiln_status kiln__cuda_link(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out);

/* ---- codegen_cuda_nvjitlink.c ---- */
/* KILN_ENOTFOUND: the library is not here. On another failure the job has the
   tool's own message. */
kiln_status kiln__nvjitlink(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out);

#endif /* KILN_CODEGEN_CUDA_H */
