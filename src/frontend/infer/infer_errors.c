/* infer_errors.c - reports errors, with the chain of calls that leads there. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/infer/infer.h"

/*
 * A diagnostic shows the chain of calls that led to it: the method at fault,
 * then each caller with the place of its call. A failed inference is
 * remembered: it is returned to other callers later, and also without its
 * callers when one of them is loaded from a store. So a method reports what it
 * knows itself, and each caller adds its own frame to what it takes over.
 */

#define FRAMES_MAX 32 /* of a longer chain, the middle is left out */

const char *kiln__infer_format(kiln__infer *in, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = kiln__arena_vformat(&in->arena, format, arguments);
    va_end(arguments);
    if (text == NULL)
        (void)kiln__infer_fail(in, KILN_ENOMEM);
    return text == NULL ? "" : text;
}

const char *kiln__infer_label(kiln__arena *arena,
                              const kiln_signature *signature)
{
    const char *name = kiln_function_name(signature->function);
    size_t size = strlen(name) + 3;
    char *text, *at;

    for (size_t i = 0; i < signature->count; i++)
        size += strlen(kiln_type_text(signature->types[i])) + 2;
    text = kiln__arena_allocate(arena, size);
    if (text == NULL)
        return NULL;
    at = stpcpy(stpcpy(text, name), "(");
    for (size_t i = 0; i < signature->count; i++)
        at = stpcpy(stpcpy(at, i > 0 ? ", " : ""),
                    kiln_type_text(signature->types[i]));
    (void)stpcpy(at, ")");
    return text;
}

const char *kiln__infer_place(kiln__infer *in, kiln__span span)
{
    kiln_location at = {0};

    kiln__source_locate(in->at.source, span, &at);
    return kiln__infer_format(in, "line %u", at.line);
}

const char *kiln__infer_describe(kiln__infer *in, const kiln__value *value)
{
    switch (value->kind) {
    case KILN__VALUE_LITERAL:
        return value->constant.is_float ? "a float literal"
                                        : "an integer literal";
    case KILN__VALUE_OPEN:
        return kiln_type_text(kiln__infer_open_type(in, value));
    case KILN__VALUE_TYPED:
        return kiln_type_text(value->type);
    case KILN__VALUE_NOTHING:
        return "nothing";
    case KILN__VALUE_POISON:
    case KILN__VALUE_BOTTOM:
    default:
        return "unknown";
    }
}

/* ---- the chain ---- */

static void fill_frame(kiln__infer *in, kiln__span span, kiln__arena *arena,
                       kiln_frame *out)
{
    out->function = kiln__infer_label(arena, in->task.signature);
    kiln__source_locate(in->at.source, span, &out->location);
    if (out->function == NULL)
        (void)kiln__infer_fail(in, KILN_ENOMEM);
}

/* Appends the caller to the chain of a callee, which has room for one more
   frame. */
static void add_caller(kiln__infer *in, kiln_frame *frames, size_t *count)
{
    const size_t half = FRAMES_MAX / 2;

    if (*count >= FRAMES_MAX) {
        *count = FRAMES_MAX - 1;
        memmove(&frames[half], &frames[half + 1],
                (*count - half) * sizeof *frames);
    }
    fill_frame(in, in->walk.span, &in->diagnostics.arena, &frames[(*count)++]);
}

/* ---- what was reported already ---- */

static int same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static int is_known(const kiln__infer *in, const kiln_diagnostic *d)
{
    for (size_t i = 0; i < in->diagnostics.list.count; i++) {
        const kiln_diagnostic *known = &in->diagnostics.list.items[i];

        if (known->location.line == d->location.line &&
            known->location.column == d->location.column &&
            same_text(known->location.file, d->location.file) &&
            same_text(known->code, d->code))
            return 1;
    }
    return 0;
}

/* True when such an error was reported at that place. Copies of a loop, and
   methods that are called for several types, have the same errors; their
   messages may name other types. */
static int is_repeated(kiln__infer *in, kiln__span span, const char *code)
{
    kiln_diagnostic d = {.code = code};

    kiln__source_locate(in->at.source, span, &d.location);
    return is_known(in, &d);
}

kiln__value kiln__infer_fail(kiln__infer *in, kiln_status status)
{
    if (in->status == KILN_OK)
        in->status = status;
    in->broken = 1;
    return kiln__value_of(KILN__VALUE_POISON);
}

kiln__value kiln__infer_error(kiln__infer *in, kiln__span span,
                              const char *code, const char *hint,
                              const char *format, ...)
{
    va_list arguments;
    char *message;
    kiln_frame frame = {0};

    in->broken = 1;
    if (in->status != KILN_OK)
        return kiln__value_of(KILN__VALUE_POISON);
    va_start(arguments, format);
    message = kiln__arena_vformat(&in->arena, format, arguments);
    va_end(arguments);
    if (message != NULL && is_repeated(in, span, code))
        return kiln__value_of(KILN__VALUE_POISON);
    fill_frame(in, span, &in->arena, &frame);
    if (message == NULL || in->status != KILN_OK)
        return kiln__infer_fail(in, KILN_ENOMEM);
    kiln__diagnose_chain(&in->diagnostics, in->at.source, span,
                         &(kiln_diagnostic){.code = code,
                                            .message = message,
                                            .hint = hint,
                                            .frames = &frame,
                                            .frame_count = 1});
    if (in->diagnostics.arena.failed)
        return kiln__infer_fail(in, KILN_ENOMEM);
    /* Nobody reads more errors than these, so inference ends here. */
    if (in->diagnostics.list.count >= in->diagnostics.limit)
        return kiln__infer_fail(in, KILN_ECOMPILE);
    return kiln__value_of(KILN__VALUE_POISON);
}

/* ---- errors of callees ---- */

static void copy_diagnostic(kiln__infer *in, const kiln_diagnostic *from)
{
    kiln__arena *arena = &in->diagnostics.arena;
    kiln_diagnostic copy = *from;
    kiln_frame *frames = kiln__arena_allocate_array(
        arena, from->frame_count + 1, sizeof *frames);

    if (frames == NULL) {
        (void)kiln__infer_fail(in, KILN_ENOMEM);
        return;
    }
    for (size_t i = 0; i < copy.frame_count; i++) {
        frames[i] = from->frames[i];
        frames[i].function = kiln__arena_text(arena, from->frames[i].function);
        frames[i].location.file =
            kiln__arena_text(arena, from->frames[i].location.file);
    }
    add_caller(in, frames, &copy.frame_count);
    copy.frames = frames;
    copy.code = kiln__arena_text(arena, from->code);
    copy.message = kiln__arena_text(arena, from->message);
    copy.hint = kiln__arena_text(arena, from->hint);
    copy.location.file = kiln__arena_text(arena, from->location.file);
    copy.source_line = kiln__arena_text(arena, from->source_line);
    if (in->status != KILN_OK || arena->failed ||
        !kiln__array_push(in->diagnostics.alloc, &in->diagnostics.list, copy))
        (void)kiln__infer_fail(in, KILN_ENOMEM);
}

kiln__value kiln__infer_adopt(kiln__infer *in, kiln_error *error)
{
    const size_t count = kiln_error_diagnostic_count(error);

    in->broken = 1;
    if (count == 0)
        (void)kiln__infer_error(in, in->walk.span, "callee-failed", NULL, "%s",
                                kiln_error_message(error));
    for (size_t i = 0; i < count && in->status == KILN_OK; i++) {
        const kiln_diagnostic *d = kiln_error_diagnostic(error, i);

        if (in->diagnostics.list.count < in->diagnostics.limit &&
            !is_known(in, d))
            copy_diagnostic(in, d);
    }
    kiln_error_free(error);
    return kiln__value_of(KILN__VALUE_POISON);
}

/* ---- names ---- */

/* Returns the nearest of all visible names, which are in an order that never
   changes. */
static const char *nearest_name(kiln__infer *in, const char *name)
{
    size_t bound = 0, count = 0;
    const char *const *names = kiln__binding_names(&in->arena, in->at.package,
                                                   in->facts.world, &bound);
    const char **all = kiln__arena_allocate_array(
        &in->arena, bound + in->names.count + 1, sizeof *all);

    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < in->names.capacity; i++) {
        const kiln__symbol *symbol = in->names.symbols[i];

        if (symbol != NULL && symbol->variable != NULL && !in->at.in_constant &&
            strcmp(symbol->name, name) != 0)
            all[count++] = symbol->name;
    }
    for (size_t i = 0; names != NULL && i < bound; i++)
        all[count++] = names[i];
    return kiln__nearest_name(name, all, count);
}

kiln__value kiln__infer_unknown_name(kiln__infer *in, const kiln__ast *ast)
{
    const char *hint = kiln__other_name_hint(&in->arena, ast->text);

    if (hint == NULL) {
        const char *near = nearest_name(in, ast->text);

        if (near != NULL)
            hint = kiln__infer_format(in, "did you mean `%s`?", near);
    }
    return kiln__infer_error(in, ast->span, "unknown-name", hint,
                             "unknown name `%s`", ast->text);
}
