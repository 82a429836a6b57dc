/* codegen_current.c - the request that a thread is at work for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <unistd.h>

#include "codegen/module/codegen_stages.h"

/*
 * LLVM and lld end a process, or a thread, where they cannot go on. What takes
 * the place of that (codegen_exchange.c, llvm_gap_lld.cc) hands the failure to
 * the request of the thread that it is called on, and never returns.
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
