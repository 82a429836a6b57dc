/* environment.h - the environment variables, read once per context. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ENVIRONMENT_H
#define KILN_ENVIRONMENT_H

#include "kiln/error.h"

#define KILN__THREADS_MAX 1024u /* of a pool */

typedef struct kiln__environment {
    uint32_t workers;         /* 0: not set */
    uint32_t threads;         /* 0: not set */
    const char *codegen_path; /* borrowed from the environment, or NULL */
    const char *import_path;  /* borrowed from the environment, or NULL */
} kiln__environment;

/* KILN_EINVAL names the variable whose value cannot be used. */
kiln_status kiln__environment_read(kiln__environment *out, kiln_error **error);

#endif /* KILN_ENVIRONMENT_H */
