/* outside.c - packages and functions of other frontends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/program/outside.h"

#include <string.h>

#include "base/error.h"
#include "tiers/frontends.h"

/*
 * An import that finds no package of the language may find one of another
 * frontend. Which frontend it is stays as the import found it, until the
 * import is defined again. What functions there are is asked when a call is
 * inferred: the call's edge to the callee is what notices changes.
 */

kiln_status kiln__outside_find(kiln_frontend **out,
                               const kiln__language *language, const char *name)
{
    return kiln__frontend_with_package(out, kiln__language_context(language),
                                       name);
}

kiln_status kiln__ask_outside(const kiln_function **out,
                              const kiln__facts *facts,
                              const kiln__outside *outside, kiln_error **error)
{
    kiln_frontend *frontend = outside->frontend;
    kiln__arena arena;
    const char *qualified;
    kiln_status status;

    if (frontend->ops.function == NULL)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "frontend %s does not find functions by name",
                               frontend->name);
    kiln__arena_init(&arena, &kiln__language_context(facts->language)->alloc);
    qualified =
        kiln__arena_format(&arena, "%s.%s", outside->package, outside->name);
    status = qualified == NULL
                 ? kiln__error_no_memory(error)
                 : kiln__callback_status(
                       frontend->ops.function(frontend->self, qualified, out),
                       frontend, "function", error);
    if (status == KILN_ENOTFOUND)
        (void)kiln__error_set(error, status, "there is no function %s",
                              qualified);
    kiln__arena_dispose(&arena);
    return status;
}

kiln_status kiln__ask_outside_parameters(const kiln_type **types, size_t *count,
                                         const kiln__facts *facts,
                                         const kiln_function *function,
                                         kiln_error **error)
{
    kiln_frontend *frontend = function->frontend;
    uint64_t world;
    kiln_status status;

    *count = 0;
    if (frontend->ops.parameters == NULL)
        return KILN_OK;
    KILN_TRY(kiln_inference_world(&world, facts->inference, frontend, error));
    status = kiln__callback_status(
        frontend->ops.parameters(frontend->self, function, world, types, count,
                                 error),
        frontend, "parameters", error);
    if (status == KILN_OK && *count > KILN_ARGUMENTS_MAX)
        return kiln__error_set(
            error, KILN_EINVAL, "frontend %s: %s has %zu parameters",
            frontend->name, kiln_function_name(function), *count);
    return status;
}
