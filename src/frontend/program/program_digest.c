/* program_digest.c - digests of what a call may depend on, from texts alone. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "context/types/types.h"
#include "frontend/program/program_tables.h"
#include "frontend/program/runtime_sources.h"

/*
 * A package has a history: the digest of each text that was defined in it, in
 * order, together with what the text could refer to at that time. A text that
 * changed no meaning is not in it, and neither are places and labels of texts.
 *
 * What is inferred for a call depends on the packages of its function and of
 * its types, on core, on everything that these import, and on packages that add
 * methods to functions of others, since any call may get these. The histories
 * of all of them, by name, make the program's digest.
 *
 * This is complete as long as the order in which two packages were loaded does
 * not matter. It matters when one replaces a method of the other. Then the
 * program is entangled, and has no digest any more.
 */

kiln_digest kiln__program_core(void)
{
    return kiln__digest_text(kiln__runtime_version);
}

/* ---- a set of packages ---- */

typedef struct closure {
    const kiln__language *language;
    /* Package whose text is being defined and which will be loaded, or NULL. */
    const kiln_package *home;
    /* In the order in which they were found, then by name. */
    const kiln_package **packages;
    uint8_t *known; /* by number of a package */
    size_t count;
    const kiln_package *room[64];
    uint8_t known_room[64];
} closure;

static int closure_init(closure *c, const kiln__language *language)
{
    const size_t count = language->package_count;

    c->language = language;
    c->home = NULL;
    c->count = 0;
    c->packages = c->room;
    c->known = c->known_room;
    memset(c->known_room, 0, sizeof c->known_room);
    if (count <= sizeof c->known_room)
        return 1;
    c->known = kiln__allocate(language->alloc, count);
    c->packages =
        kiln__allocate_array(language->alloc, count, sizeof *c->packages);
    return c->known != NULL && c->packages != NULL;
}

static void closure_dispose(closure *c)
{
    const kiln_alloc *alloc = c->language->alloc;
    const size_t count = c->language->package_count;

    if (c->known != c->known_room)
        kiln__deallocate(alloc, c->known, c->known == NULL ? 0 : count);
    if (c->packages != c->room)
        kiln__deallocate(alloc, c->packages,
                         c->packages == NULL ? 0 : count * sizeof *c->packages);
}

static void closure_add(closure *c, const kiln_package *package)
{
    if (package == NULL || c->known[package->number])
        return;
    c->known[package->number] = 1;
    c->packages[c->count++] = package;
}

static void closure_follow(closure *c)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->packages[i]->import_count; j++)
            closure_add(c, c->packages[i]->imports[j]);
}

static int compare_names(const void *a, const void *b)
{
    const kiln_package *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

/* Returns zero when out of memory. Core always counts: as Kiln ships it, or as
   it is now. */
static kiln_digest closure_digest(closure *c)
{
    const kiln_package *core = c->language->core;
    kiln_digest digest = kiln__program_core();
    kiln__encoder encoder;

    if (core != NULL)
        digest = core->history;
    qsort(c->packages, c->count, sizeof *c->packages, compare_names);
    kiln__encoder_init(&encoder, c->language->alloc);
    kiln__encode_digest(&encoder, digest);
    for (size_t i = 0; i < c->count; i++) {
        if (c->packages[i] == core)
            continue;
        kiln__encode_text(&encoder, c->packages[i]->name);
        kiln__encode_u64(&encoder,
                         c->packages[i] == c->home || c->packages[i]->loaded);
        kiln__encode_digest(&encoder, c->packages[i]->history);
    }
    digest = encoder.failed ? (kiln_digest){0} : kiln__encoder_digest(&encoder);
    kiln__encoder_dispose(&encoder);
    return digest;
}

/* ---- histories ---- */

kiln_digest kiln__program_context(const kiln_package *package,
                                  kiln_package *const *imports, size_t count)
{
    kiln_digest digest = {0};
    closure c;

    if (closure_init(&c, package->language)) {
        c.home = package;
        closure_add(&c, package);
        for (size_t i = 0; i < count; i++)
            closure_add(&c, imports[i]);
        closure_follow(&c);
        digest = closure_digest(&c);
    }
    closure_dispose(&c);
    return digest;
}

kiln_digest kiln__program_defined(kiln_digest context, kiln_digest text)
{
    return kiln__digest_combine(context, text);
}

int kiln__program_import(kiln_package *package, kiln_package *imported)
{
    kiln__language *language = package->language;
    int done = 1;

    for (size_t i = 0; i < package->import_count; i++)
        if (package->imports[i] == imported)
            return 1;
    kiln__language_write(language);
    done = kiln__array_grow(language->alloc, (void **)&package->imports,
                            package->import_count, &package->import_capacity, 1,
                            sizeof *package->imports);
    if (done)
        package->imports[package->import_count++] = imported;
    kiln__language_unlock(language);
    return done;
}

static int note_imports(const kiln__change *change)
{
    const kiln__source *source = change->source;

    for (size_t i = 0; i < source->definition_count; i++) {
        const kiln__definition *definition = &source->definitions[i];
        kiln_package *imported;

        if (definition->kind != KILN__DEFINE_IMPORT)
            continue;
        imported = kiln__package_get(change->language, definition->name,
                                     strlen(definition->name));
        if (imported != NULL &&
            !kiln__program_import(change->package, imported))
            return 0;
    }
    return 1;
}

/* Describes a removal by the methods that are removed. */
static kiln_digest removal_digest(const kiln__change *change)
{
    kiln_digest digest =
        kiln__digest_text(change->unloads ? "unload" : "delete");

    for (size_t i = 0; !change->unloads && i < change->removed.count; i++)
        digest = kiln__digest_combine(digest, change->removed.items[i]->digest);
    return digest;
}

void kiln__program_prepare(kiln__change *change)
{
    change->before = change->package->history;
    change->history = change->before;
    if (change->first || change->lazy_text != NULL ||
        change->subjects.count == 0)
        return;
    if (change->source != NULL && !note_imports(change)) {
        change->status = KILN_ENOMEM;
        return;
    }
    change->context = kiln__program_context(change->package, NULL, 0);
    if (kiln__digest_is_zero(change->context))
        change->status = KILN_ENOMEM;
    change->text =
        change->source == NULL
            ? removal_digest(change)
            : kiln__digest_bytes(change->source->text, change->source->size);
    change->history = kiln__program_defined(change->context, change->text);
}

void kiln__program_publish(const kiln__change *change)
{
    if (change->lazy_text == NULL)
        change->package->history = change->history;
    for (size_t i = 0; i < change->added.count; i++)
        if (change->added.items[i]->generic->package != change->package)
            change->package->is_extending = 1;
    for (size_t i = 0; i < change->removed.count; i++)
        if (change->removed.items[i]->package != change->package)
            change->language->lost_digest = 1;
}

/* ---- the program of a call ---- */

static void add_function(closure *c, const kiln_function *function)
{
    const kiln__generic *generic;

    if (function->frontend != c->language->frontend)
        return;
    generic = function->data;
    closure_add(c, generic->package);
}

static void add_type(closure *c, const kiln_type *type)
{
    if (type->package != NULL)
        closure_add(c, kiln__package_get(c->language, type->package,
                                         strlen(type->package)));
    if (type->function != NULL)
        add_function(c, type->function);
    if (type->element != NULL)
        add_type(c, type->element);
    for (size_t i = 0; i < type->parameter_count; i++)
        add_type(c, type->parameters[i]);
    for (size_t i = 0; i < type->field_count; i++)
        add_type(c, type->fields[i].type);
}

static void add_extending(closure *c)
{
    const kiln_package *package = c->language->packages;

    for (; package != NULL; package = package->next)
        if (package->is_extending)
            closure_add(c, package);
}

/* Called with the world lock held. */
static kiln_status digest_call(const kiln__language *language,
                               const kiln_signature *signature,
                               kiln_digest *out)
{
    kiln_status status = KILN_ENOMEM;
    closure c;

    if (closure_init(&c, language)) {
        add_function(&c, signature->function);
        for (size_t i = 0; i < signature->count; i++)
            add_type(&c, signature->types[i]);
        add_extending(&c);
        closure_follow(&c);
        *out = closure_digest(&c);
        status = kiln__digest_is_zero(*out) ? KILN_ENOMEM : KILN_OK;
    }
    closure_dispose(&c);
    return status;
}

kiln_status kiln__program_digest(kiln__language *language,
                                 const kiln_signature *signature,
                                 uint64_t world, kiln_digest *out)
{
    kiln_status status = KILN_OK;

    *out = (kiln_digest){0};
    KILN_REQUIRE(signature->function->frontend == language->frontend, NULL);
    kiln__language_read(language);
    if (!language->lost_digest && world == atomic_load(&language->newest))
        status = digest_call(language, signature, out);
    kiln__language_unlock(language);
    return status;
}
