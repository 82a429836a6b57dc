/* codegen_library.h - opens libkiln-codegen at the first miss. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_CODEGEN_LIBRARY_H
#define KILN_CODEGEN_CLIENT_CODEGEN_LIBRARY_H

#include "context/context.h"

/* ---- codegen_library.c ---- */
kiln_status kiln__codegen_library_new(kiln_context *context);
void kiln__codegen_library_free(kiln_context *context);
/* Opens the library, unless this context has done so already, and compares both
   build ids. After a failure the next call tries again. */
kiln_status kiln__codegen_library_open(kiln_context *context,
                                       const kiln__codegen **out,
                                       kiln_error **error);
/* The table, if this context has opened the library, else NULL. */
const kiln__codegen *kiln__codegen_library_peek(kiln_context *context);
/* Where the library would be opened; KILN_ENOTFOUND when that is unknown
   without opening it, as for one that is linked in. */
kiln_status kiln__codegen_library_path(const kiln_context *context,
                                       char out[PATH_MAX]);
/* The same for a library that another process is to open. */
kiln_status kiln__codegen_library_library(const kiln_context *context,
                                          char out[PATH_MAX]);

#endif /* KILN_CODEGEN_CLIENT_CODEGEN_LIBRARY_H */
