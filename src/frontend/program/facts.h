/* facts.h - what inference may read of the program, and how that is
   recorded. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FACTS_H
#define KILN_FACTS_H

#include "context/context.h"
#include "frontend/syntax/ast.h"

/*
 * The result of inferring a method can depend on the program in four ways, and
 * there is a function for each:
 *
 *   kiln__ask_binding    what does a name mean in a package?
 *   kiln__ask_method     which method does a call get?
 *   kiln__ask_operator   is a built-in meaning of an operator replaced?
 *   kiln__ask_struct     which type is a struct with these parameters, or
 *   kiln__ask_fields     with these fields? Asks in turn what the types of its
 *                        fields, its bounds and their supertypes mean.
 *
 * Each takes the facts: the world that is read, and the inference that relies
 * on it, with which the question and its answer are recorded (query.c). So the
 * result ends when an answer changes, in this process and in any other.
 *
 * Nothing else can be read. Packages, generic functions, methods and named
 * types are opaque here. The functions at the end of this page read parts of
 * them; these parts are covered by the digest of the answer. The tables that
 * contain them are declared in program_tables.h, which no file of inference
 * includes.
 *
 * A kiln_type may be read freely, with its fields: it is immutable, and its id
 * covers its whole definition. But it must be known where it comes from: from
 * the signature, whose key has the ids; from the result of a callee, whose type
 * id tier 1 remembers beside the callee's digest; from the functions above; or
 * from such types.
 *
 * Texts for people are no results. What only an error's message tells (which
 * methods there are, a similar name) is read without a question.
 */

typedef struct kiln__language kiln__language; /* the frontend's self */
typedef struct kiln__method kiln__method;
typedef struct kiln__generic kiln__generic;
typedef struct kiln__named_type kiln__named_type; /* abstract, or a struct */

/* What a name means in a package. */
typedef enum kiln__binding_kind {
    KILN__BINDING_NONE,
    KILN__BINDING_FUNCTION,
    KILN__BINDING_TYPE,   /* member: named */
    KILN__BINDING_SCALAR, /* member: type; f32, Bool, ... */
    KILN__BINDING_CONST,  /* members: definition, and the package where it is */
    KILN__BINDING_PACKAGE,
    KILN__BINDING_OUTSIDE,         /* a package of another frontend */
    KILN__BINDING_OUTSIDE_FUNCTION /* a function of such a package */
} kiln__binding_kind;

/* What other frontends have; the names live as long as the language. */
typedef struct kiln__outside {
    kiln_frontend *frontend;
    const char *package;
    const char *name; /* of a function */
} kiln__outside;

typedef struct kiln__binding {
    kiln__binding_kind kind;
    kiln__generic *generic;
    const kiln__named_type *named;
    const kiln_type *type;
    const kiln__definition *definition;
    kiln__source *source;
    /* PACKAGE: the package meant; CONST: where it is defined. */
    kiln_package *package;
    kiln__outside outside; /* OUTSIDE, OUTSIDE_FUNCTION */
} kiln__binding;

/* The method that a call gets, and what its type parameters stand for. */
typedef struct kiln__match {
    const kiln__method *method;
    const kiln__method *other; /* KILN_ECOMPILE: ambiguous with this one */
    const kiln_type *parameters[16]; /* by index; numbers are Static{n} */
    /* Types of the arguments, with literals adapted. */
    const kiln_type *types[KILN_ARGUMENTS_MAX];
} kiln__match;

#define KILN__LITERAL_NONE 0
#define KILN__LITERAL_INTEGER 1
#define KILN__LITERAL_FLOAT 2

/* An argument of a call, for dispatch. A literal has its default type (i64,
   f64). */
typedef struct kiln__argument {
    const kiln_type *type;
    int32_t literal;
} kiln__argument;

/* Of the language; defined in language_state.c. */
kiln_context *kiln__language_context(const kiln__language *language);

/* ---- asking ---- */

typedef struct kiln__facts {
    kiln__language *language;
    uint64_t world;
    const char *overlays; /* names of the tables whose methods come first */
    kiln_inference *inference; /* depends on what is read; may be NULL */
    kiln__arena *arena;        /* for `structs`; NULL: none are kept */
    struct kiln__known_struct *structs; /* types that were asked for before */
    /* Sets of operators, by their index among builtins. */
    uint32_t asked, replaced;
    int failed; /* a question could not be recorded: out of memory */
} kiln__facts;

/* KILN_ENOTFOUND: the name means nothing, and `*out` says so, too. */
kiln_status kiln__ask_binding(kiln__binding *out, kiln__facts *facts,
                              const kiln_package *package, const char *name);
/*
 * Finds the most specific method that takes the arguments: the best one of the
 * overlay tables in their order, or else of the global table. KILN_ENOTFOUND:
 * there is none. KILN_ECOMPILE: the call is ambiguous. When nothing takes the
 * default types of literals, literals adapt to parameters annotated with one
 * concrete scalar.
 */
kiln_status kiln__ask_method(kiln__match *out, kiln__facts *facts,
                             const kiln__generic *generic,
                             const kiln__argument *arguments, size_t count);
/* As kiln__ask_method(), for the call that the signature stands for. */
kiln_status kiln__ask_signature(kiln__match *out, kiln__facts *facts,
                                const kiln_signature *signature);
/* Stores whether methods of the operator, which is the built-in function of
   that index, may take only built-in types. */
kiln_status kiln__ask_operator(int *replaced, kiln__facts *facts,
                               uint32_t builtin);
/* True when it is already known that no operator is replaced. */
static inline int kiln__facts_no_operator(const kiln__facts *facts)
{
    return facts->asked == UINT32_MAX && facts->replaced == 0;
}
/* Finds a type such as Complex with {f32}. */
kiln_status kiln__ask_struct(const kiln_type **out, kiln__facts *facts,
                             const kiln__named_type *named,
                             const kiln_type *const *parameters, size_t count,
                             kiln_error **error);
/* Finds the type of a call such as Complex(a, b); its parameters follow from
   the types of the fields. KILN_ENOTFOUND: the values do not fit. */
kiln_status kiln__ask_fields(const kiln_type **out, kiln__facts *facts,
                             const kiln__named_type *named,
                             const kiln__argument *fields, size_t count);

/* ---- resolve_type.c: makes types of type trees, by asking ---- */
typedef struct kiln__type_scope {
    kiln__facts *facts;
    kiln_package *package;
    const kiln__definition *definition; /* has the type parameters, or NULL */
    const kiln_type *const *parameters; /* values of the type parameters */
    kiln__diagnostics *diagnostics;
    const kiln__source *source;
} kiln__type_scope;

/* Stores the concrete type that a tree means; a failure is diagnosed. */
kiln_status kiln__type_resolve(const kiln_type **out,
                               const kiln__type_scope *scope,
                               const kiln__ast *tree);

/* ---- parts of answers ---- */

const kiln_function *kiln__generic_function(const kiln__generic *generic);
const char *kiln__generic_name(const kiln__generic *generic);
/* Returns the index among the built-in functions, or 0. */
uint32_t kiln__generic_builtin(const kiln__generic *generic);
/* True when it is a function of package core. */
int kiln__generic_is_core(const kiln__generic *generic);

const kiln__definition *kiln__method_definition(const kiln__method *method);
kiln__source *kiln__method_source(const kiln__method *method);
/* Returns the package where its names are looked up. */
kiln_package *kiln__method_package(const kiln__method *method);
kiln_digest kiln__method_digest(const kiln__method *method);
/* True for a runtime function. */
int kiln__method_is_runtime(const kiln__method *method);

const char *kiln__named_name(const kiln__named_type *named);
/* Returns the definition of a struct; NULL: the type is abstract. */
const kiln__definition *kiln__named_struct(const kiln__named_type *named);
/* True for the built-in abstract type of all types of one kind. */
int kiln__named_is_kind(const kiln__named_type *named, int32_t kind);

kiln_package *kiln__language_core(const kiln__language *language);

/* ---- texts for people ---- */

/* Returns "main.saxpy#0123456789abcdef", as in kiln__ir.method; NULL: out of
   memory. */
const char *kiln__method_label(kiln__arena *arena, const kiln__method *method);

/* What to report about a call that gets no method. */
typedef struct kiln__refusal {
    const char *code;    /* "no-method", "ambiguous" */
    const char *message; /* one line */
    /* The candidates and why each does not fit, one on each line; or NULL. */
    const char *hint;
} kiln__refusal;
/* A call that dispatch was asked about. */
typedef struct kiln__dispatch_call {
    const kiln__generic *generic;
    const kiln__argument *arguments;
    size_t count;
    const char *overlays;
    uint64_t world;
} kiln__dispatch_call;

/* Explains why dispatch failed: with `status`, and with `match`. The texts are
   in `arena`. */
kiln_status kiln__dispatch_explain(kiln__refusal *out, kiln__arena *arena,
                                   kiln_status status, const kiln__match *match,
                                   const kiln__dispatch_call *call);
/* Returns the names that are visible in the package, for suggestions; in
   `arena`. */
const char *const *kiln__binding_names(kiln__arena *arena,
                                       const kiln_package *package,
                                       uint64_t world, size_t *count);

#endif /* KILN_FACTS_H */
