/* frontend_suite.h - what every frontend must do, whatever its language. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FRONTEND_SUITE_H
#define KILN_TESTS_FRONTEND_SUITE_H

#include "kiln.h"
#include "kiln/sys/frontend.h"

/* The functions of the program under test: the caller calls the callee and
   nobody else calls anyone. None takes an argument. */
enum { FRONTEND_CALLER, FRONTEND_CALLEE, FRONTEND_OTHER, FRONTEND_FUNCTIONS };

/*
 * A frontend under test. A function is given a meaning by a number: equal
 * numbers mean the same. It is given one in a new world, at most 24 times. For
 * the number KILN_ECOMPILE its inference fails with that status.
 */
typedef struct frontend_subject {
    kiln_status (*open)(void **self, kiln_frontend **frontend,
                        kiln_context *context, kiln_error **error);
    kiln_status (*define)(void *self, int function, int number,
                          kiln_change_report *report, kiln_error **error);
    kiln_status (*find)(void *self, int function, const kiln_function **out,
                        kiln_error **error);
    /* After the context's end; also when open() failed and gave a self. */
    void (*close)(void *self);
} frontend_subject;

/* Runs the suite; returns how many tests failed. */
int frontend_suite_run(const frontend_subject *subject);

#endif /* KILN_TESTS_FRONTEND_SUITE_H */
