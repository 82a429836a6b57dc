/* struct_type.c - makes the types of a struct from its definition. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "context/types/types.h"
#include "frontend/program/program_tables.h"

/*
 * A struct's constructor is a method that takes its fields, so dispatch infers
 * type parameters and checks their bounds.
 *
 * When an inference asks for a struct, it also asks for everything that the
 * definition refers to: the definition's digest does not tell what became of
 * that later.
 */

static kiln_status check_bounds(kiln__facts *facts,
                                const kiln__named_type *named,
                                const kiln_type *const *parameters,
                                kiln_error **error)
{
    const kiln__method *constructor = named->constructor;
    const kiln_type *bound_to[KILN__TYPE_PARAMETERS_MAX] = {0};
    kiln__matching matching = {constructor, bound_to, facts, 0};
    int fits = 1;

    kiln__language_read(facts->language);
    for (size_t i = 0; fits && i < constructor->type_parameter_count; i++)
        fits = constructor->bounds[i] == NULL ||
               kiln__pattern_takes(&matching, constructor->bounds[i],
                                   parameters[i]);
    kiln__language_unlock(facts->language);
    if (matching.failed || facts->failed)
        return kiln__error_no_memory(error);
    return fits ? KILN_OK
                : kiln__error_set(error, KILN_ECOMPILE,
                                  "a parameter is outside its bound in %s",
                                  named->name);
}

/* The fields of a struct whose parameters are known. */
typedef struct field_list {
    kiln__arena arena;
    const kiln_type **types;
    const char **names;
} field_list;

static kiln_status resolve_fields(field_list *fields, kiln__facts *facts,
                                  const kiln__named_type *named,
                                  const kiln_type *const *parameters,
                                  kiln_error **error)
{
    const kiln__definition *definition = named->definition;
    kiln__diagnostics diagnostics;
    kiln__type_scope scope = {.facts = facts,
                              .package = named->package,
                              .definition = definition,
                              .parameters = parameters,
                              .diagnostics = &diagnostics,
                              .source = named->source};
    kiln_status status = KILN_OK;

    kiln__diagnostics_init(&diagnostics, facts->language->alloc);
    for (size_t i = 0; status == KILN_OK && i < definition->parameter_count;
         i++) {
        fields->names[i] = definition->parameters[i].name;
        status = kiln__type_resolve(&fields->types[i], &scope,
                                    definition->parameters[i].type);
    }
    if (status == KILN_ECOMPILE)
        status = kiln__diagnostics_finish(&diagnostics, status, error);
    else if (status != KILN_OK)
        status = kiln__error_shortage(error, status);
    kiln__diagnostics_dispose(&diagnostics);
    return status;
}

/* Makes the type of a struct with these parameters. `fields` gives it
   memory. */
static kiln_status make_struct(const kiln_type **out, field_list *fields,
                               kiln__facts *facts,
                               const kiln__named_type *named,
                               const kiln_type *const *parameters,
                               kiln_error **error)
{
    const size_t count = named->definition->parameter_count;
    kiln__struct_type description = {
        .package = named->package->name,
        .name = named->name,
        .definition = named->digest,
        .parameters = parameters,
        .parameter_count = named->definition->type_parameter_count,
        .field_count = count,
        .origin = named->slot};

    fields->types = kiln__arena_allocate_array(&fields->arena, count + 1,
                                               sizeof *fields->types);
    fields->names = kiln__arena_allocate_array(&fields->arena, count + 1,
                                               sizeof *fields->names);
    if (fields->arena.failed)
        return kiln__error_no_memory(error);
    KILN_TRY(resolve_fields(fields, facts, named, parameters, error));
    description.field_types = fields->types;
    description.field_names = fields->names;
    return kiln__type_struct(out, facts->language->context, &description,
                             error);
}

/* ---- types that were asked for before ---- */

struct kiln__known_struct {
    const kiln__named_type *named;
    const kiln_type *const *parameters;
    const kiln_type *type;
    struct kiln__known_struct *next;
};

static const kiln_type *find_known(const kiln__facts *facts,
                                   const kiln__named_type *named,
                                   const kiln_type *const *parameters,
                                   size_t count)
{
    const struct kiln__known_struct *at = facts->structs;

    while (at != NULL &&
           (at->named != named ||
            (count > 0 && memcmp(at->parameters, parameters,
                                 count * sizeof *parameters) != 0)))
        at = at->next;
    return at == NULL ? NULL : at->type;
}

/* Without memory, the type will be asked for again. */
static void keep_known(kiln__facts *facts, const kiln__named_type *named,
                       const kiln_type *type)
{
    struct kiln__known_struct *known;

    if (facts->arena == NULL)
        return;
    known = kiln__arena_allocate(facts->arena, sizeof *known);
    if (known == NULL)
        return;
    known->named = named;
    known->parameters = type->parameters;
    known->type = type;
    known->next = facts->structs;
    facts->structs = known;
}

/* ---- asking ---- */

kiln_status kiln__ask_struct(const kiln_type **out, kiln__facts *facts,
                             const kiln__named_type *named,
                             const kiln_type *const *parameters, size_t count,
                             kiln_error **error)
{
    field_list fields = {0};
    kiln_status status;

    if (!named->is_struct)
        return kiln__error_set(error, KILN_ECOMPILE, "%s is an abstract type",
                               named->name);
    if (count != named->definition->type_parameter_count)
        return kiln__error_set(
            error, KILN_ECOMPILE, "%s has %zu type parameters, not %zu",
            named->name, named->definition->type_parameter_count, count);
    *out = find_known(facts, named, parameters, count);
    if (*out != NULL)
        return KILN_OK;
    if (count > 0)
        KILN_TRY(check_bounds(facts, named, parameters, error));
    kiln__arena_init(&fields.arena, facts->language->alloc);
    status = make_struct(out, &fields, facts, named, parameters, error);
    kiln__arena_dispose(&fields.arena);
    if (status == KILN_OK)
        keep_known(facts, named, *out);
    return status;
}

kiln_status kiln__ask_fields(const kiln_type **out, kiln__facts *facts,
                             const kiln__named_type *named,
                             const kiln__argument *fields, size_t count)
{
    kiln__match match;
    kiln_status status;

    if (!named->is_struct)
        return KILN_ENOTFOUND;
    kiln__language_read(facts->language);
    status = kiln__method_try(&match, facts, named->constructor, fields, count);
    kiln__language_unlock(facts->language);
    KILN_TRY(status);
    for (size_t i = 0; i < named->constructor->type_parameter_count; i++)
        if (match.parameters[i] == NULL)
            return KILN_ENOTFOUND;
    status = kiln__ask_struct(out, facts, named, match.parameters,
                              named->constructor->type_parameter_count, NULL);
    return status == KILN_OK || kiln__is_shortage(status) ? status
                                                          : KILN_ENOTFOUND;
}

/* ---- types that are named by a qualified name ---- */

/* Splits "geometry.Circle" and finds what it means. */
static kiln_status find_qualified(kiln__binding *out, const kiln__facts *facts,
                                  kiln_package *package, const char *name)
{
    kiln__language *language = facts->language;
    const char *dot = strchr(name, '.');

    *out = (kiln__binding){0};
    if (dot != NULL) {
        kiln__language_read(language);
        package = kiln__package_get(language, name, (size_t)(dot - name));
        kiln__language_unlock(language);
        name = dot + 1;
    } else if (package == NULL) {
        package = language->core;
    }
    if (package == NULL)
        return KILN_ENOTFOUND;
    return kiln__binding_find(out, package, name, facts->world);
}

kiln_status kiln__type_of_name(const kiln_type **out, kiln_context *context,
                               const kiln__type_name *name, kiln_error **error)
{
    kiln__language *language = kiln__language_of(context);
    kiln__facts facts = {.language = language, .world = name->world};
    kiln__binding binding;
    kiln_status status;
    char *copy;

    if (language == NULL)
        return KILN_ENOTFOUND;
    KILN_TRY(kiln__language_ready(language, error));
    copy = kiln__string_copy_n(language->alloc, name->text, name->size);
    if (copy == NULL)
        return kiln__error_no_memory(error);
    if (name->world == 0)
        facts.world = kiln__language_world(language);
    status = find_qualified(&binding, &facts, name->package, copy);
    if (status == KILN_OK && binding.kind == KILN__BINDING_SCALAR &&
        name->parameter_count == 0)
        *out = binding.type;
    else if (status == KILN_OK && binding.kind == KILN__BINDING_TYPE)
        status = kiln__ask_struct(out, &facts, binding.named, name->parameters,
                                  name->parameter_count, error);
    else
        status = KILN_ENOTFOUND;
    kiln__string_free(language->alloc, copy);
    return status;
}
