/* log.h - lines and events for the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOG_H
#define KILN_LOG_H

#include "kiln/context.h"

void kiln__log(kiln_context *context, int32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The host's brackets around a wait; nothing when it gave none. */
void kiln__blocking_enter(const kiln_context *context);
void kiln__blocking_leave(const kiln_context *context);

#endif /* KILN_LOG_H */
