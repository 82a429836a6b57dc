/* math_library.h - where a device's mathematical functions come from. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_MATH_LIBRARY_H
#define KILN_MATH_LIBRARY_H

#include "context/context.h"

struct kiln__library;

/* The library that holds the functions of ir_math_names.h for the config, read
   once in a context. KILN_ENOTFOUND says where it was looked for. */
kiln_status kiln__math_library(const struct kiln__library **out,
                               kiln_context *context, const kiln_config *config,
                               kiln_error **error);

#endif /* KILN_MATH_LIBRARY_H */
