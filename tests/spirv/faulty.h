/* faulty.h - the real drivers, of which one call fails. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FAULTY_H
#define KILN_TESTS_FAULTY_H

#include "backends/spirv/level_zero/level_zero.h"
#include "backends/spirv/opencl/opencl.h"

/* Which call fails, and what happened; one per process. */
typedef struct faulty_state {
    uint64_t calls;     /* that can fail; looks in a row are one */
    const char *called; /* the last one */
    uint64_t fail_at;   /* counted from 1; 0: none */
    int lasting;        /* all from there on fail */
    const char *failed; /* the function that failed last */
    int64_t live;       /* objects and memory that were not given back */
    cl_device_svm_capabilities without; /* memory to hide */
    size_t argument_bytes; /* that a device of OpenCL takes; 0: its own */
    /* OpenCL: what a kernel was last told to reach. */
    size_t reached;
    void *reach[4];
    /* Level Zero: the next suggestions, of x alone, how many were asked for,
       and the group of the last launch. */
    uint32_t suggested;
    int suggestions;
    uint32_t group[3];
} faulty_state;

extern faulty_state faulty;

/* Counts a call; is it one that fails? */
int faulty_fails(const char *function);

/* ---- faulty_opencl.c ---- */
extern kiln__opencl_api faulty_opencl_real;
extern const kiln__opencl_api faulty_opencl;
/* False when there is no platform. */
int faulty_opencl_open(void);

/* ---- faulty_zero.c ---- */
extern kiln__level_zero_api faulty_zero_real;
extern const kiln__level_zero_api faulty_zero;
/* False when there is no driver. */
int faulty_zero_open(void);

#endif /* KILN_TESTS_FAULTY_H */
