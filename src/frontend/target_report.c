/* target_report.c - reports where a kernel needs what its target lacks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/keys/settings.h"
#include "context/targets/target_check.h"
#include "context/types/types.h"
#include "frontend/call_closure.h"
#include "frontend/typed_reports.h"
#include "tiers/typed/code_instance.h"

/* Turns each finding of target_check.c into a diagnostic, with the chain of
   calls that leads from the kernel to it. */

#define FRAMES_MAX 32 /* of a longer chain, the kernel's end is left out */

typedef struct finding {
    kiln__closure_place at;
    kiln_frame frames[FRAMES_MAX];
    size_t frame_count;
} finding;

static void add_frame(finding *out, const kiln__closure *c, size_t function,
                      const kiln__closure_place *at)
{
    if (out->frame_count < FRAMES_MAX)
        out->frames[out->frame_count++] =
            (kiln_frame){.function = c->functions[function].ir->name,
                         .location = at->location};
}

/* Sets the frames: the method at fault, then each caller with its call. */
static void place(finding *out, const kiln__closure *c,
                  const kiln__device_check *check,
                  const kiln__device_finding *found)
{
    size_t function = found->function;

    out->frame_count = 0;
    kiln__closure_find(c, function, found->node, &out->at);
    add_frame(out, c, function, &out->at);
    while (function != 0) {
        const kiln__device_call *call = &check->calls[function];
        kiln__closure_place at;

        /* Callers come before their callees. */
        if (call->node == 0 || call->caller >= function)
            return;
        function = call->caller;
        kiln__closure_find(c, function, call->node, &at);
        add_frame(out, c, function, &at);
    }
}

static kiln_status report(const kiln__closure *c,
                          const kiln__device_check *check, kiln_error **error)
{
    finding *out = kiln__allocate(c->alloc, sizeof *out);
    kiln__diagnostics diagnostics;
    kiln_status status;

    if (out == NULL)
        return kiln__error_no_memory(error);
    kiln__diagnostics_init(&diagnostics, c->alloc);
    for (size_t i = 0; i < check->finding_count; i++) {
        const kiln__device_finding *found = &check->findings[i];

        place(out, c, check, found);
        kiln__diagnose_chain(
            &diagnostics, out->at.source, out->at.span,
            &(kiln_diagnostic){.code = found->code,
                               .message = found->message,
                               .hint = found->hint,
                               .frames = out->frames,
                               .frame_count = out->frame_count});
    }
    status = kiln__diagnostics_finish(&diagnostics, KILN_EUNSUPPORTED, error);
    kiln__diagnostics_dispose(&diagnostics);
    kiln__deallocate(c->alloc, out, sizeof *out);
    return status == KILN_OK ? kiln__error_no_memory(error) : status;
}

static uint64_t count_parameters(const kiln_argument_info *arguments,
                                 const kiln_type *const *types, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += kiln_type_kind(types[i]) == KILN_TYPE_ARRAY
                   ? arguments[i].size / sizeof(int64_t)
                   : arguments[i].size > 0;
    return sum;
}

static kiln_status fill_launch(kiln__device_launch *out, kiln__closure *c,
                               const kiln_config *config)
{
    size_t count;
    const kiln_type *const *types = kiln__code_types(c->codes[0], &count);
    kiln_argument_info *arguments =
        kiln__arena_allocate_array(&c->arena, count + 1, sizeof *arguments);

    if (arguments == NULL)
        return KILN_ENOMEM;
    *out = (kiln__device_launch){
        .arguments = arguments,
        .argument_count = count,
        .argument_bytes = kiln__argument_layout(arguments, types, count),
        .parameters = count_parameters(arguments, types, count),
        .required_group_size = {(uint32_t)config->required_group_x,
                                (uint32_t)config->required_group_y,
                                (uint32_t)config->required_group_z},
        .maximum_group_size = (uint32_t)config->maximum_group,
    };
    return KILN_OK;
}

static kiln_status check_closure(kiln__closure *c, const kiln_config *config,
                                 kiln_error **error)
{
    kiln__device_limits limits;
    kiln__device_launch launch;
    kiln__device_check check;
    kiln_status status;

    if (fill_launch(&launch, c, config) != KILN_OK)
        return kiln__error_no_memory(error);
    kiln__device_limits_of(&limits, config);
    status = kiln__device_check_run(&check, c->alloc, &limits, c->functions,
                                    c->count, &launch);
    if (status != KILN_OK)
        status = kiln__error_no_memory(error);
    else if (check.finding_count > 0)
        status = report(c, &check, error);
    kiln__device_check_dispose(&check);
    return status;
}

kiln_status kiln__device_findings(const kiln_code *root,
                                  const kiln_config *config,
                                  const kiln_alloc *alloc, kiln_error **error)
{
    kiln__closure c;
    kiln_status status;

    if (!kiln__target_traits_of(config)->is_device)
        return KILN_OK;
    status = kiln__closure_read(&c, root, alloc, error);
    if (status == KILN_OK)
        status = check_closure(&c, config, error);
    kiln__closure_dispose(&c);
    return status;
}
