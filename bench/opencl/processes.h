/* processes.h - whole processes that run one kernel in OpenCL C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_OPENCL_PROCESSES_H
#define BENCH_OPENCL_PROCESSES_H

#include "cases.h"

/*
 * A process (one.c) reads the case, compiles its kernel, writes the buffers,
 * launches once, reads the buffers and ends. There is a program for each of the
 * two systems, kiln-opencl-kiln and kiln-opencl-peer, beside kiln-opencl. Cold
 * processes have an empty cache folder, warm ones that of an earlier process.
 * Those of the two systems take turns; the medians are compared.
 */

/* Measures one case of the file, and tells. Returns 0 if a process failed. */
int measure_processes(const cl_case *c, const char *cases);

/* Tells the geometric means of all that were measured. */
void tell_processes(void);

#endif
