/* codegen_place.h - decides where code is generated: in this process or
   another. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_PLACE_H
#define KILN_CODEGEN_PLACE_H

#include "context/context.h"
#include "context/environment.h"

/* The generator of code for one build. */
typedef struct kiln__generator {
    kiln_context *context;
    const kiln__codegen *inside; /* NULL: a worker process generates it */
} kiln__generator;

/* Reads options, then variables, then defaults, into the context. KILN_EINVAL,
   with an error that names what cannot be used. */
kiln_status kiln__place_read(kiln_context *context,
                             const kiln_context_options *options,
                             const kiln__environment *environment,
                             kiln_error **error);
/* Decides where code is generated, and opens the library if that is in this
   process. `is_foreign`: the input is LLVM IR that Kiln did not make. */
kiln_status kiln__generator_open(kiln__generator *out, kiln_context *context,
                                 int is_foreign, kiln_error **error);
/* Runs on the calling worker thread, as generate() of codegen_abi.h. */
kiln_status kiln__generate_by(const kiln__generator *generator,
                              const kiln__codegen_request *request);

#endif /* KILN_CODEGEN_PLACE_H */
