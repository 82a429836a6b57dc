/* codegen_library.h - libkiln-codegen, opened at the first miss. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_CODEGEN_LIBRARY_H
#define KILN_CODEGEN_CLIENT_CODEGEN_LIBRARY_H

#include "context/context.h"

/* ---- codegen_library.c ---- */
kiln_status kiln__codegen_library_new(kiln_context *context);
void kiln__codegen_library_free(kiln_context *context);
/* Opens the library once (process-wide), checks both build ids. A failure is
   remembered and returned each time. */
kiln_status kiln__codegen_library_open(kiln_context *context,
                                       const kiln__codegen **out,
                                       kiln_error **error);
/* The table if this context opened the library before, else NULL. */
const kiln__codegen *kiln__codegen_library_peek(kiln_context *context);
/* Where the library would be opened; KILN_ENOTFOUND when that is not known
   without opening it. */
kiln_status kiln__codegen_library_path(const kiln_context *context,
                                       char out[PATH_MAX]);
/* The same of a library that is to be opened by another process. */
kiln_status kiln__codegen_library_library(const kiln_context *context,
                                          char out[PATH_MAX]);

#endif /* KILN_CODEGEN_CLIENT_CODEGEN_LIBRARY_H */
