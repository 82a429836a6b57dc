/* llvm_gap_spirv.h - functions for SPIR-V that LLVM's C API lacks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LLVM_GAP_SPIRV_H
#define KILN_LLVM_GAP_SPIRV_H

#include "codegen/module/codegen_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets which extensions of SPIR-V may be used by machines that are made, and
   code that is generated, from now on. With a count of 0 only those are left
   that the host itself has set. Returns 0, or 1 with a message from malloc. */
int kiln__llvm_spirv_extensions(const char *const *names, size_t count,
                                char **message);
/* Replaces `freeze` by its operand, changed so that nothing of it may be
   poison. */
void kiln__llvm_replace_freeze(LLVMValueRef freeze);
/* Replaces the address of a struct's member by a byte offset from the struct;
   `address` may be erased. */
void kiln__llvm_count_bytes(LLVMValueRef address);
/* spirv_addresses.cc: makes the module's addresses short. */
void kiln__llvm_spirv_addresses(LLVMModuleRef module);
/* Erases the instruction and all after it; the block has no terminator then. */
void kiln__llvm_cut(LLVMValueRef instruction);
/* Replaces an atomic update by a loop of compare and swap. */
void kiln__llvm_expand_update(LLVMValueRef update);
/* Replaces a copy or fill of memory by a loop; returns 0 when that is
   impossible. */
int kiln__llvm_expand_memory(LLVMValueRef call);
/* As kiln__llvm_emit(), for machines of SPIR-V; one thread at a time. */
LLVMMemoryBufferRef kiln__llvm_emit_spirv(LLVMTargetMachineRef machine,
                                          LLVMModuleRef module, int as_text);

#ifdef __cplusplus
}
#endif

#endif /* KILN_LLVM_GAP_SPIRV_H */
