/* spirv_codegen.h - what the files of SPIR-V's codegen half share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_SPIRV_CODEGEN_SPIRV_CODEGEN_H
#define KILN_BACKENDS_SPIRV_CODEGEN_SPIRV_CODEGEN_H

#include "backends/device/codegen/device_codegen.h"

/* LLVM's numbers of calling conventions and address spaces. */
#define KILN__SPIR_FUNCTION 75u
#define KILN__SPIR_KERNEL 76u

#define KILN__SPACE_PRIVATE 0u
#define KILN__SPACE_GLOBAL 1u
#define KILN__SPACE_CONSTANT 2u
#define KILN__SPACE_GENERIC 4u

/* ---- spirv_options.c: the target's options ---- */

/* True when the target has the option: "fp16",
   "SPV_EXT_shader_atomic_float_add". */
int kiln__spirv_has(const kiln__codegen_job *job, const char *option);
/* Returns the X of SPIR-V 1.X. */
unsigned kiln__spirv_minor(const kiln__codegen_job *job);
/* Returns how messages name a function: by its method, or by its own name. */
const char *kiln__spirv_name(kiln__codegen_job *job, LLVMValueRef function);

/* ---- spirv_calls.c: before the passes ---- */

/* Refuses calls that SPIR-V does not allow, recursion among them. Then gives
   all functions and calls their conventions. */
kiln_status kiln__spirv_bind_calls(kiln__codegen_job *job);
/* Gives every call its callee's convention. */
void kiln__spirv_set_conventions(kiln__codegen_job *job);
/* Inlines everything into the kernel. Where code would stop an item, the kernel
   returns. */
kiln_status kiln__spirv_inline_all(kiln__codegen_job *job);

/* The driver's function that reads a clock, and the target's option for it. */
#define KILN__SPIRV_CLOCK "_Z17clock_read_devicev"
#define KILN__SPIRV_CLOCK_OPTION "SPV_KHR_shader_clock"

/* ---- spirv_adapt.c: after the passes ---- */
kiln_status kiln__spirv_adapt(kiln__codegen_job *job);
kiln_status kiln__spirv_run_passes(kiln__codegen_job *job, const char *passes);

/* ---- spirv_atomics.c ---- */
/* True when the target has an instruction for the atomic update. */
int kiln__spirv_has_update(const kiln__codegen_job *job, LLVMValueRef update);
/* Makes loops of all other updates. */
void kiln__spirv_expand_atomics(kiln__codegen_job *job, LLVMValueRef function);

/* ---- spirv_pointers.c ---- */
/* Makes comparisons and atomic operations of numbers of those of pointers. */
void kiln__spirv_number_pointers(const kiln__codegen_job *job,
                                 LLVMValueRef function);
/* Makes addresses of bytes of variables that are passed to the driver's
   functions. */
void kiln__spirv_pass_bytes(const kiln__codegen_job *job, LLVMValueRef call);

/* ---- spirv_converge.c: barriers and failed items ---- */
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

/* Splits phis, selects, loads and stores of structs and arrays into those of
   their parts; returns how many were split. */
int kiln__spirv_split_aggregates(kiln__codegen_job *job, LLVMValueRef function);

/* ---- spirv_expand.c ---- */

/* Replaces a call that the generator has no instruction for by simpler
   instructions. Returns true if that was possible; then the call is erased. */
int kiln__spirv_expand(kiln__codegen_job *job, LLVMValueRef call);
/* Replaces the conversion of an f32 to the bits of an f64, for targets without
   f64. Returns true if `value` was one; then it is erased. */
int kiln__spirv_expand_bits(kiln__codegen_job *job, LLVMValueRef value);
/* Declares a function of OpenCL that only uses its arguments. */
LLVMValueRef kiln__spirv_builtin(kiln__codegen_job *job, const char *name,
                                 LLVMTypeRef result, LLVMTypeRef *parameters,
                                 unsigned count);
/* ---- spirv_builtins.c ---- */

/* True for a function that the driver has: it may stay undefined. */
int kiln__spirv_may_import(const char *name);

/* ---- spirv_check.c ---- */

/* Refuses what the generator or the target lacks. */
kiln_status kiln__spirv_check(kiln__codegen_job *job);

/* ---- spirv_half.c ---- */

/* Copies the module's words, without a capability for halves that it does not
   need. */
kiln_status kiln__spirv_copy_module(kiln__codegen_job *job,
                                    const kiln__object *module, kiln_blob *out);

/* ---- spirv_capabilities.c ---- */

/* Checks the module's words: version, instructions and capabilities must be
   those of the target. */
kiln_status kiln__spirv_check_module(kiln__codegen_job *job,
                                     const kiln__object *module);

/* ---- spirv_validate.c ---- */

/* Asks SPIRV-Tools whether the module, at an address for words, is valid. Where
   SPIRV-Tools is missing, the module is accepted. After a finding, the module
   is kept for people to look at, and the status is KILN_ECODEGEN. */
kiln_status kiln__spirv_validate(kiln__codegen_job *job,
                                 const kiln__object *module);

/* ---- spirv_emit.c: the generator, one at a time ---- */
LLVMMemoryBufferRef kiln__spirv_emit(kiln__codegen_job *job,
                                     LLVMModuleRef module, int as_text);
kiln_status kiln__spirv_begin_machine(kiln__codegen_job *job);
void kiln__spirv_end_machine(void);

/* ---- spirv_fast.c ---- */
/* See `fast` in codegen_job.h. */
LLVMValueRef kiln__spirv_fast(kiln__codegen_job *job, LLVMBuilderRef builder,
                              int64_t operation, LLVMValueRef *arguments);

/* ---- spirv_codegen.c ---- */
extern const kiln__codegen_backend kiln__spirv_codegen;

/* ---- spirv_emit.c ---- */
/* The backend's abandon() and guard_forks(). */
void kiln__spirv_abandon(void);
void kiln__spirv_guard(void);

#endif /* KILN_BACKENDS_SPIRV_CODEGEN_SPIRV_CODEGEN_H */
