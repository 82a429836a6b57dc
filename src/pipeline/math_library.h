/* math_library.h - finds the library with a device's mathematical functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_MATH_LIBRARY_H
#define KILN_MATH_LIBRARY_H

#include "context/context.h"

struct kiln__library;

/* Gives the library that contains the functions of ir_math_names.h for the
   config; it is read once in a context. KILN_ENOTFOUND, with an error that says
   where it was searched. */
kiln_status kiln__math_library(const struct kiln__library **out,
                               kiln_context *context, const kiln_config *config,
                               kiln_error **error);

/* The same for KILN__LIBRARY_..., which a foreign module needs. */
kiln_status kiln__needed_library(const struct kiln__library **out,
                                 kiln_context *context,
                                 const kiln_config *config, int32_t which,
                                 kiln_error **error);

#endif /* KILN_MATH_LIBRARY_H */
