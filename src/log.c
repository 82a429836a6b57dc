/* log.c - lines and events for the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

#include "core.h"

/* A line is cut here: logging allocates nothing, so that it works when
   memory is what ran out. */
#define LINE_SIZE 1024

void kiln__log(kiln_context *context, int32_t level, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;

    if (context == NULL || context->host.log == NULL)
        return;
    va_start(arguments, format);
    if (vsnprintf(line, sizeof line, format, arguments) >= 0)
        context->host.log(context->host_env, level, line);
    va_end(arguments);
}

void kiln__blocking_enter(const kiln_context *context)
{
    if (context->host.blocking_enter != NULL)
        context->host.blocking_enter(context->host_env);
}

void kiln__blocking_leave(const kiln_context *context)
{
    if (context->host.blocking_leave != NULL)
        context->host.blocking_leave(context->host_env);
}
