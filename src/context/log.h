/* log.h - passes log lines and events to the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOG_H
#define KILN_LOG_H

#include "kiln/context.h"

void kiln__log(kiln_context *context, int32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Call the host's blocking_enter() and blocking_leave(), if it has them. They
   stand around each wait of a thread that is the host's. */
void kiln__blocking_enter(const kiln_context *context);
void kiln__blocking_leave(const kiln_context *context);
/* Call them at the begin and the end of a thread of Kiln's. */
void kiln__own_thread_enter(const kiln_context *context);
void kiln__own_thread_leave(const kiln_context *context);
/* kiln__blocking_enter() and _leave() on a thread of Kiln's, if the host knows
   the thread. */
void kiln__own_blocking_enter(const kiln_context *context);
void kiln__own_blocking_leave(const kiln_context *context);

/* Lines that are kept for later, because a host's callback may do anything and
   must not be called with a lock held. */
typedef struct kiln__held_lines {
    struct kiln__held_line *first, *last;
    struct kiln__held_lines *outer;
} kiln__held_lines;

/* Between these calls the lines of this thread are kept; without memory they
   are lost. May be nested. */
void kiln__log_hold(kiln__held_lines *lines);
void kiln__log_let_go(kiln__held_lines *lines, const kiln_context *context);

#endif /* KILN_LOG_H */
