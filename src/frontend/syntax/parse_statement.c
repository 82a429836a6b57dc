/* parse_statement.c - parses statements, and where their lines end. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/syntax/parse.h"
#include "kiln/compile.h"

/* ---- assignments and calls ---- */

/* Returns the operator of a compound assignment, "" for `=`, or NULL. */
static const char *assignment_operator(kiln__token_kind kind)
{
    switch ((int)kind) {
    case KILN__TOKEN_ASSIGN:
        return "";
    case KILN__TOKEN_PLUS_ASSIGN:
        return "+";
    case KILN__TOKEN_MINUS_ASSIGN:
        return "-";
    case KILN__TOKEN_STAR_ASSIGN:
        return "*";
    case KILN__TOKEN_SLASH_ASSIGN:
        return "/";
    case KILN__TOKEN_SLASH_SLASH_ASSIGN:
        return "//";
    case KILN__TOKEN_PERCENT_ASSIGN:
        return "%";
    case KILN__TOKEN_AND_ASSIGN:
        return "&";
    case KILN__TOKEN_OR_ASSIGN:
        return "|";
    case KILN__TOKEN_XOR_ASSIGN:
        return "^";
    case KILN__TOKEN_SHIFT_LEFT_ASSIGN:
        return "<<";
    case KILN__TOKEN_SHIFT_RIGHT_ASSIGN:
        return ">>";
    default:
        return NULL;
    }
}

static int check_target(kiln__parser *p, const kiln__ast *target)
{
    if (target->kind == KILN__AST_NAME || target->kind == KILN__AST_INDEX ||
        target->kind == KILN__AST_MEMBER)
        return 1;
    (void)kiln__parser_error(
        p, target->span, "invalid-target",
        target->kind == KILN__AST_CALL
            ? "functions are defined outside of others: `fn f(x) = ...`"
        : target->kind == KILN__AST_TUPLE
            ? "leave the parentheses out: `a, b = t`"
            : "a name, an element `a[i]` or a field `s.f` can be",
        "this cannot be assigned to");
    return 0;
}

static kiln__ast *parse_assignment(kiln__parser *p, uint32_t start,
                                   kiln__ast *target)
{
    const char *operator= assignment_operator(p->token.kind);
    kiln__ast *parts[3] = {target, NULL, NULL};

    if (!check_target(p, target))
        return NULL;
    kiln__parser_advance(p);
    parts[1] = kiln__parse_expression(p);
    if (parts[1] == NULL)
        return NULL;
    return kiln__parser_node(p, KILN__AST_ASSIGN, start, operator, parts, 3);
}

/* Parses `x: f32 = e`. */
static kiln__ast *parse_annotated(kiln__parser *p)
{
    const kiln__span name = p->token.span;
    kiln__ast *parts[3] = {kiln__parse_name(p), NULL, NULL};

    kiln__parser_advance(p);
    parts[2] = parts[0] == NULL ? NULL : kiln__parse_type(p);
    if (parts[2] == NULL)
        return NULL;
    if (kiln__parser_at_line_end(p))
        return kiln__parser_error(p, name, "missing-value",
                                  "write `x: f32 = 0`",
                                  "a variable begins with a value");
    if (!kiln__parser_expect(p, KILN__TOKEN_ASSIGN))
        return NULL;
    parts[1] = kiln__parse_expression(p);
    if (parts[1] == NULL)
        return NULL;
    return kiln__parser_node(p, KILN__AST_ASSIGN, name.start, "", parts, 3);
}

/* Parses `a, b = e` after a. */
static kiln__ast *parse_unpack(kiln__parser *p, uint32_t start,
                               kiln__ast *first)
{
    const size_t mark = p->stack.count;
    kiln__ast *value = NULL, *name = first;
    int pushed = kiln__parser_push(p, NULL);

    while (pushed && name != NULL) {
        if (name->kind != KILN__AST_NAME ||
            p->token.kind == KILN__TOKEN_LEFT_BRACKET ||
            p->token.kind == KILN__TOKEN_DOT)
            name = kiln__parser_error(p, name->span, "invalid-target",
                                      "assign elements one by one",
                                      "a tuple is taken apart into names");
        else if (!kiln__parser_push(p, name))
            name = NULL;
        if (name == NULL || !kiln__parser_take(p, KILN__TOKEN_COMMA))
            break;
        name = kiln__parse_name(p);
    }
    if (pushed && name != NULL && kiln__parser_expect(p, KILN__TOKEN_ASSIGN))
        value = kiln__parse_expression(p);
    if (value == NULL) {
        p->stack.count = mark;
        return NULL;
    }
    p->stack.items[mark] = value;
    return kiln__parser_node_of(p, KILN__AST_UNPACK, start, NULL, mark);
}

static kiln__ast *no_effect(kiln__parser *p, const kiln__ast *e)
{
    const char *hint = "assign it, `x = ...`, or return it";

    if (e->kind == KILN__AST_BINARY && e->text[0] == '=')
        hint = "`=` assigns, `==` compares";
    else if (e->kind == KILN__AST_NAME)
        hint = "a call has parentheses: `f()`; a value is assigned, `x = ...`";
    return kiln__parser_error(p, e->span, "no-effect", hint,
                              "this value is not used");
}

static kiln__ast *parse_simple(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    kiln__ast *e;

    if (p->token.kind == KILN__TOKEN_NAME &&
        (p->ahead.kind == KILN__TOKEN_COLON ||
         p->ahead.kind == KILN__TOKEN_COLON_COLON))
        return parse_annotated(p);
    e = kiln__parse_expression(p);
    if (e == NULL)
        return NULL;
    if (p->token.kind == KILN__TOKEN_COMMA)
        return parse_unpack(p, start, e);
    if (assignment_operator(p->token.kind) != NULL)
        return parse_assignment(p, start, e);
    if (!kiln__parser_at_line_end(p))
        return kiln__parser_expected(p, "the end of the statement");
    if (e->kind != KILN__AST_CALL)
        return no_effect(p, e);
    return kiln__parser_node(p, KILN__AST_EXPRESSION, start, NULL, &e, 1);
}

/* ---- assert, print, return, local ---- */

static kiln__ast *parse_text(kiln__parser *p)
{
    const kiln__span span = p->token.span;
    const char *text = kiln__string_value(p->arena, p->source, span);

    if (text == NULL)
        return NULL;
    kiln__parser_advance(p);
    return kiln__parser_node(p, KILN__AST_STRING, span.start, text, NULL, 0);
}

static kiln__ast *parse_assert(kiln__parser *p, kiln__ast_kind kind)
{
    const uint32_t start = p->token.span.start;
    const kiln__span opener = p->ahead.span;
    kiln__ast *parts[2] = {NULL, NULL};

    kiln__parser_advance(p);
    kiln__parser_advance(p);
    parts[0] = kiln__parse_expression(p);
    if (parts[0] == NULL)
        return NULL;
    if (kiln__parser_take(p, KILN__TOKEN_COMMA)) {
        if (p->token.kind != KILN__TOKEN_STRING)
            return kiln__parser_expected(p, "a string");
        parts[1] = parse_text(p);
        if (parts[1] == NULL)
            return NULL;
    }
    if (!kiln__parser_close(p, KILN__TOKEN_RIGHT_PAREN, opener))
        return NULL;
    return kiln__parser_node(p, kind, start, NULL, parts, 2);
}

static kiln__ast *parse_print(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    const kiln__span opener = p->ahead.span;
    const size_t mark = p->stack.count;

    kiln__parser_advance(p);
    kiln__parser_advance(p);
    while (p->token.kind != KILN__TOKEN_RIGHT_PAREN) {
        kiln__ast *part = p->token.kind == KILN__TOKEN_STRING
                              ? parse_text(p)
                              : kiln__parse_expression(p);

        if (part == NULL || !kiln__parser_push(p, part))
            goto failed;
        if (p->stack.count - mark > KILN_ARGUMENTS_MAX) {
            (void)kiln__parser_error(p, part->span, "too-large", NULL,
                                     "more than %d values in one `print`",
                                     KILN_ARGUMENTS_MAX);
            goto failed;
        }
        if (!kiln__parser_take(p, KILN__TOKEN_COMMA))
            break;
    }
    if (p->token.kind == KILN__TOKEN_PLUS) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `print(\"x = \", x)`",
                                 "commas stand between texts and values");
        goto failed;
    }
    if (!kiln__parser_close(p, KILN__TOKEN_RIGHT_PAREN, opener))
        goto failed;
    return kiln__parser_node_of(p, KILN__AST_PRINT, start, NULL, mark);

failed:
    p->stack.count = mark;
    return NULL;
}

static kiln__ast *parse_return(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    kiln__ast *value = NULL;

    kiln__parser_advance(p);
    if (!kiln__parser_at_line_end(p)) {
        value = kiln__parse_expression(p);
        if (value == NULL)
            return NULL;
    }
    return kiln__parser_node(p, KILN__AST_RETURN, start, NULL, &value, 1);
}

/* Parses `local t = f32[16, 16]`. */
static kiln__ast *parse_local(kiln__parser *p)
{
    const uint32_t start = p->token.span.start;
    const char *name;
    kiln__ast *type;

    kiln__parser_advance(p);
    name = kiln__parser_name(p, "a name for the local array");
    if (name == NULL)
        return NULL;
    if (p->token.kind != KILN__TOKEN_ASSIGN ||
        p->ahead.kind == KILN__TOKEN_INTEGER ||
        p->ahead.kind == KILN__TOKEN_FLOAT)
        return kiln__parser_error(
            p, p->token.span, "unexpected-token",
            "write `local t = f32[16]`; a variable of one item is `x = 0`",
            "`local` begins an array of the group");
    kiln__parser_advance(p);
    type = kiln__parse_sized_type(p);
    if (type == NULL)
        return NULL;
    return kiln__parser_node(p, KILN__AST_LOCAL, start, name, &type, 1);
}

static kiln__ast *parse_jump(kiln__parser *p, kiln__ast_kind kind)
{
    const kiln__span span = p->token.span;

    kiln__parser_advance(p);
    if (p->loops == 0)
        return kiln__parser_error(
            p, span, "misplaced-statement", NULL, "`%s` stands in no loop",
            kind == KILN__AST_BREAK ? "break" : "continue");
    return kiln__parser_node(p, kind, span.start, NULL, NULL, 0);
}

/* ---- statements and blocks ---- */

static kiln__ast *parse_named(kiln__parser *p)
{
    if (p->ahead.kind == KILN__TOKEN_LEFT_PAREN) {
        if (kiln__parser_is_word(p, &p->token, "assert"))
            return parse_assert(p, KILN__AST_ASSERT);
        if (kiln__parser_is_word(p, &p->token, "static_assert"))
            return parse_assert(p, KILN__AST_STATIC_ASSERT);
        if (kiln__parser_is_word(p, &p->token, "print"))
            return parse_print(p);
    }
    return parse_simple(p);
}

kiln__ast *kiln__parse_statement(kiln__parser *p)
{
    switch ((int)kiln__parser_statement_word(p)) {
    case KILN__TOKEN_IF:
    case KILN__TOKEN_WHILE:
    case KILN__TOKEN_FOR:
    case KILN__TOKEN_FASTMATH:
    case KILN__TOKEN_STRICT:
    case KILN__TOKEN_CONTRACT:
    case KILN__TOKEN_INBOUNDS:
    case KILN__TOKEN_CHECKBOUNDS:
        return kiln__parse_compound(p);
    case KILN__TOKEN_BREAK:
        return parse_jump(p, KILN__AST_BREAK);
    case KILN__TOKEN_CONTINUE:
        return parse_jump(p, KILN__AST_CONTINUE);
    case KILN__TOKEN_RETURN:
        return parse_return(p);
    case KILN__TOKEN_LOCAL:
        return parse_local(p);
    case KILN__TOKEN_NAME:
        return parse_named(p);
    case KILN__TOKEN_CONST:
    case KILN__TOKEN_IMPORT:
        return kiln__parser_error(p, p->token.span, "misplaced-definition",
                                  "write it above the function",
                                  "`%s` stands outside of functions",
                                  kiln__token_text[p->token.kind]);
    case KILN__TOKEN_WHERE:
    case KILN__TOKEN_IN:
    case KILN__TOKEN_BY:
        return kiln__parser_expected(p, "a statement");
    default:
        return parse_simple(p);
    }
}

/* True for a token that ends the block: no statement of it begins so. */
static int ends_block(const kiln__parser *p)
{
    const kiln__token_kind kind = p->token.kind;

    return kind == KILN__TOKEN_END || kind == KILN__TOKEN_ELSE ||
           kind == KILN__TOKEN_ELSEIF || kind == KILN__TOKEN_END_OF_TEXT ||
           kind == KILN__TOKEN_RIGHT_BRACE ||
           (kiln__begins_definition(kind) && kind != KILN__TOKEN_CONST &&
            kind != KILN__TOKEN_IMPORT);
}

/* Reports and skips an arm that belongs to no `if`. */
static int skip_stray_arm(kiln__parser *p, int arms)
{
    if (arms || (p->token.kind != KILN__TOKEN_ELSE &&
                 p->token.kind != KILN__TOKEN_ELSEIF))
        return 0;
    (void)kiln__parser_error(p, p->token.span, "misplaced-statement", NULL,
                             "`%s` belongs to no `if`",
                             kiln__token_text[p->token.kind]);
    (void)kiln__parser_skip_line(p);
    return 1;
}

static void end_line(kiln__parser *p)
{
    if (!kiln__parser_at_line_end(p))
        (void)kiln__parser_expected(p, "the end of the statement");
    if (p->panicking)
        (void)kiln__parser_skip_line(p);
    (void)kiln__parser_take(p, KILN__TOKEN_NEWLINE);
}

kiln__ast *kiln__parse_block(kiln__parser *p, int arms)
{
    const size_t mark = p->stack.count;
    uint32_t start;

    while (kiln__parser_take(p, KILN__TOKEN_NEWLINE))
        continue;
    start = p->token.span.start;
    for (;;) {
        kiln__ast *statement;
        uint32_t begin;

        kiln__parser_begin_line(p);
        if (kiln__parser_statement_word(p) == KILN__TOKEN_NEWLINE) {
            kiln__parser_advance(p);
            continue;
        }
        if (ends_block(p)) {
            if (skip_stray_arm(p, arms))
                continue;
            break;
        }
        begin = p->token.span.start;
        statement = kiln__parse_statement(p);
        if (statement != NULL && kiln__parser_push(p, statement)) {
            end_line(p);
            continue;
        }
        if (p->token.span.start == begin)
            kiln__parser_advance(p);
        (void)kiln__parser_skip_line(p);
    }
    return kiln__parser_node_of(p, KILN__AST_BLOCK, start, NULL, mark);
}
