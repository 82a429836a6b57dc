/* infer_method.h - the function of inference that the frontend calls. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_INFER_METHOD_H
#define KILN_INFER_METHOD_H

#include "frontend/program/facts.h"

/* What is inferred: a method for the types of its arguments. */
typedef struct kiln__infer_request {
    const kiln_signature *signature;
    const kiln__match *match; /* what dispatch has chosen for it */
    const kiln_config *config;
    uint64_t world;
} kiln__infer_request;

/* Infers the method, and reports the result to `inference`. */
kiln_status kiln__infer_method(kiln__language *language,
                               kiln_inference *inference,
                               const kiln__infer_request *request,
                               kiln_error **error);

#endif /* KILN_INFER_METHOD_H */
