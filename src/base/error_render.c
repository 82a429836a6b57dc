/* error_render.c - errors as text for people. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/array.h"
#include "kiln/error.h"

/*
 * The shape of a diagnostic:
 *
 *     saxpy.kiln:4:16: error: no method matches [no-method]
 *        4 |         y[i] = fill(x)
 *          |                ^~~~~~~
 *          = hint: did you mean `full`?
 *          = in main.saxpy(f32[:], f32, f32[:]) at saxpy.kiln:4:16
 *
 * Columns count bytes, but the caret is placed by display cells: a tab reaches
 * the next multiple of four, the second and later bytes of a UTF-8 sequence
 * take no cell, and other control characters are shown as one blank.
 */

#define TAB_CELLS 4u
/* Of a longer line only the part around the mark is shown. */
#define LONGEST_LINE ((size_t)160)
#define BEFORE_MARK ((size_t)60)

typedef struct renderer {
    kiln__text text;
    int color;
} renderer;

#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define MAGENTA "\033[1;35m"
#define CYAN "\033[1;36m"
#define GREEN "\033[1;32m"

static void add(renderer *r, const char *text)
{
    kiln__text_add(&r->text, text);
}

static void add_colored(renderer *r, const char *color, const char *text)
{
    if (r->color)
        add(r, color);
    add(r, text);
    if (r->color)
        add(r, "\033[0m");
}

static void add_location(renderer *r, const kiln_location *location)
{
    add(r, location->file);
    if (location->line > 0)
        kiln__text_format(&r->text, ":%u", location->line);
    if (location->line > 0 && location->column > 0)
        kiln__text_format(&r->text, ":%u", location->column);
}

/* ---- the source line and its mark ---- */

/* The part of a source line that is shown, and the marked bytes in it. */
typedef struct excerpt {
    const char *bytes;
    size_t size;
    size_t mark;
    size_t mark_size;
    int cut_before;
    int cut_after;
} excerpt;

static int continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static excerpt excerpt_of(const char *line, uint32_t column, uint32_t length)
{
    const size_t size = strlen(line);
    const size_t mark = column - 1 < size ? column - 1 : size;
    size_t begin = 0, end = size;

    if (size > LONGEST_LINE) {
        begin = mark > BEFORE_MARK ? mark - BEFORE_MARK : 0;
        while (begin > 0 && continues(line[begin]))
            begin--;
        if (end - begin > LONGEST_LINE)
            end = begin + LONGEST_LINE;
        while (end < size && continues(line[end]))
            end++;
    }
    return (excerpt){
        .bytes = line + begin,
        .size = end - begin,
        .mark = mark - begin,
        .mark_size = length < end - mark ? length : end - mark,
        .cut_before = begin > 0,
        .cut_after = end < size,
    };
}

/* Returns how many cells `byte` takes if it begins at cell `cell`. */
static unsigned cells_of(char byte, unsigned cell)
{
    if (byte == '\t')
        return TAB_CELLS - cell % TAB_CELLS;
    return continues(byte) ? 0 : 1;
}

/* Writes `fill` `count` times; NUL writes nothing. */
static void add_cells(renderer *r, char fill, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        kiln__text_add_n(&r->text, &fill, 1);
}

static void add_source(renderer *r, const excerpt *e)
{
    unsigned cell = 0;

    if (e->cut_before)
        add(r, "...");
    for (size_t i = 0; i < e->size; i++) {
        const char byte = e->bytes[i];
        const unsigned cells = cells_of(byte, cell);

        if ((unsigned char)byte < 0x20 || byte == 0x7F)
            add_cells(r, ' ', cells);
        else
            kiln__text_add_n(&r->text, &byte, 1);
        cell += cells;
    }
    if (e->cut_after)
        add(r, "...");
}

static void add_mark(renderer *r, const excerpt *e)
{
    unsigned cell = 0, begin;

    for (size_t i = 0; i < e->mark; i++)
        cell += cells_of(e->bytes[i], cell);
    begin = cell;
    add_cells(r, ' ', cell + (e->cut_before ? 3 : 0));
    for (size_t i = 0; i < e->mark_size; i++)
        cell += cells_of(e->bytes[e->mark + i], cell);
    if (r->color)
        add(r, GREEN);
    add_cells(r, '^', 1);
    if (cell > begin)
        add_cells(r, '~', cell - begin - 1);
    if (r->color)
        add(r, "\033[0m");
}

static void render_source(renderer *r, const char *line,
                          const kiln_location *location)
{
    const excerpt e = excerpt_of(
        line, location->column == 0 ? 1 : location->column, location->length);

    kiln__text_format(&r->text, "%5u | ", location->line);
    add_source(r, &e);
    if (location->column > 0) {
        add(r, "\n      | ");
        add_mark(r, &e);
    }
    add(r, "\n");
}

/* ---- diagnostics, exceptions, causes ---- */

static void add_severity(renderer *r, int32_t severity)
{
    switch (severity) {
    case KILN_SEVERITY_WARNING:
        add_colored(r, MAGENTA, "warning: ");
        break;
    case KILN_SEVERITY_NOTE:
        add_colored(r, CYAN, "note: ");
        break;
    default:
        add_colored(r, RED, "error: ");
        break;
    }
}

static void add_headline(renderer *r, const kiln_location *location,
                         int32_t severity, const char *message)
{
    if (location->file != NULL) {
        if (r->color)
            add(r, BOLD);
        add_location(r, location);
        add_colored(r, "", ": ");
    }
    add_severity(r, severity);
    add_colored(r, BOLD, message == NULL ? "" : message);
}

static void render_frame(renderer *r, const kiln_frame *frame)
{
    add(r, "      = in ");
    add(r, frame->function == NULL ? "?" : frame->function);
    if (frame->location.file != NULL) {
        add(r, " at ");
        add_location(r, &frame->location);
    }
    add(r, "\n");
}

/* Further lines of a hint are aligned with its first word. */
static void render_hint(renderer *r, const char *hint)
{
    add(r, "      = ");
    add_colored(r, CYAN, "hint: ");
    for (const char *end; (end = strchr(hint, '\n')) != NULL; hint = end + 1) {
        kiln__text_add_n(&r->text, hint, (size_t)(end - hint));
        add(r, "\n              ");
    }
    add(r, hint);
    add(r, "\n");
}

static void render_diagnostic(renderer *r, const kiln_diagnostic *d)
{
    add_headline(r, &d->location, d->severity, d->message);
    if (d->code != NULL)
        kiln__text_format(&r->text, " [%s]", d->code);
    add(r, "\n");
    if (d->source_line != NULL)
        render_source(r, d->source_line, &d->location);
    if (d->hint != NULL)
        render_hint(r, d->hint);
    for (size_t i = 0; i < d->frame_count; i++)
        render_frame(r, &d->frames[i]);
}

static void add_triple(renderer *r, const char *name, const uint64_t *triple)
{
    kiln__text_format(&r->text, ", %s (%llu, %llu, %llu)", name,
                      (unsigned long long)triple[0],
                      (unsigned long long)triple[1],
                      (unsigned long long)triple[2]);
}

static void render_exception(renderer *r, const kiln_exception *e)
{
    add_headline(r, &e->location, KILN_SEVERITY_ERROR, e->message);
    add(r, "\n");
    if (e->source_line != NULL)
        render_source(r, e->source_line, &e->location);
    add(r, "      = in kernel ");
    add(r, e->kernel == NULL ? "?" : e->kernel);
    if (e->method != NULL) {
        add(r, ", method ");
        add(r, e->method);
    }
    add_triple(r, "item", e->item);
    add_triple(r, "group", e->group);
    add(r, "\n");
    for (size_t i = 0; i < e->frame_count; i++)
        render_frame(r, &e->frames[i]);
}

/* The error's own line is left out when its first diagnostic says the same,
   with a source location. */
static int headline_is_needed(const kiln_error *error)
{
    const kiln_diagnostic *first = kiln_error_diagnostic(error, 0);

    return first == NULL || first->message == NULL ||
           strcmp(first->message, kiln_error_message(error)) != 0;
}

static void render_error(renderer *r, const kiln_error *error)
{
    const size_t count = kiln_error_diagnostic_count(error);
    const kiln_exception *exception = kiln_error_exception(error);

    if (exception != NULL) {
        render_exception(r, exception);
    } else if (headline_is_needed(error)) {
        add_severity(r, KILN_SEVERITY_ERROR);
        add_colored(r, BOLD, kiln_error_message(error));
        add(r, "\n");
    }
    for (size_t i = 0; i < count; i++)
        render_diagnostic(r, kiln_error_diagnostic(error, i));
}

kiln_status kiln_error_render(kiln_blob *out, const kiln_error *error,
                              uint32_t flags)
{
    renderer r = {.color = (flags & KILN_RENDER_COLOR) != 0};
    const kiln_error *cause;

    if (out == NULL || error == NULL)
        return KILN_EINVAL;
    kiln__text_init(&r.text, &kiln__malloc);
    render_error(&r, error);
    for (cause = kiln_error_cause(error); cause != NULL;
         cause = kiln_error_cause(cause)) {
        add(&r, "caused by ");
        render_error(&r, cause);
    }
    return kiln__text_to_blob(&r.text, out);
}
