/* host_objects.h - host objects that code refers to: resolved, and kept in
 * place. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_HOST_OBJECTS_H
#define KILN_CONTEXT_HOST_OBJECTS_H

#include "context/context.h"

/* Addresses of some sites, each rooted until it is let go. */
typedef struct kiln__roots kiln__roots;

/* Resolves and roots `count` names, which are copied, for `user`, whom errors
   name. KILN_ENOTFOUND when the host has no such object; whatever fails,
   nothing stays rooted. One reference. */
kiln_status kiln__roots_new(kiln__roots **out, kiln_context *context,
                            const char *user, const char *const *names,
                            size_t count, kiln_error **error);
size_t kiln__roots_count(const kiln__roots *roots);
void *kiln__roots_address(const kiln__roots *roots, size_t index);
/* True when the host gives the same addresses today. */
int kiln__roots_still_hold(const kiln__roots *roots);

/* Unroots, once; the host has been called when it returns. */
void kiln__roots_let_go(kiln__roots *roots);
/* Lets go and drops a reference. NULL is fine. */
void kiln__roots_free(kiln__roots *roots);
/* From now on the context lets go at its end, if nobody did before: for roots
   of what may outlive it. */
void kiln__roots_end_with_context(kiln__roots *roots);
/* At the context's end. */
void kiln__sites_free(kiln_context *context);

#endif /* KILN_CONTEXT_HOST_OBJECTS_H */
