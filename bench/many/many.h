/* many.h - programs that measure themselves: sessions and workloads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#include <kiln.h>

struct options {
    const char *workload; /* "saxpy" or "many" */
    const char *package;  /* file of the kernels */
    const char *target;   /* or NULL */
    const char *insert;   /* a pack, or NULL */
    int log2n;            /* saxpy: binary logarithm of the number of items */
    int instances;        /* many: number of instances */
    int jobs;             /* prints the jobs instead of compiling */
};

#define EXECUTIONS_MAX 8

/* A part of the run that is timed. */
struct execution {
    const char *name;
    uint64_t ns;
    uint64_t compile_ns; /* of which in kiln_compile() */
};

struct session {
    struct options options;
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    kiln_package *package;
    struct execution executions[EXECUTIONS_MAX];
    size_t execution_count;
    size_t checked; /* number of results that were compared */
    size_t wrong;
    kiln_status status; /* the first failure; later calls do nothing */
    kiln_error *error;
};

/* ---- session.c ---- */
/* Opens context, pack, device and package. False after a failure. */
int session_open(struct session *s);
void session_close(struct session *s);
/* Records the first failure; true when there is none yet. Takes over `*error`,
   which the call that returned `status` may have set. */
int good(struct session *s, kiln_status status, kiln_error **error);
/* Begins a part of the run, which ends with the next one or with NULL. */
void execution_begin(struct session *s, const char *name);
/* Returns NULL after a failure. */
const kiln_kernel *compile(struct session *s, const char *kernel,
                           const kiln_type *const *types, size_t count);
void launch(struct session *s, const kiln_kernel *kernel, uint64_t items,
            const void *const *arguments, size_t count);
void wait_for_all(struct session *s);
kiln_buffer *buffer_of(struct session *s, const void *values, size_t bytes);
void report(struct session *s, const char *what);

/* ---- saxpy.c, steps.c ---- */
void saxpy_run(struct session *s);
void many_run(struct session *s);

/* ---- instances.c ---- */
enum { REAL_F32, REAL_F64, WHOLE_I32, WHOLE_I64, ELEMENT_COUNT };

struct operation {
    const char *name;
    double (*one)(double x);
    double (*two)(double x, double y);
};

/* An instance of a kernel of many.kiln. */
struct instance {
    const char *kernel;
    const struct operation *f;
    const struct operation *g; /* of composed(), else NULL */
    int element;               /* of its arrays */
    int size;                  /* its Static, or 0 */
};

#define INSTANCES_MAX 500
#define EXPONENT 3 /* of powers() */

const char *element_name(int element);
/* Lists all instances, mixed, and in the same order each time. */
void instances_list(struct instance out[INSTANCES_MAX]);
void instances_print_jobs(int count);

#endif /* BENCH_MANY_H */
