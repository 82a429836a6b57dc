/* workers.h - Kiln's own compiling threads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_WORKERS_H
#define KILN_CONTEXT_WORKERS_H

#include "context/context.h"

kiln_status kiln__workers_new(kiln_context *context);
void kiln__workers_free(kiln_context *context); /* waits for running work */
/* Queues run(env) for a worker; starts a worker while fewer than the limit
   exist. */
kiln_status kiln__workers_submit(kiln_context *context, void (*run)(void *env),
                                 void *env, kiln_error **error);
/* The same for threads that wait for other processes of the job. */
kiln_status kiln__fetchers_submit(kiln_context *context, void (*run)(void *env),
                                  void *env, kiln_error **error);
/* True when other work is queued. */
int kiln__workers_have_more(kiln_context *context);
/* Called on a worker that will never return (after a fatal error in LLVM):
   gives its place to a new worker and lets the thread sleep for ever. */
_Noreturn void kiln__workers_park(kiln_context *context);

#endif /* KILN_CONTEXT_WORKERS_H */
