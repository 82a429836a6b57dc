/* error.h - making errors, and the macros that pass them on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_ERROR_H
#define KILN_BASE_ERROR_H

#include <stdarg.h>

#include "kiln/error.h"

/* Returns the status on failure. Only this macro and KILN_REQUIRE return from
   the function that uses them. */
#define KILN_TRY(expression) \
    do { \
        kiln_status kiln__status_ = (expression); \
        if (kiln__status_ != KILN_OK) \
            return kiln__status_; \
    } while (0)

/* For public functions: a wrong argument is KILN_EINVAL, with an error that
   names it. */
#define KILN_REQUIRE(condition, error) \
    do { \
        if (!(condition)) \
            return kiln__error_argument((error), #condition); \
    } while (0)

kiln_status kiln__error_argument(kiln_error **error, const char *condition);

/* Makes an error unless `error` is NULL; returns `status`. Errors come from
   malloc, not from a context, because they may outlive it. Without memory, the
   error is a static one. */
kiln_status kiln__error_set(kiln_error **error, kiln_status status,
                            const char *format, ...)
    __attribute__((format(printf, 3, 4)));
kiln_status kiln__error_vset(kiln_error **error, kiln_status status,
                             const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
kiln_status kiln__error_no_memory(kiln_error **error);
/* As _set, with *error (may be NULL) as the cause of the new one. */
kiln_status kiln__error_wrap(kiln_error **error, kiln_status status,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));
kiln_status kiln__error_set_diagnostics(kiln_error **error, kiln_status status,
                                        const char *message,
                                        const kiln_diagnostic *diagnostics,
                                        size_t count);
/* One phrase that says what the kind means. Static storage. */
const char *kiln__exception_text(int32_t kind);
int kiln__status_is_known(kiln_status status);
/* Copies the record and its strings. The error's message is the record's. */
kiln_status kiln__error_set_exception(kiln_error **error,
                                      const kiln_exception *exception);
/* Errors are immutable and counted: many waiters may hold one. */
kiln_error *kiln__error_retain(kiln_error *error);

#endif /* KILN_BASE_ERROR_H */
