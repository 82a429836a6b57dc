/* definitions.h - packages, generic functions, methods and named types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DEFINITIONS_H
#define KILN_DEFINITIONS_H

#include "frontend/program/facts.h"

/*
 * The inside of what facts.h keeps opaque. Who looks here reads the program
 * without a question: definitions, which are checked in the world that they
 * make, and those who answer questions.
 */

typedef struct kiln__method_group kiln__method_group; /* methods.c */
typedef struct kiln__slot
    kiln__slot; /* a name in a package; program_tables.h */

/* One per name, as long as the context: unloading only empties it. */
struct kiln_package {
    kiln__language *language;
    char *name;
    struct kiln__binding_table *bindings;
    int loaded;     /* under the world lock: 0 after an unload */
    int is_runtime; /* its functions are runtime functions */
    kiln_package *next;
    /* program.c; under the world lock: */
    uint32_t number;        /* of the packages, from 0 */
    kiln_digest history;    /* of all that was defined in it, in order */
    int is_extending;       /* it has, or had, methods of others' functions */
    kiln_package **imports; /* that its texts ever named */
    size_t import_count;
    size_t import_capacity;
};

/* The data of every kiln_function of this frontend. */
struct kiln__generic {
    const kiln_function *function;
    kiln_package *package;
    const char *name; /* without the package */
    uint32_t builtin; /* index into kiln__builtins, or 0 */
    int is_essential; /* the language's own code calls it */
    int is_promised;  /* a deferred text defines it; under the world lock */
    uint64_t subject; /* of dispatch queries */
    /* Under the world lock: the current methods of all tables, then those that
       ended, each newest first. */
    kiln__method *methods;
    kiln__method *retired;
    uint64_t retired_world;     /* the last world that sees a retired one */
    uint32_t overlay_count;     /* methods that are or were in overlay tables */
    uint32_t replacing_count;   /* that replace, or replaced, its rule */
    kiln__method_group *groups; /* the current ones by types, when many */
    /* Under the change lock: */
    kiln__method *pending; /* of the change under way */
    size_t method_count;   /* current and pending */
    kiln__method **same;   /* both by shape, when many: `same_capacity` */
    size_t same_capacity;  /* lists */
};

/* A method's parameter type, resolved: what it matches. */
typedef enum kiln__pattern_kind {
    KILN__PATTERN_ANY,
    KILN__PATTERN_ABSTRACT,  /* named: built-in or the user's */
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

/* An abstract type or a struct's definition. */
struct kiln__named_type {
    kiln_package *package; /* NULL: built in */
    const char *name;
    const kiln__slot *slot;         /* its name: the same for all versions */
    const kiln__named_type *parent; /* NULL: Any */
    const kiln__definition *definition; /* NULL: built in */
    const kiln__source *source;         /* of the definition */
    int is_struct;
    uint32_t kinds;     /* built in: 1 << kind of each type that it takes */
    kiln_digest digest; /* definition digest, fields' types included */
    const kiln__method *constructor; /* of a struct: takes its fields */
    uint64_t min_world;
    uint64_t max_world;
};

struct kiln__method {
    kiln__generic *generic;
    const kiln__definition *definition;
    kiln__source *source;  /* kept alive by it */
    kiln_package *package; /* where names are looked up */
    const char *overlay;   /* table, or NULL */
    const kiln__pattern **parameters;
    size_t parameter_count;
    const kiln__pattern **bounds; /* of the type parameters */
    size_t type_parameter_count;
    uint64_t shape;     /* equal for methods that take the same types */
    int replaces;       /* an operator's own rule for some types; operators.c */
    kiln_digest digest; /* package, patterns, definition digest: no places */
    uint64_t min_world;
    uint64_t max_world; /* UINT64_MAX: current; read atomically */
    kiln__method *next; /* of the generic */
    /* Of current ones, under the world lock; methods.c: */
    kiln__method *previous;
    kiln__method_group *group;
    kiln__method *next_alike; /* of the group's list */
    uint64_t alike;           /* says which list */
    /* Under the change lock: */
    kiln__method *next_same; /* of the list of its shape */
    int leaving;             /* with the change under way */
    int is_pending;
};

#endif /* KILN_DEFINITIONS_H */
