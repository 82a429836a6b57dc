/* codegen_current.c - the request that a thread works for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <unistd.h>

#include "codegen/module/codegen_stages.h"

/*
 * LLVM and lld end the process or the thread where they cannot go on. Their
 * handlers are replaced (codegen_exchange.c, llvm_gap_lld.cc): the replacements
 * pass the failure to the request of the calling thread and never return.
 */

static _Thread_local const kiln__codegen_request *current;

void kiln__codegen_enter(const kiln__codegen_request *request)
{
    current = request;
}

const kiln__codegen_request *kiln__codegen_current(void)
{
    return current;
}

void kiln__codegen_park(const char *message)
{
    const kiln__codegen_request *request = current;

    if (request == NULL)
        return;
    current = NULL;
    kiln__codegen_job_ends(0);
    request->fatal(request->env, message);
    for (;;)
        pause();
}
