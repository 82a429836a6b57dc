/* cl_function.c - functions of OpenCL C that other code calls. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "context/types/types.h"
#include "frontend/opencl/cl_program.h"

/*
 * Arguments of such a function fit as those of a kernel do (cl_match.c), except
 * that only arrays have addresses. Its result must be a type that both
 * languages have.
 */

kiln_status kiln__cl_value_type(const kiln_type **out, kiln_context *context,
                                const kiln__source_value *value,
                                kiln_error **error)
{
    const kiln_type *element = value->element != KILN_TYPE_NONE
                                   ? kiln_type_scalar(context, value->element)
                                   : NULL;

    *out = NULL;
    if (value->kind == KILN__SOURCE_VOID)
        *out = kiln_type_scalar(context, KILN_TYPE_NONE);
    else if (value->kind == KILN__SOURCE_SCALAR)
        *out = element;
    else if (value->kind == KILN__SOURCE_VECTOR && element != NULL)
        return kiln_type_vector(out, context, element, value->lanes, error);
    return KILN_OK;
}

kiln_status kiln__cl_result(const kiln_type **out, kiln_context *context,
                            const kiln__source_function *function,
                            kiln_error **error)
{
    KILN_TRY(kiln__cl_value_type(out, context, &function->result, error));
    if (*out != NULL)
        return KILN_OK;
    return kiln__error_set(error, KILN_ECOMPILE,
                           "%s gives '%s', and only scalars and vectors can be "
                           "given to another language",
                           function->name, function->result.type);
}

void kiln__cl_parameters(const kiln_type **types, size_t *count,
                         kiln_context *context,
                         const kiln__source_function *function)
{
    *count = function->parameter_count < KILN_ARGUMENTS_MAX
                 ? function->parameter_count
                 : KILN_ARGUMENTS_MAX;
    for (size_t i = 0; i < *count; i++) {
        const kiln__source_value *value = &function->parameters[i];

        types[i] = value->kind == KILN__SOURCE_SCALAR
                       ? kiln_type_scalar(context, value->element)
                       : NULL;
    }
}
