/* parse.c - parses a text into its definitions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/float_mode.h"
#include "base/system/stack.h"
#include "frontend/syntax/parse.h"

/* ---- sources ---- */

static kiln_status index_lines(kiln__source *source)
{
    const char *text = source->text, *end = text + source->size;
    size_t count = 1;

    for (const char *at = text;
         (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        count++;
    source->lines = kiln__arena_allocate_array(&source->arena, count,
                                               sizeof *source->lines);
    if (source->lines == NULL)
        return KILN_ENOMEM;
    source->line_count = 1;
    for (const char *at = text;
         (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        source->lines[source->line_count++] = (uint32_t)(at + 1 - text);
    return KILN_OK;
}

static kiln_status source_fill(kiln__source *source, const char *file,
                               const char *text, size_t size)
{
    source->file = kiln__arena_text(&source->arena, file);
    source->text = kiln__arena_string(&source->arena, text, size);
    source->size = size;
    if (source->file == NULL || source->text == NULL)
        return KILN_ENOMEM;
    return index_lines(source);
}

static kiln_status source_new(kiln__source **out, const kiln_alloc *alloc,
                              const char *file, const char *text, size_t size)
{
    kiln__source *source = kiln__allocate(alloc, sizeof *source);

    if (source == NULL)
        return KILN_ENOMEM;
    source->alloc = alloc;
    kiln__arena_init(&source->arena, alloc);
    if (source_fill(source, file, text, size) != KILN_OK) {
        kiln__source_free(source);
        return KILN_ENOMEM;
    }
    *out = source;
    return KILN_OK;
}

void kiln__source_free(kiln__source *source)
{
    if (source == NULL)
        return;
    kiln__arena_dispose(&source->arena);
    kiln__deallocate(source->alloc, source, sizeof *source);
}

/* ---- definitions ---- */

typedef struct definitions {
    kiln__array_of(kiln__definition) list;
    kiln__tree_writer writer;
    kiln_status status;
} definitions;

/* Reports what is between definitions and is none. */
static void report_misplaced(kiln__parser *p)
{
    const kiln__token token = p->token;

    if (token.kind == KILN__TOKEN_END) {
        (void)kiln__parser_error(p, token.span, "unexpected-end", NULL,
                                 "this `end` closes nothing");
    } else if (token.kind == KILN__TOKEN_NAME &&
               p->ahead.kind == KILN__TOKEN_ASSIGN) {
        (void)kiln__parser_error(
            p, token.span, "misplaced-statement",
            "a constant is written `const N = 4`; statements stand in "
            "functions and kernels",
            "an assignment stands outside of all functions");
    } else {
        (void)kiln__parser_expected(p, "a definition");
    }
}

static void skip_misplaced(kiln__parser *p)
{
    report_misplaced(p);
    if (p->token.kind == KILN__TOKEN_IF || p->token.kind == KILN__TOKEN_FOR ||
        p->token.kind == KILN__TOKEN_WHILE)
        (void)kiln__parse_statement(p); /* with its block */
    else
        kiln__parser_advance(p);
    (void)kiln__parser_skip_line(p);
}

/* Parses a definition and adds it to the list. After any error, definitions are
   only parsed. */
static void add_definition(kiln__parser *p, definitions *d)
{
    kiln__definition definition;
    int fine = kiln__parse_definition(p, &definition);

    if (!fine || p->panicking) {
        (void)kiln__parser_skip_line(p);
        return;
    }
    if (p->token.kind != KILN__TOKEN_NEWLINE &&
        p->token.kind != KILN__TOKEN_END_OF_TEXT &&
        !(p->end_missing && kiln__begins_definition(p->token.kind))) {
        (void)kiln__parser_expected(p, "the end of the line");
        (void)kiln__parser_skip_line(p);
    }
    if (p->diagnostics->list.count > 0 || p->no_stack || d->status != KILN_OK)
        return;
    d->status = kiln__definition_number(&definition, p->arena, p->nodes);
    if (d->status == KILN_OK)
        d->status = kiln__definition_digest(&definition, &d->writer);
    if (d->status == KILN_OK &&
        !kiln__array_push(p->alloc, &d->list, definition))
        d->status = KILN_ENOMEM;
}

static void parse_definitions(kiln__parser *p, definitions *d)
{
    while (p->token.kind != KILN__TOKEN_END_OF_TEXT) {
        kiln__parser_begin_line(p);
        if (kiln__parser_take(p, KILN__TOKEN_NEWLINE))
            continue;
        if (kiln__begins_definition(kiln__parser_definition_word(p)))
            add_definition(p, d);
        else
            skip_misplaced(p);
    }
}

/* Sorts diagnostics by place. The lexer is a token ahead of the parser, so its
   reports come too early. */
static void sort_diagnostics(kiln__diagnostics *diagnostics)
{
    kiln_diagnostic *list = diagnostics->list.items;

    for (size_t i = 1; i < diagnostics->list.count; i++) {
        const kiln_diagnostic moving = list[i];
        size_t to = i;

        while (to > 0 &&
               (list[to - 1].location.line > moving.location.line ||
                (list[to - 1].location.line == moving.location.line &&
                 list[to - 1].location.column > moving.location.column))) {
            list[to] = list[to - 1];
            to--;
        }
        list[to] = moving;
    }
}

static kiln_status finish_source(const kiln__parser *p, definitions *d,
                                 kiln__source *source, kiln_error **error)
{
    if (p->no_stack || d->status == KILN_ESTACK)
        return kiln__stack_error(error);
    if (d->status != KILN_OK || p->arena->failed)
        return kiln__error_no_memory(error);
    sort_diagnostics(p->diagnostics);
    KILN_TRY(kiln__diagnostics_finish(p->diagnostics, KILN_ESYNTAX, error));
    if (d->list.count == 0)
        return KILN_OK;
    source->definition_count = d->list.count;
    source->definitions = kiln__arena_copy(
        &source->arena, d->list.items, d->list.count * sizeof *d->list.items);
    if (source->definitions == NULL)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

kiln_status kiln__source_parse(kiln__source **out, const kiln_alloc *alloc,
                               const char *file, const char *text, size_t size,
                               kiln_error **error)
{
    kiln__source *source = NULL;
    kiln__diagnostics diagnostics;
    definitions d = {.writer = {.alloc = alloc}};
    kiln__parser parser;
    kiln_status status;
    fenv_t mode;

    if (size > KILN__TEXT_SIZE_MAX)
        return kiln__error_set(error, KILN_ESYNTAX,
                               "%s: a text has at most 16 MiB, not %zu bytes",
                               file, size);
    if (source_new(&source, alloc, file, text, size) != KILN_OK)
        return kiln__error_no_memory(error);
    kiln__diagnostics_init(&diagnostics, alloc);
    kiln__parser_init(&parser, &source->arena, source, &diagnostics);
    kiln__float_begin(&mode);
    parse_definitions(&parser, &d);
    kiln__float_end(&mode);
    status = finish_source(&parser, &d, source, error);
    kiln__parser_dispose(&parser);
    kiln__array_dispose(alloc, &d.list);
    kiln__array_dispose(alloc, &d.writer.bytes);
    kiln__diagnostics_dispose(&diagnostics);
    if (status == KILN_OK)
        *out = source;
    else
        kiln__source_free(source);
    return status;
}

/* ---- single types ---- */

static kiln_status type_parse(kiln__ast **out, kiln__arena *arena,
                              const kiln__source *source, kiln_error **error)
{
    kiln__diagnostics diagnostics;
    kiln__parser parser;
    kiln_status status;
    kiln__ast *type;

    kiln__diagnostics_init(&diagnostics, source->alloc);
    kiln__parser_init(&parser, arena, source, &diagnostics);
    kiln__parser_begin_line(&parser);
    type = kiln__parse_type(&parser);
    (void)kiln__parser_take(&parser, KILN__TOKEN_NEWLINE);
    if (type != NULL && parser.token.kind != KILN__TOKEN_END_OF_TEXT)
        (void)kiln__parser_expected(&parser, "the end of the type");
    if (parser.no_stack)
        status = kiln__stack_error(error);
    else if (arena->failed)
        status = kiln__error_no_memory(error);
    else
        status = kiln__diagnostics_finish(&diagnostics, KILN_ESYNTAX, error);
    kiln__parser_dispose(&parser);
    kiln__diagnostics_dispose(&diagnostics);
    if (status == KILN_OK)
        *out = type;
    return status;
}

kiln_status kiln__type_tree_parse(kiln__ast **out, kiln__arena *arena,
                                  const char *text, kiln_error **error)
{
    kiln__source *source = NULL;
    const size_t size = strlen(text);
    kiln_status status;

    if (size > KILN__TEXT_SIZE_MAX)
        return kiln__error_set(error, KILN_ESYNTAX,
                               "a type's text has at most 16 MiB");
    if (source_new(&source, arena->alloc, "type", text, size) != KILN_OK)
        return kiln__error_no_memory(error);
    status = type_parse(out, arena, source, error);
    kiln__source_free(source);
    return status;
}
