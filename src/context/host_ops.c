/* host_ops.c - reads the callbacks that the host gave. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/host_ops.h"
#include "base/error.h"
#include "base/options.h"
#include "base/system/stack.h"
#include "context/context.h"

/* A pair of callbacks with one missing is not used. */
static void drop_half_pairs(kiln_host_ops *host)
{
    if (host->blocking_enter == NULL || host->blocking_leave == NULL) {
        host->blocking_enter = NULL;
        host->blocking_leave = NULL;
    }
    if (host->thread_enter == NULL || host->thread_leave == NULL) {
        host->thread_enter = NULL;
        host->thread_leave = NULL;
    }
    if (host->root == NULL || host->unroot == NULL) {
        host->root = NULL;
        host->unroot = NULL;
    }
    if (host->rank == NULL || host->fetch == NULL) {
        host->rank = NULL;
        host->fetch = NULL;
    }
}

kiln_status kiln__host_ops_read(kiln_context *context,
                                const kiln_context_options *options,
                                kiln_error **error)
{
    KILN_TRY(KILN__OPTIONS_READ(&context->host, options->host, kiln_host_ops,
                                error));
    drop_half_pairs(&context->host);
    context->host_env = options->host_env;
    return KILN_OK;
}

void kiln__stack_enter(const kiln_context *context)
{
    const kiln_host_ops *host = &context->host;

    kiln__stack_begin(host->stack_limit != NULL
                          ? host->stack_limit(context->host_env)
                          : NULL);
}
