/* cl_mixed.h - a package and a program of OpenCL C that call each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_CL_MIXED_H
#define KILN_TESTS_CL_MIXED_H

#include "kiln.h"
#include "kiln/opencl.h"
#include "support/harness.h"

/* What a test of one process works on. */
typedef struct cl_mixed {
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    kiln_package *package;
    kiln_opencl_program *program;
    int kernels_are_opencl; /* where cl_mixed_compile() looks for kernels */
} cl_mixed;

/* False in builds that have nothing to translate OpenCL C with. */
int cl_mixed_has_clang(void);

void cl_mixed_open(cl_mixed *f, const char *package, const char *program);
void cl_mixed_close(cl_mixed *f);

void cl_mixed_define_package(const cl_mixed *f, const char *text);
void cl_mixed_define_program(const cl_mixed *f, const char *text);

/* Finds a kernel, or a function, that takes a `f32[:]`. */
kiln_signature cl_mixed_find(const cl_mixed *f, const kiln_type **type,
                             const char *name, int is_opencl);
kiln_status cl_mixed_compile(const kiln_kernel **out, const cl_mixed *f,
                             const char *name, kiln_error **error);
/* Runs the kernel on 8 numbers, 0 to 7 at first, in groups of 4. */
void cl_mixed_expect(const cl_mixed *f, const char *name,
                     const float expected[8]);
void cl_mixed_expect_error(const cl_mixed *f, const char *name,
                           kiln_status status, const char *words);
/* The kernel ends in an exception of that method at that place; `file` NULL: at
   none that is known. */
void cl_mixed_expect_exception(const cl_mixed *f, const char *name,
                               const char *method, const char *file,
                               uint32_t line);

/* Emits the kernel's code for each kind of target. */
void cl_mixed_expect_targets(const cl_mixed *f, const char *name);
/* The target's assembly has the words. */
void cl_mixed_expect_code(const cl_mixed *f, const char *name,
                          const char *target, const char *words);

#endif /* KILN_TESTS_CL_MIXED_H */
