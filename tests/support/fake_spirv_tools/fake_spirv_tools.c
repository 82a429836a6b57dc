/* fake_spirv_tools.c - a validator with the answers that a test asks for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "backends/spirv/codegen/spirv_validate.h"

/*
 * FAKE_SPIRV_RESULT is the result, FAKE_SPIRV_SAYS its text, if set.
 * FAKE_SPIRV_KNOWS is the number of the only environment that it knows; if not
 * set, it knows all.
 */

#define FAKE(name, result, arguments) \
    __attribute__((visibility("default"))) result spv##name arguments;
KILN__SPV_FUNCTION_MAP(FAKE)

static int number(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL ? atoi(value) : 0;
}

kiln__spv_context spvContextCreate(int environment)
{
    const int knows = number("FAKE_SPIRV_KNOWS");

    return knows != 0 && knows != environment ? NULL : malloc(1);
}

void spvContextDestroy(kiln__spv_context context)
{
    free(context);
}

int spvValidateBinary(kiln__spv_context context, const uint32_t *words,
                      size_t count, kiln__spv_diagnostic **out)
{
    const char *says = getenv("FAKE_SPIRV_SAYS");

    (void)context;
    if (count < 5 || words[0] != 0x07230203)
        return -100;
    if (says != NULL) {
        *out = calloc(1, sizeof **out);
        (*out)->error = strdup(says);
    }
    return number("FAKE_SPIRV_RESULT");
}

#ifndef FAKE_BROKEN
void spvDiagnosticDestroy(kiln__spv_diagnostic *diagnostic)
{
    free(diagnostic->error);
    free(diagnostic);
}
#endif
