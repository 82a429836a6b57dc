/* text_facts.c - text entries that are written to packs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "frontend/program/text_facts.h"
#include "base/error.h"
#include "frontend/language.h"
#include "frontend/program/lazy_text.h"
#include "stores/stores.h"
#include "tiers/delta.h"

/*
 * A pack that saves a process from parsing needs the entries of its texts,
 * beside what was compiled from them. They are small, and kept as long as the
 * language lives.
 */
struct kiln__known_text {
    kiln__arena arena; /* for everything below */
    kiln__text_entry_subject subject;
    const void *bytes;
    size_t size;
    uint64_t order; /* position among everything that came into the tiers */
    struct kiln__known_text *next;
};

static void known_free(const kiln_alloc *alloc, struct kiln__known_text *known)
{
    kiln__arena_dispose(&known->arena);
    kiln__deallocate(alloc, known, sizeof *known);
}

void kiln__known_text_add(kiln__language *language,
                          const kiln__text_entry_subject *subject,
                          const void *bytes, size_t size)
{
    struct kiln__known_text *known =
        kiln__allocate(language->alloc, sizeof *known);

    if (known == NULL)
        return;
    kiln__arena_init(&known->arena, language->alloc);
    known->subject = *subject;
    known->subject.package = kiln__arena_text(&known->arena, subject->package);
    known->bytes = kiln__arena_copy(&known->arena, bytes, size);
    known->size = size;
    known->order = kiln__tiers_next(language->context);
    if (known->arena.failed) {
        known_free(language->alloc, known);
        return;
    }
    kiln__mutex_lock(&language->change);
    known->next = language->known_texts;
    language->known_texts = known;
    kiln__mutex_unlock(&language->change);
}

void kiln__text_facts_free(kiln__language *language)
{
    while (language->known_texts != NULL) {
        struct kiln__known_text *next = language->known_texts->next;

        known_free(language->alloc, language->known_texts);
        language->known_texts = next;
    }
}

/* A pack that was added since the text was parsed may have it. */
static int is_packed(kiln_context *context, const kiln_key *key)
{
    kiln__stored stored = {0};
    int packed = 0;

    if (!kiln__stores_read(context, KILN__ENTRY_SOURCE))
        return 0;
    if (kiln__stores_get(&stored, context, KILN__ENTRY_SOURCE, key) == KILN_OK)
        packed = stored.is_packed;
    kiln__stored_release(&stored);
    return packed;
}

static kiln_status give(const kiln__language *language,
                        const struct kiln__known_text *known,
                        const kiln__delta_taker *taker)
{
    kiln__entry entry = {.kind = KILN__ENTRY_SOURCE,
                         .relocation = KILN_RELOCATION_PORTABLE,
                         .meta = known->bytes,
                         .meta_size = known->size};
    kiln__encoder encoder;
    kiln_status status =
        kiln__text_entry_key(&entry.key, &encoder, language, &known->subject);

    if (status == KILN_OK && !is_packed(language->context, &entry.key))
        status = taker->take(taker->env, &entry);
    kiln__encoder_dispose(&encoder);
    return status;
}

/* The list grows only at its head, so walking it needs no lock. */
kiln_status kiln__language_delta(void *self, uint64_t since,
                                 const kiln__delta_taker *taker)
{
    kiln__language *language = self;
    const struct kiln__known_text *known;

    kiln__mutex_lock(&language->change);
    known = language->known_texts;
    kiln__mutex_unlock(&language->change);
    for (; known != NULL; known = known->next)
        if (known->order > since)
            KILN_TRY(give(language, known, taker));
    return KILN_OK;
}
