/* source_compile.h - compiles OpenCL C to LLVM IR in a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_SOURCE_COMPILE_H
#define KILN_CODEGEN_CLIENT_SOURCE_COMPILE_H

#include "abi/source_abi.h"
#include "base/build_id.h"
#include "context/context.h"

/*
 * Clang is in a library of its own, libkiln-clang, which only worker processes
 * open. A build without clang's headers has no such library.
 *
 * What comes back is one module for each function that the source defines, as
 * bitcode in the neutral form of docs/llvm-ir.md, not optimised. It holds the
 * function and what it needs. Without debug information, equal modules are
 * equal bytes, and contain no path.
 *
 * Parameters of the LLVM function follow from those of the source, in order:
 *   scalar     itself, i8 to i64, half, float or double
 *   vector     <n x T>; three elements are <3 x T>
 *   aggregate  ptr byval(T)
 *   pointer    ptr addrspace(1), then an i64 that is not read: together an
 *              array of one dimension. `__constant` is in space 1, too, because
 *              a buffer is not in a GPU's constant bank
 *   local      i64: where it starts in the group's dynamic memory, in bytes
 * Functions that are not kernels keep what clang makes of them: a pointer is
 * one parameter (local: ptr addrspace(3), private and generic: ptr), and
 * aggregates are ptr byval(T), results of that kind ptr sret(T).
 *
 * Calls that a module contains, beside LLVM's intrinsics and the neutral form's
 * kiln_*: built-in functions under their mangled names, in which address spaces
 * have the neutral numbers (none for private and generic, U3AS1 for global and
 * constant, U3AS3), such as _Z3sinf and _Z6vload4mPU3AS1Kf; and functions that
 * the source declares and does not define, under their own names.
 */

/*
 * Compiles in a worker process; the calling thread waits. Fills `*out`, which
 * the caller disposes of in every case, also after a failure: files and notes
 * are there as far as the compiler came. Thread-safe.
 *
 * KILN_ECOMPILE: the source has errors. `*error` names the first, and has all
 * notes as diagnostics. KILN_EINVAL: an option. KILN_EUNSUPPORTED: there is
 * no clang, and where it was looked for. KILN_ECODEGEN,
 * KILN_ETIMEDOUT, KILN_ENOMEM, KILN_EIO: the worker crashed, was too slow, used
 * too much memory, was ended.
 */
kiln_status kiln__source_compile(kiln__source_result *out,
                                 kiln_context *context,
                                 const kiln__source_request *request,
                                 kiln_error **error);
void kiln__source_result_dispose(kiln__source_result *result);

/* The build of the compiler that would be used, for keys; "" if there is none.
   Opens and starts nothing. */
void kiln__source_compiler(char id[KILN__BUILD_ID_TEXT_SIZE],
                           kiln_context *context);

#endif /* KILN_CODEGEN_CLIENT_SOURCE_COMPILE_H */
