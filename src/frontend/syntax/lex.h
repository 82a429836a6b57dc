/* lex.h - the lexer, which makes tokens of a text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LEX_H
#define KILN_LEX_H

#include "frontend/syntax/ast.h"

/* X(NAME, text), sorted, so that keywords with the same first letter follow
   each other. */
#define KILN__KEYWORD_MAP(X) \
    X(ABSTRACT, "abstract") \
    X(BREAK, "break") \
    X(BY, "by") \
    X(CHECKBOUNDS, "checkbounds") \
    X(CONST, "const") \
    X(CONTINUE, "continue") \
    X(CONTRACT, "contract") \
    X(ELSE, "else") \
    X(ELSEIF, "elseif") \
    X(END, "end") \
    X(FALSE, "false") \
    X(FASTMATH, "fastmath") \
    X(FN, "fn") \
    X(FOR, "for") \
    X(IF, "if") \
    X(IMPORT, "import") \
    X(IN, "in") \
    X(INBOUNDS, "inbounds") \
    X(KERNEL, "kernel") \
    X(LOCAL, "local") \
    X(OVERLAY, "overlay") \
    X(RETURN, "return") \
    X(STATIC, "static") \
    X(STRICT, "strict") \
    X(STRUCT, "struct") \
    X(TRUE, "true") \
    X(WHERE, "where") \
    X(WHILE, "while")

/* X(NAME, text). Those with the same first character follow each other, longer
   ones first. */
#define KILN__PUNCTUATION_MAP(X) \
    X(NOT_EQUAL, "!=") \
    X(NOT, "!") \
    X(PERCENT_ASSIGN, "%=") \
    X(PERCENT, "%") \
    X(AND_AND, "&&") \
    X(AND_ASSIGN, "&=") \
    X(AND, "&") \
    X(LEFT_PAREN, "(") \
    X(RIGHT_PAREN, ")") \
    X(STAR_STAR, "**") \
    X(STAR_ASSIGN, "*=") \
    X(STAR, "*") \
    X(PLUS_ASSIGN, "+=") \
    X(PLUS, "+") \
    X(COMMA, ",") \
    X(ARROW, "->") \
    X(MINUS_ASSIGN, "-=") \
    X(MINUS, "-") \
    X(DOT_DOT, "..") \
    X(DOT, ".") \
    X(SLASH_SLASH_ASSIGN, "//=") \
    X(SLASH_SLASH, "//") \
    X(SLASH_ASSIGN, "/=") \
    X(SLASH, "/") \
    X(COLON_COLON, "::") \
    X(COLON, ":") \
    X(SHIFT_LEFT_ASSIGN, "<<=") \
    X(SHIFT_LEFT, "<<") \
    X(LESS_EQUAL, "<=") \
    X(LESS, "<") \
    X(EQUAL, "==") \
    X(ASSIGN, "=") \
    X(SHIFT_RIGHT_ASSIGN, ">>=") \
    X(SHIFT_RIGHT, ">>") \
    X(GREATER_EQUAL, ">=") \
    X(GREATER, ">") \
    X(QUESTION, "?") \
    X(LEFT_BRACKET, "[") \
    X(RIGHT_BRACKET, "]") \
    X(XOR_ASSIGN, "^=") \
    X(XOR, "^") \
    X(LEFT_BRACE, "{") \
    X(OR_OR, "||") \
    X(OR_ASSIGN, "|=") \
    X(OR, "|") \
    X(RIGHT_BRACE, "}") \
    X(TILDE, "~")

typedef enum kiln__token_kind {
    KILN__TOKEN_END_OF_TEXT,
    KILN__TOKEN_NEWLINE, /* also for `;` */
    KILN__TOKEN_NAME,
    KILN__TOKEN_INTEGER,
    KILN__TOKEN_FLOAT,
    KILN__TOKEN_STRING,
#define KILN__X(name, text) KILN__TOKEN_##name,
    KILN__KEYWORD_MAP(KILN__X) KILN__PUNCTUATION_MAP(KILN__X)
#undef KILN__X
        KILN__TOKEN_COUNT
} kiln__token_kind;

/* The text of keywords and punctuation; NULL for other kinds. */
extern const char *const kiln__token_text[KILN__TOKEN_COUNT];

typedef struct kiln__token {
    kiln__token_kind kind;
    int line_start;  /* it is the first token of its line */
    kiln__span span; /* of a string, with its quotes */
    uint64_t integer;
    double real;  /* the nearest f64 */
    int32_t rest; /* the sign of what `real` lacks of the text's number */
} kiln__token;

/*
 * The lexer returns tokens one by one. A newline is a token only where it ends
 * a statement, and several in a row are one token. A word that can only begin
 * or end a statement closes all open brackets, so that a forgotten bracket does
 * not swallow the rest of the text. What is no token is reported and skipped.
 */
typedef struct kiln__lexer {
    const kiln__source *source;
    kiln__diagnostics *diagnostics;
    uint32_t at;    /* place of the next byte */
    uint32_t depth; /* number of open brackets */
    kiln__token_kind last;
    int line_start; /* no token came since the last newline */
} kiln__lexer;

/* ---- lex.c ---- */
void kiln__lexer_init(kiln__lexer *lexer, const kiln__source *source,
                      kiln__diagnostics *diagnostics);
/* After the end of the text, every further token is END_OF_TEXT. */
void kiln__lexer_next(kiln__lexer *lexer, kiln__token *out);

/* ---- lex_foreign.c: what other languages have ---- */
/* Returns the hint for `@word`, with which the text begins. */
const char *kiln__lex_macro_hint(const char *text);
/* Returns the size of another language's operator that the text begins with,
   and its hint; 0: there is none. */
uint32_t kiln__lex_foreign_operator(const char *text, const char **hint);

/* ---- lex_literal.c ---- */
/* These begin at the lexer's place and move it after what they read. */
void kiln__lex_number(kiln__lexer *lexer, kiln__token *out);
void kiln__lex_string(kiln__lexer *lexer, kiln__token *out);
/* Returns the size of the UTF-8 sequence that begins at `at`; 0 when it is
   invalid. */
uint32_t kiln__lex_character_size(const kiln__source *source, uint32_t at);
/* Reports the bytes from `start` to `end` that are NUL or invalid UTF-8. */
void kiln__lex_check_bytes(kiln__lexer *lexer, uint32_t start, uint32_t end);
/* Returns a copy of a string token's text, without quotes and with escapes
   replaced; NULL: out of memory. */
const char *kiln__string_value(kiln__arena *arena, const kiln__source *source,
                               kiln__span span);

#endif /* KILN_LEX_H */
