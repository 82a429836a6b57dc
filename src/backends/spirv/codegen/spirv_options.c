/* spirv_options.c - options of a SPIR-V target, and names for messages. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "backends/spirv/codegen/spirv_codegen.h"
#include "codegen/module/codegen_stages.h"
#include "ir/ir.h"

/*
 * A target's options are words between commas, in its settings: the optional
 * features and extensions that its device supports. The version of SPIR-V is
 * read from the triple. Functions of the LLVM module have made-up symbols, so
 * messages name the method that a function was inferred from.
 */

int kiln__spirv_has(const kiln__codegen_job *job, const char *option)
{
    const size_t size = strlen(option);
    const char *at = job->settings->options;

    while (at != NULL && *at != '\0') {
        const size_t length = strcspn(at, ",");

        if (length == size && memcmp(at, option, size) == 0)
            return 1;
        at += length + (at[length] == ',');
    }
    return 0;
}

unsigned kiln__spirv_minor(const kiln__codegen_job *job)
{
    const char *at = strstr(job->settings->triple, "v1.");

    return at != NULL ? (unsigned)strtoul(at + 3, NULL, 10) : 4;
}

/* ---- names ---- */

/* Returns the method that the request's function was inferred from, or NULL. */
static const char *method_name(kiln__codegen_job *job,
                               const kiln__codegen_function *function)
{
    kiln__ir ir;
    const char *name = NULL;

    if (kiln__ir_decode(&ir, &kiln__malloc, function->ir, function->ir_size,
                        NULL) != KILN_OK)
        return NULL;
    name = kiln__arena_format(&job->arena, "%s", ir.name);
    kiln__ir_dispose(&ir);
    return name;
}

static int is_called(const kiln__codegen_function *function, const char *name)
{
    const size_t size = strlen(function->symbol);

    if (function->runtime != NULL)
        return strcmp(function->runtime, name) == 0;
    return strncmp(function->symbol, name, size) == 0 &&
           (name[size] == '\0' || name[size] == '.');
}

const char *kiln__spirv_name(kiln__codegen_job *job, LLVMValueRef function)
{
    const kiln__codegen_request *request = job->request;
    size_t size;
    const char *name = LLVMGetValueName2(function, &size), *method = NULL;
    const size_t entry = strlen(request->entry);
    const int is_kernel = strncmp(name, request->entry, entry) == 0 &&
                          (name[entry] == '\0' || name[entry] == '.');

    if (request->functions == NULL || request->function_count == 0)
        return kiln__plain_name(job, function);
    if (is_kernel)
        method = method_name(job, &request->functions[0]);
    for (size_t i = 0; method == NULL && i < request->function_count; i++)
        if (is_called(&request->functions[i], name))
            method = method_name(job, &request->functions[i]);
    return method != NULL ? method : name;
}
