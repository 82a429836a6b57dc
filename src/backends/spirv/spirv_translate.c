/* spirv_translate.c - turns SPIR-V into bitcode with the translator program. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/spirv/spirv.h"
#include "base/error.h"
#include "base/toolchain/tool_run.h"
#include "codegen_client/tool_identity.h"
#include "context/log.h"
#include "stores/stores.h"

/* The translator may end its process on input that it does not know, so it runs
   in a process of its own. */

/* An opened device waits for the translation. */
#define LIMIT_MS (60 * 1000)

static kiln_status run_one(kiln_blob *out, const kiln_context *context,
                           const char *program, const kiln_blob *module,
                           kiln__text *said)
{
    static const char *const arguments[] = {
        "llvm-spirv", "-r", "-o", KILN__RUN_OUTPUT, KILN__RUN_INPUT0, NULL};
    const kiln__object input = {module->data, module->size};
    const kiln__tool_command run = {
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

/* Returns the first lines of its messages, without a stack trace. */
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
    kiln_status status;
    kiln__text said;

    kiln__text_init(&said, &context->alloc);
    status = run_one(out, context, program, module, &said);
    if (status != KILN_OK)
        status = explain(status, program, &said, error);
    kiln__text_dispose(&said);
    return status;
}

static void write_word(char tools[KILN__SPIRV_TOOLS_SIZE],
                       kiln_context *context, const kiln__tool_use *use)
{
    char id[KILN__BUILD_ID_TEXT_SIZE];

    tools[0] = '\0';
    if (!kiln__stores_write(context, KILN__ENTRY_NATIVE))
        return;
    kiln__tool_used(id, context, use);
    (void)snprintf(tools, KILN__SPIRV_TOOLS_SIZE, "%s=%s", use->name, id);
}

kiln_status kiln__spirv_translate(kiln_blob *out,
                                  char tools[KILN__SPIRV_TOOLS_SIZE],
                                  kiln_context *context, const void *bytes,
                                  size_t size, kiln_error **error)
{
    kiln__tool_use use = {.name = kiln__tool_name(KILN__TOOL_LLVM_SPIRV)};
    char program[PATH_MAX];
    kiln_blob legal = {0};
    kiln_status status;

    KILN_TRY(kiln__spirv_legalise(&legal, &context->alloc, bytes, size, error));
    if (kiln__tool_find(program, KILN__TOOL_LLVM_SPIRV) == KILN__TOOL_FOUND) {
        use.path = program;
        use.file = kiln__file_stamp_at(program);
        status = translate(out, context, program, &legal, error);
    } else {
        status = absent(error, kiln__tool_file(KILN__TOOL_LLVM_SPIRV),
                        "is not there");
    }
    if (status == KILN_OK)
        write_word(tools, context, &use);
    kiln_blob_release(&legal);
    return status;
}
