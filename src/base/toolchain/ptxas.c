/* ptxas.c - NVIDIA's assembler, which may be started ahead of its input. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/toolchain/ptxas.h"

#include <stdio.h>
#include <string.h>

#include "base/toolchain/tool_paths.h"
#include "base/toolchain/tool_run.h"

/*
 * For a small kernel ptxas spends two thirds of its time before it opens its
 * input. So if only ptxas can make the cubin, a build starts it first, and
 * opens the code generator in the meantime.
 */

#define ARGUMENTS_MAX 10

typedef struct command {
    const char *arguments[ARGUMENTS_MAX];
    char arch[64];
    char level[8];
} command;

/* ptxas refuses full debugging of code that it optimises. */
unsigned kiln__cuda_level(const kiln__codegen_settings *settings)
{
    return settings->debug_level == KILN_DEBUG_FULL ? 0 : settings->opt_level;
}

int kiln__cuda_may_use(const kiln__codegen_settings *settings, const char *tool)
{
    return settings->options[0] == '\0' || strcmp(settings->options, tool) == 0;
}

static void fill_command(command *c, const kiln__codegen_settings *settings,
                         const char *input)
{
    static const char *const debug[] = {NULL, "-lineinfo", "-g"};
    size_t count = 4;

    (void)snprintf(c->arch, sizeof c->arch, "-arch=%s", settings->processor);
    (void)snprintf(c->level, sizeof c->level, "-O%u",
                   kiln__cuda_level(settings));
    memcpy(c->arguments, (const char *[]){"ptxas", "-v", c->arch, c->level},
           count * sizeof *c->arguments);
    if (settings->debug_level != KILN_DEBUG_NONE)
        c->arguments[count++] = debug[settings->debug_level];
    c->arguments[count++] = "-o";
    c->arguments[count++] = KILN__RUN_OUTPUT;
    c->arguments[count++] = input;
    c->arguments[count] = NULL;
}

kiln_status kiln__ptxas_run(const kiln__codegen_settings *settings,
                            const char *path, const kiln__object *ptx,
                            kiln_blob *out, kiln__text *said)
{
    command c;
    const kiln__tool_command run = {
        .program = path,
        .arguments = c.arguments,
        .inputs = ptx,
        .input_count = 1,
    };

    fill_command(&c, settings, KILN__RUN_INPUT0);
    return kiln__run_tool(&run, out, said);
}

kiln__tool_process *kiln__ptxas_begin(const kiln__codegen_settings *settings)
{
    char path[PATH_MAX];
    command c;
    const kiln__tool_command run = {.program = path, .arguments = c.arguments};

    if (!kiln__cuda_may_use(settings, KILN__CUDA_TOOL_PTXAS))
        return NULL;
    if (kiln__cuda_may_use(settings, KILN__CUDA_TOOL_NVJITLINK) &&
        kiln__tool_find(path, KILN__TOOL_NVJITLINK) != KILN__TOOL_ABSENT)
        return NULL;
    if (kiln__tool_find(path, KILN__TOOL_PTXAS) != KILN__TOOL_FOUND)
        return NULL;
    fill_command(&c, settings, KILN__RUN_LATE);
    return kiln__tool_process_begin(&run);
}

void kiln__ptxas_forget(void *begun)
{
    kiln__run_forget(begun);
}

void kiln__ptxas_drop(kiln__tool_process *begun)
{
    kiln__tool_process_drop(begun);
}
