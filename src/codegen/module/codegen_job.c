/* codegen_job.c - failures, logging and types that every stage of a job
   uses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "abi/host_abi.h"
#include "abi/scalars.h"
#include "codegen/module/codegen_stages.h"

/* ---- failures ---- */

/* Once there was not enough memory, whatever else seems to be wrong may be so
   for want of what was not allocated. */
kiln_status kiln__job_fail(kiln__codegen_job *job, kiln_status status,
                           const char *format, ...)
{
    va_list arguments;

    if (job->status != KILN_OK)
        return job->status;
    if (job->arena.failed) {
        job->message = "out of memory";
        return job->status = KILN_ENOMEM;
    }
    if (job->too_deep) {
        job->message = "the code is nested too deeply to be compiled";
        return job->status = KILN_ECODEGEN;
    }
    va_start(arguments, format);
    job->message = kiln__arena_vformat(&job->arena, format, arguments);
    va_end(arguments);
    job->status = job->message != NULL ? status : KILN_ENOMEM;
    return job->status;
}

kiln_status kiln__job_outcome(kiln__codegen_job *job, kiln_status status)
{
    if (status == KILN_OK && job->arena.failed)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    return status != KILN_OK ? status : job->status;
}

/* Where LLVM's objects lie in this process differs from run to run, and means
   nothing to a reader. Constants of 64 bits have 16 digits. */
static void hide_addresses(char *text)
{
    static const char digits[] = "0123456789abcdef";

    while ((text = strstr(text, "0x")) != NULL) {
        const size_t count = strspn(text += 2, digits);

        if (count >= 9 && count <= 12) {
            memmove(text + 3, text + count, strlen(text + count) + 1);
            memcpy(text, "...", 3);
        }
    }
}

/* Joins the lines of a message of LLVM: a failure's message has one line. */
void kiln__join_lines(char *text)
{
    size_t end;

    hide_addresses(text);
    end = strlen(text);

    while (end > 0 && text[end - 1] == '\n')
        text[--end] = '\0';
    for (; *text != '\0'; text++)
        if (*text == '\n')
            *text = ' ';
}

kiln_status kiln__job_fail_llvm(kiln__codegen_job *job, kiln_status status,
                                const char *what, char *message)
{
    if (message != NULL)
        kiln__join_lines(message);
    kiln__job_fail(job, status, "%s: %s", what,
                   message != NULL ? message : "no reason given");
    LLVMDisposeMessage(message);
    return job->status;
}

int kiln__request_has_foreign(const kiln__codegen_request *request)
{
    for (size_t i = 0; i < request->function_count; i++)
        if (request->functions[i].external != NULL)
            return 1;
    return request->module != NULL && request->form != KILN__EMIT_DEFERRED;
}

int kiln__job_has_foreign(const kiln__codegen_job *job)
{
    return (job->request->module != NULL &&
            job->request->form != KILN__EMIT_DEFERRED) ||
           job->externals != NULL;
}

/* ---- external tools ---- */

kiln_status kiln__job_used(kiln__codegen_job *job, int tool, const char *path,
                           const kiln__file_stamp *file)
{
    const char *name = kiln__tool_name(tool);

    for (size_t i = 0; i < job->tool_count; i++)
        if (strcmp(job->tools[i].name, name) == 0)
            return KILN_OK;
    path = kiln__arena_text(&job->arena, path);
    if (path == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    job->tools[job->tool_count++] = (kiln__codegen_tool){name, path, *file};
    return KILN_OK;
}

void kiln__job_keep(const kiln__codegen_job *job, const char *suffix,
                    const kiln__object *input)
{
    if (job->request->keep != NULL)
        job->request->keep(job->request->env, suffix, input->bytes,
                           input->size);
}

void kiln__job_log(const kiln__codegen_job *job, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    if (job->request->log == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    kiln__join_lines(line);
    job->request->log(job->request->env, KILN_LOG_DEBUG, line);
}

/* ---- types that every stage needs ---- */

LLVMTypeRef kiln__job_scalar(const kiln__codegen_job *job, int32_t kind)
{
    const int32_t carried = kiln__scalar_of(kind)->carried;
    const uint32_t width = kiln__kind_width(carried);

    if (!kiln__kind_is_float(carried))
        return LLVMIntTypeInContext(job->context, width);
    switch (width) {
    case 16:
        return LLVMHalfTypeInContext(job->context);
    case 32:
        return LLVMFloatTypeInContext(job->context);
    default:
        return LLVMDoubleTypeInContext(job->context);
    }
}

/* The host has one address space, 0. */
#define SPACE(job, which) \
    ((job)->backend->device != NULL ? (job)->backend->device->which : 0)

LLVMTypeRef kiln__job_array_pointer(const kiln__codegen_job *job)
{
    return LLVMPointerTypeInContext(job->context, SPACE(job, array_space));
}

/* A caller that is no backend has such bytes in variables. */
LLVMTypeRef kiln__job_bytes_pointer(const kiln__codegen_job *job)
{
    if (job->is_external)
        return kiln__job_item_pointer(job);
    return LLVMPointerTypeInContext(job->context, SPACE(job, bytes_space));
}

LLVMTypeRef kiln__job_item_pointer(const kiln__codegen_job *job)
{
    return LLVMPointerTypeInContext(job->context, SPACE(job, item_space));
}

void kiln__job_switch(kiln__codegen_job *job)
{
    const LLVMModuleRef other = job->checked_module;
    struct kiln__debug *debug = job->checked_debug;

    if (other == NULL)
        return;
    job->checked_module = job->module;
    job->module = other;
    job->checked_debug = job->debug;
    job->debug = debug;
}

/* ---- printing ---- */

static uint32_t print_kind(int32_t kind)
{
    switch ((kiln__scalar_category)kiln__scalar_of(kind)->category) {
    case KILN__NO_SCALAR:
        return KILN__PRINT_TEXT;
    case KILN__SCALAR_BOOL:
        return KILN__PRINT_BOOL;
    case KILN__SCALAR_SIGNED:
        return KILN__PRINT_I64;
    case KILN__SCALAR_UNSIGNED:
        return KILN__PRINT_U64;
    case KILN__SCALAR_FLOAT:
        break;
    }
    switch (kind) {
    case KILN_TYPE_F64:
        return KILN__PRINT_F64;
    case KILN_TYPE_F32:
        return KILN__PRINT_F32;
    default:
        return KILN__PRINT_FLOAT + (uint32_t)kind;
    }
}

uint32_t kiln__print_part_kind(const kiln__codegen_print *print, size_t part)
{
    return print->parts != NULL ? print->parts[part]
                                : print_kind(print->kinds[part]);
}
