/* target_check.h - what a kernel asks for that its target has not. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_TARGETS_TARGET_CHECK_H
#define KILN_CONTEXT_TARGETS_TARGET_CHECK_H

#include "context/targets/target_traits.h"
#include "ir/ir_uniform.h"
#include "kiln/kernel.h"

/*
 * Looked for in typed IR, before anything is lowered and without LLVM, so that
 * the message can name a place. All that is found is reported, not the first.
 * What only code generation knows, a frame that is too large or arguments that
 * it adds, is still found there.
 */

/* What is asked of it from outside of the typed IR. */
typedef struct kiln__device_launch {
    const kiln_argument_info *arguments;
    size_t argument_count;
    uint64_t argument_bytes;
    uint64_t parameters; /* each word of an array is one, other values are */
    uint32_t required_group_size[3]; /* 0: any */
    uint32_t maximum_group_size;
} kiln__device_launch;

typedef struct kiln__device_finding {
    size_t function;
    uint32_t node; /* 0: the function as a whole */
    const char *code;
    const char *message;
    const char *hint; /* or NULL */
} kiln__device_finding;

/* By which call a function is reached first; of the kernel, 0 and 0. */
typedef struct kiln__device_call {
    size_t caller;
    uint32_t node;
} kiln__device_call;

#define KILN__DEVICE_FINDINGS_MAX 20

typedef struct kiln__device_check {
    kiln__arena arena; /* of all that is said */
    const kiln__device_limits *limits;
    const kiln__uniform_function *functions; /* the kernel first */
    size_t count;
    kiln__device_call *calls; /* by function */
    kiln__device_finding findings[KILN__DEVICE_FINDINGS_MAX];
    size_t finding_count;
} kiln__device_check;

/* Finds all, in the order of the closure. KILN_ENOMEM. Dispose in any case. */
kiln_status kiln__device_check_run(kiln__device_check *check,
                                   const kiln_alloc *alloc,
                                   const kiln__device_limits *limits,
                                   const kiln__uniform_function *functions,
                                   size_t count,
                                   const kiln__device_launch *launch);
void kiln__device_check_dispose(kiln__device_check *check);

#endif /* KILN_CONTEXT_TARGETS_TARGET_CHECK_H */
