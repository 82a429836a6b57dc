/* exception_text.c - writes an exception of a kernel as one line. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/exception_values.h"
#include "abi/heap_abi.h"
#include "backends/report_text.h"
#include "base/data/float_bits.h"
#include "base/error.h"

/* "inexact conversion: 300 is no i8"; the message is the type's name. */
static void format_inexact(char *out, size_t size, const kiln__raised *from)
{
    const char *kind = kiln__exception_text((int32_t)from->kind);
    const int64_t value = from->values[0];
    const int32_t real = kiln__float_of_value(from->values[1]);
    char text[KILN__FLOAT_TEXT];

    if (real != KILN_TYPE_NONE)
        (void)snprintf(
            out, size, "%s: %s is no %s", kind,
            kiln__float_print(text, real, kiln__f64_from_bits((uint64_t)value)),
            from->message);
    else if (from->values[1] == KILN_VALUE_U64)
        (void)snprintf(out, size, "%s: %" PRIu64 " is no %s", kind,
                       (uint64_t)value, from->message);
    else
        (void)snprintf(out, size, "%s: %" PRId64 " is no %s", kind, value,
                       from->message);
}

void kiln__frames_add(kiln__frame_record *record, kiln_exception *exception,
                      const char *method, uint32_t ordinal)
{
    const size_t at = exception->frame_count < KILN__FRAMES_MAX
                          ? exception->frame_count
                          : KILN__FRAMES_MAX - 1;

    (void)snprintf(record->methods[at], sizeof record->methods[at], "%s",
                   method);
    record->frames[at] =
        (kiln_frame){.function = record->methods[at], .location = {0}};
    record->frames[at].location.line = ordinal;
    exception->frames = record->frames;
    exception->frame_count = at + 1;
}

void kiln__exception_format(char *out, size_t size, const kiln__raised *from)
{
    const char *kind = kiln__exception_text((int32_t)from->kind);
    const int has_more = from->message[0] != '\0' &&
                         strncmp(from->message, kind, strlen(kind)) != 0;

    if (from->kind == KILN_EXCEPTION_BOUNDS)
        (void)snprintf(out, size, "%s: index %" PRId64 ", size %" PRId64,
                       has_more ? from->message : kind, from->values[0],
                       from->values[1]);
    else if (from->kind == KILN_EXCEPTION_INEXACT && has_more)
        format_inexact(out, size, from);
    else if (from->kind == KILN_EXCEPTION_MEMORY &&
             from->values[0] == KILN__HEAP_NO_SIZE)
        (void)snprintf(out, size, "%s: %s", kind, KILN__HEAP_NO_SIZE_MESSAGE);
    else if (from->kind == KILN_EXCEPTION_MEMORY && from->values[0] != 0)
        (void)snprintf(out, size, "%s: %s %" PRId64 " bytes", kind,
                       from->message, from->values[0]);
    else if (from->kind == KILN_EXCEPTION_USER && has_more)
        (void)snprintf(out, size, "%s", from->message);
    else if (has_more)
        (void)snprintf(out, size, "%s: %s", kind, from->message);
    else
        (void)snprintf(out, size, "%s",
                       from->message[0] != '\0' ? from->message : kind);
}
