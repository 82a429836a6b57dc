/* parse.h - the parser's state, and the functions that its files share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PARSE_H
#define KILN_PARSE_H

#include "frontend/syntax/lex.h"

/*
 * This is a recursive descent parser over one token and the next. A function
 * that parses something returns its tree. It returns NULL after it has reported
 * why there is none, or ran out of memory. Functions that parse a statement or
 * a definition then skip to its end and go on, so that one run reports several
 * errors.
 */

#define KILN__NESTING_MAX 256u /* levels of brackets and blocks */
/* The greatest height of a tree, over which inference recurses. */
#define KILN__HEIGHT_MAX 1000u
#define KILN__NODES_MAX 1000000u /* the most nodes of one definition */
#define KILN__LIST_MAX 256u      /* the most elements, fields or indices */
#define KILN__TYPE_PARAMETERS_MAX 16u

/* The state of the parser. */
typedef struct kiln__parser {
    const kiln_alloc *alloc;
    kiln__arena *arena; /* for the trees */
    const kiln__source *source;
    kiln__diagnostics *diagnostics;
    kiln__lexer lexer;
    kiln__token token; /* the next one to take */
    kiln__token ahead; /* the one after it */
    uint32_t end;      /* where the last taken token ended */
    uint32_t line;     /* start of the current statement or definition */
    uint32_t depth;    /* depth of nesting */
    uint32_t loops;    /* number of loops around the statement */
    uint32_t nodes;    /* number of nodes of the definition */
    int panicking; /* an error was reported: silent until the line is skipped */
    int too_deep;  /* was reported for this definition */
    int no_stack;  /* too deep for this thread: nothing more is read */
    int end_missing; /* was reported for this definition */
    uint32_t bad;    /* after the last text that is no token, or 0 */
    /* A block whose `end` is indented less than its beginning. */
    kiln__span misindented;
    kiln__array_of(kiln__ast *) stack; /* children of unfinished nodes */
    /* Of the struct that is being parsed. */
    kiln__array_of(kiln__ast_parameter) fields;
} kiln__parser;

/* ---- parser.c: tokens, errors, nodes ---- */
void kiln__parser_init(kiln__parser *parser, kiln__arena *arena,
                       const kiln__source *source,
                       kiln__diagnostics *diagnostics);
void kiln__parser_dispose(kiln__parser *parser);
void kiln__parser_advance(kiln__parser *parser);
/* Takes the token if it is of that kind. */
int kiln__parser_take(kiln__parser *parser, kiln__token_kind kind);
/* Takes the token, or reports "expected `in`, found ...". */
int kiln__parser_expect(kiln__parser *parser, kiln__token_kind kind);
/* Takes the bracket that closes the one at `opener`, or reports that it is
   missing. */
int kiln__parser_close(kiln__parser *parser, kiln__token_kind kind,
                       kiln__span opener);
/* Takes a name and copies it. `what` is for the message: "a name for the
   field". */
const char *kiln__parser_name(kiln__parser *parser, const char *what);
int kiln__parser_is_word(const kiln__parser *parser, const kiln__token *token,
                         const char *word);
/* True when the statement may end before the token. */
int kiln__parser_at_line_end(const kiln__parser *parser);

/* Reports an error, unless one was reported on this line. Always returns
   NULL. */
kiln__ast *kiln__parser_error(kiln__parser *parser, kiln__span span,
                              const char *code, const char *hint,
                              const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Reports "expected `what`, found ...", with a hint for common slips. */
kiln__ast *kiln__parser_expected(kiln__parser *parser, const char *what);
/* Begins a statement or definition: errors are reported again. */
void kiln__parser_begin_line(kiln__parser *parser);
/* Skips to the end of the line after an error; true if an `=` was skipped. */
int kiln__parser_skip_line(kiln__parser *parser);
uint32_t kiln__parser_line_of(const kiln__parser *parser, uint32_t at);
/* Returns the number of blanks at the start of the line that contains `at`, up
   to 255. */
uint32_t kiln__parser_indent_of(const kiln__parser *parser, uint32_t at);

/* Goes one level of nesting deeper. Returns false, after an error, beyond the
   limit or when the thread's stack has no room. */
int kiln__parser_enter(kiln__parser *parser);
void kiln__parser_leave(kiln__parser *parser);

/* Makes a node that spans from `start` to the end of the last taken token.
   NULL: beyond a limit, or out of memory. Children may be NULL. */
kiln__ast *kiln__parser_node(kiln__parser *parser, kiln__ast_kind kind,
                             uint32_t start, const char *text,
                             kiln__ast *const *children, size_t count);
/* As kiln__parser_node(). The children are those on the stack from `mark` on,
   and are taken off. */
kiln__ast *kiln__parser_node_of(kiln__parser *parser, kiln__ast_kind kind,
                                uint32_t start, const char *text, size_t mark);
int kiln__parser_push(kiln__parser *parser, kiln__ast *child);
/* Computes the height again after children have changed; false beyond the
   limit. */
int kiln__parser_measure(kiln__parser *parser, kiln__ast *node);

/* ---- parse_reserved.c ---- */
/* True for a keyword within a line, where a name is expected. It is reported,
   and taken as one. */
int kiln__parser_take_reserved(kiln__parser *parser);
/* True if a statement assigns to a keyword, or declares it. It is reported, and
   the token becomes a name. */
int kiln__parser_assigns_reserved(kiln__parser *parser);
/* The same for a field `word: type`. */
void kiln__parser_declares_reserved(kiln__parser *parser);
/* True if the last taken token is `end`. */
int kiln__parser_follows_end(const kiln__parser *parser);
/* Returns a hint if the next token is a keyword within a line, or NULL. */
const char *kiln__parser_reserved_hint(kiln__parser *parser);

/* ---- parse_type.c ---- */
kiln__ast *kiln__parse_type(kiln__parser *parser);
/* `f32[16, 16]`, after `local t =`. */
kiln__ast *kiln__parse_sized_type(kiln__parser *parser);
/* `{f32, 4}` after `name`: makes the APPLY. */
kiln__ast *kiln__parse_apply(kiln__parser *parser, uint32_t start,
                             kiln__ast *name);
/* True when `[` was taken and `:` or `strided :` follows. */
int kiln__parser_at_dimensions(const kiln__parser *parser);
/* `:, :]` after `[` at `opener`: makes the ARRAY_TYPE. */
kiln__ast *kiln__parse_dimensions(kiln__parser *parser, uint32_t start,
                                  kiln__ast *element, kiln__span opener);

/* ---- parse_expression.c ---- */
kiln__ast *kiln__parse_name(kiln__parser *parser);
kiln__ast *kiln__parse_expression(kiln__parser *parser);
/* Continues an expression after a primary expression that began at `start`. */
kiln__ast *kiln__parse_expression_from(kiln__parser *parser, uint32_t start,
                                       kiln__ast *primary);
/* Reports `a[lo:hi]`. */
void kiln__parser_no_slices(kiln__parser *parser);
/* Returns the name of an operator that can be defined and passed, or NULL. */
const char *kiln__operator_name(kiln__token_kind kind);

/* ---- parse_statement.c ---- */
/* Parses statements up to what ends a block: `end`, `else`, `elseif` where
   `arms` is set, a definition, the end of the text. */
kiln__ast *kiln__parse_block(kiln__parser *parser, int arms);
kiln__ast *kiln__parse_statement(kiln__parser *parser);

/* ---- parse_compound.c ---- */
/* Parses `if`, `while`, `for` or a switch, whose keyword is the next token. */
kiln__ast *kiln__parse_compound(kiln__parser *parser);
/* Takes the end of the line that begins a block. */
void kiln__parser_end_header(kiln__parser *parser);
/* Takes the `end` of the block that `opener` began. */
void kiln__parse_end(kiln__parser *parser, kiln__span opener);

/* ---- parse_hints.c ---- */
/* Returns the kind of the token that begins a statement. A misspelt or foreign
   word is reported, and the token becomes the keyword that it stands for. */
kiln__token_kind kiln__parser_statement_word(kiln__parser *parser);
/* As the function above, for a definition. */
kiln__token_kind kiln__parser_definition_word(kiln__parser *parser);
/* True for a name that is a type, here or in another language. */
int kiln__parser_names_type(const kiln__parser *parser, const kiln__ast *name);
/* Returns a hint if the next tokens are a parameter as in C, or NULL. */
const char *kiln__parser_parameter_hint(kiln__parser *parser);

/* ---- parse_definition.c ---- */
/* Parses one definition; false after an error. */
int kiln__parse_definition(kiln__parser *parser, kiln__definition *out);
/* True for a token that begins a definition. */
int kiln__begins_definition(kiln__token_kind kind);

/* ---- ast_places.c ---- */
/* Numbers the body's nodes in source order and fills `places`. */
kiln_status kiln__definition_number(kiln__definition *definition,
                                    kiln__arena *arena, uint32_t node_count);

/* ---- ast_digest.c ---- */
typedef struct kiln__tree_writer {
    const kiln_alloc *alloc;
    /* Reused from one definition to the next. */
    kiln__array_of(unsigned char) bytes;
    kiln_status status;
} kiln__tree_writer;

/* Sets `digest`, which covers names, literals and structure, but no place. */
kiln_status kiln__definition_digest(kiln__definition *definition,
                                    kiln__tree_writer *writer);

#endif /* KILN_PARSE_H */
