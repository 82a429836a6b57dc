/* facts.h - whether the facts that a kernel's faster entry needs hold. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_FACTS_H
#define KILN_BACKENDS_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/facts_abi.h"
#include "context/context.h"

/* The shape of a launch, in the order of KILN__FACT_SHAPE. */
typedef struct kiln__facts_shape {
    uint64_t sizes[KILN__FACT_SHAPES];
} kiln__facts_shape;

/* The facts of a loaded kernel, made ready for launches. */
typedef struct kiln__launch_facts kiln__launch_facts;

/* Returns whether the program is well-formed, for arguments of that many packed
   bytes: evaluation reads nothing else. Artifacts may come from anywhere. */
int kiln__facts_fit(const void *facts, size_t size, uint32_t argument_bytes);
/* Makes the artifact's facts ready; NULL where it has none. KILN_ECORRUPT: they
   do not fit the arguments of its kernels. */
kiln_status kiln__facts_open(kiln__launch_facts **out, const kiln_alloc *alloc,
                             const kiln_artifact *artifact, kiln_error **error);
/* The same for a program that fits. KILN_ENOMEM. */
kiln_status kiln__facts_make(kiln__launch_facts **out, const kiln_alloc *alloc,
                             const void *facts, size_t size);
void kiln__facts_close(kiln__launch_facts *facts);

/* Returns whether the facts hold. Remembers the last verdicts, and the
   numbers that they were about. Threads may call it at once. */
int kiln__facts_hold(kiln__launch_facts *facts, const void *arguments,
                     const kiln__facts_shape *shape);
/* The same, without remembering anything. */
int kiln__facts_evaluate(const kiln__launch_facts *facts, const void *arguments,
                         const kiln__facts_shape *shape);

#endif /* KILN_BACKENDS_FACTS_H */
