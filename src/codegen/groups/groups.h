/* groups.h - barriers in modules of other frontends, run by loops over items.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_GROUPS_GROUPS_H
#define KILN_CODEGEN_GROUPS_GROUPS_H

#include "codegen/module/codegen_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- groups.c ---- */
/* For a backend without barriers. Turns the item function `*entry` into a
   function for a whole group, where it or its callees have barriers, and places
   the module's variables of space 3 in the group's memory. Leaves any other
   function as it is. The module is in bound form: see kiln/sys/frontend.h. */
kiln_status kiln__groups_lower(kiln__codegen_job *job, LLVMValueRef *entry);

/* ---- groups_variables.c ---- */
/* True for a variable that kiln__groups_place() places. */
int kiln__groups_is_variable(const kiln__codegen_job *job,
                             LLVMValueRef variable);
/* Replaces these variables by places in the group's memory. Only `entry` uses
   them. */
kiln_status kiln__groups_place(kiln__codegen_job *job, LLVMValueRef entry);
/* Replaces the address of the group's memory, of which kiln__groups_place() has
   made calls of a function of this name, by the backend's code. */
#define KILN__GROUPS_MEMORY "kiln.group.memory"
void kiln__groups_bind_memory(kiln__codegen_job *job);
/* Adds `size` bytes to what each group has, and stores where they begin. */
kiln_status kiln__groups_reserve(kiln__codegen_job *job, uint64_t size,
                                 uint64_t alignment, uint32_t *offset);

/* ---- groups_inline.cc ---- */
/* Inlines into `entry` every function that reaches one of the functions
   `splits` or uses a variable of the group. Returns NULL, or why that cannot be
   done, and stores the function that is the reason. */
const char *kiln__groups_inline(LLVMValueRef entry, const LLVMValueRef *splits,
                                size_t count, LLVMValueRef *culprit);

/* ---- groups_normal.cc ---- */
/* Gives the function the form that the analyses need. Its behaviour for one
   item stays the same. */
void kiln__groups_normalise(LLVMValueRef function);

/* ---- groups_cut.cc ---- */
/* Replaces `*entry` by a function for the whole group. `is_general`: assume
   nothing about which items go the same way. Returns NULL, or why that cannot
   be done. */
const char *kiln__groups_cut(kiln__codegen_job *job, LLVMValueRef *entry,
                             LLVMValueRef barrier, int is_general);

#ifdef __cplusplus
}
#endif

#endif /* KILN_CODEGEN_GROUPS_GROUPS_H */
