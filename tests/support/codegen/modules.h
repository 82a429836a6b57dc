/* modules.h - kernels that are texts of LLVM IR, run where tests run. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_MODULES_H
#define KILN_TESTS_MODULES_H

#include "support/devices/kernels.h"

/*
 * A frontend whose only functions are modules. In the text, `@ENTRY` stands for
 * the name that lower() is asked for; that text is the typed IR.
 */

typedef struct modules modules;

/* Adds the frontend to the context of `k`, which owns it. */
modules *modules_new(kernels *k);
/* Compiles the text for the types of the arguments and launches it. */
kiln_status modules_launch(modules *m, const char *text,
                           const kiln_config *config, const kiln_launch *launch,
                           const kernels_argument *arguments, size_t count,
                           kiln_error **error);

#endif /* KILN_TESTS_MODULES_H */
