/* codegen_process.h - generates code in a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_PROCESS_H
#define KILN_CODEGEN_PROCESS_H

#include "base/data/encoder.h"
#include "context/context.h"

/* As generate() of libkiln-codegen, but in a worker process. Whatever happens
   there goes to fail(): a crash, a request that takes too long or too much
   memory, and one that nobody waits for any more. Never calls fatal(). */
kiln_status kiln__process_generate(kiln_context *context,
                                   const kiln__codegen_request *request);
/* Something else that a worker process does. */
typedef struct kiln__process_question {
    int kind;  /* KILN__WIRE_... of the message that asks */
    int reply; /* and of the one that answers */
    const kiln__encoder *sent;
    void *env;
    /* Takes the answer: KILN_OK, KILN_ENOMEM, or KILN_ECORRUPT. */
    kiln_status (*take)(void *env, const unsigned char *bytes, size_t size);
    /* Takes a failure, as that of a request. One of the two is called. */
    void (*fail)(void *env, kiln_status status, const char *message);
} kiln__process_question;

kiln_status kiln__process_ask(kiln_context *context,
                              const kiln__process_question *question);
/* Makes sure that there is an idle worker process: KILN_OK. KILN_ECODEGEN or
   KILN_EMISMATCH: there cannot be one. Other failures may be temporary;
   *is_started tells whether the program ran. */
kiln_status kiln__process_try(kiln_context *context, int *is_started,
                              kiln_error **error);

#endif /* KILN_CODEGEN_PROCESS_H */
