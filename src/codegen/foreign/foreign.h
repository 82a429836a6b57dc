/* foreign.h - modules of other frontends: what they may hold, and may do. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_FOREIGN_FOREIGN_H
#define KILN_CODEGEN_FOREIGN_FOREIGN_H

#include "codegen/module/codegen_job.h"

/* ---- foreign.c ---- */
/* As kiln__lower, for the request's own module. */
kiln_status kiln__foreign_lower(kiln__codegen_job *job);

/* ---- foreign_trim.c ---- */
/* Takes out what says nothing to a kernel, dead code above all: what is left
   is internal but for `root`. Refuses what would run or be resolved by a
   loader. */
kiln_status kiln__foreign_trim(kiln__codegen_job *job, LLVMValueRef root);

/* ---- foreign_check.c ---- */
/* Refuses what a foreign module may not contain; no name that is left means
   anything to LLVM. */
kiln_status kiln__foreign_check(kiln__codegen_job *job, LLVMValueRef root);
/* KILN_ECODEGEN: KIND 'NAME' of the module: WHY. */
kiln_status kiln__foreign_refuse(kiln__codegen_job *job, const char *kind,
                                 LLVMValueRef global, const char *why);
/* Once more, behind the passes: what they made has code, too. */
kiln_status kiln__foreign_check_code(kiln__codegen_job *job);
/* NULL, or what is wrong with a type; the target may have none such. */
const char *kiln__foreign_refused_type(const kiln__codegen_job *job,
                                       LLVMTypeRef type);

/* ---- foreign_variables.c ---- */
kiln_status kiln__foreign_check_variable(kiln__codegen_job *job,
                                         LLVMValueRef variable);

/* ---- foreign_intrinsics.c ---- */
/* NULL, or why a call of a function of that name, which LLVM defines, is not
   taken. */
const char *kiln__foreign_refused_intrinsic(const kiln__codegen_job *job,
                                            LLVMValueRef call,
                                            const char *name);

/* ---- foreign_support.c ---- */
/* NULL, or why a call of an intrinsic of that name, without "llvm." and types,
   has no code, or code that means something else. */
const char *kiln__foreign_unsupported(const kiln__codegen_job *job,
                                      LLVMValueRef call, const char *name);
/* The same of what the target limits alone. */
const char *kiln__foreign_limited(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name);
/* The same of an instruction that is no call. */
const char *kiln__foreign_refused_code(const kiln__codegen_job *job,
                                       LLVMValueRef instruction);

/* ---- foreign_device.c ---- */
/* Replaces calls of kiln_global_id() and its kin by the backend's code. */
kiln_status kiln__foreign_bind(kiln__codegen_job *job);

/* ---- foreign_sites.c ---- */
/* True for a global that stands for a site of the request. */
int kiln__foreign_is_site(const kiln__codegen_job *job, LLVMValueRef global);
/* Replaces sites by their addresses, or by what their slots hold. */
kiln_status kiln__foreign_sites(kiln__codegen_job *job);
/* After the passes: defines the slots that are still read. */
void kiln__foreign_sites_define(kiln__codegen_job *job);
/* Completes job->sites, for the payload that was made. */
kiln_status kiln__foreign_sites_place(kiln__codegen_job *job,
                                      const kiln_blob *payload);

#endif /* KILN_CODEGEN_FOREIGN_FOREIGN_H */
