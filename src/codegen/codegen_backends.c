/* codegen_backends.c - the backends that code can be generated for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/cuda/codegen/cuda_codegen.h"
#include "backends/host/codegen/host_codegen.h"
#include "backends/rocm/codegen/rocm_codegen.h"
#include "backends/spirv/codegen/spirv_codegen.h"
#include "codegen/generate.h"
#include "codegen/module/codegen_stages.h"

/*
 * The table names every backend that this build can generate code for. It is
 * written out here, so that adding a backend to libkiln-codegen is one include
 * and one line. A backend's bit follows from its place in the table; it is
 * valid in this process only, and nothing stores it.
 */

static const kiln__codegen_backend *const backends[] = {
    &kiln__host_codegen,
    &kiln__cuda_codegen,
    &kiln__rocm_codegen,
    &kiln__spirv_codegen,
};

const kiln__codegen_backend *kiln__codegen_backend_find(const char *name)
{
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    return NULL;
}

unsigned kiln__codegen_backend_bit(const char *name)
{
    for (unsigned i = 0; i < sizeof backends / sizeof backends[0]; i++)
        if (strcmp(backends[i]->name, name) == 0)
            return 1u << i;
    return 0;
}

void kiln__codegen_backends_abandon(void)
{
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++)
        if (backends[i]->process != NULL &&
            backends[i]->process->abandon != NULL)
            backends[i]->process->abandon();
}

void kiln__codegen_backends_guard_forks(void)
{
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++)
        if (backends[i]->process != NULL)
            backends[i]->process->guard_forks();
}
