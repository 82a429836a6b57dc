/* text_entry.c - stores what a text defines, so that it need not be parsed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/decoder.h"
#include "base/error.h"
#include "context/keys/key.h"
#include "context/types/types.h"
#include "frontend/program/lazy_text.h"
#include "frontend/program/runtime_sources.h"
#include "stores/entry_versions.h"
#include "stores/stores.h"

/*
 * Three things decide what a definition does: the text, the history of its
 * package, and what the text can refer to. The first two are in the key. The
 * third, the context, is known once the imports are, and is in the entry.
 *
 * The meta of an entry has, after a version: context, number of methods,
 * whether methods of other packages' functions are among them, imports,
 * functions, places, subjects. Each list begins with its length. There is no
 * payload.
 */

/* ---- writing ---- */

/* Returns a digest that is equal, in every process, for methods that take the
   same types in the same table: these would replace each other. */
static kiln_digest place_of(kiln__encoder *encoder, const kiln__method *method)
{
    encoder->size = 0;
    kiln__encode_text(encoder, kiln_function_name(method->generic->function));
    kiln__encode_text(encoder, method->overlay);
    kiln__encode_u64(encoder, kiln__method_shape(method));
    return kiln__encoder_digest(encoder);
}

/* True for a method that may collide with one of another text. In a package
   that was empty before, only methods of other packages' functions can; its own
   functions are known to no other package. */
static int has_place(const kiln__change *change, const kiln__method *method)
{
    return method->generic->package != change->package ||
           !kiln__digest_is_zero(change->before);
}

static void write_places(kiln__encoder *out, const kiln__change *change)
{
    kiln__encoder place;
    uint64_t count = 0;

    for (size_t i = 0; i < change->added.count; i++)
        count += has_place(change, change->added.items[i]) ? 1 : 0;
    kiln__encode_u64(out, count);
    kiln__encoder_init(&place, change->language->alloc);
    for (size_t i = 0; i < change->added.count; i++)
        if (has_place(change, change->added.items[i]))
            kiln__encode_digest(out, place_of(&place, change->added.items[i]));
    out->failed |= place.failed;
    kiln__encoder_dispose(&place);
}

static int is_extending(const kiln__change *change)
{
    for (size_t i = 0; i < change->added.count; i++)
        if (change->added.items[i]->generic->package != change->package)
            return 1;
    return 0;
}

static int is_own_function(const kiln__change *change, const kiln__slot *slot)
{
    const kiln__version *version = slot->versions;

    return version->import == NULL &&
           version->binding.kind == KILN__BINDING_FUNCTION &&
           version->binding.generic->package == change->package;
}

static void write_functions(kiln__encoder *out, const kiln__change *change)
{
    uint64_t count = 0;

    for (size_t i = 0; i < change->slots.count; i++)
        count += is_own_function(change, change->slots.items[i]) ? 1 : 0;
    kiln__encode_u64(out, count);
    for (size_t i = 0; i < change->slots.count; i++)
        if (is_own_function(change, change->slots.items[i]))
            kiln__encode_text(out, change->slots.items[i]->name);
}

static int is_import(const kiln__definition *definition)
{
    return definition->kind == KILN__DEFINE_IMPORT &&
           strcmp(definition->name, "core") != 0;
}

static void write_imports(kiln__encoder *out, const kiln__source *source)
{
    uint64_t count = 0;

    for (size_t i = 0; i < source->definition_count; i++)
        count += is_import(&source->definitions[i]) ? 1 : 0;
    kiln__encode_u64(out, count);
    for (size_t i = 0; i < source->definition_count; i++)
        if (is_import(&source->definitions[i]))
            kiln__encode_text(out, source->definitions[i].name);
}

int kiln__text_entry_write(kiln__encoder *out, const kiln__change *change)
{
    if (change->has_other_inputs || change->hierarchy ||
        change->source == NULL || change->package == change->language->core ||
        change->subjects.count == 0 || change->ended.count > 0 ||
        change->removed.count > 0 || change->unchanged_count > 0)
        return 0;
    kiln__encode_u64(out, KILN__META_SOURCE);
    kiln__encode_digest(out, change->context);
    kiln__encode_u64(out, change->added.count);
    kiln__encode_u64(out, (uint64_t)is_extending(change));
    write_imports(out, change->source);
    write_functions(out, change);
    write_places(out, change);
    kiln__encode_u64(out, change->subjects.count);
    for (size_t i = 0; i < change->subjects.count; i++)
        kiln__encode_u64(out, change->subjects.items[i]);
    return !out->failed;
}

/* ---- reading ---- */

/* The least bytes of a field: its tag and its length. */
#define FIELD_SIZE 9

static const char **read_texts(kiln__reader *reader, kiln__arena *arena,
                               size_t *count)
{
    const char **texts;

    *count = kiln__read_count(reader, FIELD_SIZE);
    texts = kiln__arena_allocate_array(arena, *count + 1, sizeof *texts);
    for (size_t i = 0; texts != NULL && i < *count; i++) {
        const kiln__span_of_bytes text = kiln__read_text(reader);

        reader->failed |= text.size == 0;
        texts[i] = reader->failed
                       ? ""
                       : kiln__arena_string(arena, text.data, text.size);
    }
    return texts;
}

static void read_numbers(kiln__text_entry *out, kiln__reader *reader,
                         kiln__arena *arena)
{
    out->place_count = kiln__read_count(reader, FIELD_SIZE);
    out->places = kiln__arena_allocate_array(arena, out->place_count + 1,
                                             sizeof *out->places);
    for (size_t i = 0; out->places != NULL && i < out->place_count; i++)
        out->places[i] = kiln__read_digest(reader);
    out->subject_count = kiln__read_count(reader, FIELD_SIZE);
    out->subjects = kiln__arena_allocate_array(arena, out->subject_count + 1,
                                               sizeof *out->subjects);
    for (size_t i = 0; out->subjects != NULL && i < out->subject_count; i++)
        out->subjects[i] = kiln__read_u64(reader);
}

/* Checks the names of packages, since a name becomes that of a file. */
static int are_packages(const kiln__text_entry *entry)
{
    for (size_t i = 0; i < entry->import_count; i++)
        if (kiln__package_check_name(
                entry->imports[i], strlen(entry->imports[i]), NULL) != KILN_OK)
            return 0;
    return 1;
}

/* KILN_ECORRUPT: no entry that Kiln wrote looks like this. */
static kiln_status read_entry(kiln__text_entry *out, kiln__arena *arena,
                              const kiln__entry *entry)
{
    kiln__reader reader;

    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if (kiln__read_u64(&reader) != KILN__META_SOURCE)
        return KILN_ECORRUPT;
    out->context = kiln__read_digest(&reader);
    out->method_count = kiln__read_u64(&reader);
    out->is_extending = kiln__read_u64(&reader) != 0;
    out->imports = read_texts(&reader, arena, &out->import_count);
    out->functions = read_texts(&reader, arena, &out->function_count);
    read_numbers(out, &reader, arena);
    out->bytes = kiln__arena_copy(arena, entry->meta, entry->meta_size);
    out->size = entry->meta_size;
    if (arena->failed)
        return KILN_ENOMEM;
    return kiln__reader_is_done(&reader) && are_packages(out) &&
                   out->subject_count > 0 && out->method_count <= UINT32_MAX
               ? KILN_OK
               : KILN_ECORRUPT;
}

/* ---- in the stores ---- */

kiln_status kiln__text_entry_key(kiln_key *out, kiln__encoder *encoder,
                                 const kiln__language *language,
                                 const kiln__text_entry_subject *subject)
{
    kiln__encoder_init(encoder, language->alloc);
    KILN_TRY(kiln__key_source(encoder, language->frontend,
                              kiln__runtime_version, subject->package,
                              subject->history, subject->text));
    *out = (kiln_key){kiln__encoder_digest(encoder), encoder->bytes,
                      encoder->size};
    return KILN_OK;
}

static kiln_status get(kiln__stored *out, kiln__language *language,
                       const kiln__text_entry_subject *subject)
{
    kiln__encoder encoder;
    kiln_key key;
    kiln_status status =
        kiln__text_entry_key(&key, &encoder, language, subject);

    *out = (kiln__stored){0};
    if (status == KILN_OK)
        status =
            kiln__stores_get(out, language->context, KILN__ENTRY_SOURCE, &key);
    kiln__encoder_dispose(&encoder);
    return status;
}

kiln_status kiln__text_entry_find(kiln__text_entry *out, kiln__arena *arena,
                                  kiln__language *language,
                                  const kiln__text_entry_subject *subject)
{
    kiln__stored stored;
    kiln_status status;

    *out = (kiln__text_entry){0};
    KILN_TRY(get(&stored, language, subject));
    status = read_entry(out, arena, &stored.entry);
    if (status == KILN_ECORRUPT)
        kiln__stores_reject(language->context, &stored, KILN__FAULT_STALE);
    if (status == KILN_OK && !stored.is_packed)
        kiln__known_text_add(language, subject, out->bytes, out->size);
    kiln__stored_release(&stored);
    return status == KILN_OK ? KILN_OK : KILN_ENOTFOUND;
}

void kiln__text_entry_reject(kiln__language *language,
                             const kiln__text_entry_subject *subject)
{
    kiln__stored stored;

    if (get(&stored, language, subject) != KILN_OK)
        return;
    kiln__stores_reject(language->context, &stored, KILN__FAULT_STALE);
    kiln__stored_release(&stored);
}

/* Returns 0: there is none; 1: there is another one; 2: there is this one. */
static int compare_kept(kiln__language *language,
                        const kiln__text_entry_subject *subject,
                        const kiln__encoder *encoded)
{
    kiln__stored stored;
    int same;

    if (!kiln__stores_read(language->context, KILN__ENTRY_SOURCE) ||
        get(&stored, language, subject) != KILN_OK)
        return 0;
    same = stored.entry.meta_size == encoded->size &&
           memcmp(stored.entry.meta, encoded->bytes, encoded->size) == 0;
    kiln__stored_release(&stored);
    return 1 + same;
}

void kiln__text_entry_keep(kiln__language *language,
                           const kiln__text_entry_subject *subject,
                           const kiln__encoder *encoded)
{
    kiln_context *context = language->context;
    const int kept = compare_kept(language, subject, encoded);
    kiln__entry entry = {.kind = KILN__ENTRY_SOURCE,
                         .relocation = KILN_RELOCATION_PORTABLE,
                         .meta = encoded->bytes,
                         .meta_size = encoded->size};
    kiln__encoder encoder;

    kiln__known_text_add(language, subject, encoded->bytes, encoded->size);
    if (kept == 2 || !kiln__stores_write(context, KILN__ENTRY_SOURCE))
        return;
    if (kiln__text_entry_key(&entry.key, &encoder, language, subject) ==
        KILN_OK)
        kiln__stores_put(context, &entry,
                         kept == 1 ||
                             kiln__stores_mode(context) == KILN__CACHE_REFRESH);
    kiln__encoder_dispose(&encoder);
}
