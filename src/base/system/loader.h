/* loader.h - libraries that the loader did not open. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOADER_H
#define KILN_LOADER_H

#include "kiln/error.h"

/* As dlopen() with RTLD_NOW and RTLD_LOCAL. KILN_OK; KILN_ENOTFOUND: it is not
   there, or cannot be used, which stays so; KILN_EIO, KILN_ENOMEM: for want of
   descriptors or memory it could not be opened now. `*words`, of dlerror() and
   not NULL, say why until the thread's next call of the loader. */
kiln_status kiln__loader_open(void **out, const char *name, const char **words);

#endif /* KILN_LOADER_H */
