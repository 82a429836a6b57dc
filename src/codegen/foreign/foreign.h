/* foreign.h - modules of other frontends: what they may contain and do. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_FOREIGN_FOREIGN_H
#define KILN_CODEGEN_FOREIGN_FOREIGN_H

#include "codegen/module/codegen_job.h"

/* ---- foreign.c ---- */
/* As kiln__lower(), for the module of the request. Afterwards the functions
   that it calls of the kernel language are defined, and then
   kiln__foreign_need() finds what is missing. */
kiln_status kiln__foreign_lower(kiln__codegen_job *job);
/* Adapts the job's module, of which an external function is the entry. */
kiln_status kiln__foreign_adapt_function(kiln__codegen_job *job,
                                         LLVMValueRef *entry);
/* False when every return of an adapted function says that nothing was
   raised. */
int kiln__foreign_may_fail(LLVMValueRef function);

/* ---- foreign_small.c ---- */
/* Sets job->is_small, and what is inlined, of a linked module. */
void kiln__foreign_find_small(kiln__codegen_job *job);

/* ---- foreign_idioms.c ---- */
/* Keeps the passes from making loops into calls of functions that no image may
   import; for modules of the language, too. */
void kiln__foreign_keep_loops(LLVMModuleRef module);

/* ---- foreign_memory.c ---- */
/* Defines memcpy(), memcmp() and others that the target's images cannot
   import. */
void kiln__foreign_define_memory(kiln__codegen_job *job);

/* ---- foreign_wrap.c ---- */
/* Returns the size of the head in front of a module; 0: there is none. */
size_t kiln__foreign_head(const void *module, size_t size);
/* Defines the entry as the head describes it. */
kiln_status kiln__foreign_wrap(kiln__codegen_job *job, const char *head);

/* ---- foreign_external.c ---- */
/* Adapts the modules of the request's external functions. */
kiln_status kiln__foreign_externals(kiln__codegen_job *job);

/* ---- foreign_call.c ---- */
/* True for a function that stands for one of the kernel language. */
int kiln__foreign_is_call(LLVMValueRef function);
/* Defines what the head says that the module calls. */
kiln_status kiln__foreign_define_calls(kiln__codegen_job *job,
                                       const char *lines);

/* ---- foreign_divide.c ---- */
/* Gives divisions that a processor stops at some result. For devices it does
   nothing. */
void kiln__foreign_guard_divisions(const kiln__codegen_job *job);

/* ---- foreign_contract.c ---- */
/* Takes back the leave to round a * b + c once, if the settings want that. */
void kiln__foreign_keep_roundings(const kiln__codegen_job *job);

/* ---- foreign_trim.c ---- */
/* Removes what means nothing to a kernel, above all dead code, and makes
   everything internal except `root`. Refuses what would run or be resolved by a
   loader. */
kiln_status kiln__foreign_trim(kiln__codegen_job *job, LLVMValueRef root);

/* ---- foreign_check.c ---- */
/* Refuses what a foreign module may not contain, and renames what it defines,
   so that no name means anything to LLVM. */
kiln_status kiln__foreign_check(kiln__codegen_job *job, LLVMValueRef root);
/* Fails with KILN_ECODEGEN and "KIND 'NAME' of the module: WHY". */
kiln_status kiln__foreign_refuse(kiln__codegen_job *job, const char *kind,
                                 LLVMValueRef global, const char *why);
/* Checks the code again after the passes, which may have made new code. */
kiln_status kiln__foreign_check_code(kiln__codegen_job *job);
/* Returns NULL, or why a type cannot be used; a target may lack it. */
const char *kiln__foreign_refused_type(const kiln__codegen_job *job,
                                       LLVMTypeRef type);

/* ---- foreign_labels.c ---- */
/* True for a function that has a label whose address an instruction takes. */
int kiln__foreign_takes_labels(LLVMValueRef function);

/* ---- foreign_variables.c ---- */
kiln_status kiln__foreign_check_variable(kiln__codegen_job *job,
                                         LLVMValueRef variable);
/* Refuses tables of the addresses of constants, after the passes, where the
   target cannot have them. */
kiln_status kiln__foreign_check_tables(kiln__codegen_job *job);

/* ---- foreign_intrinsics.c ---- */
/* Returns NULL, or why a function of that name, which LLVM defines, may not be
   called. */
const char *kiln__foreign_refused_intrinsic(const kiln__codegen_job *job,
                                            LLVMValueRef call,
                                            const char *name);

/* ---- foreign_support.c ---- */
/* Returns NULL, or why a call of an intrinsic of that name, without "llvm." and
   types, has no code or code that means something else. */
const char *kiln__foreign_unsupported(const kiln__codegen_job *job,
                                      LLVMValueRef call, const char *name);
/* As the function above, but only for limits of the target. */
const char *kiln__foreign_limited(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name);
/* As the function above, for an instruction other than a call. */
const char *kiln__foreign_refused_code(const kiln__codegen_job *job,
                                       LLVMValueRef instruction);

/* ---- foreign_device.c ---- */
/* Replaces calls of kiln_global_id() and similar functions by the backend's
   code. */
kiln_status kiln__foreign_bind(kiln__codegen_job *job);
/* For a backend without barriers: replaces only those that items execute
   together, by what kiln__groups_lower() understands. */
kiln_status kiln__foreign_bind_collectives(kiln__codegen_job *job);

/* True for a module of which an item may raise on its own, or that calls what
   may. */
int kiln__foreign_raises(const kiln__codegen_job *job);

/* True for the name of a device function that items execute together. */
int kiln__foreign_is_collective(const char *name);
/* True for the name of one that allocates or frees memory. */
int kiln__foreign_allocates(const char *name);
/* True for the name of one that tells where a group's dynamic memory is, or its
   size. */
int kiln__foreign_asks_for_memory(const char *name);

/* ---- foreign_converge.c ---- */
/* Marks collective functions, and all functions that reach one, as convergent,
   whatever the frontend said of them. */
kiln_status kiln__foreign_mark_convergent(kiln__codegen_job *job);

/* ---- foreign_sites.c ---- */
/* True for a global that stands for a site of the request. */
int kiln__foreign_is_site(const kiln__codegen_job *job, LLVMValueRef global);
/* Replaces sites by their addresses, or by what their slots contain. */
kiln_status kiln__foreign_sites(kiln__codegen_job *job);
/* Defines the slots that are still read after the passes. */
void kiln__foreign_sites_define(kiln__codegen_job *job);
/* Completes job->sites for the finished payload. */
kiln_status kiln__foreign_sites_place(kiln__codegen_job *job,
                                      const kiln_blob *payload);

#endif /* KILN_CODEGEN_FOREIGN_FOREIGN_H */
