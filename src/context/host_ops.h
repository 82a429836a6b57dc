/* host_ops.h - the embedder's callbacks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_HOST_OPS_H
#define KILN_CONTEXT_HOST_OPS_H

#include "context/context.h"

/* Fills the context's `host` and `host_env`. */
kiln_status kiln__host_ops_read(kiln_context *context,
                                const kiln_context_options *options,
                                kiln_error **error);
/* kiln__stack_begin() with what the host says of the stack that the call is on.
   Public calls that may recur begin with it. */
void kiln__stack_enter(const kiln_context *context);

#endif /* KILN_CONTEXT_HOST_OPS_H */
