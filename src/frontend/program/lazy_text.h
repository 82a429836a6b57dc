/* lazy_text.h - texts that are kept, and defined when they are needed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_PROGRAM_LAZY_TEXT_H
#define KILN_FRONTEND_PROGRAM_LAZY_TEXT_H

#include "frontend/program/program_tables.h"

/* ---- text_entry.c ---- */

/* What a definition did, as it was kept in a store. All of it lies in the
   arena it was found with. */
typedef struct kiln__text_entry {
    kiln_digest context; /* that it was defined in */
    uint64_t method_count;
    int is_extending;     /* functions of other packages */
    const char **imports; /* packages, in the order of the text */
    size_t import_count;
    const char **functions; /* of the package, that had no name before */
    size_t function_count;
    kiln_digest *places; /* in tables: of methods that others may clash with */
    size_t place_count;
    uint64_t *subjects; /* that changed */
    size_t subject_count;
    const void *bytes; /* the whole, as stored */
    size_t size;
} kiln__text_entry;

/* The text that a summary is about. */
typedef struct kiln__text_entry_subject {
    const char *package;
    kiln_digest history; /* of the package, before */
    kiln_digest text;
} kiln__text_entry_subject;

/* KILN_ENOTFOUND when no store has a usable one. */
kiln_status kiln__text_entry_find(kiln__text_entry *out, kiln__arena *arena,
                                  kiln__language *language,
                                  const kiln__text_entry_subject *subject);
/* Writes what a published change did; false when that depends on more than its
   text and its context. */
int kiln__text_entry_write(kiln__encoder *out, const kiln__change *change);
/* Keeps it, unless it is kept already. */
void kiln__text_entry_keep(kiln__language *language,
                           const kiln__text_entry_subject *subject,
                           const kiln__encoder *summary);
/* Drops one that was found and is not true. */
void kiln__text_entry_reject(kiln__language *language,
                             const kiln__text_entry_subject *subject);

/* Makes the key of what stores know about a text; the caller disposes of the
   encoder, which the key points into. */
kiln_status kiln__text_entry_key(kiln_key *out, kiln__encoder *encoder,
                                 const kiln__language *language,
                                 const kiln__text_entry_subject *subject);

/* ---- text_facts.c: for packs ---- */
/* Remembers a summary that no pack had. Without memory it is left out. */
void kiln__known_text_add(kiln__language *language,
                          const kiln__text_entry_subject *subject,
                          const void *bytes, size_t size);
void kiln__text_facts_free(kiln__language *language);

/* ---- lazy_text.c ---- */

struct kiln__lazy_text {
    kiln__arena arena; /* of the texts and the summary */
    kiln__text_entry summary;
    kiln__text_entry_subject subject;
    const char *file;
    const char *text;
    size_t size;
    kiln_package *package;
    int is_new;          /* the package was made for it */
    uint64_t world;      /* that it was promised */
    kiln_digest history; /* of the package, with it */
    /* Once it is defined: */
    uint64_t nanoseconds;              /* that parsing took */
    int is_wrong;                      /* the summary is not true */
    kiln__array_of(uint64_t) subjects; /* that changed instead */
    kiln_error *error;                 /* it could not be defined */
    kiln__lazy_text *next;
};

/* May texts be deferred? Only until something is asked of the language. */
int kiln__lazy_text_is_on(const kiln__language *language);
/* Finds what is known of a text of the named package. KILN_ENOTFOUND. */
kiln_status kiln__lazy_text_find(kiln__lazy_text **out,
                                 kiln__language *language, const char *package,
                                 const char *file, const char *text,
                                 size_t size);
void kiln__lazy_text_free(kiln__lazy_text *deferred);
/* Defers the definition, whose imports are there; takes `deferred` over.
   `*done` is false when it must be parsed after all. */
kiln_status kiln__lazy_text_commit(int *done, kiln__lazy_text *deferred,
                                   kiln_package *package, int is_new,
                                   kiln_change_report *report,
                                   kiln_error **error);
/* Defines all that was deferred, with `starting` held and core in place. What
   could not be defined is left out, and taken for told. KILN_ENOMEM: go on
   later. */
kiln_status kiln__lazy_text_settle(kiln__language *language,
                                   kiln__lazy_text **settled);
/* Tells of what was settled, with no lock held, and frees it. Gives the first
   failure. */
kiln_status kiln__lazy_text_finish(kiln__language *language,
                                   kiln__lazy_text *settled,
                                   kiln_error **error);
/* Defines a text in the world that it was promised. define.c. */
kiln_status kiln__define_deferred(kiln__lazy_text *deferred,
                                  kiln__source *source, kiln_error **error);
/* The function of a deferred text, or NULL. */
const kiln_function *kiln__lazy_text_function(kiln__language *language,
                                              const char *qualified);

#endif /* KILN_FRONTEND_PROGRAM_LAZY_TEXT_H */
