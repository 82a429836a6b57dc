/* kiln_compile.c - kiln compile: prints a job at one of its stages. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/reason.h"
#include "kiln_tool.h"

static const char known_options[] = "--emit --target --set -o --with -D";

static const struct form {
    const char *name;
    int32_t form;
} forms[] = {
    {"typed", KILN_EMIT_TYPED},       {"llvm", KILN_EMIT_LLVM},
    {"llvm-opt", KILN_EMIT_LLVM_OPT}, {"asm", KILN_EMIT_ASM},
    {"binary", KILN_EMIT_BINARY},
};

static int find_form(int32_t *out, const char *name)
{
    if (name == NULL)
        return tool_complain(TOOL_USAGE,
                             "compile wants --emit typed, llvm, llvm-opt, "
                             "asm or binary");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].name, name) == 0) {
            *out = forms[i].form;
            return TOOL_OK;
        }
    return tool_complain(TOOL_USAGE,
                         "--emit wants typed, llvm, llvm-opt, asm or binary, "
                         "not \"%s\"",
                         name);
}

static int write_output(const kiln_blob *blob, const char *path)
{
    FILE *file = path == NULL ? stdout : fopen(path, "wb");
    int fine;

    if (file == NULL)
        return tool_complain(TOOL_FAILED, "%s: %s", path,
                             kiln__reason_text(errno));
    fine = fwrite(blob->data, 1, blob->size, file) == blob->size;
    if (path == NULL)
        return TOOL_OK; /* main() checks whether it was written */
    fine &= fclose(file) == 0;
    if (!fine)
        return tool_complain(TOOL_FAILED, "%s: cannot be written", path);
    return TOOL_OK;
}

static int emit(const tool_session *session, const tool_options *options,
                int32_t form)
{
    const kiln_type *types[TOOL_ARGUMENTS_MAX];
    kiln_signature signature = {.function = session->function, .types = types};
    kiln_error *error = NULL;
    kiln_blob blob;
    int status;

    for (size_t i = 2; i < options->word_count; i++) {
        status = tool_type_read(&types[signature.count++], session->context,
                                session->source.package, options->words[i]);
        if (status != TOOL_OK)
            return status;
    }
    if (kiln_emit(&blob, session->context, &signature, session->config, 0, form,
                  &error) != KILN_OK)
        return tool_fail(error);
    status = write_output(&blob, options->output);
    kiln_blob_release(&blob);
    return status;
}

int tool_compile(int count, char **words)
{
    tool_options options;
    tool_session session;
    int32_t form = 0;
    int status = tool_read_options(&options, count, words, known_options);

    if (status == TOOL_OK && options.word_count < 2)
        status = tool_complain(TOOL_USAGE, "compile wants FILE and KERNEL; "
                                           "see kiln --help");
    if (status == TOOL_OK)
        status = find_form(&form, options.emit);
    if (status == TOOL_OK && form == KILN_EMIT_BINARY &&
        options.output == NULL && isatty(STDOUT_FILENO))
        status = tool_complain(TOOL_USAGE,
                               "a binary does not go to a terminal: use -o");
    if (status == TOOL_OK && options.output != NULL)
        status = tool_output_spares(options.output, options.words, 1);
    if (status != TOOL_OK)
        return status;
    status = tool_session_open(&session, &options);
    if (status == TOOL_OK)
        status = emit(&session, &options, form);
    tool_session_close(&session);
    return status;
}
