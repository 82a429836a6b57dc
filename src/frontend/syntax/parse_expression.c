/* parse_expression.c - parses expressions, by precedence. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/syntax/parse.h"
#include "kiln/compile.h"

/*
 * From low to high precedence: `c ? a : b`; the binary operators of the table;
 * the unary ones; `**`; calls, indices, fields and type parameters.
 */

#define COMPARISON 3u

static const uint8_t precedence[KILN__TOKEN_COUNT] = {
    [KILN__TOKEN_OR_OR] = 1,
    [KILN__TOKEN_AND_AND] = 2,
    [KILN__TOKEN_EQUAL] = COMPARISON,
    [KILN__TOKEN_NOT_EQUAL] = COMPARISON,
    [KILN__TOKEN_LESS] = COMPARISON,
    [KILN__TOKEN_LESS_EQUAL] = COMPARISON,
    [KILN__TOKEN_GREATER] = COMPARISON,
    [KILN__TOKEN_GREATER_EQUAL] = COMPARISON,
    [KILN__TOKEN_OR] = 4,
    [KILN__TOKEN_XOR] = 5,
    [KILN__TOKEN_AND] = 6,
    [KILN__TOKEN_SHIFT_LEFT] = 7,
    [KILN__TOKEN_SHIFT_RIGHT] = 7,
    [KILN__TOKEN_PLUS] = 8,
    [KILN__TOKEN_MINUS] = 8,
    [KILN__TOKEN_STAR] = 9,
    [KILN__TOKEN_SLASH] = 9,
    [KILN__TOKEN_SLASH_SLASH] = 9,
    [KILN__TOKEN_PERCENT] = 9,
};

const char *kiln__operator_name(kiln__token_kind kind)
{
    if ((precedence[kind] >= COMPARISON) || kind == KILN__TOKEN_STAR_STAR ||
        kind == KILN__TOKEN_NOT || kind == KILN__TOKEN_TILDE)
        return kiln__token_text[kind];
    return NULL;
}

static kiln__ast *parse_unary(kiln__parser *p);

/* ---- primary expressions ---- */

static kiln__ast *parse_number(kiln__parser *p)
{
    const kiln__token token = p->token;
    kiln__ast_kind kind = KILN__AST_BOOLEAN;
    kiln__ast *node;

    if (token.kind == KILN__TOKEN_INTEGER)
        kind = KILN__AST_INTEGER;
    else if (token.kind == KILN__TOKEN_FLOAT)
        kind = KILN__AST_FLOAT;
    kiln__parser_advance(p);
    node = kiln__parser_node(p, kind, token.span.start, NULL, NULL, 0);
    if (node == NULL)
        return NULL;
    node->real = token.real;
    node->rest = token.rest;
    node->integer = kind == KILN__AST_BOOLEAN ? token.kind == KILN__TOKEN_TRUE
                                              : token.integer;
    return node;
}

kiln__ast *kiln__parse_name(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    const char *name = kiln__parser_name(p, "a name");

    if (name == NULL)
        return NULL;
    return kiln__parser_node(p, KILN__AST_NAME, start, name, NULL, 0);
}

/* Takes an operator or the word `static` as a name. */
static kiln__ast *parse_token_name(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    const char *name = kiln__token_text[p->token.kind];

    kiln__parser_advance(p);
    return kiln__parser_node(p, KILN__AST_NAME, start, name, NULL, 0);
}

void kiln__parser_no_slices(kiln__parser *p)
{
    (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                             "pass an offset and a length, and loop over "
                             "`a[offset + i]`",
                             "an array has no slices");
}

/*
 * Pushes expressions up to `closer`, which it takes; false after an error.
 * `commas` counts the commas; one may follow the last expression.
 */
static int parse_list(kiln__parser *p, kiln__token_kind closer,
                      kiln__span opener, uint32_t limit, uint32_t *commas)
{
    const size_t mark = p->stack.count;

    while (p->token.kind != closer) {
        kiln__ast *e = kiln__parse_expression(p);

        if (e == NULL || !kiln__parser_push(p, e))
            return 0;
        if (p->stack.count - mark > limit) {
            (void)kiln__parser_error(p, e->span, "too-large", NULL,
                                     "more than %u elements in a list", limit);
            return 0;
        }
        if (!kiln__parser_take(p, KILN__TOKEN_COMMA))
            break;
        ++*commas;
    }
    if (closer == KILN__TOKEN_RIGHT_BRACKET &&
        p->token.kind == KILN__TOKEN_COLON) {
        kiln__parser_no_slices(p);
        return 0;
    }
    return kiln__parser_close(p, closer, opener);
}

/* True for `(int)` before what C would convert. */
static int is_cast(const kiln__parser *p, const kiln__ast *e)
{
    const kiln__token_kind next = p->token.kind;

    return !p->token.line_start &&
           (next == KILN__TOKEN_NAME || next == KILN__TOKEN_INTEGER ||
            next == KILN__TOKEN_FLOAT) &&
           kiln__parser_names_type(p, e);
}

static kiln__ast *no_cast(kiln__parser *p, const kiln__ast *type)
{
    const char *ours = kiln__other_type(&p->diagnostics->arena, type->text);

    return kiln__parser_error(
        p, type->span, "unexpected-token",
        kiln__arena_format(&p->diagnostics->arena, "a conversion is `%s(x)`",
                           ours != NULL ? ours : type->text),
        "a type in parentheses converts nothing");
}

/* `(e)` is e; `()`, `(a,)` and `(a, b)` are tuples. */
static kiln__ast *parse_parentheses(kiln__parser *p)
{
    const kiln__span opener = p->token.span;
    const size_t mark = p->stack.count;
    uint32_t commas = 0;

    kiln__parser_advance(p);
    if (!parse_list(p, KILN__TOKEN_RIGHT_PAREN, opener, KILN__LIST_MAX,
                    &commas)) {
        p->stack.count = mark;
        return NULL;
    }
    if (p->stack.count == mark + 1 && commas == 0) {
        kiln__ast *only = p->stack.items[--p->stack.count];

        return is_cast(p, only) ? no_cast(p, only) : only;
    }
    return kiln__parser_node_of(p, KILN__AST_TUPLE, opener.start, NULL, mark);
}

/* Reports a token that begins no expression. */
static kiln__ast *no_expression(kiln__parser *p)
{
    switch ((int)p->token.kind) {
    case KILN__TOKEN_STRING:
        return kiln__parser_error(
            p, p->token.span, "misplaced-string",
            "strings stand in `print(\"x = \", x)` and `assert(c, \"text\")`",
            "a string is no value");
    case KILN__TOKEN_PLUS:
        return kiln__parser_error(p, p->token.span, "unexpected-token",
                                  "leave it out",
                                  "there is no `+` before a single operand");
    case KILN__TOKEN_LEFT_BRACKET:
        return kiln__parser_error(
            p, p->token.span, "unexpected-token",
            "`Vec(a, b)` makes a vector, `(a, b)` a tuple",
            "`[` begins no expression");
    case KILN__TOKEN_SLASH_SLASH:
    case KILN__TOKEN_PERCENT:
        return kiln__parser_error(p, p->token.span, "unexpected-token",
                                  "a comment begins with `#`",
                                  "`%s` needs an operand on its left",
                                  kiln__token_text[p->token.kind]);
    case KILN__TOKEN_AND:
    case KILN__TOKEN_STAR:
        return kiln__parser_error(p, p->token.span, "unexpected-token",
                                  "there are no pointers; use `a[i]`, and "
                                  "`atomic_add(a, i, v)`",
                                  "`%s` needs an operand on its left",
                                  kiln__token_text[p->token.kind]);
    default:
        return kiln__parser_expected(p, "an expression");
    }
}

/* True for an operator that nothing follows, as in `(+)` and `reduce(x, +)`: it
   is the operator's name. */
static int at_operator_value(const kiln__parser *p)
{
    return (p->ahead.kind == KILN__TOKEN_RIGHT_PAREN ||
            p->ahead.kind == KILN__TOKEN_COMMA) &&
           kiln__operator_name(p->token.kind) != NULL;
}

/* Words of other languages that stand before an operand. */
static const struct prefix {
    const char *word;
    const char *hint;
} prefixes[] = {
    {"not", "write `!`"},
    {"new", "write `allocate(f32, n)`"},
    {"lambda", "there are no closures; pass a function's name"},
    {"sizeof", "write `length(a)` for the elements of an array"},
    {"unsigned", "the type is `u32`"},
};

static kiln__ast *parse_word(kiln__parser *p)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (p->ahead.kind == KILN__TOKEN_NAME && !p->ahead.line_start &&
            kiln__parser_is_word(p, &p->token, prefixes[i].word))
            return kiln__parser_error(p, p->token.span, "unexpected-token",
                                      prefixes[i].hint, "there is no `%s`",
                                      prefixes[i].word);
    return kiln__parse_name(p);
}

static kiln__ast *parse_primary(kiln__parser *p)
{
    if (at_operator_value(p))
        return parse_token_name(p);
    switch ((int)p->token.kind) {
    case KILN__TOKEN_NAME:
        return parse_word(p);
    case KILN__TOKEN_INTEGER:
    case KILN__TOKEN_FLOAT:
    case KILN__TOKEN_TRUE:
    case KILN__TOKEN_FALSE:
        return parse_number(p);
    case KILN__TOKEN_LEFT_PAREN:
        return parse_parentheses(p);
    case KILN__TOKEN_STATIC:
        if (p->ahead.kind == KILN__TOKEN_LEFT_PAREN)
            return parse_token_name(p);
        return no_expression(p);
    default:
        return no_expression(p);
    }
}

/* ---- calls, indices, fields, type parameters ---- */

static int is_name(const kiln__ast *e, const char *name)
{
    const char *text = e->kind == KILN__AST_NAME ? e->text : "";

    while (*text != '\0' && *text == *name) {
        text++;
        name++;
    }
    return *text == *name;
}

static kiln__ast *parse_call(kiln__parser *p, uint32_t start, kiln__ast *callee)
{
    const kiln__span opener = p->token.span;
    const size_t mark = p->stack.count;
    uint32_t commas = 0;

    if (callee->kind == KILN__AST_INTEGER || callee->kind == KILN__AST_FLOAT ||
        callee->kind == KILN__AST_BOOLEAN)
        return kiln__parser_error(p, opener, "unexpected-token",
                                  "a product is written `2 * (x + 1)`",
                                  "a number cannot be called");
    if (is_name(callee, "print") || is_name(callee, "assert") ||
        is_name(callee, "static_assert"))
        return kiln__parser_error(p, callee->span, "misplaced-statement",
                                  "write it on a line of its own",
                                  "`%s` is a statement, not a value",
                                  callee->text);
    if (!kiln__parser_push(p, callee))
        return NULL;
    kiln__parser_advance(p);
    if (!parse_list(p, KILN__TOKEN_RIGHT_PAREN, opener, KILN_ARGUMENTS_MAX,
                    &commas)) {
        p->stack.count = mark;
        return NULL;
    }
    return kiln__parser_node_of(p, KILN__AST_CALL, start, NULL, mark);
}

/* Parses `a[i, j]`, or `f32[:]` where a type is meant. */
static kiln__ast *parse_index(kiln__parser *p, uint32_t start,
                              kiln__ast *object)
{
    const kiln__span opener = p->token.span;
    const size_t mark = p->stack.count;
    uint32_t commas = 0;

    kiln__parser_advance(p);
    if (kiln__parser_at_dimensions(p))
        return kiln__parse_dimensions(p, start, object, opener);
    if (p->token.kind == KILN__TOKEN_RIGHT_BRACKET)
        return kiln__parser_expected(p, "an index");
    if (!kiln__parser_push(p, object))
        return NULL;
    if (!parse_list(p, KILN__TOKEN_RIGHT_BRACKET, opener, KILN__LIST_MAX,
                    &commas)) {
        p->stack.count = mark;
        return NULL;
    }
    return kiln__parser_node_of(p, KILN__AST_INDEX, start, NULL, mark);
}

/* Parses `s.f`, `package.name`, or `package.+` as a value. */
static kiln__ast *parse_member(kiln__parser *p, uint32_t start,
                               kiln__ast *object)
{
    const char *name;

    kiln__parser_advance(p);
    name = kiln__operator_name(p->token.kind);
    if (name != NULL)
        kiln__parser_advance(p);
    else
        name = kiln__parser_name(p, "the name of a field");
    if (name == NULL)
        return NULL;
    return kiln__parser_node(p, KILN__AST_MEMBER, start, name, &object, 1);
}

static kiln__ast *parse_postfix(kiln__parser *p, uint32_t start, kiln__ast *e)
{
    while (e != NULL) {
        switch ((int)p->token.kind) {
        case KILN__TOKEN_LEFT_PAREN:
            e = parse_call(p, start, e);
            break;
        case KILN__TOKEN_LEFT_BRACKET:
            e = parse_index(p, start, e);
            break;
        case KILN__TOKEN_DOT:
            e = parse_member(p, start, e);
            break;
        case KILN__TOKEN_LEFT_BRACE:
            if (e->kind != KILN__AST_NAME && e->kind != KILN__AST_MEMBER)
                return e;
            e = kiln__parse_apply(p, start, e);
            break;
        default:
            return e;
        }
    }
    return NULL;
}

/* ---- operators ---- */

/* Parses `a ** b`, from right to left; the exponent may have a sign. */
static kiln__ast *parse_power(kiln__parser *p, uint32_t start, kiln__ast *e)
{
    kiln__ast *sides[2] = {parse_postfix(p, start, e), NULL};

    if (sides[0] == NULL || !kiln__parser_take(p, KILN__TOKEN_STAR_STAR))
        return sides[0];
    if (!kiln__parser_enter(p))
        return NULL;
    sides[1] = parse_unary(p);
    kiln__parser_leave(p);
    if (sides[1] == NULL)
        return NULL;
    return kiln__parser_node(p, KILN__AST_BINARY, start, "**", sides, 2);
}

static kiln__ast *parse_unary(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    const kiln__token_kind kind = p->token.kind;
    const int signs = kind == KILN__TOKEN_MINUS || kind == KILN__TOKEN_NOT ||
                      kind == KILN__TOKEN_TILDE;
    kiln__ast *e;

    if (!signs || at_operator_value(p)) {
        e = parse_primary(p);
        return e == NULL ? NULL : parse_power(p, start, e);
    }
    if (!kiln__parser_enter(p))
        return NULL;
    kiln__parser_advance(p);
    e = parse_unary(p);
    if (e != NULL)
        e = kiln__parser_node(p, KILN__AST_UNARY, start, kiln__token_text[kind],
                              &e, 1);
    kiln__parser_leave(p);
    return e;
}

static kiln__ast *chained(kiln__parser *p)
{
    return kiln__parser_error(p, p->token.span, "chained-comparison",
                              "write `a < b && b < c`",
                              "comparisons do not chain");
}

/* Parses operators of at least the precedence `least` after `left`. */
static kiln__ast *parse_binary(kiln__parser *p, uint32_t start, kiln__ast *left,
                               unsigned least)
{
    int compared = 0;

    while (left != NULL) {
        const kiln__token_kind kind = p->token.kind;
        const unsigned level = precedence[kind];
        kiln__ast *sides[2] = {left, NULL};
        uint32_t right_start;

        if (level == 0 || level < least)
            return left;
        if (level == COMPARISON && compared)
            return chained(p);
        compared = level == COMPARISON;
        kiln__parser_advance(p);
        right_start = p->token.span.start;
        sides[1] = parse_binary(p, right_start, parse_unary(p), level + 1);
        if (sides[1] == NULL)
            return NULL;
        left = kiln__parser_node(
            p, level < COMPARISON ? KILN__AST_LOGIC : KILN__AST_BINARY, start,
            kiln__token_text[kind], sides, 2);
    }
    return NULL;
}

/* Parses `? a : b` after c. */
static kiln__ast *parse_choice(kiln__parser *p, uint32_t start, kiln__ast *c)
{
    kiln__ast *parts[3] = {c, NULL, NULL};

    if (c == NULL || !kiln__parser_take(p, KILN__TOKEN_QUESTION))
        return c;
    parts[1] = kiln__parse_expression(p);
    if (parts[1] == NULL || !kiln__parser_expect(p, KILN__TOKEN_COLON))
        return NULL;
    parts[2] = kiln__parse_expression(p);
    if (parts[2] == NULL)
        return NULL;
    return kiln__parser_node(p, KILN__AST_CHOICE, start, NULL, parts, 3);
}

kiln__ast *kiln__parse_expression(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    kiln__ast *e;

    if (!kiln__parser_enter(p))
        return NULL;
    e = parse_choice(p, start, parse_binary(p, start, parse_unary(p), 1));
    kiln__parser_leave(p);
    return e;
}

kiln__ast *kiln__parse_expression_from(kiln__parser *p, uint32_t start,
                                       kiln__ast *primary)
{
    kiln__ast *e = parse_power(p, start, primary);

    return parse_choice(p, start, parse_binary(p, start, e, 1));
}
