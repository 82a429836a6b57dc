/* parse_reserved.c - keywords where a name is meant. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/syntax/parse.h"

/*
 * A keyword in the place of a name is reported as such, with another name, and
 * parsing goes on as if it were one. A keyword at the beginning of a line is
 * one, unless what follows shows that it is meant as a name.
 */

typedef struct reserved_word {
    const char *other; /* a name instead of it; NULL: it is no word */
    /* `word:` may be another language's beginning of a block. */
    int begins_block;
} reserved_word;

static const reserved_word words[KILN__TOKEN_COUNT] = {
    [KILN__TOKEN_ABSTRACT] = {"summary", 0},
    [KILN__TOKEN_BREAK] = {"gap", 0},
    [KILN__TOKEN_BY] = {"step", 0},
    [KILN__TOKEN_CHECKBOUNDS] = {"check", 1},
    [KILN__TOKEN_CONST] = {"constant", 0},
    [KILN__TOKEN_CONTINUE] = {"more", 0},
    [KILN__TOKEN_CONTRACT] = {"shrink", 1},
    [KILN__TOKEN_ELSE] = {"other", 1},
    [KILN__TOKEN_ELSEIF] = {"other", 1},
    [KILN__TOKEN_END] = {"last", 0},
    [KILN__TOKEN_FALSE] = {"no", 0},
    [KILN__TOKEN_FASTMATH] = {"fast", 1},
    [KILN__TOKEN_FN] = {"f", 0},
    [KILN__TOKEN_FOR] = {"turn", 1},
    [KILN__TOKEN_IF] = {"condition", 1},
    [KILN__TOKEN_IMPORT] = {"loaded", 0},
    [KILN__TOKEN_IN] = {"input", 0},
    [KILN__TOKEN_INBOUNDS] = {"inside", 1},
    [KILN__TOKEN_KERNEL] = {"weights", 0},
    [KILN__TOKEN_LOCAL] = {"own", 0},
    [KILN__TOKEN_OVERLAY] = {"layer", 0},
    [KILN__TOKEN_RETURN] = {"result", 0},
    [KILN__TOKEN_STATIC] = {"fixed", 0},
    [KILN__TOKEN_STRICT] = {"exact", 1},
    [KILN__TOKEN_STRUCT] = {"record", 1},
    [KILN__TOKEN_TRUE] = {"yes", 0},
    [KILN__TOKEN_WHERE] = {"place", 0},
    [KILN__TOKEN_WHILE] = {"span", 1},
};

static const char *advice(kiln__parser *p, kiln__token_kind kind,
                          const char *begin)
{
    return kiln__arena_format(&p->diagnostics->arena,
                              "%schoose another name, such as `%s`", begin,
                              words[kind].other);
}

static void refuse(kiln__parser *p, const kiln__token *token)
{
    (void)kiln__parser_error(
        p, token->span, "reserved-name", advice(p, token->kind, ""),
        "`%s` is a reserved word", kiln__token_text[token->kind]);
    p->panicking = 0;
}

int kiln__parser_take_reserved(kiln__parser *p)
{
    const kiln__token_kind kind = p->token.kind;

    if (words[kind].other == NULL || p->token.line_start ||
        (kiln__begins_definition(kind) && p->ahead.kind == KILN__TOKEN_NAME))
        return 0;
    refuse(p, &p->token);
    return 1;
}

static int becomes_name(kiln__parser *p, int is_name)
{
    if (words[p->token.kind].other == NULL || !is_name)
        return 0;
    refuse(p, &p->token);
    p->token.kind = KILN__TOKEN_NAME;
    return 1;
}

static int has_type(const kiln__parser *p)
{
    return p->ahead.kind == KILN__TOKEN_COLON ||
           p->ahead.kind == KILN__TOKEN_COLON_COLON;
}

int kiln__parser_assigns_reserved(kiln__parser *p)
{
    return becomes_name(
        p, p->ahead.kind == KILN__TOKEN_ASSIGN ||
               (has_type(p) && !words[p->token.kind].begins_block));
}

void kiln__parser_declares_reserved(kiln__parser *p)
{
    (void)becomes_name(p, has_type(p));
}

int kiln__parser_follows_end(const kiln__parser *p)
{
    static const char word[] = "end";
    const size_t size = sizeof word - 1;

    return p->end >= size &&
           memcmp(p->source->text + p->end - size, word, size) == 0 &&
           (p->end == size ||
            strchr(" \t\n;", p->source->text[p->end - size - 1]) != NULL);
}

const char *kiln__parser_reserved_hint(kiln__parser *p)
{
    const kiln__token_kind kind = p->token.kind;

    if (words[kind].other == NULL || p->token.line_start)
        return NULL;
    if (kind == KILN__TOKEN_END)
        return "the last index is `length(a) - 1`";
    if (kiln__parser_follows_end(p))
        return "`end` stands alone, whatever it ends";
    return advice(p, kind, "it is a reserved word; ");
}
