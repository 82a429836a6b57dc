/* source_wire.h - messages about sources of OpenCL C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_SOURCE_WIRE_H
#define KILN_CODEGEN_CLIENT_SOURCE_WIRE_H

#include "abi/source_abi.h"
#include "base/data/encoder.h"
#include "codegen_client/wire_fields.h"

/* As the messages of codegen_wire.h, which also has their kinds: SOURCE and
   SOURCE_DONE. */

/* SOURCE_DONE: how it ended, and what there is of a result. */
typedef struct kiln__source_answer {
    int32_t status;
    const char *message;        /* of a failure */
    kiln__source_result result; /* its arena is not used */
} kiln__source_answer;

/* A failed allocation is noted in the encoder. */
void kiln__wire_put_source(kiln__encoder *out,
                           const kiln__source_request *request);
void kiln__wire_put_source_answer(kiln__encoder *out,
                                  const kiln__source_answer *answer);

/* A result's definitions and declarations alone, for entries of stores, too. */
void kiln__wire_put_source_functions(kiln__encoder *out,
                                     const kiln__source_result *result);
void kiln__wire_get_source_functions(kiln__wire_reading *r,
                                     kiln__source_result *out);

/* KILN_ECORRUPT or KILN_ENOMEM. Texts and arrays are in the arena, bytes in the
   message. */
kiln_status kiln__wire_get_source(kiln__source_request *out, kiln__arena *arena,
                                  const void *bytes, size_t size);
kiln_status kiln__wire_get_source_answer(kiln__source_answer *out,
                                         kiln__arena *arena, const void *bytes,
                                         size_t size);

#endif /* KILN_CODEGEN_CLIENT_SOURCE_WIRE_H */
