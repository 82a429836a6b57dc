/* groups.h - barriers in modules of other frontends, run by loops over items.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_GROUPS_GROUPS_H
#define KILN_CODEGEN_GROUPS_GROUPS_H

#include "codegen/module/codegen_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Items wait where they call a declared function whose name begins with
 * KILN__GROUPS_WAIT. Its parameters are the item and pointers. If the module
 * defines a function with the same name but KILN__GROUPS_STEP at the beginning,
 * that is a *step*: it is called once for all items that wait there, before
 * they go on:
 *
 *   void (ptr waiting, i64 count, i16 number, i1 others, ptr...)
 *
 * The pointers are those of the call. Where that is a variable of the item (an
 * alloca), the step gets the address of an array with an element for each item;
 * otherwise it is a variable of the group. `waiting` is an array of i16, too.
 * An item takes part if its element is `number`; if `others` is set, if it is
 * another number. `count`, the length of arrays, is a multiple of 64. No item
 * that does not exist takes part.
 */
#define KILN__GROUPS_WAIT "kiln.wait."
#define KILN__GROUPS_STEP "kiln.step."

/* ---- groups.c ---- */
/* For a backend without barriers. Turns the item function `*entry` into a
   function for a whole group, where its items or their callees wait, and places
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

/* Inlines what will be inlined in any case, so that it can be looked into.
   Returns 0 where something is left. */
int kiln__groups_inline_calls(LLVMValueRef function);

/* ---- groups_normal.cc ---- */
/* Gives the function the form that the analyses need. Its behaviour for one
   item stays the same. */
void kiln__groups_normalise(LLVMValueRef function);

/* Lets loops ask behind their bodies whether they go on. */
void kiln__groups_rotate(LLVMValueRef function);

/* ---- groups_cut.cc ---- */
/* Replaces `*entry` by a function for the whole group. `is_general`: assume
   nothing about which items go the same way. Returns NULL, or why that cannot
   be done. */
const char *kiln__groups_cut(kiln__codegen_job *job, LLVMValueRef *entry,
                             int is_general);

/* Does so for a function without barriers, if the group is better to run some
   of its loops together. Returns false, and leaves the function, if not. */
int kiln__groups_cut_loops(kiln__codegen_job *job, LLVMValueRef *entry);

#ifdef __cplusplus
}
#endif

#endif /* KILN_CODEGEN_GROUPS_GROUPS_H */
