/* trace.h - a timeline of what a context does. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TRACE_H
#define KILN_TRACE_H

#include "context/context.h"

/*
 * A span is begun and ended on one thread. Without a trace both cost a branch:
 *
 *     const uint64_t begun = kiln__trace_begin(context);
 *     ...
 *     kiln__trace_end(context, begun, &note);
 *
 * Call these from any thread, with no lock held: each span is written to the
 * file at once. A span that cannot be written is lost; nothing here fails.
 */
typedef struct kiln__trace_note {
    const char *category; /* "stage", "wait", "store", "tier" */
    const char *verb;     /* stands before the name: "optimise"; or NULL */
    const char *name;     /* of a kernel or a file; or NULL */
    const char *tier;     /* kiln__trace_tier(), or NULL */
    const char *outcome;  /* "hit", "absent", "locked"; or NULL */
    uint64_t bytes;       /* 0: the span is not about bytes */
} kiln__trace_note;

/* `path` NULL: no trace. KILN_ENOMEM. The file is opened when the first span
   ends. */
kiln_status kiln__trace_new(kiln_context *context, const char *path);
void kiln__trace_free(kiln_context *context);

void kiln__trace_span(kiln_context *context, uint64_t begin_ns, uint64_t end_ns,
                      const kiln__trace_note *note);
/* The tier's name, as in statistics. */
const char *kiln__trace_tier(int32_t tier);

/* Returns nanoseconds, or 0 if there is no trace. */
static inline uint64_t kiln__trace_begin(const kiln_context *context)
{
    return context->trace ? kiln__clock_ns() : 0;
}

/* `begin_ns` 0: the span was not begun. */
static inline void kiln__trace_end(kiln_context *context, uint64_t begin_ns,
                                   const kiln__trace_note *note)
{
    if (begin_ns)
        kiln__trace_span(context, begin_ns, kiln__clock_ns(), note);
}

#endif /* KILN_TRACE_H */
