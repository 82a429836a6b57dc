/* core_package.c - the package core, which every package sees. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/scalars.h"
#include "base/error.h"
#include "frontend/program/program_tables.h"
#include "frontend/program/runtime_sources.h"

/*
 * The core package is made when the language is asked something for the first
 * time, so creating a context parses nothing. It holds the scalar types, the
 * tree of abstract types, a function for each built-in one, and what the
 * embedded runtime sources define. Every step may be repeated: after an attempt
 * that ran out of memory, the next one continues.
 */

/* What an abstract type takes, as bits: classes of scalars, or other kinds. */
#define CLASS(name) (1u << KILN__SCALAR_##name)
#define KIND(name) (1u << KILN_TYPE_##name)
#define INTEGER (CLASS(SIGNED) | CLASS(UNSIGNED))
#define NUMBER (INTEGER | CLASS(FLOAT))

/* Parents come before their children. */
static const struct abstract_type {
    const char *name;
    const char *parent;
    uint32_t classes;
    uint32_t kinds;
} abstract_types[] = {
    {"Any", NULL, 0, 0},
    {"Number", "Any", NUMBER, 0},
    {"Real", "Number", NUMBER, 0},
    {"Integer", "Real", INTEGER, 0},
    {"Signed", "Integer", CLASS(SIGNED), 0},
    {"Unsigned", "Integer", CLASS(UNSIGNED), 0},
    {"Float", "Real", CLASS(FLOAT), 0},
    {"Array", "Any", 0, KIND(ARRAY)},
    {"Tuple", "Any", 0, KIND(TUPLE)},
    {"Vec", "Any", 0, KIND(VECTOR)},
    {"Static", "Any", 0, KIND(STATIC)},
    {"Function", "Any", 0, KIND(FUNCTION)},
    {"Type", "Any", 0, KIND(TYPE)},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Gives a name its meaning, in all worlds, unless it has one already. */
static kiln_status name_set(kiln__language *language, const char *name,
                            const kiln__binding *binding, const char *tag)
{
    kiln__version *version;
    kiln__slot *slot;

    KILN_TRY(kiln__slot_make(&slot, language->core, name));
    if (slot->versions != NULL)
        return KILN_OK;
    version = kiln__arena_allocate(&language->arena, sizeof *version);
    if (version == NULL)
        return KILN_ENOMEM;
    version->binding = *binding;
    version->digest = kiln__digest_texts(tag, name);
    version->min_world = 1;
    version->max_world = UINT64_MAX;
    kiln__language_write(language);
    slot->versions = version;
    kiln__language_unlock(language);
    return KILN_OK;
}

static const kiln__named_type *find_type(const kiln__language *language,
                                         const char *name)
{
    const kiln__slot *slot = kiln__slot_get(language->core, name);

    return slot == NULL ? NULL : kiln__slot_type(slot, 1);
}

static uint32_t kinds_of(const struct abstract_type *type)
{
    uint32_t kinds = type->kinds;

    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++)
        if ((type->classes >> kiln__scalar_of(kind)->category & 1) != 0)
            kinds |= kiln__kind_bit(kind);
    return kinds;
}

static kiln_status add_abstract(kiln__language *language,
                                const struct abstract_type *type)
{
    kiln__binding binding = {.kind = KILN__BINDING_TYPE};
    kiln__named_type *named;
    kiln__slot *slot;

    if (find_type(language, type->name) != NULL)
        return KILN_OK;
    KILN_TRY(kiln__slot_make(&slot, language->core, type->name));
    named = kiln__arena_allocate(&language->arena, sizeof *named);
    if (named == NULL)
        return KILN_ENOMEM;
    named->name = type->name;
    named->slot = slot;
    named->kinds = kinds_of(type);
    named->parent =
        type->parent == NULL ? NULL : find_type(language, type->parent);
    named->digest = kiln__digest_text(type->name);
    named->min_world = 1;
    named->max_world = UINT64_MAX;
    binding.named = named;
    return name_set(language, type->name, &binding, "abstract");
}

static kiln_status add_scalar(kiln__language *language, const char *name,
                              int32_t kind)
{
    const kiln__binding binding = {
        .kind = KILN__BINDING_SCALAR,
        .type = kiln_type_scalar(language->context, kind)};

    return name_set(language, name, &binding, "scalar");
}

static kiln_status add_types(kiln__language *language)
{
    for (size_t i = 0; i < COUNT(abstract_types); i++)
        KILN_TRY(add_abstract(language, &abstract_types[i]));
    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++)
        if (kiln__kind_is_scalar(kind))
            KILN_TRY(add_scalar(language, kiln__kind_name(kind), kind));
    return add_scalar(language, "bool", KILN_TYPE_BOOL);
}

static kiln_status add_function(kiln__language *language, uint32_t index)
{
    kiln__binding binding = {.kind = KILN__BINDING_FUNCTION};

    KILN_TRY(kiln__generic_make(&binding.generic, language->core,
                                kiln__builtins[index]));
    binding.generic->builtin = index;
    if (index <= KILN__OPERATOR_COUNT)
        language->operators[index] = binding.generic;
    return name_set(language, kiln__builtins[index], &binding, "function");
}

static kiln_status add_functions(kiln__language *language)
{
    for (uint32_t i = 1; i < kiln__builtin_count; i++)
        if (kiln__builtins[i] != NULL)
            KILN_TRY(add_function(language, i));
    return KILN_OK;
}

static kiln_status add_package(kiln__language *language)
{
    const kiln__binding binding = {.kind = KILN__BINDING_PACKAGE,
                                   .package = language->core};

    return name_set(language, language->core->name, &binding, "package");
}

static kiln_status add_sources(kiln__language *language, kiln_error **error)
{
    const kiln__runtime_source *text;
    kiln__source *source;

    for (text = kiln__runtime_sources; text->name != NULL; text++) {
        KILN_TRY(kiln__source_parse(&source, language->alloc, text->name,
                                    text->text, text->size, error));
        KILN_TRY(kiln__define_first(language->core, source, error));
    }
    return KILN_OK;
}

/* Takes the lock, because other threads may already walk the list of
   packages. */
static kiln_status make_package(kiln__language *language)
{
    kiln_package *core;

    KILN_TRY(kiln__package_prepare(&core, language, "core"));
    kiln__language_write(language);
    core->is_runtime = 1;
    core->history = kiln__program_core();
    core->loaded = 1;
    language->core = core;
    kiln__language_unlock(language);
    return KILN_OK;
}

kiln_status kiln__core_new(kiln__language *language, kiln_error **error)
{
    kiln_status status = KILN_OK;

    if (language->core == NULL)
        status = make_package(language);
    if (status == KILN_OK)
        status = add_types(language);
    if (status == KILN_OK)
        status = add_functions(language);
    if (status == KILN_OK)
        status = add_package(language);
    if (status != KILN_OK)
        return kiln__error_no_memory(error);
    return add_sources(language, error);
}
