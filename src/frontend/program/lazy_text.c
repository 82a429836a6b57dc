/* lazy_text.c - texts whose definition waits until it is needed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "context/counters.h"
#include "context/log.h"
#include "frontend/program/lazy_text.h"
#include "stores/stores.h"

/*
 * Until something is asked of the language that needs it, core is not made. A
 * text for which a store has a text entry, which says what the text will define
 * (text_entry.c), is kept without parsing it. Its world, its report, its
 * functions and its package's history are those that the definition will have.
 * kiln__language_ready() defines all such texts, in order. From then on, texts
 * are defined at once.
 *
 * The lock `starting` guards the list, and whether the language is ready.
 * Worlds and histories are guarded by the change lock and the world lock, as
 * always. The order of locks is `starting`, change, world.
 *
 * An entry may be wrong, if something other than this language made it. Then
 * the definition is what the text says. If the text has an error, nothing is
 * defined, and the error goes to the call that needed the definition.
 * Everything that relied on the entry is told, and the program has no digest
 * any more.
 */

int kiln__lazy_text_is_on(const kiln__language *language)
{
    const kiln_context *context = language->context;

    return !atomic_load_explicit(&language->ready, memory_order_acquire) &&
           kiln__stores_load(context, KILN__ENTRY_SOURCE);
}

/* ---- one lazy text ---- */

static kiln__lazy_text *deferred_new(const kiln_alloc *alloc)
{
    kiln__lazy_text *deferred = kiln__allocate(alloc, sizeof *deferred);

    if (deferred != NULL)
        kiln__arena_init(&deferred->arena, alloc);
    return deferred;
}

void kiln__lazy_text_free(kiln__lazy_text *deferred)
{
    const kiln_alloc *alloc;

    if (deferred == NULL)
        return;
    alloc = deferred->arena.alloc;
    kiln_error_free(deferred->error);
    kiln__array_dispose(alloc, &deferred->subjects);
    kiln__arena_dispose(&deferred->arena);
    kiln__deallocate(alloc, deferred, sizeof *deferred);
}

static kiln_digest history_of(kiln__language *language, const char *name)
{
    const kiln_package *package;
    kiln_digest history = {0};

    kiln__language_read(language);
    package = kiln__package_get(language, name, strlen(name));
    if (package != NULL)
        history = package->history;
    kiln__language_unlock(language);
    return history;
}

static kiln_status fill_text(kiln__lazy_text *deferred,
                             kiln__language *language, const char *package,
                             const char *file, const char *text, size_t size)
{
    kiln__arena *arena = &deferred->arena;

    deferred->subject.package = package;
    deferred->subject.history = history_of(language, package);
    deferred->subject.text = kiln__digest_bytes(text, size);
    KILN_TRY(kiln__text_entry_find(&deferred->summary, arena, language,
                                   &deferred->subject));
    deferred->subject.package = kiln__arena_text(arena, package);
    deferred->file = kiln__arena_text(arena, file);
    deferred->text = kiln__arena_string(arena, text, size);
    deferred->size = size;
    return arena->failed ? KILN_ENOTFOUND : KILN_OK;
}

kiln_status kiln__lazy_text_find(kiln__lazy_text **out,
                                 kiln__language *language, const char *package,
                                 const char *file, const char *text,
                                 size_t size)
{
    kiln__lazy_text *deferred;
    kiln_status status;

    /* Parsing reports a text that is too long. */
    if (!kiln__lazy_text_is_on(language) || size > KILN__TEXT_SIZE_MAX)
        return KILN_ENOTFOUND;
    deferred = deferred_new(language->alloc);
    if (deferred == NULL)
        return KILN_ENOTFOUND;
    status = fill_text(deferred, language, package, file, text, size);
    if (status == KILN_OK)
        *out = deferred;
    else
        kiln__lazy_text_free(deferred);
    return status;
}

/* ---- accepting it, with `starting` and the change lock ---- */

static int find_imports(kiln_package **out, const kiln__lazy_text *deferred)
{
    const kiln__text_entry *summary = &deferred->summary;

    for (size_t i = 0; i < summary->import_count; i++) {
        out[i] =
            kiln__package_get(deferred->package->language, summary->imports[i],
                              strlen(summary->imports[i]));
        if (out[i] == NULL || !out[i]->loaded || out[i] == deferred->package)
            return 0;
    }
    return 1;
}

/* True when everything is as it was when the entry was made. */
static int is_as_before(const kiln__lazy_text *deferred,
                        kiln_package *const *imports)
{
    const kiln_package *package = deferred->package;
    const kiln__text_entry *summary = &deferred->summary;
    const kiln_digest context =
        kiln__program_context(package, imports, summary->import_count);

    if (package->language->is_entangled || kiln__digest_is_zero(context) ||
        !kiln__digest_equal(context, summary->context) ||
        !kiln__digest_equal(package->history, deferred->subject.history))
        return 0;
    for (size_t i = 0; i < summary->place_count; i++)
        if (kiln__map_get(&package->language->places, summary->places[i]))
            return 0;
    return 1;
}

static int make_functions(const kiln__lazy_text *deferred)
{
    const kiln__text_entry *summary = &deferred->summary;

    for (size_t i = 0; i < summary->function_count; i++) {
        kiln__generic *generic;

        if (kiln__generic_make(&generic, deferred->package,
                               summary->functions[i]) != KILN_OK)
            return 0;
        kiln__language_write(deferred->package->language);
        generic->is_promised = 1;
        kiln__language_unlock(deferred->package->language);
    }
    return 1;
}

/* Does everything that may fail. What is left after a failure has no effect. */
static int prepare(kiln__lazy_text *deferred, kiln_package **imports)
{
    kiln__language *language = deferred->package->language;
    const kiln__text_entry *summary = &deferred->summary;

    if (!find_imports(imports, deferred) || !is_as_before(deferred, imports))
        return 0;
    for (size_t i = 0; i < summary->import_count; i++)
        if (!kiln__program_import(deferred->package, imports[i]))
            return 0;
    for (size_t i = 0; i < summary->place_count; i++)
        if (!kiln__map_set(&language->places, summary->places[i], language))
            return 0;
    return make_functions(deferred);
}

/* Appends the text to the list of lazy texts, and gives it the next world. */
static void promise(kiln__lazy_text *deferred, kiln__telling *telling)
{
    kiln_package *package = deferred->package;
    kiln__language *language = package->language;

    if (language->deferred == NULL)
        language->deferred = deferred;
    else
        language->last->next = deferred;
    language->last = deferred;
    kiln__language_write(language);
    deferred->world = atomic_load(&language->newest) + 1;
    deferred->history = kiln__program_defined(deferred->summary.context,
                                              deferred->subject.text);
    package->history = deferred->history;
    package->is_extending |= deferred->summary.is_extending;
    atomic_store(&language->newest, deferred->world);
    kiln__language_unlock(language);
    telling->world = deferred->world;
    kiln__telling_begin(telling);
}

static int try_defer(kiln__telling *telling, kiln__lazy_text *deferred)
{
    kiln__language *language = deferred->package->language;
    const size_t count = deferred->summary.import_count;
    kiln_package **imports = kiln__arena_allocate_array(
        &deferred->arena, count + 1, sizeof *imports);
    int done = 0;

    kiln__mutex_lock(&language->starting);
    kiln__mutex_lock(&language->change);
    if (imports != NULL && kiln__lazy_text_is_on(language) &&
        prepare(deferred, imports)) {
        promise(deferred, telling);
        done = 1;
    }
    kiln__mutex_unlock(&language->change);
    kiln__mutex_unlock(&language->starting);
    return done;
}

kiln_status kiln__lazy_text_commit(int *done, kiln__lazy_text *deferred,
                                   kiln_package *package, int is_new,
                                   kiln_change_report *report,
                                   kiln_error **error)
{
    kiln__language *language = package->language;
    kiln__array_of(uint64_t) subjects = {0};
    const uint32_t method_count = (uint32_t)deferred->summary.method_count;
    kiln__telling telling = {.language = language};
    kiln_status status = KILN_OK;

    /* As soon as the text is in the list, another thread may define and free
       it. So everything that is needed later is read before. */
    deferred->package = package;
    deferred->is_new = is_new;
    *done = kiln__array_reserve(language->alloc, &subjects,
                                deferred->summary.subject_count);
    for (size_t i = 0; *done && i < deferred->summary.subject_count; i++)
        subjects.items[subjects.count++] = deferred->summary.subjects[i];
    telling.subjects = subjects.items;
    telling.count = subjects.count;
    *done = *done && try_defer(&telling, deferred);
    if (!*done)
        kiln__lazy_text_free(deferred);
    if (*done && report != NULL) {
        report->world = telling.world;
        report->methods_added = method_count;
        report->methods_replaced = 0;
        report->methods_removed = 0;
        report->methods_unchanged = 0;
    }
    if (*done)
        status = kiln__change_tell(&telling, report, error);
    kiln__array_dispose(language->alloc, &subjects);
    return status;
}

const kiln_function *kiln__lazy_text_function(kiln__language *language,
                                              const char *qualified)
{
    const kiln_function *function = NULL;
    const kiln__generic *generic;

    if (atomic_load_explicit(&language->ready, memory_order_acquire))
        return NULL;
    kiln__language_read(language);
    generic = kiln__generic_get(language, qualified);
    if (generic != NULL && generic->is_promised)
        function = generic->function;
    kiln__language_unlock(language);
    return function;
}

/* ---- defining it ---- */

/* The world is used up even if nothing was defined. */
static void pass_world(kiln__language *language, uint64_t world)
{
    kiln__mutex_lock(&language->change);
    language->made = world;
    kiln__mutex_unlock(&language->change);
}

/* Gives the text up. Without it, the program is not what the histories say. */
static void give_up(kiln__lazy_text *deferred)
{
    kiln_package *package = deferred->package;
    kiln__language *language = package->language;

    kiln__mutex_lock(&language->change);
    kiln__language_write(language);
    language->is_entangled = 1;
    if (deferred->error != NULL && deferred->is_new)
        package->loaded = 0;
    kiln__language_unlock(language);
    kiln__mutex_unlock(&language->change);
}

/* Parses and defines a lazy text. An error is kept in it; only a lack of memory
   is returned. */
static kiln_status define(kiln__lazy_text *deferred)
{
    kiln__language *language = deferred->package->language;
    const uint64_t start = kiln__clock_ns();
    kiln__source *source = NULL;
    kiln_status status =
        kiln__source_parse(&source, language->alloc, deferred->file,
                           deferred->text, deferred->size, &deferred->error);

    deferred->nanoseconds = kiln__clock_ns() - start;
    if (status == KILN_OK)
        status = kiln__define_deferred(deferred, source, &deferred->error);
    if (kiln__is_shortage(status)) {
        kiln_error_free(deferred->error);
        deferred->error = NULL;
        return status;
    }
    pass_world(language, deferred->world);
    if (status != KILN_OK)
        deferred->is_wrong = 1;
    if (deferred->is_wrong)
        give_up(deferred);
    return KILN_OK;
}

kiln_status kiln__lazy_text_settle(kiln__language *language,
                                   kiln__lazy_text **settled)
{
    while (language->deferred != NULL) {
        kiln__lazy_text *deferred = language->deferred;

        KILN_TRY(define(deferred));
        language->deferred = deferred->next;
        deferred->next = NULL;
        *settled = deferred;
        settled = &deferred->next;
    }
    return KILN_OK;
}

/* Entries of stores may rely on the wrong entry. So the tiers are told both the
   subjects that it named and those that really changed. */
static kiln_status tell_wrong(kiln__language *language,
                              kiln__lazy_text *deferred, kiln_error **error)
{
    const kiln__text_entry *summary = &deferred->summary;
    const uint64_t world = kiln__language_world(language);
    kiln__telling was_said = {.language = language,
                              .world = world,
                              .subjects = summary->subjects,
                              .count = summary->subject_count};
    kiln__telling is_so = {.language = language,
                           .world = world,
                           .subjects = deferred->subjects.items,
                           .count = deferred->subjects.count};

    kiln__text_entry_reject(language, &deferred->subject);
    kiln__log(language->context, KILN_LOG_WARNING,
              "%s: what was stored about this text is not true",
              deferred->file);
    KILN_TRY(kiln__change_tell(&was_said, NULL, error));
    return kiln__change_tell(&is_so, NULL, error);
}

static kiln_status finish_text(kiln__language *language,
                               kiln__lazy_text *deferred, kiln_error **error)
{
    kiln_status status = KILN_OK;

    kiln__stage_ended(language->context, KILN_STAGE_PARSE, deferred->file,
                      deferred->nanoseconds);
    if (deferred->is_wrong)
        status = tell_wrong(language, deferred, error);
    if (status == KILN_OK && deferred->error != NULL) {
        status = kiln_error_status(deferred->error);
        if (error != NULL) {
            *error = deferred->error;
            deferred->error = NULL;
        }
    }
    return status;
}

kiln_status kiln__lazy_text_finish(kiln__language *language,
                                   kiln__lazy_text *settled, kiln_error **error)
{
    kiln_status status = KILN_OK;

    while (settled != NULL) {
        kiln__lazy_text *next = settled->next;
        const kiln_status one =
            finish_text(language, settled, status == KILN_OK ? error : NULL);

        status = status == KILN_OK ? one : status;
        kiln__lazy_text_free(settled);
        settled = next;
    }
    return status;
}
