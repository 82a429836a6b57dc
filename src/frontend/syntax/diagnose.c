/* diagnose.c - collects diagnostics; places in a source; nearest names. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "frontend/syntax/ast.h"

/*
 * A run over a source adds diagnostics to a list, up to a limit, and goes on.
 * kiln__diagnostics_finish() makes one error of them. All their texts are in
 * the arena of the list. Running out of memory is noted and reported at the
 * end.
 */

#define LIMIT 20u
/* A longer source line is cut. A diagnostic beyond the cut is shown without the
   line. */
#define LINE_MAX_SHOWN ((size_t)4096)

void kiln__diagnostics_init(kiln__diagnostics *diagnostics,
                            const kiln_alloc *alloc)
{
    *diagnostics = (kiln__diagnostics){.alloc = alloc, .limit = LIMIT};
    kiln__arena_init(&diagnostics->arena, alloc);
}

void kiln__diagnostics_dispose(kiln__diagnostics *diagnostics)
{
    kiln__array_dispose(diagnostics->alloc, &diagnostics->list);
    kiln__arena_dispose(&diagnostics->arena);
}

/* ---- places ---- */

/* Returns the index of the line that contains the byte at `at`. */
static size_t line_of(const kiln__source *source, size_t at)
{
    size_t low = 0, high = source->line_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (source->lines[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Returns the size of a line without its line end. */
static size_t line_size(const kiln__source *source, size_t line)
{
    const size_t start = source->lines[line];
    size_t end = line + 1 < source->line_count ? source->lines[line + 1] - 1
                                               : source->size;

    if (end > start && source->text[end - 1] == '\r')
        end--;
    return end - start;
}

void kiln__source_locate(const kiln__source *source, kiln__span span,
                         kiln_location *out)
{
    size_t line, column, size;

    *out = (kiln_location){.file = source->file};
    if (source->line_count == 0)
        return;
    line = line_of(source, span.start);
    column = span.start - source->lines[line];
    size = line_size(source, line);
    out->line = (uint32_t)line + 1;
    out->column = (uint32_t)column + 1;
    if (column < size)
        out->length =
            (uint32_t)(span.size < size - column ? span.size : size - column);
}

/* Returns the line's bytes, and how many of them are shown. */
static const char *shown_line(const kiln__source *source, uint32_t line,
                              size_t most, size_t *size)
{
    const char *text = source->text + source->lines[line - 1];

    *size = line_size(source, line - 1);
    if (*size > most) {
        *size = most;
        while (*size > 0 && ((unsigned char)text[*size] & 0xC0) == 0x80)
            --*size; /* do not cut inside a character */
    }
    return text;
}

static const char *copy_line(kiln__arena *arena, const kiln__source *source,
                             const kiln_location *location)
{
    const char *text;
    size_t size;

    if (location->line == 0 || location->column > LINE_MAX_SHOWN)
        return NULL;
    text = shown_line(source, location->line, LINE_MAX_SHOWN, &size);
    return kiln__arena_string(arena, text, size);
}

int kiln__source_quote(const kiln__source *source, kiln__span span, char *out,
                       size_t size)
{
    kiln_location location;
    const char *text;
    size_t shown;

    kiln__source_locate(source, span, &location);
    if (location.line == 0 || size == 0)
        return 0;
    text = shown_line(source, location.line, size - 1, &shown);
    memcpy(out, text, shown);
    out[shown] = '\0';
    return 1;
}

/* ---- collecting ---- */

static const kiln_frame *copy_frames(kiln__arena *arena,
                                     const kiln_frame *frames, size_t count)
{
    kiln_frame *copy;

    if (count == 0)
        return NULL;
    copy = kiln__arena_allocate_array(arena, count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = frames[i];
        copy[i].function = kiln__arena_text(arena, frames[i].function);
        copy[i].location.file =
            kiln__arena_text(arena, frames[i].location.file);
    }
    return copy;
}

/* Adds a diagnostic whose message is in the arena. Without a source it has no
   place. */
static void add(kiln__diagnostics *diagnostics, const kiln__source *source,
                kiln__span span, kiln_diagnostic *diagnostic)
{
    kiln__arena *arena = &diagnostics->arena;

    if (source != NULL) {
        kiln__source_locate(source, span, &diagnostic->location);
        diagnostic->source_line =
            copy_line(arena, source, &diagnostic->location);
        diagnostic->location.file = kiln__arena_text(arena, source->file);
    }
    diagnostic->severity = KILN_SEVERITY_ERROR;
    diagnostic->code = kiln__arena_text(arena, diagnostic->code);
    diagnostic->hint = kiln__arena_text(arena, diagnostic->hint);
    diagnostic->frames =
        copy_frames(arena, diagnostic->frames, diagnostic->frame_count);
    if (diagnostic->frames == NULL)
        diagnostic->frame_count = 0;
    if (!kiln__array_push(diagnostics->alloc, &diagnostics->list, *diagnostic))
        arena->failed = 1;
}

void kiln__diagnose(kiln__diagnostics *diagnostics, const kiln__source *source,
                    kiln__span span, const char *code, const char *hint,
                    const char *format, ...)
{
    kiln_diagnostic diagnostic = {.code = code, .hint = hint};
    va_list arguments;

    if (diagnostics->list.count >= diagnostics->limit)
        return;
    va_start(arguments, format);
    diagnostic.message =
        kiln__arena_vformat(&diagnostics->arena, format, arguments);
    va_end(arguments);
    add(diagnostics, source, span, &diagnostic);
}

void kiln__diagnose_chain(kiln__diagnostics *diagnostics,
                          const kiln__source *source, kiln__span span,
                          const kiln_diagnostic *what)
{
    kiln_diagnostic diagnostic = *what;

    if (diagnostics->list.count >= diagnostics->limit)
        return;
    diagnostic.message = kiln__arena_text(&diagnostics->arena, what->message);
    add(diagnostics, source, span, &diagnostic);
}

kiln_status kiln__diagnostics_finish(const kiln__diagnostics *diagnostics,
                                     kiln_status status, kiln_error **error)
{
    if (diagnostics->arena.failed)
        return kiln__error_no_memory(error);
    if (diagnostics->list.count == 0)
        return KILN_OK;
    return kiln__error_set_diagnostics(
        error, status, diagnostics->list.items[0].message,
        diagnostics->list.items, diagnostics->list.count);
}

/* ---- nearest names ---- */

#define NAME_MAX_COMPARED 40u
/* Names that differ only in upper and lower case are half an edit apart. */
#define EDIT 2u
#define CASE 1u

static unsigned lower(char c)
{
    return (unsigned)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static unsigned change_cost(char a, char b)
{
    return lower(a) == lower(b) ? 0 : EDIT;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Counts the edits between two names: insert, delete, change, or swap
   neighbours. */
static unsigned distance(const char *a, size_t a_size, const char *b,
                         size_t b_size)
{
    unsigned rows[3][NAME_MAX_COMPARED + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b_size; j++)
        above[j] = (unsigned)j * EDIT;
    for (size_t i = 1; i <= a_size; i++) {
        unsigned *oldest = before;

        row[0] = (unsigned)i * EDIT;
        for (size_t j = 1; j <= b_size; j++) {
            row[j] = least(above[j], row[j - 1]) + EDIT;
            row[j] =
                least(row[j], above[j - 1] + change_cost(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + EDIT);
        }
        before = above;
        above = row;
        row = oldest;
    }
    if (above[b_size] == 0 && memcmp(a, b, a_size) != 0)
        return CASE;
    return above[b_size];
}

/* Returns how many edits still look like a slip: one for three letters; for the
   shortest names, only a difference of case. */
static unsigned tolerated(size_t size)
{
    return size < 2 ? 0 : size < 3 ? CASE : (unsigned)((size + 1) / 3) * EDIT;
}

const char *kiln__nearest_name(const char *name, const char *const *names,
                               size_t count)
{
    const size_t size = strlen(name);
    unsigned best = tolerated(size) + 1;
    const char *nearest = NULL;

    if (size > NAME_MAX_COMPARED)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t other = strlen(names[i]);
        const size_t gap = other > size ? other - size : size - other;
        unsigned edits;

        if (other > NAME_MAX_COMPARED || gap * EDIT >= best)
            continue;
        edits = distance(name, size, names[i], other);
        if (edits > 0 && edits < best) {
            best = edits;
            nearest = names[i];
        }
    }
    return nearest;
}
