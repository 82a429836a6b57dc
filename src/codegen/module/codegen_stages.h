/* codegen_stages.h - what is done to the module of a job, stage by stage. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_STAGES_H
#define KILN_CODEGEN_STAGES_H

#include <stdint.h>

#include "codegen/module/codegen_job.h"
#include "codegen/module/llvm_gap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- codegen_current.c ---- */
/* Makes the request the calling thread's; NULL: none. */
void kiln__codegen_enter(const kiln__codegen_request *request);
/* The calling thread's, or NULL. */
const kiln__codegen_request *kiln__codegen_current(void);
/* Hands the failure to the calling thread's request and never returns; to be
   called with no lock held. Without a request on this thread, it returns. */
void kiln__codegen_park(const char *message);

/* ---- codegen_fork.c ---- */
/* Once per process: a fork waits for jobs that are under way. */
void kiln__codegen_guard_forks(void);
/* Around each job, on its thread; also when its thread parks. `backend` and
   `gone_all_the_way` are kiln__codegen_backend_bit() or 0. */
void kiln__codegen_job_begins(unsigned backend);
void kiln__codegen_job_ends(unsigned gone_all_the_way);

/* ---- codegen_job.c ---- */
/* How a value of that kind is printed, KILN__PRINT_...; KILN_TYPE_NONE: it is a
   text. */
uint32_t kiln__print_kind(int32_t kind);
/* LLVM's messages may have several lines; a failure has one. */
void kiln__join_lines(char *text);
/* As kiln__job_fail, and disposes LLVM's message (may be NULL). */
kiln_status kiln__job_fail_llvm(kiln__codegen_job *job, kiln_status status,
                                const char *what, char *message);

/* ---- codegen_link.c: bitcode of tier 2 into the module ---- */
/* Links the functions that are used, and makes all runtime functions
   internal. */
kiln_status kiln__link_functions(kiln__codegen_job *job);
/* Links what a foreign module declares and its request brings. */
kiln_status kiln__link_imports(kiln__codegen_job *job);
/* The module as bitcode. */
kiln_status kiln__write_bitcode(kiln__codegen_job *job, kiln_blob *out);

/* ---- codegen_passes.c ---- */
/* Runs the passes for the job's level over its modules. */
kiln_status kiln__optimise(kiln__codegen_job *job);
/* Cuts the blocks of an optimised module that is large; true of such a one. */
int kiln__code_cut_large(const kiln__codegen_job *job, LLVMModuleRef module);
/* True when code of a large module is made as it is at level 0. */
int kiln__code_is_quick(const kiln__codegen_job *job, LLVMModuleRef module);

/* ---- codegen_target.c ---- */
/* Fills machines and layout; names a bad triple, processor or feature. */
kiln_status kiln__target_open(kiln__codegen_job *job);
/* LLVM was left half way on this thread: its machines are not used again. */
void kiln__target_abandon(void);

/* ---- codegen_parameters.c ---- */
/* Reads the request's argument types into job->parameters. */
kiln_status kiln__parameters_read(kiln__codegen_job *job);
/* The type of `i32 @ENTRY.item(ptr %item, <flattened arguments>)`. */
LLVMTypeRef kiln__parameters_function_type(kiln__codegen_job *job);
/* How many of a kernel's parameters it takes. */
size_t kiln__parameter_words(const kiln__parameter *parameter);
/* Offset of the parameter behind `end` in the packed block; moves `end`. */
uint64_t kiln__parameter_place(const kiln__parameter *parameter, uint64_t *end);

/* ---- codegen_frames.c ---- */
/* Makes LLVM tell of the module's frames; fails where it could not count, */
void kiln__frames_ask(kiln__codegen_job *job, LLVMModuleRef module);
/* by diagnostics, which this takes; false: the text is about something else. */
int kiln__frames_take(kiln__codegen_job *job, const char *text);
/* What all functions need of a thread's stack; 0 on devices. */
uint32_t kiln__frames_stack(kiln__codegen_job *job);

/* ---- codegen_relocation.c ---- */
/* The class that the optimised module proves: KILN_RELOCATION_SESSION where an
   address may be in it, KILN_RELOCATION_RELOCATABLE where it has slots, else
   KILN_RELOCATION_PORTABLE. */
int32_t kiln__relocation_class(kiln__codegen_job *job);

#ifdef __cplusplus
}
#endif

#endif /* KILN_CODEGEN_STAGES_H */
