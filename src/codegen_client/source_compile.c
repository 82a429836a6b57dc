/* source_compile.c - compiles OpenCL C to LLVM IR in a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/source_compile.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "codegen_client/codegen_library.h"
#include "codegen_client/codegen_process.h"
#include "codegen_client/codegen_wire.h"
#include "codegen_client/source_wire.h"

/* A source on its way. */
typedef struct source_call {
    kiln__source_result *out;
    const kiln__source_request *request;
    kiln_error **error;
    kiln_status status;
} source_call;

/* ---- the library ---- */

/* Its path, beside libkiln-codegen; KILN_ENOTFOUND if it is not there, or if
   there is no such path, which is "" then. */
static kiln_status find_library(const kiln_context *context, char out[PATH_MAX])
{
    char *end;

    if (kiln__codegen_library_library(context, out) != KILN_OK) {
        *out = '\0';
        return KILN_ENOTFOUND;
    }
    end = strrchr(out, '/');
    end = end != NULL ? end + 1 : out;
    if ((size_t)(end - out) + sizeof KILN__CLANG_LIBRARY > PATH_MAX)
        *(end = out) = '\0';
    if (*out == '\0')
        return KILN_ENOTFOUND;
    memcpy(end, KILN__CLANG_LIBRARY, sizeof KILN__CLANG_LIBRARY);
    return access(out, F_OK) == 0 ? KILN_OK : KILN_ENOTFOUND;
}

void kiln__source_compiler(char id[KILN__BUILD_ID_TEXT_SIZE],
                           kiln_context *context)
{
    char path[PATH_MAX];

    if (find_library(context, path) != KILN_OK ||
        kiln__build_id_of_file(id, path) != KILN_OK)
        id[0] = '\0';
}

/* ---- what comes back ---- */

/* The error has each note as a diagnostic, and the first error as message. */
static kiln_status set_error(source_call *call, kiln_status status,
                             const char *message)
{
    const kiln__source_result *out = call->out;
    kiln_diagnostic *all = kiln__arena_allocate_array(
        &call->out->arena, out->note_count + 1, sizeof *all);
    const kiln__source_note *first = NULL;

    if (all == NULL)
        return kiln__error_no_memory(call->error);
    for (size_t i = 0; i < out->note_count; i++) {
        const kiln__source_note *note = &out->notes[i];

        all[i] = (kiln_diagnostic){
            .severity = note->severity,
            .code = "opencl-c",
            .message = note->text,
            .location = {note->file, note->line, note->column, 0},
            .source_line = note->quote};
        if (first == NULL && note->severity == KILN_SEVERITY_ERROR)
            first = note;
    }
    return kiln__error_set_diagnostics(
        call->error, status,
        first != NULL && status == KILN_ECOMPILE ? first->text : message, all,
        out->note_count);
}

/* Bitcode is in the message, which goes. */
static kiln_status keep_bitcode(kiln__source_result *out)
{
    kiln__source_function *functions =
        (kiln__source_function *)(uintptr_t)out->functions;

    for (size_t i = 0; i < out->function_count; i++) {
        kiln__source_function *f = &functions[i];

        if (f->bitcode == NULL)
            continue;
        f->bitcode = kiln__arena_copy(&out->arena, f->bitcode, f->bitcode_size);
        if (f->bitcode == NULL)
            return KILN_ENOMEM;
    }
    return KILN_OK;
}

static kiln_status take_answer(void *env, const unsigned char *bytes,
                               size_t size)
{
    source_call *call = env;
    kiln__arena arena = call->out->arena;
    kiln__source_answer answer;
    const kiln_status status =
        kiln__wire_get_source_answer(&answer, &arena, bytes, size);

    call->out->arena = arena;
    if (status != KILN_OK)
        return status;
    *call->out = answer.result;
    call->out->arena = arena;
    KILN_TRY(keep_bitcode(call->out));
    call->status = answer.status;
    if (answer.status != KILN_OK)
        call->status = set_error(call, answer.status, answer.message);
    return KILN_OK;
}

static void take_failure(void *env, kiln_status status, const char *message)
{
    source_call *call = env;

    call->status = kiln__error_set(call->error, status, "%s: %s",
                                   call->request->name, message);
}

static kiln_status tell_missing(const kiln_context *context,
                                const kiln__source_request *request,
                                const char *path, kiln_error **error)
{
    return kiln__error_set(
        error, KILN_EUNSUPPORTED,
        "%s: there is no clang for OpenCL C: %s is not there; %s",
        request->name, *path != '\0' ? path : KILN__CLANG_LIBRARY,
        context->codegen_path != NULL
            ? "KILN_CODEGEN_PATH says to look there"
            : "this build of Kiln was made without it");
}

kiln_status kiln__source_compile(kiln__source_result *out,
                                 kiln_context *context,
                                 const kiln__source_request *request,
                                 kiln_error **error)
{
    source_call call = {.out = out, .request = request, .error = error};
    char path[PATH_MAX];
    kiln__encoder sent;
    const kiln__process_question question = {.kind = KILN__WIRE_SOURCE,
                                             .reply = KILN__WIRE_SOURCE_DONE,
                                             .sent = &sent,
                                             .env = &call,
                                             .take = take_answer,
                                             .fail = take_failure};

    *out = (kiln__source_result){0};
    kiln__arena_init(&out->arena, &context->alloc);
    if (find_library(context, path) != KILN_OK)
        return tell_missing(context, request, path, error);
    kiln__encoder_init(&sent, &context->alloc);
    kiln__wire_put_source(&sent, request);
    (void)kiln__process_ask(context, &question);
    kiln__encoder_dispose(&sent);
    return call.status;
}

void kiln__source_result_dispose(kiln__source_result *result)
{
    kiln__arena_dispose(&result->arena);
    *result = (kiln__source_result){0};
}
