/* callback.c - which callbacks of the host this thread is in. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/callback.h"

static _Thread_local kiln__callback *innermost;

void kiln__callback_begin(kiln__callback *callback, const kiln_context *context)
{
    *callback = (kiln__callback){.context = context, .outer = innermost};
    innermost = callback;
}

void kiln__callback_end(const kiln__callback *callback)
{
    innermost = callback->outer;
}

int kiln__callback_is_open(const kiln_context *context)
{
    const kiln__callback *at = innermost;

    while (at != NULL && at->context != context)
        at = at->outer;
    return at != NULL;
}

void kiln__tell_event(const kiln_context *context, const kiln_event *event)
{
    kiln__callback callback;

    if (context->host.event == NULL)
        return;
    kiln__callback_begin(&callback, context);
    context->host.event(context->host_env, event);
    kiln__callback_end(&callback);
}
