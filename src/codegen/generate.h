/* generate.h - libkiln-codegen's side of the border: request, job and
   backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_GENERATE_H
#define KILN_CODEGEN_GENERATE_H

#include "codegen/module/codegen_job.h"

/* ---- codegen_exchange.c ---- */
/* The build id that both libraries must have in common. */
extern const char kiln__codegen_build_id[];

/* ---- generate.c ---- */
kiln_status kiln__generate(const kiln__codegen_request *request);

/* ---- codegen_extract.c ---- */
/* Extracts the function that the request asks for, with its closure, from the
   library into job->module. */
kiln_status kiln__closure_extract(kiln__codegen_job *job);

/* ---- codegen_deferred.c ---- */
/* True if code of the job's checked module is not to be made now. */
int kiln__defers(const kiln__codegen_job *job);
/* Puts the checked module away, as bitcode in job->deferred. */
kiln_status kiln__defer(kiln__codegen_job *job);
/* Makes the module of a request DEFERRED the job's. */
kiln_status kiln__deferred_open(kiln__codegen_job *job);

/* ---- codegen_backends.c ---- */
/* Returns the codegen half of the backend of that name, or NULL. */
const kiln__codegen_backend *kiln__codegen_backend_find(const char *name);
/* Returns a bit that is the backend's own; 0: no backend has that name. */
unsigned kiln__codegen_backend_bit(const char *name);
/* Call abandon() and guard_forks() of every backend. */
void kiln__codegen_backends_abandon(void);
void kiln__codegen_backends_guard_forks(void);

#endif /* KILN_CODEGEN_GENERATE_H */
