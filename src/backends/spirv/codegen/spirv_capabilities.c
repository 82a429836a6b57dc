/* spirv_capabilities.c - checks a finished module's version and
   capabilities. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/spirv/codegen/spirv_codegen.h"
#include "base/error.h"

/*
 * The generator declares what a module needs as capabilities, and a driver
 * refuses a module with a capability that its device lacks. That would be a
 * failure at load, far from its cause. So the words of the module are walked
 * over once, which takes microseconds. They must be complete and of the
 * target's version, declare only capabilities that the target has, and contain
 * no OpUnreachable.
 *
 * Whether the module is valid is asked of SPIRV-Tools next (spirv_validate.c).
 */

#define MAGIC 0x07230203u
#define HEADER_WORDS 5u

#define OP_CAPABILITY 17u
#define OP_UNREACHABLE 255u

/* Capabilities of SPIR-V that Kiln's modules may declare. */
static const struct capability {
    uint32_t number;
    const char *name;
    const char *option; /* of the target; NULL: any target has it */
} capabilities[] = {
    {4, "Addresses", NULL},
    {5, "Linkage", NULL},
    {6, "Kernel", NULL},
    {7, "Vector16", NULL},
    {8, "Float16Buffer", NULL},
    {9, "Float16", "fp16"},
    {10, "Float64", "fp64"},
    {11, "Int64", NULL},
    {12, "Int64Atomics", "int64_atomics"},
    {18, "Groups", "subgroups"},
    {22, "Int16", NULL},
    {38, "GenericPointer", NULL},
    {39, "Int8", NULL},
    {58, "SubgroupDispatch", "subgroups"},
    {61, "GroupNonUniform", "subgroups"},
    {65, "GroupNonUniformShuffle", "subgroups"},
    {4464, "DenormPreserve", NULL},
    {4465, "DenormFlushToZero", NULL},
    {4466, "SignedZeroInfNanPreserve", NULL},
    {4467, "RoundingModeRTE", NULL},
    {4468, "RoundingModeRTZ", NULL},
    {5055, "ShaderClockKHR", KILN__SPIRV_CLOCK_OPTION},
    {5612, "AtomicFloat32MinMaxEXT", "SPV_EXT_shader_atomic_float_min_max"},
    {5613, "AtomicFloat64MinMaxEXT", "SPV_EXT_shader_atomic_float_min_max"},
    {6033, "AtomicFloat32AddEXT", "SPV_EXT_shader_atomic_float_add"},
    {6034, "AtomicFloat64AddEXT", "SPV_EXT_shader_atomic_float_add"},
};

static const struct capability *find_capability(uint32_t number)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        if (capabilities[i].number == number)
            return &capabilities[i];
    return NULL;
}

/* True when the target lists an extension; an extension may bring
   capabilities. */
static int has_extensions(const kiln__codegen_job *job)
{
    return strstr(job->settings->options, "SPV_") != NULL;
}

static kiln_status check_capability(kiln__codegen_job *job, uint32_t number)
{
    const struct capability *known = find_capability(number);

    if (known == NULL && !has_extensions(job))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the module declares capability %u of SPIR-V, "
                              "which no target of Kiln's has",
                              (unsigned)number);
    if (known != NULL && known->option != NULL &&
        !kiln__spirv_has(job, known->option))
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "%s: the module needs %s, and so the target's "
                              "option %s",
                              job->request->entry, known->name, known->option);
    return KILN_OK;
}

static kiln_status damaged(kiln__codegen_job *job, const char *what)
{
    return kiln__job_fail(job, KILN_ECODEGEN, "LLVM's SPIR-V module %s", what);
}

static uint32_t word_at(const kiln__object *module, size_t index)
{
    uint32_t word;

    memcpy(&word, (const char *)module->bytes + 4 * index, sizeof word);
    return word;
}

static kiln_status check_header(kiln__codegen_job *job,
                                const kiln__object *module)
{
    const uint32_t most = 0x10000u | kiln__spirv_minor(job) << 8;

    if (module->size < 4 * HEADER_WORDS || module->size % 4 != 0 ||
        word_at(module, 0) != MAGIC)
        return damaged(job, "has no header");
    if (word_at(module, 1) > most)
        return damaged(job, "is of a later version than the target");
    return KILN_OK;
}

kiln_status kiln__spirv_check_module(kiln__codegen_job *job,
                                     const kiln__object *module)
{
    const size_t end = module->size / 4;
    size_t at = HEADER_WORDS;

    KILN_TRY(check_header(job, module));
    while (at < end) {
        const uint32_t head = word_at(module, at);
        const uint32_t count = head >> 16, opcode = head & 0xffff;

        if (count == 0 || count > end - at)
            return damaged(job, "ends within an instruction");
        if (opcode == OP_CAPABILITY && count == 2)
            KILN_TRY(check_capability(job, word_at(module, at + 1)));
        if (opcode == OP_UNREACHABLE)
            return damaged(job, "has code that is never reached");
        at += count;
    }
    return KILN_OK;
}
