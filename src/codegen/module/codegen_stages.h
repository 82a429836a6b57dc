/* codegen_stages.h - the functions that work on a job's module, by stage. */
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
/* Makes the request that of the calling thread; NULL: the thread has none. */
void kiln__codegen_enter(const kiln__codegen_request *request);
/* Returns the calling thread's request, or NULL. */
const kiln__codegen_request *kiln__codegen_current(void);
/* Passes the failure to the calling thread's request and never returns. Call it
   with no lock held. Without a request on this thread, it returns. */
void kiln__codegen_park(const char *message);

/* ---- codegen_fork.c ---- */
/* Called once per process: from then on fork() waits for jobs under way. */
void kiln__codegen_guard_forks(void);
/* Called around each job, on its thread, and also when its thread is parked.
   `backend` and `completed` are kiln__codegen_backend_bit() or 0. */
void kiln__codegen_job_begins(unsigned backend);
void kiln__codegen_job_ends(unsigned completed);

/* ---- codegen_job.c ---- */
/* Returns KILN__PRINT_..., how that part is printed. */
uint32_t kiln__print_part_kind(const kiln__codegen_print *print, size_t part);
/* Joins the lines of a message of LLVM, since a failure's message has one line,
   and hides addresses, which differ from run to run. */
void kiln__join_lines(char *text);
/* As kiln__job_fail(), and disposes LLVM's message (may be NULL). */
kiln_status kiln__job_fail_llvm(kiln__codegen_job *job, kiln_status status,
                                const char *what, char *message);

/* ---- codegen_link.c: bitcode of tier 2 into the module ---- */
/* Links the functions that are used, and makes all runtime functions
   internal. */
kiln_status kiln__link_functions(kiln__codegen_job *job);
/* Links copies of the adapted modules of external functions. */
kiln_status kiln__link_externals(kiln__codegen_job *job);
/* Links what a foreign module declares and its request supplies. */
kiln_status kiln__link_imports(kiln__codegen_job *job);
/* Writes the module as bitcode. */
kiln_status kiln__write_bitcode(kiln__codegen_job *job, kiln_blob *out);

/* Puts both entries of a device's kernel into one module. The one for any
   launch is the first, which describes the kernel. */
kiln_status kiln__join_entries(kiln__codegen_job *job);

/* ---- codegen_facts.c ---- */
/* Makes job->facts of a function without branches that returns i1, and deletes
   it. `inputs` says what its parameters are. Leaves them NULL where that cannot
   be done. */
kiln_status kiln__facts_take(kiln__codegen_job *job, LLVMValueRef function,
                             const kiln__fact_input *inputs);

/* ---- codegen_apart.c ---- */
/* Adds facts about the addresses of arrays to the job's, and lets the second
   entry know of them. All functions are inlined. Returns whether pointers have
   alignments that are to be found behind casts. */
int kiln__assume_places(kiln__codegen_job *job);

/* ---- codegen_fewer_facts.c ---- */
/* Leaves out of the job's facts what they say twice. Nothing may be appended
   after that. */
void kiln__facts_fewer(kiln__codegen_job *job);

/* ---- codegen_import_types.c ---- */
/* Refuses functions that images may import, and that the module declares with
   other types than they have. */
kiln_status kiln__check_import_types(kiln__codegen_job *job,
                                     LLVMModuleRef module);

/* ---- codegen_names.c ---- */
/* Returns a global's name as its author knows it, in the job's arena, or "". */
const char *kiln__plain_name(kiln__codegen_job *job, LLVMValueRef global);
/* The same of a name. */
const char *kiln__plain_text(kiln__codegen_job *job, const char *name,
                             size_t size);

/* ---- codegen_passes.c ---- */
/* Runs the passes for the job's level over its modules. */
kiln_status kiln__optimise(kiln__codegen_job *job);
/* Inlines alwaysinline functions into an optimised module and cleans up. */
kiln_status kiln__optimise_inlined(kiln__codegen_job *job);
/* Cuts the blocks of an optimised module if it is large, and returns whether it
   is. */
int kiln__code_cut_large(const kiln__codegen_job *job, LLVMModuleRef module);
/* True when code of a large module is to be generated as at level 0. */
int kiln__code_is_quick(const kiln__codegen_job *job, LLVMModuleRef module);

/* ---- codegen_target.c ---- */
/* Sets the job's machine and data layout. Fails with the name of a triple,
   processor or feature that LLVM does not know. */
kiln_status kiln__target_open(kiln__codegen_job *job);
/* Gives the job's module the target's triple and data layout. */
void kiln__target_describe(kiln__codegen_job *job);
/* The machines of this thread are never used again: LLVM was left in an unknown
   state. */
void kiln__target_abandon(void);

/* ---- codegen_parameters.c ---- */
/* Reads the request's argument types into job->parameters. */
kiln_status kiln__parameters_read(kiln__codegen_job *job);
/* Returns the type of `i32 @ENTRY.item(ptr %item, <flattened arguments>)`. */
LLVMTypeRef kiln__parameters_function_type(kiln__codegen_job *job);
/* Returns how many flattened arguments the parameter has. */
size_t kiln__parameter_words(const kiln__parameter *parameter);
/* Returns the parameter's offset in the packed block, the first aligned one
   from `end`, and moves `end` after it. */
uint64_t kiln__parameter_place(const kiln__parameter *parameter, uint64_t *end);

/* ---- codegen_frames.c ---- */
/* Makes LLVM report the sizes of the module's frames. Fails where a frame
   cannot be counted. */
void kiln__frames_ask(kiln__codegen_job *job, LLVMModuleRef module);
/* Takes a report of a frame's size from a diagnostic. Returns false when the
   text is about something else. */
int kiln__frames_take(kiln__codegen_job *job, const char *text);
/* Returns how much stack all functions need together; 0 on devices. */
uint32_t kiln__frames_stack(kiln__codegen_job *job);

/* ---- codegen_relocation.c ---- */
/* Returns the class of the optimised module: KILN_RELOCATION_SESSION where an
   address may be in it, KILN_RELOCATION_RELOCATABLE where it has slots, else
   KILN_RELOCATION_PORTABLE. */
int32_t kiln__relocation_class(kiln__codegen_job *job);

#ifdef __cplusplus
}
#endif

#endif /* KILN_CODEGEN_STAGES_H */
