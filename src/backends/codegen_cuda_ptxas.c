/* codegen_cuda_ptxas.c - PTX to a cubin, by NVIDIA's assembler. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "codegen_cuda.h"

/* It calls its input by the path that it was given, which says nothing. */
static void name_input(kiln__text *said)
{
    static const char path[] = KILN__RUN_INPUT0, name[] = "ptx";
    char *at = said->bytes;

    while (at != NULL && (at = strstr(at, path)) != NULL) {
        char *rest = at + sizeof path - 1;

        memcpy(at, name, sizeof name - 1);
        at += sizeof name - 1;
        memmove(at, rest, strlen(rest) + 1);
    }
    if (said->bytes != NULL)
        said->size = strlen(said->bytes);
}

static kiln_status assemble(const kiln__codegen_job *job, const char *path,
                            const kiln__object *ptx, kiln_blob *out,
                            kiln__text *said)
{
    static const char *const debug[] = {NULL, "-lineinfo", "-g"};
    const kiln__codegen_settings *settings = job->settings;
    char arch[64], level[8];
    const char *arguments[9] = {"ptxas", "-v", arch, level};
    size_t count = 4;
    const kiln__run run = {
        .program = path,
        .arguments = arguments,
        .inputs = ptx,
        .input_count = 1,
    };
    kiln_status status;

    if (settings->debug_level != KILN_DEBUG_NONE)
        arguments[count++] = debug[settings->debug_level];
    arguments[count++] = "-o";
    arguments[count++] = KILN__RUN_OUTPUT;
    arguments[count] = KILN__RUN_INPUT0;
    (void)snprintf(arch, sizeof arch, "-arch=%s", settings->processor);
    (void)snprintf(level, sizeof level, "-O%u", kiln__cuda_level(job));
    status = kiln__run_tool(&run, out, said);
    name_input(said);
    return status;
}

kiln_status kiln__ptxas(kiln__codegen_job *job, const kiln__object *ptx,
                        kiln_blob *out, kiln__text *said)
{
    char path[PATH_MAX];
    kiln_status status;

    if (kiln__tool_find(path, KILN__TOOL_PTXAS) != KILN__TOOL_FOUND)
        return KILN_ENOTFOUND;
    status = assemble(job, path, ptx, out, said);
    if (status == KILN_ENOTFOUND && !said->failed)
        kiln__job_log(job, "%s is passed over: %s", path, said->bytes);
    if (status == KILN_OK)
        status = kiln__job_used(job, KILN__TOOL_PTXAS, path);
    return status;
}
