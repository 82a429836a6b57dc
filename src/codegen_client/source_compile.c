/* source_compile.c - compiles OpenCL C to LLVM IR in a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/source_compile.h"

#include "base/error.h"

kiln_status kiln__source_compile(kiln__source_result *out,
                                 kiln_context *context,
                                 const kiln__source_request *request,
                                 kiln_error **error)
{
    *out = (kiln__source_result){0};
    kiln__arena_init(&out->arena, &context->alloc);
    return kiln__error_set(error, KILN_EUNSUPPORTED,
                           "%s: this build has no clang", request->name);
}

void kiln__source_result_dispose(kiln__source_result *result)
{
    kiln__arena_dispose(&result->arena);
    *result = (kiln__source_result){0};
}

void kiln__source_compiler(char id[KILN__BUILD_ID_TEXT_SIZE],
                           kiln_context *context)
{
    (void)context;
    id[0] = '\0';
}
