/* codegen_cuda_link.c - what becomes of PTX. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_cuda.h"

static kiln_status keep(kiln__codegen_job *job, const kiln__object *ptx,
                        kiln_blob *out)
{
    job->format = "ptx";
    if (kiln__blob_copy(out, &kiln__malloc, ptx->bytes, ptx->size) != KILN_OK)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    return KILN_OK;
}

kiln_status kiln__cuda_link(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out)
{
    const kiln_status status = kiln__nvjitlink(job, ptx, out);

    if (status == KILN_ENOTFOUND)
        return keep(job, ptx, out);
    if (status == KILN_OK)
        job->format = "cubin";
    return status;
}
