/* ptxas.h - NVIDIA's assembler, which may be started ahead of its input. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PTXAS_H
#define KILN_PTXAS_H

#include <limits.h>

#include "abi/codegen_abi.h"
#include "base/data/array.h"

/* From tool_run.h. */
struct kiln__object;
struct kiln__tool_process;

/* Words of a CUDA target that choose which tool makes a cubin, as they stand
   among the settings' options. With neither, nvJitLink comes first. */
#define KILN__CUDA_TOOL_NVJITLINK "tool=nvjitlink"
#define KILN__CUDA_TOOL_PTXAS "tool=ptxas"

/* The tool's optimisation level, 0 to 3. */
unsigned kiln__cuda_level(const kiln__codegen_settings *settings);
/* True when the settings leave the choice open, or have chosen this tool. */
int kiln__cuda_may_use(const kiln__codegen_settings *settings,
                       const char *tool);

/* Runs ptxas on the PTX. KILN_ENOTFOUND: `path` cannot be started. */
kiln_status kiln__ptxas_run(const kiln__codegen_settings *settings,
                            const char *path, const struct kiln__object *ptx,
                            kiln_blob *out, kiln__text *said);
/* Starts ptxas if it is the tool that will be used, else returns NULL. */
struct kiln__tool_process *kiln__ptxas_begin(
    const kiln__codegen_settings *settings);
/* In a child of fork(): closes the input. */
void kiln__ptxas_forget(void *begun);
/* Ends it if it has got no input, and frees it. NULL is fine. */
void kiln__ptxas_drop(struct kiln__tool_process *begun);

#endif /* KILN_PTXAS_H */
