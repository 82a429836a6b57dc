/* outside.h - packages and functions of other frontends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_PROGRAM_OUTSIDE_H
#define KILN_FRONTEND_PROGRAM_OUTSIDE_H

#include "context/context.h"
#include "frontend/program/facts.h"

/* Finds the frontend that has a package of the name. KILN_ENOTFOUND. */
kiln_status kiln__outside_find(kiln_frontend **out,
                               const kiln__language *language,
                               const char *name);

/* Finds the function that a binding of kind OUTSIDE_FUNCTION means, or that has
   the name in the package of another one. KILN_ENOTFOUND. */
kiln_status kiln__ask_outside(const kiln_function **out,
                              const kiln__facts *facts,
                              const kiln__outside *outside, kiln_error **error);
/* Stores up to KILN_ARGUMENTS_MAX types of the function's parameters: scalars,
   and NULL for all others. */
kiln_status kiln__ask_outside_parameters(const kiln_type **types, size_t *count,
                                         const kiln__facts *facts,
                                         const kiln_function *function,
                                         kiln_error **error);

#endif /* KILN_FRONTEND_PROGRAM_OUTSIDE_H */
