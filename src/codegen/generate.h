/* generate.h - the other side of the border: a request, its job, its backend.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_GENERATE_H
#define KILN_CODEGEN_GENERATE_H

#include "codegen/module/codegen_job.h"

/* ---- codegen_exchange.c ---- */
/* What both libraries must have been built with. */
extern const char kiln__codegen_build_id[];

/* ---- generate.c ---- */
kiln_status kiln__generate(const kiln__codegen_request *request);

/* ---- codegen_extract.c ---- */
/* Takes what the request wants out of its library into job->module. */
kiln_status kiln__closure_extract(kiln__codegen_job *job);

/* ---- codegen_backends.c ---- */
/* The codegen half of that name, or NULL. */
const kiln__codegen_backend *kiln__codegen_backend_find(const char *name);
/* A bit of its own for each; 0: there is none of that name. */
unsigned kiln__codegen_backend_bit(const char *name);
/* abandon() and guard_forks() of all. */
void kiln__codegen_backends_abandon(void);
void kiln__codegen_backends_guard_forks(void);

#endif /* KILN_CODEGEN_GENERATE_H */
