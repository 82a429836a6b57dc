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

static kiln__lazy_text *lazy_text_new(const kiln_alloc *alloc)
{
    kiln__lazy_text *lazy = kiln__allocate(alloc, sizeof *lazy);

    if (lazy != NULL)
        kiln__arena_init(&lazy->arena, alloc);
    return lazy;
}

void kiln__lazy_text_free(kiln__lazy_text *lazy)
{
    const kiln_alloc *alloc;

    if (lazy == NULL)
        return;
    alloc = lazy->arena.alloc;
    kiln_error_free(lazy->error);
    kiln__array_dispose(alloc, &lazy->subjects);
    kiln__arena_dispose(&lazy->arena);
    kiln__deallocate(alloc, lazy, sizeof *lazy);
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

static kiln_status fill_text(kiln__lazy_text *lazy, kiln__language *language,
                             const char *package, const char *file,
                             const char *text, size_t size)
{
    kiln__arena *arena = &lazy->arena;

    lazy->subject.package = package;
    lazy->subject.history = history_of(language, package);
    lazy->subject.text = kiln__digest_bytes(text, size);
    KILN_TRY(
        kiln__text_entry_find(&lazy->entry, arena, language, &lazy->subject));
    lazy->subject.package = kiln__arena_text(arena, package);
    lazy->file = kiln__arena_text(arena, file);
    lazy->text = kiln__arena_string(arena, text, size);
    lazy->size = size;
    return arena->failed ? KILN_ENOTFOUND : KILN_OK;
}

kiln_status kiln__lazy_text_find(kiln__lazy_text **out,
                                 kiln__language *language, const char *package,
                                 const char *file, const char *text,
                                 size_t size)
{
    kiln__lazy_text *lazy;
    kiln_status status;

    /* Parsing reports a text that is too long. */
    if (!kiln__lazy_text_is_on(language) || size > KILN__TEXT_SIZE_MAX)
        return KILN_ENOTFOUND;
    lazy = lazy_text_new(language->alloc);
    if (lazy == NULL)
        return KILN_ENOTFOUND;
    status = fill_text(lazy, language, package, file, text, size);
    if (status == KILN_OK)
        *out = lazy;
    else
        kiln__lazy_text_free(lazy);
    return status;
}

/* ---- accepting it, with `starting` and the change lock ---- */

static int find_imports(kiln_package **out, const kiln__lazy_text *lazy)
{
    const kiln__text_entry *entry = &lazy->entry;

    for (size_t i = 0; i < entry->import_count; i++) {
        out[i] = kiln__package_get(lazy->package->language, entry->imports[i],
                                   strlen(entry->imports[i]));
        if (out[i] == NULL || !out[i]->loaded || out[i] == lazy->package)
            return 0;
    }
    return 1;
}

/* True when everything is as it was when the entry was made. */
static int is_as_before(const kiln__lazy_text *lazy,
                        kiln_package *const *imports)
{
    const kiln_package *package = lazy->package;
    const kiln__text_entry *entry = &lazy->entry;
    const kiln_digest context =
        kiln__program_context(package, imports, entry->import_count);

    if (package->language->lost_digest || kiln__digest_is_zero(context) ||
        !kiln__digest_equal(context, entry->context) ||
        !kiln__digest_equal(package->history, lazy->subject.history))
        return 0;
    for (size_t i = 0; i < entry->place_count; i++)
        if (kiln__map_get(&package->language->places, entry->places[i]) != NULL)
            return 0;
    return 1;
}

static int make_functions(const kiln__lazy_text *lazy)
{
    const kiln__text_entry *entry = &lazy->entry;

    for (size_t i = 0; i < entry->function_count; i++) {
        kiln__generic *generic;

        if (kiln__generic_make(&generic, lazy->package, entry->functions[i]) !=
            KILN_OK)
            return 0;
        kiln__language_write(lazy->package->language);
        generic->is_lazy = 1;
        kiln__language_unlock(lazy->package->language);
    }
    return 1;
}

/* Does everything that may fail. What is left after a failure has no effect. */
static int prepare(kiln__lazy_text *lazy, kiln_package **imports)
{
    kiln__language *language = lazy->package->language;
    const kiln__text_entry *entry = &lazy->entry;

    if (!find_imports(imports, lazy) || !is_as_before(lazy, imports))
        return 0;
    for (size_t i = 0; i < entry->import_count; i++)
        if (!kiln__program_import(lazy->package, imports[i]))
            return 0;
    for (size_t i = 0; i < entry->place_count; i++)
        if (!kiln__map_set(&language->places, entry->places[i], language))
            return 0;
    return make_functions(lazy);
}

/* Appends the text to the list of lazy texts, and gives it the next world. */
static void append(kiln__lazy_text *lazy, kiln__notice *notice)
{
    kiln_package *package = lazy->package;
    kiln__language *language = package->language;

    if (language->lazy_texts == NULL)
        language->lazy_texts = lazy;
    else
        language->last_lazy_text->next = lazy;
    language->last_lazy_text = lazy;
    kiln__language_write(language);
    lazy->world = atomic_load(&language->newest) + 1;
    lazy->history =
        kiln__program_defined(lazy->entry.context, lazy->subject.text);
    package->history = lazy->history;
    package->is_extending |= lazy->entry.is_extending;
    atomic_store(&language->newest, lazy->world);
    kiln__language_unlock(language);
    notice->world = lazy->world;
    kiln__notice_begin(notice);
}

static int try_append(kiln__notice *notice, kiln__lazy_text *lazy)
{
    kiln__language *language = lazy->package->language;
    const size_t count = lazy->entry.import_count;
    kiln_package **imports =
        kiln__arena_allocate_array(&lazy->arena, count + 1, sizeof *imports);
    int done = 0;

    kiln__mutex_lock(&language->starting);
    kiln__mutex_lock(&language->change);
    if (imports != NULL && kiln__lazy_text_is_on(language) &&
        prepare(lazy, imports)) {
        append(lazy, notice);
        done = 1;
    }
    kiln__mutex_unlock(&language->change);
    kiln__mutex_unlock(&language->starting);
    return done;
}

kiln_status kiln__lazy_text_commit(int *done, kiln__lazy_text *lazy,
                                   kiln_package *package, int is_new,
                                   kiln_change_report *report,
                                   kiln_error **error)
{
    kiln__language *language = package->language;
    kiln__array_of(uint64_t) subjects = {0};
    const uint32_t method_count = (uint32_t)lazy->entry.method_count;
    kiln__notice notice = {.language = language};
    kiln_status status = KILN_OK;

    /* As soon as the text is in the list, another thread may define and free
       it. So everything that is needed later is read before. */
    lazy->package = package;
    lazy->is_new = is_new;
    *done = kiln__array_reserve(language->alloc, &subjects,
                                lazy->entry.subject_count);
    for (size_t i = 0; *done && i < lazy->entry.subject_count; i++)
        subjects.items[subjects.count++] = lazy->entry.subjects[i];
    notice.subjects = subjects.items;
    notice.count = subjects.count;
    *done = *done && try_append(&notice, lazy);
    if (!*done)
        kiln__lazy_text_free(lazy);
    if (*done && report != NULL) {
        report->world = notice.world;
        report->methods_added = method_count;
        report->methods_replaced = 0;
        report->methods_removed = 0;
        report->methods_unchanged = 0;
    }
    if (*done)
        status = kiln__notice_send(&notice, report, error);
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
    if (generic != NULL && generic->is_lazy)
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
static void give_up(kiln__lazy_text *lazy)
{
    kiln_package *package = lazy->package;
    kiln__language *language = package->language;

    kiln__mutex_lock(&language->change);
    kiln__language_write(language);
    language->lost_digest = 1;
    if (lazy->error != NULL && lazy->is_new)
        package->loaded = 0;
    kiln__language_unlock(language);
    kiln__mutex_unlock(&language->change);
}

/* Parses and defines a lazy text. An error is kept in it; only a lack of memory
   is returned. */
static kiln_status define(kiln__lazy_text *lazy)
{
    kiln__language *language = lazy->package->language;
    const uint64_t start = kiln__clock_ns();
    kiln__source *source = NULL;
    kiln_status status =
        kiln__source_parse(&source, language->alloc, lazy->file, lazy->text,
                           lazy->size, &lazy->error);

    lazy->nanoseconds = kiln__clock_ns() - start;
    if (status == KILN_OK)
        status = kiln__define_lazy_text(lazy, source, &lazy->error);
    if (kiln__is_shortage(status)) {
        kiln_error_free(lazy->error);
        lazy->error = NULL;
        return status;
    }
    pass_world(language, lazy->world);
    if (status != KILN_OK)
        lazy->is_wrong = 1;
    if (lazy->is_wrong)
        give_up(lazy);
    return KILN_OK;
}

kiln_status kiln__lazy_text_define_all(kiln__language *language,
                                       kiln__lazy_text **defined)
{
    while (language->lazy_texts != NULL) {
        kiln__lazy_text *lazy = language->lazy_texts;

        KILN_TRY(define(lazy));
        language->lazy_texts = lazy->next;
        lazy->next = NULL;
        *defined = lazy;
        defined = &lazy->next;
    }
    return KILN_OK;
}

/* Entries of stores may rely on the wrong entry. So the tiers are told both the
   subjects that it named and those that really changed. */
static kiln_status notify_wrong(kiln__language *language, kiln__lazy_text *lazy,
                                kiln_error **error)
{
    const kiln__text_entry *entry = &lazy->entry;
    const uint64_t world = kiln__language_world(language);
    kiln__notice named = {.language = language,
                          .world = world,
                          .subjects = entry->subjects,
                          .count = entry->subject_count};
    kiln__notice changed = {.language = language,
                            .world = world,
                            .subjects = lazy->subjects.items,
                            .count = lazy->subjects.count};

    kiln__text_entry_reject(language, &lazy->subject);
    kiln__log(language->context, KILN_LOG_WARNING,
              "%s: what was stored about this text is not true", lazy->file);
    KILN_TRY(kiln__notice_send(&named, NULL, error));
    return kiln__notice_send(&changed, NULL, error);
}

static kiln_status finish_text(kiln__language *language, kiln__lazy_text *lazy,
                               kiln_error **error)
{
    kiln_status status = KILN_OK;

    kiln__stage_ended(language->context, KILN_STAGE_PARSE, lazy->file,
                      lazy->nanoseconds);
    if (lazy->is_wrong)
        status = notify_wrong(language, lazy, error);
    if (status == KILN_OK && lazy->error != NULL) {
        status = kiln_error_status(lazy->error);
        if (error != NULL) {
            *error = lazy->error;
            lazy->error = NULL;
        }
    }
    return status;
}

kiln_status kiln__lazy_text_finish(kiln__language *language,
                                   kiln__lazy_text *defined, kiln_error **error)
{
    kiln_status status = KILN_OK;

    while (defined != NULL) {
        kiln__lazy_text *next = defined->next;
        const kiln_status one =
            finish_text(language, defined, status == KILN_OK ? error : NULL);

        status = status == KILN_OK ? one : status;
        kiln__lazy_text_free(defined);
        defined = next;
    }
    return status;
}
