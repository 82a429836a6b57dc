/* facts.c - accessors of packages, functions and methods for inference. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/types/types.h"
#include "frontend/program/program_tables.h"

/*
 * The types that answers refer to are opaque in facts.h. These functions read
 * the members that an answer's digest covers, so reading them needs no
 * question.
 */

const kiln_function *kiln__generic_function(const kiln__generic *generic)
{
    return generic->function;
}

const char *kiln__generic_name(const kiln__generic *generic)
{
    return generic->name;
}

uint32_t kiln__generic_builtin(const kiln__generic *generic)
{
    return generic->builtin;
}

int kiln__generic_is_core(const kiln__generic *generic)
{
    return generic->package == generic->package->language->core;
}

const kiln__definition *kiln__method_definition(const kiln__method *method)
{
    return method->definition;
}

kiln__source *kiln__method_source(const kiln__method *method)
{
    return method->source;
}

kiln_package *kiln__method_package(const kiln__method *method)
{
    return method->package;
}

kiln_digest kiln__method_digest(const kiln__method *method)
{
    return method->digest;
}

int kiln__method_is_runtime(const kiln__method *method)
{
    return method->package->is_runtime;
}

const char *kiln__named_name(const kiln__named_type *named)
{
    return named->name;
}

const kiln__definition *kiln__named_struct(const kiln__named_type *named)
{
    return named->is_struct ? named->definition : NULL;
}

int kiln__named_is_kind(const kiln__named_type *named, int32_t kind)
{
    return !named->is_struct && named->kinds == (uint32_t)1 << kind;
}

kiln_package *kiln__language_core(const kiln__language *language)
{
    return language->core;
}
