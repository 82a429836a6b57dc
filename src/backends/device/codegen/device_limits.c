/* device_limits.c - limits of groups, of their memory, and of arguments. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/codegen/device_codegen.h"

/* ---- groups ---- */

int kiln__device_group_is_known(const kiln__codegen_job *job)
{
    return job->settings->required_group_size[0] != 0;
}

void kiln__device_require_group(const kiln__codegen_job *job,
                                LLVMValueRef kernel)
{
    static const char name[] = "reqd_work_group_size";
    const uint32_t *required = job->settings->required_group_size;
    const LLVMTypeRef i32 = kiln__job_i32(job);
    LLVMMetadataRef sizes[3];

    if (!kiln__device_group_is_known(job))
        return;
    for (int d = 0; d < 3; d++)
        sizes[d] = LLVMValueAsMetadata(LLVMConstInt(i32, required[d], 0));
    LLVMGlobalSetMetadata(
        kernel, LLVMGetMDKindIDInContext(job->context, name, sizeof name - 1),
        LLVMMDNodeInContext2(job->context, sizes, 3));
}

uint32_t kiln__device_group_items(const kiln__codegen_job *job)
{
    const uint32_t *required = job->settings->required_group_size;
    uint64_t items = 1;

    if (!kiln__device_group_is_known(job))
        return 1;
    for (int d = 0; d < 3 && items < UINT32_MAX; d++)
        items *= required[d];
    return items < UINT32_MAX ? (uint32_t)items : UINT32_MAX;
}

uint32_t kiln__device_group_most(const kiln__codegen_job *job)
{
    const uint32_t maximum = job->settings->maximum_group_size;
    const uint32_t most = kiln__hardware(job)->group_max;

    if (kiln__device_group_is_known(job))
        return kiln__device_group_items(job);
    return maximum != 0 && maximum < most ? maximum : most;
}

uint32_t kiln__device_size_most(const kiln__codegen_job *job, uint32_t d)
{
    return kiln__device_group_is_known(job)
               ? job->settings->required_group_size[d]
               : kiln__device_group_most(job);
}

kiln_status kiln__device_check_group(kiln__codegen_job *job, const char *taker)
{
    const uint32_t *required = job->settings->required_group_size;

    if (kiln__device_group_items(job) <= kiln__hardware(job)->group_max)
        return KILN_OK;
    return kiln__job_fail(job, KILN_EUNSUPPORTED,
                          "a group of %u x %u x %u items; %s has groups of at "
                          "most %u",
                          required[0], required[1], required[2], taker,
                          kiln__hardware(job)->group_max);
}

/* ---- memory of a group ---- */

void kiln__device_count_local(kiln__codegen_job *job)
{
    uint64_t end = 0;
    LLVMValueRef at;

    for (at = LLVMGetFirstGlobal(job->module); at != NULL;
         at = LLVMGetNextGlobal(at)) {
        const LLVMTypeRef type = LLVMGlobalGetValueType(at);
        uint64_t alignment = LLVMGetAlignment(at);

        if (LLVMGetPointerAddressSpace(LLVMTypeOf(at)) != KILN__SHARED_SPACE)
            continue;
        if (alignment == 0)
            alignment = LLVMABIAlignmentOfType(job->layout, type);
        end = (end + alignment - 1) / alignment * alignment +
              LLVMABISizeOfType(job->layout, type);
    }
    job->static_local_bytes = end < UINT32_MAX ? (uint32_t)end : UINT32_MAX;
}

kiln_status kiln__device_check_local(kiln__codegen_job *job, uint32_t most)
{
    kiln__device_count_local(job);
    if (job->static_local_bytes <= most)
        return KILN_OK;
    return kiln__job_fail(job, KILN_EUNSUPPORTED,
                          "local arrays take %u bytes; a group of %s has %u",
                          job->static_local_bytes, job->settings->processor,
                          most);
}

/* ---- arguments ---- */

static const char *list_arguments(kiln__codegen_job *job)
{
    const char *list = "";
    uint64_t end = 0;

    for (size_t i = 0; i < job->parameter_count && list != NULL; i++) {
        const uint64_t at = kiln__parameter_place(&job->parameters[i], &end);

        list = kiln__arena_format(&job->arena, "%s%s%zu: %llu bytes at %llu",
                                  list, i > 0 ? ", " : "", i,
                                  (unsigned long long)job->parameters[i].size,
                                  (unsigned long long)at);
    }
    return list;
}

kiln_status kiln__device_check_arguments(kiln__codegen_job *job, uint64_t most,
                                         const char *taker)
{
    uint64_t end = 0;
    const char *list;

    for (size_t i = 0; i < job->parameter_count; i++)
        (void)kiln__parameter_place(&job->parameters[i], &end);
    end = (end + 7) / 8 * 8 + 8 * (uint64_t)job->hidden_arguments;
    if (end <= most)
        return KILN_OK;
    list = list_arguments(job);
    return kiln__job_fail(job, KILN_EUNSUPPORTED,
                          "arguments take %llu bytes; %s takes at most %llu "
                          "(%s)",
                          (unsigned long long)end, taker,
                          (unsigned long long)most, list != NULL ? list : "");
}
