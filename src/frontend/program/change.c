/* change.c - prepares a change of the program, publishes it, tells the
   tiers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "context/log.h"
#include "frontend/program/program_tables.h"
#include "tiers/typed/invalidate.h"
#include "tiers/worlds.h"

/* program_tables.h describes the protocol of changes. */

void kiln__change_begin(kiln__change *change, kiln__language *language,
                        kiln_package *package, kiln__source *source)
{
    kiln__mutex_lock(&language->change);
    language->change_number++;
    *change = (kiln__change){.language = language,
                             .package = package,
                             .source = source,
                             .world = language->made + 1};
    change->facts = (kiln__facts){.language = language, .world = change->world};
    kiln__diagnostics_init(&change->diagnostics, language->alloc);
    if (source == NULL)
        return;
    change->node = kiln__allocate(language->alloc, sizeof *change->node);
    if (change->node == NULL)
        change->status = KILN_ENOMEM;
    else
        change->node->source = source;
}

/* Removes the pending versions. In each slot, the newest version is this
   change's. */
static void unlink_pending(kiln__change *change)
{
    kiln__language_write(change->language);
    for (size_t i = change->slots.count; i-- > 0;) {
        kiln__slot *slot = change->slots.items[i];

        slot->versions = slot->versions->next;
    }
    kiln__language_unlock(change->language);
}

static void forget_marks(kiln__change *change)
{
    for (size_t i = 0; !change->published && i < change->added.count; i++)
        kiln__method_take_back(change->added.items[i]);
    for (size_t i = 0; i < change->removed.count; i++)
        change->removed.items[i]->leaving = 0;
}

void kiln__change_touch(kiln__change *change, uint64_t subject)
{
    if (!kiln__array_push(change->language->alloc, &change->subjects, subject))
        change->status = KILN_ENOMEM;
}

void kiln__change_touch_method(kiln__change *change, const kiln__method *method)
{
    kiln__change_touch(change, method->generic->subject);
    if (method->replaces)
        kiln__change_touch(change, KILN__OPERATORS_SUBJECT);
}

/* Every package sees what core defines, unless it gives the name a meaning of
   its own. */
void kiln__change_touch_name(kiln__change *change, const kiln__slot *slot)
{
    const kiln__language *language = change->language;
    const kiln_package *package = language->packages;

    kiln__change_touch(change, slot->subject);
    if (change->first || slot->package != language->core)
        return;
    for (; package != NULL; package = package->next)
        kiln__change_touch(change, kiln__binding_subject(package, slot->name));
}

/* Adds a slot to the list of imports. The list is walked to find whose meaning
   changes with an imported name. A slot that was ever an import stays in it. */
static void list_import(kiln__language *language, kiln__slot *slot)
{
    if (slot->listed)
        return;
    slot->listed = 1;
    slot->next_import = language->imports;
    language->imports = slot;
}

kiln__version *kiln__change_name(kiln__change *change, kiln__slot *slot,
                                 const kiln__version *meaning)
{
    kiln__version *version =
        kiln__arena_allocate(&change->source->arena, sizeof *version);

    if (version == NULL ||
        !kiln__array_push(change->language->alloc, &change->slots, slot)) {
        change->status = KILN_ENOMEM;
        return NULL;
    }
    *version = *meaning;
    version->min_world = change->world;
    version->max_world = UINT64_MAX;
    slot->mark = change->language->change_number;
    change->has_other_inputs |= kiln__slot_version(slot, change->world) != NULL;
    kiln__language_write(change->language);
    version->next = slot->versions;
    slot->versions = version;
    kiln__language_unlock(change->language);
    if (version->import != NULL)
        list_import(change->language, slot);
    return version;
}

void kiln__change_drop_name(kiln__change *change, kiln__slot *slot)
{
    size_t i = 0;

    while (change->slots.items[i] != slot)
        i++;
    change->slots.items[i] = change->slots.items[--change->slots.count];
    kiln__language_write(change->language);
    slot->versions = slot->versions->next;
    kiln__language_unlock(change->language);
}

void kiln__change_end_name(kiln__change *change, kiln__slot *slot)
{
    kiln__version *version = kiln__slot_version(slot, change->world);

    if (version == NULL)
        return;
    if (!kiln__array_push(change->language->alloc, &change->ended, version))
        change->status = KILN_ENOMEM;
    if (version->binding.kind == KILN__BINDING_TYPE)
        change->hierarchy = 1;
    kiln__change_touch_name(change, slot);
}

void kiln__change_add_method(kiln__change *change, kiln__method *method)
{
    if (!kiln__array_push(change->language->alloc, &change->added, method)) {
        change->status = KILN_ENOMEM;
        return;
    }
    kiln__method_add(method);
}

void kiln__change_remove_method(kiln__change *change, kiln__method *method)
{
    if (!kiln__array_push(change->language->alloc, &change->removed, method))
        change->status = KILN_ENOMEM;
    else
        method->leaving = 1;
}

/* Ends names of functions that have no method left. A function is a name of its
   package as long as the package has a method of it: what a name means depends
   on what is defined, not on what was defined before. */
void kiln__change_end_functions(kiln__change *change)
{
    for (size_t i = 0; i < change->removed.count; i++) {
        const kiln__generic *generic = change->removed.items[i]->generic;
        const kiln__method *method = generic->methods;
        const kiln__version *version;
        kiln__slot *slot;

        while (method != NULL &&
               (method->leaving || method->package != generic->package))
            method = method->next;
        if (method != NULL || generic->builtin != 0)
            continue;
        slot = kiln__slot_get(generic->package, generic->name);
        version = slot == NULL || slot->mark == change->language->change_number
                      ? NULL
                      : kiln__slot_version(slot, change->world);
        if (version == NULL || version->binding.generic != generic)
            continue;
        slot->mark = change->language->change_number;
        kiln__change_end_name(change, slot);
    }
}

/* ---- what a change affects ---- */

/* Touches a function with a method for an abstract type of a user's: which
   types that takes may have changed. */
static void touch_open_generic(kiln_digest key, void *value, void *env)
{
    const kiln__generic *generic = value;
    kiln__change *change = env;
    const kiln__method *method;

    (void)key;
    for (method = generic->methods; method != NULL; method = method->next) {
        int open = 0;

        for (size_t i = 0; i < method->parameter_count; i++)
            open |= kiln__pattern_is_open(method->parameters[i]);
        for (size_t i = 0; i < method->type_parameter_count; i++)
            open |= method->bounds[i] != NULL &&
                    kiln__pattern_is_open(method->bounds[i]);
        if (open) {
            kiln__change_touch(change, generic->subject);
            return;
        }
    }
}

static int is_touched(const kiln__change *change, uint64_t subject)
{
    for (size_t i = 0; i < change->subjects.count; i++)
        if (change->subjects.items[i] == subject)
            return 1;
    return 0;
}

/* A name that is imported from a changed name changes, too, and so do names
   that are imported from it. */
static void touch_importers(kiln__change *change)
{
    const kiln__slot *slot;
    size_t before;

    do {
        before = change->subjects.count;
        for (slot = change->language->imports; slot != NULL;
             slot = slot->next_import) {
            const kiln__version *version =
                kiln__slot_version(slot, change->world);

            if (version != NULL && version->import != NULL &&
                is_touched(change, version->import->subject) &&
                !is_touched(change, slot->subject))
                kiln__change_touch_name(change, slot);
        }
    } while (change->subjects.count > before && change->status == KILN_OK);
}

static int compare_subjects(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static void tidy_subjects(kiln__change *change)
{
    size_t kept = 0;

    if (change->subjects.count == 0)
        return;
    qsort(change->subjects.items, change->subjects.count,
          sizeof *change->subjects.items, compare_subjects);
    for (size_t i = 0; i < change->subjects.count; i++)
        if (kept == 0 ||
            change->subjects.items[kept - 1] != change->subjects.items[i])
            change->subjects.items[kept++] = change->subjects.items[i];
    change->subjects.count = kept;
}

/* ---- publication ---- */

/* Makes the change visible. Called with the world lock for writing; nothing
   here can fail. */
static void make_visible(kiln__change *change)
{
    kiln__language *language = change->language;
    const uint64_t last = change->world - 1;

    for (size_t i = 0; i < change->slots.count; i++) {
        kiln__version *older = change->slots.items[i]->versions->next;

        if (older != NULL && older->max_world == UINT64_MAX)
            older->max_world = last;
    }
    for (size_t i = 0; i < change->ended.count; i++)
        change->ended.items[i]->max_world = last;
    for (size_t i = 0; i < change->removed.count; i++)
        kiln__method_retire(change->removed.items[i], last);
    for (size_t i = 0; i < change->added.count; i++)
        kiln__method_link(change->added.items[i]);
    kiln__program_publish(change);
    if (change->unloads)
        change->package->loaded = 0;
    if (change->keeps_source) {
        change->node->has_names = change->slots.count > 0;
        change->node->next = language->sources;
        language->sources = change->node;
    }
    language->made = change->world;
    if (atomic_load(&language->newest) < change->world)
        atomic_store(&language->newest, change->world);
}

static int is_empty(const kiln__change *change)
{
    return change->slots.count == 0 && change->ended.count == 0 &&
           change->added.count == 0 && change->removed.count == 0 &&
           !change->unloads;
}

static void fill_report(const kiln__change *change, kiln_change_report *report)
{
    if (report == NULL)
        return;
    report->world = is_empty(change) ? kiln__language_world(change->language)
                                     : change->world;
    report->methods_added = change->added_count;
    report->methods_replaced = change->replaced_count;
    report->methods_removed = change->removed_count;
    report->methods_unchanged = change->unchanged_count;
}

/* ---- telling the tiers ---- */

/* Makes this the world of requests, unless they have a later one already. */
static void show_world(kiln__language *language, uint64_t world)
{
    uint64_t shown = atomic_load(&language->world);

    while (shown < world &&
           !atomic_compare_exchange_weak(&language->world, &shown, world))
        ;
}

void kiln__notice_begin(kiln__notice *notice)
{
    kiln__language *language = notice->language;

    notice->is_listed = 1;
    notice->thread = kiln__thread_self();
    kiln__mutex_lock(&language->notice_lock);
    notice->next = language->notices;
    language->notices = notice;
    kiln__mutex_unlock(&language->notice_lock);
}

/* Called with the lock. In a child of fork(), the notices of the parent's
   threads are not in the list. */
static void notice_remove(kiln__language *language, const kiln__notice *notice)
{
    kiln__notice **link = &language->notices;

    while (*link != NULL && *link != notice)
        link = &(*link)->next;
    if (*link != NULL)
        *link = notice->next;
}

/* Called with the lock. Returns the newest world up to which all is told. */
static uint64_t find_notified(const kiln__language *language)
{
    uint64_t world = language->notified;

    for (const kiln__notice *n = language->notices; n != NULL; n = n->next)
        if (n->world <= world)
            world = n->world - 1;
    return world;
}

/* Called with the lock. A thread does not wait for a notice of its own, which
   surrounds this one and ends after it. */
static int must_wait(const kiln__notice *notice)
{
    const kiln__language *language = notice->language;

    for (const kiln__notice *n = language->notices; n != NULL; n = n->next)
        if (kiln__thread_is(n->thread, notice->thread))
            return 0;
    return kiln__language_world(language) < notice->world;
}

static void wait_for_older(const kiln__notice *notice)
{
    kiln__language *language = notice->language;

    kiln__blocking_enter(language->context);
    kiln__mutex_lock(&language->notice_lock);
    while (must_wait(notice))
        kiln__condition_wait(&language->shown, &language->notice_lock);
    kiln__mutex_unlock(&language->notice_lock);
    kiln__blocking_leave(language->context);
}

/* Ends the notice. True when one of an older world is under way, on another
   thread. */
static int notice_end(const kiln__notice *notice)
{
    kiln__language *language = notice->language;
    int must;

    kiln__mutex_lock(&language->notice_lock);
    notice_remove(language, notice);
    if (language->notified < notice->world)
        language->notified = notice->world;
    show_world(language, find_notified(language));
    kiln__condition_broadcast(&language->shown);
    must = must_wait(notice);
    kiln__mutex_unlock(&language->notice_lock);
    return must;
}

static void notified(void *env)
{
    const kiln__notice *notice = env;
    const int must = notice->is_listed && notice_end(notice);

    if (notice->is_locked)
        kiln__mutex_unlock(&notice->language->change);
    if (must)
        wait_for_older(notice);
}

/* The change stays published, whatever the tiers return. */
kiln_status kiln__notice_send(kiln__notice *notice, kiln_change_report *report,
                              kiln_error **error)
{
    kiln__world_change change = {
        .frontend = notice->language->frontend,
        .world = notice->world,
        .subjects = notice->subjects,
        .count = notice->count,
        .invalidated = notified,
        .env = notice,
    };
    kiln_status status;

    if (notice->count == 0) {
        notified(change.env);
        return KILN_OK;
    }
    status = kiln__world_changed(&change, report);
    return status == KILN_ERECURSION
               ? kiln__error_set(error, status,
                                 "definitions in callbacks of definitions are "
                                 "nested too deep: everything ended")
               : status;
}

static kiln_status finish_checks(kiln__change *change, kiln_error **error)
{
    kiln_status status =
        kiln__diagnostics_finish(&change->diagnostics, KILN_ECOMPILE, error);

    KILN_TRY(status);
    if (change->status == KILN_OK && change->hierarchy)
        kiln__map_each(&change->language->generics, touch_open_generic, change);
    if (change->status == KILN_OK)
        touch_importers(change);
    if (change->status == KILN_OK)
        kiln__program_prepare(change);
    if (change->status != KILN_OK)
        return kiln__error_shortage(error, change->status);
    tidy_subjects(change);
    return KILN_OK;
}

kiln_status kiln__change_publish(kiln__change *change,
                                 kiln_change_report *report, kiln_error **error)
{
    KILN_TRY(finish_checks(change, error));
    change->published = 1;
    change->keeps_source = change->source != NULL &&
                           (change->slots.count > 0 || change->added.count > 0);
    if (!is_empty(change)) {
        kiln__language_write(change->language);
        make_visible(change);
        kiln__language_unlock(change->language);
    }
    fill_report(change, report);
    return KILN_OK;
}

static void dispose(kiln__change *change)
{
    const kiln_alloc *alloc = change->language->alloc;

    if (!change->published || !change->keeps_source) {
        kiln__deallocate(alloc, change->node,
                         change->node == NULL ? 0 : sizeof *change->node);
        kiln__source_free(change->source);
    }
    kiln__diagnostics_dispose(&change->diagnostics);
    kiln__array_dispose(alloc, &change->slots);
    kiln__array_dispose(alloc, &change->ended);
    kiln__array_dispose(alloc, &change->added);
    kiln__array_dispose(alloc, &change->removed);
}

/* The tiers ask the language, which reads its tables, and they learn of changes
   in the order in which these were made. The host is told without a lock. A
   change that defines a lazy text was told when the text was accepted. */
kiln_status kiln__change_end(kiln__change *change, kiln_status status,
                             kiln_change_report *report, kiln_error **error)
{
    kiln__notice notice = {.language = change->language,
                           .world = change->world,
                           .subjects = change->subjects.items,
                           .count = change->subjects.count,
                           .is_locked = 1};
    const int is_new = change->published && !is_empty(change);

    forget_marks(change);
    if (!change->published)
        unlink_pending(change);
    dispose(change);
    if (is_new && !change->first && change->lazy_text == NULL) {
        kiln__notice_begin(&notice);
        status = kiln__notice_send(&notice, report, error);
    } else {
        if (is_new && change->first)
            show_world(change->language, change->world);
        kiln__mutex_unlock(&change->language->change);
    }
    kiln__array_dispose(change->language->alloc, &change->subjects);
    return status;
}
