/* faulty_opencl.h - the real OpenCL, of which one call fails. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FAULTY_OPENCL_H
#define KILN_TESTS_FAULTY_OPENCL_H

#include "backends/opencl.h"

/* One per process. */
typedef struct faulty_opencl {
    kiln__opencl_api real;
    uint64_t calls;     /* that can fail */
    uint64_t fail_at;   /* counted from 1; 0: none */
    int lasting;        /* all from there on fail */
    const char *failed; /* the function that failed last */
    int64_t live;       /* objects and memory that were not given back */
    cl_device_svm_capabilities without; /* of memory, to hide */
} faulty_opencl;

extern faulty_opencl faulty;
extern const kiln__opencl_api faulty_api;

/* False when there is no OpenCL. */
int faulty_open(void);

#endif /* KILN_TESTS_FAULTY_OPENCL_H */
