/* host_objects.h - resolves host objects that code refers to, and roots
 * them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_HOST_OBJECTS_H
#define KILN_CONTEXT_HOST_OBJECTS_H

#include "context/context.h"

/* The addresses of some sites; each is rooted until it is released. */
typedef struct kiln__roots kiln__roots;

/* Resolves and roots `count` names, which are copied. Errors name `user`.
   KILN_ENOTFOUND when the host has no such object. After a failure nothing
   stays rooted. The result has one reference. */
kiln_status kiln__roots_new(kiln__roots **out, kiln_context *context,
                            const char *user, const char *const *names,
                            size_t count, kiln_error **error);
size_t kiln__roots_count(const kiln__roots *roots);
void *kiln__roots_address(const kiln__roots *roots, size_t index);
/* True when the host still gives the same addresses. */
int kiln__roots_still_hold(const kiln__roots *roots);

/* Unroots everything, once. When it returns, the host has been called. */
void kiln__roots_let_go(kiln__roots *roots);
/* Unroots and drops a reference. NULL is fine. */
void kiln__roots_free(kiln__roots *roots);
/* From now on the context unroots them at its end, unless that was done before:
   for roots of objects that may outlive it. */
void kiln__roots_end_with_context(kiln__roots *roots);
/* Called at the context's end. */
void kiln__sites_free(kiln_context *context);

#endif /* KILN_CONTEXT_HOST_OBJECTS_H */
