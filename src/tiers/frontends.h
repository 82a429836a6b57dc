/* frontends.h - the registered frontends and functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_FRONTENDS_H
#define KILN_TIERS_FRONTENDS_H

#include "context/context.h"

/* ---- frontends.c ---- */
/* Finds the frontend of the name, or NULL. */
kiln_frontend *kiln__frontend_find(const kiln_context *context,
                                   const char *name);
/* Finds the frontend, other than the kernel language, that has a package of the
   name; of several, the one whose own name comes first. KILN_ENOTFOUND. */
kiln_status kiln__frontend_with_package(kiln_frontend **out,
                                        const kiln_context *context,
                                        const char *name);
/* Returns the status that a callback returned, or an error if that is no
   status. */
kiln_status kiln__callback_status(kiln_status status,
                                  const kiln_frontend *frontend,
                                  const char *callback, kiln_error **error);
kiln_status kiln__registry_new(kiln_context *context);
void kiln__registry_free(kiln_context *context); /* also frees the frontends */
void kiln__registry_lock(const kiln_context *context);
void kiln__registry_unlock(const kiln_context *context);
/* The two ends of a collection. The first stores in each frontend the oldest
   world that is held, else the current one. The second lets each frontend free
   what is older. */
void kiln__frontends_note_oldest(kiln_context *context);
void kiln__frontends_collect(kiln_context *context);
/* Finds the place that an exception of a kernel of `own` names: by that
   frontend's current source map, in the method itself, or by the source map of
   another frontend, whose function the kernel may have called. The file is NULL
   if nobody knows it. */
void kiln__frontends_locate(kiln_location *out, const kiln_frontend *own,
                            const char *method, uint32_t ordinal);
/* Copies the text of that place's line; false: it is not at hand. */
int kiln__frontends_quote(char *out, size_t size, const kiln_frontend *own,
                          const char *method, uint32_t ordinal);
/* Finds the function of the qualified name, or NULL; the kernel language's
   comes before other frontends'. Makes none. */
const kiln_function *kiln__function_find(const kiln_context *context,
                                         const char *name);
/* Checks a report of the caller; NULL is none. */
kiln_status kiln__report_check(const kiln_change_report *report,
                               kiln_error **error);
/* Checks signature and config of a public call. */
kiln_status kiln__request_check(const kiln_context *context,
                                const kiln_signature *signature,
                                const kiln_config *config, kiln_error **error);

#endif /* KILN_TIERS_FRONTENDS_H */
