/* spirv_translate.c - SPIR-V to bitcode, by the translator's own program. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "report.h"
#include "spirv.h"
#include "tool_files.h"
#include "tool_run.h"

/* The translator may end its process when it meets something new to it, so it
   gets one of its own. */

/* A device that was opened waits for it. */
#define LIMIT_MS (60 * 1000)

static kiln_status run_one(kiln_blob *out, const kiln_context *context,
                           const char *program, const kiln_blob *module,
                           kiln__text *said)
{
    static const char *const arguments[] = {
        "llvm-spirv", "-r", "-o", KILN__RUN_OUTPUT, KILN__RUN_INPUT0, NULL};
    const kiln__object input = {module->data, module->size};
    const kiln__run run = {
        .program = program,
        .arguments = arguments,
        .inputs = &input,
        .input_count = 1,
        .alloc = &context->alloc,
        .limit_ms = LIMIT_MS,
    };
    kiln_status status;

    kiln__blocking_enter(context);
    status = kiln__run_tool(&run, out, said);
    kiln__blocking_leave(context);
    return status;
}

/* What it said: the first lines, without those of a stack. */
static const char *words_of(const kiln__text *said)
{
    char *stack, *end;

    if (said->size == 0)
        return "it said nothing";
    stack = strstr(said->bytes, "\nPLEASE submit a bug report");
    if (stack != NULL)
        *stack = '\0';
    end = said->bytes + strlen(said->bytes);
    while (end > said->bytes && end[-1] == '\n')
        *--end = '\0';
    return said->bytes;
}

static kiln_status absent(kiln_error **error, const char *program,
                          const char *why)
{
    return kiln__error_set(
        error, KILN_EUNSUPPORTED,
        "this OpenCL device takes no SPIR-V, and the translator %s %s; install "
        "it (llvm-spirv-15) or name it in KILN_LLVM_SPIRV",
        program, why);
}

static kiln_status explain(kiln_status status, const char *program,
                           const kiln__text *said, kiln_error **error)
{
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status == KILN_ENOTFOUND)
        return absent(error, program, words_of(said));
    return kiln__error_set(error, KILN_EDEVICE, "llvm-spirv failed: %s",
                           words_of(said));
}

static kiln_status translate(kiln_blob *out, const kiln_context *context,
                             const char *program, const kiln_blob *module,
                             kiln_error **error)
{
    char found[PATH_MAX];
    kiln_status status;
    kiln__text said;

    if (program == NULL) {
        if (kiln__tool_find(found, KILN__TOOL_LLVM_SPIRV) != KILN__TOOL_FOUND)
            return absent(error, kiln__tool_file(KILN__TOOL_LLVM_SPIRV),
                          "is not there");
        program = found;
    }
    kiln__text_init(&said, &context->alloc);
    status = run_one(out, context, program, module, &said);
    if (status != KILN_OK)
        status = explain(status, program, &said, error);
    kiln__text_dispose(&said);
    return status;
}

kiln_status kiln__spirv_translate(kiln_blob *out, const kiln_context *context,
                                  const char *program, const void *bytes,
                                  size_t size, kiln_error **error)
{
    kiln_blob legal = {0};
    kiln_status status;

    KILN_TRY(kiln__spirv_legalise(&legal, &context->alloc, bytes, size, error));
    status = translate(out, context, program, &legal, error);
    kiln_blob_release(&legal);
    return status;
}
