/* debug_lines.h - source lines of code, for debug levels that need them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DEBUG_LINES_H
#define KILN_DEBUG_LINES_H

#include "abi/codegen_abi.h"
#include "base/data/arena.h"
#include "context/context.h"

/*
 * Typed IR has no source locations, so that a moved line changes nothing. If
 * the debug level asks for line tables, the lines are looked up when code is
 * made, and enter the job's digest: then a moved line makes other code.
 */

/* The digest of the job in its binary key: the typed digest, with the lines of
   its call closure if the config asks for them. KILN_ENOMEM. */
kiln_status kiln__job_digest(kiln_digest *out, const kiln_code *code,
                             const kiln_config *config);

/* The same for lines that were looked up: those of the call closure's
   functions, in its order. */
kiln_status kiln__lines_digest(kiln_digest *out, const kiln_code *code,
                               const kiln__codegen_function *functions,
                               size_t count, const kiln_alloc *alloc);

/* Sets the function's file and places, in the arena; nothing if the frontend
   knows no lines. KILN_ENOMEM. */
kiln_status kiln__debug_lines(kiln__codegen_function *out, kiln__arena *arena,
                              const kiln_code *code);

#endif /* KILN_DEBUG_LINES_H */
