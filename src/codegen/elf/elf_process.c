/* elf_process.c - links by running ld.lld. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "base/toolchain/tool_paths.h"
#include "codegen/elf/elf.h"
#include "codegen/module/codegen_stages.h"

/* This is used when lld cannot run in this process any more (elf_link.c).
   Objects and image go through files in a private temporary folder. */

#define ARGUMENTS_MAX (KILN__ELF_OPTIONS_MAX + 3 + KILN__ELF_OBJECTS_MAX)

_Static_assert(KILN__ELF_OBJECTS_MAX <= KILN__RUN_INPUTS_MAX,
               "a place for each object");

/* Copies the first line of the program's output. */
static void copy_message(char *to, size_t capacity, const kiln__text *said)
{
    const char *text = said->size > 0 ? said->bytes : "no reason given";

    snprintf(to, capacity, "ld.lld: %.*s", (int)strcspn(text, "\n"), text);
}

kiln_status kiln__elf_link_process(const char *program,
                                   const kiln__elf_link_input *input,
                                   kiln_blob *out, char *message,
                                   size_t capacity)
{
    static const char *const inputs[] = {KILN__RUN_INPUT0, KILN__RUN_INPUT1};
    const char *arguments[ARGUMENTS_MAX];
    const kiln__tool_command run = {
        .program = program,
        .arguments = arguments,
        .inputs = input->objects,
        .input_count = input->count,
    };
    kiln_status status;
    kiln__text said;
    size_t used = 0;

    for (; input->options[used] != NULL; used++)
        arguments[used] = input->options[used];
    arguments[used++] = "-o";
    arguments[used++] = KILN__RUN_OUTPUT;
    for (size_t i = 0; i < input->count; i++)
        arguments[used++] = inputs[i];
    arguments[used] = NULL;

    message[0] = '\0';
    kiln__text_init(&said, &kiln__malloc);
    status = kiln__run_tool(&run, out, &said);
    if (status == KILN_ENOMEM)
        snprintf(message, capacity, "out of memory");
    else if (status != KILN_OK)
        copy_message(message, capacity, &said);
    kiln__text_dispose(&said);
    return status == KILN_ENOTFOUND ? KILN_ECODEGEN : status;
}

/* ---- for a job ---- */

static kiln_status link_outside(kiln__codegen_job *job,
                                const kiln__elf_link_input *input,
                                kiln_blob *out, char *message, size_t capacity)
{
    kiln__file_stamp file;
    char path[PATH_MAX];
    kiln_status status;

    if (kiln__tool_find(path, KILN__TOOL_LLD) != KILN__TOOL_FOUND) {
        snprintf(message, capacity, "ld.lld: cannot be started: not found");
        return KILN_ECODEGEN;
    }
    file = kiln__file_stamp_at(path);
    status = kiln__elf_link_process(path, input, out, message, capacity);
    if (status != KILN_OK)
        return status;
    status = kiln__job_used(job, KILN__TOOL_LLD, path, &file);
    if (status != KILN_OK) {
        out->release(out);
        *out = (kiln_blob){0};
    }
    return status;
}

kiln_status kiln__elf_link_job(kiln__codegen_job *job,
                               const kiln__elf_link_input *input,
                               kiln_blob *out)
{
    char message[1024];
    kiln_status status = kiln__elf_link(input, out, message, sizeof message);

    if (status == KILN_ENOTFOUND)
        status = link_outside(job, input, out, message, sizeof message);
    if (status == KILN_OK || job->status != KILN_OK)
        return status;
    if (status == KILN_ECODEGEN)
        kiln__job_keep(job, ".o", &input->objects[0]);
    return kiln__job_fail(job, status, "%s", message);
}
