/* build_need.c - gets what a foreign module turns out to need of libraries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "pipeline/build.h"
#include "pipeline/math_library.h"

/*
 * Which functions of mathematics, and which of OpenCL's, a module calls is
 * known after its dead code is gone. So the code generator lists them and
 * fails, and its request is repeated with them as imports. They come from tier
 * 2, as the functions that typed IR needs do. The libraries are named among the
 * makers of the artifact: if one changes, the artifact is a miss.
 */

void kiln__build_note_need(void *env, int32_t library, const char *symbol)
{
    kiln__build *build = env;
    const kiln__build_need need = {library,
                                   kiln__arena_text(&build->arena, symbol)};

    if (need.symbol != NULL)
        (void)kiln__array_push(&build->context->alloc, &build->needs, need);
}

static kiln_status find(kiln__library_use *out, kiln__build *build,
                        const kiln__build_need *need, kiln_error **error)
{
    const struct kiln__library **library = &build->libraries[need->library];

    if (*library == NULL)
        KILN_TRY(kiln__needed_library(library, build->context, build->config,
                                      need->library, error));
    out->library = *library;
    out->symbol = need->symbol;
    return KILN_OK;
}

kiln_status kiln__build_meet_needs(kiln__build *build, kiln_error **error)
{
    const size_t count = build->needs.count;
    const size_t before = build->import_count;
    kiln__library_use *uses =
        kiln__arena_allocate_array(&build->arena, count, sizeof *uses);

    if (uses == NULL)
        return kiln__error_no_memory(error);
    for (size_t i = 0; i < count; i++)
        KILN_TRY(find(&uses[i], build, &build->needs.items[i], error));
    build->needs.count = 0;
    if (kiln__build_add_uses(build, uses, count) != KILN_OK)
        return kiln__error_no_memory(error);
    if (build->import_count > before)
        return KILN_OK;
    return kiln__error_set(error, KILN_ECODEGEN,
                           "%s: the code generator asks for '%s' twice",
                           kiln_code_name(build->code), uses[0].symbol);
}
