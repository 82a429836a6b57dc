/* dynlib.h - libraries opened at run time. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DYNLIB_H
#define KILN_DYNLIB_H

#include <limits.h>

#include "kiln/error.h"

/* Opens a library with RTLD_NOW and RTLD_LOCAL; it is never closed.
   KILN_ENOTFOUND when it is not there or cannot be used; KILN_EIO and
   KILN_ENOMEM when the failure may be temporary. */
kiln_status kiln__dynlib_open(void **out, const char *name, kiln_error **error);
/* Returns the symbol's address, or NULL. */
void *kiln__dynlib_symbol(void *library, const char *name);
/* Gives the folder of the object that holds `address`, without a final
   slash. */
kiln_status kiln__dynlib_folder(char path[PATH_MAX], const void *address);

#endif /* KILN_DYNLIB_H */
