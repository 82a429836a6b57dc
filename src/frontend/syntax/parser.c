/* parser.c - the parser's tokens, errors and nodes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/data/ascii.h"
#include "base/system/stack.h"
#include "frontend/syntax/parse.h"

/*
 * These are the tools that the files of the grammar share. Errors are reported
 * once for each statement or definition: after an error the parser is
 * `panicking`, and silent until kiln__parser_skip_line() has found where to go
 * on. That place is found by line ends and, inside open brackets, by
 * indentation.
 */

static int is_literal(kiln__token_kind kind)
{
    return kind == KILN__TOKEN_INTEGER || kind == KILN__TOKEN_FLOAT ||
           kind == KILN__TOKEN_STRING;
}

/* True when the last report is about the line of the token. */
static int is_on_line(const kiln__parser *p, const kiln__token *token)
{
    const kiln_diagnostic *last =
        &p->diagnostics->list.items[p->diagnostics->list.count - 1];

    return last->location.line == kiln__parser_line_of(p, token->span.start);
}

/* Reads the token after the next one, and notes whether the text before it, or
   a literal itself, was bad. Bad text at the beginning of a line is a part of
   the statement, too. */
static void fetch(kiln__parser *p)
{
    const size_t known = p->diagnostics->list.count;

    kiln__lexer_next(&p->lexer, &p->ahead);
    if (p->diagnostics->list.count != known)
        p->bad = p->ahead.span.start +
                 (is_literal(p->ahead.kind) || is_on_line(p, &p->ahead));
    if (p->diagnostics->list.count >= p->diagnostics->limit)
        /* No more errors will be reported. */
        p->lexer.at = (uint32_t)p->source->size;
}

void kiln__parser_init(kiln__parser *p, kiln__arena *arena,
                       const kiln__source *source,
                       kiln__diagnostics *diagnostics)
{
    *p = (kiln__parser){
        .alloc = source->alloc,
        .arena = arena,
        .source = source,
        .diagnostics = diagnostics,
    };
    kiln__lexer_init(&p->lexer, source, diagnostics);
    fetch(p);
    p->token = p->ahead;
    fetch(p);
}

void kiln__parser_dispose(kiln__parser *p)
{
    kiln__array_dispose(p->alloc, &p->stack);
    kiln__array_dispose(p->alloc, &p->fields);
}

/* ---- tokens ---- */

void kiln__parser_advance(kiln__parser *p)
{
    p->end = p->token.span.start + p->token.span.size;
    p->token = p->ahead;
    fetch(p);
}

int kiln__parser_take(kiln__parser *p, kiln__token_kind kind)
{
    if (p->token.kind != kind)
        return 0;
    kiln__parser_advance(p);
    return 1;
}

int kiln__parser_expect(kiln__parser *p, kiln__token_kind kind)
{
    char what[16];

    if (kiln__parser_take(p, kind))
        return 1;
    snprintf(what, sizeof what, "`%s`", kiln__token_text[kind]);
    (void)kiln__parser_expected(p, what);
    return 0;
}

int kiln__parser_close(kiln__parser *p, kiln__token_kind kind,
                       kiln__span opener)
{
    uint32_t line;
    char what[64];

    if (kiln__parser_take(p, kind))
        return 1;
    line = kiln__parser_line_of(p, opener.start);
    if (line == kiln__parser_line_of(p, p->token.span.start))
        snprintf(what, sizeof what, "`%s`", kiln__token_text[kind]);
    else
        snprintf(what, sizeof what, "`%s` to close the `%c` of line %u",
                 kiln__token_text[kind], p->source->text[opener.start], line);
    (void)kiln__parser_expected(p, what);
    return 0;
}

const char *kiln__parser_name(kiln__parser *p, const char *what)
{
    const char *name;

    if (p->token.kind != KILN__TOKEN_NAME && !kiln__parser_take_reserved(p)) {
        (void)kiln__parser_expected(p, what);
        return NULL;
    }
    name = kiln__arena_string(p->arena, p->source->text + p->token.span.start,
                              p->token.span.size);
    kiln__parser_advance(p);
    return name;
}

int kiln__parser_is_word(const kiln__parser *p, const kiln__token *token,
                         const char *word)
{
    return token->kind == KILN__TOKEN_NAME &&
           strlen(word) == token->span.size &&
           memcmp(p->source->text + token->span.start, word,
                  token->span.size) == 0;
}

int kiln__parser_at_line_end(const kiln__parser *p)
{
    const kiln__token_kind kind = p->token.kind;

    return kind == KILN__TOKEN_NEWLINE || kind == KILN__TOKEN_END_OF_TEXT ||
           kind == KILN__TOKEN_END || kind == KILN__TOKEN_ELSE ||
           kind == KILN__TOKEN_ELSEIF;
}

/* ---- errors ---- */

kiln__ast *kiln__parser_error(kiln__parser *p, kiln__span span,
                              const char *code, const char *hint,
                              const char *format, ...)
{
    const char *message;
    va_list arguments;

    /* Errors that follow a bad token are rarely worth a second report. */
    if (p->panicking || p->bad > p->line)
        return NULL;
    p->panicking = 1;
    va_start(arguments, format);
    message = kiln__arena_vformat(&p->diagnostics->arena, format, arguments);
    va_end(arguments);
    if (message != NULL)
        kiln__diagnose(p->diagnostics, p->source, span, code, hint, "%s",
                       message);
    return NULL;
}

typedef struct word_hint {
    const char *word;
    const char *hint;
} word_hint;

static const word_hint word_hints[] = {
    {"and", "write `&&`"},
    {"or", "write `||`"},
    {"xor", "write `^`"},
    {"mod", "write `%`"},
    {"then", "no `then`: a new line follows the condition"},
    {"do", "no `do`: a new line follows the condition or range"},
    {"to", "a range is `lo..hi`"},
    {"step", "a range's step is `by s`"},
    {"as", "a conversion is `f32(x)`"},
    {"is", "a type decides which method is called"},
    {"extends", "a parent stands behind `:`"},
};

/* Returns a hint about a token that fits nowhere here. */
static const char *hint_for(kiln__parser *p)
{
    for (size_t i = 0; i < sizeof word_hints / sizeof *word_hints; i++)
        if (kiln__parser_is_word(p, &p->token, word_hints[i].word))
            return word_hints[i].hint;
    switch ((int)p->token.kind) {
    case KILN__TOKEN_ASSIGN:
        return "`==` compares; an assignment is a statement of its own";
    case KILN__TOKEN_COMMA:
        return "a tuple stands in parentheses: `(a, b)`";
    case KILN__TOKEN_LEFT_BRACE:
    case KILN__TOKEN_RIGHT_BRACE:
        return "blocks have no braces; they end with `end`";
    case KILN__TOKEN_ARROW:
        return "there are no closures; pass a function's name";
    case KILN__TOKEN_DOT:
        return "a range is `lo..hi`; hi itself is not reached";
    case KILN__TOKEN_DOT_DOT:
        return "`..` stands in `for i in lo..hi` only";
    case KILN__TOKEN_STAR:
        return "there are no pointers; an array's type is `f32[:]`";
    case KILN__TOKEN_STRING:
        return "strings stand in `print` and `assert` only";
    case KILN__TOKEN_IF:
        return kiln__parser_follows_end(p)
                   ? kiln__parser_reserved_hint(p)
                   : "a choice of values is `c ? a : b`";
    case KILN__TOKEN_COLON_COLON:
        return "functions stand alone: `sqrt(x)`";
    case KILN__TOKEN_FN:
    case KILN__TOKEN_KERNEL:
    case KILN__TOKEN_STRUCT:
        if (p->token.line_start &&
            kiln__parser_indent_of(p, p->token.span.start) > 0)
            return "definitions stand outside of functions";
        return kiln__parser_reserved_hint(p);
    default:
        return kiln__parser_reserved_hint(p);
    }
}

static void describe_token(const kiln__parser *p, char *out, size_t size)
{
    const kiln__span span = p->token.span;

    switch ((int)p->token.kind) {
    case KILN__TOKEN_END_OF_TEXT:
        snprintf(out, size, "the end of the text");
        break;
    case KILN__TOKEN_NEWLINE:
        snprintf(out, size, "%s",
                 p->token.span.start >= p->source->size ? "the end of the text"
                 : p->source->text[span.start] == ';'   ? "`;`"
                                                      : "the end of the line");
        break;
    case KILN__TOKEN_STRING:
        snprintf(out, size, "a string");
        break;
    default:
        snprintf(out, size, span.size > 40 ? "`%.*s...`" : "`%.*s`",
                 (int)(span.size > 40 ? 40 : span.size),
                 p->source->text + span.start);
        break;
    }
}

kiln__ast *kiln__parser_expected(kiln__parser *p, const char *what)
{
    char found[64];

    describe_token(p, found, sizeof found);
    return kiln__parser_error(p, p->token.span, "unexpected-token", hint_for(p),
                              "expected %s, found %s", what, found);
}

void kiln__parser_begin_line(kiln__parser *p)
{
    p->panicking = 0;
    p->line = p->token.span.start;
}

uint32_t kiln__parser_line_of(const kiln__parser *p, uint32_t at)
{
    kiln_location location;

    kiln__source_locate(p->source, (kiln__span){.start = at}, &location);
    return location.line;
}

/* Indentation beyond this counts as this. */
#define INDENT_MAX 255u

uint32_t kiln__parser_indent_of(const kiln__parser *p, uint32_t at)
{
    const kiln__source *source = p->source;
    const char *line =
        source->text + source->lines[kiln__parser_line_of(p, at) - 1];
    uint32_t indent = 0;

    while (indent < INDENT_MAX && (line[indent] == ' ' || line[indent] == '\t'))
        indent++;
    return indent;
}

static int is_closer(kiln__token_kind kind)
{
    return kind == KILN__TOKEN_RIGHT_PAREN ||
           kind == KILN__TOKEN_RIGHT_BRACKET || kind == KILN__TOKEN_RIGHT_BRACE;
}

/* Inside open brackets newlines do not count. So a line that is indented no
   more than the statement is taken for the next statement. */
int kiln__parser_skip_line(kiln__parser *p)
{
    const uint32_t indent = kiln__parser_indent_of(p, p->line);
    int assigned = 0;

    while (p->token.kind != KILN__TOKEN_NEWLINE &&
           p->token.kind != KILN__TOKEN_END_OF_TEXT) {
        if (p->token.line_start && kiln__begins_definition(p->token.kind))
            break;
        if (p->token.line_start && p->token.span.start > p->line &&
            !is_closer(p->token.kind) &&
            kiln__parser_indent_of(p, p->token.span.start) <= indent) {
            p->lexer.depth = 0;
            break;
        }
        assigned |= p->token.kind == KILN__TOKEN_ASSIGN;
        kiln__parser_advance(p);
    }
    kiln__parser_begin_line(p);
    return assigned;
}

/* ---- nodes ---- */

_Static_assert(sizeof(kiln__ast) % sizeof(kiln__ast *) == 0,
               "a node's children lie behind it");

/* Skips the rest of the text, since its tree could not be used. */
static void run_out_of_stack(kiln__parser *p)
{
    p->no_stack = 1;
    p->lexer.at = (uint32_t)p->source->size;
}

int kiln__parser_enter(kiln__parser *p)
{
    if (kiln__stack_is_low())
        run_out_of_stack(p);
    if (p->no_stack)
        return 0;
    if (p->depth >= KILN__NESTING_MAX) {
        if (p->too_deep)
            return 0;
        p->too_deep = 1;
        (void)kiln__parser_error(
            p, p->token.span, "too-deep", "take a part out as a function",
            "nested more than %u levels deep", KILN__NESTING_MAX);
        return 0;
    }
    p->depth++;
    return 1;
}

void kiln__parser_leave(kiln__parser *p)
{
    p->depth--;
}

int kiln__parser_measure(kiln__parser *p, kiln__ast *node)
{
    uint32_t height = 0;

    for (size_t i = 0; i < node->count; i++)
        if (node->children[i] != NULL && node->children[i]->height > height)
            height = node->children[i]->height;
    node->height = height + 1;
    if (node->height <= KILN__HEIGHT_MAX)
        return 1;
    (void)kiln__parser_error(
        p, node->span, "too-deep", "take a part out as a variable or function",
        "more than %u operations hang on each other", KILN__HEIGHT_MAX);
    return 0;
}

kiln__ast *kiln__parser_node(kiln__parser *p, kiln__ast_kind kind,
                             uint32_t start, const char *text,
                             kiln__ast *const *children, size_t count)
{
    kiln__ast *node;

    if (p->nodes > KILN__NODES_MAX)
        return NULL;
    if (p->nodes++ == KILN__NODES_MAX) /* reported once */
        return kiln__parser_error(p, (kiln__span){.start = start, .size = 1},
                                  "too-large", "split it into several",
                                  "the definition has more than %u names, "
                                  "numbers and operations",
                                  KILN__NODES_MAX);
    node =
        kiln__arena_allocate(p->arena, sizeof *node + count * sizeof *children);
    if (node == NULL)
        return NULL;
    node->kind = kind;
    node->text = text;
    node->span = (kiln__span){
        .start = start,
        .size = p->end > start ? p->end - start : 0,
    };
    node->count = count;
    if (count > 0) {
        node->children = (kiln__ast **)(node + 1);
        memcpy(node->children, children, count * sizeof *children);
    }
    return kiln__parser_measure(p, node) ? node : NULL;
}

kiln__ast *kiln__parser_node_of(kiln__parser *p, kiln__ast_kind kind,
                                uint32_t start, const char *text, size_t mark)
{
    kiln__ast *node =
        kiln__parser_node(p, kind, start, text,
                          p->stack.items == NULL ? NULL : p->stack.items + mark,
                          p->stack.count - mark);

    p->stack.count = mark;
    return node;
}

int kiln__parser_push(kiln__parser *p, kiln__ast *child)
{
    if (kiln__array_push(p->alloc, &p->stack, child))
        return 1;
    p->arena->failed = 1;
    return 0;
}
