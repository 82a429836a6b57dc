/* requests.h - requests to the code generator, as libkiln makes them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_REQUESTS_H
#define BENCH_REQUESTS_H

#include "codegen_client/codegen_library.h"
#include "context/context.h"

/* A context with an open code generator, and the last result of that. */
struct requests {
    kiln_context *context;
    const kiln_config *config;
    const kiln__codegen *codegen;
    kiln__codegen_settings settings;
    kiln_blob library; /* the library that closures are extracted from */
    kiln_blob bitcode;
    uint64_t make_ns;
    uint64_t read_ns; /* time to read everything that was linked */
    kiln_error *error;
};

/* `target` may be NULL: the host. A failure ends the program. */
void requests_open(struct requests *r, const char *target);
void requests_close(struct requests *r);

kiln__codegen_request request_of(struct requests *r, int32_t form,
                                 const char *entry);
void requests_generate(struct requests *r,
                       const kiln__codegen_request *request);
/* Extracts a function from the library, under the name of `entry`. */
void requests_extract(struct requests *r, const char *wanted,
                      const char *entry);

#endif /* BENCH_REQUESTS_H */
