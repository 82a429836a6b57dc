/* cl_place.c - tells what is wrong with a function where the text defines
   it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "frontend/opencl/cl_program.h"

/*
 * What a text is translated to is known by its tokens, and the same tokens may
 * stand on other lines. So lines are kept nowhere: a message looks for the
 * function in the text. It is where a name is followed by parameters and a
 * body. A function of an included file, or one that a macro makes, is not
 * found, and then the message has the file alone.
 */

static int is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns where a text in quotes ends, which never goes over a line. */
static const char *after_quotes(const char *at, const char *end)
{
    const char quote = *at++;

    for (; at < end && *at != quote && *at != '\n'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

/* Returns where a comment or a text ends that begins here, or the next byte. */
static const char *after(const char *at, const char *end)
{
    const char *found = NULL;

    if (*at == '"' || *at == '\'')
        return after_quotes(at, end);
    if (*at != '/' || end - at < 2 || (at[1] != '/' && at[1] != '*'))
        return at + 1;
    if (at[1] == '/')
        found = memchr(at, '\n', (size_t)(end - at));
    else
        found = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
    return found == NULL ? end : found + (*found == '\n' ? 1 : 2);
}

/* Moves over space and comments. */
static const char *next_code(const char *at, const char *end)
{
    while (at < end) {
        const char *next = after(at, end);

        if (next == at + 1 && !isspace((unsigned char)*at))
            return at;
        at = next;
    }
    return at;
}

/* True if parameters and a body follow. */
static int is_definition(const char *at, const char *end)
{
    static const char attribute[] = "__attribute__";
    size_t depth = 0;

    at = next_code(at, end);
    if (at == end || *at != '(')
        return 0;
    do {
        depth += *at == '(';
        depth -= *at == ')';
        at = after(at, end);
    } while (at < end && depth > 0);
    at = next_code(at, end);
    return at < end &&
           (*at == '{' || ((size_t)(end - at) > sizeof attribute &&
                           memcmp(at, attribute, sizeof attribute - 1) == 0));
}

static const char *find(const kiln__cl_text *text, const char *name)
{
    const char *at = text->text, *const end = at + text->size;
    const size_t size = strlen(name);

    while (at < end) {
        const char *const begin = at;

        if (!is_of_word(*at)) {
            at = after(at, end);
            continue;
        }
        while (at < end && is_of_word(*at))
            at++;
        if ((size_t)(at - begin) == size && memcmp(begin, name, size) == 0 &&
            is_definition(at, end))
            return begin;
    }
    return NULL;
}

/* Fills in the line that the function's name is in. */
static void set_line(kiln_diagnostic *out, const kiln__cl_text *text,
                     const char *found, kiln__arena *arena)
{
    const char *line = text->text, *next;
    const size_t left = text->size - (size_t)(found - text->text);
    const char *const end = memchr(found, '\n', left);

    out->location.line = 1;
    while ((next = memchr(line, '\n', (size_t)(found - line))) != NULL) {
        line = next + 1;
        out->location.line++;
    }
    out->location.column = (uint32_t)(found - line) + 1;
    out->source_line = kiln__arena_string(
        arena, line, (size_t)((end != NULL ? end : found + left) - line));
}

void kiln__cl_place(kiln_diagnostic *out, const kiln__cl_text *text,
                    const char *name, kiln__arena *arena)
{
    const char *const found = find(text, name);

    out->location = (kiln_location){.file = text->file};
    out->source_line = NULL;
    if (found == NULL)
        return;
    out->location.length = (uint32_t)strlen(name);
    set_line(out, text, found, arena);
}

kiln_status kiln__cl_check_refusal(const kiln__cl_text *text,
                                   const kiln__source_function *function,
                                   const kiln_alloc *alloc, kiln_error **error)
{
    kiln_diagnostic diagnostic = {.severity = KILN_SEVERITY_ERROR,
                                  .code = "unsupported"};
    kiln_status status = KILN_ENOMEM;
    kiln__arena arena;

    if (*function->refusal == '\0')
        return KILN_OK;
    kiln__arena_init(&arena, alloc);
    diagnostic.message =
        kiln__arena_format(&arena, "%s: %s", function->name, function->refusal);
    kiln__cl_place(&diagnostic, text, function->name, &arena);
    if (!arena.failed)
        status = kiln__error_set_diagnostics(
            error, KILN_ECOMPILE, diagnostic.message, &diagnostic, 1);
    kiln__arena_dispose(&arena);
    return status == KILN_ENOMEM ? kiln__error_no_memory(error) : status;
}
