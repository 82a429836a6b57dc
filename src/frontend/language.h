/* language.h - the kernel language's packages, bindings, methods, worlds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LANGUAGE_H
#define KILN_LANGUAGE_H

#include "ast.h"
#include "core.h"
#include "thread.h"

/*
 * The kernel language is a frontend like any other (kiln/sys/frontend.h);
 * language.c implements the table. Definitions are immutable once published
 * and carry the range of worlds in which they are visible, so readers of a
 * world see one consistent program. The world lock is held for reading while
 * tables are walked and for writing while a change is published, never while
 * inference or a callback runs.
 */

typedef struct kiln__language kiln__language; /* the frontend's self */
typedef struct kiln__method kiln__method;
typedef struct kiln__generic kiln__generic;
typedef struct kiln__method_group kiln__method_group; /* methods.c */
typedef struct kiln__named_type kiln__named_type;
typedef struct kiln__slot kiln__slot; /* a name in a package; tables.h */

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

/* What a name means in a package. */
typedef enum kiln__binding_kind {
    KILN__BINDING_NONE,
    KILN__BINDING_FUNCTION,
    KILN__BINDING_TYPE,   /* named */
    KILN__BINDING_SCALAR, /* type: f32, Bool, ... */
    KILN__BINDING_CONST,  /* definition, with the package it stands in */
    KILN__BINDING_PACKAGE
} kiln__binding_kind;

typedef struct kiln__binding {
    kiln__binding_kind kind;
    kiln__generic *generic;
    const kiln__named_type *named;
    const kiln_type *type;
    const kiln__definition *definition;
    kiln__source *source;
    kiln_package *package; /* PACKAGE: the one meant; CONST: where it stands */
} kiln__binding;

/* A method that a call goes to, and what its type parameters stand for. */
typedef struct kiln__match {
    const kiln__method *method;
    const kiln__method *other; /* KILN_ECOMPILE: ambiguous with this one */
    const kiln_type *parameters[16]; /* by index; Static{n} for numbers */
    const kiln_type *types[KILN_ARGUMENTS_MAX]; /* literals adapted */
} kiln__match;

#define KILN__LITERAL_NONE 0
#define KILN__LITERAL_INTEGER 1
#define KILN__LITERAL_FLOAT 2

/* One argument of a call as dispatch sees it. A literal comes with its
   default type (i64, f64). */
typedef struct kiln__argument {
    const kiln_type *type;
    int32_t literal;
} kiln__argument;

/* ---- dispatch.c ---- */
/* Finds the most specific applicable method as of `world`: the best of the
   overlay tables in order, then the global one. KILN_OK; KILN_ENOTFOUND;
   KILN_ECOMPILE when ambiguous. When nothing takes the literals' default
   types, literals adapt to parameters annotated with one concrete scalar. */
kiln_status kiln__dispatch(kiln__match *out, const kiln__generic *generic,
                           const kiln__argument *arguments, size_t count,
                           const char *overlays, uint64_t world);
/* Does the pattern take the type? Fills parameters. */
int kiln__pattern_matches(const kiln__pattern *pattern, const kiln_type *type,
                          const kiln_type **parameters,
                          const kiln__method *method);
/* True when each argument of `a` is at least as narrow as that of `b`. */
int kiln__method_is_narrower(const kiln__method *a, const kiln__method *b);

/* ---- explain.c: methods and failed calls, for people ---- */
/* "main.saxpy#0123456789abcdef", as in kiln__ir.method; NULL: no memory. */
const char *kiln__method_label(kiln__arena *arena, const kiln__method *method);
/* "main.dot(a: T[:], b: T[:]) where T: Real"; NULL: no memory. */
const char *kiln__method_text(kiln__arena *arena, const kiln__method *method);

/* What to say about a call that kiln__dispatch() refused. */
typedef struct kiln__refusal {
    const char *code;    /* "no-method", "ambiguous" */
    const char *message; /* one line */
    const char *hint;    /* candidates, and why each does not fit, one a line;
                            or NULL */
} kiln__refusal;
/* `status` is what dispatch returned with `match`. Texts are in `arena`. */
kiln_status kiln__dispatch_explain(kiln__refusal *out, kiln__arena *arena,
                                   kiln_status status, const kiln__match *match,
                                   const kiln__generic *generic,
                                   const kiln__argument *arguments,
                                   size_t count, const char *overlays,
                                   uint64_t world);

/* ---- binding.c ---- */
kiln_status kiln__binding_find(kiln__binding *out, const kiln_package *package,
                               const char *name, uint64_t world);
/* Names that are visible in the package, for suggestions; in `arena`. */
const char *const *kiln__binding_names(kiln__arena *arena,
                                       const kiln_package *package,
                                       uint64_t world, size_t *count);

/* ---- resolve.c: type trees -> types ---- */
typedef struct kiln__type_scope {
    kiln_package *package;
    uint64_t world;
    const kiln__definition *definition; /* names its type parameters, or NULL */
    const kiln_type *const *parameters; /* their values */
    kiln_inference *inference; /* bindings asked are recorded here, or NULL */
    kiln__diagnostics *diagnostics;
    const kiln__source *source;
} kiln__type_scope;

/* Stores the concrete type that a tree means; diagnosed on failure. */
kiln_status kiln__type_resolve(const kiln_type **out,
                               const kiln__type_scope *scope,
                               const kiln__ast *tree);
/* The same, quietly: KILN_ENOTFOUND when the tree is no type at all (an
   expression), so that f32(x) and Complex{f32}(a, b) can be told from calls. */
kiln_status kiln__type_try(const kiln_type **out, const kiln__type_scope *scope,
                           const kiln__ast *tree);
/* Instantiates a struct: Complex with {f32}. */
kiln_status kiln__struct_instance(const kiln_type **out,
                                  kiln__language *language,
                                  const kiln__named_type *named,
                                  const kiln_type *const *parameters,
                                  size_t count, uint64_t world,
                                  kiln_error **error);
/* Infers the parameters of a struct from its fields' types: Complex(a, b).
   KILN_ENOTFOUND when the values do not fit. */
kiln_status kiln__struct_from_fields(const kiln_type **out,
                                     kiln__language *language,
                                     const kiln__named_type *named,
                                     const kiln__argument *fields, size_t count,
                                     uint64_t world);

/* ---- query.c: questions that inference asks, recorded and answered ---- */
/* As kiln__dispatch() and kiln__binding_find(), and recorded as queries. */
kiln_status kiln__ask_dispatch(kiln__match *out, kiln_inference *inference,
                               const kiln__generic *generic,
                               const kiln__argument *arguments, size_t count,
                               const char *overlays, uint64_t world);
kiln_status kiln__ask_binding(kiln__binding *out, kiln_inference *inference,
                              const kiln_package *package, const char *name,
                              uint64_t world);
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

/* ---- language.c ---- */
kiln_status kiln__language_new(kiln_context *context, kiln_error **error);
kiln_context *kiln__language_context(const kiln__language *language);

/* Finds the text of an expression in the method of the label, as exceptions
   name it; false when the frontend is another one, or has no such method. */
int kiln__language_span(const kiln_frontend *frontend, const char *label,
                        uint32_t ordinal, const kiln__source **source,
                        kiln__span *span);

/* ---- infer.c ---- */
/* Infers the matched method for the signature and reports to `inference`. */
kiln_status kiln__infer_method(kiln__language *language,
                               kiln_inference *inference,
                               const kiln_signature *signature,
                               const kiln__match *match,
                               const kiln_config *config, uint64_t world,
                               kiln_error **error);

/* ---- builtins.c: built-in functions by index; 0 is unused ---- */
extern const char *const kiln__builtins[];
extern const uint32_t kiln__builtin_count;

#endif /* KILN_LANGUAGE_H */
