/* gradient.h - a compiler that differentiates typed IR of the language. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GRADIENT_H
#define KILN_TESTS_GRADIENT_H

#include "kiln.h"
#include "kiln/sys/frontend.h"

/*
 * For each function of the kernel language that takes and returns an f64, there
 * are grad.NAME(x: f64), its derivative, and the kernel grad.NAME(y: f64[:], x:
 * f64), which writes the derivative to y[0]. Both are Kiln's typed IR. The
 * compiler has no definitions of its own, has one world, and asks no queries.
 * All that its results depend on are the functions that they were derived from,
 * which they need not call.
 */
typedef struct gradient {
    kiln_context *context;
    kiln_frontend *frontend;
    int inferred; /* how often infer() ran */
} gradient;

kiln_status gradient_open(gradient *g, kiln_context *context,
                          kiln_error **error);
/* Finds the derivative of a function such as "main.f". */
kiln_status gradient_of(const kiln_function **out, gradient *g,
                        const char *function, kiln_error **error);

#endif /* KILN_TESTS_GRADIENT_H */
