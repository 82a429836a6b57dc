/* operators.c - whether built-in meanings of operators are replaced. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/types/types.h"
#include "frontend/program/builtins.h"
#include "frontend/program/program_tables.h"

/*
 * An operator is a generic function whose methods for built-in types are not
 * written down. Usually nothing replaces them, and then calls on built-in types
 * need no dispatch: inference asks once whether anything does.
 *
 * Plain types are those that inference has rules for: scalars, vectors,
 * compile-time integers, types and functions. A pattern that may take one of
 * them counts, even if a given call gets another method or none, since dispatch
 * is asked then.
 */

#define KIND(name) ((uint32_t)1 << KILN_TYPE_##name)
#define PLAIN (KIND(VECTOR) | KIND(STATIC) | KIND(TYPE) | KIND(FUNCTION))

static int has_plain(uint32_t kinds)
{
    return (kinds & (PLAIN | kiln__scalar_kinds())) != 0;
}

/* Returns what the parameter is bound to. A type parameter takes what its bound
   takes, and bounds may refer to each other. */
static const kiln__pattern *bound_of(const kiln__method *method,
                                     const kiln__pattern *pattern)
{
    for (int i = 0; i < KILN__TYPE_PARAMETERS_MAX && pattern != NULL &&
                    pattern->kind == KILN__PATTERN_PARAMETER;
         i++)
        pattern = method->bounds[pattern->index];
    return pattern;
}

/* True when the pattern may take a plain type. */
static int takes_plain(const kiln__pattern *pattern)
{
    if (pattern == NULL)
        return 1;
    switch (pattern->kind) {
    case KILN__PATTERN_ANY:
    case KILN__PATTERN_PARAMETER:
    case KILN__PATTERN_VECTOR:
    case KILN__PATTERN_STATIC:
    case KILN__PATTERN_TYPE:
        return 1;
    case KILN__PATTERN_ABSTRACT:
        return has_plain(pattern->named->kinds);
    case KILN__PATTERN_EXACT:
        return has_plain(kiln__kind_bit(pattern->type->kind));
    case KILN__PATTERN_ARRAY:
    case KILN__PATTERN_TUPLE:
    case KILN__PATTERN_STRUCT:
        break;
    }
    return 0;
}

int kiln__method_replaces(const kiln__method *method)
{
    const kiln__builtin *builtin = kiln__builtin_at(method->generic->builtin);

    if (builtin == NULL || builtin->rule != KILN__RULE_OPERATOR)
        return 0;
    for (size_t i = 0; i < method->parameter_count; i++)
        if (!takes_plain(bound_of(method, method->parameters[i])))
            return 0;
    return 1;
}

static int any_is_seen(const kiln__method *method, const char *overlays,
                       uint64_t world)
{
    while (method != NULL &&
           !(method->replaces && kiln__method_is_seen(method, overlays, world)))
        method = method->next;
    return method != NULL;
}

int kiln__operator_is_replaced(const kiln__generic *generic,
                               const char *overlays, uint64_t world)
{
    if (generic->replacing_count == 0)
        return 0;
    return any_is_seen(generic->methods, overlays, world) ||
           (world <= generic->retired_world &&
            any_is_seen(generic->retired, overlays, world));
}

int kiln__operators_are_replaced(const kiln__language *language,
                                 const char *overlays, uint64_t world)
{
    for (uint32_t i = 1;
         language->replacing_count > 0 && i <= KILN__OPERATOR_COUNT; i++)
        if (kiln__operator_is_replaced(language->operators[i], overlays, world))
            return 1;
    return 0;
}
