/* neutral.h - modules that are written once for all targets. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_FOREIGN_NEUTRAL_H
#define KILN_CODEGEN_FOREIGN_NEUTRAL_H

#include "codegen/foreign/foreign_findings.h"
#include "codegen/module/codegen_job.h"

/*
 * A *neutral* module has the entry `void @entry(<arguments>)`. It names no
 * target, and its functions take no item: they ask for ids from any depth. The
 * passes below turn it into the *bound* form, `i32 @entry(ptr %item,
 * <arguments>)`, in which functions that need the item take it as their first
 * parameter. docs/llvm-ir.md describes both forms.
 */

/* Metadata that says whose numbers the module's address spaces have. */
#define KILN__NEUTRAL_METADATA "kiln.spaces"

/* ---- neutral.c ---- */
/* True for the entry of a neutral module. */
int kiln__neutral_is(LLVMValueRef entry);
/* Turns the module into the bound form, after it was trimmed. `*entry` is
   replaced by the bound entry. */
kiln_status kiln__neutral_adapt(kiln__codegen_job *job, LLVMValueRef *entry);

/* ---- neutral_entry.c ---- */
/* Finds parameters of the entry that do not fit the job's. */
kiln_status kiln__neutral_check_entry(kiln__foreign_findings *found);
/* Adds the bound entry around `inner`, which takes the item and then the
   neutral arguments. It returns nothing, or an i1 that is true after it
   raised. */
kiln_status kiln__neutral_bind_entry(kiln__codegen_job *job, LLVMValueRef inner,
                                     LLVMValueRef *bound);

/* ---- neutral_spaces.c ---- */
/* Returns the module's own number of generic memory; the job has failed if its
   numbers have no meaning. */
unsigned kiln__neutral_generic_space(kiln__codegen_job *job);
/* Finds pointers into address spaces that have no meaning. */
kiln_status kiln__neutral_check_spaces(kiln__foreign_findings *found);
/* Gives all of the module the target's address spaces. */
kiln_status kiln__neutral_map_spaces(kiln__codegen_job *job);

/* ---- neutral_relative.c ---- */
/* Chooses addresses without the tables of distances that LLVM makes of them,
   where the target has none. */
kiln_status kiln__neutral_choose_addresses(kiln__codegen_job *job);

/* ---- neutral_layout.c ---- */
/* Finds types in memory that the module's data layout has otherwise than the
   target's. */
kiln_status kiln__neutral_check_layout(kiln__foreign_findings *found);

/* ---- neutral_aggregates.c ---- */
/* Makes the copies of aggregates that calls pass by value. */
void kiln__neutral_copy_aggregates(kiln__codegen_job *job, LLVMValueRef entry);

/* ---- neutral_group_memory.c ---- */
/* Replaces variables that stand for dynamic group memory by calls of
   kiln_group_memory(). */
kiln_status kiln__neutral_dynamic_memory(kiln__codegen_job *job);

/* ---- neutral_atomics.c ---- */
/* Finds atomics of scopes that have no meaning. */
kiln_status kiln__neutral_check_scopes(kiln__foreign_findings *found);
/* Gives all atomics the target's names of their scopes. */
kiln_status kiln__neutral_map_scopes(kiln__codegen_job *job);

/* ---- neutral_fence.c ---- */
/* Makes LLVM's fences of calls of kiln_fence(). */
kiln_status kiln__neutral_fences(kiln__codegen_job *job);

/* ---- neutral_raise_type.c ---- */
#define KILN__NEUTRAL_RAISE "kiln_raise"
/* Returns the type that kiln_raise() has in neutral modules. */
LLVMTypeRef kiln__neutral_raise_type(kiln__codegen_job *job);
/* Gives the module's declaration that type. `*raise` may be NULL, and is
   replaced. */
kiln_status kiln__neutral_take_raise(kiln__codegen_job *job,
                                     LLVMValueRef *raise);

/* ---- neutral_raise.c ---- */
/* Makes exceptions of what ends a program, and says of each exception where it
   is raised. Called as long as the module has its debug information. */
kiln_status kiln__neutral_end_programs(kiln__codegen_job *job);
/* Makes functions that may raise return an i1 beside their result, or alone,
   which is true after they raised. */
kiln_status kiln__neutral_raise(kiln__codegen_job *job);

/* ---- neutral_meet.c ---- */
/* For targets where each item must come to each barrier. Brings what items
   execute together into the entry if an item may raise; sets `*gathered` if
   there is anything. */
kiln_status kiln__neutral_gather(kiln__codegen_job *job, LLVMValueRef entry,
                                 int *gathered);
/* Leads items of the gathered entry that raised to its barriers. */
kiln_status kiln__neutral_meet(kiln__codegen_job *job, LLVMValueRef entry);

/* ---- neutral_item.c ---- */
/* Passes the item to `*entry` and to all functions that reach a device
   function. `*entry` is replaced by the function that takes it. */
kiln_status kiln__neutral_pass_item(kiln__codegen_job *job,
                                    LLVMValueRef *entry);

#endif /* KILN_CODEGEN_FOREIGN_NEUTRAL_H */
