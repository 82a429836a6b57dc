/* foreign_external.c - modules of functions that typed IR calls. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_stages.h"

/*
 * An external function of the request has a module of its own. Here each of
 * them is adapted to the target, as the module of a kernel is, in the same LLVM
 * context. What remains is kept until lowering links a copy of it
 * (kiln__link_externals()): there may be two modules that need one.
 *
 * While a module is adapted, the job looks as if it were about that function:
 * it has its module, its parameters, and a request with its entry.
 */

typedef struct saved {
    const kiln__codegen_request *request;
    LLVMModuleRef module;
    kiln__parameter *parameters;
    size_t parameter_count;
} saved;

static kiln__codegen_request request_of(const kiln__codegen_job *job,
                                        const kiln__codegen_function *function)
{
    const kiln__codegen_external *external = function->external;
    kiln__codegen_request request = *job->request;

    request.entry = function->symbol;
    request.functions = NULL;
    request.function_count = 0;
    request.module = external->module;
    request.module_size = external->module_size;
    request.argument_types = external->arguments.types;
    request.argument_sizes = external->arguments.sizes;
    request.argument_alignments = external->arguments.alignments;
    request.argument_count = external->arguments.count;
    return request;
}

/* ---- what it calls ---- */

#define RENAMED "kiln_renamed."

/* The module counts its own callees; the job counts the functions of the
   request. */
static kiln_status renumber(kiln__codegen_job *job, LLVMValueRef call,
                            const kiln__codegen_function *function)
{
    size_t size;
    const char *digits = strrchr(LLVMGetValueName2(call, &size), '.') + 1;
    const unsigned long long number = strtoull(digits, NULL, 10);
    const char *name;

    if (number >= function->callee_count)
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the module calls callee %llu of %zu", number,
                              function->callee_count);
    name = kiln__arena_format(&job->arena, RENAMED "%u",
                              (unsigned)function->callees[number]);
    if (name == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    LLVMSetValueName2(call, name, strlen(name));
    return KILN_OK;
}

static void take_name(LLVMValueRef call)
{
    char name[40] = KILN__CALL_PREFIX;
    size_t size;
    const char *digits = LLVMGetValueName2(call, &size) + sizeof RENAMED - 1;

    if (size - (sizeof RENAMED - 1) >= sizeof name - sizeof KILN__CALL_PREFIX)
        return;
    memcpy(name + sizeof KILN__CALL_PREFIX - 1, digits,
           size - (sizeof RENAMED - 1) + 1);
    LLVMSetValueName2(call, name, strlen(name));
}

static kiln_status renumber_calls(kiln__codegen_job *job,
                                  const kiln__codegen_function *function)
{
    LLVMValueRef f;
    size_t size;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (kiln__foreign_is_call(f))
            KILN_TRY(renumber(job, f, function));
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (strncmp(LLVMGetValueName2(f, &size), RENAMED, sizeof RENAMED - 1) ==
            0)
            take_name(f);
    return KILN_OK;
}

/* ---- one module ---- */

/* Makes the module of the request the job's, and adapts it. */
static kiln_status adapt(kiln__codegen_job *job, kiln__external *out,
                         const kiln__codegen_function *function)
{
    LLVMValueRef entry = NULL;

    job->module =
        LLVMModuleCreateWithNameInContext(job->request->entry, job->context);
    KILN_TRY(kiln__foreign_adapt_function(job, &entry));
    KILN_TRY(renumber_calls(job, function));
    out->type = LLVMGlobalGetValueType(entry);
    out->can_fail = kiln__foreign_may_fail(entry);
    return KILN_OK;
}

/* Names the function in a message of the module. */
static void tell_function(kiln__codegen_job *job, const char *name)
{
    const char *message = kiln__arena_format(
        &job->arena, "%s: %s", name,
        job->message != NULL ? job->message : "out of memory");

    if (message != NULL && job->status != KILN_EAGAIN)
        job->message = message;
}

static kiln_status open_module(kiln__codegen_job *job, kiln__external *out,
                               const kiln__codegen_function *function)
{
    const saved before = {job->request, job->module, job->parameters,
                          job->parameter_count};
    const kiln__codegen_request request = request_of(job, function);
    kiln_status status;

    job->request = &request;
    job->is_external = 1;
    status = adapt(job, out, function);
    if (status != KILN_OK)
        tell_function(job, function->external->name);
    job->is_external = 0;
    out->module = job->module;
    job->request = before.request;
    job->module = before.module;
    job->parameters = before.parameters;
    job->parameter_count = before.parameter_count;
    return status;
}

static int has_externals(const kiln__codegen_request *request)
{
    for (size_t i = 0; i < request->function_count; i++)
        if (request->functions[i].external != NULL)
            return 1;
    return 0;
}

kiln_status kiln__foreign_externals(kiln__codegen_job *job)
{
    const size_t count = job->request->function_count;

    if (!has_externals(job->request))
        return KILN_OK;
    job->externals =
        kiln__arena_allocate_array(&job->arena, count, sizeof *job->externals);
    if (job->externals == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (job->request->functions[i].external != NULL)
            KILN_TRY(open_module(job, &job->externals[i],
                                 &job->request->functions[i]));
    return KILN_OK;
}
