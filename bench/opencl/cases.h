/* cases.h - launches of kernels in OpenCL C, read from a file. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_OPENCL_CASES_H
#define BENCH_OPENCL_CASES_H

#include <stddef.h>
#include <stdint.h>

/*
 * A line of the file is one case:
 *
 *     NAME|FILE|OPTIONS|KERNEL|GLOBAL SIZE|LOCAL SIZE|ARGUMENT ARGUMENT ...
 *
 * FILE is relative to the folder of the cases. Sizes have up to three numbers.
 * An argument is
 *
 *     TYPE*COUNT=INIT   a buffer; INIT is a number, `iota`, `rand` for values
 *                       in [0, 1), or `rand%N` for integers below N
 *     TYPE:VALUE        a scalar
 *     L:BYTES           memory of the group
 *
 * TYPE is i8 to i64, u8 to u64, f32 or f64, and for buffers also SNf: structs
 * of floats, of N bytes. Lines that begin with # are comments.
 */

enum { CASE_BUFFER, CASE_SCALAR, CASE_LOCAL };

#define CASE_ARGUMENTS_MAX 32

typedef struct case_argument {
    int kind; /* CASE_... */
    char type[8];
    size_t size; /* of all, in bytes */
    void *bytes; /* of a buffer, as it begins; from malloc */
    char scalar[8];
    int is_float;     /* compared with a tolerance */
    size_t item_size; /* of what is compared */
} case_argument;

typedef struct cl_case {
    char name[64];
    char path[1024];
    char options[512];
    char kernel[128];
    int dimensions;
    size_t global[3];
    size_t local[3];
    case_argument arguments[CASE_ARGUMENTS_MAX];
    size_t count;
} cl_case;

/* Reads a case from a line, which is changed. Returns 0 after it has told what
   is wrong. */
int case_read(cl_case *out, char *line, const char *folder);
void case_dispose(cl_case *c);

/* What one system made of a case. */
typedef struct case_run {
    void *results[CASE_ARGUMENTS_MAX]; /* of buffers; from malloc */
    double build_ms;                   /* until the kernel can be launched */
    double second_ms; /* of a launch after the first one: the median */
} case_run;

void run_dispose(case_run *run);

/* Copies the initial contents for run->results. Returns 0 without memory. */
int run_begin(case_run *run, const cl_case *c);

/* Returns the median of launches. `reset` puts the initial contents into the
   buffers, `launch` is timed. A negative number: one of them failed. */
double run_time(int (*reset)(void *env), int (*launch)(void *env), void *env);

double now_ms(void);

/* Systems. They return 0 after they have told what is wrong. */
int kiln_open(void);
int kiln_run(case_run *out, const cl_case *c, int with_times);
void kiln_close(void);
int peer_open(void);
int peer_run(case_run *out, const cl_case *c, int with_times);
void peer_close(void);

#endif
