/* target_check.h - finds what a kernel uses and its target lacks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_TARGETS_TARGET_CHECK_H
#define KILN_CONTEXT_TARGETS_TARGET_CHECK_H

#include "context/targets/target_traits.h"
#include "ir/ir_uniform.h"
#include "kiln/kernel.h"

/*
 * This check works on typed IR, before lowering and without LLVM, so that its
 * messages can name a source location. It reports all findings, not only the
 * first. What only code generation knows, such as too large a frame or
 * arguments that it adds, is reported there.
 */

/* Facts about the kernel that are not in its typed IR. */
typedef struct kiln__device_launch {
    const kiln_argument_info *arguments;
    size_t argument_count;
    uint64_t argument_bytes;
    uint64_t parameters; /* number of parameters: one for each word of an array
                            and for each other value */
    uint32_t required_group_size[3]; /* 0: any */
    uint32_t maximum_group_size;
} kiln__device_launch;

typedef struct kiln__device_finding {
    size_t function;
    uint32_t node; /* 0: the finding concerns the function as a whole */
    const char *code;
    const char *message;
    const char *hint; /* or NULL */
} kiln__device_finding;

/* The call by which a function is first reached; 0 and 0 for the kernel. */
typedef struct kiln__device_call {
    size_t caller;
    uint32_t node;
} kiln__device_call;

#define KILN__DEVICE_FINDINGS_MAX 20

typedef struct kiln__device_check {
    kiln__arena arena; /* for messages */
    const kiln__device_limits *limits;
    const kiln__uniform_function *functions; /* the kernel comes first */
    size_t count;
    kiln__device_call *calls; /* indexed by function */
    kiln__device_finding findings[KILN__DEVICE_FINDINGS_MAX];
    size_t finding_count;
} kiln__device_check;

/* Finds everything, in the order of the closure. KILN_ENOMEM. Dispose of the
   check in any case. */
kiln_status kiln__device_check_run(kiln__device_check *check,
                                   const kiln_alloc *alloc,
                                   const kiln__device_limits *limits,
                                   const kiln__uniform_function *functions,
                                   size_t count,
                                   const kiln__device_launch *launch);
void kiln__device_check_dispose(kiln__device_check *check);

#endif /* KILN_CONTEXT_TARGETS_TARGET_CHECK_H */
