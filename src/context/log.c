/* log.c - passes log lines and events to the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "context/callback.h"

/* Longer lines are cut: logging allocates nothing, so that it works when memory
   has run out. */
#define LINE_SIZE 1024

struct kiln__held_line {
    int32_t level;
    char *text;
    struct kiln__held_line *next;
};

static _Thread_local kiln__held_lines *held; /* of this thread; the innermost */

void kiln__log_hold(kiln__held_lines *lines)
{
    *lines = (kiln__held_lines){.outer = held};
    held = lines;
}

static void keep_line(int32_t level, const char *text)
{
    struct kiln__held_line *line = kiln__allocate(&kiln__malloc, sizeof *line);

    if (line == NULL)
        return;
    line->level = level;
    line->text = kiln__string_copy(&kiln__malloc, text);
    if (line->text == NULL) {
        kiln__deallocate(&kiln__malloc, line, sizeof *line);
        return;
    }
    if (held->last == NULL)
        held->first = line;
    else
        held->last->next = line;
    held->last = line;
}

static void say(const kiln_context *context, int32_t level, const char *text)
{
    kiln__callback callback;

    if (held != NULL) {
        keep_line(level, text);
        return;
    }
    kiln__callback_begin(&callback, context);
    context->host.log(context->host_env, level, text);
    kiln__callback_end(&callback);
}

void kiln__log_let_go(kiln__held_lines *lines, const kiln_context *context)
{
    struct kiln__held_line *line = lines->first;

    held = lines->outer;
    while (line != NULL) {
        struct kiln__held_line *next = line->next;

        say(context, line->level, line->text);
        kiln__string_free(&kiln__malloc, line->text);
        kiln__deallocate(&kiln__malloc, line, sizeof *line);
        line = next;
    }
}

void kiln__log(kiln_context *context, int32_t level, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;

    if (context == NULL || context->host.log == NULL)
        return;
    va_start(arguments, format);
    if (vsnprintf(line, sizeof line, format, arguments) >= 0)
        say(context, level, line);
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

static void call(const kiln_context *context, void (*function)(void *env))
{
    kiln__callback callback;

    if (function == NULL)
        return;
    kiln__callback_begin(&callback, context);
    function(context->host_env);
    kiln__callback_end(&callback);
}

void kiln__own_thread_enter(const kiln_context *context)
{
    call(context, context->host.thread_enter);
}

void kiln__own_thread_leave(const kiln_context *context)
{
    call(context, context->host.thread_leave);
}

void kiln__own_blocking_enter(const kiln_context *context)
{
    if (context->host.thread_enter != NULL)
        kiln__blocking_enter(context);
}

void kiln__own_blocking_leave(const kiln_context *context)
{
    if (context->host.thread_enter != NULL)
        kiln__blocking_leave(context);
}
