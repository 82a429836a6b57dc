/* codegen_process.h - code generation in a process of its own. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_PROCESS_H
#define KILN_CODEGEN_PROCESS_H

#include "context/context.h"

/* As generate() of libkiln-codegen, but in a helper process, whatever becomes
   of that: a crash, a request that takes too long or too much memory, and one
   that nobody waits for any more all go to fail(). Never calls fatal(). */
kiln_status kiln__process_generate(kiln_context *context,
                                   const kiln__codegen_request *request);
/* Sees to it that there is a helper, idle: KILN_OK. KILN_ECODEGEN or
   KILN_EMISMATCH: there cannot be one. Anything else may pass; *is_started
   tells whether the program ran. */
kiln_status kiln__process_try(kiln_context *context, int *is_started,
                              kiln_error **error);

#endif /* KILN_CODEGEN_PROCESS_H */
