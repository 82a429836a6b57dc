/* kiln_workload.h - reads a list of jobs from a text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_WORKLOAD_H
#define KILN_TOOLS_WORKLOAD_H

#include "kiln_tool.h"

/*
 * There is one job on a line, as kiln_device_workload() writes them:
 *
 *     # a comment
 *     main.saxpy(f32[:], f32, f32[:])
 *     main.saxpy(f64[:], f64, f64[:]) bounds=off opt=2 target=host:x86-64-v4
 */
typedef struct workload_line {
    unsigned number;
    char *package;
    char *function;
    char *types[TOOL_ARGUMENTS_MAX];
    size_t type_count;
    kiln_config_options settings; /* a NULL target is the command's */
} workload_line;

typedef struct workload {
    const char *path; /* for messages */
    char *text;       /* the text that the lines point into */
    workload_line *lines;
    size_t count;
} workload;

/* Reads a file, or standard input for "-". Reports errors and returns
   TOOL_... */
int workload_read(workload *out, const char *path);
void workload_dispose(workload *list);

#endif /* KILN_TOOLS_WORKLOAD_H */
