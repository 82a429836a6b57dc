/* loader.h - opens libraries, and says why one cannot be opened. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOADER_H
#define KILN_LOADER_H

#include "kiln/error.h"

/* As dlopen() with RTLD_NOW and RTLD_LOCAL. KILN_ENOTFOUND: it is not there, or
   cannot be used, which is permanent. KILN_EIO, KILN_ENOMEM: it could not be
   opened for want of descriptors or memory, which is temporary. `*words`, from
   dlerror() and never NULL, gives the reason until the thread's next call of
   the loader. */
kiln_status kiln__loader_open(void **out, const char *name, const char **words);

#endif /* KILN_LOADER_H */
