/* groups.c - barriers in modules of other frontends: the order of the steps. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/groups/groups.h"
#include "codegen/module/codegen_stages.h"

/*
 * The host has no barriers: a thread runs the items of a group one after the
 * other. So a kernel with barriers is cut into regions between them, each with
 * a loop over the items. The steps:
 *
 *   groups_loops      where items of a kernel without barriers had better wait
 *   groups_guard      the question with which such a kernel begins
 *   groups_inline     brings all barriers into the item function
 *   groups_variables  places the group's variables in its memory
 *   groups_normal     plain control flow
 *   groups_unroll     arrays of an item become values
 *   groups_split      blocks end at barriers
 *   llvm_gap_uniform  what is the same for all items
 *   groups_strides    more of it: what loops count, from where an item began
 *   groups_levels     blocks that all items run together
 *   groups_agree      a second function, for groups that agree on what decides
 *   groups_decide     uniform branches that decide for the whole group
 *   groups_regions    what is between two splits
 *   groups_values     which values regions take over from others, and how
 *   groups_volatile   group memory that one thread has for itself
 *   groups_emit       the function for a group, with groups_copy (the code) and
 *                     groups_carry (the values)
 *
 * Where the group goes from a region together, the new function just goes
 * there, so that LLVM sees the kernel's own loops around loops over items.
 * Otherwise each item notes where it waits, and a dispatcher runs the regions
 * of those that wait. groups_plan.h has the words.
 *
 * From groups_split on the steps are C++: they edit blocks, which the C
 * interface cannot.
 */

static kiln_status refuse(kiln__codegen_job *job, LLVMValueRef function,
                          const char *why)
{
    return kiln__job_fail(job, KILN_ECODEGEN, "function '%s' of the module: %s",
                          kiln__plain_name(job, function), why);
}

/* ---- where items wait ---- */

static int is_wait(LLVMValueRef function)
{
    size_t size;

    return LLVMIsDeclaration(function) &&
           strncmp(LLVMGetValueName2(function, &size), KILN__GROUPS_WAIT,
                   sizeof KILN__GROUPS_WAIT - 1) == 0;
}

/* Stores the functions that items call to wait, in the job's arena. */
static kiln_status find_waits(kiln__codegen_job *job, LLVMValueRef **out,
                              size_t *count)
{
    LLVMValueRef at;

    *count = 0;
    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        *count += (size_t)is_wait(at);
    *out = kiln__arena_allocate_array(&job->arena, *count + 1, sizeof **out);
    if (*out == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    *count = 0;
    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        if (is_wait(at))
            (*out)[(*count)++] = at;
    return KILN_OK;
}

/* ---- steps ---- */

static int has_variables(const kiln__codegen_job *job)
{
    LLVMValueRef at;

    for (at = LLVMGetFirstGlobal(job->module); at != NULL;
         at = LLVMGetNextGlobal(at))
        if (kiln__groups_is_variable(job, at))
            return 1;
    return 0;
}

static int are_used(const LLVMValueRef *functions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (LLVMGetFirstUse(functions[i]) != NULL)
            return 1;
    return 0;
}

static kiln_status cut(kiln__codegen_job *job, LLVMValueRef *entry)
{
    const int is_general = job->request->group_form == KILN__GROUP_FORM_GENERAL;
    const char *why;

    if (job->settings->opt_level >= 2 && !is_general)
        (void)kiln__groups_inline_calls(*entry);
    kiln__groups_normalise(*entry);
    why = kiln__groups_cut(job, entry, is_general);
    if (why != NULL)
        return refuse(job, *entry, why);
    job->for_group = 1;
    return KILN_OK;
}

/* ---- kernels without barriers ---- */

static int has_loops(const kiln__codegen_job *job)
{
    LLVMValueRef at;

    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        if (!LLVMIsDeclaration(at) && kiln__llvm_has_loops(at))
            return 1;
    return 0;
}

/* Runs loops together where that is better. */
static void cut_loops(kiln__codegen_job *job, LLVMValueRef *entry)
{
    LLVMValueRef wait;

    if (job->settings->opt_level < 2 || !job->has_loops ||
        job->request->group_form == KILN__GROUP_FORM_GENERAL)
        return;
    job->for_group = kiln__groups_cut_loops(job, entry);
    wait = LLVMGetNamedFunction(job->module, KILN__GROUPS_WAIT "loop");
    if (wait != NULL)
        LLVMDeleteFunction(wait);
}

kiln_status kiln__groups_lower(kiln__codegen_job *job, LLVMValueRef *entry)
{
    LLVMValueRef *waits, culprit;
    const char *why;
    size_t count;

    if (job->backend->groups == NULL)
        return KILN_OK;
    job->has_loops = has_loops(job);
    KILN_TRY(find_waits(job, &waits, &count));
    if (count == 0 && !has_variables(job)) {
        cut_loops(job, entry);
        return KILN_OK;
    }
    why = kiln__groups_inline(*entry, waits, count, &culprit);
    if (why != NULL)
        return refuse(job, culprit, why);
    KILN_TRY(kiln__groups_place(job, *entry));
    if (are_used(waits, count))
        KILN_TRY(cut(job, entry));
    for (size_t i = 0; i < count; i++)
        LLVMDeleteFunction(waits[i]);
    kiln__groups_bind_memory(job);
    return KILN_OK;
}
