/* kiln_targets.c - kiln targets: what kernels can be compiled for and run
   on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "kiln_tool.h"

static const char *or_dash(const char *text)
{
    return text != NULL ? text : "-";
}

/* Returns the length of the longest text of the column and its head. */
static int width_of_targets(kiln_context *context, const char *head)
{
    size_t width = strlen(head);

    for (size_t i = 0; i < kiln_backend_count(context); i++) {
        kiln_backend_info info = {.size = sizeof info};

        if (kiln_backend_get_info(&info, context, i) == KILN_OK &&
            strlen(or_dash(info.default_target)) > width)
            width = strlen(or_dash(info.default_target));
    }
    return (int)width;
}

static void show(kiln_context *context)
{
    static const char head[] = "DEFAULT TARGET";
    const int width = width_of_targets(context, head);

    (void)printf("%-8s %-*s %-7s %-7s %s\n", "NAME", width, head, "COMPILE",
                 "DEVICES", "REASON");
    for (size_t i = 0; i < kiln_backend_count(context); i++) {
        kiln_backend_info info = {.size = sizeof info};

        if (kiln_backend_get_info(&info, context, i) != KILN_OK)
            continue;
        (void)printf("%-8s %-*s %-7s %-7u %s\n", info.name, width,
                     or_dash(info.default_target),
                     info.can_compile ? "yes" : "no",
                     (unsigned)info.device_count, or_dash(info.reason));
    }
}

int tool_targets(int count, char **words)
{
    static const kiln_host_ops host = {.size = sizeof(kiln_host_ops),
                                       .log = tool_log};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln_error *error = NULL;

    options.host = &host;
    if (count > 0)
        return tool_complain(TOOL_USAGE, "targets takes no \"%s\"", words[0]);
    if (kiln_context_new(&context, &options, &error) != KILN_OK)
        return tool_fail(error);
    show(context);
    kiln_context_free(context);
    return TOOL_OK;
}
