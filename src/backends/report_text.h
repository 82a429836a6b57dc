/* report_text.h - writes exceptions and prints as text, for host and
   devices. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_REPORT_TEXT_H
#define KILN_REPORT_TEXT_H

#include "abi/host_abi.h"
#include "base/data/array.h"
#include "context/context.h"

/* ---- exception_text.c ---- */

/* What the code says about an exception at its place. */
typedef struct kiln__raised {
    uint32_t kind; /* KILN_EXCEPTION_...; may be any number */
    const char *message;
    int64_t values[2];
} kiln__raised;

/* Writes one line: the kind, the program's own message, and the values. */
void kiln__exception_format(char *out, size_t size, const kiln__raised *from);

#define KILN__FRAMES_MAX 16u

/* The calls that led to an exception, by method and expression. */
typedef struct kiln__frame_record {
    kiln_frame frames[KILN__FRAMES_MAX];
    char methods[KILN__FRAMES_MAX][256];
} kiln__frame_record;

/* Adds a call to the exception, whose frames are in the record; if it is full,
   the last one is replaced. Until the source map is read, the line of a frame
   is the expression's ordinal. */
void kiln__frames_add(kiln__frame_record *record, kiln_exception *exception,
                      const char *method, uint32_t ordinal);

/* ---- print_text.c ---- */

/* The text of a record, and how its next value is written. */
typedef struct kiln__printer {
    kiln__text text;
    const char *format; /* lent until the next value; NULL: as print() does */
    int has_width;
    int has_precision;
    int64_t width;
    int64_t precision;
} kiln__printer;

/* Returns the kind of float that a part of the kind KILN__PRINT_... is, or
   KILN_TYPE_NONE. The bits of all floats are those of an f64. */
int32_t kiln__print_float_kind(uint64_t kind);
void kiln__print_begin(kiln__printer *printer, const kiln_alloc *alloc);
/* Appends a part of a print; `text` is used when the part has one. */
void kiln__print_part(kiln__printer *printer, uint64_t kind, const char *text,
                      uint64_t bits);
/* Gives the text of a record to the host in one call, and frees it; an empty
   text is not sent. */
void kiln__print_end(kiln__printer *printer, const kiln_context *context);

/* ---- print_format.c ---- */

/* Appends a text or value as the printer's format says. */
void kiln__print_converted(kiln__printer *printer, uint64_t kind,
                           const char *text, uint64_t bits);

#endif /* KILN_REPORT_TEXT_H */
