/* builtin_backends.h - the backends that are part of Kiln. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_BUILTIN_BACKENDS_H
#define KILN_PIPELINE_BUILTIN_BACKENDS_H

#include "context/context.h"

/* ---- builtin_backends.c ---- */
kiln_status kiln__builtin_backends_new(kiln_context *context,
                                       kiln_error **error);

#endif /* KILN_PIPELINE_BUILTIN_BACKENDS_H */
