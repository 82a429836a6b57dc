/* cuda_link.c - decides which tool makes a cubin of PTX. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/cuda/codegen/cuda_codegen.h"

#include <stdlib.h>
#include <string.h>

/*
 * Once it is open, nvJitLink takes half of the time of ptxas, which needs a
 * process for each kernel. A tool that is older than the target or the PTX is
 * passed over, since the driver may be newer than the tool. A tool that knows
 * the target and refuses the code has found a fault in Kiln's code; the next
 * tool must not hide it.
 */

typedef struct linker {
    const char *name;
    kiln_status (*run)(kiln__codegen_job *job, const kiln__object *ptx,
                       kiln_blob *out, kiln__text *said);
} linker;

static const linker linkers[] = {
    {"nvJitLink", kiln__nvjitlink},
    {"ptxas", kiln__ptxas},
};

unsigned kiln__cuda_ptx_version(const kiln__codegen_job *job)
{
    const char *at = strstr(job->settings->features, "+ptx");

    return at != NULL ? (unsigned)strtoul(at + 4, NULL, 10) : 0;
}

int kiln__cuda_is_too_old(const char *said)
{
    static const char *const texts[] = {
        "Unsupported .version", "is not defined for option 'gpu-name'",
        "Unsupported .target", "unsupported architecture",
        "unrecognized architecture"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strstr(said, texts[i]) != NULL)
            return 1;
    return 0;
}

static kiln_status keep_ptx(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out)
{
    job->format = "ptx";
    if (kiln__blob_copy(out, &kiln__malloc, ptx->bytes, ptx->size) != KILN_OK)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    return KILN_OK;
}

static kiln_status refused(kiln__codegen_job *job, const linker *by,
                           const kiln__object *ptx, kiln__text *said)
{
    if (said->size > 0)
        kiln__join_lines(said->bytes);
    kiln__job_keep(job, ".ptx", ptx);
    return kiln__job_fail(job, KILN_ECODEGEN, "%s: %s", by->name,
                          said->size > 0 ? said->bytes : "no reason given");
}

/* Tries one tool. KILN_ENOTFOUND: the next one is tried. */
static kiln_status try_linker(kiln__codegen_job *job, const linker *by,
                              const kiln__object *ptx, kiln_blob *out)
{
    kiln_status status;
    kiln__text said;

    kiln__text_init(&said, &kiln__malloc);
    status = by->run(job, ptx, out, &said);
    if (said.failed || status == KILN_ENOMEM) {
        if (status == KILN_OK)
            out->release(out);
        status = kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    } else if (status == KILN_OK) {
        job->format = "cubin";
        kiln__cubin_read(job, out, said.size > 0 ? said.bytes : "");
    } else if (status == KILN_ECODEGEN && said.size > 0 &&
               kiln__cuda_is_too_old(said.bytes)) {
        kiln__job_log(job, "%s is passed over: %s", by->name, said.bytes);
        status = KILN_ENOTFOUND;
    } else if (status == KILN_EIO || status == KILN_ETIMEDOUT) {
        status = kiln__job_fail(job, status, "%s: %s", by->name, said.bytes);
    } else if (status == KILN_ECODEGEN) {
        status = refused(job, by, ptx, &said);
    }
    kiln__text_dispose(&said);
    return status;
}

kiln_status kiln__cuda_link(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out)
{
    for (size_t i = 0; i < sizeof linkers / sizeof *linkers; i++) {
        const kiln_status status = try_linker(job, &linkers[i], ptx, out);

        if (status != KILN_ENOTFOUND)
            return status;
    }
    kiln__job_log(job, "no tool makes a cubin for %s: its PTX is the driver's",
                  job->settings->processor);
    return keep_ptx(job, ptx, out);
}
