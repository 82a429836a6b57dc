/* spirv_codegen.h - what the files of SPIR-V's codegen half share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_SPIRV_CODEGEN_SPIRV_CODEGEN_H
#define KILN_BACKENDS_SPIRV_CODEGEN_SPIRV_CODEGEN_H

#include "backends/device/codegen/device_codegen.h"

/* LLVM's numbers of conventions and address spaces. */
#define KILN__SPIR_FUNCTION 75u
#define KILN__SPIR_KERNEL 76u

#define KILN__SPACE_PRIVATE 0u
#define KILN__SPACE_GLOBAL 1u
#define KILN__SPACE_CONSTANT 2u
#define KILN__SPACE_GENERIC 4u

/* ---- spirv_options.c: the target's options ---- */

/* "fp16", "SPV_EXT_shader_atomic_float_add": the target has it. */
int kiln__spirv_has(const kiln__codegen_job *job, const char *option);
/* X of SPIR-V 1.X. */
unsigned kiln__spirv_minor(const kiln__codegen_job *job);
/* How error messages call a function: its method, or its own name. */
const char *kiln__spirv_name(kiln__codegen_job *job, LLVMValueRef function);

/* ---- spirv_calls.c: before the passes ---- */

/* Refuses calls that SPIR-V has none of, recursion among them; then gives all
   functions and calls their conventions. */
kiln_status kiln__spirv_bind_calls(kiln__codegen_job *job);
/* Every call has its callee's convention. */
void kiln__spirv_set_conventions(kiln__codegen_job *job);
/* All becomes a part of the kernel; where code would stop an item, that
   returns. */
kiln_status kiln__spirv_take_in(kiln__codegen_job *job);

/* ---- spirv_adapt.c: behind the passes ---- */
kiln_status kiln__spirv_adapt(kiln__codegen_job *job);
kiln_status kiln__spirv_run_passes(kiln__codegen_job *job, const char *passes);

/* ---- spirv_converge.c: what barriers have to do with failures ---- */
void kiln__spirv_fail(kiln__codegen_job *job, LLVMBuilderRef builder,
                      LLVMValueRef item);
void kiln__spirv_converge(kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef item);
int kiln__spirv_converges(const kiln__codegen_job *job);
void kiln__spirv_end(kiln__codegen_job *job, LLVMBuilderRef builder,
                     LLVMValueRef item);
LLVMValueRef kiln__spirv_group_failed(kiln__codegen_job *job,
                                      LLVMBuilderRef builder,
                                      LLVMValueRef item);
void kiln__spirv_begin(kiln__codegen_job *job, LLVMBuilderRef builder,
                       LLVMValueRef item);

/* ---- spirv_aggregates.c ---- */

/* Phis, selects, loads and stores of structs and arrays become ones of their
   parts; how many there were. */
int kiln__spirv_split_aggregates(kiln__codegen_job *job, LLVMValueRef function);

/* ---- spirv_expand.c ---- */

/* What the generator has no instruction for becomes simpler ones. The call is
   erased if it could be; returns true then. */
int kiln__spirv_expand(kiln__codegen_job *job, LLVMValueRef call);
/* The conversion of an f32 to the bits of an f64, for targets without these.
   Returns true if `value` was one, which is erased. */
int kiln__spirv_expand_bits(kiln__codegen_job *job, LLVMValueRef value);
/* Declares a function of OpenCL that only looks at its arguments. */
LLVMValueRef kiln__spirv_builtin(kiln__codegen_job *job, const char *name,
                                 LLVMTypeRef result, LLVMTypeRef *parameters,
                                 unsigned count);
/* True when OpenCL has a function of that name which we use. */
int kiln__spirv_may_import(const char *name);

/* ---- spirv_check.c ---- */

/* Refuses what the generator or the target has none of. */
kiln_status kiln__spirv_check(kiln__codegen_job *job);

/* ---- spirv_capabilities.c ---- */

/* Walks over the module's words: its version, instructions and capabilities
   must be those of the target. */
kiln_status kiln__spirv_check_module(kiln__codegen_job *job,
                                     const kiln__object *module);

/* ---- spirv_validate.c ---- */

/* Asks SPIRV-Tools whether the module, at an address for words, is valid; who
   has none takes it as it is. A finding is KILN_ECODEGEN, and the module is
   kept. */
kiln_status kiln__spirv_validate(kiln__codegen_job *job,
                                 const kiln__object *module);

/* ---- spirv_emit.c: the generator, one at a time ---- */
LLVMMemoryBufferRef kiln__spirv_emit(kiln__codegen_job *job,
                                     LLVMModuleRef module, int as_text);
kiln_status kiln__spirv_begin_machine(kiln__codegen_job *job);
void kiln__spirv_end_machine(void);

/* ---- spirv_codegen.c ---- */
extern const kiln__codegen_backend kiln__spirv_codegen;

/* ---- spirv_emit.c ---- */
/* The backend's abandon() and guard_forks(). */
void kiln__spirv_abandon(void);
void kiln__spirv_guard(void);

#endif /* KILN_BACKENDS_SPIRV_CODEGEN_SPIRV_CODEGEN_H */
