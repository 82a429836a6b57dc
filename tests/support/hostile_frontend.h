/* hostile_frontend.h - frontends whose callbacks do what a test sets. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_HOSTILE_FRONTEND_H
#define KILN_TESTS_HOSTILE_FRONTEND_H

#include "kiln.h"
#include "kiln/sys/frontend.h"

/*
 * Two frontends whose callbacks do what the test sets; what it does not set
 * does right. Each infers any function to two bytes, and lowers it to a kernel
 * without arguments.
 */
typedef struct hostile {
    kiln_context *context;
    kiln_frontend *frontend;
    struct hostile *other;
    const kiln_config *config;
    const kiln_function *f, *g;
    uint64_t world;
    int calls; /* of whatever is tried */
    kiln_status (*infer)(struct hostile *h, const kiln_signature *signature,
                         kiln_inference *out, kiln_error **error);
    kiln_status (*lower)(struct hostile *h, kiln_blob *out, kiln_error **error);
    void (*answer)(struct hostile *h);
    void (*ask_world)(struct hostile *h);
    kiln_status (*hold)(struct hostile *h);
    void (*release)(struct hostile *h);
    void (*collect)(struct hostile *h);
    kiln_status (*type)(struct hostile *h, const kiln_type **out);
    kiln_status (*function)(struct hostile *h, const kiln_function **out);
    char lines[2048];
} hostile;

/* What the query asks about that each inference tells. */
extern const uint64_t hostile_subject;

/* A context with both frontends, in world 3, over a cache in `folder`, or
   without one; the first of them, whose `lines` have the log. */
hostile *hostile_begin(const char *folder);
void hostile_end(void);

#endif /* KILN_TESTS_HOSTILE_FRONTEND_H */
