/* definitions.h - packages, generic functions, methods and named types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DEFINITIONS_H
#define KILN_DEFINITIONS_H

#include <stdatomic.h>

#include "frontend/program/facts.h"

/*
 * These are the contents of types that facts.h keeps opaque. Code that includes
 * this header reads the program without recording a question: definitions,
 * which are checked in the world that they make, and code that answers
 * questions.
 */

typedef struct kiln__method_group kiln__method_group; /* methods.c */
typedef struct kiln__slot
    /* A name in a package; see program_tables.h. */
    kiln__slot;

/* There is one for each name, as long as the context lives: unloading only
   empties it. */
struct kiln_package {
    kiln__language *language;
    char *name;
    struct kiln__binding_table *bindings;
    int loaded;     /* under the world lock: 0 after an unload */
    int is_runtime; /* its functions are runtime functions */
    kiln_package *next;
    /* For program_digest.c, under the world lock: */
    uint32_t number;     /* number of the package, from 0 */
    kiln_digest history; /* digest of all that was defined in it, in order */
    int is_extending; /* it has, or had, methods of other packages' functions */
    kiln_package **imports; /* packages that its texts have ever imported */
    size_t import_count;
    size_t import_capacity;
};

/* The data of a kiln_function of this frontend. */
struct kiln__generic {
    const kiln_function *function;
    kiln_package *package;
    const char *name; /* without the package */
    uint32_t builtin; /* index into kiln__builtins, or 0 */
    int is_essential; /* code of the language itself calls it */
    int is_lazy;      /* a lazy text defines it; under the world lock */
    uint64_t subject; /* for dispatch queries */
    /* Under the world lock: the current methods of all tables, and those that
       have ended. Each list has the newest first. */
    kiln__method *methods;
    kiln__method *retired;
    uint64_t retired_world;   /* last world in which a retired one is visible */
    uint32_t overlay_count;   /* methods that are or were in overlay tables */
    uint32_t replacing_count; /* methods that replace, or replaced, its rule */
    /* The current methods, grouped by types when there are many. */
    kiln__method_group *groups;
    /* Under the change lock: */
    kiln__method *pending; /* methods of the change under way */
    size_t method_count;   /* current and pending methods */
    kiln__method **same;   /* both by shape, when there are many */
    size_t same_capacity;  /* lists in `same` */
};

/* What kind of types a parameter's annotation matches. The comments name the
   members of kiln__pattern that are used, and its children in brackets. */
typedef enum kiln__pattern_kind {
    KILN__PATTERN_ANY,
    KILN__PATTERN_ABSTRACT,  /* named: built-in or a user's */
    KILN__PATTERN_EXACT,     /* type */
    KILN__PATTERN_PARAMETER, /* index: a type parameter */
    KILN__PATTERN_ARRAY,     /* [element]; rank, strided */
    KILN__PATTERN_VECTOR,    /* [element, length] */
    KILN__PATTERN_TUPLE,     /* elements */
    KILN__PATTERN_STRUCT,    /* named; parameters */
    KILN__PATTERN_STATIC,    /* [value]: EXACT Static or a parameter */
    KILN__PATTERN_TYPE       /* [type]: Type{T} */
} kiln__pattern_kind;

typedef struct kiln__pattern kiln__pattern;
struct kiln__pattern {
    kiln__pattern_kind kind;
    const kiln__named_type *named;
    const kiln_type *type;
    uint32_t index;
    uint32_t rank;
    uint32_t strided;
    const kiln__pattern **children;
    size_t count;
};

/* An abstract type, or the definition of a struct. */
struct kiln__named_type {
    kiln_package *package; /* NULL: built in */
    const char *name;
    const kiln__slot *slot;             /* its name, common to all versions */
    const kiln__named_type *parent;     /* NULL: Any */
    const kiln__definition *definition; /* NULL: built in */
    const kiln__source *source;         /* of the definition */
    int is_struct;
    uint32_t kinds; /* built in: has 1 << kind for each type that it takes */
    kiln_digest digest; /* of the definition, with the types of fields */
    /* Of a struct: the method that takes its fields. */
    const kiln__method *constructor;
    uint64_t min_world;
    uint64_t max_world;
};

struct kiln__method {
    kiln__generic *generic;
    const kiln__definition *definition;
    kiln__source *source;  /* the source that owns the method */
    kiln_package *package; /* where names are looked up */
    const char *overlay;   /* name of its table, or NULL */
    const kiln__pattern **parameters;
    size_t parameter_count;
    const kiln__pattern **bounds; /* of the type parameters */
    size_t type_parameter_count;
    uint64_t shape; /* equal for methods that take the same types */
    int replaces; /* replaces an operator's rule for some types; operators.c */
    /* Covers package, patterns and definition, but not places. */
    kiln_digest digest;
    uint64_t min_world;
    _Atomic uint64_t max_world; /* UINT64_MAX: it is current */
    kiln__method *next;         /* next in the generic's list */
    /* For current methods, under the world lock; methods.c: */
    kiln__method *previous;
    kiln__method_group *group;
    kiln__method *next_alike; /* next in the group's list */
    uint64_t alike;           /* identifies that list */
    /* Under the change lock: */
    kiln__method *next_same; /* next in the list of its shape */
    int leaving;             /* the change under way removes it */
    int is_pending;
};

#endif /* KILN_DEFINITIONS_H */
