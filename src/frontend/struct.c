/* struct.c - from the definition of a struct to its types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "report.h"
#include "tables.h"
#include "types.h"

/*
 * A struct's constructor is a method that takes its fields: dispatch's own
 * matching infers type parameters and checks their bounds.
 */

static kiln_status check_bounds(const kiln__named_type *named,
                                const kiln_type *const *parameters,
                                uint64_t world, kiln_error **error)
{
    const kiln__method *constructor = named->constructor;
    const kiln_type *bound_to[KILN__TYPE_PARAMETERS_MAX] = {0};
    kiln__matching matching = {constructor, bound_to, world, 0};
    kiln__language *language = named->package->language;
    int fits = 1;

    kiln__language_read(language);
    for (size_t i = 0; fits && i < constructor->type_parameter_count; i++)
        fits = constructor->bounds[i] == NULL ||
               kiln__pattern_takes(&matching, constructor->bounds[i],
                                   parameters[i]);
    kiln__language_unlock(language);
    if (matching.failed)
        return kiln__error_no_memory(error);
    return fits ? KILN_OK
                : kiln__error_set(error, KILN_ECOMPILE,
                                  "a parameter is outside its bound in %s",
                                  named->name);
}

/* What a struct's fields are, once its parameters are known. */
typedef struct field_list {
    kiln__arena arena;
    const kiln_type **types;
    const char **names;
} field_list;

static kiln_status resolve_fields(field_list *fields,
                                  const kiln__named_type *named,
                                  const kiln_type *const *parameters,
                                  uint64_t world, kiln_error **error)
{
    const kiln__definition *definition = named->definition;
    kiln__diagnostics diagnostics;
    kiln__type_scope scope = {.package = named->package,
                              .world = world,
                              .definition = definition,
                              .parameters = parameters,
                              .diagnostics = &diagnostics,
                              .source = named->source};
    kiln_status status = KILN_OK;

    kiln__diagnostics_init(&diagnostics, named->package->language->alloc);
    for (size_t i = 0; status == KILN_OK && i < definition->parameter_count;
         i++) {
        fields->names[i] = definition->parameters[i].name;
        status = kiln__type_resolve(&fields->types[i], &scope,
                                    definition->parameters[i].type);
    }
    if (status == KILN_ECOMPILE)
        status = kiln__diagnostics_finish(&diagnostics, status, error);
    else if (status != KILN_OK)
        status = kiln__error_no_memory(error);
    kiln__diagnostics_dispose(&diagnostics);
    return status;
}

static kiln_status make_struct(const kiln_type **out, field_list *fields,
                               const kiln__named_type *named,
                               const kiln_type *const *parameters,
                               uint64_t world, kiln_error **error)
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
    KILN_TRY(resolve_fields(fields, named, parameters, world, error));
    description.field_types = fields->types;
    description.field_names = fields->names;
    return kiln__type_struct(out, named->package->language->context,
                             &description, error);
}

kiln_status kiln__struct_instance(const kiln_type **out,
                                  kiln__language *language,
                                  const kiln__named_type *named,
                                  const kiln_type *const *parameters,
                                  size_t count, uint64_t world,
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
    if (count > 0)
        KILN_TRY(check_bounds(named, parameters, world, error));
    kiln__arena_init(&fields.arena, language->alloc);
    status = make_struct(out, &fields, named, parameters, world, error);
    kiln__arena_dispose(&fields.arena);
    return status;
}

kiln_status kiln__struct_from_fields(const kiln_type **out,
                                     kiln__language *language,
                                     const kiln__named_type *named,
                                     const kiln__argument *fields, size_t count,
                                     uint64_t world)
{
    kiln__match match;
    kiln_status status;

    if (!named->is_struct)
        return KILN_ENOTFOUND;
    kiln__language_read(language);
    status = kiln__method_try(&match, language, named->constructor, fields,
                              count, world);
    kiln__language_unlock(language);
    KILN_TRY(status);
    for (size_t i = 0; i < named->constructor->type_parameter_count; i++)
        if (match.parameters[i] == NULL)
            return KILN_ENOTFOUND;
    status = kiln__struct_instance(out, language, named, match.parameters,
                                   named->constructor->type_parameter_count,
                                   world, NULL);
    return status == KILN_OK || status == KILN_ENOMEM ? status : KILN_ENOTFOUND;
}

/* Splits "geometry.Circle" and finds what it means. */
static kiln_status find_qualified(kiln__binding *out, kiln__language *language,
                                  kiln_package *package, const char *name,
                                  uint64_t world)
{
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
    return kiln__binding_find(out, package, name, world);
}

kiln_status kiln__language_type(const kiln_type **out, kiln_context *context,
                                kiln_package *package, const char *name,
                                size_t size, const kiln_type *const *parameters,
                                size_t parameter_count, uint64_t world,
                                kiln_error **error)
{
    kiln__language *language = kiln__language_of(context);
    kiln__binding binding;
    kiln_status status;
    char *copy;

    if (language == NULL)
        return KILN_ENOTFOUND;
    KILN_TRY(kiln__language_ready(language, error));
    copy = kiln__string_copy_n(language->alloc, name, size);
    if (copy == NULL)
        return kiln__error_no_memory(error);
    if (world == 0)
        world = kiln__language_world(language);
    status = find_qualified(&binding, language, package, copy, world);
    if (status == KILN_OK && binding.kind == KILN__BINDING_SCALAR &&
        parameter_count == 0)
        *out = binding.type;
    else if (status == KILN_OK && binding.kind == KILN__BINDING_TYPE)
        status = kiln__struct_instance(out, language, binding.named, parameters,
                                       parameter_count, world, error);
    else
        status = KILN_ENOTFOUND;
    kiln__string_free(language->alloc, copy);
    return status;
}
