/* cl_kernels.c - shows the declarations of a program's kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/array.h"
#include "base/error.h"
#include "frontend/opencl/cl_program.h"

static void show(kiln__text *out, const kiln__source_function *kernel)
{
    kiln__text_format(out, "kernel void %s(", kernel->name);
    for (size_t i = 0; i < kernel->parameter_count; i++)
        kiln__text_format(out, "%s%s %s", i > 0 ? ", " : "",
                          kernel->parameters[i].type,
                          kernel->parameters[i].name);
    kiln__text_add(out, ")\n");
}

static kiln_status show_all(kiln_blob *out, const kiln__cl_unit *unit,
                            kiln_error **error)
{
    kiln__text text;

    /* The blob may outlive the context. */
    kiln__text_init(&text, &kiln__malloc);
    kiln__text_add(&text, "");
    for (size_t i = 0; i < unit->count; i++)
        if (unit->functions[i].is_kernel)
            show(&text, &unit->functions[i]);
    return kiln__text_to_blob(&text, out) == KILN_OK
               ? KILN_OK
               : kiln__error_no_memory(error);
}

kiln_status kiln_opencl_kernels(kiln_blob *out, kiln_opencl_program *program,
                                kiln_error **error)
{
    const kiln__cl_unit *unit;
    kiln__cl_version *version;
    uint64_t world;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(program != NULL, error);
    status = kiln_world_hold(&world, program->cl->frontend);
    if (status != KILN_OK)
        return kiln__error_set(error, status, "%s: %s", program->name,
                               kiln_status_text(status));
    version = kiln__cl_version_at(program, world);
    if (version == NULL)
        status = kiln__error_set(error, KILN_ENOTFOUND, "%s has no text",
                                 program->name);
    else
        status = kiln__cl_unit_of(&unit, version, error);
    if (status == KILN_OK)
        status = show_all(out, unit, error);
    kiln_world_release(program->cl->frontend, world);
    return status;
}
