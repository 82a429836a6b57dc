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
 *     TYPE*COUNT=INIT         a buffer
 *     TYPE:VALUE              a scalar
 *     (TYPE,TYPE):VALUE,VALUE a struct
 *     L:BYTES                 memory of the group
 *
 * TYPE is i8 to i64, u8 to u64, f32 or f64, and for buffers also SNf or SNi:
 * structs of N bytes, floats or whole numbers of 32 bits. INIT is
 *
 *     a number
 *     iota                    also as iota*K%N+C
 *     rand                    values in [0, 1), also as rand*K+C
 *     rand%N+C                whole numbers from C to below N + C
 *
 * Where PoCL is wrong, INIT is followed by `?` and what the buffer must be in
 * the end, as INIT or as a list of the first values, `?256,1`. Then only such
 * buffers are compared. Lines that begin with # are comments.
 */

enum { CASE_BUFFER, CASE_SCALAR, CASE_LOCAL };

/* Of a line. */
#define CASE_LINE_SIZE 4096
#define CASE_ARGUMENTS_MAX 32

typedef struct case_argument {
    int kind; /* CASE_... */
    char type[64];
    size_t size;      /* of all, in bytes */
    size_t alignment; /* of a struct */
    void *bytes;      /* of a buffer, as it begins; from malloc */
    char scalar[128];
    int is_float;         /* compared with a tolerance */
    size_t item_size;     /* of what is compared */
    void *expected;       /* what its first bytes must be in the end; NULL: what
                             the other system makes of them. From malloc */
    size_t expected_size; /* in bytes */
} case_argument;

typedef struct cl_case {
    char name[64];
    char path[CASE_LINE_SIZE + 512];
    char options[512];
    char kernel[128];
    int dimensions;
    size_t global[3];
    size_t local[3];
    case_argument arguments[CASE_ARGUMENTS_MAX];
    size_t count;
} cl_case;

/* Calls `take` for each case of the file, or the one with that name, until it
   returns 0. Returns 0 after that, or after it has told what is wrong with a
   line. */
int cases_each(const char *path, const char *name,
               int (*take)(const cl_case *c, void *env), void *env);

/* Reads an argument from a word, which is changed. Returns 0 after it has told
   what is wrong. */
int case_argument_read(case_argument *out, char *text);

/* Tells what is wrong with a text, and returns 0. */
int case_complain(const char *what, const char *text);

/* What one system made of a case. */
typedef struct case_run {
    void *results[CASE_ARGUMENTS_MAX]; /* of buffers; from malloc */
    double build_ms;                   /* until the kernel can be launched */
    double second_ms; /* of a launch after the first one: the median */
} case_run;

void run_dispose(case_run *run);

/* Copies the initial contents for run->results. Returns 0 without memory. */
int run_begin(case_run *run, const cl_case *c);

/* Returns the first argument that differs, or is not as the case expects where
   `theirs` is NULL; if there is none, the number of arguments. */
size_t case_difference(const cl_case *c, const case_run *ours,
                       const case_run *theirs);
int case_has_expectation(const cl_case *c);

/* Returns the median of launches. `reset` puts the initial contents into the
   buffers, `launch` is timed. A negative number: one of them failed. */
double run_time(int (*reset)(void *env), int (*launch)(void *env), void *env);

double now_ms(void);

/* Sorts the times and returns the one in the middle. */
double median(double *times, size_t count);

/* Systems. They return 0 after they have told what is wrong. Kiln may be opened
   for a target without a device, to compile; NULL is the host, to run. */
int kiln_open(const char *target);
int kiln_run(case_run *out, const cl_case *c, int with_times);
int kiln_compiles(const cl_case *c);
void kiln_close(void);
int peer_open(void);
int peer_run(case_run *out, const cl_case *c, int with_times);
void peer_close(void);

#endif
