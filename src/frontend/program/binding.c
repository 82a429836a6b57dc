/* binding.c - what names mean, for each package and world. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "frontend/program/program_tables.h"

/*
 * A package has a slot for each name that it has ever defined or imported, and
 * a slot has versions. A name that the package does not know is looked up in
 * core.
 */

static int visible(const kiln__version *version, uint64_t world)
{
    return version->min_world <= world && world <= version->max_world;
}

kiln__slot *kiln__slot_get(const kiln_package *package, const char *name)
{
    kiln__slot *slot =
        kiln__map_get(&package->bindings->slots, kiln__map_text(name));

    return slot != NULL && strcmp(slot->name, name) == 0 ? slot : NULL;
}

/* Returns the subject of a name, also of one that has no slot yet. */
uint64_t kiln__binding_subject(const kiln_package *package, const char *name)
{
    const kiln__slot *slot = kiln__slot_get(package, name);

    if (slot != NULL)
        return slot->subject;
    return kiln__digest_word(kiln__digest_texts(package->name, name));
}

static kiln__slot *slot_new(kiln_package *package, const char *name)
{
    const kiln_alloc *alloc = package->language->alloc;
    kiln__slot *slot = kiln__allocate(alloc, sizeof *slot);

    if (slot == NULL)
        return NULL;
    slot->package = package;
    slot->name = kiln__string_copy(alloc, name);
    slot->subject = kiln__binding_subject(package, name);
    if (slot->name == NULL) {
        kiln__deallocate(alloc, slot, sizeof *slot);
        return NULL;
    }
    return slot;
}

kiln_status kiln__slot_make(kiln__slot **out, kiln_package *package,
                            const char *name)
{
    kiln__language *language = package->language;
    kiln__slot *slot = kiln__slot_get(package, name);
    int set;

    *out = slot;
    if (slot != NULL)
        return KILN_OK;
    slot = slot_new(package, name);
    if (slot == NULL)
        return KILN_ENOMEM;
    kiln__language_write(language);
    set = kiln__map_set(&package->bindings->slots, kiln__map_text(name), slot);
    kiln__language_unlock(language);
    if (!set) {
        kiln__string_free(language->alloc, slot->name);
        kiln__deallocate(language->alloc, slot, sizeof *slot);
        return KILN_ENOMEM;
    }
    *out = slot;
    return KILN_OK;
}

kiln__version *kiln__slot_version(const kiln__slot *slot, uint64_t world)
{
    kiln__version *version = slot == NULL ? NULL : slot->versions;

    while (version != NULL && !visible(version, world))
        version = version->next;
    return version;
}

const kiln__version *kiln__slot_meaning(const kiln__slot *slot, uint64_t world)
{
    const kiln__version *version = kiln__slot_version(slot, world);

    for (int i = 0; version != NULL && version->import != NULL; i++) {
        if (i == KILN__IMPORT_CHAIN_MAX)
            return NULL;
        version = kiln__slot_version(version->import, world);
    }
    return version;
}

const kiln__version *kiln__name_meaning(const kiln_package *package,
                                        const char *name, uint64_t world)
{
    const kiln_package *core = package->language->core;
    const kiln__version *version =
        kiln__slot_meaning(kiln__slot_get(package, name), world);

    if (version == NULL && package != core && core != NULL)
        version = kiln__slot_meaning(kiln__slot_get(core, name), world);
    return version;
}

const kiln__named_type *kiln__slot_type(const kiln__slot *slot, uint64_t world)
{
    const kiln__version *version = kiln__slot_version(slot, world);

    if (version == NULL || version->binding.kind != KILN__BINDING_TYPE)
        for (version = slot->versions; version != NULL; version = version->next)
            if (version->binding.kind == KILN__BINDING_TYPE)
                break;
    return version == NULL ? NULL : version->binding.named;
}

kiln_package *kiln__package_get(const kiln__language *language,
                                const char *name, size_t size)
{
    kiln_package *package = language->packages;

    while (package != NULL && (strncmp(package->name, name, size) != 0 ||
                               package->name[size] != '\0'))
        package = package->next;
    return package;
}

kiln__generic *kiln__generic_get(const kiln__language *language,
                                 const char *qualified)
{
    kiln__generic *generic =
        kiln__map_get(&language->generics, kiln__map_text(qualified));

    if (generic == NULL || generic->function == NULL ||
        strcmp(kiln_function_name(generic->function), qualified) != 0)
        return NULL;
    return generic;
}

void kiln__generic_free(kiln__generic *generic)
{
    const kiln_alloc *alloc;

    if (generic == NULL)
        return;
    alloc = generic->package->language->alloc;
    kiln__methods_dispose(generic);
    kiln__deallocate(alloc, (void *)(uintptr_t)generic->name,
                     generic->name == NULL ? 0 : strlen(generic->name) + 1);
    kiln__deallocate(alloc, generic, sizeof *generic);
}

static kiln__generic *generic_new(kiln_package *package, const char *name)
{
    const kiln_alloc *alloc = package->language->alloc;
    kiln__generic *generic = kiln__allocate(alloc, sizeof *generic);

    if (generic == NULL)
        return NULL;
    generic->package = package;
    generic->name = kiln__string_copy(alloc, name);
    if (generic->name == NULL) {
        kiln__generic_free(generic);
        return NULL;
    }
    return generic;
}

/* Makes the function of a generic. The function refers to its data for ever, so
   the table, which may run out of memory, is extended first. A generic without
   a function is not found. */
static kiln_status generic_register(kiln__language *language,
                                    kiln__generic *generic,
                                    const char *qualified)
{
    const kiln_digest key = kiln__map_text(qualified);
    const kiln_function *function = NULL;
    kiln_status status;
    int set;

    generic->subject = kiln__digest_word(kiln__digest_text(qualified));
    kiln__language_write(language);
    set = kiln__map_set(&language->generics, key, generic);
    kiln__language_unlock(language);
    if (!set)
        return KILN_ENOMEM;
    status = kiln_function_new(&function, language->frontend, qualified,
                               generic, NULL);
    kiln__language_write(language);
    if (status == KILN_OK)
        generic->function = function;
    else
        kiln__map_remove(&language->generics, key);
    kiln__language_unlock(language);
    return status;
}

/* Called under the change lock. */
kiln_status kiln__generic_make(kiln__generic **out, kiln_package *package,
                               const char *name)
{
    kiln__language *language = package->language;
    kiln__generic *generic;
    kiln_status status = KILN_ENOMEM;
    kiln__text text;

    *out = NULL;
    kiln__text_init(&text, language->alloc);
    kiln__text_format(&text, "%s.%s", package->name, name);
    if (!text.failed)
        *out = kiln__generic_get(language, text.bytes);
    if (!text.failed && *out == NULL) {
        generic = generic_new(package, name);
        if (generic != NULL)
            status = generic_register(language, generic, text.bytes);
        if (status == KILN_OK)
            *out = generic;
        else
            kiln__generic_free(generic);
    }
    kiln__text_dispose(&text);
    return *out != NULL ? KILN_OK : status;
}

kiln_status kiln__binding_find(kiln__binding *out, const kiln_package *package,
                               const char *name, uint64_t world)
{
    kiln__language *language = package->language;
    const kiln__version *version;

    kiln__language_read(language);
    version = kiln__name_meaning(package, name, world);
    if (version != NULL)
        *out = version->binding;
    kiln__language_unlock(language);
    if (version != NULL)
        return KILN_OK;
    *out = (kiln__binding){0};
    return KILN_ENOTFOUND;
}

typedef struct name_list {
    const char **names;
    size_t count;
    uint64_t world;
} name_list;

static void name_count(kiln_digest key, void *value, void *env)
{
    (void)key;
    (void)value;
    ((name_list *)env)->count++;
}

static void name_add(kiln_digest key, void *value, void *env)
{
    const kiln__slot *slot = value;
    name_list *list = env;

    (void)key;
    if (kiln__slot_version(slot, list->world) != NULL)
        list->names[list->count++] = slot->name;
}

/* Slots live as long as the context, so their names are not copied. */
const char *const *kiln__binding_names(kiln__arena *arena,
                                       const kiln_package *package,
                                       uint64_t world, size_t *count)
{
    kiln__language *language = package->language;
    const kiln_package *both[2] = {package, language->core};
    const int packages = package == language->core ? 1 : 2;
    name_list list = {.world = world};

    kiln__language_read(language);
    for (int i = 0; i < packages; i++)
        kiln__map_each(&both[i]->bindings->slots, name_count, &list);
    list.names =
        kiln__arena_allocate_array(arena, list.count + 1, sizeof *list.names);
    list.count = 0;
    for (int i = 0; list.names != NULL && i < packages; i++)
        kiln__map_each(&both[i]->bindings->slots, name_add, &list);
    kiln__language_unlock(language);
    *count = list.count;
    return list.names;
}

const char *kiln__name_hint(kiln__arena *arena, const kiln_package *package,
                            const char *name, uint64_t world)
{
    size_t count = 0;
    const char *const *names =
        kiln__binding_names(arena, package, world, &count);
    const char *near =
        names == NULL ? NULL : kiln__nearest_name(name, names, count);

    return near == NULL ? NULL
                        : kiln__arena_format(arena, "did you mean `%s`?", near);
}
