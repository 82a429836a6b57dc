/* facts.h - what inference reads of the program, and that it is recorded. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FACTS_H
#define KILN_FACTS_H

#include "context/context.h"
#include "frontend/syntax/ast.h"

/*
 * What inference makes of a method may rest on the program in four ways, and
 * there is one function for each:
 *
 *   kiln__ask_binding    what does a name mean in a package?
 *   kiln__ask_method     which method does a call get?
 *   kiln__ask_operator   is something built in of an operator replaced?
 *   kiln__ask_struct     which type is a struct with these parameters, or
 *   kiln__ask_fields     of these fields? Asks in turn what its fields' types,
 *                        bounds and their supertypes mean.
 *
 * Each takes the facts: the world that is read, and the inference that relies
 * on it, with which the question and its answer are recorded (query.c). So the
 * result ends when an answer changes, in this process and in any other.
 *
 * Nothing else can be read. Packages, generic functions, methods and named
 * types are opaque here, and what can be asked of one that an answer gave, at
 * the end of this page, is covered by the answer's digest. The tables that
 * they stand in are declared in program_tables.h, which no file of inference
 * includes.
 *
 * A kiln_type may be looked into freely, at its fields, too: it is immutable,
 * and its id covers its whole definition. What must be known is how it came to
 * be: it is of the signature, whose key has the ids; or of the result of a
 * callee, of which tier 1 remembers the id beside the callee's digest; or made
 * by the functions above; or made of such types.
 *
 * Texts for people are no results: what only an error's message tells (which
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

/* Of the language: language_state.c. */
kiln_context *kiln__language_context(const kiln__language *language);

/* ---- asking ---- */

typedef struct kiln__facts {
    kiln__language *language;
    uint64_t world;
    const char *overlays;      /* the tables of methods that come first */
    kiln_inference *inference; /* relies on what is read; NULL: nobody does */
    kiln__arena *arena;        /* of `structs`; NULL: none are kept */
    struct kiln__known_struct *structs; /* that were asked for already */
    uint32_t asked, replaced; /* operators, by their index among builtins */
    int failed;               /* a question could not be recorded: no memory */
} kiln__facts;

/* KILN_ENOTFOUND: nothing, and `*out` says so. */
kiln_status kiln__ask_binding(kiln__binding *out, kiln__facts *facts,
                              const kiln_package *package, const char *name);
/* The most specific method that takes the arguments: the best of the overlay
   tables in order, then the global one. KILN_OK; KILN_ENOTFOUND; KILN_ECOMPILE
   when ambiguous. When nothing takes the literals' default types, literals
   adapt to parameters annotated with one concrete scalar. */
kiln_status kiln__ask_method(kiln__match *out, kiln__facts *facts,
                             const kiln__generic *generic,
                             const kiln__argument *arguments, size_t count);
/* The same for the call that the signature is. */
kiln_status kiln__ask_signature(kiln__match *out, kiln__facts *facts,
                                const kiln_signature *signature);
/* Stores whether methods of the operator, which is the built-in function of
   that index, may take built-in types alone. */
kiln_status kiln__ask_operator(int *replaced, kiln__facts *facts,
                               uint32_t builtin);
/* Is it known by now that no operator is replaced? */
static inline int kiln__facts_no_operator(const kiln__facts *facts)
{
    return facts->asked == UINT32_MAX && facts->replaced == 0;
}
/* Complex with {f32}. */
kiln_status kiln__ask_struct(const kiln_type **out, kiln__facts *facts,
                             const kiln__named_type *named,
                             const kiln_type *const *parameters, size_t count,
                             kiln_error **error);
/* Complex(a, b): finds the parameters by the fields' types. KILN_ENOTFOUND
   when the values do not fit. */
kiln_status kiln__ask_fields(const kiln_type **out, kiln__facts *facts,
                             const kiln__named_type *named,
                             const kiln__argument *fields, size_t count);

/* ---- resolve_type.c: type trees -> types, by asking ---- */
typedef struct kiln__type_scope {
    kiln__facts *facts;
    kiln_package *package;
    const kiln__definition *definition; /* names its type parameters, or NULL */
    const kiln_type *const *parameters; /* their values */
    kiln__diagnostics *diagnostics;
    const kiln__source *source;
} kiln__type_scope;

/* Stores the concrete type that a tree means; diagnosed on failure. */
kiln_status kiln__type_resolve(const kiln_type **out,
                               const kiln__type_scope *scope,
                               const kiln__ast *tree);

/* ---- parts of answers ---- */

const kiln_function *kiln__generic_function(const kiln__generic *generic);
const char *kiln__generic_name(const kiln__generic *generic);
/* The index among the built-in functions, or 0. */
uint32_t kiln__generic_builtin(const kiln__generic *generic);
/* Is it of package core? */
int kiln__generic_is_core(const kiln__generic *generic);

const kiln__definition *kiln__method_definition(const kiln__method *method);
kiln__source *kiln__method_source(const kiln__method *method);
/* Where its names are looked up. */
kiln_package *kiln__method_package(const kiln__method *method);
kiln_digest kiln__method_digest(const kiln__method *method);
/* Is it a runtime function? */
int kiln__method_is_runtime(const kiln__method *method);

const char *kiln__named_name(const kiln__named_type *named);
/* Of a struct; NULL: it is abstract. */
const kiln__definition *kiln__named_struct(const kiln__named_type *named);
/* Is it the abstract type that is built in for all types of one kind? */
int kiln__named_is_kind(const kiln__named_type *named, int32_t kind);

kiln_package *kiln__language_core(const kiln__language *language);

/* ---- texts for people ---- */

/* "main.saxpy#0123456789abcdef", as in kiln__ir.method; NULL: no memory. */
const char *kiln__method_label(kiln__arena *arena, const kiln__method *method);

/* What to say about a call that gets no method. */
typedef struct kiln__refusal {
    const char *code;    /* "no-method", "ambiguous" */
    const char *message; /* one line */
    const char *hint;    /* candidates, and why each does not fit, one a line;
                            or NULL */
} kiln__refusal;
/* `status` is what asking returned with `match`. Texts are in `arena`. */
kiln_status kiln__dispatch_explain(kiln__refusal *out, kiln__arena *arena,
                                   kiln_status status, const kiln__match *match,
                                   const kiln__generic *generic,
                                   const kiln__argument *arguments,
                                   size_t count, const char *overlays,
                                   uint64_t world);
/* Names that are visible in the package, for suggestions; in `arena`. */
const char *const *kiln__binding_names(kiln__arena *arena,
                                       const kiln_package *package,
                                       uint64_t world, size_t *count);

#endif /* KILN_FACTS_H */
