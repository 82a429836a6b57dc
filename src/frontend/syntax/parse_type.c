/* parse_type.c - parses types as they are written in annotations. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/syntax/parse.h"
#include "kiln/type.h"

/*
 * A type is an element type and any number of dimensions in brackets. `f32[:]`
 * is an array, `f32[16, 16]` a local array, and only kiln__parse_sized_type()
 * allows the second form. Names and their arguments are not resolved here
 * (resolve_type.c).
 */

static kiln__ast *parse_typeof(kiln__parser *p, uint32_t start)
{
    const kiln__span opener = p->ahead.span;
    kiln__ast *e;

    kiln__parser_advance(p);
    kiln__parser_advance(p);
    e = kiln__parse_expression(p);
    if (e == NULL || !kiln__parser_close(p, KILN__TOKEN_RIGHT_PAREN, opener))
        return NULL;
    return kiln__parser_node(p, KILN__AST_TYPEOF, start, NULL, &e, 1);
}

/* `(f32, i64)`, `(f32,)` and `()` are tuples; `(f32)` is f32. */
static kiln__ast *parse_tuple_type(kiln__parser *p, uint32_t start)
{
    const kiln__span opener = p->token.span;
    const size_t mark = p->stack.count;
    int commas = 0;

    kiln__parser_advance(p);
    while (p->token.kind != KILN__TOKEN_RIGHT_PAREN) {
        kiln__ast *element = kiln__parse_type(p);

        if (element == NULL || !kiln__parser_push(p, element))
            goto failed;
        if (p->stack.count - mark > KILN__LIST_MAX) {
            (void)kiln__parser_error(p, element->span, "too-large", NULL,
                                     "a tuple has at most %u elements",
                                     KILN__LIST_MAX);
            goto failed;
        }
        if (!kiln__parser_take(p, KILN__TOKEN_COMMA))
            break;
        commas++;
    }
    if (!kiln__parser_close(p, KILN__TOKEN_RIGHT_PAREN, opener))
        goto failed;
    if (p->stack.count == mark + 1 && commas == 0)
        return p->stack.items[--p->stack.count];
    return kiln__parser_node_of(p, KILN__AST_TUPLE, start, NULL, mark);

failed:
    p->stack.count = mark;
    return NULL;
}

/* ---- T{...} ---- */

/* Parses a type, or a number with or without a minus. */
static kiln__ast *parse_type_argument(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    const int negative = p->token.kind == KILN__TOKEN_MINUS;
    kiln__token token;
    kiln__ast *number;

    if (!negative && p->token.kind != KILN__TOKEN_INTEGER)
        return kiln__parse_type(p);
    if (negative)
        kiln__parser_advance(p);
    token = p->token;
    if (token.kind != KILN__TOKEN_INTEGER)
        return kiln__parser_expected(p, "an integer");
    kiln__parser_advance(p);
    number = kiln__parser_node(p, KILN__AST_INTEGER, token.span.start, NULL,
                               NULL, 0);
    if (number == NULL)
        return NULL;
    number->integer = token.integer;
    if (!negative)
        return number;
    return kiln__parser_node(p, KILN__AST_UNARY, start, "-", &number, 1);
}

kiln__ast *kiln__parse_apply(kiln__parser *p, uint32_t start, kiln__ast *name)
{
    const kiln__span opener = p->token.span;
    const size_t mark = p->stack.count;

    if (p->ahead.line_start && p->ahead.kind != KILN__TOKEN_RIGHT_BRACE)
        return kiln__parser_expected(p, "the end of the line");
    if (!kiln__parser_push(p, name))
        return NULL;
    kiln__parser_advance(p);
    do {
        kiln__ast *argument = parse_type_argument(p);

        if (argument == NULL || !kiln__parser_push(p, argument))
            goto failed;
        if (p->stack.count - mark > KILN__TYPE_PARAMETERS_MAX + 1) {
            (void)kiln__parser_error(p, argument->span, "too-large", NULL,
                                     "a type has at most %u parameters",
                                     KILN__TYPE_PARAMETERS_MAX);
            goto failed;
        }
    } while (kiln__parser_take(p, KILN__TOKEN_COMMA));
    if (!kiln__parser_close(p, KILN__TOKEN_RIGHT_BRACE, opener))
        goto failed;
    return kiln__parser_node_of(p, KILN__AST_APPLY, start, NULL, mark);

failed:
    p->stack.count = mark;
    return NULL;
}

/* ---- T[...] ---- */

int kiln__parser_at_dimensions(const kiln__parser *p)
{
    return p->token.kind == KILN__TOKEN_COLON ||
           (p->ahead.kind == KILN__TOKEN_COLON &&
            kiln__parser_is_word(p, &p->token, "strided"));
}

static kiln__ast *rank_error(kiln__parser *p, kiln__span opener)
{
    return kiln__parser_error(
        p, (kiln__span){.start = opener.start, .size = p->end - opener.start},
        "array-rank", NULL, "an array has at most %d dimensions",
        KILN_RANK_MAX);
}

kiln__ast *kiln__parse_dimensions(kiln__parser *p, uint32_t start,
                                  kiln__ast *element, kiln__span opener)
{
    uint32_t strided = 0, rank = 0;
    kiln__ast *type;

    if (p->token.kind == KILN__TOKEN_NAME) {
        kiln__parser_advance(p);
        strided = 1;
    }
    do {
        if (!kiln__parser_expect(p, KILN__TOKEN_COLON))
            return NULL;
        rank++;
    } while (kiln__parser_take(p, KILN__TOKEN_COMMA));
    if (p->token.kind != KILN__TOKEN_RIGHT_BRACKET && !p->token.line_start)
        return kiln__parser_no_slices(p), NULL;
    if (!kiln__parser_close(p, KILN__TOKEN_RIGHT_BRACKET, opener))
        return NULL;
    if (rank > KILN_RANK_MAX)
        return rank_error(p, opener);
    type = kiln__parser_node(p, KILN__AST_ARRAY_TYPE, start, NULL, &element, 1);
    if (type != NULL) {
        type->rank = rank;
        type->strided = strided;
    }
    return type;
}

/* ---- whole types ---- */

static kiln__ast *parse_named_type(kiln__parser *p, uint32_t start)
{
    const char *name = kiln__parser_name(p, "a type");
    kiln__ast *type;

    if (name == NULL)
        return NULL;
    type = kiln__parser_node(p, KILN__AST_NAME, start, name, NULL, 0);
    if (type != NULL && kiln__parser_take(p, KILN__TOKEN_DOT)) {
        name = kiln__parser_name(p, "the name of a type");
        if (name == NULL)
            return NULL;
        type = kiln__parser_node(p, KILN__AST_MEMBER, start, name, &type, 1);
    }
    if (type != NULL && p->token.kind == KILN__TOKEN_LEFT_BRACE)
        type = kiln__parse_apply(p, start, type);
    return type;
}

/* Parses a type up to the first `[`. */
static kiln__ast *parse_element_type(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    kiln__ast *type;

    if (!kiln__parser_enter(p))
        return NULL;
    if (p->token.kind == KILN__TOKEN_LEFT_PAREN)
        type = parse_tuple_type(p, start);
    else if (p->ahead.kind == KILN__TOKEN_LEFT_PAREN &&
             kiln__parser_is_word(p, &p->token, "typeof"))
        type = parse_typeof(p, start);
    else
        type = parse_named_type(p, start);
    kiln__parser_leave(p);
    return type;
}

kiln__ast *kiln__parse_type(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    kiln__ast *type = parse_element_type(p);

    while (type != NULL && p->token.kind == KILN__TOKEN_LEFT_BRACKET) {
        const kiln__span opener = p->token.span;

        kiln__parser_advance(p);
        if (!kiln__parser_at_dimensions(p))
            return kiln__parser_error(
                p, p->token.span, "unexpected-token",
                "an array's type is `f32[:]` or `f32[:, :]`; sizes stand in "
                "`local t = f32[16]` only; an item's own array is a "
                "`Vec{f32, 16}`",
                "expected `:` for each dimension");
        type = kiln__parse_dimensions(p, start, type, opener);
    }
    return type;
}

kiln__ast *kiln__parse_sized_type(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    const size_t mark = p->stack.count;
    kiln__ast *element = parse_element_type(p);
    const kiln__span opener = p->token.span;
    kiln__ast *type;
    uint32_t rank = 0;

    if (element == NULL || !kiln__parser_push(p, element))
        return NULL;
    if (!kiln__parser_take(p, KILN__TOKEN_LEFT_BRACKET)) {
        (void)kiln__parser_expected(p, "the sizes of a local array, `[16]`");
        goto failed;
    }
    do {
        kiln__ast *size = kiln__parse_expression(p);

        if (size == NULL || !kiln__parser_push(p, size))
            goto failed;
        rank++;
    } while (kiln__parser_take(p, KILN__TOKEN_COMMA));
    if (!kiln__parser_close(p, KILN__TOKEN_RIGHT_BRACKET, opener))
        goto failed;
    if (p->token.kind == KILN__TOKEN_LEFT_BRACKET) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `f32[16, 16]`",
                                 "all sizes stand in one pair of brackets");
        goto failed;
    }
    if (rank > KILN_RANK_MAX) {
        (void)rank_error(p, opener);
        goto failed;
    }
    type = kiln__parser_node_of(p, KILN__AST_ARRAY_TYPE, start, NULL, mark);
    if (type != NULL)
        type->rank = rank;
    return type;

failed:
    p->stack.count = mark;
    return NULL;
}
