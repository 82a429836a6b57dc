/* kiln/error.h - statuses, errors, diagnostics and device exceptions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ERROR_H
#define KILN_ERROR_H

#include "kiln/types.h"

KILN_BEGIN_DECLS

/**
 * Every function that can fail returns one of these statuses. The numbers are
 * part of the binary interface and are never reused.
 *
 * KILN_EAGAIN and KILN_ECANCELED are expected outcomes and come without an
 * error object. So does KILN_ENOTFOUND, unless the function says otherwise.
 */
#define KILN_STATUS_MAP(X) \
    X(KILN_OK, 0, "success") \
    X(KILN_ENOTFOUND, -1, "no such entry") \
    X(KILN_EINVAL, -2, "invalid argument") \
    X(KILN_ENOMEM, -3, "out of memory") \
    X(KILN_EAGAIN, -4, "not finished yet") \
    X(KILN_ECANCELED, -5, "canceled") \
    X(KILN_ESYNTAX, -6, "syntax error") \
    X(KILN_ECOMPILE, -7, "the program has an error") \
    X(KILN_ECODEGEN, -8, "code generation failed") \
    X(KILN_EUNSUPPORTED, -9, "not supported") \
    X(KILN_ENODEVICE, -10, "no such device") \
    X(KILN_EDEVICE, -11, "the device or its driver failed") \
    X(KILN_EEXCEPTION, -12, "a kernel raised an exception") \
    X(KILN_EIO, -13, "input or output failed") \
    X(KILN_ECORRUPT, -14, "damaged or foreign data") \
    X(KILN_ERECURSION, -15, "the request needs its own result") \
    X(KILN_EMISMATCH, -16, "library and caller do not fit") \
    X(KILN_EREADONLY, -17, "the store takes no entries") \
    X(KILN_EBUSY, -18, "not possible at this time") \
    X(KILN_ETIMEDOUT, -19, "it took too long") \
    X(KILN_ESTACK, -20, "the thread's stack is too small")

#define KILN__STATUS_ENUM(name, number, text) name = number,
enum { KILN_STATUS_MAP(KILN__STATUS_ENUM) KILN__STATUS_END };
#undef KILN__STATUS_ENUM

typedef int32_t kiln_status;

/** Returns the status's name, "KILN_EINVAL". Static storage. */
KILN_API const char *kiln_status_name(kiln_status status);

/** Returns one phrase that says what the status means. Static storage. */
KILN_API const char *kiln_status_text(kiln_status status);

/*
 * Errors. A function that takes a `kiln_error **error` leaves it untouched on
 * success. On failure it overwrites it with a new error, which the caller
 * frees. `error` may be NULL. Start with `kiln_error *error = NULL;`. An error
 * is immutable, may be read from any thread, and may outlive its context.
 * Accessors take NULL for "no error".
 */

/** Ends an error. NULL is fine. */
KILN_API void kiln_error_free(kiln_error *error);

/** Returns the status that the failing function returned; KILN_OK for NULL. */
KILN_API kiln_status kiln_error_status(const kiln_error *error);

/** Returns one line without a final newline, borrowed from the error; "" for
 *  NULL. It numbers arguments from 1, and items, groups and indices from 0. */
KILN_API const char *kiln_error_message(const kiln_error *error);

/** Returns the error that caused this one, or NULL. Borrowed. */
KILN_API const kiln_error *kiln_error_cause(const kiln_error *error);

/** A place in a source text. Lines and columns count from 1; 0 is unknown. */
typedef struct kiln_location {
    const char *file; /* NULL: the place is unknown */
    uint32_t line;
    uint32_t column; /* in bytes */
    uint32_t length; /* of the marked text, in bytes; 0 is unknown */
} kiln_location;

#define KILN_SEVERITY_ERROR 0
#define KILN_SEVERITY_WARNING 1
#define KILN_SEVERITY_NOTE 2

/** One step of the chain that led to a diagnostic, innermost first. */
typedef struct kiln_frame {
    const char *function; /* "fill(f32[:], i64)" */
    kiln_location location;
} kiln_frame;

/**
 * What the compiler reports about one place in the source. All pointers are
 * borrowed from the error.
 */
typedef struct kiln_diagnostic {
    int32_t severity;    /* KILN_SEVERITY_... */
    const char *code;    /* stable: "no-method", "unstable-variable" */
    const char *message; /* one line */
    const char *hint;    /* how to mend it, one or more lines, or NULL */
    kiln_location location;
    const char *source_line; /* the line's text without newline, or NULL */
    const kiln_frame *frames;
    size_t frame_count;
} kiln_diagnostic;

/** Returns how many diagnostics the error carries. */
KILN_API size_t kiln_error_diagnostic_count(const kiln_error *error);

/** Returns the diagnostic `index`, or NULL beyond the last. Borrowed. */
KILN_API const kiln_diagnostic *kiln_error_diagnostic(const kiln_error *error,
                                                      size_t index);

#define KILN_RENDER_PLAIN 0u
#define KILN_RENDER_COLOR 1u

/**
 * Renders the message, the diagnostics with source line and caret, the chain of
 * frames, hints and causes as text. Each line ends with a newline.
 * KILN_RENDER_COLOR adds terminal escapes. The caller releases `*out`, whose
 * bytes are NUL-terminated (not counted in its size). KILN_EINVAL if `error` is
 * NULL.
 */
KILN_API KILN_NODISCARD kiln_status kiln_error_render(kiln_blob *out,
                                                      const kiln_error *error,
                                                      uint32_t flags);

/** What a kernel can raise. Numbers are part of the binary interface. */
#define KILN_EXCEPTION_MAP(X) \
    X(KILN_EXCEPTION_NONE, 0, "none") \
    X(KILN_EXCEPTION_BOUNDS, 1, "index out of bounds") \
    X(KILN_EXCEPTION_DIVISION, 2, "division by zero") \
    X(KILN_EXCEPTION_INEXACT, 3, "inexact conversion") \
    X(KILN_EXCEPTION_ASSERTION, 4, "assertion failed") \
    X(KILN_EXCEPTION_MEMORY, 5, "out of device memory") \
    X(KILN_EXCEPTION_USER, 6, "user exception")

#define KILN__EXCEPTION_ENUM(name, number, text) name = number,
enum { KILN_EXCEPTION_MAP(KILN__EXCEPTION_ENUM) KILN__EXCEPTION_END };
#undef KILN__EXCEPTION_ENUM

/** How to read the value of an inexact conversion: the second of its
 *  `values`. */
#define KILN_VALUE_I64 0
#define KILN_VALUE_U64 1
#define KILN_VALUE_F64 2 /* its bits */
/* The bits of the f64 that has the same value. */
#define KILN_VALUE_F32 3
#define KILN_VALUE_F16 4
#define KILN_VALUE_BF16 5

/**
 * The first exception that a launch raised. Pointers are borrowed from the
 * error or queue that lends the record.
 */
typedef struct kiln_exception {
    size_t size;
    int32_t kind;             /* KILN_EXCEPTION_... */
    const char *message;      /* one line, values included */
    const char *kernel;       /* "main.saxpy(f32[:], f32, f32[:])" */
    const char *method;       /* method that raised it, "main.saxpy" */
    uint32_t ordinal;         /* number of the expression in that method */
    uint64_t group[3];        /* work-group */
    uint64_t item[3];         /* item within the grid */
    int64_t values[2];        /* bounds: index and size; inexact: the value and
                                 KILN_VALUE_...; division: the dividend; user
                                 exceptions: the two values given to
                                 kiln_raise() */
    kiln_location location;   /* by the current source map; file NULL if
                                 unknown */
    const kiln_frame *frames; /* the calls that led to the exception,
                                 innermost first, if the code has debug level
                                 FULL: which method called, and where. Of
                                 more than 16 frames: the innermost 15 and
                                 the kernel's own */
    size_t frame_count;
    const char *source_line; /* the text of the location's line; NULL if it is
                                not at hand */
} kiln_exception;

/**
 * Returns the exception that a KILN_EEXCEPTION error reports, or NULL. Borrowed
 * from the error.
 */
KILN_API const kiln_exception *kiln_error_exception(const kiln_error *error);

KILN_END_DECLS

#endif /* KILN_ERROR_H */
