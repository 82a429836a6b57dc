/* program_tables.h - the tables of packages and names, and how they change. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_PROGRAM_PROGRAM_TABLES_H
#define KILN_FRONTEND_PROGRAM_PROGRAM_TABLES_H

#include <stdatomic.h>

#include "base/data/map.h"
#include "base/system/thread.h"
#include "context/types/types.h"
#include "frontend/program/builtins.h"
#include "frontend/program/definitions.h"

/*
 * There are two locks. The change lock is held from the first check of a change
 * until the tiers know of it, so changes happen one after another. The world
 * lock guards the tables: it is held for reading while they are walked, and for
 * writing for moments. The order is: change lock, world lock, the locks of
 * types, functions and tiers.
 *
 * A change is prepared in the world after the current one, which no reader
 * sees. Its versions of names are linked at once, so that its own checks see
 * them, and are unlinked if it fails. Publication ends what the change replaces
 * and links methods; it cannot fail. Requests stay in the world before, until
 * the tiers have ended what the new world ends, and what the worlds before it
 * end. Otherwise a request could find results of an old world in a new one.
 * Lazy texts are told without the change lock, so several changes may be told
 * at once. A thread that is done first waits for those of older worlds, so that
 * its caller sees what it has defined.
 *
 * What was published is in the arena of its source. It is kept until the
 * context ends, since types point to it. The exception is a source that defines
 * only methods, which a collection frees (reclaim.c).
 */

#define KILN__TYPE_PARAMETERS_MAX 16 /* the size of an array in kiln__match */
#define KILN__TYPE_TREE_MAX 64       /* levels of abstract types */
#define KILN__IMPORT_CHAIN_MAX 32

/* One meaning of a name, in a range of worlds. */
typedef struct kiln__version kiln__version;
struct kiln__version {
    kiln__binding binding;
    kiln__slot *import; /* import by name: it means what that slot means */
    kiln_digest digest; /* digest of the meaning; not for an import */
    uint64_t min_world;
    uint64_t max_world;
    kiln__version *next; /* the next older one */
};

struct kiln__slot {
    kiln_package *package;
    char *name;
    uint64_t subject;        /* for binding queries */
    kiln__version *versions; /* the newest is the first */
    /* Next in the language's list, if it was ever an import. */
    kiln__slot *next_import;
    int listed; /* it is in that list */
    /* Under the change lock: */
    uint64_t mark;  /* last change that gave the name a meaning */
    uint64_t visit; /* number of the last walk that came here */
    void *work;     /* for the change under way */
};

struct kiln__binding_table {
    kiln__map slots; /* digest of the name -> kiln__slot */
};

typedef struct kiln__lazy_text kiln__lazy_text; /* lazy_text.h */
typedef struct kiln__notice kiln__notice;

typedef struct kiln__source_node {
    kiln__source *source;
    int has_names; /* some name has a meaning that is in its arena */
    struct kiln__source_node *next;
} kiln__source_node;

struct kiln__language {
    kiln_context *context;
    const kiln_alloc *alloc;
    kiln_frontend *frontend;
    kiln__fork_guard change_guard;
    kiln__fork_guard starting_guard;
    kiln__fork_guard notice_guard;
    kiln__mutex starting; /* while core is made; taken before the other locks */
    kiln__mutex change;   /* the change lock */
    /* Guards the next three members; taken after the other locks. */
    kiln__mutex notice_lock;
    kiln__condition shown; /* requests have moved to another world */
    kiln__notice *notices; /* notices under way */
    uint64_t notified;     /* newest world that the tiers know of */
    uint64_t change_number;
    uint64_t visit_number;
    kiln__rwlock lock;       /* the world lock */
    _Atomic uint64_t world;  /* the world of requests: the tiers know of it */
    _Atomic uint64_t newest; /* the last world that is made or assigned */
    uint64_t made; /* under the change lock: last world in the tables */
    /* Methods that ended before this world are freed. */
    _Atomic uint64_t reclaimed;
    _Atomic int ready; /* core is made, and there are no lazy texts */
    /* Lazy texts, the oldest first; under `starting`. */
    kiln__lazy_text *lazy_texts;
    kiln__lazy_text *last_lazy_text; /* the last one, if there are any */
    kiln__map places; /* of methods of lazy texts; under `starting` */
    /* text_facts.c; the newest first; under the change lock. */
    struct kiln__known_text *known_texts;
    kiln__arena arena; /* for built-in names and types */
    kiln_package *core;
    kiln_package *packages; /* the newest is the first */
    kiln__map generics;     /* by digest of the qualified name */
    /* By their index among built-in functions. */
    kiln__generic *operators[1 + KILN__OPERATOR_COUNT];
    uint32_t replacing_count; /* sum over all of their methods */
    uint32_t package_count;
    int lost_digest;     /* program_digest.c: histories are not enough */
    kiln__slot *imports; /* slots that were ever imports by name */
    kiln__source_node *sources;
};

/* ---- language_state.c ---- */
/* Makes an empty language, which no other thread sees; NULL: out of memory. */
kiln__language *kiln__language_make(kiln_context *context);
/* Frees a language that no other thread sees. */
void kiln__language_dispose(kiln__language *language);
/* Attaches the language to its context, as its frontend's data, and protects it
   in fork(). */
void kiln__language_publish(kiln__language *language);
void kiln__language_withdraw(kiln__language *language);
/* Makes the core package if it is not there yet, and defines all lazy texts. */
kiln_status kiln__language_ready(kiln__language *language, kiln_error **error);
/* As kiln__language_ready(), as far as callers can tell: worlds are those of a
   language that is ready. */
kiln_status kiln__language_start(kiln__language *language, kiln_error **error);
kiln__language *kiln__language_of(const kiln_context *context);
void kiln__language_read(kiln__language *language);
void kiln__language_write(kiln__language *language);
void kiln__language_unlock(kiln__language *language);
uint64_t kiln__language_world(const kiln__language *language);
void kiln__sources_free(kiln__language *language, kiln__source_node *list);
/* Fills the core package; continues if an earlier call failed. See
   core_package.c. */
kiln_status kiln__core_new(kiln__language *language, kiln_error **error);

/* ---- reclaim.c ---- */
/* Frees what is visible in no world from `oldest` on. */
void kiln__language_reclaim(kiln__language *language, uint64_t oldest);

/* ---- package.c, package_load.c ---- */
/* Makes the package, or returns the one of that name, and marks it loaded. */
kiln_status kiln__package_make(kiln_package **out, kiln__language *language,
                               const char *name);
/* Makes the package, or returns the one of that name. A new one is not loaded:
   no import finds it. */
kiln_status kiln__package_prepare(kiln_package **out, kiln__language *language,
                                  const char *name);
void kiln__package_show(kiln_package *package, int loaded);
/* kiln_package_find() inside of a public call. */
kiln_status kiln__package_find(kiln_package **out, kiln__language *language,
                               const char *name);
void kiln__package_free(kiln_package *package);
kiln_status kiln__package_check_name(const char *name, size_t size,
                                     kiln_error **error);
/* Parses the text and counts the time for the stage. */
kiln_status kiln__package_parse(kiln__source **out, kiln__language *language,
                                const char *file, const char *text, size_t size,
                                kiln_error **error);
/* A text that is to be defined in a package. */
typedef struct kiln__offer {
    const char *file;
    const char *text;
    size_t size;
    const char *path; /* the file beside which imports are searched, or NULL */
    const struct kiln__loading *importer;
    int is_new; /* the package was made for the text */
} kiln__offer;
/* Keeps the text as a lazy text if that is possible, and then sets `*done`.
   Loads what the text imports, which may fail. See package_load.c. */
kiln_status kiln__package_defer(int *done, kiln_package *package,
                                const kiln__offer *offer,
                                kiln_change_report *report, kiln_error **error);
/* Loads the embedded packages that the text imports and that are not loaded
   yet. */
kiln_status kiln__package_load_embedded(kiln__language *language,
                                        const kiln__source *source,
                                        kiln_error **error);

/* ---- binding.c; called with the world lock, or by the owner of the change
   lock ---- */
/* Takes the world lock. KILN_ENOTFOUND: the name has no meaning. */
kiln_status kiln__binding_find(kiln__binding *out, const kiln_package *package,
                               const char *name, uint64_t world);
kiln__slot *kiln__slot_get(const kiln_package *package, const char *name);
uint64_t kiln__binding_subject(const kiln_package *package, const char *name);
/* Takes the world lock for writing if the name is new. */
kiln_status kiln__slot_make(kiln__slot **out, kiln_package *package,
                            const char *name);
/* Returns the slot's own version that is visible in the world, or NULL. */
kiln__version *kiln__slot_version(const kiln__slot *slot, uint64_t world);
/* As kiln__slot_version(), following imports. */
const kiln__version *kiln__slot_meaning(const kiln__slot *slot, uint64_t world);
/* Returns what the name means in the package, where core's names are visible,
   or NULL. */
const kiln__version *kiln__name_meaning(const kiln_package *package,
                                        const char *name, uint64_t world);
/* Returns the type's version in the world; if there is none, its last one. */
const kiln__named_type *kiln__slot_type(const kiln__slot *slot, uint64_t world);
kiln_package *kiln__package_get(const kiln__language *language,
                                const char *name, size_t size);
kiln__generic *kiln__generic_get(const kiln__language *language,
                                 const char *qualified);
kiln_status kiln__generic_make(kiln__generic **out, kiln_package *package,
                               const char *name);
void kiln__generic_free(kiln__generic *generic);
/* Returns "did you mean `x`?", or NULL. */
const char *kiln__name_hint(kiln__arena *arena, const kiln_package *package,
                            const char *name, uint64_t world);

/* ---- struct_type.c: kiln__names, for the texts of types ---- */
kiln_status kiln__type_of_name(const kiln_type **out, kiln_context *context,
                               const kiln__type_name *name, kiln_error **error);

/* ---- type_pattern.c ---- */
/* Resolves the type of a parameter; a failure is diagnosed. A NULL tree is
   Any. */
kiln_status kiln__pattern_resolve(const kiln__pattern **out, kiln__arena *arena,
                                  const kiln__type_scope *scope,
                                  const kiln__ast *tree);
void kiln__pattern_print(kiln__text *out, const kiln__pattern *pattern,
                         const kiln__definition *definition);
void kiln__pattern_encode(kiln__encoder *encoder, const kiln__pattern *pattern);
/* True when the pattern refers to a type that another package than core
   defines. */
int kiln__pattern_is_own(const kiln__pattern *pattern);
/* True when the pattern determines the type parameter `index`. */
int kiln__pattern_binds(const kiln__pattern *pattern, uint32_t index);
/* True when the pattern refers to an abstract type of a user's. */
int kiln__pattern_is_open(const kiln__pattern *pattern);
uint64_t kiln__method_shape(const kiln__method *method);

/* ---- resolve_type.c ---- */
/* Finds the binding of a NAME or MEMBER; an unknown name has the meaning
   NULL. */
kiln_status kiln__tree_meaning(kiln__binding *out,
                               const kiln__type_scope *scope,
                               const kiln__ast *tree);
int kiln__type_parameter_index(const kiln__definition *definition,
                               const char *name, uint32_t *out);
/* Stores the integer that a tree is: a literal, a constant, or what that refers
   to. KILN_ENOTFOUND: it is none. */
kiln_status kiln__type_number(int64_t *out, const kiln__type_scope *scope,
                              const kiln__ast *tree);
/* Diagnoses that the tree is no type; returns KILN_ECOMPILE. */
kiln_status kiln__not_a_type(const kiln__type_scope *scope,
                             const kiln__ast *tree,
                             const kiln__binding *binding);

/* ---- methods.c: the methods of a function ---- */
/* Add a method of the change under way, or take it back. With the change
   lock. */
void kiln__method_add(kiln__method *method);
void kiln__method_take_back(kiln__method *method);
/* Make an added method current, and a current one retired. With both locks, the
   world lock for writing. */
void kiln__method_link(kiln__method *method);
void kiln__method_retire(kiln__method *method, uint64_t last);
/* Finds a current or pending method that takes the same types in the same table
   and is not being removed. With the change lock. */
kiln__method *kiln__method_find_same(const kiln__method *method, int is_pending,
                                     uint64_t world, int *failed);
void kiln__methods_dispose(kiln__generic *generic);
/* A walk through the methods that may take a call. It visits every method that
   takes it, and may visit others. With the world lock. */
typedef struct kiln__method_walk {
    const kiln__generic *generic;
    const kiln__argument *arguments;
    size_t count;
    uint64_t world;
    uint64_t soft; /* bit i: argument i may adapt to another type */
    int is_full;   /* visits all methods: current ones first, newest first */
    /* State of the walk: */
    const kiln__method *next;
    const kiln__method_group *group; /* group of `next`, or NULL */
    uint64_t alike;
    int is_last; /* in the list of retired methods */
} kiln__method_walk;
void kiln__method_walk_begin(kiln__method_walk *walk);
const kiln__method *kiln__method_walk_next(kiln__method_walk *walk);

/* ---- dispatch.c, specificity.c ---- */
/* As kiln__ask_method(), but without recording a question. Takes the world
   lock. */
kiln_status kiln__dispatch(kiln__match *out, const kiln__generic *generic,
                           const kiln__argument *arguments, size_t count,
                           const char *overlays, uint64_t world);
/* A method that is matched with the types of a call. */
typedef struct kiln__matching {
    const kiln__method *method;
    const kiln_type **parameters;
    kiln__facts *facts; /* records questions about what is above a type */
    int failed;         /* ran out of memory */
} kiln__matching;
/* Tries one method, with more and more freedom for the arguments. With the
   world lock. */
kiln_status kiln__method_try(kiln__match *out, kiln__facts *facts,
                             const kiln__method *method,
                             const kiln__argument *arguments, size_t count);
int kiln__pattern_takes(kiln__matching *matching, const kiln__pattern *pattern,
                        const kiln_type *type);
int kiln__abstract_takes(const kiln__named_type *named, const kiln_type *type,
                         kiln__facts *facts);
int kiln__type_descends(const kiln__named_type *named, const kiln__slot *slot,
                        kiln__facts *facts);
/* True when the method is in the global table or in one of `overlays`, in that
   world. */
int kiln__method_is_seen(const kiln__method *method, const char *overlays,
                         uint64_t world);
int kiln__method_covers(const kiln__method *wide, const kiln__method *narrow,
                        uint64_t world, int *failed);

/* ---- query.c ---- */
/* Records what the type's own name means, and the types above it. With the
   world lock. */
void kiln__ask_above(kiln__facts *facts, const kiln__named_type *named);
/* Stores the digest of the method that a call gets; zero: none, or several. */
kiln_status kiln__query_root(kiln_digest *out, const kiln__generic *generic,
                             const kiln__argument *arguments, size_t count,
                             const char *overlays, uint64_t world);
/* Finds the type of a canonical text in `world`. KILN_ENOTFOUND: there is
   none. */
kiln_status kiln__query_type(const kiln_type **out, kiln__language *language,
                             const char *text, uint64_t world);
kiln_status kiln__query_answer(kiln__language *language, const void *query,
                               size_t size, const kiln_config *config,
                               uint64_t world, kiln_digest *out);

/* ---- dispatch_explain.c ---- */
/* Returns "main.dot(a: T[:], b: T[:]) where T: Real"; NULL: out of memory. */
const char *kiln__method_text(kiln__arena *arena, const kiln__method *method);

/* A package whose file is being read, and the one that imports it. */
typedef struct kiln__loading {
    const kiln_package *package;
    const struct kiln__loading *importer;
} kiln__loading;

/* ---- operators.c ---- */
/* True for a method of an operator that may take only built-in types. */
int kiln__method_replaces(const kiln__method *method);
/* True when there is such a method that is visible, for this operator, or for
   any. With the world lock. */
int kiln__operator_is_replaced(const kiln__generic *generic,
                               const char *overlays, uint64_t world);
int kiln__operators_are_replaced(const kiln__language *language,
                                 const char *overlays, uint64_t world);
/* The subject of a question about all operators together. */
#define KILN__OPERATORS_SUBJECT ((uint64_t)1)
#define KILN__ASKED_ANY ((uint32_t)1) /* no operator has the index 0 */

/* ---- change.c: preparing and publishing ---- */
typedef struct kiln__change {
    kiln__language *language;
    kiln_package *package;
    kiln__source *source; /* owns what the change makes; may be NULL */
    kiln__diagnostics diagnostics;
    uint64_t world;     /* the world that the change makes */
    kiln__facts facts;  /* facts of that world; nothing relies on them */
    kiln_status status; /* the first failure that is no diagnostic */
    int first;          /* it fills core: there is nobody to tell */
    int hierarchy;      /* a parent of a type has changed */
    int unloads;        /* it unloads the package */
    int published;
    int has_other_inputs; /* its effect depends on more than its text and
                             context */
    /* The lazy text that it defines, or NULL. */
    const kiln__lazy_text *lazy_text;
    int keeps_source; /* something that is published is in the source */
    /* Packages that are being loaded: names missing in them may come later. */
    const kiln__loading *loading;
    /* The last source that kiln__define_is_moved() was asked about, and its
       answer. */
    const kiln__source *compared;
    int compared_moved;
    kiln__array_of(kiln__slot *) slots; /* their first version is pending */
    /* Versions that end without a successor. */
    kiln__array_of(kiln__version *) ended;
    kiln__array_of(kiln__method *) added;
    kiln__array_of(kiln__method *) removed;
    kiln__array_of(uint64_t) subjects;
    kiln__source_node *node;
    kiln_digest before;  /* history of the package before the change */
    kiln_digest context; /* see program_digest.c */
    kiln_digest text;    /* what is done to the package, such as the text */
    kiln_digest history; /* history of the package after the change */
    uint32_t added_count, replaced_count, removed_count, unchanged_count;
} kiln__change;

/* Takes the change lock. */
void kiln__change_begin(kiln__change *change, kiln__language *language,
                        kiln_package *package, kiln__source *source);
/* Releases the change lock. Unless the change was published, removes everything
   pending and frees the source. If `status` is KILN_OK, tells the tiers.
   Returns the status. */
kiln_status kiln__change_end(kiln__change *change, kiln_status status,
                             kiln_change_report *report, kiln_error **error);
/* Links a new version of a name; the caller touches its subject. NULL: out of
   memory, which is noted. */
kiln__version *kiln__change_name(kiln__change *change, kiln__slot *slot,
                                 const kiln__version *meaning);
/* Removes the pending version. */
void kiln__change_drop_name(kiln__change *change, kiln__slot *slot);
/* Adds a subject about which answers may change. */
void kiln__change_touch(kiln__change *change, uint64_t subject);
/* As kiln__change_touch(), for calls that get, or got, the method. */
void kiln__change_touch_method(kiln__change *change,
                               const kiln__method *method);
/* As kiln__change_touch(), for a name whose meaning changes. */
void kiln__change_touch_name(kiln__change *change, const kiln__slot *slot);
void kiln__change_end_name(kiln__change *change, kiln__slot *slot);
void kiln__change_add_method(kiln__change *change, kiln__method *method);
void kiln__change_remove_method(kiln__change *change, kiln__method *method);
/* Ends names of functions that have no method left in their package. */
void kiln__change_end_functions(kiln__change *change);
/* Makes the change visible, and fills the report. If there are diagnostics,
   returns their error instead. */
kiln_status kiln__change_publish(kiln__change *change,
                                 kiln_change_report *report,
                                 kiln_error **error);
/* A notice to the tiers: answers about the subjects may differ from `world`
   on. */
struct kiln__notice {
    kiln__language *language;
    uint64_t world;
    const uint64_t *subjects;
    size_t count;
    int is_locked; /* the change lock is held, and has to be released */
    int is_listed; /* it is in the list, because its world is new */
    kiln__thread thread;
    kiln__notice *next;
};

/* Requests will not see this world, or newer ones, until the tiers have been
   told of it. The change lock must have been held since the world was made. */
void kiln__notice_begin(kiln__notice *notice);
/* Tells the tiers. Then requests get the world, and the host is told. */
kiln_status kiln__notice_send(kiln__notice *notice, kiln_change_report *report,
                              kiln_error **error);

/* ---- program_digest.c ---- */
/* Returns the history of core as Kiln ships it. */
kiln_digest kiln__program_core(void);
/* Returns the digest of what a text of the package can refer to: the package
   and everything that it and `imports` import, as they are now. Zero: out of
   memory. With the world lock, or the change lock. */
kiln_digest kiln__program_context(const kiln_package *package,
                                  kiln_package *const *imports, size_t count);
/* Returns the package's history after a text is defined in that context. */
kiln_digest kiln__program_defined(kiln_digest context, kiln_digest text);
/* Notes an import; false: out of memory. Takes the world lock. */
int kiln__program_import(kiln_package *package, kiln_package *imported);
/* Computes the history that the package will have after the change. */
void kiln__program_prepare(kiln__change *change);
/* Sets that history. With the world lock for writing. */
void kiln__program_publish(const kiln__change *change);
kiln_status kiln__program_digest(kiln__language *language,
                                 const kiln_signature *signature,
                                 uint64_t world, kiln_digest *out);

/* ---- define.c, define_types.c, define_names.c ---- */
/* Defines a parsed text; takes the source over. */
kiln_status kiln__define(kiln_package *package, kiln__source *source,
                         const kiln__loading *loading,
                         kiln_change_report *report, kiln_error **error);
/* As kiln__define(), for core's own texts, when the tiers know nothing yet. */
kiln_status kiln__define_first(kiln_package *package, kiln__source *source,
                               kiln_error **error);
/* Resolves a method's parameters and bounds in the scope of its source. */
kiln_status kiln__define_signature(kiln__change *change, kiln__method *method,
                                   kiln__diagnostics *diagnostics);
void kiln__define_imports(kiln__change *change);
void kiln__define_types(kiln__change *change);
void kiln__define_constants(kiln__change *change);
/* True, after a diagnostic, when the name already means something else. */
int kiln__define_is_taken(kiln__change *change, const kiln__slot *slot,
                          kiln__span span, kiln__binding_kind kind);
/* True when a definition from `old` would now be reported at another place. */
int kiln__define_is_moved(kiln__change *change, const kiln__source *old);

#endif /* KILN_FRONTEND_PROGRAM_PROGRAM_TABLES_H */
