/* parse_definition.c - parses imports, constants, types, functions and
   kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/syntax/parse.h"
#include "kiln/compile.h"

/*
 * Each function fills members of a kiln__definition and returns false after an
 * error. A body is parsed even if the header is broken, as long as its end can
 * be found: so its errors are reported, too, and the next definition is parsed.
 */

int kiln__begins_definition(kiln__token_kind kind)
{
    return kind == KILN__TOKEN_FN || kind == KILN__TOKEN_KERNEL ||
           kind == KILN__TOKEN_STRUCT || kind == KILN__TOKEN_ABSTRACT ||
           kind == KILN__TOKEN_OVERLAY || kind == KILN__TOKEN_CONST ||
           kind == KILN__TOKEN_IMPORT;
}

/* ---- names ---- */

/* Parses a name, or an operator that can be defined. */
static const char *parse_function_name(kiln__parser *p)
{
    const char *name = kiln__operator_name(p->token.kind);

    if (name == NULL)
        return kiln__parser_name(p, "the name of a function");
    kiln__parser_advance(p);
    return name;
}

/* Reports a name that occurred before in the list. */
static int check_unique(kiln__parser *p, const char *name, kiln__span span,
                        const char *earlier, const char *what)
{
    if (strcmp(name, earlier) != 0 || strcmp(name, "_") == 0)
        return 1;
    (void)kiln__parser_error(p, span, "duplicate-name", NULL,
                             "%s `%s` stands twice in the list", what, name);
    return 0;
}

/* ---- type parameters ---- */

/* Parses `T: Real, N` into the arena. */
static int parse_type_parameters(kiln__parser *p, kiln__definition *out)
{
    kiln__ast_type_parameter list[KILN__TYPE_PARAMETERS_MAX];
    size_t count = 0;

    if (p->token.kind == KILN__TOKEN_LEFT_BRACE) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `where T: Real, N`",
                                 "no braces stand behind `where`");
        return 0;
    }
    do {
        kiln__ast_type_parameter *parameter = &list[count];

        if (count == KILN__TYPE_PARAMETERS_MAX) {
            (void)kiln__parser_error(p, p->token.span, "too-large", NULL,
                                     "more than %u type parameters",
                                     KILN__TYPE_PARAMETERS_MAX);
            return 0;
        }
        *parameter = (kiln__ast_type_parameter){.span = p->token.span};
        parameter->name = kiln__parser_name(p, "the name of a type parameter");
        if (parameter->name == NULL)
            return 0;
        for (size_t i = 0; i < count; i++)
            if (!check_unique(p, parameter->name, parameter->span, list[i].name,
                              "the type parameter"))
                return 0;
        count++;
        if (kiln__parser_take(p, KILN__TOKEN_COLON) ||
            kiln__parser_take(p, KILN__TOKEN_COLON_COLON)) {
            parameter->bound = kiln__parse_type(p);
            if (parameter->bound == NULL)
                return 0;
        } else if (p->token.kind == KILN__TOKEN_LESS) {
            (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                     "write `T: Real`",
                                     "a bound stands behind `:`");
            return 0;
        }
    } while (kiln__parser_take(p, KILN__TOKEN_COMMA));
    out->type_parameters =
        kiln__arena_copy(p->arena, list, count * sizeof *list);
    out->type_parameter_count = count;
    return out->type_parameters != NULL;
}

/* ---- import, const, abstract ---- */

static int parse_import(kiln__parser *p, kiln__definition *out)
{
    const char *names[KILN__LIST_MAX];

    out->kind = KILN__DEFINE_IMPORT;
    out->name_span = p->token.span;
    out->name = kiln__parser_name(p, "the name of a package");
    if (out->name == NULL)
        return 0;
    if (!kiln__parser_take(p, KILN__TOKEN_COLON))
        return 1;
    do {
        if (out->name_count == KILN__LIST_MAX) {
            (void)kiln__parser_error(p, p->token.span, "too-large", NULL,
                                     "more than %u names in one import",
                                     KILN__LIST_MAX);
            return 0;
        }
        names[out->name_count] = parse_function_name(p);
        if (names[out->name_count] == NULL)
            return 0;
        out->name_count++;
    } while (kiln__parser_take(p, KILN__TOKEN_COMMA));
    out->names =
        kiln__arena_copy(p->arena, names, out->name_count * sizeof *names);
    return out->names != NULL;
}

static int parse_const(kiln__parser *p, kiln__definition *out)
{
    out->kind = KILN__DEFINE_CONST;
    out->name_span = p->token.span;
    out->name = kiln__parser_name(p, "the name of a constant");
    if (out->name == NULL)
        return 0;
    if (p->token.kind == KILN__TOKEN_COLON ||
        p->token.kind == KILN__TOKEN_COLON_COLON) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `const X = f32(1.5)`",
                                 "a constant takes its type from its value");
        return 0;
    }
    if (!kiln__parser_expect(p, KILN__TOKEN_ASSIGN))
        return 0;
    out->body = kiln__parse_expression(p);
    return out->body != NULL;
}

/* Parses `: Parent` if it is there. */
static int parse_parent(kiln__parser *p, kiln__definition *out)
{
    if (!kiln__parser_take(p, KILN__TOKEN_COLON))
        return 1;
    out->result = kiln__parse_type(p);
    return out->result != NULL;
}

static int parse_abstract(kiln__parser *p, kiln__definition *out)
{
    out->kind = KILN__DEFINE_ABSTRACT;
    out->name_span = p->token.span;
    out->name = kiln__parser_name(p, "the name of an abstract type");
    return out->name != NULL && parse_parent(p, out);
}

/* ---- struct ---- */

static int parse_field(kiln__parser *p, kiln__ast_parameter *out)
{
    *out = (kiln__ast_parameter){.span = p->token.span};
    out->name = kiln__parser_name(p, "a field `name: type` or `end`");
    if (out->name == NULL)
        return 0;
    if (kiln__parser_at_line_end(p)) {
        (void)kiln__parser_error(p, out->span, "missing-type",
                                 "write `x: f32`, or `x: T` in `struct P{T}`",
                                 "the field `%s` has no type", out->name);
        return 0;
    }
    if (!kiln__parser_take(p, KILN__TOKEN_COLON_COLON) &&
        !kiln__parser_expect(p, KILN__TOKEN_COLON))
        return 0;
    out->type = kiln__parse_type(p);
    if (out->type == NULL)
        return 0;
    if (kiln__parser_at_line_end(p))
        return 1;
    if (p->token.kind == KILN__TOKEN_COMMA)
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "a new line or `;` stands between fields",
                                 "no comma ends a field");
    else
        (void)kiln__parser_expected(p, "the end of the field");
    return 0;
}

/* Adds a field; reports a name that another field has. */
static int add_field(kiln__parser *p, const kiln__ast_parameter *field)
{
    for (size_t i = 0; i < p->fields.count; i++)
        if (!check_unique(p, field->name, field->span, p->fields.items[i].name,
                          "the field"))
            break;
    if (kiln__array_push(p->alloc, &p->fields, *field))
        return 1;
    p->arena->failed = 1;
    return 0;
}

/* Parses fields up to `end`. Broken ones are reported one by one. */
static int parse_fields(kiln__parser *p, kiln__definition *out)
{
    p->fields.count = 0;
    for (;;) {
        kiln__ast_parameter field;
        uint32_t begin;

        while (kiln__parser_take(p, KILN__TOKEN_NEWLINE))
            continue;
        kiln__parser_begin_line(p);
        begin = p->token.span.start;
        kiln__parser_declares_reserved(p);
        if (kiln__parser_statement_word(p) == KILN__TOKEN_END ||
            p->token.kind == KILN__TOKEN_END_OF_TEXT ||
            kiln__begins_definition(p->token.kind))
            break;
        if (p->fields.count == KILN__LIST_MAX) {
            (void)kiln__parser_error(p, p->token.span, "too-large", NULL,
                                     "more than %u fields", KILN__LIST_MAX);
        } else if (parse_field(p, &field)) {
            if (!add_field(p, &field))
                return 0;
            continue;
        }
        if (p->token.span.start == begin)
            kiln__parser_advance(p);
        (void)kiln__parser_skip_line(p);
    }
    if (p->fields.count == 0)
        return 1;
    out->parameter_count = p->fields.count;
    out->parameters = kiln__arena_copy(
        p->arena, p->fields.items, p->fields.count * sizeof *p->fields.items);
    return out->parameters != NULL;
}

static int parse_struct_header(kiln__parser *p, kiln__definition *out)
{
    kiln__span opener;

    out->name_span = p->token.span;
    out->name = kiln__parser_name(p, "the name of a struct");
    if (out->name == NULL)
        return 0;
    opener = p->token.span;
    if (p->token.kind == KILN__TOKEN_LEFT_BRACE && p->ahead.line_start) {
        (void)kiln__parser_expected(p, "the end of the line");
        return 0;
    }
    if (kiln__parser_take(p, KILN__TOKEN_LEFT_BRACE) &&
        (!parse_type_parameters(p, out) ||
         !kiln__parser_close(p, KILN__TOKEN_RIGHT_BRACE, opener)))
        return 0;
    return parse_parent(p, out);
}

static int parse_struct(kiln__parser *p, kiln__definition *out,
                        kiln__span opener)
{
    int fine;

    out->kind = KILN__DEFINE_STRUCT;
    fine = parse_struct_header(p, out);
    if (!fine)
        (void)kiln__parser_skip_line(p);
    kiln__parser_end_header(p);
    fine = parse_fields(p, out) && fine;
    kiln__parse_end(p, opener);
    return fine;
}

/* ---- functions and kernels ---- */

static int reject_in_parameter(kiln__parser *p, const char *hint,
                               const char *what)
{
    (void)kiln__parser_error(p, p->token.span, "unexpected-token", hint, "%s",
                             what);
    return 0;
}

static int parse_parameter(kiln__parser *p, kiln__ast_parameter *out)
{
    const char *hint;

    *out = (kiln__ast_parameter){.span = p->token.span};
    if (p->token.kind == KILN__TOKEN_COLON_COLON)
        return reject_in_parameter(p, "write `_: Type{T}`",
                                   "a parameter needs a name");
    hint = kiln__parser_parameter_hint(p);
    if (hint != NULL)
        return reject_in_parameter(p, hint,
                                   "a parameter's type stands behind its name");
    out->name = kiln__parser_name(p, "a parameter");
    if (out->name == NULL)
        return 0;
    if (kiln__parser_take(p, KILN__TOKEN_COLON) ||
        kiln__parser_take(p, KILN__TOKEN_COLON_COLON)) {
        out->type = kiln__parse_type(p);
        if (out->type == NULL)
            return 0;
    }
    switch ((int)p->token.kind) {
    case KILN__TOKEN_ASSIGN:
        (void)reject_in_parameter(p, "define a second method with fewer",
                                  "parameters have no default values");
        kiln__parser_advance(p);
        return kiln__parse_expression(p) != NULL;
    case KILN__TOKEN_DOT_DOT:
        return reject_in_parameter(p, "take a tuple",
                                   "there are no variable argument lists");
    case KILN__TOKEN_NAME:
        return reject_in_parameter(p, "write `name: type`",
                                   "expected `,` or `)` after a parameter");
    default:
        return 1;
    }
}

static int parse_parameters(kiln__parser *p, kiln__definition *out)
{
    const kiln__span opener = p->token.span;
    kiln__ast_parameter list[KILN_ARGUMENTS_MAX];
    size_t count = 0;

    if (!kiln__parser_expect(p, KILN__TOKEN_LEFT_PAREN))
        return 0;
    while (p->token.kind != KILN__TOKEN_RIGHT_PAREN) {
        if (count == KILN_ARGUMENTS_MAX)
            return reject_in_parameter(p, NULL,
                                       "a function has at most 64 parameters");
        if (!parse_parameter(p, &list[count]))
            return 0;
        for (size_t i = 0; i < count; i++)
            if (!check_unique(p, list[count].name, list[count].span,
                              list[i].name, "the parameter"))
                return 0;
        count++;
        if (!kiln__parser_take(p, KILN__TOKEN_COMMA))
            break;
    }
    if (!kiln__parser_close(p, KILN__TOKEN_RIGHT_PAREN, opener))
        return 0;
    if (count == 0)
        return 1;
    out->parameters = kiln__arena_copy(p->arena, list, count * sizeof *list);
    out->parameter_count = count;
    return out->parameters != NULL;
}

/* Parses `name`, `package.name` or `+`. */
static int parse_whole_name(kiln__parser *p, kiln__definition *out)
{
    out->name_span = p->token.span;
    out->name = parse_function_name(p);
    if (out->name == NULL)
        return 0;
    if (kiln__parser_take(p, KILN__TOKEN_DOT)) {
        out->package = out->name;
        out->name_span = p->token.span;
        out->name = parse_function_name(p);
        if (out->name == NULL)
            return 0;
    }
    if (out->package == NULL &&
        (strcmp(out->name, "print") == 0 || strcmp(out->name, "assert") == 0 ||
         strcmp(out->name, "static_assert") == 0)) {
        (void)kiln__parser_error(
            p, out->name_span, "reserved-name", "choose another name",
            "`%s` is a statement of the language", out->name);
        return 0;
    }
    if (p->token.kind == KILN__TOKEN_LEFT_BRACE) {
        (void)kiln__parser_error(p, p->token.span, "unexpected-token",
                                 "write `fn f(x: T) where T`",
                                 "type parameters stand behind `where`");
        return 0;
    }
    return 1;
}

static int parse_function_header(kiln__parser *p, kiln__definition *out)
{
    if (!parse_whole_name(p, out) || !parse_parameters(p, out))
        return 0;
    if (kiln__parser_take(p, KILN__TOKEN_ARROW)) {
        out->result = kiln__parse_type(p);
        if (out->result == NULL)
            return 0;
    }
    return !kiln__parser_take(p, KILN__TOKEN_WHERE) ||
           parse_type_parameters(p, out);
}

/* Parses `= e` into a block of one return. */
static int parse_short_body(kiln__parser *p, kiln__definition *out)
{
    const kiln__span assign = p->token.span;
    uint32_t start;
    kiln__ast *e;

    kiln__parser_advance(p);
    if (out->kernel) {
        (void)kiln__parser_error(p, assign, "unexpected-token",
                                 "write its statements up to `end`",
                                 "a kernel returns nothing");
        return 0;
    }
    start = p->token.span.start;
    e = kiln__parse_expression(p);
    if (e != NULL)
        e = kiln__parser_node(p, KILN__AST_RETURN, start, NULL, &e, 1);
    if (e != NULL)
        e = kiln__parser_node(p, KILN__AST_BLOCK, start, NULL, &e, 1);
    out->body = e;
    return e != NULL;
}

static int parse_function(kiln__parser *p, kiln__definition *out,
                          kiln__span opener)
{
    int fine;

    out->kind = KILN__DEFINE_FUNCTION;
    fine = parse_function_header(p, out);
    if (fine && p->token.kind == KILN__TOKEN_ASSIGN)
        return parse_short_body(p, out);
    if (!fine && kiln__parser_skip_line(p))
        return 0; /* it was a broken short form */
    kiln__parser_end_header(p);
    out->body = kiln__parse_block(p, 0);
    if (!fine && p->token.kind != KILN__TOKEN_END && out->body != NULL &&
        out->body->count == 0)
        return 0; /* the broken line was all of it */
    kiln__parse_end(p, opener);
    return fine && out->body != NULL;
}

static int parse_overlay(kiln__parser *p, kiln__definition *out)
{
    kiln__span opener;

    out->overlay = kiln__parser_name(p, "the name of a backend or table");
    if (out->overlay == NULL)
        return 0;
    opener = p->token.span;
    out->kernel = p->token.kind == KILN__TOKEN_KERNEL;
    if (p->token.kind != KILN__TOKEN_FN && !out->kernel) {
        (void)kiln__parser_expected(p, "`fn` or `kernel`");
        return 0;
    }
    kiln__parser_advance(p);
    return parse_function(p, out, opener);
}

static int parse_by_keyword(kiln__parser *p, kiln__definition *out)
{
    const kiln__token keyword = p->token;

    kiln__parser_advance(p);
    switch ((int)keyword.kind) {
    case KILN__TOKEN_IMPORT:
        return parse_import(p, out);
    case KILN__TOKEN_CONST:
        return parse_const(p, out);
    case KILN__TOKEN_ABSTRACT:
        return parse_abstract(p, out);
    case KILN__TOKEN_STRUCT:
        return parse_struct(p, out, keyword.span);
    case KILN__TOKEN_OVERLAY:
        return parse_overlay(p, out);
    default:
        out->kernel = keyword.kind == KILN__TOKEN_KERNEL;
        return parse_function(p, out, keyword.span);
    }
}

int kiln__parse_definition(kiln__parser *p, kiln__definition *out)
{
    const uint32_t start = p->token.span.start;
    int fine;

    *out = (kiln__definition){0};
    p->nodes = 0;
    p->loops = 0;
    p->end_missing = 0;
    p->too_deep = 0;
    p->misindented = (kiln__span){0};
    fine = parse_by_keyword(p, out);
    out->span = (kiln__span){.start = start, .size = p->end - start};
    return fine;
}
