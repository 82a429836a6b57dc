/* rocm_link.c - makes a code object of an object. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <elf.h>
#include <string.h>

#include "backends/rocm/codegen/llvm_gap_rocm.h"
#include "backends/rocm/codegen/rocm_codegen.h"
#include "base/error.h"
#include "codegen/elf/elf.h"

/*
 * Symbols are kept: there are few, and debuggers and profilers use them. What
 * the code object says of its kernel goes into the artifact, and must agree
 * with how drivers pack arguments.
 */

static const char *const options[] = {
    "ld.lld",
    "-shared",
    "--no-undefined",
    "--build-id=none",
    "--threads=1",
    "--error-limit=0",
    "--color-diagnostics=never",
    NULL,
};

_Static_assert(sizeof options / sizeof *options <= KILN__ELF_OPTIONS_MAX,
               "the options fit");

static int imports_nothing(const char *name)
{
    (void)name;
    return 0;
}

static kiln_status link_object(kiln__codegen_job *job,
                               const kiln__object *object, kiln_blob *out)
{
    const kiln__elf_rules rules = {
        .machine = EM_AMDGPU,
        .may_import = imports_nothing,
    };
    char message[1024];
    kiln_status status =
        kiln__elf_object_check(object, &rules, message, sizeof message);

    if (status == KILN_OK)
        return kiln__elf_link_job(
            job, &(kiln__elf_link_input){options, object, 1}, out);
    return kiln__job_fail(job, status, "%s", message);
}

/* ---- what the code object says ---- */

static const kiln__rocm_argument *next_argument(const kiln__rocm_metadata *said,
                                                size_t *at)
{
    return *at < said->argument_count && *at < said->room
               ? &said->arguments[(*at)++]
               : NULL;
}

static int is_at(const kiln__rocm_argument *argument, uint64_t offset,
                 uint64_t size)
{
    return argument != NULL && argument->offset == offset &&
           argument->size == size;
}

/* True when each argument is where the packed block has it, followed by the
   hidden ones. */
static int agrees(const kiln__codegen_job *job, const kiln__rocm_metadata *said)
{
    uint64_t end = 0;
    size_t at = 0;

    for (size_t i = 0; i < job->parameter_count; i++) {
        const kiln__parameter *parameter = &job->parameters[i];
        const uint64_t place = kiln__parameter_place(parameter, &end);
        const size_t words = kiln__parameter_words(parameter);

        for (size_t word = 0; word < words; word++)
            if (!is_at(next_argument(said, &at), place + 8 * word,
                       words > 1 ? 8 : parameter->size))
                return 0;
    }
    end = (end + 7) / 8 * 8;
    for (uint32_t i = 0; i < job->hidden_arguments; i++)
        if (!is_at(next_argument(said, &at), end + 8 * i, 8))
            return 0;
    return 1;
}

static size_t count_words(const kiln__codegen_job *job)
{
    size_t count = job->hidden_arguments;

    for (size_t i = 0; i < job->parameter_count; i++)
        count += kiln__parameter_words(&job->parameters[i]);
    return count;
}

static kiln_status read_metadata(kiln__codegen_job *job, const kiln_blob *image)
{
    const size_t words = count_words(job);
    kiln__rocm_metadata said = {.room = words};

    said.arguments = kiln__arena_allocate_array(&job->arena, words + 1,
                                                sizeof *said.arguments);
    if (said.arguments == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    if (!kiln__rocm_metadata_read(&said, image->data, image->size) ||
        said.kernels != 1u + (job->facts != NULL))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the code object does not describe its kernel");
    if (!agrees(job, &said))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the code object has its arguments elsewhere");
    job->registers = (uint32_t)said.registers;
    job->static_local_bytes = (uint32_t)said.local_bytes;
    job->private_bytes = (uint32_t)said.private_bytes;
    job->sub_group_size = (uint32_t)said.lanes;
    return KILN_OK;
}

kiln_status kiln__rocm_finish(kiln__codegen_job *job,
                              const kiln__object *objects, size_t count,
                              kiln_blob *out)
{
    kiln_status status;

    (void)count; /* there is one module */
    KILN_TRY(link_object(job, &objects[0], out));
    status = read_metadata(job, out);
    if (status != KILN_OK) {
        out->release(out);
        *out = (kiln_blob){0};
    }
    return status;
}
