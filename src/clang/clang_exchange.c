/* clang_exchange.c - libkiln-clang's one exported function. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdarg.h>

#include "base/error.h"
#include "clang/clang_job.h"
#include "clang/opencl_calls.h"

#ifndef KILN_BUILD_ID
#error "the build gives KILN_BUILD_ID to this file"
#endif

kiln_status kiln__clang_fail(kiln__clang_job *job, kiln_status status,
                             const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    job->message = kiln__arena_vformat(&job->out->arena, format, arguments);
    va_end(arguments);
    return status;
}

/* The tables hold what clang_compile.cc put there, so they may be changed. */
static kiln__source_function *functions_of(const kiln__source_result *result)
{
    return (kiln__source_function *)(uintptr_t)result->functions;
}

static kiln_status make_modules(kiln__clang_job *job)
{
    kiln__source_function *functions = functions_of(job->out);

    kiln__clang_module_drop_remarks(job->module);
    KILN_TRY(kiln__opencl_shape_functions(job));
    kiln__opencl_replace_calls(job);
    KILN_TRY(kiln__opencl_replace_prints(job));
    kiln__clang_module_clean(job->module);
    for (size_t i = 0; i < job->out->function_count; i++)
        KILN_TRY(kiln__clang_module_take_out(job, &functions[i]));
    return KILN_OK;
}

static kiln_status compile(kiln__source_result *out,
                           const kiln__source_request *request,
                           const char **message)
{
    kiln__clang_job job = {.request = request, .out = out};
    kiln_status status = kiln__clang_parse(&job);

    /* Lists that could not be copied have a count and no elements. */
    if (out->arena.failed) {
        status = KILN_ENOMEM;
        out->function_count = out->declaration_count = 0;
        out->note_count = out->file_count = 0;
    }
    if (status == KILN_OK && job.module != NULL)
        status = make_modules(&job);
    if (job.module != NULL)
        kiln__clang_module_dispose(job.module);
    if (status == KILN_OK && out->arena.failed)
        status = KILN_ENOMEM;
    *message = job.message != NULL ? job.message : kiln_status_text(status);
    return status;
}

__attribute__((visibility("default"))) const kiln__clang *kiln_clang_exchange(
    void);

const kiln__clang *kiln_clang_exchange(void)
{
    static const kiln__clang table = {.size = sizeof table,
                                      .abi = KILN__CLANG_ABI,
                                      .build_id = KILN_BUILD_ID,
                                      .compile = compile};

    return &table;
}
