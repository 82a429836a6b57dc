/* codegen_host_process.c - links by running ld.lld. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "codegen_parts.h"
#include "codegen_run.h"
#include "tool_files.h"

/* For when lld cannot run in this process any more. */

#define ARGUMENTS_MAX 40

_Static_assert(KILN__HOST_OBJECTS_MAX <= KILN__RUN_INPUTS_MAX,
               "a place for each object");

/* The first line of what was printed. */
static void copy_message(char *to, size_t capacity, const kiln__text *said)
{
    const char *text = said->size > 0 ? said->bytes : "no reason given";

    snprintf(to, capacity, "ld.lld: %.*s", (int)strcspn(text, "\n"), text);
}

kiln_status kiln__host_link_process(const kiln__object *objects, size_t count,
                                    kiln_blob *out, char *message,
                                    size_t capacity)
{
    static const char *const inputs[] = {KILN__RUN_INPUT0, KILN__RUN_INPUT1};
    const char *arguments[ARGUMENTS_MAX];
    kiln__run run = {
        .arguments = arguments,
        .inputs = objects,
        .input_count = count,
    };
    char path[PATH_MAX];
    kiln_status status;
    kiln__text said;
    size_t used = 0;

    for (; kiln__host_link_options[used] != NULL; used++)
        arguments[used] = kiln__host_link_options[used];
    arguments[used++] = "-o";
    arguments[used++] = KILN__RUN_OUTPUT;
    for (size_t i = 0; i < count; i++)
        arguments[used++] = inputs[i];
    arguments[used] = NULL;

    message[0] = '\0';
    if (kiln__tool_find(path, KILN__TOOL_LLD) != KILN__TOOL_FOUND) {
        snprintf(message, capacity, "ld.lld: cannot be started: not found");
        return KILN_ECODEGEN;
    }
    run.program = path;
    kiln__text_init(&said, &kiln__malloc);
    status = kiln__run_tool(&run, out, &said);
    if (status == KILN_ENOMEM)
        snprintf(message, capacity, "out of memory");
    else if (status != KILN_OK)
        copy_message(message, capacity, &said);
    kiln__text_dispose(&said);
    return status == KILN_ENOTFOUND ? KILN_ECODEGEN : status;
}

kiln_status kiln__host_link_note(kiln__codegen_job *job)
{
    char path[PATH_MAX];

    if (!kiln__host_link_is_outside() ||
        kiln__tool_find(path, KILN__TOOL_LLD) != KILN__TOOL_FOUND)
        return KILN_OK;
    return kiln__job_used(job, KILN__TOOL_LLD, path);
}
