/* ast.h - the syntax tree, which the parser makes and inference walks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_AST_H
#define KILN_AST_H

#include "base/data/arena.h"
#include "base/data/array.h"
#include "base/digest/digest.h"

#define KILN__TEXT_SIZE_MAX ((size_t)16 << 20)

/*
 * Trees are in the arena of their source. There is one type of node for
 * expressions, types and statements, which keeps walks short. The list below
 * gives the members of each kind, and its children in brackets (`children`). An
 * optional child that is absent is NULL.
 */
#define KILN__AST_MAP(X) \
    /* expressions */ \
    X(INTEGER)    /* integer: u64 */ \
    X(FLOAT)      /* real */ \
    X(BOOLEAN)    /* integer: 0 or 1 */ \
    X(STRING)     /* text (unescaped) */ \
    X(NAME)       /* text; operators as values too: "+" */ \
    X(MEMBER)     /* [object] . text: a field, or package.name */ \
    X(CALL)       /* [callee, arguments...] */ \
    X(UNARY)      /* text: "-", "!", "~"; [operand] */ \
    X(BINARY)     /* text: "+", "&&" excluded; [left, right] */ \
    X(LOGIC)      /* text: "&&" or "||"; [left, right] */ \
    X(CHOICE)     /* [condition, then, else] */ \
    X(INDEX)      /* [object, indices...] */ \
    X(TUPLE)      /* [elements...] */ \
    X(APPLY)      /* T{...}: [name or member, arguments...]: types, INTEGER, \
                     or UNARY "-" of an INTEGER */ \
    X(ARRAY_TYPE) /* rank; f32[:, :]: [element], strided set or not; \
                     f32[16, 16], in LOCAL only: [element, sizes...] */ \
    X(TYPEOF)     /* typeof(e) where a type is expected: [e] */ \
    /* statements */ \
    X(BLOCK)      /* [statements...] */ \
    X(ASSIGN)     /* text: "" or the operator of `+=`; [target, value, type or \
                     NULL] */ \
    X(UNPACK)     /* a, b = e: [e, names...] */ \
    X(EXPRESSION) /* [e] */ \
    X(IF)         /* [condition, block, else block or IF, or NULL] */ \
    X(WHILE)      /* [condition, block] */ \
    X(FOR) /* text: name; flag: static; [low, high, step or NULL, block] */ \
    X(BREAK) \
    X(CONTINUE) \
    X(RETURN)        /* [e or NULL] */ \
    X(LOCAL)         /* text: name; [ARRAY_TYPE with sizes] */ \
    X(SWITCH)        /* flag: KILN__IR_ bit of ir.h; [block] */ \
    X(ASSERT)        /* [condition, STRING or NULL] */ \
    X(PRINT)         /* [STRING or expression...] */ \
    X(STATIC_ASSERT) /* [condition, STRING or NULL] */ \
    X(ERROR) /* stands for what did not parse; never leaves the parser */

typedef enum kiln__ast_kind {
#define KILN__X(name) KILN__AST_##name,
    KILN__AST_MAP(KILN__X)
#undef KILN__X
        KILN__AST_COUNT
} kiln__ast_kind;

/* A range of a source, in bytes from its start. */
typedef struct kiln__span {
    uint32_t start;
    uint32_t size;
} kiln__span;

typedef struct kiln__ast kiln__ast;
struct kiln__ast {
    kiln__ast_kind kind;
    uint32_t flag;
    uint32_t rank;    /* of an ARRAY_TYPE */
    uint32_t strided; /* of an ARRAY_TYPE */
    /* In the body of a definition, nodes are numbered from 1, in source order,
       parents first. Elsewhere 0. */
    uint32_t ordinal;
    kiln__span span;
    /* Of the tree below the node, at most 1000; a leaf has 1. */
    uint32_t height;
    const char *text;
    uint64_t integer;
    double real;  /* of a FLOAT: the nearest f64 */
    int32_t rest; /* of a FLOAT: the sign of what `real` lacks of the text */
    kiln__ast **children;
    size_t count;
};

/* `where T: Real`; a bound of NULL is Any. */
typedef struct kiln__ast_type_parameter {
    const char *name;
    kiln__ast *bound;
    kiln__span span;
} kiln__ast_type_parameter;

typedef struct kiln__ast_parameter {
    const char *name;
    kiln__ast *type; /* NULL: Any */
    kiln__span span;
} kiln__ast_parameter;

typedef enum kiln__definition_kind {
    KILN__DEFINE_FUNCTION, /* also for kernels */
    KILN__DEFINE_STRUCT,
    KILN__DEFINE_ABSTRACT,
    KILN__DEFINE_CONST,
    KILN__DEFINE_IMPORT
} kiln__definition_kind;

/* A top-level definition. */
typedef struct kiln__definition kiln__definition;
struct kiln__definition {
    kiln__definition_kind kind;
    const char *name;
    const char *package; /* "geometry" of `fn geometry.dot`; else NULL */
    const char *overlay; /* table of the overlay, or NULL */
    int kernel;
    /* Of `where`, or of a struct's {T}. */
    kiln__ast_type_parameter *type_parameters;
    size_t type_parameter_count;
    kiln__ast_parameter *parameters; /* of a function, or a struct's fields */
    size_t parameter_count;
    /* `-> f32`, or the parent of an abstract type or struct. */
    kiln__ast *result;
    kiln__ast *body;    /* of a FUNCTION a BLOCK, of a CONST the expression */
    const char **names; /* of an IMPORT: the names after the colon */
    size_t name_count;
    kiln__span span; /* of the whole definition */
    kiln__span name_span;
    kiln__span *places; /* by ordinal: places[ordinal - 1] */
    uint32_t place_count;
    /* Digest of the tree: names, literals and structure, without spans,
       comments and places. */
    kiln_digest digest;
};

/* A text and what it defines. It lives as long as a method of it. */
typedef struct kiln__source {
    const kiln_alloc *alloc;
    kiln__arena arena;
    const char *file;
    const char *text; /* a copy that ends in a NUL */
    size_t size;
    uint32_t *lines; /* where each line starts */
    size_t line_count;
    kiln__definition *definitions;
    size_t definition_count;
    int needed; /* for reclaim.c: some world sees what it defines */
} kiln__source;

/* The diagnostics of one run over a source, which become one kiln_error. */
typedef struct kiln__diagnostics {
    const kiln_alloc *alloc;
    kiln__arena arena;
    kiln__array_of(kiln_diagnostic) list;
    size_t limit; /* more than these are dropped; _init() sets 20 */
} kiln__diagnostics;

/* ---- diagnose.c ---- */
void kiln__diagnostics_init(kiln__diagnostics *diagnostics,
                            const kiln_alloc *alloc);
void kiln__diagnostics_dispose(kiln__diagnostics *diagnostics);
/* Adds an error at a place. `hint` may be NULL. `source` may be NULL, too; then
   the error has no place. Strings are copied. */
void kiln__diagnose(kiln__diagnostics *diagnostics, const kiln__source *source,
                    kiln__span span, const char *code, const char *hint,
                    const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* As kiln__diagnose(), with an inference chain, innermost first: code, hint,
   message and frames are those of `what`. */
void kiln__diagnose_chain(kiln__diagnostics *diagnostics,
                          const kiln__source *source, kiln__span span,
                          const kiln_diagnostic *what);
/* Makes the error and returns `status`; KILN_OK when there is no diagnostic. */
kiln_status kiln__diagnostics_finish(const kiln__diagnostics *diagnostics,
                                     kiln_status status, kiln_error **error);
/* Finds line and column of a place. The strings are lent by the source. */
void kiln__source_locate(const kiln__source *source, kiln__span span,
                         kiln_location *out);
/* Copies the text of the place's line; one that does not fit is cut. */
int kiln__source_quote(const kiln__source *source, kiln__span span, char *out,
                       size_t size);
/* Returns the one of `names` that is nearest to `name` by edit distance, or
   NULL when none is near. */
const char *kiln__nearest_name(const char *name, const char *const *names,
                               size_t count);

/* ---- other_languages.c ---- */
/* Returns the type that another language's `int` or `float4` is here; NULL if
   the name is not known. Texts may be in the arena. */
const char *kiln__other_type(kiln__arena *arena, const char *name);
/* Return what a name of another language is called here, as a hint, or NULL.
   The first is for where a type is expected. */
const char *kiln__other_type_hint(kiln__arena *arena, const char *name);
const char *kiln__other_name_hint(kiln__arena *arena, const char *name);
/* As above, for `x.name` of a value without fields. */
const char *kiln__other_member_hint(const char *name);

/* ---- parse.c ---- */
/* Parses a text; `file` and `text` are copied. If the text has errors,
   KILN_ESYNTAX with a diagnostic for each, and no source is made. */
kiln_status kiln__source_parse(kiln__source **out, const kiln_alloc *alloc,
                               const char *file, const char *text, size_t size,
                               kiln_error **error);
void kiln__source_free(kiln__source *source);
/* Parses a single type as it is written in annotations: "f32[:]", "Complex{T}".
   The tree is in `arena`. */
kiln_status kiln__type_tree_parse(kiln__ast **out, kiln__arena *arena,
                                  const char *text, kiln_error **error);

#endif /* KILN_AST_H */
