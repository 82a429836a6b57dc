/* parse_hints.c - corrects misspelt keywords, and those of other languages. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/scalars.h"
#include "frontend/syntax/parse.h"

/*
 * A statement or definition that begins with an unknown name may be meant for a
 * keyword. Words of other languages are looked up in tables; others are
 * compared with the keywords that fit what follows. The word is reported with a
 * hint, and parsing goes on as if the keyword were there, so one slip is one
 * error.
 */

typedef struct word {
    const char *text;
    kiln__token_kind kind; /* what the word stands for; END_OF_TEXT: nothing */
    const char *hint;
} word;

/* ---- common ---- */

static const word *find_word(const kiln__parser *p, const word *words,
                             size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (kiln__parser_is_word(p, &p->token, words[i].text))
            return &words[i];
    return NULL;
}

static int names_scalar(const kiln__parser *p)
{
    return kiln__scalar_named(p->source->text + p->token.span.start,
                              p->token.span.size) != KILN_TYPE_NONE;
}

static void unknown_word(kiln__parser *p, const char *hint)
{
    (void)kiln__parser_error(p, p->token.span, "unknown-word", hint,
                             "unknown word `%.*s`", (int)p->token.span.size,
                             p->source->text + p->token.span.start);
}

/* Goes on as if the right keyword were there. */
static kiln__token_kind stand_for(kiln__parser *p, kiln__token_kind kind)
{
    p->token.kind = kind;
    p->panicking = 0;
    return kind;
}

/* Returns the nearest of the keywords, after reporting it, or the token's own
   kind. */
static kiln__token_kind correct(kiln__parser *p, const kiln__token_kind *kinds,
                                size_t count)
{
    const char *names[16];
    const char *nearest;
    char spelt[32], hint[64] = "did you mean `";

    if (p->token.span.size >= sizeof spelt)
        return p->token.kind;
    memcpy(spelt, p->source->text + p->token.span.start, p->token.span.size);
    spelt[p->token.span.size] = '\0';
    for (size_t i = 0; i < count; i++)
        names[i] = kiln__token_text[kinds[i]];
    nearest = kiln__nearest_name(spelt, names, count);
    for (size_t i = 0; nearest != NULL && i < count; i++) {
        if (names[i] != nearest)
            continue;
        strcat(strcat(hint, nearest), "`?");
        unknown_word(p, hint);
        return stand_for(p, kinds[i]);
    }
    return p->token.kind;
}

static int begins_operand(const kiln__token *token)
{
    return !token->line_start && (token->kind == KILN__TOKEN_NAME ||
                                  token->kind == KILN__TOKEN_INTEGER ||
                                  token->kind == KILN__TOKEN_FLOAT ||
                                  token->kind == KILN__TOKEN_TRUE ||
                                  token->kind == KILN__TOKEN_FALSE);
}

/* ---- statements ---- */

static const word statement_words[] = {
    {"elif", KILN__TOKEN_ELSEIF, "write `elseif`"},
    {"elsif", KILN__TOKEN_ELSEIF, "write `elseif`"},
    {"elseIf", KILN__TOKEN_ELSEIF, "write `elseif`"},
    {"foreach", KILN__TOKEN_FOR, "write `for i in 0..n`"},
    {"endif", KILN__TOKEN_END, "write `end`"},
    {"endfor", KILN__TOKEN_END, "write `end`"},
    {"endwhile", KILN__TOKEN_END, "write `end`"},
    {"fi", KILN__TOKEN_END, "write `end`"},
    {"done", KILN__TOKEN_END, "write `end`"},
};

static const char declaration_hint[] =
    "write `x = 0`, or with a type `x: f32 = 0`";

static const word declaration_words[] = {
    {"let", 0, "leave it out: `x = 0`"},
    {"var", 0, "leave it out: `x = 0`"},
    {"val", 0, "leave it out: `x = 0`"},
    {"auto", 0, "leave it out: `x = 0`"},
    {"mut", 0, "leave it out: `x = 0`"},
    {"global", 0, "there are no mutable globals; pass an array"},
    {"shared", 0, "write `local t = f32[256]`"},
    {"__shared__", 0, "write `local t = f32[256]`"},
    {"__local", 0, "write `local t = f32[256]`"},
    {"int", 0, declaration_hint},
    {"unsigned", 0, declaration_hint},
    {"long", 0, declaration_hint},
    {"short", 0, declaration_hint},
    {"char", 0, declaration_hint},
    {"float", 0, declaration_hint},
    {"double", 0, declaration_hint},
    {"size_t", 0, declaration_hint},
    {"switch", 0, "write `if` and `elseif`"},
    {"case", 0, "write `if` and `elseif`"},
    {"match", 0, "write `if` and `elseif`"},
    {"do", 0, "write `while true` and `break`"},
    {"throw", 0, "write `assert(c, \"text\")`"},
    {"raise", 0, "write `assert(c, \"text\")`"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Keywords that are followed by an operand, and keywords that stand alone. */
static const kiln__token_kind operand_keywords[] = {
    KILN__TOKEN_IF,     KILN__TOKEN_ELSEIF, KILN__TOKEN_FOR,
    KILN__TOKEN_RETURN, KILN__TOKEN_WHILE,  KILN__TOKEN_LOCAL,
};
static const kiln__token_kind lone_keywords[] = {
    KILN__TOKEN_END,         KILN__TOKEN_ELSE,     KILN__TOKEN_BREAK,
    KILN__TOKEN_CONTINUE,    KILN__TOKEN_RETURN,   KILN__TOKEN_FASTMATH,
    KILN__TOKEN_STRICT,      KILN__TOKEN_CONTRACT, KILN__TOKEN_INBOUNDS,
    KILN__TOKEN_CHECKBOUNDS,
};

kiln__token_kind kiln__parser_statement_word(kiln__parser *p)
{
    const int operand = begins_operand(&p->ahead);
    const word *found;

    if (kiln__parser_assigns_reserved(p))
        return KILN__TOKEN_NAME;
    if (p->token.kind == KILN__TOKEN_STATIC &&
        p->ahead.kind == KILN__TOKEN_FOR) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `for i in static(0..4)`",
                                 "`static` begins no statement");
        kiln__parser_advance(p);
        return stand_for(p, KILN__TOKEN_FOR);
    }
    if (p->token.kind != KILN__TOKEN_NAME ||
        (!operand && p->ahead.kind != KILN__TOKEN_NEWLINE &&
         p->ahead.kind != KILN__TOKEN_LEFT_PAREN))
        return p->token.kind;
    found = find_word(p, statement_words, COUNT(statement_words));
    if (found != NULL) {
        unknown_word(p, found->hint);
        return stand_for(p, found->kind);
    }
    if (p->ahead.kind == KILN__TOKEN_LEFT_PAREN)
        return KILN__TOKEN_NAME;
    found = find_word(p, declaration_words, COUNT(declaration_words));
    if (found != NULL || names_scalar(p)) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 found != NULL ? found->hint : declaration_hint,
                                 "`%.*s` begins no statement",
                                 (int)p->token.span.size,
                                 p->source->text + p->token.span.start);
        return KILN__TOKEN_NAME;
    }
    if (operand)
        return correct(p, operand_keywords, COUNT(operand_keywords));
    return correct(p, lone_keywords, COUNT(lone_keywords));
}

/* ---- definitions ---- */

static const word definition_words[] = {
    {"def", KILN__TOKEN_FN, "write `fn`"},
    {"defn", KILN__TOKEN_FN, "write `fn`"},
    {"function", KILN__TOKEN_FN, "write `fn`"},
    {"func", KILN__TOKEN_FN, "write `fn`"},
    {"fun", KILN__TOKEN_FN, "write `fn`"},
    {"sub", KILN__TOKEN_FN, "write `fn`"},
    {"class", KILN__TOKEN_STRUCT, "write `struct`"},
    {"type", KILN__TOKEN_STRUCT, "write `struct` or `abstract`"},
    {"interface", KILN__TOKEN_ABSTRACT, "write `abstract`"},
    {"trait", KILN__TOKEN_ABSTRACT, "write `abstract`"},
    {"using", KILN__TOKEN_IMPORT, "write `import`"},
    {"include", KILN__TOKEN_IMPORT, "write `import`"},
    {"from", KILN__TOKEN_IMPORT, "write `import package: name`"},
    {"let", KILN__TOKEN_CONST, "write `const`"},
    {"var", KILN__TOKEN_CONST, "write `const`; there are no variables here"},
};

static const kiln__token_kind definition_keywords[] = {
    KILN__TOKEN_FN,      KILN__TOKEN_KERNEL, KILN__TOKEN_STRUCT,
    KILN__TOKEN_CONST,   KILN__TOKEN_IMPORT, KILN__TOKEN_ABSTRACT,
    KILN__TOKEN_OVERLAY,
};

kiln__token_kind kiln__parser_definition_word(kiln__parser *p)
{
    const word *found;

    if (p->token.kind != KILN__TOKEN_NAME || !begins_operand(&p->ahead))
        return p->token.kind;
    found = find_word(p, definition_words, COUNT(definition_words));
    if (found != NULL) {
        unknown_word(p, found->hint);
        return stand_for(p, found->kind);
    }
    return correct(p, definition_keywords, COUNT(definition_keywords));
}
