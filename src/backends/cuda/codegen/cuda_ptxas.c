/* cuda_ptxas.c - makes a cubin of PTX by NVIDIA's assembler. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/cuda/codegen/cuda_codegen.h"
#include "base/toolchain/ptxas.h"
#include "base/toolchain/tool_run.h"

/* Replaces the path of the input file in messages, which means nothing to
   readers, by "ptx". */
static void name_path(kiln__text *said, const char *end)
{
    static const char name[] = "ptx";
    char *at;

    while ((at = strstr(said->bytes, end)) != NULL) {
        char *rest = at + strlen(end);

        while (at > said->bytes && strchr(" \n'", at[-1]) == NULL)
            at--;
        memcpy(at, name, sizeof name - 1);
        at += sizeof name - 1;
        memmove(at, rest, strlen(rest) + 1);
    }
    said->size = strlen(said->bytes);
}

static void name_input(kiln__text *said)
{
    if (said->bytes == NULL)
        return;
    name_path(said, KILN__RUN_INPUT0);
    name_path(said, KILN__RUN_LATE_NAME);
}

/* Gives the PTX to the process that was started early, or runs ptxas now if
   that process failed before it had its input. */
static kiln_status assemble(const kiln__codegen_job *job, const char *path,
                            const kiln__object *ptx, kiln_blob *out,
                            kiln__text *said)
{
    kiln_status status = KILN_ENOTFOUND;

    if (job->request->begun != NULL)
        status = kiln__tool_process_end(job->request->begun, ptx, out, said);
    if (status == KILN_ENOTFOUND)
        status = kiln__ptxas_run(job->settings, path, ptx, out, said);
    return status;
}

kiln_status kiln__ptxas(kiln__codegen_job *job, const kiln__object *ptx,
                        kiln_blob *out, kiln__text *said)
{
    kiln__file_stamp file;
    char path[PATH_MAX];
    kiln_status status;

    if (!kiln__cuda_may_use(job->settings, KILN__CUDA_TOOL_PTXAS) ||
        kiln__tool_find(path, KILN__TOOL_PTXAS) != KILN__TOOL_FOUND)
        return KILN_ENOTFOUND;
    file = kiln__file_stamp_at(path);
    status = assemble(job, path, ptx, out, said);
    name_input(said);
    if (status == KILN_ENOTFOUND && !said->failed)
        kiln__job_log(job, "%s is passed over: %s", path, said->bytes);
    if (status == KILN_OK)
        status = kiln__job_used(job, KILN__TOOL_PTXAS, path, &file);
    return status;
}
