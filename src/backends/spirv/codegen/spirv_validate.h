/* spirv_validate.h - the part of SPIRV-Tools' interface that Kiln uses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_SPIRV_CODEGEN_SPIRV_VALIDATE_H
#define KILN_BACKENDS_SPIRV_CODEGEN_SPIRV_VALIDATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * These are Kiln's own declarations, since the library may be opened at run
 * time on a machine without its header. A test compares them with
 * spirv-tools/libspirv.h where that is installed.
 */

typedef struct kiln__spv_context *kiln__spv_context;

typedef struct kiln__spv_diagnostic {
    size_t line;
    size_t column;
    size_t index;
    char *error;
    _Bool is_text;
} kiln__spv_diagnostic;

/* X(name, result, arguments) stands for the function "spv" + name. */
#define KILN__SPV_FUNCTION_MAP(X) \
    X(ContextCreate, kiln__spv_context, (int environment)) \
    X(ContextDestroy, void, (kiln__spv_context context)) \
    X(ValidateBinary, int, \
      (kiln__spv_context context, const uint32_t *words, size_t count, \
       kiln__spv_diagnostic **out)) \
    X(DiagnosticDestroy, void, (kiln__spv_diagnostic * diagnostic))

/* Results of the functions. */
#define KILN__SPV_SUCCESS 0
#define KILN__SPV_OUT_OF_MEMORY (-2)
#define KILN__SPV_INVALID_BINARY (-4) /* also: of unknown words */
#define KILN__SPV_WRONG_VERSION (-16)

/* X(minor, environment): SPIR-V 1.minor, whatever runs it. What OpenCL demands
   beyond that depends on the device and its extensions. */
#define KILN__SPV_ENVIRONMENT_MAP(X) \
    X(0, 0) X(1, 2) X(2, 10) X(3, 17) X(4, 20) X(5, 22) X(6, 24)

#endif /* KILN_BACKENDS_SPIRV_CODEGEN_SPIRV_VALIDATE_H */
