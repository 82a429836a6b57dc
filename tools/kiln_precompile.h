/* kiln_precompile.h - what the parts of kiln precompile share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_PRECOMPILE_H
#define KILN_TOOLS_PRECOMPILE_H

#include <limits.h>

#include "kiln_tool.h"
#include "kiln_workload.h"

/* ---- kiln_jobs.c: the jobs of a workload in a context ---- */

/* The jobs of a workload for a number of targets, in a context of their own. */
typedef struct job_list {
    kiln_context *context;
    kiln_batch_job *jobs;
    const workload_line **lines; /* by job: its line */
    const char **targets;        /* by job: the target that was asked for */
    const kiln_type **types;     /* the types of all jobs */
    size_t count;
    kiln_device **devices; /* offline devices, one for each config */
    size_t device_count;
} job_list;

/* Loads the files and makes every job. Reports errors and returns TOOL_... */
int jobs_open(job_list *out, kiln_context *context, const workload *list,
              const tool_options *options);
/* Compiles all jobs and shows progress; each failure is reported. */
int jobs_compile(const job_list *list, const workload *from, const char *what);
/* Prints which job it is and what is wrong with it; returns TOOL_FAILED. */
int jobs_fail(const job_list *list, const workload *from, size_t job,
              kiln_error *error);
/* Closes the devices and the context. */
void jobs_close(job_list *list);
/* True after a signal asked the command to end; no more jobs are started. */
int jobs_interrupted(void);
void jobs_catch_signals(void);

#endif /* KILN_TOOLS_PRECOMPILE_H */
