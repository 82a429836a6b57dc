/* failed_input.h - keeps inputs on which code generation failed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_FAILED_INPUT_H
#define KILN_STORES_FAILED_INPUT_H

#include "stores/loose/loose.h"

/* FOLDER/[NAME SPACE/]v2/failed/<64 hex digits>SUFFIX, the newest eight. They
   are not entries: only people look at them. The suffix tells what it is:
   ".request" of a worker process, ".ptx", ".o". */
#define KILN__FAILED "failed"
#define KILN__FAILED_MOST ((size_t)8)
#define KILN__FAILED_LARGEST ((size_t)64 << 20)

/* KILN_OK and the file's path; otherwise the input was not kept. */
kiln_status kiln__failed_keep(kiln__loose *loose, char *path, size_t capacity,
                              const char *suffix, const void *bytes,
                              size_t size);
/* Drops all files. */
void kiln__failed_clear(kiln__loose *loose);

#endif /* KILN_STORES_FAILED_INPUT_H */
