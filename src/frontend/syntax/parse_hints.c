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
    /* What the word stands for, or lacks; END_OF_TEXT: nothing. */
    kiln__token_kind kind;
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
    {"pass", KILN__TOKEN_NEWLINE, "leave it out: a block may be empty"},
};

static const char declaration_hint[] =
    "write `x = 0`, or with a type `x: f32 = 0`";

static const char local_hint[] = "write `local t = f32[256]`";

static const word declaration_words[] = {
    {"let", 0, "leave it out: `x = 0`"},
    {"var", 0, "leave it out: `x = 0`"},
    {"val", 0, "leave it out: `x = 0`"},
    {"auto", 0, "leave it out: `x = 0`"},
    {"mut", 0, "leave it out: `x = 0`"},
    {"global", 0, "there are no mutable globals; pass an array"},
    {"shared", 0, local_hint},
    {"__shared__", 0, local_hint},
    {"__local", 0, local_hint},
    {"groupshared", 0, local_hint},
    {"extern", 0, "write `local t = f32[256]`; its sizes are constants"},
    {"signed", 0, declaration_hint},
    {"volatile", 0, declaration_hint},
    {"register", 0, declaration_hint},
    {"__private", 0, declaration_hint},
    {"constexpr", 0, declaration_hint},
    {"struct", 0, declaration_hint},
    {"goto", 0, "write `if`, `while` and `break`"},
    {"try", 0, "leave it out: an exception ends the launch"},
    {"catch", 0, "leave it out: an exception ends the launch"},
    {"delete", 0, "write `free(a)`"},
    {"del", 0, "write `free(a)`"},
    {"def", 0, "write `fn f(x) = ...` outside of the kernel"},
    {"function", 0, "write `fn f(x) = ...` outside of the kernel"},
    {"import", 0, "write it above the function"},
    {"from", 0, "write `import package: name` above the function"},
    {"assert", KILN__TOKEN_LEFT_PAREN, "write `assert(c)`"},
    {"static_assert", KILN__TOKEN_LEFT_PAREN, "write `static_assert(c)`"},
    {"print", KILN__TOKEN_LEFT_PAREN, "write `print(x)`"},
    {"switch", 0, "write `if` and `elseif`"},
    {"case", 0, "write `if` and `elseif`"},
    {"match", 0, "write `if` and `elseif`"},
    {"do", 0, "write `while true` and `break`"},
    {"throw", 0, "write `assert(c, \"text\")`"},
    {"raise", 0, "write `assert(c, \"text\")`"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- declarations of other languages ---- */

/* Returns the type that a word names here or in another language, or NULL. */
static const char *type_named(const kiln__parser *p, const kiln__token *token)
{
    const char *text = p->source->text + token->span.start;
    char name[32];

    if (token->kind != KILN__TOKEN_NAME || token->span.size >= sizeof name)
        return NULL;
    memcpy(name, text, token->span.size);
    name[token->span.size] = '\0';
    if (kiln__scalar_named(name, token->span.size) != KILN_TYPE_NONE)
        return kiln__arena_text(&p->diagnostics->arena, name);
    return kiln__other_type(&p->diagnostics->arena, name);
}

/* Returns the type of `unsigned char` and `long long`. */
static const char *type_of_both(kiln__parser *p, const char *first,
                                const char *second)
{
    if (kiln__parser_is_word(p, &p->token, "unsigned") && second[0] == 'i')
        return kiln__arena_format(&p->diagnostics->arena, "u%s", second + 1);
    return kiln__parser_is_word(p, &p->token, "long") ? first : second;
}

static int is_followed_by(const kiln__parser *p, char character)
{
    const char *at = p->source->text + p->ahead.span.start + p->ahead.span.size;

    while (*at == ' ' || *at == '\t')
        at++;
    return *at == character;
}

/* Says how `int n = 0` is written, whose first word names `type`. */
static const char *declaration_of(kiln__parser *p, const char *type)
{
    const char *second = type_named(p, &p->ahead);

    if (second == NULL && is_followed_by(p, '['))
        return "items share `local t = f32[256]`; one item has a tuple, a "
               "`Vec`, or `allocate(f32, n)`";
    if (second != NULL)
        return kiln__arena_format(&p->diagnostics->arena,
                                  "write `x = 0`, or with a type `x: %s = 0`",
                                  type_of_both(p, type, second));
    return kiln__arena_format(
        &p->diagnostics->arena,
        "write `%.*s = 0`, or with a type `%.*s: %s = 0`",
        (int)p->ahead.span.size, p->source->text + p->ahead.span.start,
        (int)p->ahead.span.size, p->source->text + p->ahead.span.start, type);
}

/* `const int n` and `static int n`. */
static const char *qualified_hint(kiln__parser *p)
{
    const char *type;

    if (p->token.kind != KILN__TOKEN_CONST &&
        p->token.kind != KILN__TOKEN_STATIC)
        return NULL;
    type = type_named(p, &p->ahead);
    if (type == NULL)
        return NULL;
    return kiln__arena_format(&p->diagnostics->arena,
                              "write `x = 0`, or with a type `x: %s = 0`",
                              type);
}

static int is_pointer(const kiln__parser *p)
{
    return p->ahead.kind == KILN__TOKEN_STAR && !p->ahead.line_start &&
           type_named(p, &p->token) != NULL;
}

static kiln__token_kind no_statement(kiln__parser *p, const char *hint)
{
    (void)kiln__parser_error(p, p->token.span, "unexpected-token", hint,
                             "`%.*s` begins no statement",
                             (int)p->token.span.size,
                             p->source->text + p->token.span.start);
    return KILN__TOKEN_NAME;
}

static kiln__token_kind no_parentheses(kiln__parser *p, const word *found)
{
    (void)kiln__parser_error(p, p->ahead.span, "unexpected-token", found->hint,
                             "`%s` takes parentheses", found->text);
    return KILN__TOKEN_NAME;
}

int kiln__parser_names_type(const kiln__parser *p, const kiln__ast *e)
{
    return e->kind == KILN__AST_NAME &&
           (kiln__scalar_named(e->text, strlen(e->text)) != KILN_TYPE_NONE ||
            kiln__other_type(&p->diagnostics->arena, e->text) != NULL);
}

const char *kiln__parser_parameter_hint(kiln__parser *p)
{
    static const char *const qualifiers[] = {
        "const",   "__global",     "__constant",
        "__local", "__restrict__", "unsigned",
    };
    const int pointer = p->ahead.kind == KILN__TOKEN_STAR;
    const char *type;

    if (p->ahead.kind != KILN__TOKEN_NAME && !pointer)
        return NULL;
    for (size_t i = 0; i < COUNT(qualifiers); i++)
        if (!pointer && p->token.span.size == strlen(qualifiers[i]) &&
            memcmp(p->source->text + p->token.span.start, qualifiers[i],
                   p->token.span.size) == 0)
            return "an array is `a: f32[:]`, a number `n: i32`";
    type = type_named(p, &p->token);
    if (type == NULL)
        return NULL;
    return pointer
               ? kiln__arena_format(&p->diagnostics->arena,
                                    "an array's type is `%s[:]`, as in "
                                    "`a: %s[:]`",
                                    type, type)
               : kiln__arena_format(&p->diagnostics->arena, "write `%.*s: %s`",
                                    (int)p->ahead.span.size,
                                    p->source->text + p->ahead.span.start,
                                    type);
}

/* ---- the statement's word ---- */

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

/* Nothing follows a word such as `done`, but in a call of a function of that
   name. */
static int may_be_call(const kiln__parser *p, const word *found)
{
    return p->ahead.kind == KILN__TOKEN_LEFT_PAREN &&
           (found->kind == KILN__TOKEN_END ||
            found->kind == KILN__TOKEN_NEWLINE);
}

kiln__token_kind kiln__parser_statement_word(kiln__parser *p)
{
    const int operand = begins_operand(&p->ahead);
    const char *hint, *type;
    const word *found;

    if (kiln__parser_assigns_reserved(p))
        return KILN__TOKEN_NAME;
    hint = qualified_hint(p);
    if (hint == NULL && is_pointer(p))
        hint = "there are no pointers; pass an array, and index it: `a[i]`";
    if (hint != NULL)
        return no_statement(p, hint);
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
    if (found != NULL && !may_be_call(p, found)) {
        unknown_word(p, found->hint);
        return stand_for(p, found->kind);
    }
    if (p->ahead.kind == KILN__TOKEN_LEFT_PAREN)
        return KILN__TOKEN_NAME;
    found = find_word(p, declaration_words, COUNT(declaration_words));
    type = found == NULL && p->ahead.kind == KILN__TOKEN_NAME
               ? type_named(p, &p->token)
               : NULL;
    if (found != NULL && found->kind == KILN__TOKEN_LEFT_PAREN)
        return no_parentheses(p, found);
    if (found != NULL)
        return no_statement(p, found->hint);
    if (type != NULL)
        return no_statement(p, declaration_of(p, type));
    if (operand)
        return correct(p, operand_keywords, COUNT(operand_keywords));
    return correct(p, lone_keywords, COUNT(lone_keywords));
}

/* ---- definitions ---- */

static const word definition_words[] = {
    {"__global__", KILN__TOKEN_KERNEL, "write `kernel`"},
    {"__kernel", KILN__TOKEN_KERNEL, "write `kernel`"},
    {"__device__", KILN__TOKEN_FN, "write `fn`"},
    {"void", KILN__TOKEN_FN, "write `fn`; a type stands behind `->`"},
    {"inline", KILN__TOKEN_FN, "write `fn`"},
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

/* Skips `void` in `__global__ void k(...)`, up to the function's name. */
static void skip_c_words(kiln__parser *p)
{
    static const char *const words[] = {"void", "inline", "__device__"};

    for (size_t i = 0; i < COUNT(words);)
        if (kiln__parser_is_word(p, &p->ahead, words[i])) {
            kiln__parser_advance(p);
            i = 0;
        } else {
            i++;
        }
}

kiln__token_kind kiln__parser_definition_word(kiln__parser *p)
{
    const word *found;

    if (p->token.kind != KILN__TOKEN_NAME || !begins_operand(&p->ahead))
        return p->token.kind;
    found = find_word(p, definition_words, COUNT(definition_words));
    if (found != NULL) {
        unknown_word(p, found->hint);
        skip_c_words(p);
        return stand_for(p, found->kind);
    }
    return correct(p, definition_keywords, COUNT(definition_keywords));
}
