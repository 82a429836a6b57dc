/* llvm_gap_spirv.h - what LLVM's C API lacks for SPIR-V. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LLVM_GAP_SPIRV_H
#define KILN_LLVM_GAP_SPIRV_H

#include "codegen/module/codegen_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lets machines that are made, and code that is generated, from now on use
   these extensions of SPIR-V; with a count of 0 none but what the host itself
   has set. Returns 0, or 1 with a message from malloc. */
int kiln__llvm_spirv_extensions(const char *const *names, size_t count,
                                char **message);
/* Replaces `freeze` by its operand, of which nothing is left that may be
   poison. */
void kiln__llvm_thaw(LLVMValueRef freeze);
/* The address of a struct's member becomes that of the byte it begins at;
   `address` may be gone then. */
void kiln__llvm_count_bytes(LLVMValueRef address);
/* Drops the instruction and all behind it; the block has no end then. */
void kiln__llvm_cut(LLVMValueRef instruction);
/* A copy or fill of memory becomes a loop; 0: it cannot. */
int kiln__llvm_expand_memory(LLVMValueRef call);
/* As kiln__llvm_emit() for machines of SPIR-V, one thread at a time. */
LLVMMemoryBufferRef kiln__llvm_emit_spirv(LLVMTargetMachineRef machine,
                                          LLVMModuleRef module, int as_text);

#ifdef __cplusplus
}
#endif

#endif /* KILN_LLVM_GAP_SPIRV_H */
