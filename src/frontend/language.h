/* language.h - the kernel language as a frontend: functions for other
   layers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LANGUAGE_H
#define KILN_LANGUAGE_H

#include "frontend/program/facts.h"

/*
 * The kernel language is a frontend like any other (kiln/sys/frontend.h);
 * language.c implements the table of functions. Definitions do not change once
 * they are published. Each has the range of worlds in which it is visible, so
 * readers of one world see one consistent program. The world lock is held for
 * reading while tables are walked, and for writing while a change is published,
 * but never while inference or a callback runs.
 */

kiln_status kiln__language_new(kiln_context *context, kiln_error **error);

/* Finds the text of an expression in the method of a label, as exceptions name
   it. False when the label belongs to another frontend, or there is no such
   method. */
int kiln__language_span(const kiln_frontend *frontend, const char *label,
                        uint32_t ordinal, const kiln__source **source,
                        kiln__span *span);

#endif /* KILN_LANGUAGE_H */
