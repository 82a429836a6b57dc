/* callback.h - which callbacks of the host this thread is in. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_CALLBACK_H
#define KILN_CONTEXT_CALLBACK_H

#include "context/context.h"

/*
 * What a callback is called from goes on afterwards, with the kernels and code
 * instances that it has: so nothing may be freed in between. Each callback that
 * may call Kiln is therefore put between these calls; and so are the end of a
 * context and a collection, in which the host's finalizers run. For kernels
 * that call functions of the host, queues tell that they are busy.
 */
typedef struct kiln__callback {
    const kiln_context *context;
    struct kiln__callback *outer; /* of this thread, of any context */
} kiln__callback;

void kiln__callback_begin(kiln__callback *callback,
                          const kiln_context *context);
/* On the thread that began it, in the reverse order. */
void kiln__callback_end(const kiln__callback *callback);
/* Whether this thread is in a callback of the context. */
int kiln__callback_is_open(const kiln_context *context);

/* Calls the host's `event`, if it has one. */
void kiln__tell_event(const kiln_context *context, const kiln_event *event);

#endif /* KILN_CONTEXT_CALLBACK_H */
