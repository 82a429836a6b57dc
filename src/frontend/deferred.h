/* deferred.h - texts that are kept, and defined when they are needed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DEFERRED_H
#define KILN_DEFERRED_H

#include "tables.h"

/* ---- summary.c ---- */

/* What a definition did, as it was kept in a store. All of it lies in the
   arena it was found with. */
typedef struct kiln__summary {
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
} kiln__summary;

/* The text that a summary is about. */
typedef struct kiln__summary_subject {
    const char *package;
    kiln_digest history; /* of the package, before */
    kiln_digest text;
} kiln__summary_subject;

/* KILN_ENOTFOUND when no store has a usable one. */
kiln_status kiln__summary_find(kiln__summary *out, kiln__arena *arena,
                               kiln__language *language,
                               const kiln__summary_subject *subject);
/* Writes what a published change did; false when that depends on more than its
   text and its context. */
int kiln__summary_write(kiln__encoder *out, const kiln__change *change);
/* Keeps it, unless it is kept already. */
void kiln__summary_keep(kiln__language *language,
                        const kiln__summary_subject *subject,
                        const kiln__encoder *summary);
/* Drops one that was found and is not true. */
void kiln__summary_reject(kiln__language *language,
                          const kiln__summary_subject *subject);

/* Makes the key of what stores know about a text; the caller disposes of the
   encoder, which the key points into. */
kiln_status kiln__summary_key(kiln_key *out, kiln__encoder *encoder,
                              const kiln__language *language,
                              const kiln__summary_subject *subject);

/* ---- known_texts.c: for packs ---- */
/* Remembers a summary that no pack had. Without memory it is left out. */
void kiln__known_text_add(kiln__language *language,
                          const kiln__summary_subject *subject,
                          const void *bytes, size_t size);
void kiln__known_texts_free(kiln__language *language);

/* ---- deferred.c ---- */

struct kiln__deferred {
    kiln__arena arena; /* of the texts and the summary */
    kiln__summary summary;
    kiln__summary_subject subject;
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
    kiln__deferred *next;
};

/* May texts be deferred? Only until something is asked of the language. */
int kiln__deferral_is_on(const kiln__language *language);
/* Finds what is known of a text of the named package. KILN_ENOTFOUND. */
kiln_status kiln__deferral_find(kiln__deferred **out, kiln__language *language,
                                const char *package, const char *file,
                                const char *text, size_t size);
void kiln__deferred_free(kiln__deferred *deferred);
/* Defers the definition, whose imports are there; takes `deferred` over.
   `*done` is false when it must be parsed after all. */
kiln_status kiln__deferral_commit(int *done, kiln__deferred *deferred,
                                  kiln_package *package, int is_new,
                                  kiln_change_report *report,
                                  kiln_error **error);
/* Defines all that was deferred, with `starting` held and core in place. What
   could not be defined is left out, and taken for told. KILN_ENOMEM: go on
   later. */
kiln_status kiln__deferral_settle(kiln__language *language,
                                  kiln__deferred **settled);
/* Tells of what was settled, with no lock held, and frees it. Gives the first
   failure. */
kiln_status kiln__deferral_finish(kiln__language *language,
                                  kiln__deferred *settled, kiln_error **error);
/* Defines a text in the world that it was promised. define.c. */
kiln_status kiln__define_deferred(kiln__deferred *deferred,
                                  kiln__source *source, kiln_error **error);
/* The function of a deferred text, or NULL. */
const kiln_function *kiln__deferral_function(kiln__language *language,
                                             const char *qualified);

#endif /* KILN_DEFERRED_H */
