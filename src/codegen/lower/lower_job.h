/* lower_job.h - lowering, as a job asks for it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_LOWER_LOWER_JOB_H
#define KILN_CODEGEN_LOWER_LOWER_JOB_H

#include "codegen/module/codegen_job.h"

/* ---- lower.c ---- */
/* Lowers request->functions into job->module; sets parameters, item_function
   and can_fail. Failures through kiln__job_fail. */
kiln_status kiln__lower(kiln__codegen_job *job);
/* Lowers functions[0] alone, a runtime function; the others are declared. */
kiln_status kiln__lower_alone(kiln__codegen_job *job);

#endif /* KILN_CODEGEN_LOWER_LOWER_JOB_H */
