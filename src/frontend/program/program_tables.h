/* program_tables.h - the inside of packages, names and changes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_PROGRAM_PROGRAM_TABLES_H
#define KILN_FRONTEND_PROGRAM_PROGRAM_TABLES_H

#include <stdatomic.h>

#include "base/data/map.h"
#include "base/system/thread.h"
#include "frontend/program/builtins.h"
#include "frontend/program/definitions.h"

/*
 * Two locks. The change lock is held by whoever changes the program, from the
 * first check until the tiers know of the change: changes happen one after
 * another. The world lock guards tables: read while they are walked, written
 * for moments. Order: change lock, world lock, the locks of types, functions
 * and tiers.
 *
 * A change is prepared in the world after the current one, where no reader
 * looks: its versions of names are linked at once, so that the change's own
 * checks see them, and are taken out again if it fails. Publication ends what
 * they replace and links methods; it cannot fail. Requests go on in the world
 * before, until the tiers have ended what the new one ends, and what those
 * before it end: else one would find results of an old world in a new one. What
 * is deferred is told without the change lock, so several changes may be told
 * at once; whoever is done first waits for those of older worlds, so that its
 * caller sees what it defined.
 *
 * What was published lives in the arena of the source it came from, and is
 * kept until the context ends, since types point to it; but for sources of
 * methods alone, which a collection frees (reclaim.c).
 */

#define KILN__TYPE_PARAMETERS_MAX 16 /* of kiln__match */
#define KILN__TYPE_TREE_MAX 64       /* levels of abstract types */
#define KILN__IMPORT_CHAIN_MAX 32

/* One meaning of a name in a range of worlds. */
typedef struct kiln__version kiln__version;
struct kiln__version {
    kiln__binding binding;
    kiln__slot *import; /* by name: what the other package's name means */
    kiln_digest digest; /* of the meaning; not of an import */
    uint64_t min_world;
    uint64_t max_world;
    kiln__version *next; /* older */
};

struct kiln__slot {
    kiln_package *package;
    char *name;
    uint64_t subject;        /* of binding queries */
    kiln__version *versions; /* newest first */
    kiln__slot *next_import; /* in the language's list, once it was one */
    int listed;              /* it is in that list */
    /* Under the change lock: */
    uint64_t mark;  /* the last change that gave the name a meaning */
    uint64_t visit; /* of walks */
    void *work;     /* of the change under way */
};

struct kiln__binding_table {
    kiln__map slots; /* digest of the name -> kiln__slot */
};

typedef struct kiln__lazy_text kiln__lazy_text; /* lazy_text.h */
typedef struct kiln__telling kiln__telling;

typedef struct kiln__source_node {
    kiln__source *source;
    int has_names; /* some name got a meaning that lives in it */
    struct kiln__source_node *next;
} kiln__source_node;

struct kiln__language {
    kiln_context *context;
    const kiln_alloc *alloc;
    kiln_frontend *frontend;
    kiln__fork_guard change_guard;
    kiln__fork_guard starting_guard;
    kiln__fork_guard telling_guard;
    kiln__mutex starting;    /* while core is made; before the others */
    kiln__mutex change;      /* the change lock */
    kiln__mutex telling;     /* of the three that follow; after the others */
    kiln__condition shown;   /* requests have another world */
    kiln__telling *tellings; /* under way */
    uint64_t told;           /* the newest world that the tiers know of */
    uint64_t change_number;
    uint64_t visit_number;
    pthread_rwlock_t lock;   /* the world lock */
    _Atomic uint64_t world;  /* of requests: the tiers know of it */
    _Atomic uint64_t newest; /* the last that is made or promised */
    uint64_t made; /* under the change lock: the last world in the tables */
    _Atomic uint64_t reclaimed; /* methods that ended before it are freed */
    _Atomic int ready;          /* core is there, and nothing is deferred */
    kiln__lazy_text *deferred;  /* under `starting`, oldest first */
    kiln__lazy_text *last;      /* of them, where there are any */
    kiln__map places;           /* of deferred methods; under `starting` */
    struct kiln__known_text *known_texts; /* under the change lock, newest
                                             first; text_facts.c */
    kiln__arena arena; /* names and types that are built in */
    kiln_package *core;
    kiln_package *packages; /* newest first */
    kiln__map generics;     /* digest of the qualified name */
    kiln__generic *operators[1 + KILN__OPERATOR_COUNT]; /* by their index among
                                                           the built-in ones */
    uint32_t replacing_count; /* of all their methods */
    uint32_t package_count;
    int is_entangled;    /* program.c: histories do not tell it all */
    kiln__slot *imports; /* that were ever imports by name */
    kiln__source_node *sources;
};

/* ---- language_state.c ---- */
/* An empty language, which nobody sees; NULL: out of memory. */
kiln__language *kiln__language_make(kiln_context *context);
/* Frees one that nobody sees. */
void kiln__language_dispose(kiln__language *language);
/* Makes it its context's, behind its frontend; and takes it from fork(). */
void kiln__language_publish(kiln__language *language);
void kiln__language_withdraw(kiln__language *language);
/* Makes the core package if it is not there yet, and defines what was
   deferred. */
kiln_status kiln__language_ready(kiln__language *language, kiln_error **error);
/* The same, as far as the outside can tell: worlds are those of a language
   that is ready. */
kiln_status kiln__language_start(kiln__language *language, kiln_error **error);
kiln__language *kiln__language_of(const kiln_context *context);
void kiln__language_read(kiln__language *language);
void kiln__language_write(kiln__language *language);
void kiln__language_unlock(kiln__language *language);
uint64_t kiln__language_world(const kiln__language *language);
void kiln__sources_free(kiln__language *language, kiln__source_node *list);
/* Fills the core package; again, when it failed before. core_package.c. */
kiln_status kiln__core_new(kiln__language *language, kiln_error **error);

/* ---- reclaim.c ---- */
/* Frees what no world from `oldest` on sees. */
void kiln__language_reclaim(kiln__language *language, uint64_t oldest);

/* ---- package.c, package_load.c ---- */
/* Makes the package, or gives the one of that name, loaded. */
kiln_status kiln__package_make(kiln_package **out, kiln__language *language,
                               const char *name);
/* Makes the package, or gives the one of that name; a new one is not loaded:
   an import does not find it. */
kiln_status kiln__package_prepare(kiln_package **out, kiln__language *language,
                                  const char *name);
void kiln__package_show(kiln_package *package, int loaded);
/* kiln_package_find() within a public call. */
kiln_status kiln__package_find(kiln_package **out, kiln__language *language,
                               const char *name);
void kiln__package_free(kiln_package *package);
kiln_status kiln__package_check_name(const char *name, size_t size,
                                     kiln_error **error);
/* Parses and counts the stage. */
kiln_status kiln__package_parse(kiln__source **out, kiln__language *language,
                                const char *file, const char *text, size_t size,
                                kiln_error **error);
/* A text on its way into a package. */
typedef struct kiln__offer {
    const char *file;
    const char *text;
    size_t size;
    const char *path; /* beside which imports are looked for, or NULL */
    const struct kiln__loading *importer;
    int is_new; /* the package was made for it */
} kiln__offer;
/* Defers the definition if it can be: `*done`. What the text imports is
   loaded, and may fail. package_load.c. */
kiln_status kiln__package_defer(int *done, kiln_package *package,
                                const kiln__offer *offer,
                                kiln_change_report *report, kiln_error **error);
/* Loads the embedded packages that the text imports and nobody has loaded. */
kiln_status kiln__package_load_embedded(kiln__language *language,
                                        const kiln__source *source,
                                        kiln_error **error);

/* ---- binding.c; with the world lock, or the change lock for oneself ---- */
/* Takes the world lock. KILN_ENOTFOUND: the name has no meaning. */
kiln_status kiln__binding_find(kiln__binding *out, const kiln_package *package,
                               const char *name, uint64_t world);
kiln__slot *kiln__slot_get(const kiln_package *package, const char *name);
uint64_t kiln__binding_subject(const kiln_package *package, const char *name);
/* Takes the world lock for writing when the name is new. */
kiln_status kiln__slot_make(kiln__slot **out, kiln_package *package,
                            const char *name);
/* The version visible in the world, of the slot itself, or NULL. */
kiln__version *kiln__slot_version(const kiln__slot *slot, uint64_t world);
/* The same, following imports. */
const kiln__version *kiln__slot_meaning(const kiln__slot *slot, uint64_t world);
/* What the name means in the package, core's names included, or NULL. */
const kiln__version *kiln__name_meaning(const kiln_package *package,
                                        const char *name, uint64_t world);
/* The type's version in the world; the last one if it has none there. */
const kiln__named_type *kiln__slot_type(const kiln__slot *slot, uint64_t world);
kiln_package *kiln__package_get(const kiln__language *language,
                                const char *name, size_t size);
kiln__generic *kiln__generic_get(const kiln__language *language,
                                 const char *qualified);
kiln_status kiln__generic_make(kiln__generic **out, kiln_package *package,
                               const char *name);
void kiln__generic_free(kiln__generic *generic);
/* "did you mean `x`?", or NULL. */
const char *kiln__name_hint(kiln__arena *arena, const kiln_package *package,
                            const char *name, uint64_t world);

/* ---- struct_type.c: kiln__names, for the text of types ---- */
kiln_status kiln__type_of_name(const kiln_type **out, kiln_context *context,
                               kiln_package *package, const char *name,
                               size_t size, const kiln_type *const *parameters,
                               size_t parameter_count, uint64_t world,
                               kiln_error **error);

/* ---- type_pattern.c ---- */
/* Resolves a parameter's type; diagnosed on failure. NULL tree: Any. */
kiln_status kiln__pattern_resolve(const kiln__pattern **out, kiln__arena *arena,
                                  const kiln__type_scope *scope,
                                  const kiln__ast *tree);
void kiln__pattern_print(kiln__text *out, const kiln__pattern *pattern,
                         const kiln__definition *definition);
void kiln__pattern_encode(kiln__encoder *encoder, const kiln__pattern *pattern);
/* Does it name a type that a package other than core defines? */
int kiln__pattern_is_own(const kiln__pattern *pattern);
/* Does it say which type the parameter `index` is? */
int kiln__pattern_binds(const kiln__pattern *pattern, uint32_t index);
/* Does it name an abstract type of the user's? */
int kiln__pattern_is_open(const kiln__pattern *pattern);
uint64_t kiln__method_shape(const kiln__method *method);

/* ---- resolve_type.c ---- */
/* The binding of NAME or MEMBER; the meaning is NULL when unknown. */
kiln_status kiln__tree_meaning(kiln__binding *out,
                               const kiln__type_scope *scope,
                               const kiln__ast *tree);
int kiln__type_parameter_index(const kiln__definition *definition,
                               const char *name, uint32_t *out);
/* The integer that a literal is, or a constant, or what that stands for.
   KILN_ENOTFOUND: none. */
kiln_status kiln__type_number(int64_t *out, const kiln__type_scope *scope,
                              const kiln__ast *tree);
/* Diagnoses that the tree names no type; returns KILN_ECOMPILE. */
kiln_status kiln__not_a_type(const kiln__type_scope *scope,
                             const kiln__ast *tree,
                             const kiln__binding *binding);

/* ---- methods.c: the methods of a function ---- */
/* Adds a method of the change under way, or takes it back. With the change
   lock. */
void kiln__method_add(kiln__method *method);
void kiln__method_take_back(kiln__method *method);
/* Makes an added method a current one, and a current one retired. With both
   locks, the world lock for writing. */
void kiln__method_link(kiln__method *method);
void kiln__method_retire(kiln__method *method, uint64_t last);
/* Finds the method, current or pending, that takes the same types in the same
   table and does not leave. With the change lock. */
kiln__method *kiln__method_find_same(const kiln__method *method, int is_pending,
                                     uint64_t world, int *failed);
void kiln__methods_dispose(kiln__generic *generic);
/* A walk through the methods that may take a call: each one that takes it, and
   others. With the world lock. */
typedef struct kiln__method_walk {
    const kiln__generic *generic;
    const kiln__argument *arguments;
    size_t count;
    uint64_t world;
    uint64_t soft; /* bit i: argument i may become another type */
    int is_full;   /* all methods, current ones first, newest first */
    /* walked so far: */
    const kiln__method *next;
    const kiln__method_group *group; /* of `next`, or none */
    uint64_t alike;
    int is_last; /* list */
} kiln__method_walk;
void kiln__method_walk_begin(kiln__method_walk *walk);
const kiln__method *kiln__method_walk_next(kiln__method_walk *walk);

/* ---- dispatch.c, specificity.c ---- */
/* As kiln__ask_method(), without a question; takes the world lock. */
kiln_status kiln__dispatch(kiln__match *out, const kiln__generic *generic,
                           const kiln__argument *arguments, size_t count,
                           const char *overlays, uint64_t world);
/* What one method is tried with. */
typedef struct kiln__matching {
    const kiln__method *method;
    const kiln_type **parameters;
    kiln__facts *facts; /* what stands above a type is asked here */
    int failed;         /* out of memory */
} kiln__matching;
/* Tries one method alone, with softer and softer arguments. With the world
   lock. */
kiln_status kiln__method_try(kiln__match *out, kiln__facts *facts,
                             const kiln__method *method,
                             const kiln__argument *arguments, size_t count);
int kiln__pattern_takes(kiln__matching *matching, const kiln__pattern *pattern,
                        const kiln_type *type);
int kiln__abstract_takes(const kiln__named_type *named, const kiln_type *type,
                         kiln__facts *facts);
int kiln__type_descends(const kiln__named_type *named, const kiln__slot *slot,
                        kiln__facts *facts);
/* Is it in the global table, or in one of those, in that world? */
int kiln__method_is_seen(const kiln__method *method, const char *overlays,
                         uint64_t world);
int kiln__method_covers(const kiln__method *wide, const kiln__method *narrow,
                        uint64_t world, int *failed);

/* ---- query.c ---- */
/* Records what the type's own name means, with what is above it. With the
   world lock. */
void kiln__ask_above(kiln__facts *facts, const kiln__named_type *named);
/* The digest of the method that a call gets; zero: none, or several. */
kiln_status kiln__query_root(kiln_digest *out, const kiln__generic *generic,
                             const kiln__argument *arguments, size_t count,
                             const char *overlays, uint64_t world);
/* The type of a canonical text as of `world`; KILN_ENOTFOUND. */
kiln_status kiln__query_type(const kiln_type **out, kiln__language *language,
                             const char *text, uint64_t world);
kiln_status kiln__query_answer(kiln__language *language, const void *query,
                               size_t size, const kiln_config *config,
                               uint64_t world, kiln_digest *out);

/* ---- dispatch_explain.c ---- */
/* "main.dot(a: T[:], b: T[:]) where T: Real"; NULL: no memory. */
const char *kiln__method_text(kiln__arena *arena, const kiln__method *method);

/* A package whose file is being read, and who imported it. */
typedef struct kiln__loading {
    const kiln_package *package;
    const struct kiln__loading *importer;
} kiln__loading;

/* ---- operators.c ---- */
/* Is it an operator's, and may it take types alone that are built in? */
int kiln__method_replaces(const kiln__method *method);
/* Is there one that is seen, of this operator or of any? With the world
   lock. */
int kiln__operator_is_replaced(const kiln__generic *generic,
                               const char *overlays, uint64_t world);
int kiln__operators_are_replaced(const kiln__language *language,
                                 const char *overlays, uint64_t world);
/* The subject of a question about all operators, whose names have none. */
#define KILN__OPERATORS_SUBJECT ((uint64_t)1)
#define KILN__ASKED_ANY ((uint32_t)1) /* no operator has the index 0 */

/* ---- change.c: preparing and publishing ---- */
typedef struct kiln__change {
    kiln__language *language;
    kiln_package *package;
    kiln__source *source; /* owns what the change makes; or NULL */
    kiln__diagnostics diagnostics;
    uint64_t world;     /* the one that it makes */
    kiln__facts facts;  /* of that world; nobody relies on them */
    kiln_status status; /* the first failure but diagnostics */
    int first;          /* fills core: nobody to tell */
    int hierarchy;      /* a parent changed */
    int unloads;        /* the package goes */
    int published;
    int is_peculiar; /* what it does is not in its text and context alone */
    const kiln__lazy_text *deferred; /* whose promises it keeps, or NULL */
    int keeps_source;             /* something that is published lives in it */
    const kiln__loading *loading; /* whose names may be yet to come */
    const kiln__source *compared; /* with the source, last: */
    int compared_moved;
    kiln__array_of(kiln__slot *) slots;    /* with a pending version first */
    kiln__array_of(kiln__version *) ended; /* without a successor */
    kiln__array_of(kiln__method *) added;
    kiln__array_of(kiln__method *) removed;
    kiln__array_of(uint64_t) subjects;
    kiln__source_node *node;
    kiln_digest before;  /* the history of the package */
    kiln_digest context; /* program.c */
    kiln_digest text;    /* what is done to it: of the text, say */
    kiln_digest history; /* of the package, then */
    uint32_t added_count, replaced_count, removed_count, unchanged_count;
} kiln__change;

/* Takes the change lock. */
void kiln__change_begin(kiln__change *change, kiln__language *language,
                        kiln_package *package, kiln__source *source);
/* Gives it back. Unless published, takes out all that is pending and frees
   the source. If `status` is KILN_OK, tells the tiers. Returns the status. */
kiln_status kiln__change_end(kiln__change *change, kiln_status status,
                             kiln_change_report *report, kiln_error **error);
/* Links a new version of a name; the caller touches its subject. NULL: no
   memory, noted. */
kiln__version *kiln__change_name(kiln__change *change, kiln__slot *slot,
                                 const kiln__version *meaning);
/* Takes the pending version out again. */
void kiln__change_drop_name(kiln__change *change, kiln__slot *slot);
/* Names a subject whose answers may be others now. */
void kiln__change_touch(kiln__change *change, uint64_t subject);
/* The same for calls that the method may get, or got. */
void kiln__change_touch_method(kiln__change *change,
                               const kiln__method *method);
/* The same for a name whose meaning changes. */
void kiln__change_touch_name(kiln__change *change, const kiln__slot *slot);
void kiln__change_end_name(kiln__change *change, kiln__slot *slot);
void kiln__change_add_method(kiln__change *change, kiln__method *method);
void kiln__change_remove_method(kiln__change *change, kiln__method *method);
/* Ends names of functions that have no method left in their package. */
void kiln__change_end_functions(kiln__change *change);
/* Makes it visible, and fills the report. Gives the error of diagnostics. */
kiln_status kiln__change_publish(kiln__change *change,
                                 kiln_change_report *report,
                                 kiln_error **error);
/* That answers about the subjects may be others from `world` on. */
struct kiln__telling {
    kiln__language *language;
    uint64_t world;
    const uint64_t *subjects;
    size_t count;
    int is_locked; /* with the change lock, which is given back */
    int is_begun;  /* it is in the list: the world is new */
    pthread_t teller;
    kiln__telling *next;
};

/* Requests do not see this world, or newer ones, until it was told. With the
   change lock, since the world was made. */
void kiln__telling_begin(kiln__telling *telling);
/* Tells the tiers; then the world is today's, and the host is told. */
kiln_status kiln__change_tell(kiln__telling *telling,
                              kiln_change_report *report, kiln_error **error);
/* Checks a report of the caller's. */
kiln_status kiln__report_check(const kiln_change_report *report,
                               kiln_error **error);

/* ---- program.c ---- */
/* The history of core as it comes with Kiln. */
kiln_digest kiln__program_core(void);
/* Digest of what a text of the package can refer to: the package and what it,
   or `imports`, import, as they are. Zero: no memory. With the world lock, or
   the change lock. */
kiln_digest kiln__program_context(const kiln_package *package,
                                  kiln_package *const *imports, size_t count);
/* The package's history once a text is defined in that context. */
kiln_digest kiln__program_defined(kiln_digest context, kiln_digest text);
/* Notes an import; false when out of memory. Takes the world lock. */
int kiln__program_import(kiln_package *package, kiln_package *imported);
/* Prepares what the change makes of its package's history. */
void kiln__program_prepare(kiln__change *change);
/* With the world lock for writing. */
void kiln__program_publish(const kiln__change *change);
kiln_status kiln__program_digest(kiln__language *language,
                                 const kiln_signature *signature,
                                 uint64_t world, kiln_digest *out);

/* ---- define.c, define_types.c, define_names.c ---- */
/* Defines a parsed text, which it owns. */
kiln_status kiln__define(kiln_package *package, kiln__source *source,
                         const kiln__loading *loading,
                         kiln_change_report *report, kiln_error **error);
/* The same for core's own texts: the tiers know nothing yet. */
kiln_status kiln__define_first(kiln_package *package, kiln__source *source,
                               kiln_error **error);
/* Resolves a method's parameters and bounds, where its source stands. */
kiln_status kiln__define_signature(kiln__change *change, kiln__method *method,
                                   kiln__diagnostics *diagnostics);
void kiln__define_imports(kiln__change *change);
void kiln__define_types(kiln__change *change);
void kiln__define_constants(kiln__change *change);
/* Diagnoses a name that means something else already; true if it does. */
int kiln__define_is_taken(kiln__change *change, const kiln__slot *slot,
                          kiln__span span, kiln__binding_kind kind);
/* Would a definition from `old` be reported at another place now? */
int kiln__define_is_moved(kiln__change *change, const kiln__source *old);

#endif /* KILN_FRONTEND_PROGRAM_PROGRAM_TABLES_H */
