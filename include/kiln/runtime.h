/* kiln/runtime.h - runtime functions of your own, and bitcode libraries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_RUNTIME_H
#define KILN_RUNTIME_H

#include "kiln/method.h"

KILN_BEGIN_DECLS

/*
 * Runtime functions are functions that kernels call without defining or
 * importing them, such as integer powers. A runtime function that gives the
 * same code wherever it is called is compiled once, kept as bitcode under a key
 * of its own and linked into the kernels that use it. There are two ways to add
 * runtime functions.
 */

/**
 * Lends the package "core", whose functions every package sees without an
 * import; it is always loaded. kiln_package_define() on it adds runtime
 * functions, constants and types, or replaces a function of the same signature.
 * That makes a new world, in which only dependent code is inferred and compiled
 * again. Built-in names cannot be redefined: those of built-in types and
 * functions have one meaning, and methods of built-in functions follow the rule
 * for every package. A text with an error changes nothing.
 * kiln_package_unload() refuses this package.
 */
KILN_API KILN_NODISCARD kiln_status kiln_runtime_package(kiln_package **out,
                                                         kiln_context *context,
                                                         kiln_error **error);

/**
 * LLVM IR, as bitcode or as text, from which a frontend that makes LLVM IR
 * takes single functions: libclc, a vendor's library, a runtime of its own.
 */
typedef struct kiln_runtime_library {
    size_t size;         /* KILN_RUNTIME_LIBRARY_INIT sets it */
    const char *name;    /* for messages */
    const char *backend; /* "host", "cuda": only for kernels of that backend;
                            NULL: for all backends */
    const char *const *symbols; /* names of the functions that it offers */
    size_t symbol_count;
    const void *bytes; /* copied */
    size_t byte_size;
    const char *path; /* a file to use instead of bytes; read when a symbol is
                         used for the first time */
} kiln_runtime_library;

#define KILN_RUNTIME_LIBRARY_INIT \
    { \
        sizeof(kiln_runtime_library), NULL, NULL, NULL, 0, NULL, 0, NULL \
    }

/**
 * Adds a library. This must be done before the context's first inference; later
 * it is KILN_EINVAL, because earlier results would have to be checked again. If
 * two libraries offer one symbol, the later one is used. The bytes are checked
 * to be LLVM IR only when a symbol is extracted.
 *
 * A frontend declares with kiln_inference_use_runtime() (kiln/sys/frontend.h)
 * which symbols a function uses. A symbol's function, all that it calls and the
 * variables that these use are then extracted once, renamed, stored under the
 * library's content and the symbol, and linked into the kernel's module, which
 * declares the symbol. Code of a library may call LLVM's intrinsics and the C
 * mathematics library, and holds no assembly, constructors or exception
 * handling.
 */
KILN_API KILN_NODISCARD kiln_status kiln_runtime_add_library(
    kiln_context *context, const kiln_runtime_library *library,
    kiln_error **error);

KILN_END_DECLS

#endif /* KILN_RUNTIME_H */
