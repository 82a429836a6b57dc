/* lazy_text.h - texts that are kept and defined when they are needed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_PROGRAM_LAZY_TEXT_H
#define KILN_FRONTEND_PROGRAM_LAZY_TEXT_H

#include "frontend/program/program_tables.h"

/* ---- text_entry.c ---- */

/* A text entry: what a definition did, as a store keeps it. Everything is in
   the arena that it was found with. */
typedef struct kiln__text_entry {
    kiln_digest context; /* the context in which the text was defined */
    uint64_t method_count;
    int is_extending;     /* adds methods to functions of other packages */
    const char **imports; /* names of packages, in the order of the text */
    size_t import_count;
    const char **functions; /* names that the package did not have before */
    size_t function_count;
    /* In tables: places of methods that others may collide with. */
    kiln_digest *places;
    size_t place_count;
    uint64_t *subjects; /* subjects that changed */
    size_t subject_count;
    const void *bytes; /* the whole entry, as stored */
    size_t size;
} kiln__text_entry;

/* The text that an entry is about. */
typedef struct kiln__text_entry_subject {
    const char *package;
    kiln_digest history; /* of the package, before the text */
    kiln_digest text;
} kiln__text_entry_subject;

/* KILN_ENOTFOUND: no store has a usable entry. */
kiln_status kiln__text_entry_find(kiln__text_entry *out, kiln__arena *arena,
                                  kiln__language *language,
                                  const kiln__text_entry_subject *subject);
/* Writes what a published change did. Returns false when that depends on more
   than the text and its context. */
int kiln__text_entry_write(kiln__encoder *out, const kiln__change *change);
/* Stores the entry, unless it is stored already. */
void kiln__text_entry_keep(kiln__language *language,
                           const kiln__text_entry_subject *subject,
                           const kiln__encoder *encoded);
/* Drops an entry that was found and turned out wrong. */
void kiln__text_entry_reject(kiln__language *language,
                             const kiln__text_entry_subject *subject);

/* Makes the key of a text's entry. The caller disposes of the encoder, which
   the key points into. */
kiln_status kiln__text_entry_key(kiln_key *out, kiln__encoder *encoder,
                                 const kiln__language *language,
                                 const kiln__text_entry_subject *subject);

/* ---- text_facts.c: for packs ---- */
/* Remembers an entry for packs. Without memory it is left out. */
void kiln__known_text_add(kiln__language *language,
                          const kiln__text_entry_subject *subject,
                          const void *bytes, size_t size);
void kiln__text_facts_free(kiln__language *language);

/* ---- lazy_text.c ---- */

struct kiln__lazy_text {
    kiln__arena arena; /* for the texts and the entry */
    kiln__text_entry entry;
    kiln__text_entry_subject subject;
    const char *file;
    const char *text;
    size_t size;
    kiln_package *package;
    int is_new;          /* the package was made for the text */
    uint64_t world;      /* the world that the text will make */
    kiln_digest history; /* history of the package after the text */
    /* Set when the text is defined: */
    uint64_t nanoseconds;              /* how long parsing took */
    int is_wrong;                      /* the entry was wrong */
    kiln__array_of(uint64_t) subjects; /* subjects that really changed */
    kiln_error *error;                 /* why the text could not be defined */
    kiln__lazy_text *next;
};

/* True while texts may be kept lazily: until something is asked of the
   language. */
int kiln__lazy_text_is_on(const kiln__language *language);
/* Finds what is known of a text of the named package. KILN_ENOTFOUND:
   nothing. */
kiln_status kiln__lazy_text_find(kiln__lazy_text **out,
                                 kiln__language *language, const char *package,
                                 const char *file, const char *text,
                                 size_t size);
void kiln__lazy_text_free(kiln__lazy_text *lazy);
/* Accepts a lazy text whose imports are loaded; takes `lazy` over. `*done`
   is false when the text must be parsed after all. */
kiln_status kiln__lazy_text_commit(int *done, kiln__lazy_text *lazy,
                                   kiln_package *package, int is_new,
                                   kiln_change_report *report,
                                   kiln_error **error);
/* Defines all lazy texts, with `starting` held and core in place. A text that
   cannot be defined is left out, and its world counts as told. KILN_ENOMEM: a
   later call continues. */
kiln_status kiln__lazy_text_define_all(kiln__language *language,
                                       kiln__lazy_text **defined);
/* Tells what the definitions changed, with no lock held, and frees the texts.
   Returns the first failure. */
kiln_status kiln__lazy_text_finish(kiln__language *language,
                                   kiln__lazy_text *defined,
                                   kiln_error **error);
/* Defines a text in the world that was assigned to it. See define.c. */
kiln_status kiln__define_lazy_text(kiln__lazy_text *lazy, kiln__source *source,
                                   kiln_error **error);
/* Returns a function that a lazy text will define, or NULL. */
const kiln_function *kiln__lazy_text_function(kiln__language *language,
                                              const char *qualified);

#endif /* KILN_FRONTEND_PROGRAM_LAZY_TEXT_H */
