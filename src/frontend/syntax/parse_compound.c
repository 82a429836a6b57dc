/* parse_compound.c - parses if, while, for and the lexical switches. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include "frontend/syntax/parse.h"
#include "ir/ir.h"

/* ---- headers ---- */

/* Skips a broken line, and returns a node in place of what it should
   contain. */
static kiln__ast *recover_line(kiln__parser *p)
{
    (void)kiln__parser_skip_line(p);
    return kiln__parser_node(p, KILN__AST_ERROR, p->token.span.start, NULL,
                             NULL, 0);
}

void kiln__parser_end_header(kiln__parser *p)
{
    if (kiln__parser_take(p, KILN__TOKEN_NEWLINE) || p->token.line_start ||
        p->token.kind == KILN__TOKEN_END_OF_TEXT)
        return;
    if (p->token.kind == KILN__TOKEN_COLON)
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "leave it out", "no `:` ends this line");
    else if (p->token.kind == KILN__TOKEN_ASSIGN)
        (void)kiln__parser_error(p, p->token.span, "assignment-in-condition",
                                 "write `==` to compare",
                                 "`=` assigns, and is no condition");
    else
        (void)kiln__parser_expected(p, "the end of the line");
    (void)kiln__parser_skip_line(p);
    (void)kiln__parser_take(p, KILN__TOKEN_NEWLINE);
}

/* Parses a condition and the end of its line. */
static kiln__ast *parse_condition(kiln__parser *p)
{
    kiln__ast *condition = kiln__parse_expression(p);

    if (condition == NULL)
        condition = recover_line(p);
    kiln__parser_end_header(p);
    return condition;
}

/* ---- ends ---- */

static void describe_opener(const kiln__parser *p, kiln__span opener, char *out,
                            size_t size)
{
    snprintf(out, size, "`end` to close the `%.*s` of line %u",
             (int)opener.size, p->source->text + opener.start,
             kiln__parser_line_of(p, opener.start));
}

static void end_is_missing(kiln__parser *p, kiln__span opener)
{
    char what[80];

    if (p->end_missing)
        return;
    p->panicking = 0;
    p->bad = 0;
    describe_opener(p, p->misindented.size > 0 ? p->misindented : opener, what,
                    sizeof what);
    (void)kiln__parser_expected(p, what);
    p->end_missing = 1;
}

/* Notes a block whose `end` is indented less than its beginning. If an `end`
   turns out to be missing, it is probably that block's. */
static void check_indent(kiln__parser *p, kiln__span opener)
{
    if (p->misindented.size == 0 && p->token.line_start &&
        kiln__parser_indent_of(p, p->token.span.start) <
            kiln__parser_indent_of(p, opener.start))
        p->misindented = opener;
}

void kiln__parse_end(kiln__parser *p, kiln__span opener)
{
    if (p->token.kind == KILN__TOKEN_END) {
        check_indent(p, opener);
        kiln__parser_advance(p);
    } else if (p->token.kind == KILN__TOKEN_RIGHT_BRACE) {
        (void)kiln__parser_expected(p, "`end`");
        kiln__parser_advance(p);
    } else {
        end_is_missing(p, opener);
    }
}

static kiln__ast *parse_body(kiln__parser *p, kiln__span opener)
{
    kiln__ast *block = kiln__parse_block(p, 0);

    kiln__parse_end(p, opener);
    return block;
}

/* ---- if ---- */

/* Takes `elseif`, or an `else if` that must have been meant as one. */
static int take_elseif(kiln__parser *p)
{
    if (kiln__parser_take(p, KILN__TOKEN_ELSEIF))
        return 1;
    if (p->token.kind != KILN__TOKEN_ELSE || p->ahead.kind != KILN__TOKEN_IF ||
        p->ahead.line_start)
        return 0;
    kiln__parser_begin_line(p);
    (void)kiln__parser_error(
        p,
        (kiln__span){
            .start = p->token.span.start,
            .size =
                p->ahead.span.start + p->ahead.span.size - p->token.span.start,
        },
        "unexpected-token", "write `elseif`",
        "`else if` would need an `end` of its own");
    kiln__parser_advance(p);
    kiln__parser_advance(p);
    kiln__parser_begin_line(p);
    return 1;
}

/* Parses `condition` newline block into an IF without else. */
static kiln__ast *parse_arm(kiln__parser *p, uint32_t start)
{
    kiln__ast *parts[3] = {parse_condition(p), NULL, NULL};

    parts[1] = kiln__parse_block(p, 1);
    if (parts[0] == NULL || parts[1] == NULL)
        return NULL;
    return kiln__parser_node(p, KILN__AST_IF, start, NULL, parts, 3);
}

/* Makes each arm the else of the one before, beginning with the last. */
static kiln__ast *join_arms(kiln__parser *p, size_t mark, kiln__ast *otherwise)
{
    while (p->stack.count > mark) {
        kiln__ast *arm = p->stack.items[--p->stack.count];

        if (arm == NULL)
            return NULL;
        arm->children[2] = otherwise;
        arm->span.size = p->end - arm->span.start;
        if (!kiln__parser_measure(p, arm))
            return NULL;
        otherwise = arm;
    }
    return otherwise;
}

static kiln__ast *parse_if(kiln__parser *p)
{
    const kiln__span opener = p->token.span;
    const size_t mark = p->stack.count;
    kiln__ast *otherwise = NULL, *result;
    uint32_t start = opener.start;
    int complete = 1;

    kiln__parser_advance(p);
    do {
        kiln__ast *arm = parse_arm(p, start);

        complete = complete && arm != NULL && kiln__parser_push(p, arm);
        (void)kiln__parser_statement_word(p);
        start = p->token.span.start;
    } while (take_elseif(p));
    if (kiln__parser_take(p, KILN__TOKEN_ELSE)) {
        if (p->token.kind == KILN__TOKEN_COLON)
            kiln__parser_end_header(p);
        otherwise = kiln__parse_block(p, 0);
        complete = complete && otherwise != NULL;
    }
    kiln__parse_end(p, opener);
    result = complete ? join_arms(p, mark, otherwise) : NULL;
    p->stack.count = mark;
    return result;
}

/* ---- loops ---- */

static kiln__ast *parse_while(kiln__parser *p)
{
    const kiln__span opener = p->token.span;
    kiln__ast *parts[2];

    kiln__parser_advance(p);
    parts[0] = parse_condition(p);
    p->loops++;
    parts[1] = parse_body(p, opener);
    p->loops--;
    if (parts[0] == NULL || parts[1] == NULL)
        return NULL;
    return kiln__parser_node(p, KILN__AST_WHILE, opener.start, NULL, parts, 2);
}

typedef struct range {
    const char *variable;
    int is_static;
    kiln__ast *low;
    kiln__ast *high;
    kiln__ast *step; /* or NULL */
} range;

static int expect_dots(kiln__parser *p)
{
    if (kiln__parser_take(p, KILN__TOKEN_DOT_DOT)) {
        if (p->token.kind != KILN__TOKEN_ASSIGN)
            return 1;
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "hi itself is not reached: write "
                                 "`lo..hi + 1`",
                                 "there is no `..=`");
        return 0;
    }
    if (p->token.kind == KILN__TOKEN_COLON)
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `lo..hi`; hi itself is not reached",
                                 "`:` makes no range");
    else if (kiln__parser_at_line_end(p))
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `for i in 0..n`",
                                 "`for` needs a range `lo..hi`");
    else
        (void)kiln__parser_expected(p, "`..`");
    return 0;
}

/* Parses `static(lo..hi)`, or an expression that begins with `static(...)`. */
static int parse_static_range(kiln__parser *p, range *out)
{
    const uint32_t start = p->token.span.start;
    const kiln__span opener = p->ahead.span;
    kiln__ast *call[2];

    kiln__parser_advance(p);
    call[0] = kiln__parser_node(p, KILN__AST_NAME, start, "static", NULL, 0);
    kiln__parser_advance(p);
    call[1] = kiln__parse_expression(p);
    if (call[0] == NULL || call[1] == NULL)
        return 0;
    if (kiln__parser_take(p, KILN__TOKEN_DOT_DOT)) {
        out->is_static = 1;
        out->low = call[1];
        out->high = kiln__parse_expression(p);
        return out->high != NULL &&
               kiln__parser_close(p, KILN__TOKEN_RIGHT_PAREN, opener);
    }
    if (!kiln__parser_close(p, KILN__TOKEN_RIGHT_PAREN, opener))
        return 0;
    out->low = kiln__parser_node(p, KILN__AST_CALL, start, NULL, call, 2);
    if (out->low != NULL)
        out->low = kiln__parse_expression_from(p, start, out->low);
    if (out->low == NULL || !expect_dots(p))
        return 0;
    out->high = kiln__parse_expression(p);
    return out->high != NULL;
}

static int parse_range(kiln__parser *p, range *out)
{
    if (p->token.kind == KILN__TOKEN_STATIC &&
        p->ahead.kind == KILN__TOKEN_LEFT_PAREN) {
        if (!parse_static_range(p, out))
            return 0;
    } else {
        out->low = kiln__parse_expression(p);
        if (out->low == NULL || !expect_dots(p))
            return 0;
        out->high = kiln__parse_expression(p);
        if (out->high == NULL)
            return 0;
    }
    if (kiln__parser_take(p, KILN__TOKEN_BY)) {
        out->step = kiln__parse_expression(p);
        return out->step != NULL;
    }
    if (p->token.kind != KILN__TOKEN_COLON ||
        p->ahead.kind == KILN__TOKEN_NEWLINE || p->ahead.line_start)
        return 1;
    (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                             "a range's step is `by s`", "`:` begins no step");
    return 0;
}

/* Parses `i in lo..hi by s`. */
static int parse_for_header(kiln__parser *p, range *out)
{
    if (p->token.kind == KILN__TOKEN_LEFT_PAREN) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `for i in 0..n`",
                                 "`for` has no parentheses");
        return 0;
    }
    out->variable = kiln__parser_name(p, "a name for the loop's variable");
    if (out->variable == NULL)
        return 0;
    if (p->token.kind == KILN__TOKEN_NAME) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `for i in 0..n`",
                                 "the loop's variable has no type");
        return 0;
    }
    if (p->token.kind == KILN__TOKEN_ASSIGN) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `for i in 0..n`",
                                 "expected `in`, found `=`");
        return 0;
    }
    return kiln__parser_expect(p, KILN__TOKEN_IN) && parse_range(p, out);
}

/* Skips a broken header, also past the `;` of `for (i = 0; i < n; i++)`. */
static void skip_for_header(kiln__parser *p)
{
    (void)kiln__parser_skip_line(p);
    while (p->token.kind == KILN__TOKEN_NEWLINE && p->token.span.size > 0 &&
           p->source->text[p->token.span.start] == ';') {
        kiln__parser_advance(p);
        (void)kiln__parser_skip_line(p);
    }
}

static kiln__ast *parse_for(kiln__parser *p)
{
    const kiln__span opener = p->token.span;
    range r = {0};
    kiln__ast *parts[4], *node;
    int complete;

    kiln__parser_advance(p);
    complete = parse_for_header(p, &r);
    if (!complete)
        skip_for_header(p);
    kiln__parser_end_header(p);
    p->loops++;
    parts[3] = parse_body(p, opener);
    p->loops--;
    if (!complete || parts[3] == NULL)
        return NULL;
    parts[0] = r.low;
    parts[1] = r.high;
    parts[2] = r.step;
    node =
        kiln__parser_node(p, KILN__AST_FOR, opener.start, r.variable, parts, 4);
    if (node != NULL)
        node->flag = (uint32_t)r.is_static;
    return node;
}

/* ---- switches ---- */

static kiln__ast *parse_switch(kiln__parser *p, uint32_t flag)
{
    const kiln__span opener = p->token.span;
    kiln__ast *block, *node;

    kiln__parser_advance(p);
    kiln__parser_end_header(p);
    block = parse_body(p, opener);
    if (block == NULL)
        return NULL;
    node =
        kiln__parser_node(p, KILN__AST_SWITCH, opener.start, NULL, &block, 1);
    if (node != NULL)
        node->flag = flag;
    return node;
}

static kiln__ast *parse_by_keyword(kiln__parser *p)
{
    switch ((int)p->token.kind) {
    case KILN__TOKEN_IF:
        return parse_if(p);
    case KILN__TOKEN_WHILE:
        return parse_while(p);
    case KILN__TOKEN_FOR:
        return parse_for(p);
    case KILN__TOKEN_FASTMATH:
        return parse_switch(p, KILN__IR_FAST_ON);
    case KILN__TOKEN_STRICT:
        return parse_switch(p, KILN__IR_FAST_OFF | KILN__IR_CONTRACT_OFF);
    case KILN__TOKEN_CONTRACT:
        return parse_switch(p, KILN__IR_FAST_OFF | KILN__IR_CONTRACT_ON);
    case KILN__TOKEN_INBOUNDS:
        return parse_switch(p, KILN__IR_BOUNDS_OFF);
    default:
        return parse_switch(p, KILN__IR_BOUNDS_ON);
    }
}

/* Skips a definition whose blocks nest too deeply. Otherwise their ends would
   close other blocks. */
static void skip_definition(kiln__parser *p)
{
    while (p->token.kind != KILN__TOKEN_END_OF_TEXT &&
           !(p->token.line_start && kiln__begins_definition(p->token.kind)))
        kiln__parser_advance(p);
    p->end_missing = 1;
}

kiln__ast *kiln__parse_compound(kiln__parser *p)
{
    kiln__ast *node;

    if (!kiln__parser_enter(p)) {
        skip_definition(p);
        return NULL;
    }
    node = parse_by_keyword(p);
    kiln__parser_leave(p);
    return node;
}
