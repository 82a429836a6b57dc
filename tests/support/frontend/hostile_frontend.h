/* hostile_frontend.h - frontends whose callbacks misbehave as a test
   demands. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_HOSTILE_FRONTEND_H
#define KILN_TESTS_HOSTILE_FRONTEND_H

#include "kiln.h"
#include "kiln/sys/frontend.h"

/*
 * There are two frontends. Their callbacks do what the test sets, and work
 * correctly otherwise. Each infers any function to two bytes, and lowers it to
 * a kernel without arguments.
 */
typedef struct hostile {
    kiln_context *context;
    kiln_frontend *frontend;
    struct hostile *other;
    const kiln_config *config;
    const kiln_function *f, *g;
    uint64_t world;
    int calls; /* calls of whatever callback is tried */
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

/* The subject of the query that each inference records. */
extern const uint64_t hostile_subject;

/* Makes a context with both frontends, in world 3, over a cache in `folder`, or
   without one. Returns the first frontend, whose `lines` have the log. */
hostile *hostile_begin(const char *folder);
void hostile_end(void);

#endif /* KILN_TESTS_HOSTILE_FRONTEND_H */
