/* kiln_precompile.h - what the parts of kiln precompile share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_PRECOMPILE_H
#define KILN_TOOLS_PRECOMPILE_H

#include <limits.h>

#include "kiln_tool.h"
#include "kiln_workload.h"

/* ---- kiln_jobs.c: a workload in a context ---- */

/* The jobs of a workload for some targets, in a context of their own. */
typedef struct job_list {
    kiln_context *context;
    kiln_batch_job *jobs;
    const workload_line **lines; /* of each job */
    const char **targets;        /* of each job, as they were asked for */
    const kiln_type **types;     /* of all jobs */
    size_t count;
    kiln_device **devices; /* offline, one a config */
    size_t device_count;
} job_list;

/* Loads the files and makes every job; TOOL_... after complaining. */
int jobs_open(job_list *out, kiln_context *context, const workload *list,
              const tool_options *options);
/* Compiles all of them, with progress; each failure is complained about. */
int jobs_compile(const job_list *list, const workload *from, const char *what);
/* Says which job it is, then what is wrong with it; TOOL_FAILED. */
int jobs_fail(const job_list *list, const workload *from, size_t job,
              kiln_error *error);
/* Ends the devices, and the context. */
void jobs_close(job_list *list);
/* A signal asked for an end; nothing is started any more. */
int jobs_interrupted(void);
void jobs_catch_signals(void);

#endif /* KILN_TOOLS_PRECOMPILE_H */
