/* parse.h - the parser's state, and what its files offer each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PARSE_H
#define KILN_PARSE_H

#include "frontend/syntax/lex.h"

#define KILN__NESTING_MAX 256u   /* of brackets and blocks */
#define KILN__HEIGHT_MAX 1000u   /* of a tree; inference recurs over it */
#define KILN__NODES_MAX 1000000u /* of one definition */
#define KILN__LIST_MAX 256u      /* elements, fields, indices */
#define KILN__TYPE_PARAMETERS_MAX 16u

/*
 * Recursive descent over one token and the next. A function that parses
 * something returns its tree, or NULL after it reported why there is none, or
 * ran out of memory. Whoever parses a statement or a definition then skips to
 * its end and goes on, so that one run reports several errors.
 */
typedef struct kiln__parser {
    const kiln_alloc *alloc;
    kiln__arena *arena; /* of the trees */
    const kiln__source *source;
    kiln__diagnostics *diagnostics;
    kiln__lexer lexer;
    kiln__token token;  /* the next one to take */
    kiln__token ahead;  /* the one behind it */
    uint32_t end;       /* of the token taken last */
    uint32_t line;      /* start of the statement or definition at work */
    uint32_t depth;     /* of nesting */
    uint32_t loops;     /* around the statement */
    uint32_t nodes;     /* of the definition */
    int panicking;      /* reported; silent until the line is skipped */
    int too_deep;       /* reported for this definition */
    int no_stack;       /* too deep for this thread: nothing more is read */
    int end_missing;    /* reported for this definition */
    uint32_t bad;       /* behind the last text that is no token, or 0 */
    kiln__span suspect; /* a block whose `end` stands too far left */
    kiln__array_of(kiln__ast *) stack; /* children of unfinished nodes */
    kiln__array_of(kiln__ast_parameter) fields; /* of the struct */
} kiln__parser;

/* ---- parser.c: tokens, errors, nodes ---- */
void kiln__parser_init(kiln__parser *parser, kiln__arena *arena,
                       const kiln__source *source,
                       kiln__diagnostics *diagnostics);
void kiln__parser_dispose(kiln__parser *parser);
void kiln__parser_advance(kiln__parser *parser);
/* Takes the token if it is of the kind. */
int kiln__parser_take(kiln__parser *parser, kiln__token_kind kind);
/* The same, and an error otherwise: "expected `in`, found ...". */
int kiln__parser_expect(kiln__parser *parser, kiln__token_kind kind);
/* Takes the bracket that closes the one at `opener`, or complains. */
int kiln__parser_close(kiln__parser *parser, kiln__token_kind kind,
                       kiln__span opener);
/* Takes a name and copies it. `what` is wanted: "a name for the field". */
const char *kiln__parser_name(kiln__parser *parser, const char *what);
int kiln__parser_is_word(const kiln__parser *parser, const kiln__token *token,
                         const char *word);
/* True when the statement may end before the token. */
int kiln__parser_at_line_end(const kiln__parser *parser);

/* Reports, unless an error of this line was. Always returns NULL. */
kiln__ast *kiln__parser_error(kiln__parser *parser, kiln__span span,
                              const char *code, const char *hint,
                              const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* "expected `what`, found the token", with a hint for the usual slips. */
kiln__ast *kiln__parser_expected(kiln__parser *parser, const char *what);
/* Starts a statement or definition: errors are reported again. */
void kiln__parser_begin_line(kiln__parser *parser);
/* Skips to the end of the line after an error; true if an `=` was skipped. */
int kiln__parser_skip_line(kiln__parser *parser);
uint32_t kiln__parser_line_of(const kiln__parser *parser, uint32_t at);
/* Blanks before the first token of the line that holds `at`, up to 255. */
uint32_t kiln__parser_indent_of(const kiln__parser *parser, uint32_t at);

/* One level of nesting deeper; false, and an error, beyond the limit or what
   the thread's stack has room for. */
int kiln__parser_enter(kiln__parser *parser);
void kiln__parser_leave(kiln__parser *parser);

/* Makes a node that spans from `start` to the token taken last. NULL when a
   limit or the memory is exceeded. Children may be NULL. */
kiln__ast *kiln__parser_node(kiln__parser *parser, kiln__ast_kind kind,
                             uint32_t start, const char *text,
                             kiln__ast *const *children, size_t count);
/* The same; its children are on the stack from `mark` on, and come off. */
kiln__ast *kiln__parser_node_of(kiln__parser *parser, kiln__ast_kind kind,
                                uint32_t start, const char *text, size_t mark);
int kiln__parser_push(kiln__parser *parser, kiln__ast *child);
/* Sets the height again after children changed; false beyond the limit. */
int kiln__parser_measure(kiln__parser *parser, kiln__ast *node);

/* ---- parse_type.c ---- */
kiln__ast *kiln__parse_type(kiln__parser *parser);
/* `f32[16, 16]`, behind `local t =`. */
kiln__ast *kiln__parse_sized_type(kiln__parser *parser);
/* `{f32, 4}` behind `name`: makes the APPLY. */
kiln__ast *kiln__parse_apply(kiln__parser *parser, uint32_t start,
                             kiln__ast *name);
/* True when `[` was taken and `:` or `strided :` follows. */
int kiln__parser_at_dimensions(const kiln__parser *parser);
/* `:, :]` behind `[` at `opener`: makes the ARRAY_TYPE. */
kiln__ast *kiln__parse_dimensions(kiln__parser *parser, uint32_t start,
                                  kiln__ast *element, kiln__span opener);

/* ---- parse_expression.c ---- */
kiln__ast *kiln__parse_name(kiln__parser *parser);
kiln__ast *kiln__parse_expression(kiln__parser *parser);
/* Goes on behind a primary expression that began at `start`. */
kiln__ast *kiln__parse_expression_from(kiln__parser *parser, uint32_t start,
                                       kiln__ast *primary);
/* The name of an operator that can be defined and passed, or NULL. */
const char *kiln__operator_name(kiln__token_kind kind);

/* ---- parse_statement.c ---- */
/* Statements up to what ends a block: `end`, `else`, `elseif` where `arms`,
   a definition, the end of the text. */
kiln__ast *kiln__parse_block(kiln__parser *parser, int arms);
kiln__ast *kiln__parse_statement(kiln__parser *parser);

/* ---- parse_compound.c ---- */
/* `if`, `while`, `for` or a switch, whose keyword comes next. */
kiln__ast *kiln__parse_compound(kiln__parser *parser);
/* The end of the line that begins a block. */
void kiln__parser_end_header(kiln__parser *parser);
/* Takes the `end` of the block that `opener` began. */
void kiln__parse_end(kiln__parser *parser, kiln__span opener);

/* ---- parse_hints.c ---- */
/* The kind of the token that begins a statement. A misspelt or foreign word
   is reported, and the token becomes the keyword that it stands for. */
kiln__token_kind kiln__parser_statement_word(kiln__parser *parser);
/* The same for a definition. */
kiln__token_kind kiln__parser_definition_word(kiln__parser *parser);

/* ---- parse_definition.c ---- */
/* Takes one definition; false after an error. */
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
    kiln__array_of(unsigned char) bytes; /* reused from one to the next */
    kiln_status status;
} kiln__tree_writer;

/* Sets `digest`: of names, literals and structure, not of any place. */
kiln_status kiln__definition_digest(kiln__definition *definition,
                                    kiln__tree_writer *writer);

#endif /* KILN_PARSE_H */
