/* lower_job.h - the functions of lowering that a job calls. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_LOWER_LOWER_JOB_H
#define KILN_CODEGEN_LOWER_LOWER_JOB_H

#include "codegen/module/codegen_job.h"

/* ---- lower.c ---- */
/* Lowers request->functions into job->module; sets parameters, item_function
   and can_fail. Failures are recorded by kiln__job_fail(). */
kiln_status kiln__lower(kiln__codegen_job *job);
/* Lowers request->functions into a module of another frontend, and defines the
   kiln_call.N() of those that it calls. */
kiln_status kiln__lower_called(kiln__codegen_job *job);
/* Lowers only functions[0], a runtime function, and declares the others. */
kiln_status kiln__lower_runtime_function(kiln__codegen_job *job);

#endif /* KILN_CODEGEN_LOWER_LOWER_JOB_H */
