/* workload.h - records which kernels an offline device was asked to launch. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_WORKLOAD_H
#define KILN_WORKLOAD_H

#include "context/context.h"

/* May be used from any thread. */
typedef struct kiln__workload kiln__workload;

/* KILN_ENOMEM. */
kiln_status kiln__workload_new(kiln__workload **out, kiln_context *context);
void kiln__workload_free(kiln__workload *workload); /* NULL is fine */
/* Notes a launch; a second launch of a kernel changes nothing. KILN_ENOMEM. */
kiln_status kiln__workload_add(kiln__workload *workload,
                               const kiln_kernel *kernel);
/* Gives the text of the workload; the caller releases it. KILN_ENOMEM. */
kiln_status kiln__workload_text(kiln_blob *out, kiln__workload *workload,
                                const char *target);

#endif /* KILN_WORKLOAD_H */
